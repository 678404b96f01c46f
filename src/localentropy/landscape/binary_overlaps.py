"""Overlaps between binary weights."""

from __future__ import annotations

import numpy as np

from localentropy.arguments import require_signs
from localentropy.errors import DomainError


def overlaps(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Overlap q = w·w'/N of every pair of solutions; their distance is d = (1 − q)/2.

    `localentropy.analysis.statistics.pair_mean(*overlaps(weights))` gives the mean over the pairs and its error.

    Args:
        weights: ±1, [solutions, N]. Each row is a solution of the same instance.

    Returns:
        First solution, second solution, and overlap, [pairs], in the order (0, 1), (0, 2), …

    Raises:
        DomainError: fewer than two solutions, or weights other than ±1.

    Example:
        >>> from localentropy.landscape.binary_overlaps import overlaps
        >>> first, second, q = overlaps([[1, 1, 1, 1], [1, 1, 1, -1], [-1, 1, -1, 1]])
        >>> first.tolist(), second.tolist(), q.tolist()
        ([0, 0, 1], [1, 2, 2], [0.5, 0.0, -0.5])
    """
    weights = require_signs("weights", weights, ("solutions", "N"))
    if len(weights) < 2:
        raise DomainError("weights: one solution given, allowed are two or more")
    first, second = np.triu_indices(len(weights), 1)
    # In floating point, a matrix product of ±1 is exact and fast.
    products = weights.astype(np.float64) @ weights.T.astype(np.float64)
    return first, second, products[first, second] / weights.shape[1]
