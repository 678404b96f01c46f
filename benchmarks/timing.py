"""CPU time of calls, measured so that a busy machine spoils little."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def spent(run: Callable[..., object], *arguments: object) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    run(*arguments)
    return time.process_time() - started


def fastest(run: Callable[[], object], batches: int, calls: int = 1, *, warm: bool = True) -> float:
    """CPU seconds of one call in the fastest of several batches of calls; warm: after one more, which may compile."""
    if warm:
        run()
    return min(spent(lambda: [run() for _ in range(calls)]) for _ in range(batches)) / calls


def medians(rounds: int, *runs: Callable[[], object]) -> np.ndarray:
    """Median CPU seconds of each, over rounds in which all take turns; after one call of each, which may compile."""
    for run in runs:
        run()
    return np.median([[spent(run) for run in runs] for _ in range(rounds)], axis=0)


def rate(count: float, run: Callable[..., object], *arguments: object) -> float:
    """Count per second of CPU time."""
    return count / spent(run, *arguments)
