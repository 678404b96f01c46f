"""The least-action learning rule (LAL) on committee machines: a greedy search for weights without errors."""

from __future__ import annotations

import time

from localentropy.arguments import require_flag
from localentropy.instances.committee import Committee, check_committee
from localentropy.numerics.waiting import counted
from localentropy.quantities import BATCH, EPOCHS, RATE_OF_RULE
from localentropy.solvers.committee.kernels import count_errors
from localentropy.solvers.committee.least_action_kernels import epoch
from localentropy.solvers.committee.runs import random_start, solution
from localentropy.solvers.solution import Solution


def committee_least_action(
    instance: Committee,
    *,
    seed: int,
    learning_rate: float = 5e-3,
    renormalise: bool = True,
    batch: int = 100,
    epochs: int = 2000,
) -> Solution:
    """A solution by the least-action rule. It is fast, and the solutions are in narrow regions.

    With x_l = y w_l·ξ_l, a pattern is wrong if no majority of its x_l is positive. Each wrong pattern of a mini-batch
    corrects one unit: of those with x_l <= 0 the one nearest to zero. The correction is w_l ← w_l + η y ξ_l. All x_l
    are those of the weights before the mini-batch. After it each unit is divided by its norm, unless `renormalise` is
    False. Initial weights are uniform in [−1, 1] and then normalised. The run ends after the first epoch without
    errors.

    Source: `shaping`, "LAL" and Methods. The default η is that of random patterns at N = 999, K = 9, P = 1000, which
    take 76 ± 15 epochs there. The text says that the initial weights are normalised, and nothing of later ones. With
    units divided by their norms after every mini-batch, the number of epochs is the printed one. Without, the weights
    grow, so the steps become small beside them: runs take fewer epochs, and solve larger loads.

    Args:
        instance: ±1 patterns, a tree or a fully connected machine.
        seed: root seed of the initial weights and of the orders of the patterns.
        learning_rate: η.
        renormalise: whether each unit is divided by its norm after every mini-batch.
        batch: patterns in a mini-batch; the last one of an epoch may be shorter.
        epochs: most passes over the patterns, each in a fresh random order.

    Returns:
        The weights of the first epoch without errors; without such an epoch, those of the epoch with the fewest errors.
        Their units have norm 1.

    Raises:
        DomainError: not a committee with ±1 patterns, units with one input, or an argument out of range.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> committee_least_action(machine, seed=0).solved
        True
    """
    check_committee(instance)
    learning_rate, renormalise = RATE_OF_RULE.require(learning_rate), require_flag("renormalise", renormalise)
    batch, epochs = min(BATCH.require(batch), instance.P), EPOCHS.require(epochs)
    clock = time.thread_time()
    (weights,), stream = random_start(instance, seed, "committee_least_action")
    patterns = instance.data.signed_patterns
    errors = [count_errors(patterns, weights)]
    best = weights.copy()
    for _ in counted(range(epochs), "committee_least_action"):
        if errors[-1] == 0:
            break
        wrong = epoch(patterns, stream.permutation(instance.P), batch, learning_rate, renormalise, weights)
        if wrong < min(errors):
            best[:] = weights
        errors.append(wrong)
    return solution(instance, best, errors, time.thread_time() - clock)
