"""Many runs of one solver side by side."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from localentropy.arguments import require_integer
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance
from localentropy.solvers.solution import Solution


def solve_many(
    solver: Callable[..., Solution],
    instances: Sequence[Instance],
    *,
    seeds: Sequence[int],
    threads: int | None = None,
    **options: Any,
) -> list[Solution]:
    """Run a solver on each instance with its own seed, several at a time.

    The compiled kernels release the interpreter's lock, and a run depends on its instance, seed and options alone: the
    result is the same for any number of threads and any grouping.

    Args:
        solver: such as `localentropy.solvers.binary.anneal.anneal`.
        instances: of any sizes.
        seeds: one for each instance.
        threads: default is the number of processors, on Linux of those allowed to this process.
        options: for the solver, the same for all.

    Raises:
        DomainError: not one seed for each instance, threads < 1, or what the solver raises.
    """
    if len(seeds) != len(instances):
        raise DomainError(f"solve_many needs one seed for each instance, got {len(seeds)} for {len(instances)}")
    threads = _processors() if threads is None else threads
    require_integer("threads", threads, 1)
    with ThreadPoolExecutor(threads) as pool:
        runs = [pool.submit(solver, one, seed=seed, **options) for one, seed in zip(instances, seeds, strict=True)]
        return [run.result() for run in runs]


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
