"""Where the Franz-Parisi entropy starts or ceases to grow monotonically with distance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.continuation import Branch, find_root
from localentropy.numerics.saddle_point import Array
from localentropy.replica.random_features_curve import ROUNDING_FLOOR, FranzParisiCurve
from localentropy.replica.random_features_franz_parisi import (
    PAIR_NODES,
    STUDENT_NODES,
    FranzParisiFreeEntropy,
    Reference,
)
from localentropy.replica.random_features_stability import density_of_stabilities
from localentropy.replica.random_features_thresholds import largest_alpha, largest_margin, typical_point
from localentropy.replica.random_features_typical import Ensemble, TypicalFreeEntropy, entropy

# Accuracy in ln d of the distance at which the slope is smallest; the slope there is stationary.
_LOG_DISTANCE_TOLERANCE = 1e-4
_WINDOW = 0.4


class SlopeMinimum:
    """The smallest slope of phi_FP(d) near a distance, while a control parameter moves.

    The curve phi_FP(d) of a reference with a sufficient margin has positive slope up to its maximum; as
    the margin or the over-parameterization falls, the slope develops a local minimum at small d, and the
    curve ceases to be monotonic where that minimum crosses zero (docs/theory/overparam.md eq. 27).

    Args:
        family: (control, overlap) -> Franz-Parisi free entropy.
        control: value of the control parameter at the start.
        log_distance: ln d of the start.
        parameters: solution at the start, shape (15,).
    """

    def __init__(
        self,
        family: Callable[[float, float], FranzParisiFreeEntropy],
        control: float,
        log_distance: float,
        parameters: Array,
    ) -> None:
        self.family = family
        self.control = control
        self.log_distance = log_distance
        self.parameters = parameters

    def at(self, control: float) -> float:
        """Smallest slope of the curve at a value of the control parameter.

        Raises:
            ConvergenceError: the solution could not be followed, or the slope has no minimum.
        """
        from scipy.optimize import minimize_scalar

        log_distance = self.log_distance
        if control != self.control:
            across = Branch(
                lambda moved: self._problem(moved, log_distance), "control", [(self.control, self.parameters)],
                step=max(abs(control - self.control), 1e-6), rounding_floor=ROUNDING_FLOOR,
            )  # fmt: skip
            self.parameters = across.to(control).parameters
            self.control = control
        along = Branch(
            lambda moved: self._problem(control, moved), "log_distance", [(log_distance, self.parameters)],
            step=0.5 * _WINDOW, rounding_floor=ROUNDING_FLOOR,
        )  # fmt: skip

        def slope(position: float) -> float:
            return self._problem(control, position).slope(along.to(position).parameters)

        for _ in range(30):
            window = (log_distance - _WINDOW, log_distance + _WINDOW)
            found = minimize_scalar(slope, bounds=window, method="bounded", options={"xatol": _LOG_DISTANCE_TOLERANCE})
            log_distance = float(found.x)
            if min(abs(log_distance - edge) for edge in window) > 10.0 * _LOG_DISTANCE_TOLERANCE:
                self.parameters, self.log_distance = along.to(log_distance).parameters, log_distance
                return float(found.fun)
        raise ConvergenceError("slope minimum", {"control": control, "distance": math.exp(log_distance)}, math.inf)

    def _problem(self, control: float, log_distance: float) -> FranzParisiFreeEntropy:
        return self.family(control, 1.0 - 2.0 * math.exp(log_distance))


@lru_cache(maxsize=64)
def smallest_monotonic_margin(
    ensemble: Ensemble, nodes: tuple[int, int, int] = PAIR_NODES, student_nodes: int = STUDENT_NODES
) -> float:
    """kappa_u: smallest reference margin at which phi_FP(d) grows up to its maximum.

    Args:
        ensemble: of the student; its margin is that of the solutions counted.
        nodes: of the energetic term.
        student_nodes: of the student term.

    Raises:
        DomainError: the curve is not monotonic even for references of largest margin.
        ConvergenceError: the margin was not found.
    """
    maximum = largest_margin(replace(ensemble, margin=0.0))
    typical = typical_point(ensemble)
    start, distance = _first_guess(ensemble, typical.parameters)
    start = min(start, maximum)
    curve = FranzParisiCurve(ensemble, typical.parameters, start, nodes, student_nodes)

    def family(margin_ref: float, overlap: float) -> FranzParisiFreeEntropy:
        return FranzParisiFreeEntropy(curve.reference_at(margin_ref), ensemble.margin, overlap, nodes, student_nodes)

    minimum = SlopeMinimum(family, start, math.log(distance), curve.at(distance).parameters)
    gap = start - ensemble.margin
    low = high = start
    while minimum.at(low) > 0.0:
        high, low = low, ensemble.margin + (low - ensemble.margin) * 0.93
        if low - ensemble.margin < 0.3 * gap:
            raise ConvergenceError("kappa_u", {"margin_ref": low}, minimum.at(low))
    while minimum.at(high) < 0.0:
        if high >= maximum:
            raise DomainError(
                f"inv_alpha = {1.0 / ensemble.alpha:.12g} is below the local-entropy threshold "
                f"at alpha_T = {ensemble.alpha_T:.12g}: no margin makes phi_FP monotonic"
            )
        low, high = high, min(ensemble.margin + (high - ensemble.margin) * 1.07, maximum)
    return _root(minimum, low, high, 1e-9)


@lru_cache(maxsize=64)
def local_entropy_threshold(
    ensemble: Ensemble, nodes: tuple[int, int, int] = PAIR_NODES, student_nodes: int = STUDENT_NODES
) -> float:
    """1/alpha_LE: where phi_FP(d) around solutions of largest margin ceases to be monotonic.

    Args:
        ensemble: alpha_T, the activation and the margin of the solutions counted; alpha is not used.
        nodes: of the energetic term.
        student_nodes: of the student term.

    Raises:
        ConvergenceError: the threshold was not found.
    """
    # The ratio of the two thresholds hardly depends on alpha_T.
    start = 1.158 / largest_alpha(ensemble)
    distance = 0.005

    references = _LargestMarginReferences(replace(ensemble, alpha=1.0 / start))

    def family(inv_alpha: float, overlap: float) -> FranzParisiFreeEntropy:
        return FranzParisiFreeEntropy(references.at(inv_alpha), ensemble.margin, overlap, nodes, student_nodes)

    student = replace(ensemble, alpha=1.0 / start)
    curve = FranzParisiCurve(
        student, typical_point(student).parameters, references.at(start).ensemble.margin, nodes, student_nodes
    )
    minimum = SlopeMinimum(family, start, math.log(distance), curve.at(distance).parameters)
    low = high = start
    factor = 1.01
    while minimum.at(low) > 0.0:
        high, low, factor = low, low / factor, factor**2
    while minimum.at(high) < 0.0:
        low, high, factor = high, high * factor, factor**2
    return _root(minimum, low, high, 1e-9)


class _LargestMarginReferences:
    """Typical solutions of largest margin while 1/alpha moves; cheap next to the last one asked for.

    Args:
        ensemble: where to start; its margin is not used.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        at_maximum = replace(ensemble, margin=largest_margin(replace(ensemble, margin=0.0)))
        self._last = Reference(at_maximum, typical_point(at_maximum).parameters)

    def at(self, inv_alpha: float) -> Reference:
        """Reference of zero entropy at 1/alpha."""
        last = self._last.ensemble
        if 1.0 / last.alpha == inv_alpha:
            return self._last
        in_alpha = Branch(
            lambda moved: TypicalFreeEntropy(replace(last, alpha=1.0 / moved)),
            "inv_alpha", [(1.0 / last.alpha, self._last.parameters)], step=0.1,
        )  # fmt: skip
        moved = replace(last, alpha=1.0 / inv_alpha)
        in_margin = Branch(
            lambda margin: TypicalFreeEntropy(replace(moved, margin=margin)),
            "margin", [(last.margin, in_alpha.to(inv_alpha).parameters)], step=1e-3,
        )  # fmt: skip
        # Towards larger margins while entropy is left, else back.
        sign = math.copysign(1.0, entropy(in_margin.to(last.margin)))
        end = math.inf if sign > 0.0 else 0.0
        margin = find_root(in_margin, lambda point: sign * entropy(point), end, tolerance=1e-13)
        self._last = Reference(replace(moved, margin=margin), in_margin.to(margin).parameters)
        return self._last


def _root(minimum: SlopeMinimum, low: float, high: float, tolerance: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(minimum.at, low, high, xtol=tolerance, rtol=1e-12))


def _first_guess(ensemble: Ensemble, parameters: Array) -> tuple[float, float]:
    """Reference margin and distance at which the small-distance law first has a horizontal tangent (eqs. 26, 28).

    Random flips of a reference add to its stabilities a noise of deviation s = 2 sqrt(d) sigma, so
    phi_FP = -d ln d + d + alpha P s K(gap / s) with K(y) = int_y^inf ln Phi and P the density at the
    margin. For each y = gap / s the slope vanishes at one small d; the widest gap is the guess.
    """
    density = float(density_of_stabilities(np.array(ensemble.margin), ensemble, parameters))
    sigma = math.sqrt(ensemble.moments.variance)
    y = np.linspace(0.0, 6.0, 601)
    log_phi = log_ndtr(y)
    tail_integral = np.flip(np.cumsum(np.flip(0.5 * (log_phi[1:] + log_phi[:-1]) * np.diff(y))))
    loss = -ensemble.alpha * density * sigma * (tail_integral + y[:-1] * log_phi[:-1])
    # 2 u ln(1/u) = loss for u = sqrt(d) < 1/e, by iteration; beyond 2/e the law has left its range.
    target = np.minimum(loss, 0.7)
    u = np.full_like(target, 1e-2)
    for _ in range(200):
        u = target / (2.0 * np.log(1.0 / np.minimum(u, 0.35)))
    gap = 2.0 * sigma * y[:-1] * u
    best = int(np.argmax(gap))
    return ensemble.margin + float(gap[best]), float(u[best] ** 2)
