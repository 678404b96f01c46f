"""Entropic least-action learning (eLAL) on committee machines: coupled replicas that end in a wide flat region."""

from __future__ import annotations

import math
import time

import numpy as np

from localentropy.arguments import LARGEST_RATE, MOST_STEPS, require_integer, require_number, require_positive
from localentropy.errors import DomainError
from localentropy.instances.committee import Committee, check_committee, unit_norm
from localentropy.solvers.committee.kernels import count_errors
from localentropy.solvers.committee.least_action_kernels import coupled_epoch
from localentropy.solvers.committee.runs import LARGEST_CORRECTION, random_start, solution
from localentropy.solvers.solution import Solution

MOST_REPLICAS = 10**4


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
    """
    check_committee(instance)
    require_integer("seed", seed)
    require_positive(learning_rate=learning_rate, most=LARGEST_CORRECTION)
    require_positive(coupling=coupling, tolerance=tolerance, most=LARGEST_RATE)
    if require_number("coupling_growth", coupling_growth) < 0.0:
        raise DomainError(f"coupling_growth = {coupling_growth} is out of range: it must not be negative")
    learning_rate, tolerance = float(learning_rate), float(tolerance)
    coupling, coupling_growth = float(coupling), float(coupling_growth)
    replicas = require_integer("replicas", replicas, 2, MOST_REPLICAS)
    batch = min(require_integer("batch", batch, 1), instance.P)
    epochs = require_integer("epochs", epochs, 1, MOST_STEPS)
    clock = time.thread_time()
    weights, stream = random_start(instance, seed, "committee_entropic_least_action", replicas)
    centre = unit_norm(weights.sum(0))
    patterns = instance.data.signed_patterns
    errors, spread = [count_errors(patterns, centre)], math.inf
    while spread >= tolerance and len(errors) <= epochs:
        orders = np.stack([stream.permutation(instance.P) for _ in range(replicas)])
        pull = min(coupling * learning_rate, 1.0)
        wrong, spread = coupled_epoch(patterns, orders, batch, learning_rate, pull, weights, centre)
        errors.append(wrong)
        coupling *= 1.0 + coupling_growth
    return solution(instance, centre, errors, time.thread_time() - clock, spread < tolerance)
