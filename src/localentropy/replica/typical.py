"""Typical solutions of any ensemble, and the loads and margins at which they end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.continuation import Branch, zero_of_value
from localentropy.numerics.saddle_point import TOLERANCE, StationaryPoint, solve
from localentropy.replica.ensemble import LARGEST_MARGIN, LOG_ALPHA, LOG_LOAD, MARGIN, Ensemble, Typical

ZERO_ENTROPY = -1e-10
"""An entropy above this counts as not negative: at a threshold it vanishes to rounding only."""

ROUNDING = 1e-13
"""Of an entropy. An entropy smaller than this at margin 0 means that the load is alpha_c, where kappa_max is 0."""

SMALLEST_ALPHA = 1e-12
"""Where the search for a load with solutions gives up."""


@dataclass(frozen=True)
class TypicalSolution:
    """Replica-symmetric description of the typical solutions of random patterns.

    Attributes:
        alpha: patterns per weight.
        margin: kappa.
        entropy: log number of solutions per weight, nats.
        q: overlap of two solutions.
        q_hat: its conjugate.
        residual: relative error of the order parameters, estimated by the solver's last correction.
    """

    alpha: float
    margin: float
    entropy: float
    q: float
    q_hat: float
    residual: float


def solution(ensemble: Ensemble) -> TypicalSolution:
    """Typical solutions of an ensemble of random patterns; errors as for `typical_point`."""
    point = typical_point(ensemble)
    x = ensemble.values(point.coordinates)
    return TypicalSolution(ensemble.alpha, ensemble.margin, point.value, x.q, x.q_hat, point.residual)


@lru_cache(maxsize=512)
def typical_point(ensemble: Ensemble, margin_name: str = "margin") -> StationaryPoint:
    """Saddle point of an ensemble that has solutions.

    Args:
        ensemble: the model at its control parameters.
        margin_name: what an error message calls the margin.

    Raises:
        DomainError: there are no solutions; the message says which argument is out of which range.
        ConvergenceError: the saddle point was not found.
    """
    lost = None
    try:
        point = _loaded(ensemble)
        if point is not None:
            return point
    except ConvergenceError as error:  # also far beyond a threshold
        lost = error
    at_zero_margin = ensemble.at(margin=0.0)
    threshold = largest_alpha(at_zero_margin)
    if ensemble.margin > 0.0 and ensemble.alpha <= threshold:
        maximum = largest_margin(at_zero_margin)
        if lost is None or ensemble.margin > maximum:
            raise DomainError(
                f"{margin_name} = {ensemble.margin:.12g} is outside [0, kappa_max = {maximum:.12g}] "
                f"at {ensemble.describe()}"
            )
    elif lost is None or ensemble.alpha > threshold:
        raise DomainError(f"{ensemble.beyond('alpha_c', threshold)}: {ensemble.beyond_alpha_c}")
    raise lost


def _loaded(ensemble: Ensemble) -> StationaryPoint | None:
    """The solution, tried at once, then followed from small loads. None where there are no solutions.

    The entropy falls with the load. Once it is negative, there are no solutions, and a little beyond, the branch ends.
    """
    try:
        point = solve(Typical(ensemble), ensemble.weakly_loaded(1.0))
        if point.value >= ZERO_ENTROPY:
            return point
    except ConvergenceError:
        pass
    branch = add_patterns(ensemble)
    return branch.point if branch.point.value >= ZERO_ENTROPY else None


def add_patterns(ensemble: Ensemble) -> Branch:
    """The branch in the logarithm of the load, from few patterns to all, or to the first negative entropy."""
    first = ensemble.small_load
    branch = Branch(
        lambda log_load: Typical(ensemble, log_load), "log_load", LOG_LOAD, math.log(first),
        ensemble.weakly_loaded(first), step=1.0,
    )  # fmt: skip
    while branch.position < 0.0 and branch.point.value >= ZERO_ENTROPY:
        branch.advance(0.0, TOLERANCE)
    return branch


def branch_in_margin(ensemble: Ensemble) -> Branch:
    """Typical solutions while the margin moves, from the ensemble's own margin."""
    return Branch(
        lambda margin: Typical(ensemble.at(margin=margin)), "margin", MARGIN, ensemble.margin,
        typical_point(ensemble).coordinates, step=0.25 * math.sqrt(ensemble.variance),
    )  # fmt: skip


def branch_in_alpha(ensemble: Ensemble, point: StationaryPoint) -> Branch:
    """Typical solutions while ln alpha moves, from the ensemble's own alpha."""
    return Branch(
        lambda log_alpha: Typical(ensemble.at(alpha=math.exp(log_alpha))), "log_alpha", LOG_ALPHA,
        math.log(ensemble.alpha), point.coordinates, step=0.5,
    )  # fmt: skip


@lru_cache(maxsize=512)
def largest_alpha(ensemble: Ensemble) -> float:
    """alpha_c: where the entropy vanishes at the margin of an ensemble (its alpha is not used).

    Raises:
        ConvergenceError: no load with solutions was found, or the threshold was not reached from it.
    """
    # A load at which entropy is left: a pattern costs about ln 2 + margin^2 / 2 nats, the margin in its unit, and more
    # where weights have few directions to choose from.
    start = ensemble.at(alpha=0.1 / (1.0 + ensemble.margin**2 / ensemble.variance))
    lost = None
    while start.alpha >= SMALLEST_ALPHA:
        try:
            point = _loaded(start)
        except ConvergenceError as error:  # too many patterns, which freeze the weights
            lost = error
        else:
            if point is not None:
                return math.exp(zero_of_value(branch_in_alpha(start, point), +1.0))
        start = start.at(alpha=0.25 * start.alpha)
    raise lost or ConvergenceError("alpha_c", {"alpha": start.alpha, "margin": start.margin}, math.inf)


def largest_margin(ensemble: Ensemble) -> float:
    """kappa_max: where the entropy vanishes at the alpha of an ensemble (its margin is not used).

    Raises:
        DomainError: there are no solutions at any margin, or the margin is above `LARGEST_MARGIN` and was not found.
        ConvergenceError: the margin was not found.
    """
    return _largest_margin(ensemble.at(margin=0.0))


@lru_cache(maxsize=512)
def _largest_margin(at_zero: Ensemble) -> float:
    if typical_point(at_zero).value <= ROUNDING:
        return 0.0
    branch = branch_in_margin(at_zero)
    try:
        return zero_of_value(branch, +1.0)
    except ConvergenceError:
        if branch.position < LARGEST_MARGIN:
            raise
    raise DomainError(f"too few patterns at {at_zero.describe()}: kappa_max is above {LARGEST_MARGIN:g}")
