"""Approximate message passing (AMP) for a committee: the messages of a weight are vectors over the K units.

One update, with the means A of the weights, [d, K], their covariance V over the units, [K, K], g(y, ω, V) of the label,
[n, K], and inputs X of n rows and d columns of variance 1/d (docs/glm/theory.md eq. 17a):

    ω = X A − g_old V          means of the sums, without what their own label sent in the last update
    Λ = Σ_μ −∂g/∂ω / d         precision that a weight gets from the labels, [K, K]
    B = X^T g + A Λ            its field
    V = (1 + Λ)^-1, A = B V    under the Gaussian prior

With K = 1 this is `localentropy.solvers.generalized_amp`. The covariance is one for all weights.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from localentropy import seeds
from localentropy.errors import DomainError
from localentropy.instances.committee_teacher import CommitteeTeacher
from localentropy.numerics.two_signs import TwoSigns
from localentropy.numerics.waiting import counted
from localentropy.quantities import FIRST_FIELD, STEPS, TOLERANCE


class UnitsChannel(Protocol):
    """What a label tells of the sums of K units."""

    def response(self, y: np.ndarray, omega: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """g, [n, K], and −∂g/∂ω, [n, K, K], of labels, [n], at means, [n, K], and a covariance, [K, K]."""


@dataclass(frozen=True, eq=False)
class CommitteeMean:
    """What the student knows in the end.

    Attributes:
        weights: posterior means, float64, [K, d].
        covariance: V, of the units of a weight, [K, K].
        converged: whether the last update changed no mean by more than the tolerance.
        iterations: updates of all means.
        cpu_seconds: processor time.
    """

    weights: np.ndarray
    covariance: np.ndarray
    converged: bool
    iterations: int
    cpu_seconds: float


def updates(
    channel: UnitsChannel, inputs: np.ndarray, labels: np.ndarray, field: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Updates of the messages, without end.

    Args:
        channel: what a label tells.
        inputs: X, [n, d], of variance 1/d.
        labels: y, [n].
        field: the first fields of the weights, [d, K].

    Yields:
        Means, [d, K], and covariance, [K, K], after each update.

    Example:
        >>> from itertools import islice
        >>> import numpy as np
        >>> from localentropy.instances.committee_teacher import committee_teacher
        >>> from localentropy.numerics.two_signs import TwoSigns
        >>> from localentropy.solvers.committee_amp import updates
        >>> problem = committee_teacher(n=600, d=200, seed=0)
        >>> run = updates(TwoSigns(), problem.inputs, problem.labels, np.zeros((200, 2)))
        >>> [round(problem.overlaps(means.T)[0], 2) for means, _ in islice(run, 3)]  # without specialization
        [0.68, 0.78, 0.79]
    """
    units, d = field.shape[1], inputs.shape[1]
    means, covariance, g = field, np.eye(units), np.zeros((len(inputs), units))
    while True:
        g, slope = channel.response(labels, inputs @ means - g @ covariance, covariance)
        values, axes = np.linalg.eigh(slope.sum(axis=0) / d)
        # Labels that are not log-concave can give a small negative sum. A precision is not negative.
        precision = (axes * np.maximum(values, 0.0)) @ axes.T
        covariance = np.linalg.inv(np.eye(units) + precision)
        means = (inputs.T @ g + means @ precision) @ covariance
        yield means, covariance


def committee_amp(
    instance: CommitteeTeacher,
    *,
    seed: int,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    epsilon: float = 0.01,
) -> CommitteeMean:
    """Posterior means of the weights of a teacher with two units, by approximate message passing.

    Source: `glm`, slides on the committee machine (Aubin et al. 2018); docs/glm/theory.md eq. 17a. Nothing is damped.

    Args:
        instance: the problem.
        seed: root seed of the first fields.
        max_iterations: most updates. Near the load of specialization hundreds are needed.
        tolerance: converged when no mean changes by more in one update.
        epsilon: the first fields are Gaussian with this standard deviation, in [1e-100, 100]. They must not be zero:
            units that are equal stay equal.

    Returns:
        The means of the weights, and whether they converged.

    Raises:
        DomainError: an instance of another kind, an argument out of range.

    Example:
        >>> from localentropy.instances.committee_teacher import committee_teacher
        >>> from localentropy.solvers.committee_amp import committee_amp
        >>> problem = committee_teacher(n=1200, d=200, seed=0)
        >>> [round(q, 2) for q in problem.overlaps(committee_amp(problem, seed=0).weights)]
        [1.03, 0.85]
    """
    if not isinstance(instance, CommitteeTeacher):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is a CommitteeTeacher, as committee_teacher of "
            "localentropy.instances.committee_teacher makes it"
        )
    epsilon, max_iterations = FIRST_FIELD.require(epsilon), STEPS.require(max_iterations)
    tolerance = TOLERANCE.require(tolerance)
    start = time.thread_time()
    stream = seeds.generator(seed, "algorithm/committee_amp", n=instance.n, d=instance.d)
    means, residual, iterations = epsilon * stream.standard_normal((instance.d, 2)), np.inf, 0
    run = updates(TwoSigns(), instance.inputs, instance.labels, means)
    for _ in counted(range(max_iterations), "message passing"):
        before, iterations = means, iterations + 1
        means, covariance = next(run)
        residual = float(np.abs(means - before).max())
        if residual < tolerance:
            break
    return CommitteeMean(means.T, covariance, residual < tolerance, iterations, time.thread_time() - start)
