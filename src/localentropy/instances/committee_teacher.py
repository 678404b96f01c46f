"""A committee of two units as a teacher: Gaussian inputs, and three labels.

Conventions (`glm`; docs/glm/theory.md eq. 15): the inputs X are n × d, independent Gaussians of variance 1/d. The units
of the teacher have independent Gaussian weights of variance 1, and the label is the sign of the sum of their signs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import locked, require_memory, require_reals, shown
from localentropy.errors import DomainError
from localentropy.numerics.two_signs import TwoSigns
from localentropy.quantities import PATTERNS, SIZE

ROUNDING = 1e-9
"""Largest difference of the two covariances of a matrix, in the standard deviations of both."""


@dataclass(frozen=True, eq=False)
class CommitteeTeacher:
    """A labelled training set and the two units that made its labels; `committee_teacher` makes it.

    Attributes:
        inputs: X, float64, [n, d].
        labels: y, float64, [n]; 1, -1 or 0.
        teacher: w*, float64, [2, d].

    Example:
        >>> from localentropy.instances.committee_teacher import committee_teacher
        >>> problem = committee_teacher(n=300, d=200, seed=0)
        >>> problem.n, problem.d, [round(q, 2) for q in problem.overlaps(problem.teacher)]
        (300, 200, [1.26, 0.78])
    """

    inputs: np.ndarray
    labels: np.ndarray
    teacher: np.ndarray

    @property
    def n(self) -> int:
        """Number of labelled inputs."""
        return self.inputs.shape[0]

    @property
    def d(self) -> int:
        """Number of inputs of a unit."""
        return self.inputs.shape[1]

    def overlaps(self, weights: np.ndarray) -> tuple[float, float]:
        """Overlap of the mean of the units with the teacher's, and the specialization.

        They are m_11 + m_12 and |m_11 - m_12|, with m_ab = w_a·w*_b/d and the teacher's units scaled to the norm √d.
        The labels tell neither the order of the units, so both orders are averaged, nor the teacher's norms. For the
        posterior means the two follow q_+ and q_- of `committee.learning`.

        Args:
            weights: w, [2, d].

        Returns:
            q_+ and q_-.

        Raises:
            DomainError: weights of another shape or not finite.
        """
        units = self.teacher / np.linalg.norm(self.teacher, axis=1, keepdims=True)
        m = require_reals("weights", weights, self.teacher.shape) @ units.T / np.sqrt(self.d)
        return 0.5 * float(m.sum()), 0.5 * abs(float(m[0, 0] + m[1, 1] - m[0, 1] - m[1, 0]))

    def error(self, weights: np.ndarray, covariance: np.ndarray, *, samples: int, seed: int) -> float:
        """Share of new inputs on which the most probable label is not the teacher's.

        Of an input only the pre-activations are drawn, with their law at these weights.

        Args:
            weights: posterior means, such as `CommitteeMean.weights`, [2, d].
            covariance: posterior covariance of the two units' weights at one input, such as
                `CommitteeMean.covariance`, [2, 2].
            samples: number of new inputs.
            seed: root seed.

        Returns:
            The share.

        Raises:
            DomainError: weights or a covariance of another shape or not finite, a covariance that is not symmetric and
                positive definite, a number of inputs below 1, a seed that is no integer.
        """
        covariance, samples = (
            require_reals("covariance", covariance, (2, 2)),
            PATTERNS.called("samples").require(samples),
        )
        (one, both), (mirrored, other) = covariance
        scale = np.sqrt(max(one, 0.0)) * np.sqrt(max(other, 0.0))
        if not (abs(both) < scale and abs(both - mirrored) <= ROUNDING * scale):
            raise DomainError(
                f"covariance = {shown(covariance.tolist())}: allowed are symmetric and positive definite matrices"
            )
        rows = np.concatenate([require_reals("weights", weights, self.teacher.shape), self.teacher])
        stream = seeds.generator(seed, "test/committee_teacher", samples=samples)
        both = stream.multivariate_normal(np.zeros(4), rows @ rows.T / self.d, size=samples)
        guess = TwoSigns().probabilities(both[:, :2], covariance).argmax(axis=0)
        return float(np.mean(np.array([1.0, -1.0, 0.0])[guess] != TwoSigns().labels(both[:, 2:])))


def committee_teacher(n: int, d: int, seed: int) -> CommitteeTeacher:
    """Gaussian inputs with the labels of two random units.

    Source: `glm`, slide "Specialisation transition"; docs/glm/theory.md eq. 15.

    Args:
        n: number of labelled inputs.
        d: number of inputs of a unit.
        seed: root seed.

    Returns:
        Inputs, labels and the teacher.

    Raises:
        DomainError: a size below 1 or too large for the memory, a seed that is no integer.

    Example:
        >>> from localentropy.instances.committee_teacher import committee_teacher
        >>> sorted(set(committee_teacher(n=30, d=20, seed=0).labels.tolist()))
        [-1.0, 0.0, 1.0]
    """
    n, d = SIZE.called("n").require(n), SIZE.called("d").require(d)
    require_memory(2 * 8 * n * d, n=n, d=d)  # the inputs, and the random numbers that they are made from
    stream = seeds.generator(seed, "instance/committee_teacher", n=n, d=d)
    teacher = locked(stream.standard_normal((2, d)))
    inputs = locked(stream.standard_normal((n, d)) / np.sqrt(d))
    return CommitteeTeacher(inputs, locked(TwoSigns().labels(inputs @ teacher.T)), teacher)
