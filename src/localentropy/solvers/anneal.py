"""Simulated annealing of the number of errors, and its zero-temperature version MCT0.

Both are single-flip Metropolis dynamics on the number of training patterns below the margin (`overparam`, §E.1). They
find typical solutions, and cannot descend where too many patterns sit at the margin: MCT0 above P/√N ≈ 6, annealing
with the default schedule above ≈ 10. Then `solved` is False.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from localentropy import seeds
from localentropy.errors import DomainError
from localentropy.instances.bits import pack_signs
from localentropy.instances.perceptron import Instance, require_odd, smallest_allowed
from localentropy.solvers.annealing_kernels import lattice_sweeps, real_sweeps
from localentropy.solvers.checkpoint import Checkpoint
from localentropy.solvers.solution import Solution

_CHUNK = 64  # sweeps between two looks at the clock

Sweeps = Callable[[np.ndarray, bool, np.ndarray], int]
"""(exp(−β) of each sweep, stop at zero errors, receives the errors after each sweep) → sweeps begun."""


def anneal(
    instance: Instance,
    *,
    margin: float = 0.0,
    seed: int,
    beta_start: float = 1.0,
    beta_step: float = 0.005,
    sweeps: int = 4000,
    checkpoint: Path | None = None,
) -> Solution:
    """Simulated annealing with an inverse temperature that grows linearly, until the first solution.

    Args:
        instance: ±1 patterns with N odd, or real ones.
        margin: κ; on ±1 patterns the lattice makes it `effective_margin(margin, N)` in effect.
        seed: of the initial weights and the moves, on streams of its own.
        beta_start: inverse temperature of the first sweep, per error (schedule: `overparam`, §E.1; values chosen).
        beta_step: its increase from one sweep to the next.
        sweeps: at most, of N attempted flips each.
        checkpoint: side file from which an interrupted run goes on to the same bits; written once a minute, removed at
            the end.

    Returns:
        Iterations are sweeps.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], a negative β or step, sweeps < 1.
    """
    if not (beta_start >= 0.0 and 0.0 <= beta_step < math.inf):
        raise DomainError(f"beta_start = {beta_start} and beta_step = {beta_step} must not be negative")
    _check_sweeps(sweeps)
    # exp by the C library, one by one: a vectorised one may round differently at another position.
    boltzmann = np.array([math.exp(-beta_start - t * beta_step) for t in range(sweeps)])
    return _descend("anneal", instance, margin, seed, boltzmann, checkpoint)


def mct0(
    instance: Instance, *, margin: float = 0.0, seed: int, sweeps: int = 1000, checkpoint: Path | None = None
) -> Solution:
    """Metropolis at zero temperature: every flip that makes no more errors is accepted, until the first solution.

    Args:
        instance: ±1 patterns with N odd, or real ones.
        margin: κ, see `anneal`.
        seed: of the initial weights and the moves, on streams of its own.
        sweeps: at most, of N attempted flips each. A run that solves needs 10 to 300; others freeze.
        checkpoint: side file, see `anneal`.

    Returns:
        Iterations are sweeps.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], sweeps < 1.
    """
    _check_sweeps(sweeps)
    return _descend("mct0", instance, margin, seed, np.zeros(sweeps), checkpoint)


def _check_sweeps(sweeps: int) -> None:
    if sweeps < 1:
        raise DomainError(f"sweeps = {sweeps} must be at least 1")


def _descend(
    name: str, instance: Instance, margin: float, seed: int, boltzmann: np.ndarray, checkpoint: Path | None
) -> Solution:
    started = time.thread_time()
    initial = seeds.generator(seed, f"algorithm/{name}")
    weights = 2 * initial.integers(0, 2, instance.N, dtype=np.int8) - 1
    stream = np.array([seeds.entropy(seed, f"algorithm/{name}/moves") % 2**64, 0], np.uint64)
    errors = np.zeros(len(boltzmann) + 1, np.int64)
    errors[0] = round(float(instance.train_error(weights, margin)) * instance.P)
    done = 0
    file = Checkpoint(checkpoint, name, margin, seed, boltzmann, instance.signed_patterns)
    if (state := file.load()) is not None:
        weights, stream, earlier = state["weights"], state["stream"], state["errors"]
        done = len(earlier) - 1
        errors[: done + 1] = earlier
    run = sweeper(instance, margin, weights, stream)
    while done < len(boltzmann) and errors[done] > 0:
        chunk = slice(done, done + _CHUNK)
        done += run(boltzmann[chunk], True, errors[1:][chunk])
        file.save(weights=weights, stream=stream, errors=errors[: done + 1])
    file.remove()
    return Solution(
        weights=weights,
        solved=instance.train_error(weights, margin) == 0.0,
        iterations=done,
        train_errors=errors[: done + 1] / instance.P,
        cpu_seconds=time.thread_time() - started,
    )


def sweeper(instance: Instance, margin: float, weights: np.ndarray, stream: np.ndarray) -> Sweeps:
    """The compiled dynamics of an instance at a margin, from given weights.

    Args:
        instance: ±1 patterns with N odd, or real ones.
        margin: κ.
        weights: int8 of ±1, [N]; every call changes them in place.
        stream: key and number of random words used, uint64, [2]; every call changes the second.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N].
    """
    least = smallest_allowed(margin, instance.N)
    if instance.binary:
        require_odd(instance.N)
        return _lattice_sweeper(instance, least, weights, stream)
    # Zero is an error too.
    return _real_sweeper(instance, max(margin * math.sqrt(instance.N), np.nextafter(0.0, 1.0)), weights, stream)


def _lattice_sweeper(instance: Instance, least: int, weights: np.ndarray, stream: np.ndarray) -> Sweeps:
    bits = pack_signs(instance.signed_patterns.T)
    valid = pack_signs(np.ones(instance.P, np.int8))
    planes = counter_planes(instance, least, weights)

    def run(boltzmann: np.ndarray, stop: bool, errors: np.ndarray) -> int:
        return lattice_sweeps(bits, valid, planes, weights, stream, boltzmann, stop, errors)

    return run


def counter_planes(instance: Instance, least: int, weights: np.ndarray) -> np.ndarray:
    """Bits of (s − h_min)/2 in two's complement for every pattern, one plane a bit: uint64, [words, planes]."""
    counters = (instance.sums(weights).astype(np.int64) - least) // 2
    planes = ((instance.N + least) // 2 - 1).bit_length() + 1  # s is in [−N, N]
    return np.stack([pack_signs((counters >> k) & 1) for k in range(planes)], axis=-1)


def _real_sweeper(instance: Instance, least: float, weights: np.ndarray, stream: np.ndarray) -> Sweeps:
    patterns = np.ascontiguousarray(instance.signed_patterns.T)

    def run(boltzmann: np.ndarray, stop: bool, errors: np.ndarray) -> int:
        # Afresh at every call: the kernel's sums gather rounding errors.
        return real_sweeps(patterns, least, instance.sums(weights), weights, stream, boltzmann, stop, errors)

    return run
