"""Where the Franz-Parisi entropy of any ensemble starts or ceases to be positive, or to grow with distance.

All three thresholds are of one kind: phi_FP(d), or its slope, has a minimum at a small distance, and a control
parameter is sought at which the least value is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.saddle_point import Array, StationaryPoint, evaluate
from localentropy.replica.ensemble import Ensemble
from localentropy.replica.franz_parisi import FranzParisi, FranzParisiCurve, reference_point
from localentropy.replica.pair_energy import NODES, PairEnergy
from localentropy.replica.stabilities import density
from localentropy.replica.typical import largest_alpha, largest_margin

DISTANCE_TOLERANCE = 1e-4
"""Of the logarithm of the minimum's distance. The least value changes only by its square."""
STEP = 0.3
"""Of the logarithm of the distance, in the search for the minimum."""
SMALLEST_DISTANCE = 1e-10

Family = Callable[[float], tuple[Ensemble, Ensemble]]
"""Control parameter → the student, and the ensemble of its reference."""


def _least_slope(point: StationaryPoint, log_distance: float) -> tuple[float, float]:
    """The slope of phi_FP, and what vanishes at its minimum: d^2 phi / d(ln d)^2 - d phi / d(ln d)."""
    first = point.slope(0)
    return first * math.exp(-log_distance), point.curvature(0) - first


def _least_entropy(point: StationaryPoint, log_distance: float) -> tuple[float, float]:
    """phi_FP, and its derivative by ln d."""
    return point.value, point.slope(0)


class SmallDistanceMinimum:
    """The minimum in d of phi_FP or of its slope, while a control parameter moves.

    Args:
        family: of curves.
        measure: (point, ln d) → the quantity whose minimum is meant, and a number of the sign of its derivative.
        control: value of the control parameter at the start.
        distance: near the minimum there.
        nodes: of the energetic term.
    """

    def __init__(
        self,
        family: Family,
        measure: Callable[[StationaryPoint, float], tuple[float, float]],
        control: float,
        distance: float,
        nodes: tuple[int, int, int],
    ) -> None:
        self.family = family
        self.measure = measure
        self.nodes = nodes
        student, reference = family(control)
        curve = FranzParisiCurve(student, reference, nodes)
        self.log_distance = math.log(distance)
        self._coordinates: Array = curve.point(self.log_distance).coordinates

    def at(self, control: float) -> float:
        """The least value at a value of the control parameter near the last one.

        Raises:
            ConvergenceError: the solution could not be followed, or there is no minimum.
        """
        student, reference = self.family(control)
        start = reference_point(reference)
        energy = PairEnergy(start.fields, self.nodes)

        def problem(log_distance: float) -> FranzParisi:
            return FranzParisi(student, start, log_distance, energy)

        along = Branch(problem, "log_distance", 0, self.log_distance, self._coordinates, step=STEP)

        def measured(log_distance: float) -> tuple[float, float]:
            point = along.to(log_distance)
            energy.forget()
            exact = problem(log_distance)
            free = evaluate(exact, point.coordinates, exact.controls())
            assert free is not None
            return self.measure(
                StationaryPoint(point.coordinates, point.value, point.residual, free.gradient, free.hessian),
                log_distance,
            )

        value = self._descend(measured, control)
        self._coordinates = along.to(self.log_distance).coordinates
        return value

    def _descend(self, measured: Callable[[float], tuple[float, float]], control: float) -> float:
        """Walk downhill until the derivative changes sign, then close in on its root by the secant."""
        x = self.log_distance
        value, rise = measured(x)
        below: tuple[float, float] | None = None
        above: tuple[float, float] | None = None
        for _ in range(40):
            if rise > 0.0:
                above = (x, rise)
            else:
                below = (x, rise)
            if below is None or above is None:
                x += math.copysign(STEP, -rise)
                if not math.log(SMALLEST_DISTANCE) < x < math.log(0.4):
                    break
            else:
                part = below[1] / (below[1] - above[1])
                target = below[0] + min(max(part, 0.02), 0.98) * (above[0] - below[0])
                if abs(target - x) < DISTANCE_TOLERANCE or above[0] - below[0] < DISTANCE_TOLERANCE:
                    self.log_distance = x
                    return value
                x = target
            value, rise = measured(x)
        raise ConvergenceError("minimum at small distance", {"control": control, "distance": math.exp(x)}, math.inf)


@lru_cache(maxsize=64)
def smallest_monotonic_margin(ensemble: Ensemble, nodes: tuple[int, int, int] = NODES) -> float:
    """kappa_u: smallest reference margin at which phi_FP(d) grows up to its maximum.

    Args:
        ensemble: of the student; its margin is that of the solutions counted.
        nodes: of the energetic term.

    Raises:
        DomainError: the curve is not monotonic even for references of largest margin.
        ConvergenceError: the margin was not found.
    """
    return _threshold_margin(ensemble, _least_slope, 1.0, nodes, "monotonic")


@lru_cache(maxsize=64)
def smallest_positive_margin(ensemble: Ensemble, nodes: tuple[int, int, int] = NODES) -> float:
    """kappa_min: smallest reference margin at which phi_FP(d) is not negative at any distance.

    Arguments and errors are those of `smallest_monotonic_margin`.
    """
    return _threshold_margin(ensemble, _least_entropy, 0.8, nodes, "positive")


def _threshold_margin(
    ensemble: Ensemble,
    measure: Callable[[StationaryPoint, float], tuple[float, float]],
    part: float,
    nodes: tuple[int, int, int],
    wanted: str,
) -> float:
    """The reference margin at which the least value of a measure is zero; it starts at a part of the guessed margin."""
    maximum = largest_margin(ensemble.at(margin=0.0))
    guess, distance = small_distance_guess(ensemble)
    start = min(ensemble.margin + part * (guess - ensemble.margin), maximum)
    minimum = SmallDistanceMinimum(
        lambda margin: (ensemble, ensemble.at(margin=margin)), measure, start, distance, nodes
    )
    low = high = start
    at_low = at_high = minimum.at(start)
    while at_low > 0.0:
        high, at_high = low, at_low
        low = ensemble.margin + (low - ensemble.margin) * 0.93
        at_low = minimum.at(low)
    while at_high < 0.0:
        if high >= maximum:
            raise DomainError(f"{ensemble.describe()} is beyond the threshold: no margin makes phi_FP {wanted}")
        low, at_low = high, at_high
        high = min(ensemble.margin + (high - ensemble.margin) * 1.07, maximum)
        at_high = minimum.at(high)
    return _root(minimum.at, low, high)


@lru_cache(maxsize=64)
def local_entropy_threshold(ensemble: Ensemble, nodes: tuple[int, int, int] = NODES) -> float:
    """alpha_LE: where phi_FP(d) around solutions of largest margin ceases to be monotonic as alpha grows.

    Args:
        ensemble: its margin is that of the solutions counted; its alpha is not used.
        nodes: of the energetic term.

    Raises:
        ConvergenceError: the threshold was not found.
    """

    def family(log_alpha: float) -> tuple[Ensemble, Ensemble]:
        student = ensemble.at(alpha=math.exp(log_alpha))
        return student, student.at(margin=largest_margin(student.at(margin=0.0)))

    ratio, distance = ensemble.local_entropy_guess
    end = math.log(largest_alpha(ensemble.at(margin=0.0)))
    start = end + math.log(ratio)
    minimum = SmallDistanceMinimum(family, _least_slope, start, distance, nodes)
    low = high = start
    at_low = at_high = minimum.at(start)
    step = 0.01
    while at_low < 0.0:
        high, at_high, low, step = low, at_low, low - step, 2.0 * step
        at_low = minimum.at(low)
    while at_high > 0.0:
        if high + step >= end:
            raise ConvergenceError("alpha_LE", {"alpha": math.exp(high)}, at_high)
        low, at_low, high, step = high, at_high, high + step, 2.0 * step
        at_high = minimum.at(high)
    return math.exp(_root(minimum.at, low, high))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-10, rtol=1e-10))


def small_distance_guess(ensemble: Ensemble) -> tuple[float, float]:
    """Reference margin and distance at which the small-distance law first has a horizontal tangent.

    Random flips of a reference add to its stabilities a noise of deviation s(d), so that
    phi_FP = -d ln d + d + alpha P s K(gap / s) with K(y) = int_y^inf ln Phi and P the density at the margin
    (docs/overparam/theory.md eqs. 26, 28).
    """
    at_margin = density(np.array([ensemble.margin]), ensemble)[0]
    d = np.geomspace(SMALLEST_DISTANCE, 0.1, 600)
    deviation = math.sqrt(ensemble.variance) * np.sqrt([1.0 - ensemble.kept(1.0 - 2.0 * part) ** 2 for part in d])
    y = np.linspace(0.0, 40.0, 8001)
    log_phi = log_ndtr(y)
    tail = np.flip(np.cumsum(np.flip(0.5 * (log_phi[1:] + log_phi[:-1]) * np.diff(y))))
    for gap in np.geomspace(0.3, 1e-5, 120) * math.sqrt(ensemble.variance):
        loss = ensemble.alpha * at_margin * deviation * np.interp(gap / deviation, y[:-1], tail, right=0.0)
        slope = np.gradient(d - d * np.log(d) + loss, d)
        if slope.min() < 0.0:
            break
    return ensemble.margin + float(gap), float(d[slope.argmin()])
