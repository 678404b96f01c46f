"""The kernels' random numbers, written plainly."""

from __future__ import annotations

import numpy as np

MASK = 2**64 - 1


def random_word(key: int, counter: int) -> int:
    """The kernels' random 64-bit word (SplitMix64), in Python's integers."""
    word = (key + counter * 0x9E3779B97F4A7C15) & MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def start(N: int, key: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Random weights and a fresh stream, as the kernels take them."""
    weights = np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), N)
    return weights, np.array([key, 0], np.uint64)
