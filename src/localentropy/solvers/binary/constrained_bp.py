"""Belief propagation under any hard constraint on the stabilities: marginals, entropy and, in two ways, solutions.

A pattern answers a weight with the two probabilities that a Gaussian sum is in the allowed intervals. Each interval
ends half-way between an allowed sum and a forbidden one, where the Gaussian approximation is best. Reinforcement adds
to each field a share of the field before, which grows, so that the fields end at one solution (Braunstein and Zecchina,
2006). Focusing adds the field of the centre of y replicas, as in `focusing_bp`.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr

from localentropy import seeds
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance
from localentropy.numerics.waiting import counted
from localentropy.quantities import (
    COUPLING,
    DAMPING,
    EPSILON,
    FIELD,
    REINFORCED,
    REPLICAS_OF_MESSAGES,
    SEED,
    STEPS,
    TOLERANCE,
)
from localentropy.solvers.binary.constraints import allowed_sums, require_lattice
from localentropy.solvers.binary.focusing_bp import protocol_values
from localentropy.solvers.binary.message_kernels import update_weights
from localentropy.solvers.binary.messages import bethe
from localentropy.solvers.saved import Saved
from localentropy.solvers.solution import Solution, check_instance
from localentropy.theory.energies import Steps

_SMALLEST = 1e-300
"""A probability that underflows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ConstrainedBeliefs(Saved, Solution):
    """The signs of the fields, and the messages, from which a run goes on.

    Attributes:
        entropy: Bethe entropy, nats per weight; NaN where the messages did not converge, or were reinforced or
            focused.
        magnetizations: means of the weights, [N].
        messages: fields of the patterns on the weights, [P, N].
        total: fields on the weights, [N].
    """

    entropy: float = field()
    magnetizations: np.ndarray = field()
    messages: np.ndarray
    total: np.ndarray


def constrained_bp(
    instance: Instance,
    constraint: Steps,
    *,
    seed: int,
    reinforcement: float = 0.0,
    coupling: float = 0.0,
    replicas: float = 20.0,
    damping: float = 0.3,
    max_iterations: int = 1000,
    tolerance: float = 1e-5,
    epsilon: float = 0.1,
    start: ConstrainedBeliefs | None = None,
) -> ConstrainedBeliefs:
    """Marginals, entropy and, with reinforcement or replicas, a solution under any constraint.

    Args:
        instance: ±1 patterns, N odd.
        constraint: hard, see `localentropy.solvers.binary.constraints.allowed_sums`.
        seed: root seed of the first magnetizations.
        reinforcement: ρ. In update t each field gets 1 − (1 − ρ)^t of the field before. At 0 it is belief propagation.
        coupling: γ of each of y replicas to their centre; at 0 there is one. `constrained_focusing_bp` raises it.
        replicas: y.
        damping: share of the old messages kept in each update, in [0, 1).
        max_iterations: most updates of all messages; those made before `start` are counted. An update of a band takes
            40 ms at N = 301, P = 361.
        tolerance: without reinforcement the run ends when no magnetization changes by more in one update. It has then
            converged, if there is no coupling either.
        epsilon: magnetizations start uniform in [−epsilon, epsilon].
        start: a run of the same instance that goes on, to the bit as if it had not been interrupted.

    Returns:
        The signs of the fields. With reinforcement or a coupling the run ends at the first solution. Train errors are
        those of this call, at its start and after each update. `converged` is False with reinforcement or a coupling.

    Raises:
        DomainError: see `allowed_sums`; real patterns, an argument out of range, a start of other sizes.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.constrained_bp import constrained_bp
        >>> from localentropy.theory.symmetric_perceptron import Band
        >>> instance = random_patterns(N=501, P=500, seed=0)
        >>> constrained_bp(instance, Band(1.0), seed=0, reinforcement=0.01).solved
        True
    """
    check_instance(instance)
    SEED.require(seed)
    require_lattice(instance)
    reinforcement, damping = REINFORCED.require(reinforcement), DAMPING.require(damping)
    coupling, replicas = COUPLING.within(low=0.0).require(coupling), REPLICAS_OF_MESSAGES.require(replicas)
    max_iterations, tolerance, epsilon = (
        STEPS.require(max_iterations), TOLERANCE.require(tolerance), abs(EPSILON.require(epsilon)),
    )  # fmt: skip
    allowed = allowed_sums(constraint, instance.N)
    intervals = _intervals(allowed)
    P, N = instance.P, instance.N
    clock = time.thread_time()
    if start is None:
        stream = seeds.generator(seed, "algorithm/constrained_bp", N=N, P=P)
        messages, total, before = np.zeros((P, N)), np.arctanh(stream.uniform(-epsilon, epsilon, N)), 0
    elif not isinstance(start, ConstrainedBeliefs) or start.messages.shape != (P, N):
        raise DomainError(f"start = {type(start).__name__} object: allowed is a run of an instance of P = {P}, N = {N}")
    else:
        messages, total, before = start.messages.copy(), start.total.copy(), start.iterations
    patterns = instance.signed_patterns.astype(np.float64)
    means, changes, signs = np.tanh(total), np.zeros(N), np.ones(N, np.int8)

    def wrong() -> int:
        sums = patterns @ np.where(total >= 0, 1.0, -1.0)
        return int((~allowed[(sums.astype(np.int64) + N) // 2]).sum())

    errors, made, residual = [wrong()], before, math.inf
    for update in counted(range(before + 1, max_iterations + 1), "constrained_bp"):
        if (errors[-1] == 0 and (reinforcement or coupling)) or (residual < tolerance and not reinforcement):
            break
        made = update
        answer = _answers(patterns, np.tanh(total - messages), intervals)
        messages = damping * messages + (1 - damping) * answer
        share = 1 - (1 - reinforcement) ** made
        residual, _, _ = update_weights(
            messages.sum(0), share * total, coupling, replicas, FIELD.high, total, means, changes, signs
        )
        errors.append(wrong())
    converged = residual < tolerance and not reinforcement and not coupling
    return ConstrainedBeliefs(
        weights=np.where(total >= 0, 1.0, -1.0),
        solved=errors[-1] == 0,
        iterations=made,
        train_errors=np.array(errors) / P,
        cpu_seconds=time.thread_time() - clock,
        converged=converged,
        entropy=_entropy(patterns, messages, total, intervals) if converged else math.nan,
        magnetizations=means,
        messages=messages,
        total=total,
    )


def constrained_focusing_bp(
    instance: Instance,
    constraint: Steps,
    *,
    seed: int,
    steps: int = 30,
    replicas: float = 20.0,
    damping: float = 0.5,
    max_iterations: int = 20,
    tolerance: float = 1e-5,
    epsilon: float = 0.1,
) -> ConstrainedBeliefs:
    """A solution under any constraint by focusing belief propagation: `constrained_bp` with a coupling that grows.

    Args:
        instance: ±1 patterns, N odd.
        constraint: hard, see `localentropy.solvers.binary.constraints.allowed_sums`.
        seed: root seed of the first magnetizations.
        steps: values of γ_s = artanh √(s/steps), s = 1 … steps. The last is artanh 0.9999.
        replicas: y.
        damping: share of the old messages kept in each update, in [0, 1).
        max_iterations: most updates of all messages in each step.
        tolerance: a step ends when no magnetization changes by more in one update.
        epsilon: magnetizations start uniform in [−epsilon, epsilon].

    Returns:
        The signs of the last fields. The run ends at the first solution.

    Raises:
        DomainError: see `constrained_bp`.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.constrained_bp import constrained_focusing_bp
        >>> from localentropy.theory.symmetric_perceptron import Band
        >>> constrained_focusing_bp(random_patterns(N=201, P=200, seed=3), Band(1.0), seed=0).solved
        True
    """
    couplings, ys = protocol_values("fixed_replicas", steps, replicas, exponent=0.5, cap=0.9999)
    max_iterations, run = STEPS.require(max_iterations), None
    for coupling, y in zip(couplings.tolist(), ys.tolist(), strict=True):
        before = run
        run = constrained_bp(
            instance, constraint, seed=seed, coupling=coupling, replicas=y, damping=damping, tolerance=tolerance,
            max_iterations=max_iterations + (before.iterations if before else 0), epsilon=epsilon, start=before,
        )  # fmt: skip
        if before:
            errors = np.concatenate([before.train_errors, run.train_errors[1:]])
            run = replace(run, train_errors=errors, cpu_seconds=before.cpu_seconds + run.cpu_seconds)
        if run.solved:
            break
    assert run is not None  # there is at least one step
    return run


def _intervals(allowed: np.ndarray) -> np.ndarray:
    """Ends of the intervals of allowed sums, [intervals, 2]; beyond the largest sum there is no end."""
    N = len(allowed) - 1
    change = np.flatnonzero(np.diff(np.concatenate([[False], allowed, [False]]).astype(int)))
    ends = (2.0 * change - N - 1).reshape(-1, 2)
    ends[ends < -N] = -np.inf
    ends[ends > N] = np.inf
    return ends


def _probability(centre: np.ndarray, deviation: np.ndarray, intervals: np.ndarray) -> np.ndarray:
    """That Gaussian sums are in the intervals, at least 1e-300."""
    total = np.zeros(np.broadcast_shapes(centre.shape, deviation.shape))
    for low, high in intervals:
        a, b = (low - centre) / deviation, (high - centre) / deviation
        # The difference of two tails on the same side.
        mirrored = a > 0
        total += ndtr(np.where(mirrored, -a, b)) - ndtr(np.where(mirrored, -b, a))
    return np.maximum(total, _SMALLEST)


def _answers(patterns: np.ndarray, means: np.ndarray, intervals: np.ndarray) -> np.ndarray:
    """New fields of all patterns on all weights, from the means that the weights send: [P, N]."""
    moved, spread = patterns * means, 1 - means**2
    centre = moved.sum(1, keepdims=True) - moved
    deviation = np.sqrt(np.maximum(spread.sum(1, keepdims=True) - spread, 1e-15))
    plus, minus = (_probability(centre + sign * patterns, deviation, intervals) for sign in (1, -1))
    answers: np.ndarray = np.clip(0.5 * np.log(plus / minus), -FIELD.high, FIELD.high)
    return answers


def _entropy(patterns: np.ndarray, messages: np.ndarray, total: np.ndarray, intervals: np.ndarray) -> float:
    """Bethe entropy, nats per weight (margins, supplement II.3)."""
    means = np.tanh(total - messages)
    centre, deviation = (patterns * means).sum(1), np.sqrt(np.maximum((1 - means**2).sum(1), 1e-15))
    return bethe(float(np.log(_probability(centre, deviation, intervals)).sum()), messages, total)
