"""Typical solutions of an ensemble, and the loads and margins at which they end or are best."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.continuation import Branch, find_root
from localentropy.numerics.saddle_point import Array, StationaryPoint, response
from localentropy.replica.random_features_typical import Ensemble, TypicalFreeEntropy, add_patterns, entropy

# An entropy above this counts as non-negative: at a threshold it vanishes only to rounding.
_ZERO_ENTROPY = -1e-9
# How far to look for the over-parameterization from which a positive margin helps.
_LARGEST_INV_ALPHA = 1e4


@lru_cache(maxsize=256)
def typical_point(ensemble: Ensemble, margin_name: str = "margin") -> StationaryPoint:
    """Saddle point of an ensemble that has solutions.

    Args:
        ensemble: the control parameters.
        margin_name: what to call the margin in an error message.

    Raises:
        DomainError: there are no solutions; says which argument is out of which range.
        ConvergenceError: the saddle point was not found.
    """
    branch, point = add_patterns(ensemble)
    if branch.position == 1.0 and point.value >= _ZERO_ENTROPY:
        point.parameters.setflags(write=False)
        return point
    at_zero_margin = replace(ensemble, margin=0.0)
    inv_alpha, threshold = 1.0 / ensemble.alpha, 1.0 / largest_alpha(at_zero_margin)
    if inv_alpha >= threshold:
        raise DomainError(
            f"{margin_name} = {ensemble.margin:.12g} is outside "
            f"[0, kappa_max = {largest_margin(at_zero_margin):.12g}] "
            f"at alpha_T = {ensemble.alpha_T:.12g}, inv_alpha = {inv_alpha:.12g}"
        )
    raise DomainError(
        f"inv_alpha = {inv_alpha:.12g} is below the interpolation threshold {threshold:.12g} "
        f"at alpha_T = {ensemble.alpha_T:.12g}: there are no solutions"
    )


def branch_in_margin(ensemble: Ensemble) -> Branch:
    """Branch of typical solutions in the margin, standing at the margin of `ensemble`."""
    point = typical_point(ensemble)
    return Branch(
        lambda margin: TypicalFreeEntropy(replace(ensemble, margin=margin)),
        "margin", [(ensemble.margin, point.parameters)], step=0.05 * math.sqrt(ensemble.moments.variance),
        inverse_hessian=point.inverse_hessian,
    )  # fmt: skip


@lru_cache(maxsize=256)
def largest_alpha(ensemble: Ensemble) -> float:
    """alpha_c: zero of the entropy in alpha at fixed alpha_T and margin (the alpha of `ensemble` is not used).

    Followed from small loads; beyond the root the branch soon collapses to q = 1.
    """
    # A load at which entropy is left: a pattern costs at most about ln 2 + margin^2 nats, the margin in units of
    # a free student's stability.
    start = 0.1 / (1.0 + ensemble.margin**2 / ensemble.moments.variance)
    _, point = add_patterns(replace(ensemble, alpha=start))
    branch = Branch(
        lambda alpha: TypicalFreeEntropy(replace(ensemble, alpha=alpha)),
        "alpha", [(start, point.parameters)], step=start, inverse_hessian=point.inverse_hessian,
    )  # fmt: skip
    return find_root(branch, entropy, math.inf)


@lru_cache(maxsize=256)
def largest_margin(ensemble: Ensemble) -> float:
    """kappa_max: zero of the entropy in the margin (the margin of `ensemble` is not used)."""
    return find_root(branch_in_margin(replace(ensemble, margin=0.0)), entropy, math.inf)


@lru_cache(maxsize=256)
def optimal_margin(ensemble: Ensemble) -> float:
    """kappa_opt: margin in [0, kappa_max] whose barycentre generalizes best.

    The root of the error's derivative, not a minimum on a grid: the error is flat to 1e-7 near the onset.
    """
    at_zero_margin = replace(ensemble, margin=0.0)
    branch = branch_in_margin(at_zero_margin)

    def gain(point: StationaryPoint) -> float:
        return -barycenter_error_slope(replace(ensemble, margin=branch.position), point.parameters)

    if gain(typical_point(at_zero_margin)) <= 0.0:
        return 0.0
    maximum = largest_margin(at_zero_margin)
    try:
        return find_root(branch, gain, maximum, tolerance=1e-10)
    except ConvergenceError:
        if branch.position == maximum:  # the error falls up to the largest margin
            return maximum
        raise


@lru_cache(maxsize=64)
def optimal_margin_onset(ensemble: Ensemble) -> float:
    """1/alpha at which the optimal margin leaves zero (neither alpha nor margin of `ensemble` is used)."""
    at_zero_margin = replace(ensemble, margin=0.0, alpha=largest_alpha(replace(ensemble, margin=0.0)))
    start = typical_point(at_zero_margin)

    def loaded(log_inv_alpha: float) -> Ensemble:
        return replace(at_zero_margin, alpha=math.exp(-log_inv_alpha))

    branch = Branch(
        lambda position: TypicalFreeEntropy(loaded(position)),
        "log_inv_alpha", [(-math.log(at_zero_margin.alpha), start.parameters)], step=0.05,
    )  # fmt: skip

    def loss(point: StationaryPoint) -> float:
        return barycenter_error_slope(loaded(branch.position), point.parameters)

    return math.exp(find_root(branch, loss, math.log(_LARGEST_INV_ALPHA), tolerance=1e-10))


def barycenter_error_slope(ensemble: Ensemble, parameters: Array) -> float:
    """Derivative by the margin of the barycentre's error arccos(R / sqrt(Q)) / pi."""
    q, p, _, r = parameters[:4].tolist()
    by_margin = response(
        lambda margin: TypicalFreeEntropy(replace(ensemble, margin=margin)), ensemble.margin, parameters, 1e-3
    )
    mu_1, noise = ensemble.moments.mu_1, ensemble.moments.mu_star_squared
    Q, R = noise * q + mu_1**2 * p, mu_1 * r
    Q_slope, R_slope = noise * by_margin[0] + mu_1**2 * by_margin[1], mu_1 * by_margin[3]
    cosine_slope = R_slope / math.sqrt(Q) - 0.5 * R * Q_slope / Q**1.5
    return float(-cosine_slope / math.sqrt(1.0 - R * R / Q) / math.pi)
