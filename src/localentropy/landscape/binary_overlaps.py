"""Overlaps between binary weights."""

from __future__ import annotations

import numpy as np

from localentropy.errors import DomainError


def overlaps(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overlap q = w·w'/N of every pair of solutions; their distance is d = (1 − q)/2.

    `localentropy.analysis.pairs.pair_mean(*overlaps(weights))` gives the mean over the pairs and its error.

    Args:
        weights: ±1, [solutions, N]. Each row is a solution of the same instance.

    Returns:
        First solution, second solution, and overlap, [pairs], in the order (0, 1), (0, 2), …

    Raises:
        DomainError: fewer than two solutions, or weights other than ±1.
    """
    weights = np.asarray(weights)
    if weights.ndim != 2 or len(weights) < 2 or not weights.shape[1] or not (np.abs(weights) == 1).all():
        raise DomainError(f"overlaps of weights of shape {weights.shape}: allowed are ±1, at least two rows")
    first, second = np.triu_indices(len(weights), 1)
    # In floating point, a matrix product of ±1 is exact and fast.
    products = weights.astype(np.float64) @ weights.T.astype(np.float64)
    return first, second, products[first, second] / weights.shape[1]
