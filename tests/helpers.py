"""What several tests need, written plainly."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

MASK = 2**64 - 1
FIVE_POINTS = (-2, -1, 1, 2)
"""Multiples of the step at which `five_point_slope` wants its values."""


def five_point_slope(values: Any, step: float) -> Any:
    """The derivative, from the values at −2, −1, 1 and 2 steps."""
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)


def all_signs(N: int, dtype: Any = np.int8) -> np.ndarray:
    """Every ±1 configuration, [2^N, N]; as binary numbers, −1 for 0, the first entry highest, they are in order."""
    bits = np.arange(2**N)[:, None] >> np.arange(N)[::-1] & 1
    return (2 * bits - 1).astype(dtype)


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


def own_lines(output: str) -> list[str]:
    """What Snakemake printed, less its word on the profile."""
    return [line for line in output.splitlines() if not line.startswith("Using workflow specific profile")]


def python_blocks(page: Path) -> list[str]:
    """The Python blocks of a page of Markdown."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
