"""SBPI: a stochastic perceptron rule with hidden integer states, derived from belief propagation."""

from __future__ import annotations

import math
import time

import numpy as np

from localentropy import seeds
from localentropy.arguments import require_integer, shown
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, require_odd, smallest_allowed
from localentropy.numerics.bits import pack_signs, unpack_signs
from localentropy.numerics.waiting import waited
from localentropy.quantities import REINFORCEMENT, THETA
from localentropy.solvers.binary.bit_kernels import word_stream
from localentropy.solvers.binary.sbpi_kernels import sbpi_passes
from localentropy.solvers.solution import Solution, check_instance


def sbpi(
    instance: Instance,
    *,
    margin: float = 0.0,
    seed: int,
    theta: int = 1,
    reinforcement: float = 0.3,
    passes: int = 3000,
) -> Solution:
    """Stochastic-BP-inspired learning (`overparam`, appendix F; Baldassi 2009), until the first solution.

    Weights are the signs of odd hidden integers h_i, which start at ±1. Each pass presents all patterns in a new random
    order. Let s = Σ_i w_i y ξ_i with the current weights, minus h_min − 1 if there is a margin. A presentation does

    - s > θ_m: nothing;
    - 0 < s <= θ_m: with probability p_s, one draw for all weights, h_i ← h_i + 2 w_i where w_i = y ξ_i;
    - s <= 0: h_i ← h_i + 2 y ξ_i for every i.

    Args:
        instance: ±1 patterns, N odd.
        margin: κ (the version with a margin is not in the paper).
        seed: root seed of the initial states and of the moves.
        theta: θ_m, an odd integer on the lattice of s. If it is much larger than 1, the hidden states freeze.
        reinforcement: p_s.
        passes: most passes.

    Returns:
        Iterations are passes; train errors are those of the weights at the end of each pass.

    Raises:
        DomainError: real patterns, N even, θ_m even or below 1, p_s outside [0, 1], passes < 1 or so many that the
            hidden integers could overflow, a margin outside [0, √N].

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> solvers.sbpi(random_patterns(N=501, P=250, seed=0), seed=0).solved
        True
    """
    check_instance(instance)
    _check(instance, theta, reinforcement, passes)
    theta, passes = int(theta), int(passes)
    least = smallest_allowed(margin, instance.N)
    started = time.thread_time()
    initial = seeds.generator(seed, "algorithm/sbpi")
    hidden = 2 * initial.integers(0, 2, instance.N, dtype=np.int32) - 1
    weights = pack_signs(hidden)
    stream = word_stream(seed, "algorithm/sbpi/moves")
    errors = np.empty(passes + 1, np.int64)
    errors[0] = round(float(instance.train_error(unpack_signs(weights, instance.N), margin)) * instance.P)
    made = 0
    if errors[0]:
        patterns = pack_signs(instance.signed_patterns)
        order = np.arange(instance.P)
        below = np.uint64(math.floor(float(reinforcement) * 2**32))
        with waited("sbpi"):
            made = sbpi_passes(patterns, hidden, weights, order, stream, least, theta, below, errors[1:])
    final = unpack_signs(weights, instance.N)
    return Solution(
        weights=final,
        solved=instance.train_error(final, margin) == 0.0,
        iterations=made,
        train_errors=errors[: made + 1] / instance.P,
        cpu_seconds=time.thread_time() - started,
    )


def _check(instance: Instance, theta: int, reinforcement: float, passes: int) -> None:
    if not instance.binary:
        raise DomainError(
            "sbpi needs ±1 patterns: its hidden states are integers; take binarize=True (a classifier) or "
            "activation='sign' (random features)"
        )
    require_odd(instance.N)
    if not THETA.has(require_integer("theta", theta)) or theta % 2 != 1:
        raise DomainError(
            f"theta = {shown(theta)} is not on the lattice: allowed are the odd integers 1, 3, 5, … below 2³¹"
        )
    REINFORCEMENT.require(reinforcement)
    most = (2**31 - 2) // (2 * instance.P)
    if not 1 <= require_integer("passes", passes) <= most:
        raise DomainError(
            f"passes = {shown(passes)} is out of range: allowed is 1 to {most}, or the hidden integers overflow"
        )
