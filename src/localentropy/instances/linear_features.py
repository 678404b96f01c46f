"""Problems for a linear student of a teacher's sign: independent inputs, random features, Gaussian covariate model.

Conventions (`glm`; docs/glm/theory.md eqs. 23, 27, 31, 32). The teacher sees d independent Gaussian components, and
labels them by the sign of a sum. The student sees p numbers:

    "independent"  the same components, divided by √d; p = d
    "nonlinear"    f(F c/√d)/√p, random features of the components c (the latent pattern), with F Gaussian, p × d
    "gaussian"     (μ₁ F c/√d + μ⋆ ζ)/√p with ζ Gaussian: features with the same covariances

The output of a student w is its sum Σ_i w_i x_i. So λ means the same as in `localentropy.theory.erm` and
`localentropy.theory.hidden_manifold`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from localentropy.arguments import (
    locked,
    require_choice,
    require_memory,
    require_reals,
)
from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import GeneralizedLinear, generalized_linear
from localentropy.instances.perceptron import HiddenManifold, hidden_manifold
from localentropy.numerics.activations import Activation, activation_moments
from localentropy.numerics.channels import Sign
from localentropy.quantities import PATTERNS, SIZE

LARGEST_WEIGHT = 1e60
"""Beyond it errors overflow."""
FEATURES = ("independent", "nonlinear", "gaussian")


class Errors(NamedTuple):
    """Errors on new inputs, float64, [students].

    Attributes:
        generalization_error: probability of a wrong sign. An output of 0 is wrong with probability 1/2.
        square_error: mean of (y − output)².
    """

    generalization_error: np.ndarray
    square_error: np.ndarray


@dataclass(frozen=True, eq=False)
class LinearProblem:
    """A labelled training set for a linear student.

    Attributes:
        source: the teacher and what it sees: a `GeneralizedLinear` of channel `Sign`, or a `HiddenManifold`.
        inputs: what the student sees, float64, [n, p].
        labels: ±1, float64, [n].

    Raises:
        DomainError: another source.

    Example:
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> from localentropy.instances.linear_features import LinearProblem
        >>> source = generalized_linear(n=30, d=10, seed=0, prior="gaussian", channel="sign")
        >>> problem = LinearProblem(source)
        >>> problem.errors(source.teacher[None]).generalization_error.round(12).tolist()  # the teacher makes none
        [0.0]
    """

    source: GeneralizedLinear | HiddenManifold
    inputs: np.ndarray = field(init=False)
    labels: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        source = self.source
        if isinstance(source, GeneralizedLinear) and source.channel == Sign():
            inputs, labels = source.inputs, source.labels
        elif isinstance(source, HiddenManifold):
            inputs = locked(source.compact_patterns.astype(np.float64) / math.sqrt(source.N))
            labels = source.labels
        else:
            raise DomainError(
                f"source = {type(source).__name__} object: allowed is a GeneralizedLinear of channel Sign() or an "
                "HiddenManifold"
            )
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "labels", labels)

    def errors(self, weights: np.ndarray, test_samples: int = 10_000) -> Errors:
        """Errors of students on new inputs.

        For Gaussian inputs the outputs of student and teacher are Gaussian, and the errors are exact (theory.md eq.
        27). For nonlinear features they are measured.

        Args:
            weights: w, [students, p], numbers up to 1e60.
            test_samples: new inputs, for nonlinear features only. They are the same ones in every call.

        Returns:
            The errors, one of each student.

        Raises:
            DomainError: weights of another shape or too large, test_samples < 1.
        """
        weights = require_reals("weights", weights, ("students", self.inputs.shape[1]), most=LARGEST_WEIGHT)
        if isinstance(self.source, HiddenManifold) and not self.source.gaussian_covariate:
            return self._measured(self.source, weights, PATTERNS.called("test_samples").require(test_samples))
        # In units of a power of two, which rounds nothing: squares of very small weights vanish.
        unit = np.frexp(np.abs(weights).max(1))[1]
        latent, own_noise = self._gaussian_outputs(np.ldexp(weights, -unit[:, None]))
        direction = self.source.teacher / np.linalg.norm(self.source.teacher)
        covariance = latent @ direction
        noise = np.sum((latent - covariance[:, None] * direction) ** 2, axis=1) + own_noise
        size = np.ldexp(covariance, unit)
        square = np.ldexp(noise, 2 * unit) + (size - math.sqrt(2.0 / math.pi)) ** 2 + 1.0 - 2.0 / math.pi
        error = np.arctan2(np.sqrt(noise), covariance) / math.pi
        return Errors(np.where((noise == 0.0) & (covariance == 0.0), 0.5, error), square)

    def _gaussian_outputs(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outputs as weights of the teacher's components, [students, d], and the variance of the rest, [students]."""
        if isinstance(self.source, GeneralizedLinear):
            return weights / math.sqrt(weights.shape[1]), np.zeros(len(weights))
        moments, (p, d) = activation_moments(self.source.activation), self.source.features.shape
        latent = moments.mu_1 / math.sqrt(p * d) * (weights @ self.source.features)
        return latent, moments.mu_star_squared / p * np.sum(weights**2, axis=1)

    @staticmethod
    def _measured(source: HiddenManifold, weights: np.ndarray, test_samples: int) -> Errors:
        wrong, squares = np.zeros(len(weights)), np.zeros(len(weights))
        for patterns, labels in source.test_patterns(test_samples):
            margins = labels[:, None] * (patterns.astype(np.float64) @ weights.T) / math.sqrt(weights.shape[1])
            wrong += np.sum(0.5 - 0.5 * np.sign(margins), axis=0)
            squares += np.sum((1.0 - margins) ** 2, axis=0)
        return Errors(wrong / test_samples, squares / test_samples)


def linear_problem(
    features: str, n: int, d: int, seed: int, *, p: int | None = None, activation: Activation = "erf"
) -> LinearProblem:
    """A training set. Nonlinear and Gaussian features of one seed have the same teacher, components and F.

    Args:
        features: "independent", "nonlinear" or "gaussian".
        n: number of labelled inputs.
        d: components that the teacher sees.
        seed: root seed.
        p: weights of the student; None for d, as independent inputs have it.
        activation: f of the features, as in `localentropy.instances.perceptron.hidden_manifold`.

    Returns:
        Inputs and labels, and what is needed to test a student on new ones.

    Raises:
        DomainError: unknown features, a size below 1 or too large for the memory, p unlike d for independent inputs, an
            unknown activation.

    Example:
        >>> from localentropy.instances.linear_features import linear_problem
        >>> linear_problem("nonlinear", n=100, d=20, seed=0, p=50).inputs.shape
        (100, 50)
    """
    require_choice("features", features, FEATURES)
    n, d = SIZE.called("n").require(n), SIZE.called("d").require(d)
    p = d if p is None else SIZE.called("p").require(p)
    if features == "independent":
        if p != d:
            raise DomainError(f"p = {p}: independent inputs are what the teacher sees, so allowed is d = {d}")
        return LinearProblem(generalized_linear(n, d, seed))
    require_memory(8 * (n * d + p * d) + 12 * n * p, n=n, d=d, p=p)  # latent, F, patterns twice
    return LinearProblem(hidden_manifold(d, n, p, seed, activation, gaussian_covariate=features == "gaussian"))
