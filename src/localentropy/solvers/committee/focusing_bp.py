"""Focusing belief propagation on committee machines with continuous weights.

In the messages the weights are Gaussian. With many ±1 inputs per unit they reduce to approximate message passing
(AMP): the means of the weights, one variance for each unit, and a slope and a curvature for each pattern and unit.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    require_choice,
)
from localentropy.errors import DomainError
from localentropy.instances.committee import Committee, TreeCommittee, check_committee, unit_norm
from localentropy.numerics.waiting import counted
from localentropy.quantities import (
    COUPLING_END,
    COUPLING_START,
    COUPLINGS,
    DAMPING,
    REPLICAS_OF_MESSAGES,
    SEED,
    STEPS,
    TOLERANCE,
)
from localentropy.solvers.committee.focusing_kernels import update_weights
from localentropy.solvers.committee.messages import Messages
from localentropy.solvers.solution import STOPS, FocusingRecord, Solution

RESTART_DAMPING = 0.8
FIRST_SPREAD = 0.1
"""Standard deviation of the first means of a fully connected machine; weights have 1."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FocusedCommittee(Solution):
    """The normalised means of one step.

    Attributes:
        steps: the record of the protocol.
    """

    steps: FocusingRecord


def committee_focusing_bp(
    instance: Committee,
    *,
    seed: int | None = None,
    coupling_start: float = 0.5,
    coupling_end: float = 30.0,
    steps: int = 30,
    replicas: float = 10.0,
    damping: float = 0.5,
    max_iterations: int = 200,
    tolerance: float = 1e-3,
    stop: str = "end",
) -> FocusedCommittee:
    """A solution in a wide flat region by focusing belief propagation. On a tree it has no random start.

    y replicas of weights w^a, w_l^a·w_l^a = n, are tied to a centre by λ/2 Σ_a |w^a − w⋆|², and λ grows. A unit has n
    inputs, N/K on a tree. With X_l the inputs of unit l times the label, over √n, one update is

    1. z_l = X_l m_l, ω_l = z_l − v_l g_l, and the probability Φ(ω/√v) that a unit is on the side of the label;
    2. the probability Z that most units are, and C_l that unit l decides, by exact convolutions;
    3. g_l = C_l φ(ω_l/√v_l)/(√v_l Z), Γ_l = g_l² + g_l ω_l/v_l, A_l = Σ_μ Γ_μl/n, B_l = X_lᵀ g_l + A_l m_l;
    4. m = B/x, v = 1/(x + Λ), Λ = 1/[(1/x + 1/λ)/(y − 1) + 1/λ], with x such that the mean of m² and v add up to 1.

    Source: `shaping`, Methods and SI (algorithm, λ from 0.5 to 30 in 30 steps, y = 10, 200 iterations); `overparam`,
    §III and Methods (random features); docs/shaping/theory.md eqs. B.2, B.3 and B.7. The multiplier of the norm,
    tolerance and damping are chosen.

    The messages assume that pre-activations have variance v and are independent between units. Random features of one
    latent pattern are correlated within and between units. There the messages are approximate: they find solutions, but
    q and v are not those of a posterior. In a fully connected machine the weights of two units at one input are
    correlated too, and the messages leave this out. There all units are equal in the first messages. Small random means
    tell them apart.

    Args:
        instance: ±1 patterns.
        seed: root seed of the first means of a fully connected machine, which needs one. A tree does not use it.
        coupling_start: first λ.
        coupling_end: last λ; the values between are a geometric sequence.
        steps: values of λ.
        replicas: y, larger than 1, not necessarily an integer.
        damping: share of the old g, Γ, m, v kept in an update, in [0, 1). If a step ends farther from its fixed point
            than it began, it is repeated with damping 0.8, if this is larger. If its messages overflow again, it is
            skipped.
        max_iterations: most updates in each step.
        tolerance: a step ends when no mean would change by more in an undamped update.
        stop: "end", after all steps; "first", after the first step that ends without errors.

    Returns:
        The means of the last step, normalised for each unit. A run with stop="first" that finds no solution returns
        those of the step with the fewest errors. `iterations` are updates; `train_errors` are those at the start and
        after each step, [steps + 1]. `converged` is None: the residuals are in `steps`.

    Raises:
        DomainError: not a committee with ±1 patterns, a fully connected one without seed, an argument out of range.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
        >>> committee_focusing_bp(machine, seed=0).solved
        True
    """
    check_committee(instance)
    if seed is not None:
        SEED.require(seed)
    elif not isinstance(instance, TreeCommittee):
        raise DomainError("seed = None: a fully connected machine needs a seed, which tells its units apart")
    steps, max_iterations = COUPLINGS.require(steps), STEPS.require(max_iterations)
    coupling_start, coupling_end = COUPLING_START.require(coupling_start), COUPLING_END.require(coupling_end)
    if coupling_start > coupling_end:
        raise DomainError(
            f"couplings from {coupling_start} to {coupling_end}: allowed is 0 < coupling_start <= coupling_end"
        )
    replicas = REPLICAS_OF_MESSAGES.require(replicas)
    damping, tolerance = DAMPING.require(damping), TOLERANCE.require(tolerance)
    require_choice("stop", stop, STOPS)
    clock = time.thread_time()
    messages = Messages(instance, _first_means(instance, seed))
    errors = [messages.errors()]
    rows: list[tuple[float, ...]] = []
    means, least = messages.means, math.inf
    for coupling in counted(list(np.geomspace(coupling_start, coupling_end, steps)), "committee_focusing_bp"):
        before = messages.state()
        used, centre = damping, (coupling, replicas)
        first, residual, made = messages.converge(update_weights, centre, used, max_iterations, tolerance)
        # The first update may overflow too. Then both residuals are infinite.
        failed = math.isinf(residual) or residual > max(first, tolerance)
        if failed and damping < RESTART_DAMPING:
            messages.restore(before)
            used = RESTART_DAMPING
            _, residual, more = messages.converge(update_weights, centre, used, max_iterations, tolerance)
            made += more
        if math.isinf(residual):
            messages.restore(before)
        errors.append(messages.errors())
        rows.append((coupling, replicas, made, errors[-1], residual, used, messages.overlap()))
        if stop == "end" or errors[-1] < least:
            means, least = messages.means.copy(), errors[-1]
        if stop == "first" and least == 0.0:
            break
    record = FocusingRecord.of(rows)
    weights = unit_norm(means)
    return FocusedCommittee(
        weights=weights,
        solved=instance.train_error(weights) == 0.0,
        iterations=int(record.iterations.sum()),
        train_errors=np.array(errors),
        cpu_seconds=time.thread_time() - clock,
        steps=record,
    )


def _first_means(instance: Committee, seed: int | None) -> np.ndarray:
    """Zeros on a tree; small and random where nothing else tells the units apart."""
    K, size = instance.units, instance.inputs_per_unit
    if isinstance(instance, TreeCommittee) or seed is None:
        return np.zeros((K, size))
    stream = seeds.generator(seed, "algorithm/committee_focusing_bp", N=K * size, P=instance.P, K=K)
    return FIRST_SPREAD * stream.standard_normal((K, size))
