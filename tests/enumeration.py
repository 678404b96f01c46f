"""All configurations of a small system, and all votes of a small committee."""

from __future__ import annotations

from typing import Any

import numpy as np


def all_signs(N: int, dtype: Any = np.int8) -> np.ndarray:
    """Every ±1 configuration, [2^N, N]; as binary numbers, −1 for 0, the first entry highest, they are in order."""
    bits = np.arange(2**N)[:, None] >> np.arange(N)[::-1] & 1
    return (2 * bits - 1).astype(dtype)


def probability_of_majority(plus: np.ndarray) -> Any:
    """P(most units +), the sum over all votes; `plus` [..., K] are the probabilities of each unit."""
    votes = all_signs(plus.shape[-1])
    won = votes[votes.sum(1) > 0]
    return np.where(won > 0, plus[..., None, :], 1 - plus[..., None, :]).prod(-1).sum(-1)
