"""Gauss-Legendre rules."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=64)
def unit_legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [0, 1], each of shape (nodes,)."""
    x, weight = np.polynomial.legendre.leggauss(nodes)
    return 0.5 * (x + 1.0), 0.5 * weight
