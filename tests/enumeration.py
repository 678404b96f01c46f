"""All configurations of a small system."""

from __future__ import annotations

from typing import Any

import numpy as np


def all_signs(N: int, dtype: Any = np.int8) -> np.ndarray:
    """Every ±1 configuration, [2^N, N]; as binary numbers, −1 for 0, the first entry highest, they are in order."""
    bits = np.arange(2**N)[:, None] >> np.arange(N)[::-1] & 1
    return (2 * bits - 1).astype(dtype)
