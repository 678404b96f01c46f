"""Entropy of a binary variable."""

from __future__ import annotations

import numpy as np


def binary_entropy(distance: np.ndarray) -> np.ndarray:
    """H_2(d) = -d ln d - (1-d) ln(1-d) in nats: configurations at Hamming distance dN, per weight.

    Args:
        distance: any shape, values in [0, 1].
    """
    from scipy.special import entr, xlog1py

    distance = np.asarray(distance, dtype=np.float64)
    return entr(distance) - xlog1py(1.0 - distance, -distance)  # type: ignore[no-any-return]
