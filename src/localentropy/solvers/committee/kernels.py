"""Kernels that the solvers of committee machines share. Patterns are int8 of ±1, times their labels.

A pattern as long as the weights of one unit is the input of every unit, which is a fully connected machine. Else it has
a block of inputs for each unit, which is a tree.
"""

from __future__ import annotations

import numpy as np

from localentropy.numerics.compiled import FUSED, REORDERED, kernel, subroutine


@subroutine(fastmath=REORDERED)
def preactivations(pattern: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """Set out to w_l·ξ_l of every unit, [K]: a pattern [N], weights [K, inputs_per_unit]."""
    K, size = weights.shape
    offset = 0 if pattern.size == size else size
    for unit in range(K):
        total = 0.0
        for i in range(size):
            total += np.float64(pattern[unit * offset + i]) * weights[unit, i]
        out[unit] = total


@subroutine(fastmath=FUSED)
def add(factors: np.ndarray, pattern: np.ndarray, total: np.ndarray) -> None:
    """Add to each unit its factor times its inputs: factors [K], a pattern [N], total [K, inputs_per_unit]."""
    K, size = total.shape
    offset = 0 if pattern.size == size else size
    for unit in range(K):
        factor = factors[unit]
        for i in range(size):
            total[unit, i] += factor * np.float64(pattern[unit * offset + i])


@kernel(fastmath=FUSED)
def count_errors(patterns: np.ndarray, weights: np.ndarray) -> int:
    """Number of patterns [P, N] for which no majority of the units, weights [K, inputs_per_unit], is above zero."""
    return errors_of(patterns, weights)


@subroutine(fastmath=FUSED)
def errors_of(patterns: np.ndarray, weights: np.ndarray) -> int:
    """See `count_errors`."""
    fields = np.empty(weights.shape[0])
    errors = 0
    for mu in range(patterns.shape[0]):
        preactivations(patterns[mu], weights, fields)
        votes = 0
        for field in fields:
            if field > 0.0:
                votes += 1
            elif field < 0.0:
                votes -= 1
        errors += votes <= 0
    return errors
