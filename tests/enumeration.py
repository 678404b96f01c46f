"""All configurations of a small system, limits of what is counted on them, and all votes of a small committee."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np


def all_signs(N: int, dtype: Any = np.int8) -> np.ndarray:
    """Every ±1 configuration, [2^N, N]; as binary numbers, −1 for 0, the first entry highest, they are in order."""
    bits = np.arange(2**N)[:, None] >> np.arange(N)[::-1] & 1
    return (2 * bits - 1).astype(dtype)


def solving(N: int, P: int, stream: np.random.Generator) -> np.ndarray:
    """Which of the 2^N configurations solve P Gaussian patterns, at margin 0."""
    stabilities = np.zeros((P, 1))
    for column in stream.standard_normal((N, P, 1)):
        stabilities = np.concatenate([stabilities - column, stabilities + column], 1)
    return stabilities.min(0) >= 0.0


def transformed(values: np.ndarray) -> np.ndarray:
    """Walsh-Hadamard transform."""
    values, size = values.astype(np.float64), 1
    while size < len(values):
        pairs = values.reshape(-1, 2, size)
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], 1).reshape(-1)
        size *= 2
    return values


def limits(sizes: Iterable[int], means: Any, errors: Any) -> tuple[float, float, float]:
    """Limits N → ∞ if finite sizes add a term in 1/N, and if one in 1/N², the lower one first; the error."""
    N = np.array(list(sizes), float)
    fits = [np.polyfit(N**-power, means, 1, w=1 / np.array(errors), cov="unscaled") for power in (1, 2)]
    low, high = sorted(fit[0][1] for fit in fits)
    return low, high, math.sqrt(fits[0][1][1, 1])


def probability_of_majority(plus: np.ndarray) -> Any:
    """P(most units +), the sum over all votes; `plus` [..., K] are the probabilities of each unit."""
    votes = all_signs(plus.shape[-1])
    won = votes[votes.sum(1) > 0]
    return np.where(won > 0, plus[..., None, :], 1 - plus[..., None, :]).prod(-1).sum(-1)
