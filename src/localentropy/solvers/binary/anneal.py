"""Simulated annealing, and its zero-temperature version MCT0.

Both are single-flip Metropolis dynamics on the number of training patterns below the margin (`overparam`, appendix F;
MCT0: appendix C).
They find typical solutions. They get stuck where too many patterns are at the margin: MCT0 above P/√N ≈ 6, annealing
with the default schedule above ≈ 10. Then `solved` is False. An energy that depends on every pattern, such as the
cross-entropy (`shaping`), leads annealing to other solutions, also where the number of errors does not lead to any.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    require_choice,
    require_flag,
)
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, require_odd, smallest_allowed
from localentropy.numerics.bits import pack_signs
from localentropy.numerics.waiting import counted
from localentropy.quantities import BETA_START, BETA_STEP, SWEEPS, SWEEPS_AFTER
from localentropy.solvers.binary.annealing_kernels import lattice_sweeps, real_sweeps
from localentropy.solvers.binary.bit_kernels import word_stream
from localentropy.solvers.binary.energies import ENERGIES, energy_table
from localentropy.solvers.binary.energy_kernels import energy_sweeps
from localentropy.solvers.solution import Solution, check_instance

_CHUNK = 64  # sweeps in one call of a kernel; between two calls the run can be interrupted

Sweeps = Callable[[np.ndarray, bool, np.ndarray], int]
"""(β of each sweep, stop at zero errors, receives the errors after each sweep) → sweeps begun."""


def anneal(
    instance: Instance,
    *,
    margin: float = 0.0,
    seed: int,
    beta_start: float = 1.0,
    beta_step: float = 0.005,
    sweeps: int = 4000,
    energy: str = "errors",
    gamma: float = 1.0,
    stop_at_first: bool = True,
) -> Solution:
    """Simulated annealing with an inverse temperature that grows linearly, until the first solution.

    For every energy the run ends at the first configuration without errors, and train errors are fractions of errors.
    Or it goes on to the lowest temperature: the cross-entropy falls further where there are no errors.

    Args:
        instance: ±1 patterns with N odd, or real ones.
        margin: κ. On the lattice of ±1 patterns it acts like `effective_margin(margin, N)`.
        seed: root seed of the initial weights and of the moves.
        beta_start: inverse temperature of the first sweep, per unit of the energy (`overparam`, appendix F; values
            chosen).
        beta_step: its increase from one sweep to the next.
        sweeps: most sweeps. A sweep is N attempted flips.
        energy: the energy, a sum over the patterns: "errors", the number of errors; "linear", the number of flips from
            each pattern to the margin; "cross_entropy", ln(1 + exp(−2 γ x))/(2 γ) with x the stability less
            `effective_margin(margin, N)` (`shaping`, without a margin). The last two need ±1 patterns, see
            `localentropy.solvers.binary.energies`.
        gamma: γ of the cross-entropy.
        stop_at_first: if False, the run makes all sweeps. The first solution is in `first_weights`.

    Returns:
        Iterations are sweeps.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], a negative β or step, sweeps < 1, an unknown
            energy, real patterns with an energy other than "errors", γ outside [10⁻³, 10⁶].

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> solvers.anneal(random_patterns(N=101, P=30, seed=0), seed=0).solved
        True
    """
    check_instance(instance)
    beta_start, beta_step = BETA_START.require(beta_start), BETA_STEP.require(beta_step)
    sweeps = SWEEPS.require(sweeps)
    require_choice("energy", energy, ENERGIES)
    require_flag("stop_at_first", stop_at_first)
    betas = beta_start + np.arange(sweeps) * beta_step
    after = 0 if stop_at_first else sweeps
    dynamics = partial(sweeper, instance, margin)
    if energy != "errors":
        dynamics = partial(energy_sweeper, instance, margin, energy=energy, gamma=gamma)
    error = partial(instance.train_error, margin=margin)
    return run_chain("anneal", "anneal", instance, seed, betas, dynamics, error, sweeps, after)


def mct0(instance: Instance, *, margin: float = 0.0, seed: int, sweeps: int = 1000, sweeps_after: int = 0) -> Solution:
    """Metropolis at zero temperature, until the first solution: a flip is accepted if it adds no error.

    The first solution is at the edge of the solutions: it lacks patterns at the smallest allowed sum. Further sweeps
    go from solution to solution, into their bulk.

    Args:
        instance: ±1 patterns with N odd, or real ones.
        margin: κ, see `anneal`.
        seed: root seed of the initial weights and of the moves.
        sweeps: most sweeps of N attempted flips to the first solution. A run that solves needs 10 to 300; other runs
            freeze.
        sweeps_after: sweeps from there on. If there are any, the first solution is in `first_weights`.

    Returns:
        Iterations are sweeps, with those from the first solution on.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], sweeps < 1, sweeps_after < 0.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> solvers.mct0(random_patterns(N=201, P=40, seed=0), seed=0).solved
        True
    """
    check_instance(instance)
    sweeps, sweeps_after = SWEEPS.require(sweeps), SWEEPS_AFTER.require(sweeps_after)
    betas = np.full(sweeps + sweeps_after, np.inf)
    dynamics, error = partial(sweeper, instance, margin), partial(instance.train_error, margin=margin)
    return run_chain("mct0", "mct0", instance, seed, betas, dynamics, error, sweeps, sweeps_after)


def run_chain(
    name: str,
    algorithm: str,
    instance: Instance,
    seed: int,
    betas: np.ndarray,
    dynamics: Callable[[np.ndarray, np.ndarray], Sweeps],
    error: Callable[[np.ndarray], Any],
    sweeps: int,
    after: int = 0,
) -> Solution:
    """A run of at most `sweeps` to its first solution, and of `after` from there on, as far as there are βs.

    Args:
        name: of the loop, for the lines that say how far it is.
        algorithm: name of the random streams of the initial weights and of the moves.
        instance: the problem.
        seed: root seed.
        betas: β of each sweep.
        dynamics: the sweeps from given weights on, with the random words of a stream, see `sweeper`.
        error: fraction of errors of given weights.
        sweeps: most sweeps to the first solution.
        after: sweeps from there on.

    Returns:
        Iterations are sweeps.

    Raises:
        DomainError: a seed that is no integer, and what `dynamics` and `error` raise.

    Example:
        >>> from functools import partial
        >>> import numpy as np
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.anneal import run_chain, sweeper
        >>> instance, betas = random_patterns(N=101, P=30, seed=0), np.full(100, 5.0)
        >>> dynamics = partial(sweeper, instance, 0.0)
        >>> run_chain("cold", "cold", instance, 0, betas, dynamics, instance.train_error, 100).solved
        True
    """
    started = time.thread_time()
    initial = seeds.generator(seed, f"algorithm/{algorithm}")
    weights = 2 * initial.integers(0, 2, instance.N, dtype=np.int8) - 1
    stream = word_stream(seed, f"algorithm/{algorithm}/moves")
    errors = np.zeros(len(betas) + 1, np.int64)
    errors[0] = round(float(error(weights)) * instance.P)
    done, first = 0, weights.copy() if errors[0] == 0 else None
    last = sweeps if first is None else after
    run = dynamics(weights, stream)
    # The chunk with the first solution may be shorter.
    for _ in counted(range(-(-len(betas) // _CHUNK) + 1), name):
        if done >= last:
            break
        chunk = slice(done, min(done + _CHUNK, last))
        made = run(betas[chunk], first is None, errors[1:][chunk])
        if not made:  # the last sweep ended without errors, but for rounding errors of the sums
            errors[done] = 0
        done += made
        if first is None and errors[done] == 0:
            first, last = weights.copy(), min(len(betas), done + after)
    return Solution(
        weights=weights,
        solved=error(weights) == 0.0,
        iterations=done,
        train_errors=errors[: done + 1] / instance.P,
        cpu_seconds=time.thread_time() - started,
        first_weights=first if after else None,
    )


def sweeper(instance: Instance, margin: float, weights: np.ndarray, stream: np.ndarray) -> Sweeps:
    """The compiled dynamics of an instance at a margin, from given weights.

    Args:
        instance: ±1 patterns with N odd, or real ones.
        margin: κ.
        weights: int8 of ±1, [N]; every call changes them in place.
        stream: key and number of random words used, uint64, [2]; every call changes the second.

    Returns:
        A function of the β of each sweep, of a flag "stop at zero errors" and of an array that receives the number of
        errors after each sweep. It returns the number of sweeps begun.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N].

    Example:
        >>> import numpy as np
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.anneal import sweeper
        >>> errors = np.zeros(50, np.int64)
        >>> weights, stream = np.ones(101, np.int8), np.array([1, 0], np.uint64)
        >>> run = sweeper(random_patterns(N=101, P=30, seed=0), 0.0, weights, stream)
        >>> made = run(np.full(50, 5.0), True, errors)
        >>> int(errors[made - 1])
        0
    """
    least = smallest_allowed(margin, instance.N)
    if instance.binary:
        require_odd(instance.N)
        return _lattice_sweeper(instance, least, weights, stream)
    # A sum of zero is an error too.
    return _real_sweeper(instance, max(float(margin) * math.sqrt(instance.N), np.nextafter(0.0, 1.0)), weights, stream)


def energy_sweeper(
    instance: Instance, margin: float, weights: np.ndarray, stream: np.ndarray, energy: str, gamma: float
) -> Sweeps:
    """The compiled dynamics with an energy that depends on every pattern; `sweeper` has the number of errors as energy.

    Args:
        instance: ±1 patterns with N odd.
        margin: κ.
        weights: int8 of ±1, [N]; every call changes them in place.
        stream: key and number of random words used, uint64, [2]; every call changes the second.
        energy: "linear" or "cross_entropy".
        gamma: γ of the cross-entropy.

    Returns:
        A function of the β of each sweep, of a flag "stop at zero errors" and of an array that receives the number of
        errors after each sweep. It returns the number of sweeps begun.

    Raises:
        DomainError: real patterns, N even, a margin outside [0, √N], an unknown energy, γ out of range.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.anneal import energy_sweeper
        >>> errors = np.zeros(50, np.int64)
        >>> weights, stream = np.ones(101, np.int8), np.array([1, 0], np.uint64)
        >>> run = energy_sweeper(random_patterns(N=101, P=30, seed=0), 0.0, weights, stream, "linear", 1.0)
        >>> made = run(np.full(50, 5.0), True, errors)
        >>> int(errors[made - 1])
        0
    """
    if not instance.binary:
        raise DomainError(f"energy = {energy!r} needs ±1 patterns; allowed for real ones is 'errors'")
    require_odd(instance.N)
    least = smallest_allowed(margin, instance.N)
    table = energy_table(energy, instance.N, instance.P, least, gamma)
    odd, even = table.odd, table.even
    masks = np.negative(instance.signed_patterns.T > 0, dtype=np.int8, order="C")
    sums = instance.sums(weights).astype(np.int32)

    def run(betas: np.ndarray, stop: bool, errors: np.ndarray) -> int:
        return energy_sweeps(masks, odd, even, least, sums, weights, stream, betas * table.unit, stop, errors)

    return run


def _lattice_sweeper(instance: Instance, least: int, weights: np.ndarray, stream: np.ndarray) -> Sweeps:
    bits = pack_signs(instance.signed_patterns.T)
    valid = pack_signs(np.ones(instance.P, np.int8))
    planes = counter_planes(instance, least, weights)

    def run(betas: np.ndarray, stop: bool, errors: np.ndarray) -> int:
        return lattice_sweeps(bits, valid, planes, weights, stream, _boltzmann(betas), stop, errors)

    return run


def counter_planes(instance: Instance, least: int, weights: np.ndarray) -> np.ndarray:
    """Bits of (s − h_min)/2 in two's complement for every pattern, each bit in a plane: uint64, [words, planes].

    Args:
        instance: ±1 patterns.
        least: h_min, the smallest sum without error.
        weights: ±1, [N].

    Returns:
        Bit k of the counters of 64 patterns in each word of plane k.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.anneal import counter_planes
        >>> counter_planes(random_patterns(N=101, P=130, seed=0), 1, np.ones(101)).shape  # ⌈130 / 64⌉ words, 7 bits
        (3, 7)
    """
    counters = (instance.sums(weights).astype(np.int64) - least) // 2
    planes = ((instance.N + least) // 2 - 1).bit_length() + 1  # s is in [−N, N]
    return np.stack([pack_signs((counters >> k) & 1) for k in range(planes)], axis=-1)


def _real_sweeper(instance: Instance, least: float, weights: np.ndarray, stream: np.ndarray) -> Sweeps:
    patterns = instance.signed_patterns.T.copy()

    def run(betas: np.ndarray, stop: bool, errors: np.ndarray) -> int:
        # The sums are computed again at every call, because rounding errors add up in the kernel.
        return real_sweeps(patterns, least, instance.sums(weights), weights, stream, _boltzmann(betas), stop, errors)

    return run


def _boltzmann(betas: np.ndarray) -> np.ndarray:
    """exp(−β) of single numbers: in a vectorised exp the rounding may depend on the position."""
    return np.array([math.exp(-beta) for beta in betas])
