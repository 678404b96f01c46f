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


@subroutine(fastmath=FUSED)
def add_all(factors: np.ndarray, patterns: np.ndarray, rows: np.ndarray, total: np.ndarray) -> None:
    """`add` for several patterns, in their order: factors [rows, K], patterns [P, N], which rows, total [K, …].

    Four patterns at a time, so that the total is read and written less often.
    """
    K, size = total.shape
    offset = 0 if patterns.shape[1] == size else size
    together = rows.size - rows.size % 4
    for b in range(0, together, 4):
        first, second, third, fourth = (
            patterns[rows[b]],
            patterns[rows[b + 1]],
            patterns[rows[b + 2]],
            patterns[rows[b + 3]],
        )
        for unit in range(K):
            begin = unit * offset
            f, g, h, k = factors[b, unit], factors[b + 1, unit], factors[b + 2, unit], factors[b + 3, unit]
            for i in range(size):
                sums = total[unit, i] + f * np.float64(first[begin + i])
                sums = sums + g * np.float64(second[begin + i])
                sums = sums + h * np.float64(third[begin + i])
                total[unit, i] = sums + k * np.float64(fourth[begin + i])
    for b in range(together, rows.size):
        add(factors[b], patterns[rows[b]], total)


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
        errors += votes(fields) <= 0
    return errors


@subroutine(fastmath=FUSED)
def votes(fields: np.ndarray) -> int:
    """Number of units above zero minus number below, from their pre-activations [K]."""
    total = 0
    for field in fields:
        total += int(field > 0.0) - int(field < 0.0)
    return total
