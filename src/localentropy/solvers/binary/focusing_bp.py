"""Focusing belief propagation: y coupled replicas move to the densest solutions as their coupling grows.

All replicas are alike, so the messages are those of one system with one more field on each weight. This field comes
from the centre of the replicas, which the y − 1 other replicas act on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    require_choice,
)
from localentropy.instances.perceptron import Instance
from localentropy.quantities import CAP, COUPLINGS, EXPONENT, REPLICAS_OF_MESSAGES, STEPS, TOLERANCE
from localentropy.solvers.binary.messages import Messages, Update
from localentropy.solvers.solution import STOPS, FocusingRecord, Solution, check_instance

PROTOCOLS = ("fixed_replicas", "pseudo_reinforcement")


@dataclass(frozen=True, eq=False, kw_only=True)
class FocusedSolution(Solution):
    """The signs of the last fields; `converged` says whether the messages of the last step converged.

    Attributes:
        magnetizations: means of the weights after the last step, [N].
        steps: the record of the protocol.
        first_solved: number of updates after which the signs made no error for the first time, or None.
    """

    magnetizations: np.ndarray = field()
    steps: FocusingRecord
    first_solved: int | None


def protocol_values(
    protocol: str, steps: int, replicas: float, exponent: float, cap: float
) -> tuple[np.ndarray, np.ndarray]:
    """Couplings γ and replica numbers y of all steps.

    Args:
        protocol: "fixed_replicas" or "pseudo_reinforcement".
        steps: number of steps.
        replicas: y, the number of fixed replicas.
        exponent: of s/steps in tanh γ.
        cap: largest tanh γ.

    Returns:
        γ and y, each [steps].

    Raises:
        DomainError: an argument out of range.

    Example:
        >>> from localentropy.solvers.binary.focusing_bp import protocol_values
        >>> coupling, replicas = protocol_values("fixed_replicas", 3, 20.0, 0.5, 0.9999)
        >>> coupling.round(3).tolist(), replicas.tolist()
        ([0.658, 1.146, 4.952], [20.0, 20.0, 20.0])
    """
    require_choice("protocol", protocol, PROTOCOLS)
    steps, replicas = COUPLINGS.require(steps), REPLICAS_OF_MESSAGES.require(replicas)
    exponent, cap = EXPONENT.require(exponent), CAP.require(cap)
    if protocol == "fixed_replicas":
        rho = np.arange(1, steps + 1) / steps
        y = np.full(steps, replicas)
    else:
        rho = np.arange(steps) / steps
        # At ρ = 0 the coupling is 0 and the number of replicas has no effect, except for exponent 0.
        with np.errstate(over="ignore"):
            y = np.minimum(1.0 + np.maximum(rho, 1e-300) ** (1.0 - 2.0 * exponent) / (1.0 - rho), 1e300)
    with np.errstate(divide="ignore"):
        coupling = np.arctanh(np.minimum(rho**exponent, cap))
    return coupling, y


def focusing_bp(
    instance: Instance,
    *,
    margin: float = 0.0,
    seed: int,
    protocol: str = "fixed_replicas",
    steps: int = 30,
    replicas: float = 20.0,
    exponent: float = 0.5,
    cap: float = 0.9999,
    damping: float = 0.5,
    adaptive: bool = True,
    max_iterations: int = 20,
    tolerance: float = 1e-5,
    epsilon: float = 0.1,
    update: str = "exact",
    order: str = "parallel",
    stop: str = "end",
) -> FocusedSolution:
    """A solution in a wide flat region by focusing belief propagation.

    Source: `overparam`, Materials and Methods (fBP), and `margins`, supplement II.3: γ_s = artanh ρ_s at fixed y. The
    values of y, ρ_s, the number of steps, the damping and the cap are chosen here. The published package
    BinaryCommitteeMachineFBP.jl has the protocol "pseudo_reinforcement" with exponent=0.5, damping=0, tolerance=1e-3,
    epsilon=0.01, order="sequential", stop="first". With exponent=0 and cap=1 it is standard reinforcement.

    Args:
        instance: the problem.
        margin: smallest stability κ of a solution.
        seed: root seed of the initial magnetizations and of the order of sequential updates.
        protocol: "fixed_replicas": γ_s = artanh (s/steps)^exponent for s = 1 … steps at y = replicas;
            "pseudo_reinforcement": x = s/steps for s = 0 … steps − 1, γ = artanh x^exponent,
            y = 1 + x^(1 − 2 exponent)/(1 − x).
        steps: steps of the protocol.
        replicas: y, the number of replicas; not used by "pseudo_reinforcement".
        exponent: 0.5 for ρ_s = √(s/steps), 1 for s/steps.
        cap: largest tanh γ. With cap=1 the last step of "fixed_replicas" has γ = ∞, as in the text: all replicas are
            sign m.
        damping: share of the old field kept in each update, in [0, 1). Parallel updates oscillate without it.
        adaptive: raise the damping when updates alternate, see `messages.Update`; not in the papers.
        max_iterations: most updates of all messages in each step.
        tolerance: a step ends when no magnetization changes by more in one update.
        epsilon: magnetizations start uniform in [−epsilon, epsilon].
        update: "exact" or "expanded" (to order 1/V while weights are free), see `messages.Update`.
        order: "parallel" or "sequential".
        stop: "end", after all steps, which leads to wider regions; or "first", as soon as the signs make no error.

    Returns:
        The signs of the last fields, also of a failed run. It may have had fewer errors before, see train_errors.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], another argument out of range.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> solvers.focusing_bp(random_patterns(N=501, P=250, seed=0), seed=0).solved
        True
    """
    check_instance(instance)
    max_iterations, tolerance = STEPS.require(max_iterations), TOLERANCE.require(tolerance)
    require_choice("stop", stop, STOPS)
    how = Update(update, order, damping, adaptive)
    couplings, ys = protocol_values(protocol, steps, replicas, exponent, cap)
    start = time.thread_time()
    generator = seeds.generator(seed, "algorithm/focusing_bp", N=instance.N, P=instance.P)
    messages = Messages(instance, margin, how, generator, epsilon)
    protocol_steps = list(zip(couplings, ys, strict=True))
    errors, rows, residual = messages.focus(protocol_steps, "focusing_bp", max_iterations, tolerance, stop)
    solved_at = np.flatnonzero(np.array(errors) == 0)
    return FocusedSolution(
        weights=messages.weights.copy(),
        solved=instance.train_error(messages.weights, margin) == 0.0,
        iterations=len(errors) - 1,
        train_errors=np.array(errors) / instance.P,
        cpu_seconds=time.thread_time() - start,
        converged=residual < tolerance,
        magnetizations=messages.magnetizations.copy(),
        steps=FocusingRecord.of(rows),
        first_solved=int(solved_at[0]) if len(solved_at) else None,
    )
