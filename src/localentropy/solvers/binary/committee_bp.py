"""Belief propagation on committee machines with binary weights: marginals and entropy; with reinforcement, a solution.

Reinforcement adds to each field a share of the field before, which grows, so that the fields end at one solution
(Braunstein and Zecchina, 2006).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from localentropy.instances.committee import Committee
from localentropy.numerics.waiting import counted
from localentropy.quantities import REINFORCED, STEPS, TOLERANCE
from localentropy.solvers.binary.committee_messages import CommitteeMessages
from localentropy.solvers.saved import Saved
from localentropy.solvers.solution import Solution


@dataclass(frozen=True, eq=False, kw_only=True)
class BinaryCommitteeBeliefs(Saved, Solution):
    """The signs of the fields, ±1, and the messages, from which a run goes on.

    Attributes:
        entropy: Bethe entropy, nats per weight; NaN where the messages did not converge, or were reinforced.
        magnetizations: means of the weights, [K, inputs_per_unit].
        messages: fields of the patterns on the weights, [P, K, inputs_per_unit].
        total: fields on the weights, [K, inputs_per_unit].
    """

    entropy: float = field()
    magnetizations: np.ndarray = field()
    messages: np.ndarray
    total: np.ndarray

    @property
    def overlap(self) -> float:
        """q, the mean of m²: the overlap of two random solutions."""
        return float(np.mean(self.magnetizations**2))


def binary_committee_bp(
    instance: Committee,
    *,
    seed: int,
    sums: str = "gaussian",
    reinforcement: float = 0.0,
    damping: float = 0.3,
    max_iterations: int = 1000,
    tolerance: float = 1e-5,
    epsilon: float = 0.1,
    start: BinaryCommitteeBeliefs | None = None,
) -> BinaryCommitteeBeliefs:
    """Marginals and entropy of ±1 weights of a committee machine and, with reinforcement, a solution.

    A pattern is one node. Unit l is on the side of the label with probability p_l. Its weight i is told
    ½ ln [(A + C p₊)/(A + C p₋)]: p± is p_l with w_i = ±1, C the probability that exactly (K − 1)/2 of the other units
    are on this side, and A that more are. With one unit it is `belief_propagation`.

    On random patterns of a tree the entropy is that of the replica theory. In a fully connected machine the weights of
    all units at one input are correlated, and the messages leave this out. There the entropy and the magnetizations are
    approximate.

    Source: Baldassi et al., PNAS 113 (2016) E7655, SI (messages); Braunstein and Zecchina, 2006 (reinforcement). The
    values of damping, max_iterations and epsilon are chosen here.

    Args:
        instance: ±1 patterns, an odd number of inputs of each unit.
        seed: root seed of the first magnetizations.
        sums: of the inputs of a unit: "gaussian", right for many inputs; "exact", whose time grows with their square.
        reinforcement: ρ. In update t each field gets 1 − (1 − ρ)^t of the field before. At 0 it is belief propagation.
        damping: share of the old messages kept in each update, in [0, 1).
        max_iterations: most updates of all messages; those made before `start` are counted.
        tolerance: without reinforcement the run ends, and has converged, when no magnetization changes by more in one
            update.
        epsilon: magnetizations start uniform in [−epsilon, epsilon]. The units of a fully connected machine differ by
            this alone, so there it is not 0.
        start: a run of the same instance that goes on, to the bit as if it had not been interrupted.

    Returns:
        The signs of the fields. With reinforcement the run ends at the first solution. Train errors are those of this
        call, at its start and after each update. `converged` says whether entropy and magnetizations can be trusted.

    Raises:
        DomainError: not a committee with ±1 patterns, an even number of inputs of a unit, an argument out of range, a
            start of other sizes.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.binary.committee_bp import binary_committee_bp
        >>> machine = random_tree_committee(N=999, P=500, K=3, seed=0)
        >>> counted = binary_committee_bp(machine, seed=0)
        >>> counted.converged, counted.solved, round(counted.entropy, 3)
        (True, False, 0.326)
    """
    clock = time.thread_time()
    reinforcement = REINFORCED.require(reinforcement)
    max_iterations, tolerance = STEPS.require(max_iterations), TOLERANCE.require(tolerance)
    messages = CommitteeMessages(instance, sums, damping, seed, "binary_committee_bp", epsilon)
    before = messages.go_on(start, BinaryCommitteeBeliefs)
    errors, made, residual = [messages.errors()], before, math.inf
    for update in counted(range(before + 1, max_iterations + 1), "binary_committee_bp"):
        if errors[-1] == 0 if reinforcement else residual < tolerance:
            break
        made = update
        messages.external = (1 - (1 - reinforcement) ** update) * messages.total
        residual = messages.sweep()
        errors.append(messages.errors())
    converged = residual < tolerance and not reinforcement and not messages.saturated
    return BinaryCommitteeBeliefs(
        **messages.result(),
        solved=errors[-1] == 0,
        iterations=made,
        train_errors=np.array(errors) / instance.P,
        cpu_seconds=time.thread_time() - clock,
        converged=converged,
        entropy=messages.entropy() if converged else math.nan,
    )
