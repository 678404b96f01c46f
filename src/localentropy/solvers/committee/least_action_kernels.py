"""Kernels of the least-action rule on committee machines, for one machine and for coupled replicas."""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import FUSED, REORDERED, kernel, subroutine
from localentropy.solvers.committee.kernels import errors_of, preactivations, votes


@subroutine(fastmath=FUSED)
def correct(
    patterns: np.ndarray,
    rows: np.ndarray,
    learning_rate: float,
    weights: np.ndarray,
    fields: np.ndarray,
    unit_of: np.ndarray,
) -> None:
    """The rule on one mini-batch, without the normalisation.

    Args:
        patterns: labels times patterns, int8 of ±1, [P, N].
        rows: the patterns of the mini-batch.
        learning_rate: η.
        weights: float64, [K, inputs_per_unit]; updated.
        fields: work space, [K].
        unit_of: work space, at least [rows].
    """
    K, size = weights.shape
    offset = 0 if patterns.shape[1] == size else size
    # All pre-activations are those of the weights before the mini-batch.
    for b in range(rows.size):
        preactivations(patterns[rows[b]], weights, fields)
        unit_of[b] = -1
        if votes(fields) <= 0:
            for unit in range(K):
                if fields[unit] <= 0.0 and (unit_of[b] < 0 or fields[unit] > fields[unit_of[b]]):
                    unit_of[b] = unit
    for b in range(rows.size):
        unit = unit_of[b]
        if unit >= 0:
            pattern = patterns[rows[b]]
            for i in range(size):
                weights[unit, i] += learning_rate * np.float64(pattern[unit * offset + i])


@subroutine(fastmath=REORDERED)
def normalise(weights: np.ndarray) -> None:
    """Divide every unit, weights [K, inputs_per_unit], by its norm."""
    K, size = weights.shape
    for unit in range(K):
        square = 0.0
        for i in range(size):
            square += weights[unit, i] * weights[unit, i]
        scale = 1.0 / math.sqrt(square)
        for i in range(size):
            weights[unit, i] *= scale


@kernel(fastmath=FUSED)
def epoch(
    patterns: np.ndarray, order: np.ndarray, batch: int, learning_rate: float, renormalise: bool, weights: np.ndarray
) -> int:
    """One epoch of the least-action rule, then the number of errors.

    Args:
        patterns: labels times patterns, int8 of ±1, [P, N].
        order: of the patterns in this epoch, [P].
        batch: patterns in a mini-batch; the last one may be shorter.
        learning_rate: η.
        renormalise: whether each unit is divided by its norm after every mini-batch.
        weights: float64, [K, inputs_per_unit]; updated.
    """
    P = order.size
    fields, unit_of = np.empty(weights.shape[0]), np.empty(min(batch, P), np.int64)
    for start in range(0, P, batch):
        correct(patterns, order[start : start + batch], learning_rate, weights, fields, unit_of)
        if renormalise:
            normalise(weights)
    return errors_of(patterns, weights)


@subroutine(fastmath=REORDERED)
def _barycentre(replicas: np.ndarray, centre: np.ndarray) -> None:
    """Set the centre [K, inputs_per_unit] to the sum of the replicas, with norm 1 for each unit."""
    y, K, size = replicas.shape
    centre[:] = replicas[0]
    for a in range(1, y):
        for unit in range(K):
            for i in range(size):
                centre[unit, i] += replicas[a, unit, i]
    normalise(centre)


@subroutine(fastmath=REORDERED)
def _spread(replicas: np.ndarray, centre: np.ndarray) -> float:
    """Sum of the squared distances between the replicas and the centre."""
    y, K, size = replicas.shape
    total = 0.0
    for a in range(y):
        for unit in range(K):
            for i in range(size):
                total += (replicas[a, unit, i] - centre[unit, i]) ** 2
    return total


@kernel(fastmath=FUSED)
def coupled_epoch(
    patterns: np.ndarray,
    orders: np.ndarray,
    batch: int,
    learning_rate: float,
    pull: float,
    replicas: np.ndarray,
    centre: np.ndarray,
) -> tuple[int, float]:
    """One epoch of coupled replicas.

    Args:
        patterns: labels times patterns, int8 of ±1, [P, N].
        orders: of the patterns in this epoch, for each replica, [y, P].
        batch: patterns in a mini-batch; the last one may be shorter.
        learning_rate: η.
        pull: λη, the fraction of the way to the centre that a replica makes after each mini-batch.
        replicas: float64, [y, K, inputs_per_unit]; updated.
        centre: normalised barycentre, [K, inputs_per_unit]; updated.

    Returns:
        Number of errors of the centre, and the sum of the squared distances between it and the replicas.
    """
    y, K, size = replicas.shape
    P = orders.shape[1]
    fields, unit_of = np.empty(K), np.empty(min(batch, P), np.int64)
    for start in range(0, P, batch):
        for a in range(y):
            weights = replicas[a]
            correct(patterns, orders[a, start : start + batch], learning_rate, weights, fields, unit_of)
            for unit in range(K):
                for i in range(size):
                    weights[unit, i] += pull * (centre[unit, i] - weights[unit, i])
            normalise(weights)
        _barycentre(replicas, centre)
    return errors_of(patterns, centre), _spread(replicas, centre)
