"""Binary perceptron on random features of a binary teacher's inputs: replica theory.

The ensemble of the over-parameterization paper (`overparam`): D latent inputs, N = D / alpha_D features,
P = alpha N = alpha_T D patterns labelled by a teacher in the latent space. `inv_alpha` = N / P is the
over-parameterization. A solution of margin kappa has all its stabilities >= kappa, in units in which the
pre-activation is w.x / sqrt(N). All entropies are in nats per weight. docs/theory/overparam.md derives
every formula.

    >>> from localentropy.replica import random_features as rf
    >>> rf.typical(alpha_T=3.0, inv_alpha=2.0).error_typical
    >>> rf.franz_parisi([0.01, 0.1], alpha_T=3.0, inv_alpha=1.2, margin_ref="max")
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.continuation import Branch, find_root
from localentropy.numerics.saddle_point import StationaryPoint
from localentropy.numerics.special import binary_entropy
from localentropy.replica.activations import Activation, activation_moments
from localentropy.replica.arguments import require_non_negative, require_number, require_positive
from localentropy.replica.random_features_curve import CurvePoint, FranzParisiCurve
from localentropy.replica.random_features_typical import Ensemble, TypicalFreeEntropy, add_patterns, entropy

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "TypicalSolution",
    "alpha_c",
    "binary_entropy",
    "franz_parisi",
    "kappa_max",
    "typical",
    "typical_distance",
]

# An entropy above this counts as non-negative: at a threshold it vanishes only to rounding.
_ZERO_ENTROPY = -1e-9


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
        q_hat: conjugate of q; likewise `p_hat`, `p_d_hat`, `r_hat` (docs/theory/overparam.md eq. 2).
        p_hat: conjugate of p.
        p_d_hat: conjugate of p_d.
        r_hat: conjugate of r.
        error_typical: generalization error of one solution.
        error_barycenter: generalization error of the solutions' barycentre, equally of their vote.
        residual: largest violation of a saddle-point equation.
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


def typical(alpha_T: float, inv_alpha: float, margin: float = 0.0, activation: Activation = "sign") -> TypicalSolution:
    """Typical solutions: entropy, order parameters, generalization errors.

    Source: `overparam`, eqs. 50-55 and 81; docs/theory/overparam.md eqs. 3-8.

    Args:
        alpha_T: P / D, positive.
        inv_alpha: N / P, at or above the interpolation threshold of this margin.
        margin: kappa, in [0, kappa_max].
        activation: "sign", "tanh", "erf", "identity" or a callable of zero mean under N(0, 1).

    Raises:
        DomainError: an argument is out of range; there are no solutions.
        ConvergenceError: the saddle point was not found.
    """
    ensemble = _ensemble(alpha_T, inv_alpha, margin, activation)
    return _describe(ensemble, _typical_point(ensemble))


def alpha_c(alpha_T: float, margin: float = 0.0, activation: Activation = "sign") -> float:
    """Interpolation threshold: the largest P / N at which solutions of a margin exist (zero entropy).

    Source: `overparam`, appendix B.3; docs/theory/overparam.md eq. 9.

    Args:
        alpha_T: P / D, positive.
        margin: kappa, not negative.
        activation: as in `typical`.

    Returns:
        alpha_c; the over-parameterization needed is 1 / alpha_c.

    Raises:
        DomainError: an argument is out of range.
        ConvergenceError: the threshold was not found.
    """
    margin = require_non_negative("margin", margin)
    return _alpha_c(Ensemble(1.0, require_positive("alpha_T", alpha_T), margin, activation_moments(activation)))


def kappa_max(alpha_T: float, inv_alpha: float, activation: Activation = "sign") -> float:
    """Largest margin that solutions have: the zero of the entropy as a function of the margin.

    Source: `overparam`, section II; docs/theory/overparam.md eq. 9.

    Args:
        alpha_T: P / D, positive.
        inv_alpha: N / P, at or above the interpolation threshold.
        activation: as in `typical`.

    Raises:
        DomainError: an argument is out of range; there are no solutions even at zero margin.
        ConvergenceError: the margin was not found.
    """
    return _kappa_max(_ensemble(alpha_T, inv_alpha, 0.0, activation))


def franz_parisi(
    distances: Iterable[float],
    alpha_T: float,
    inv_alpha: float,
    margin_ref: float | str,
    margin: float = 0.0,
    activation: Activation = "sign",
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """Franz-Parisi entropy: solutions of margin `margin` at distance d from a typical one of `margin_ref`.

    Source: `overparam`, eqs. 82-96; docs/theory/overparam.md eqs. 15-25.

    Next to references of equal or almost equal margin the replica-symmetric solution freezes (q -> 1) at
    a small distance where the entropy is already negative, and does not exist below it.

    Args:
        distances: Hamming distances per weight, each in (0, 1), in any order.
        alpha_T: P / D, positive.
        inv_alpha: N / P, at or above the interpolation threshold of both margins.
        margin_ref: margin of the reference in [0, kappa_max], or "max" for kappa_max.
        margin: margin of the solutions counted, in [0, kappa_max].
        activation: as in `typical`.
        unsolved: "raise", or "nan" to get entropy and slope NaN at distances where the solve failed, with
            the residual reached.

    Returns:
        One row per distance, in the order given: distance, entropy (nats per weight), slope (its
        derivative by the distance), residual. `attrs` holds the parameters, with margin_ref as a number,
        and typical_distance, where the entropy has its maximum and equals that of all solutions.

    Raises:
        DomainError: an argument is out of range.
        ConvergenceError: with the parameters and the last distance reached.
    """
    import pandas as pd

    if unsolved not in ("raise", "nan"):
        raise DomainError(f"unsolved = {unsolved!r} is not known: allowed are 'raise', 'nan'")
    requested = _distances(distances)
    curve = _curve(alpha_T, inv_alpha, margin_ref, margin, activation)
    rows: dict[float, CurvePoint] = {}
    # Outwards from the maximum, so that each point starts from its neighbour.
    for distance in sorted(set(requested), key=lambda d: abs(math.log(d / curve.typical_distance))):
        try:
            rows[distance] = curve.at(distance)
        except ConvergenceError as failure:
            if unsolved == "raise":
                raise
            missing = np.full(15, math.nan)
            rows[distance] = CurvePoint(distance, math.nan, math.nan, failure.residual, missing)
    table = pd.DataFrame(
        [(d, rows[d].entropy, rows[d].slope, rows[d].residual) for d in requested],
        columns=["distance", "entropy", "slope", "residual"],
    )
    table.attrs = {
        "alpha_T": float(alpha_T),
        "inv_alpha": float(inv_alpha),
        "margin_ref": curve.reference.ensemble.margin,
        "margin": float(margin),
        "typical_distance": curve.typical_distance,
    }
    return table


def typical_distance(
    alpha_T: float,
    inv_alpha: float,
    margin_ref: float | str,
    margin: float = 0.0,
    activation: Activation = "sign",
) -> float:
    """Distance of a typical solution of `margin` from one of `margin_ref`: the maximum of phi_FP.

    Source: `overparam`, appendix E.1; docs/theory/overparam.md eq. 23. Arguments and errors as in `franz_parisi`.
    """
    return _curve(alpha_T, inv_alpha, margin_ref, margin, activation).typical_distance


def _ensemble(alpha_T: float, inv_alpha: float, margin: float, activation: Activation) -> Ensemble:
    return Ensemble(
        1.0 / require_positive("inv_alpha", inv_alpha),
        require_positive("alpha_T", alpha_T),
        require_non_negative("margin", margin),
        activation_moments(activation),
    )


def _distances(distances: Iterable[float]) -> list[float]:
    values = np.atleast_1d(np.asarray(list(np.atleast_1d(np.asarray(distances, dtype=object)).flat), dtype=object))
    checked = [require_number("distance", value) for value in values]
    for value in checked:
        if not 0.0 < value < 1.0:
            raise DomainError(f"distance = {value:.12g} is outside the open interval (0, 1)")
    return checked


def _curve(
    alpha_T: float, inv_alpha: float, margin_ref: float | str, margin: float, activation: Activation
) -> FranzParisiCurve:
    student = _ensemble(alpha_T, inv_alpha, margin, activation)
    if isinstance(margin_ref, str):
        if margin_ref != "max":
            raise DomainError(f"margin_ref = {margin_ref!r} is not known: allowed are numbers and 'max'")
        margin_ref = _kappa_max(replace(student, margin=0.0))
    else:
        margin_ref = require_non_negative("margin_ref", margin_ref)
    if student.moments.mu_1**2 < 1e-12 * student.moments.variance:
        raise DomainError("activation without linear part (E[z sigma(z)] = 0): its patterns do not see the teacher")
    _typical_point(replace(student, margin=margin_ref), "margin_ref")
    return FranzParisiCurve(student, _typical_point(student).parameters, margin_ref)


def _describe(ensemble: Ensemble, point: StationaryPoint) -> TypicalSolution:
    q, p, p_d, r, q_hat, p_hat, p_d_hat, r_hat = point.parameters.tolist()
    mu_1, noise = ensemble.moments.mu_1, ensemble.moments.mu_star_squared
    R = mu_1 * r
    return TypicalSolution(
        ensemble.alpha_T, 1.0 / ensemble.alpha, ensemble.margin, point.value,
        q, p, p_d, r, q_hat, p_hat, p_d_hat, r_hat,
        math.acos(R / math.sqrt(noise + mu_1**2 * p_d)) / math.pi,
        math.acos(R / math.sqrt(noise * q + mu_1**2 * p)) / math.pi,
        point.residual,
    )  # fmt: skip


@lru_cache(maxsize=256)
def _typical_point(ensemble: Ensemble, margin_name: str = "margin") -> StationaryPoint:
    branch, point = add_patterns(ensemble)
    if branch.position == 1.0 and point.value >= _ZERO_ENTROPY:
        point.parameters.setflags(write=False)
        return point
    at_zero_margin = replace(ensemble, margin=0.0)
    threshold = 1.0 / _alpha_c(at_zero_margin)
    if 1.0 / ensemble.alpha >= threshold:
        raise DomainError(
            f"{margin_name} = {ensemble.margin:.12g} is outside [0, kappa_max = {_kappa_max(at_zero_margin):.12g}] "
            f"at alpha_T = {ensemble.alpha_T:.12g}, inv_alpha = {1.0 / ensemble.alpha:.12g}"
        )
    raise DomainError(
        f"inv_alpha = {1.0 / ensemble.alpha:.12g} is below the interpolation threshold {threshold:.12g} "
        f"at alpha_T = {ensemble.alpha_T:.12g}: there are no solutions"
    )


@lru_cache(maxsize=256)
def _kappa_max(ensemble: Ensemble) -> float:
    point = _typical_point(ensemble)
    branch = Branch(
        lambda margin: TypicalFreeEntropy(replace(ensemble, margin=margin)),
        "margin", [(0.0, point.parameters)], step=0.05, inverse_hessian=point.inverse_hessian,
    )  # fmt: skip
    return find_root(branch, entropy, math.inf)


@lru_cache(maxsize=256)
def _alpha_c(ensemble: Ensemble) -> float:
    # A load at which entropy is left: a pattern costs at most about ln 2 + margin^2 nats.
    start = 0.1 / (1.0 + ensemble.margin**2)
    _, point = add_patterns(replace(ensemble, alpha=start))
    branch = Branch(
        lambda alpha: TypicalFreeEntropy(replace(ensemble, alpha=alpha)),
        "alpha", [(start, point.parameters)], step=start, inverse_hessian=point.inverse_hessian,
    )  # fmt: skip
    return find_root(branch, entropy, math.inf)
