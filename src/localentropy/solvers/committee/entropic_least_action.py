"""Entropic least-action learning (eLAL) on committee machines: coupled replicas that end in a wide flat region."""

from __future__ import annotations

import math
import time

import numpy as np

from localentropy.instances.committee import Committee, check_committee, unit_norm
from localentropy.numerics.waiting import counted
from localentropy.quantities import (
    BATCH,
    COUPLING,
    COUPLING_GROWTH,
    EPOCHS,
    RATE_OF_RULE,
    REPLICAS_OF_RULE,
    SPREAD_OF_REPLICAS,
)
from localentropy.solvers.committee.kernels import count_errors
from localentropy.solvers.committee.least_action_kernels import coupled_epoch
from localentropy.solvers.committee.runs import random_start, solution
from localentropy.solvers.solution import Solution


def committee_entropic_least_action(
    instance: Committee,
    *,
    seed: int,
    learning_rate: float = 1e-2,
    replicas: int = 20,
    coupling: float = 0.5,
    coupling_growth: float = 1e-4,
    batch: int = 100,
    epochs: int = 10_000,
    tolerance: float = 1e-7,
) -> Solution:
    """A solution in a wide flat region: y replicas follow the least-action rule and are pulled together.

    Each replica has mini-batches in an order of its own. For each of them it makes one step of the least-action rule
    (see `committee_least_action`). Then it moves towards the centre, w^a ← w^a + λη(w⋆ − w^a). If λη is above 1, it
    moves to the centre. Its units are then normalised. When all replicas have done so, the centre is their
    barycentre with every unit normalised. After each epoch λ is multiplied by 1 + λ₁. The run ends when the sum of the
    squared distances Σ_a ‖w^a − w⋆‖² is below the tolerance, whether or not the centre makes errors.

    Source: `shaping`, "eLAL" and Methods. The defaults are those of random patterns at N = 999, K = 9, P = 1000, which
    take 861 ± 315 epochs there. The text does not say that ‖w_l‖ = 1, nor that the replicas and the centre are
    normalised. These choices reproduce the number of epochs.

    Args:
        instance: ±1 patterns, a tree or a fully connected machine.
        seed: root seed of the initial weights and of the orders of the patterns.
        learning_rate: η.
        replicas: y.
        coupling: λ of the first epoch.
        coupling_growth: λ₁.
        batch: patterns in a mini-batch; the last one of an epoch may be shorter.
        epochs: most passes over the patterns.
        tolerance: bound on the sum of the squared distances.

    Returns:
        The centre of the last epoch. `train_errors` are those of the centre. `converged` tells whether the replicas
        have collapsed.

    Raises:
        DomainError: not a committee with ±1 patterns, units with one input, or an argument out of range.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
        >>> committee_entropic_least_action(machine, seed=0).solved
        True
    """
    check_committee(instance)
    learning_rate = RATE_OF_RULE.require(learning_rate)
    coupling, coupling_growth = COUPLING.require(coupling), COUPLING_GROWTH.require(coupling_growth)
    replicas, tolerance = REPLICAS_OF_RULE.require(replicas), SPREAD_OF_REPLICAS.require(tolerance)
    batch, epochs = min(BATCH.require(batch), instance.P), EPOCHS.require(epochs)
    clock = time.thread_time()
    weights, stream = random_start(instance, seed, "committee_entropic_least_action", replicas)
    centre = unit_norm(weights.sum(0))
    patterns = instance.data.signed_patterns
    errors, spread = [count_errors(patterns, centre)], math.inf
    for _ in counted(range(epochs), "committee_entropic_least_action"):
        if spread < tolerance:
            break
        orders = np.stack([stream.permutation(instance.P) for _ in range(replicas)])
        pull = min(coupling * learning_rate, 1.0)
        wrong, spread = coupled_epoch(patterns, orders, batch, learning_rate, pull, weights, centre)
        errors.append(wrong)
        coupling *= 1.0 + coupling_growth
    return solution(instance, centre, errors, time.thread_time() - clock, spread < tolerance)
