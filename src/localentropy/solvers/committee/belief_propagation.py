"""Belief propagation on the tree committee machine: means of the weights, and the volume of all solutions."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from localentropy.errors import DomainError
from localentropy.instances.committee import TreeCommittee, check_committee, unit_norm
from localentropy.quantities import DAMPING, STEPS, TOLERANCE
from localentropy.solvers.committee.focusing_kernels import update_weights_at_distance
from localentropy.solvers.committee.messages import Messages
from localentropy.solvers.solution import Solution


@dataclass(frozen=True, eq=False, kw_only=True)
class CommitteeBeliefs(Solution):
    """The normalised means of the weights.

    Attributes:
        entropy: log of the fraction of all weights that are solutions, nats per weight; NaN where the messages did not
            converge.
        overlap: q, the mean of m²: the overlap of two random solutions.
        residual: largest change of a mean, or relative change of a variance, in the last update, without damping.
    """

    entropy: float = field()
    overlap: float
    residual: float


def committee_belief_propagation(
    instance: TreeCommittee, *, damping: float = 0.5, max_iterations: int = 1000, tolerance: float = 1e-6
) -> CommitteeBeliefs:
    """Marginals and volume of the solutions. It has no random start.

    Messages of the patterns as in `committee_focusing_bp`, steps 1–3; the weights answer m = B/x and v = 1/x with x
    such that the mean of m² and v add up to 1, in closed form. They are right for independent inputs, as on random
    patterns. There they agree with `localentropy.theory.typical` of `Spherical` for many weights, and no longer
    converge where typical solutions fall into clusters.

    Source: `shaping`, Methods (belief propagation); docs/shaping/theory.md eqs. B.2, B.3, B.4 (without a reference) and
    B.6. Damping and tolerance are chosen.

    Args:
        instance: ±1 patterns.
        damping: share of the old messages kept in an update, in [0, 1).
        max_iterations: most updates.
        tolerance: largest residual of converged messages.

    Returns:
        The weights are the normalised means; `solved` says whether they make no error. `train_errors` are those at the
        start and at the end. `converged` says whether entropy and overlap can be trusted.

    Raises:
        DomainError: not a tree committee with ±1 patterns, or an argument out of range.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.committee.belief_propagation import committee_belief_propagation
        >>> found = committee_belief_propagation(random_tree_committee(N=999, P=500, K=3, seed=0))
        >>> found.converged, round(found.entropy, 2), round(found.overlap, 2)
        (True, -0.37, 0.21)
    """
    check_committee(instance)
    if not isinstance(instance, TreeCommittee):
        raise DomainError(
            f"instance = {type(instance).__name__} object: committee_belief_propagation needs a TreeCommittee. "
            "Units with common inputs have correlated weights, which the messages leave out"
        )
    damping, tolerance = DAMPING.require(damping), TOLERANCE.require(tolerance)
    max_iterations = STEPS.require(max_iterations)
    clock = time.thread_time()
    messages = Messages(instance)
    errors = [messages.errors()]
    # Zero overlap with a reference of zeros is no condition: only the norm is left.
    free = (np.zeros_like(messages.means), 0.5)
    _, residual, iterations = messages.converge(update_weights_at_distance, free, damping, max_iterations, tolerance)
    errors.append(messages.errors())
    converged = residual <= tolerance
    weights = unit_norm(messages.means)
    return CommitteeBeliefs(
        weights=weights,
        solved=instance.train_error(weights) == 0.0,
        iterations=iterations,
        train_errors=np.array(errors),
        cpu_seconds=time.thread_time() - clock,
        converged=converged,
        entropy=messages.log_volume() if converged else math.nan,
        overlap=messages.overlap(),
        residual=residual,
    )
