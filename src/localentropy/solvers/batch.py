"""Many runs of one solver in parallel."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from localentropy.arguments import require_function
from localentropy.instances.perceptron import Instance
from localentropy.numerics.waiting import counted
from localentropy.quantities import THREADS
from localentropy.solvers.solution import Solution, require_runs


def solve_many(
    solver: Callable[..., Solution],
    instances: Sequence[Instance],
    *,
    seeds: Sequence[int],
    threads: int | None = None,
    **options: Any,
) -> list[Solution]:
    """Run a solver on each instance with its own seed, on several threads.

    The compiled kernels release the interpreter's lock. A run depends only on its instance, seed and options, so the
    result is the same for any number of threads.

    Args:
        solver: a function of an instance and of `seed`, such as `localentropy.solvers.binary.anneal.anneal`.
        instances: of any sizes.
        seeds: one for each instance.
        threads: by default the number of processors, on Linux of those that this process may use.
        options: options of the solver, the same for all runs.

    Returns:
        The solutions, in the order of the instances.

    Raises:
        DomainError: not one seed for each instance, threads < 1, or what the solver raises.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.batch import solve_many
        >>> instances = [random_patterns(N=201, P=60, seed=seed) for seed in range(4)]
        >>> [found.solved for found in solve_many(solvers.sbpi, instances, seeds=range(4))]
        [True, True, True, True]
    """
    require_function("solver", solver)
    instances, seeds = require_runs("solve_many", instances, seeds)
    threads = THREADS.require(_processors() if threads is None else threads)
    with ThreadPoolExecutor(threads) as pool:
        runs = [pool.submit(solver, one, seed=seed, **options) for one, seed in zip(instances, seeds, strict=True)]
        return [run.result() for run in counted(runs, "solve_many")]


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
