"""Long chains of Monte Carlo sweeps at one temperature."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def sampled_states(
    run: Callable[..., object], weights: np.ndarray, beta: float, samples: int, sweeps_between: int
) -> np.ndarray:
    """The weights as binary numbers, +1 for 1, each some sweeps after the one before; the first ten are left out."""
    powers = 2 ** np.arange(len(weights))[::-1]
    betas, errors = np.full(sweeps_between, beta), np.zeros(sweeps_between, np.int64)
    states = np.empty(samples, np.int64)
    for t in range(samples):
        run(betas, False, errors)
        states[t] = ((weights > 0) * powers).sum()
    return states[10:]


def assert_detailed_balance(states: np.ndarray) -> None:
    """Each state of five weights follows each other as often as it is followed by it."""
    moves = np.zeros((32, 32))
    np.add.at(moves, (states[:-1], states[1:]), 1)
    pairs = [(a, b) for a in range(32) for b in range(a) if moves[a, b] + moves[b, a] >= 10]
    z = [(moves[a, b] - moves[b, a]) / math.sqrt(moves[a, b] + moves[b, a]) for a, b in pairs]
    assert len(pairs) > 300
    assert abs(np.square(z).sum() - len(z)) < 4 * math.sqrt(2 * len(z))
