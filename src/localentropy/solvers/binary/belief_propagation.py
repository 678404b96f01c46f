"""Belief propagation: the marginals of the weights under the uniform measure on solutions, and their entropy.

It is no solver at small overparameterization. The signs of the marginals are a solution only far from the threshold: on
random features with 3 patterns per latent dimension, from about 5 to 10 weights per pattern on.

On random features the patterns are correlated. The variance Σ_i (1 − m_i²) of the sums, used here and in the papers, is
then wrong at leading order, and overlap and entropy differ from the replica theory. The fixed points of
`localentropy.solvers.amp.two_level_amp` agree with it. On independent patterns both are right.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from localentropy import seeds
from localentropy.instances.perceptron import Instance
from localentropy.numerics.waiting import counted
from localentropy.quantities import STEPS, TOLERANCE
from localentropy.solvers.binary.messages import Messages, Update
from localentropy.solvers.solution import Solution, check_instance


@dataclass(frozen=True, eq=False, kw_only=True)
class BeliefSolution(Solution):
    """The signs of the marginals.

    Attributes:
        entropy: Bethe entropy, nats per weight; NaN where the messages did not converge.
        magnetizations: m, the means of the weights, [N].
        residuals: largest change of a magnetization in each update, [iterations].
        overlap: q = Σ_i m_i²/N, the mean overlap of two random solutions.
    """

    entropy: float = field()
    magnetizations: np.ndarray = field()
    residuals: np.ndarray
    overlap: float


def belief_propagation(
    instance: Instance,
    *,
    margin: float = 0.0,
    seed: int,
    damping: float = 0.3,
    adaptive: bool = True,
    max_iterations: int = 500,
    tolerance: float = 1e-5,
    epsilon: float = 0.1,
    update: str = "exact",
    order: str = "parallel",
) -> BeliefSolution:
    """Marginals and entropy of the solutions by belief propagation with full messages.

    Source: `overparam`, Materials and Methods (BP); messages and Bethe entropy: docs/margins/theory.md eqs. 41, 42. The
    values of damping, max_iterations and epsilon are chosen here.

    Args:
        instance: the problem.
        margin: smallest stability κ of a solution.
        seed: root seed of the initial magnetizations and of the order of sequential updates.
        damping: share of the old field kept in each update, in [0, 1). Parallel updates may oscillate without it.
        adaptive: raise the damping when updates alternate, see `messages.Update`; not in the papers.
        max_iterations: most updates of all messages.
        tolerance: converged when no magnetization changes by more in one update.
        epsilon: magnetizations start uniform in [−epsilon, epsilon]. Where the messages converge it has no effect.
        update: "exact" or "expanded" (to order 1/V, half the time), see `messages.Update`.
        order: "parallel" or "sequential".

    Returns:
        The weights are the signs of the marginals, +1 for a marginal of zero; `solved` says whether they make no error.
        `converged` says whether entropy and marginals can be trusted: the messages have reached the tolerance, no field
        has reached its bound, and the marginals satisfy every pattern. Fields may reach their bound on instances of a
        few weights. Patterns that contradict each other, such as one with both labels, have no such marginals.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], another argument out of range.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> counted = solvers.belief_propagation(random_patterns(N=501, P=250, seed=0), seed=0)
        >>> round(counted.entropy, 4), counted.converged
        (0.329, True)
    """
    check_instance(instance)
    max_iterations, tolerance = STEPS.require(max_iterations), TOLERANCE.require(tolerance)
    how = Update(update, order, damping, adaptive)
    start = time.thread_time()
    generator = seeds.generator(seed, "algorithm/belief_propagation", N=instance.N, P=instance.P)
    messages = Messages(instance, margin, how, generator, epsilon)
    errors, residuals = [messages.errors()], list[float]()
    at_rest = False
    for _ in counted(range(max_iterations), "belief_propagation"):
        residuals.append(messages.sweep())
        errors.append(messages.errors())
        at_rest = residuals[-1] < tolerance
        if at_rest:
            break
    converged = at_rest and messages.consistent(instance)
    return BeliefSolution(
        weights=messages.weights.copy(),
        solved=instance.train_error(messages.weights, margin) == 0.0,
        iterations=len(residuals),
        train_errors=np.array(errors) / instance.P,
        cpu_seconds=time.thread_time() - start,
        converged=converged,
        entropy=messages.entropy() if converged else math.nan,
        magnetizations=messages.magnetizations.copy(),
        residuals=np.array(residuals),
        overlap=messages.overlap,
    )
