"""Where the Franz-Parisi entropy of any ensemble starts or ceases to be positive, or to grow with distance.

All four thresholds are of one kind: phi_FP(d), or its slope, has a minimum at a small distance, and a control
parameter, the reference's margin or the load, is sought at which the least value is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import log_ndtr

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.saddle_point import Array, StationaryPoint, evaluate
from localentropy.replica.ensemble import Ensemble
from localentropy.replica.franz_parisi import WEAKLY_COUPLED, FranzParisi, FranzParisiCurve, reference_point
from localentropy.replica.pair_energy import NODES, PairEnergy
from localentropy.replica.stabilities import density
from localentropy.replica.typical import largest_alpha, largest_margin

DISTANCE_TOLERANCE = 1e-4
"""Of the logarithm of the minimum's distance. The least value changes only by its square."""
STEP = 0.3
"""Of the logarithm of the distance, in the search for the minimum."""
SMALLEST_DISTANCE = 1e-10
"""Of a minimum that is looked for."""
AROUND = (0.2 * np.cos(np.pi * (np.arange(9) + 0.5) / 9.0)).tolist()
"""Logarithms of relative distances from the horizontal tangent, at which the slope is computed to find it."""
LAW_TOLERANCE = 3e-3
"""Of ln alpha, where the search for a load starts. The law of small distances gives this start."""

Family = Callable[[float], tuple[Ensemble, Ensemble]]
"""Control parameter → the student, and the ensemble of its reference."""


def _least_slope(point: StationaryPoint, log_distance: float) -> tuple[float, float]:
    """The slope of phi_FP, and what vanishes at its minimum: d^2 phi / d(ln d)^2 - d phi / d(ln d)."""
    first = point.slope(0)
    return first * math.exp(-log_distance), point.curvature(0) - first


def _least_entropy(point: StationaryPoint, log_distance: float) -> tuple[float, float]:
    """phi_FP, and its derivative by ln d."""
    return point.value, point.slope(0)


class Criterion(NamedTuple):
    """What is asked of a curve at small distances.

    Attributes:
        wanted: of phi_FP, as error messages say it.
        threshold: name of the load beyond which no reference has it.
        measure: (point, ln d) -> what must not be negative, and a number of the sign of its derivative by d.
        law: (phi, d) -> the same from a curve, both of shape (n,).
    """

    wanted: str
    threshold: str
    measure: Callable[[StationaryPoint, float], tuple[float, float]]
    law: Callable[[Array, Array], Array]


MONOTONIC = Criterion("monotonic", "alpha_LE", _least_slope, np.gradient)
POSITIVE = Criterion("positive", "alpha_min", _least_entropy, lambda phi, d: phi)


@dataclass(frozen=True)
class Thresholds:
    """Loads at which the solutions of a model change.

    Attributes:
        alpha_c: patterns per weight at which typical solutions vanish.
        alpha_le: above it the Franz-Parisi entropy is monotonic around no typical solution.
        kappa_max: the largest margin there.
        distance: of the horizontal tangent there.
        alpha_min: above it, the entropy is negative at some distance from every typical solution.
    """

    alpha_c: float
    alpha_le: float
    kappa_max: float
    distance: float
    alpha_min: float


class SmallDistanceMinimum:
    """The minimum in d of phi_FP or of its slope, while a control parameter moves.

    Args:
        family: of curves.
        measure: as in `Criterion`.
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
        """The least value at a value of the control parameter near the last one; infinity where there is no minimum.

        A curve without one is monotonic, and positive.

        Raises:
            ConvergenceError: the solution could not be followed.
        """
        student, reference = self.family(control)
        start = reference_point(reference)
        energy = PairEnergy(start.covariances, self.nodes)

        def problem(log_distance: float) -> FranzParisi:
            return FranzParisi(student, start, log_distance, energy)

        along = Branch(problem, "log_distance", 0, self.log_distance, self._coordinates, step=STEP)

        def measured(log_distance: float) -> tuple[float, float, float]:
            point = along.to(log_distance)
            energy.forget()
            exact = problem(log_distance)
            free = evaluate(exact, point.coordinates, exact.controls())
            assert free is not None
            exactly = StationaryPoint(point.coordinates, point.value, point.residual, free.gradient, free.hessian)
            return *self.measure(exactly, log_distance), float(np.max(np.abs(point.coordinates)))

        value = self._descend(measured)
        if math.isfinite(value):
            self._coordinates = along.to(self.log_distance).coordinates
        return value

    def _descend(self, measured: Callable[[float], tuple[float, float, float]]) -> float:
        """Walk downhill until the derivative changes sign, then close in on its root by the secant.

        There is no minimum at distances at which the patterns hardly pull.
        """
        x = self.log_distance
        value, rise, deviation = measured(x)
        below: tuple[float, float] | None = None
        above: tuple[float, float] | None = None
        for _ in range(100):
            if rise > 0.0:
                above = (x, rise)
            else:
                below = (x, rise)
            if below is None or above is None:
                x += math.copysign(STEP, -rise)
                if not math.log(SMALLEST_DISTANCE) < x < math.log(0.4) or (rise > 0.0 and deviation < WEAKLY_COUPLED):
                    return math.inf
            else:
                part = below[1] / (below[1] - above[1])
                target = below[0] + min(max(part, 0.02), 0.98) * (above[0] - below[0])
                if abs(target - x) < DISTANCE_TOLERANCE or above[0] - below[0] < DISTANCE_TOLERANCE:
                    self.log_distance = x
                    return value
                x = target
            value, rise, deviation = measured(x)
        raise ConvergenceError("minimum at small distance", {"distance": math.exp(x)}, abs(rise))


def smallest_monotonic_margin(ensemble: Ensemble, nodes: tuple[int, int, int] = NODES) -> float:
    """kappa_u: smallest reference margin at which phi_FP(d) grows up to its maximum.

    Args:
        ensemble: of the student; its margin is that of the solutions counted.
        nodes: of the energetic term.

    Raises:
        DomainError: the curve is not monotonic even for references of largest margin, or there are so few patterns that
            it is decided at distances below 1e-10.
        ConvergenceError: the margin was not found.
    """
    return threshold_margin(ensemble, MONOTONIC, nodes)


def smallest_positive_margin(ensemble: Ensemble, nodes: tuple[int, int, int] = NODES) -> float:
    """kappa_min: smallest reference margin at which phi_FP(d) is not negative at any distance.

    Arguments and errors are those of `smallest_monotonic_margin`.
    """
    return threshold_margin(ensemble, POSITIVE, nodes)


def local_entropy_threshold(ensemble: Ensemble, nodes: tuple[int, int, int] = NODES) -> float:
    """alpha_LE: where phi_FP(d) around solutions of largest margin ceases to be monotonic as alpha grows.

    Args:
        ensemble: its margin is that of the solutions counted; its alpha is not used.
        nodes: of the energetic term.

    Raises:
        ConvergenceError: the threshold was not found.
    """
    return threshold_load(ensemble.at(alpha=1.0), MONOTONIC, nodes)[0]


def positivity_threshold(ensemble: Ensemble) -> float:
    """alpha_min: where phi_FP(d) around solutions of largest margin ceases to be positive: kappa_min = kappa_max.

    The ensemble and errors are those of `local_entropy_threshold`.
    """
    return threshold_load(ensemble.at(alpha=1.0), POSITIVE)[0]


def thresholds(ensemble: Ensemble) -> Thresholds:
    """All loads at which the solutions of a model change; arguments and errors as for `local_entropy_threshold`."""
    alpha_le, near = threshold_load(ensemble.at(alpha=1.0), MONOTONIC)
    student = ensemble.at(alpha=alpha_le)
    kappa_max = largest_margin(student)
    curve = FranzParisiCurve(student, student.at(margin=kappa_max))
    # The minimum of the slope, by slopes alone: the second derivatives of the energetic term have fewer digits.
    fitted = Polynomial.fit(AROUND, [curve.at(near * math.exp(offset)).slope for offset in AROUND], len(AROUND) - 1)
    flat = fitted.deriv().roots()
    distance = near * math.exp(float(flat[np.abs(flat).argmin()].real))
    return Thresholds(largest_alpha(student), alpha_le, kappa_max, distance, positivity_threshold(ensemble))


@lru_cache(maxsize=64)
def threshold_margin(ensemble: Ensemble, criterion: Criterion, nodes: tuple[int, int, int] = NODES) -> float:
    """The reference margin at which the least value of a criterion's measure is zero.

    Arguments and errors are those of `smallest_monotonic_margin`.
    """
    maximum = largest_margin(ensemble)
    guess, distance = small_distance_guess(ensemble, criterion)
    if not DISTANCES[0] < distance < DISTANCES[-1]:
        raise DomainError(
            f"too few patterns at {ensemble.describe()}: whether phi_FP is {criterion.wanted} is decided at distances "
            f"below {SMALLEST_DISTANCE:g}"
        )

    def family(log_gap: float) -> tuple[Ensemble, Ensemble]:
        return ensemble, ensemble.at(margin=min(ensemble.margin + math.exp(log_gap), maximum))

    end = math.log(maximum - ensemble.margin)
    start = min(math.log(guess - ensemble.margin), end)
    minimum = SmallDistanceMinimum(family, criterion.measure, start, distance, nodes)
    log_gap = _zero(minimum.at, start, 0.07, 1.0, end)
    if log_gap is None:
        load = threshold_load(ensemble.at(alpha=1.0), criterion)[0]
        raise DomainError(f"{ensemble.beyond(criterion.threshold, load)}: no margin makes phi_FP {criterion.wanted}")
    return family(log_gap)[1].margin


@lru_cache(maxsize=64)
def threshold_load(
    ensemble: Ensemble, criterion: Criterion, nodes: tuple[int, int, int] = NODES
) -> tuple[float, float]:
    """alpha at which the least value of a criterion's measure is zero for references of largest margin.

    Arguments and errors are those of `local_entropy_threshold`.

    Returns:
        alpha, and the distance of the minimum.
    """

    def family(log_alpha: float) -> tuple[Ensemble, Ensemble]:
        student = ensemble.at(alpha=math.exp(log_alpha))
        return student, student.at(margin=largest_margin(student))

    end = math.log(largest_alpha(ensemble))
    start, distance = _load_guess(family, criterion, end)
    minimum = SmallDistanceMinimum(family, criterion.measure, start, distance, nodes)
    log_alpha = _zero(minimum.at, start, 0.01, -1.0, end)
    if log_alpha is None:
        raise ConvergenceError(criterion.threshold, {"alpha": math.exp(end)}, math.inf)
    return math.exp(log_alpha), math.exp(minimum.log_distance)


def _load_guess(family: Family, criterion: Criterion, end: float) -> tuple[float, float]:
    """ln alpha where the small-distance law asks for the largest margin, below `end`, and the law's distance there."""
    low, high = end - 0.02, end
    found = None
    for _ in range(40):
        middle = low if found is None else 0.5 * (low + high)
        student, reference = family(middle)
        margin, distance = small_distance_guess(student, criterion)
        if reference.margin > margin:
            low, found = middle, distance
        elif found is None:
            # Twice as far below the end.
            low, high = 2.0 * low - end, low
        else:
            high = middle
        if found is not None and high - low < LAW_TOLERANCE:
            return low, found
    raise ConvergenceError(criterion.threshold, {"alpha": math.exp(low)}, high - low)


def _zero(function: Callable[[float], float], start: float, step: float, rising: float, end: float) -> float | None:
    """Where a function of a control parameter vanishes; None where it does not up to `end`.

    Args:
        function: infinite where it is positive and nothing more is known.
        start: near the zero.
        step: first one away from the start; it is doubled until the sign has changed.
        rising: +1 where the function rises with the control parameter, -1 where it falls.
        end: largest value of the control parameter.
    """
    from scipy.optimize import brentq

    here, value = start, function(start)
    while True:
        there = min(here - math.copysign(step, value * rising), end)
        if there == here:
            return None
        other = function(there)
        if (other > 0.0) != (value > 0.0):
            break
        here, value, step = there, other, 2.0 * step
    while not (math.isfinite(value) and math.isfinite(other)):
        middle = 0.5 * (here + there)
        between = function(middle)
        if (between > 0.0) == (value > 0.0):
            here, value = middle, between
        else:
            there, other = middle, between
    return float(brentq(function, here, there, xtol=1e-10, rtol=1e-10))


def small_distance_guess(ensemble: Ensemble, criterion: Criterion) -> tuple[float, float]:
    """Reference margin and distance at which a criterion's measure first vanishes in the law of small distances.

    Random flips of a reference add to its stabilities a noise of deviation s(d), so that
    phi_FP = -d ln d + d + alpha P s K(gap / s) with K(y) = int_y^inf ln Phi and P the density at the margin
    (docs/overparam/theory.md eqs. 26, 28).
    """
    at_margin = density(np.array([ensemble.margin]), ensemble)[0]
    deviation = _deviation_of_flips(ensemble.at(alpha=1.0, margin=0.0))
    free = DISTANCES - DISTANCES * np.log(DISTANCES)
    y, tail = _integrated_tail()

    def measured(gap: float) -> Array:
        loss = ensemble.alpha * at_margin * deviation * np.interp(gap / deviation, y, tail, right=0.0)
        return criterion.law(free + loss, DISTANCES)

    # The least value rises with the gap.
    low, high = (math.sqrt(ensemble.variance) * gap for gap in (1e-6, 1.0))
    while high > 1.02 * low:
        gap = math.sqrt(low * high)
        low, high = (gap, high) if measured(gap).min() < 0.0 else (low, gap)
    return ensemble.margin + low, float(DISTANCES[measured(low).argmin()])


DISTANCES = np.geomspace(SMALLEST_DISTANCE, 0.1, 600)
"""At which the law of small distances is computed."""


@lru_cache(maxsize=64)
def _deviation_of_flips(ensemble: Ensemble) -> Array:
    """Of the noise that random flips add to a stability, at `DISTANCES`."""
    kept = np.array([ensemble.flip_correlation(1.0 - 2.0 * d) for d in DISTANCES.tolist()])
    return math.sqrt(ensemble.variance) * np.sqrt(1.0 - kept**2)


@lru_cache(maxsize=1)
def _integrated_tail() -> tuple[Array, Array]:
    """y and K(y)."""
    y = np.linspace(0.0, 40.0, 8001)
    log_phi = log_ndtr(y)
    return y[:-1], np.flip(np.cumsum(np.flip(0.5 * (log_phi[1:] + log_phi[:-1]) * np.diff(y))))
