"""Random generators, one for each of several networks."""

from __future__ import annotations

import numpy as np


def generators(count: int, first: int = 0) -> list[np.random.Generator]:
    """Those of `count` seeds, from `first` on."""
    return [np.random.default_rng(seed) for seed in range(first, first + count)]
