"""Binary perceptron on random features of a binary teacher's inputs: replica theory.

The ensemble of the over-parameterization paper (`overparam`): D latent inputs, N = D / alpha_D features,
P = alpha N = alpha_T D patterns labelled by a teacher in the latent space. `inv_alpha` = N / P is the
over-parameterization. A solution of margin kappa has all its stabilities >= kappa, in units in which the
pre-activation is w.x / sqrt(N). All entropies are in nats per weight. docs/overparam/theory.md derives
every formula.

    >>> from localentropy.replica import random_features as rf
    >>> rf.typical(alpha_T=3.0, inv_alpha=2.0).error_typical
    >>> rf.franz_parisi([0.01, 0.1], alpha_T=3.0, inv_alpha=1.2, margin_ref="max")

Every function takes `activation`: "sign", "tanh", "erf", "identity", or a callable of zero mean under
N(0, 1). Every function raises DomainError for an argument out of range (naming it, its value and what is
allowed) and where there are no solutions, and ConvergenceError, with the point and the residual, for a
solve that failed. Typical solutions are tested to eight digits for alpha_T from 1e-3 to 1e3, inv_alpha up
to 1e3 and every margin, against a solver in 50 digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from localentropy.arguments import require_array, require_between
from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.activations import Activation, activation_moments
from localentropy.numerics.continuation import zero_of_observable
from localentropy.numerics.jets import Jet, variables
from localentropy.numerics.saddle_point import StationaryPoint
from localentropy.replica import franz_parisi as curves
from localentropy.replica import stabilities as distribution
from localentropy.replica import typical as typicals
from localentropy.replica.ensemble import LARGEST_MARGIN, LOADS, MARGIN
from localentropy.replica.franz_parisi import binary_entropy
from localentropy.replica.monotonicity import (
    local_entropy_threshold,
    positivity_threshold,
    smallest_monotonic_margin,
    smallest_positive_margin,
)
from localentropy.replica.random_features_ensemble import RandomFeatures
from localentropy.replica.random_features_limit import overparameterized_point

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "OverparameterizedLimit",
    "TypicalSolution",
    "alpha_c",
    "binary_entropy",
    "franz_parisi",
    "inv_alpha_le",
    "inv_alpha_min",
    "kappa_max",
    "kappa_min",
    "kappa_opt",
    "kappa_u",
    "local_energy",
    "optimal_margin_onset",
    "overparameterized_limit",
    "stability_density",
    "typical",
    "typical_distance",
]

LOADS_OF_THRESHOLDS = (1e-4, 1e2)
"""Range of alpha_T in which `inv_alpha_le` and `inv_alpha_min` were tried. Far beyond it their searches fail."""
LARGEST_INV_ALPHA = 1e4
"""How far to look for the over-parameterization from which a positive margin helps."""


@dataclass(frozen=True)
class TypicalSolution:
    """Replica-symmetric description of the typical solutions of one ensemble.

    Attributes:
        alpha_T: patterns per teacher weight.
        inv_alpha: student weights per pattern.
        margin: kappa.
        entropy: log number of solutions per weight, nats.
        q: overlap of two solutions.
        p: overlap of their projections on the latent space.
        p_d: squared norm of one projection per latent dimension.
        r: overlap of a projection with the teacher.
        q_hat: conjugate of q; likewise `p_hat`, `p_d_hat`, `r_hat` (docs/overparam/theory.md eq. 4).
        error_typical: generalization error of one solution.
        error_barycenter: generalization error of the solutions' barycentre, equally of their vote.
        residual: relative error of the order parameters, estimated by the solver's last correction.
    """

    alpha_T: float
    inv_alpha: float
    margin: float
    entropy: float
    q: float
    p: float
    p_d: float
    r: float
    q_hat: float
    p_hat: float
    p_d_hat: float
    r_hat: float
    error_typical: float
    error_barycenter: float
    residual: float


@dataclass(frozen=True)
class OverparameterizedLimit:
    """Typical solutions in the limit of infinitely many features per pattern.

    Attributes:
        alpha_T: patterns per teacher weight.
        margin: kappa.
        entropy_per_pattern: s_1 in entropy = ln 2 + alpha s_1 + O(alpha^2), nats.
        p: overlap of the projections of two solutions (which are themselves uncorrelated: q = 0).
        p_d: squared norm of one projection per latent dimension.
        r: overlap of a projection with the teacher.
        error_typical: generalization error of one solution.
        error_barycenter: generalization error of the barycentre.
        residual: relative error of the order parameters, estimated by the solver's last correction.
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


def typical(alpha_T: float, inv_alpha: float, margin: float = 0.0, activation: Activation = "sign") -> TypicalSolution:
    """Typical solutions: entropy, order parameters, generalization errors.

    Source: `overparam`, eqs. 50-55 and 81; docs/overparam/theory.md sections 2 and 4.

    Args:
        alpha_T: P / D, in [1e-9, 1e9].
        inv_alpha: N / P, at or above the interpolation threshold of this margin.
        margin: kappa, in [0, kappa_max].
    """
    ensemble = _ensemble(alpha_T, inv_alpha, margin, activation)
    point = typicals.typical_point(ensemble)
    x = ensemble.values(point.coordinates)
    p, A = x.c + x.r**2, x.a / x.v
    p_hat = x.P / x.delta**2
    return TypicalSolution(
        ensemble.alpha_T, 1.0 / ensemble.alpha, ensemble.margin, point.value,
        x.q, p, p + x.delta, x.r, x.q_hat, p_hat, A - p_hat, x.r / x.delta,
        *_errors(*ensemble.covariance_values(point.coordinates)), point.residual,
    )  # fmt: skip


def alpha_c(alpha_T: float, margin: float = 0.0, activation: Activation = "sign") -> float:
    """Interpolation threshold: the largest P / N at which solutions of a margin exist (zero entropy).

    Source: `overparam`, appendix B.3; docs/overparam/theory.md section 3.

    Args:
        alpha_T: P / D, in [1e-9, 1e9].
        margin: kappa, not negative.

    Returns:
        alpha_c; the over-parameterization needed is 1 / alpha_c.
    """
    return typicals.largest_alpha(_ensemble(alpha_T, 1.0, margin, activation))


def kappa_max(alpha_T: float, inv_alpha: float, activation: Activation = "sign") -> float:
    """Largest margin that solutions have: the zero of the entropy as a function of the margin.

    Source: `overparam`, section II; docs/overparam/theory.md section 3.

    Args:
        alpha_T: P / D, in [1e-9, 1e9].
        inv_alpha: N / P, at or above the interpolation threshold.
    """
    return typicals.largest_margin(_ensemble(alpha_T, inv_alpha, 0.0, activation))


def kappa_opt(alpha_T: float, inv_alpha: float, activation: Activation = "sign") -> float:
    """Margin in [0, kappa_max] whose solutions' barycentre has the smallest generalization error.

    Zero up to `optimal_margin_onset`, where it leaves zero continuously.

    Source: `overparam`, section II and appendix D; docs/overparam/theory.md section 4.

    Args:
        alpha_T: P / D, in [1e-9, 1e9].
        inv_alpha: N / P, at or above the interpolation threshold.
    """
    ensemble = _ensemble(alpha_T, inv_alpha, 0.0, activation)
    return _optimal_margin(ensemble)


def optimal_margin_onset(alpha_T: float, activation: Activation = "sign") -> float:
    """Over-parameterization 1/alpha above which a positive margin improves the barycentre.

    Source: `overparam`, appendix D; docs/overparam/theory.md section 4.

    Args:
        alpha_T: P / D, in [1e-9, 1e9].
    """
    return _onset(_seeing_teacher(_ensemble(alpha_T, 1.0, 0.0, activation)))


def overparameterized_limit(
    alpha_T: float, margin: float = 0.0, activation: Activation = "sign"
) -> OverparameterizedLimit:
    """Limit 1/alpha -> infinity at fixed alpha_T: plateaus of the generalization errors.

    Source: `overparam`, eqs. 59-60; docs/overparam/theory.md section 5.

    Args:
        alpha_T: P / D, in [1e-9, 1e9].
        margin: kappa, not negative.
    """
    ensemble = _ensemble(alpha_T, 1.0, margin, activation)
    moments = _seeing_teacher(ensemble).moments
    point = overparameterized_point(ensemble)
    a, P, r = math.exp(point.coordinates[0]), math.exp(point.coordinates[1]), float(point.coordinates[2])
    p, square = P + r**2, moments.mu_1**2
    fields = (square * P, moments.mu_star_squared + square / (1.0 + a), moments.mu_1 * r)
    return OverparameterizedLimit(
        ensemble.alpha_T, ensemble.margin, point.value, p, p + 1.0 / (1.0 + a), r, *_errors(*fields), point.residual
    )


def stability_density(
    stabilities: Iterable[float] | float,
    alpha_T: float,
    inv_alpha: float,
    margin: float = 0.0,
    activation: Activation = "sign",
) -> np.ndarray:
    """Probability density of the stabilities of typical solutions on their training patterns.

    Source: `overparam`, eqs. 61-64; docs/overparam/theory.md section 6.

    Args:
        stabilities: finite numbers, any shape.
        alpha_T: P / D, in [1e-9, 1e9].
        inv_alpha: N / P, at or above the interpolation threshold of this margin.
        margin: kappa, in [0, kappa_max].

    Returns:
        density, shape of `stabilities`; zero below the margin.
    """
    ensemble = _ensemble(alpha_T, inv_alpha, margin, activation)
    values = require_array("stability", stabilities, -math.inf, math.inf)
    return distribution.density(values, ensemble)


def local_energy(
    distances: Iterable[float] | float,
    alpha_T: float,
    inv_alpha: float,
    margin: float = 0.0,
    activation: Activation = "sign",
) -> np.ndarray:
    """Training error of typical solutions after a fraction d of their weights is flipped at random.

    An error is a stability below the margin of the solutions, what their loss counts: the number that
    `localentropy.landscape.binary_local_energy` measures.

    Source: `overparam`, eq. 5 (the loss) and appendix E.2 (the experiment); docs/overparam/theory.md section 6
    (the formula).

    Args:
        distances: fractions of flipped weights in [0, 1], any shape.
        alpha_T: P / D, in [1e-9, 1e9].
        inv_alpha: N / P, at or above the interpolation threshold of this margin.
        margin: kappa, in [0, kappa_max].

    Returns:
        fraction of patterns of stability below the margin, shape of `distances`.
    """
    ensemble = _ensemble(alpha_T, inv_alpha, margin, activation)
    values = require_array("distance", distances, 0.0, 1.0)
    return distribution.energy_after_flips(values, ensemble)


def franz_parisi(
    distances: Iterable[float] | float,
    alpha_T: float,
    inv_alpha: float,
    margin_ref: float | str = "max",
    margin: float = 0.0,
    activation: Activation = "sign",
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """Franz-Parisi entropy: solutions of margin `margin` at distance d from a typical one of `margin_ref`.

    Next to references of equal or almost equal margin the replica-symmetric solution freezes (q -> 1) at
    a small distance, where the entropy is already negative, and does not exist below it.

    The solve may fail for alpha_T far above 100, such as at 1000, and far below 1e-4.

    Source: `overparam`, eqs. 82-96; docs/overparam/theory.md section 7.

    Args:
        distances: Hamming distances per weight, each in [1e-9, 1), in any order.
        alpha_T: P / D, in [1e-9, 1e9].
        inv_alpha: N / P, at or above the interpolation threshold of both margins.
        margin_ref: margin of the reference in [0, kappa_max], or "max" for kappa_max.
        margin: margin of the solutions counted, in [0, kappa_max].
        unsolved: "raise", or "nan" to get entropy, slope and replicon NaN at distances where the solve
            failed, with the residual reached.

    Returns:
        One row per distance, in the order given: distance, entropy (nats per weight), slope (its
        derivative by the distance), replicon (below 1 the replica-symmetric solution is stable),
        residual. `attrs` holds the parameters, with margin_ref as a number, and typical_distance, where
        the entropy has its maximum and equals that of all solutions.

    Raises:
        DomainError: an argument out of range, or margins that have no solutions.
        ConvergenceError: the solve failed at the reference or at the curve's maximum, or, if `unsolved` is
            "raise", at a distance.
    """
    student = _seeing_teacher(_ensemble(alpha_T, inv_alpha, margin, activation))
    labels = {"alpha_T": float(alpha_T), "inv_alpha": float(inv_alpha)}
    return curves.labelled_table(student, distances, margin_ref, unsolved, **labels)


def typical_distance(
    alpha_T: float,
    inv_alpha: float,
    margin_ref: float | str,
    margin: float = 0.0,
    activation: Activation = "sign",
) -> float:
    """Distance of a typical solution of `margin` from one of `margin_ref`: the maximum of phi_FP.

    Source: `overparam`, appendix E.1; docs/overparam/theory.md section 7. Arguments and errors as in `franz_parisi`.
    """
    student = _seeing_teacher(_ensemble(alpha_T, inv_alpha, margin, activation))
    return curves.curve_around(student, margin_ref).typical_distance


def kappa_u(alpha_T: float, inv_alpha: float, margin: float = 0.0, activation: Activation = "sign") -> float:
    """Smallest reference margin at which phi_FP(d) grows with d up to its maximum.

    Source: `overparam`, section II; docs/overparam/theory.md section 8.

    Args:
        alpha_T: P / D, in [1e-9, 1e9].
        inv_alpha: N / P, at or above the local-entropy threshold `inv_alpha_le`.
        margin: margin of the solutions counted, in [0, kappa_max].

    Raises:
        DomainError: an argument out of range, or no such margin.
        ConvergenceError: the solve failed, as it may for alpha_T far above 100 or far below 1e-4.
    """
    return smallest_monotonic_margin(_seeing_teacher(_ensemble(alpha_T, inv_alpha, margin, activation)))


def kappa_min(alpha_T: float, inv_alpha: float, margin: float = 0.0, activation: Activation = "sign") -> float:
    """Smallest reference margin at which phi_FP(d) is nowhere negative.

    Source: `margins`, main text, point 3, for this model. Arguments and errors as in `kappa_u`. 1/alpha is at least
    `inv_alpha_min`.
    """
    return smallest_positive_margin(_seeing_teacher(_ensemble(alpha_T, inv_alpha, margin, activation)))


def inv_alpha_le(alpha_T: float, activation: Activation = "sign") -> float:
    """Local-entropy threshold 1/alpha_LE: below it phi_FP(d) is not monotonic around any typical solution.

    At the threshold the curve of the references of largest margin has a horizontal tangent at small d.

    Source: `overparam`, eq. 16; docs/overparam/theory.md section 8.

    Args:
        alpha_T: P / D, in [1e-4, 100].
    """
    load = require_between("alpha_T", alpha_T, *LOADS_OF_THRESHOLDS)
    return 1.0 / local_entropy_threshold(_seeing_teacher(_ensemble(load, 1.0, 0.0, activation)))


def inv_alpha_min(alpha_T: float, activation: Activation = "sign") -> float:
    """1/alpha below which phi_FP(d) is negative somewhere near every typical solution: kappa_min = kappa_max.

    Args:
        alpha_T: P / D, in [1e-4, 100].
    """
    load = require_between("alpha_T", alpha_T, *LOADS_OF_THRESHOLDS)
    return 1.0 / positivity_threshold(_seeing_teacher(_ensemble(load, 1.0, 0.0, activation)))


def _ensemble(alpha_T: float, inv_alpha: float, margin: float, activation: Activation) -> RandomFeatures:
    return RandomFeatures(
        alpha=1.0 / require_between("inv_alpha", inv_alpha, *LOADS),
        margin=require_between("margin", margin, 0.0, LARGEST_MARGIN),
        alpha_T=require_between("alpha_T", alpha_T, *LOADS),
        moments=activation_moments(activation),
    )


def _seeing_teacher(ensemble: RandomFeatures) -> RandomFeatures:
    if not ensemble.sees_teacher:
        raise DomainError("activation without linear part (E[z sigma(z)] = 0): its patterns do not see the teacher")
    return ensemble


def _errors(C: float, V: float, R: float) -> tuple[float, float]:
    """Generalization errors of a typical solution and of the barycentre (eqs. 10, 11), from their fields."""
    return math.atan2(math.sqrt(C + V), R) / math.pi, math.atan2(math.sqrt(C), R) / math.pi


def _barycenter_error_slope(ensemble: RandomFeatures, point: StationaryPoint) -> float:
    """Derivative by the margin of the barycentre's error, arctan(sqrt(C) / R) / pi."""
    by_margin = point.response[:, MARGIN]
    C, _, R = ensemble.covariances(ensemble.order_parameters(variables(point.coordinates)))
    assert isinstance(R, Jet)
    root, root_slope = math.sqrt(C.value), 0.5 * float(C.gradient @ by_margin) / math.sqrt(C.value)
    return (R.value * root_slope - root * float(R.gradient @ by_margin)) / (math.pi * (C.value + R.value**2))


@lru_cache(maxsize=256)
def _optimal_margin(ensemble: RandomFeatures) -> float:
    """The root of the error's derivative, not a minimum on a grid: the error is flat to 1e-7 near the onset."""
    branch = typicals.branch_in_margin(_seeing_teacher(ensemble))
    if _barycenter_error_slope(ensemble, branch.point) >= 0.0:
        return 0.0
    maximum = typicals.largest_margin(ensemble)
    found = zero_of_observable(branch, lambda point: -_barycenter_error_slope(ensemble, point), maximum)
    return maximum if found is None else found  # the error may fall up to the largest margin


@lru_cache(maxsize=64)
def _onset(ensemble: RandomFeatures) -> float:
    """1/alpha at which the derivative of the error at zero margin changes sign."""
    start = ensemble.at(alpha=typicals.largest_alpha(ensemble))
    branch = typicals.branch_in_alpha(start, typicals.typical_point(start))
    end = -math.log(LARGEST_INV_ALPHA)
    found = zero_of_observable(branch, lambda point: _barycenter_error_slope(ensemble, point), end)
    if found is None:
        raise ConvergenceError("onset of the optimal margin", {"inv_alpha": LARGEST_INV_ALPHA}, math.inf)
    return math.exp(-found)
