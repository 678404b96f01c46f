"""The limit of infinitely many features per pattern of `RandomFeatures`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localentropy.numerics.continuation import Branch
from localentropy.numerics.jets import Jet, exp
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint, sizes
from localentropy.theory.latent_space import stiffening
from localentropy.theory.model import Covariances
from localentropy.theory.patterns import hard_margin
from localentropy.theory.question import question
from localentropy.theory.random_features import RandomFeatures
from localentropy.theory.typical_solutions import errors_at


@dataclass(frozen=True)
class OverparameterizedLimit:
    """Typical solutions in the limit of infinitely many features per pattern.

    Attributes:
        alpha_T: patterns per latent dimension, P / D.
        margin: kappa.
        entropy_per_pattern: s_1 in entropy = ln 2 + alpha s_1 + O(alpha^2), nats.
        p: overlap of the projections of two solutions (which are themselves uncorrelated: q = 0).
        p_d: squared norm of one projection per latent dimension.
        r: overlap of a projection with the teacher.
        error_typical: generalization error of one solution.
        error_barycenter: generalization error of the barycentre.
        residual: relative error of the order parameters, estimated by the solver's last correction.

    Example:
        >>> from localentropy.theory import RandomFeatures, overparameterized_limit
        >>> found = overparameterized_limit(RandomFeatures(alpha_T=3.0))
        >>> round(found.entropy_per_pattern, 6), round(found.error_typical, 6)
        (-0.507814, 0.293056)
    """

    alpha_T: float
    margin: float
    entropy_per_pattern: float
    p: float
    p_d: float
    r: float
    error_typical: float
    error_barycenter: float
    residual: float


@dataclass(frozen=True)
class Overparameterized(FreeEntropy):
    """s_1 in entropy = ln 2 + alpha s_1 + O(alpha^2), at infinitely many features per pattern.

    The students are a Gaussian vector in the latent space that sees each pattern with a noise of variance mu_star^2
    (docs/overparam/theory.md eq. 13; `overparam`, eqs. 59-60). Control: the logarithm of a load, a factor on alpha_T.

    Attributes:
        model: its alpha is not used.
        log_load: the control.

    Example:
        >>> from localentropy.theory import RandomFeatures
        >>> from localentropy.theory.many_features_limit import Overparameterized
        >>> Overparameterized(RandomFeatures(alpha_T=3.0)).controls().tolist()
        [0.0]
    """

    model: RandomFeatures
    log_load: float = 0.0

    names = ("ln A", "ln p_hat (p_d - p)^2", "r")

    def controls(self) -> Array:
        """ln load."""
        return np.array([self.log_load])

    def scales(self, coordinates: Array) -> Array:
        """1 for the logarithms, |r| for r."""
        return sizes(self.names, coordinates)

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """s_1, nats per pattern."""
        moments = self.model.moments
        a, P, r = exp(coordinates[0]), exp(coordinates[1]), coordinates[2]
        square = moments.mu_1**2
        V = moments.mu_star_squared + square / (1.0 + a)
        energy = hard_margin(square * P, V, moments.mu_1 * r, self.model.margin)
        return 0.5 / self.model.alpha_T * (stiffening(a) + P * a - r * r) + exp(controls[0]) * energy


def overparameterized_point(model: RandomFeatures) -> StationaryPoint:
    """Saddle point of s_1, followed from small loads.

    Args:
        model: random features with a load; the result does not depend on it.

    Returns:
        The saddle point.

    Raises:
        ConvergenceError: the branch could not be followed.

    Example:
        >>> from localentropy.theory import RandomFeatures
        >>> from localentropy.theory.many_features_limit import overparameterized_point
        >>> round(overparameterized_point(RandomFeatures(alpha_T=3.0, inv_alpha=2.0)).value, 6)
        -0.507814
    """
    first = model.weights.small_load(model)
    branch = Branch(
        lambda log_load: Overparameterized(model, log_load), "log_load", 0, math.log(first),
        model.weights.start(model.at(alpha=1e-12), first)[2:], step=1.0,
    )  # fmt: skip
    return branch.to(0.0)


@question(load=False, pairs=True, of=RandomFeatures)
def overparameterized_limit(model: RandomFeatures) -> OverparameterizedLimit:
    """Limit 1/alpha -> infinity at fixed alpha_T: plateaus of the generalization errors.

    Source: `overparam`, eqs. 59-60; docs/overparam/theory.md section 5.

    Args:
        model: its load is not used.

    Returns:
        Entropy, order parameters and errors in the limit.

    Raises:
        DomainError: not random features, or patterns that do not see the teacher.
        ConvergenceError: the branch could not be followed.

    Example:
        >>> from localentropy.theory import RandomFeatures, overparameterized_limit
        >>> round(overparameterized_limit(RandomFeatures(alpha_T=3.0)).error_barycenter, 6)
        0.147912
    """
    point, moments = overparameterized_point(model.at(alpha=1.0)), model.moments
    a, P, r = math.exp(point.coordinates[0]), math.exp(point.coordinates[1]), float(point.coordinates[2])
    p, square = P + r**2, moments.mu_1**2
    errors = errors_at(model, Covariances(square * P, moments.mu_star_squared + square / (1.0 + a), moments.mu_1 * r))
    return OverparameterizedLimit(
        model.alpha_T, model.margin, point.value, p, p + 1.0 / (1.0 + a), r, *errors, point.residual
    )
