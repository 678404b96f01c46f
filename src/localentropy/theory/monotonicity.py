"""Thresholds from which the Franz-Parisi entropy of any model is positive, or grows with distance.

All four thresholds are of one kind. phi_FP(d), or its slope, has a minimum at a small distance. The threshold is the
value of a control parameter, the reference's margin or the load, at which this minimum is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import log_ndtr

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.saddle_point import Array, StationaryPoint, evaluate, solve
from localentropy.quantities import ALPHA
from localentropy.theory.franz_parisi_entropy import (
    WEAKLY_COUPLED,
    FranzParisi,
    FranzParisiCurve,
    from_random_flips,
    near_typical_distance,
    reference_point,
)
from localentropy.theory.model import Model
from localentropy.theory.pair_energy import NODES, PairEnergy
from localentropy.theory.question import question
from localentropy.theory.stabilities import density
from localentropy.theory.typical_solutions import finite_largest_alpha, largest_alpha, largest_margin

DISTANCE_TOLERANCE = 1e-5
"""Tolerance of the logarithm of the minimum's distance. The least value changes only by its square."""
STEP = 0.3
"""Longest step of the logarithm of the distance, in the search for the minimum."""
SHORTEST_WAY = 1e-5
"""Step of a control parameter below which a solution that is lost is given up."""
NEAREST = 1e-4
"""Relative distance from the largest margin. Solutions of a margin within it are isolated around any reference."""
NEAREST_MINIMUM = 1e-10
"""Smallest distance of a minimum that is looked for."""
AROUND = (0.2 * np.cos(np.pi * (np.arange(9) + 0.5) / 9.0)).tolist()
"""Logarithms of distances in units of the horizontal tangent's, at which the slope is computed to find the tangent."""
SMALLEST_GAP = 1e-6
"""Smallest difference of a reference's margin and the model's that is looked for, in the margins' unit."""
LAW_TOLERANCE = 3e-3
"""Tolerance of ln alpha where the search for a load starts. The law of small distances gives this start."""

Family = Callable[[float], tuple[Model, Model]]
"""Control parameter → the student, and the model of its reference."""


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
        wanted: the wanted property of phi_FP, as error messages name it.
        threshold: name of the load above which phi_FP has this property around no reference.
        load: the question that asks for this load.
        margin: the question that asks for the smallest margin of a reference with this property.
        measure: (point, ln d) -> what must not be negative, and a number of the sign of its derivative by d.
        law: (phi, d) -> what must not be negative, from a curve; both have shape (n,).

    Example:
        >>> from localentropy.theory.monotonicity import MONOTONIC, POSITIVE
        >>> MONOTONIC.threshold, POSITIVE.threshold
        ('alpha_LE', 'alpha_min')
    """

    wanted: str
    threshold: str
    load: str
    margin: str
    measure: Callable[[StationaryPoint, float], tuple[float, float]]
    law: Callable[[Array, Array], Array]


MONOTONIC = Criterion(
    "grow with distance up to its maximum", "alpha_LE", "alpha_le", "kappa_u", _least_slope, np.gradient
)
POSITIVE = Criterion("nowhere negative", "alpha_min", "alpha_min", "kappa_min", _least_entropy, lambda phi, d: phi)


@dataclass(frozen=True)
class Thresholds:
    """Loads at which the solutions of a model change.

    Attributes:
        alpha_c: patterns per weight at which typical solutions vanish.
        alpha_le: patterns per weight above which the Franz-Parisi entropy is monotonic around no typical solution.
        kappa_max: the largest margin at alpha_le.
        distance: the distance of the horizontal tangent there.
        alpha_min: patterns per weight above which the Franz-Parisi entropy is negative at some distance from every
            typical solution.

    Example:
        >>> from localentropy.theory import Perceptron, thresholds
        >>> found = thresholds(Perceptron())
        >>> [round(value, 5) for value in (found.alpha_c, found.alpha_le)]
        [0.83308, 0.72903]
    """

    alpha_c: float
    alpha_le: float
    kappa_max: float
    distance: float
    alpha_min: float


class SmallDistanceMinimum:
    """The minimum in d of phi_FP or of its slope, while a control parameter moves.

    Args:
        family: a family of curves.
        measure: as in `Criterion`.
        control: value of the control parameter at the start.
        distance: near the minimum there.
        nodes: of the energetic term.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.monotonicity import MONOTONIC, NODES, SmallDistanceMinimum
        >>> model = Perceptron(alpha=0.5)
        >>> family = lambda margin: (model, model.at(margin=margin))
        >>> least = SmallDistanceMinimum(family, MONOTONIC.measure, 0.036, 0.0005, NODES)
        >>> [round(least.at(margin), 2) for margin in (0.036, 0.037)]  # it vanishes at kappa_u = 0.03643
        [-0.06, 0.08]
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
        self._control = control
        self._coordinates: Array = curve.point(self.log_distance).coordinates
        self._bend = 0.0

    def at(self, control: float) -> float:
        """The least value at a value of the control parameter near the last one; infinity where there is no minimum.

        A curve without one is monotonic, and positive. Where the solution is lost on the way, the way is halved.

        Raises:
            ConvergenceError: the solution could not be followed.
        """
        try:
            value = self._at(control)
        except ConvergenceError:
            if abs(control - self._control) < SHORTEST_WAY:
                raise
            self.at(0.5 * (self._control + control))
            return self.at(control)
        self._control = control
        return value

    def _at(self, control: float) -> float:
        start, coordinates = self._followed(control)

        def problem(log_distance: float) -> FranzParisi:
            return replace(start, log_distance=log_distance)

        along = Branch(problem, "log_distance", 0, self.log_distance, coordinates, step=STEP)

        def measured(log_distance: float) -> tuple[float, float, float]:
            point = along.to(log_distance)
            exact = problem(log_distance)
            if exact.refresh():
                free = evaluate(exact, point.coordinates, exact.controls())
                assert free is not None
                point = replace(point, gradient=free.gradient, hessian=free.hessian)
            return *self.measure(point, log_distance), float(np.max(np.abs(point.coordinates)))

        end = math.log(near_typical_distance(start.student, start.reference))
        value, self.log_distance = self._descend(measured, end)
        self._coordinates = coordinates if along.position != self.log_distance else along.point.coordinates
        return value

    def _followed(self, control: float) -> tuple[FranzParisi, Array]:
        """The curve at the last distance, and its coordinates. Where they are lost, a shorter way is tried first."""
        here, coordinates = self._control, self._coordinates
        way = control - here
        while True:
            there = control if abs(control - here) <= abs(way) else here + way
            student, reference = self.family(there)
            start = reference_point(reference)
            problem = FranzParisi(student, start, self.log_distance, PairEnergy(start.covariances, self.nodes))
            try:
                coordinates = solve(problem, coordinates).coordinates
            except ConvergenceError:
                way *= 0.5
                if abs(way) < SHORTEST_WAY:
                    raise
            else:
                if there == control:
                    return problem, coordinates
                here, way = there, 2.0 * way

    def _descend(self, measured: Callable[[float], tuple[float, float, float]], end: float) -> tuple[float, float]:
        """The least value and its ln d, by the secant of the derivative. Without a minimum infinity, and the last ln d.

        There is no minimum at distances at which the patterns hardly pull, nor behind the maximum of phi_FP, at `end`.
        """
        x, bend = self.log_distance, self._bend
        value, rise, deviation = measured(x)
        below, above = -math.inf, math.inf
        for _ in range(100):
            below, above = (below, min(above, x)) if rise > 0.0 else (max(below, x), above)
            way = -rise / bend if bend > 0.0 else -math.copysign(STEP, rise)
            if abs(way) < DISTANCE_TOLERANCE or above - below < DISTANCE_TOLERANCE:
                self._bend = bend
                return value, x
            if math.isinf(above - below):
                target = x + math.copysign(min(abs(way), STEP), -rise)
                if not math.log(NEAREST_MINIMUM) < target < end or (rise > 0.0 and deviation < WEAKLY_COUPLED):
                    return math.inf, self.log_distance
            else:
                margin = 0.02 * (above - below)
                target = min(max(x + way, below + margin), above - margin)
            last = x, rise
            x = target
            value, rise, deviation = measured(x)
            bend = (rise - last[1]) / (x - last[0])
        raise ConvergenceError("minimum at small distance", {"distance": math.exp(x)}, abs(rise))


@question(pairs=True)
def kappa_u(model: Model) -> float:
    """Smallest reference margin around which the Franz-Parisi entropy grows with distance up to its maximum.

    Source: `margins`, main text, points 4 and 5; `overparam`, section II; docs/margins/theory.md eq. 22;
    docs/overparam/theory.md eq. 27.

    Args:
        model: its margin is that of the solutions counted; its load is at most `alpha_le`.

    Returns:
        The margin of the reference.

    Raises:
        DomainError: the curve is not monotonic even for references of largest margin, or is monotonic for all, or there
            are so few patterns that it is decided at distances below 1e-10.
        ConvergenceError: the margin was not found.

    Example:
        >>> from localentropy.theory import Perceptron, kappa_u
        >>> round(kappa_u(Perceptron(alpha=0.5)), 5)
        0.03643
    """
    return threshold_margin(model, MONOTONIC)


@question(pairs=True)
def kappa_min(model: Model) -> float:
    """Smallest reference margin around which the Franz-Parisi entropy is nowhere negative.

    Source: `margins`, main text, point 3; docs/margins/theory.md eq. 22.

    Args:
        model: its margin is that of the solutions counted; its load is at most `alpha_min`.

    Returns:
        The margin of the reference.

    Raises:
        DomainError: the entropy is negative somewhere even around references of largest margin, or there are so few
            patterns that it is decided at distances below 1e-10, or a student at distance 0 is no solution, because the
            model gives it other patterns than its reference.
        ConvergenceError: the margin was not found.

    Example:
        >>> from localentropy.theory import Perceptron, kappa_min
        >>> round(kappa_min(Perceptron(alpha=0.5)), 5)
        0.02912
    """
    return threshold_margin(model, POSITIVE)


@question(load=False, pairs=True)
def alpha_le(model: Model) -> float:
    """Local-entropy threshold: above it the Franz-Parisi entropy is monotonic around no typical solution.

    There kappa_u = kappa_max, and the curve around references of largest margin has a horizontal tangent at a small
    distance. Source: `margins`, main text, "Dense cluster threshold"; `overparam`, eq. 16; docs/margins/theory.md
    eq. 23; docs/overparam/theory.md eq. 27.

    Args:
        model: its margin is that of the solutions counted; its load is not used.

    Returns:
        The load alpha = P/N.

    Raises:
        DomainError: a margin or alpha_T outside the range of `alpha_le` in docs/quantities.md, a teacher among the
            weights and a negative margin, at which any number of patterns is solved, or a user's model whose curves
            have no threshold.
        ConvergenceError: the threshold was not found.

    Example:
        >>> from localentropy.theory import Perceptron, RandomFeatures, alpha_le
        >>> round(alpha_le(Perceptron()), 5)
        0.72903
        >>> round(1 / alpha_le(RandomFeatures(alpha_T=3.0)), 4)  # 1/alpha_LE
        1.0161
    """
    return _threshold(model, MONOTONIC)[0]


@question(load=False, pairs=True)
def alpha_min(model: Model) -> float:
    """Patterns per weight above which the Franz-Parisi entropy is negative near every typical solution.

    There kappa_min = kappa_max (docs/margins/theory.md eq. 23).

    Args:
        model: its margin is that of the solutions counted; its load is not used.

    Returns:
        The load alpha = P/N.

    Raises:
        DomainError: a margin or alpha_T outside the range of `alpha_le` in docs/quantities.md, a teacher among the
            weights and a negative margin, at which any number of patterns is solved, or a user's model whose curves
            have no threshold.
        ConvergenceError: the threshold was not found.

    Example:
        >>> from localentropy.theory import Perceptron, alpha_min
        >>> round(alpha_min(Perceptron()), 5)
        0.74774
    """
    return _threshold(model, POSITIVE)[0]


@question(load=False, pairs=True)
def thresholds(model: Model) -> Thresholds:
    """The loads `alpha_c`, `alpha_le` and `alpha_min` of a model in one call.

    Args:
        model: its load is not used.

    Returns:
        The three loads `alpha_c`, `alpha_le` and `alpha_min`, and the margin and the distance at `alpha_le`.

    Raises:
        DomainError: a margin or alpha_T outside the range of `alpha_le` in docs/quantities.md, a teacher among the
            weights and a negative margin, at which any number of patterns is solved, or a user's model whose curves
            have no threshold.
        ConvergenceError: the threshold was not found.

    Example:
        >>> from localentropy.theory import Perceptron, thresholds
        >>> found = thresholds(Perceptron())
        >>> round(found.alpha_c, 5), round(found.alpha_le, 5), round(found.kappa_max, 5)
        (0.83308, 0.72903, 0.10433)
    """
    alpha_le, near = _threshold(model, MONOTONIC)
    student = model.at(alpha=alpha_le)
    kappa_max = largest_margin(student)
    curve = FranzParisiCurve(student, student.at(margin=kappa_max))
    # The minimum of the slope, by slopes alone: the second derivatives of the energetic term have fewer digits.
    fitted = Polynomial.fit(AROUND, [curve.at(near * math.exp(offset)).slope for offset in AROUND], len(AROUND) - 1)
    flat = fitted.deriv().roots()
    distance = near * math.exp(float(flat[np.abs(flat).argmin()].real))
    return Thresholds(largest_alpha(student), alpha_le, kappa_max, distance, _threshold(model, POSITIVE)[0])


def _threshold(model: Model, criterion: Criterion) -> tuple[float, float]:
    """`threshold_load` of a model whose load is not used, where the search was tried."""
    for quantity in model.tried:
        quantity.require(getattr(model, quantity.name))
    return threshold_load(model.at(alpha=1.0), criterion)


@lru_cache(maxsize=64)
def threshold_margin(model: Model, criterion: Criterion, nodes: tuple[int, int, int] = NODES) -> float:
    """The reference margin at which the least value of a criterion's measure is zero.

    Args:
        model: with an alpha and the margin of the solutions counted.
        criterion: what is asked of the curve.
        nodes: of the energetic term.

    Returns:
        kappa.

    Raises:
        DomainError, ConvergenceError: as `kappa_u`.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.monotonicity import MONOTONIC, threshold_margin
        >>> round(threshold_margin(Perceptron(alpha=0.5), MONOTONIC), 6)
        0.03643
    """
    maximum = largest_margin(model)
    if maximum - model.margin <= NEAREST * abs(maximum):
        raise DomainError(
            f"kappa_max = {maximum:.12g} at {model.describe()} is not above margin = {model.margin:.12g} by more "
            f"than {NEAREST:g} of itself: {_none(criterion)}"
        )
    guess, distance = small_distance_guess(model, criterion)
    if not LAW_DISTANCES[0] < distance < LAW_DISTANCES[-1]:
        raise DomainError(
            f"too few patterns at {model.describe()}: which margins make the Franz-Parisi entropy {criterion.wanted} "
            f"is decided at distances below {NEAREST_MINIMUM:g}"
        )

    def family(log_gap: float) -> tuple[Model, Model]:
        return model, model.at(margin=min(model.margin + math.exp(log_gap), maximum))

    ends = math.log(SMALLEST_GAP * math.sqrt(model.variance)), math.log(maximum - model.margin)
    start = min(math.log(guess - model.margin), ends[1])
    minimum = SmallDistanceMinimum(family, criterion.measure, start, distance, nodes)
    log_gap = _zero(minimum.at, start, 0.07, 1.0, ends)
    if log_gap == math.inf:
        raise DomainError(_without(criterion, criterion.margin, model, "margin"))
    if log_gap is None:
        load = threshold_load(model.at(alpha=1.0), criterion)[0]
        raise DomainError(f"{model.beyond(criterion.threshold, load)}: {_none(criterion)}")
    _require_more_than_the_minimum(criterion, criterion.margin, *family(log_gap))
    return family(log_gap)[1].margin


@lru_cache(maxsize=64)
def threshold_load(model: Model, criterion: Criterion, nodes: tuple[int, int, int] = NODES) -> tuple[float, float]:
    """alpha at which the least value of a criterion's measure is zero for references of largest margin.

    Args:
        model: its alpha is not used.
        criterion: what is asked of the curve.
        nodes: of the energetic term.

    Returns:
        alpha, and the distance of the minimum.

    Raises:
        DomainError, ConvergenceError: as `alpha_le`.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.monotonicity import MONOTONIC, threshold_load
        >>> [round(found, 4) for found in threshold_load(Perceptron(), MONOTONIC)]
        [0.729, 0.005]
    """

    def family(log_alpha: float) -> tuple[Model, Model]:
        student = model.at(alpha=math.exp(log_alpha))
        return student, student.at(margin=largest_margin(student))

    end = math.log(finite_largest_alpha(criterion.threshold, model))
    start, distance = _load_guess(family, criterion, end)
    minimum = SmallDistanceMinimum(family, criterion.measure, start, distance, nodes)
    log_alpha = _zero(minimum.at, start, 0.01, -1.0, (math.log(ALPHA.low), end))
    if log_alpha == math.inf:
        raise DomainError(_without(criterion, criterion.load, model, "load"))
    if log_alpha is None:
        raise ConvergenceError(criterion.threshold, {"alpha": ALPHA.low}, math.inf)
    _require_more_than_the_minimum(criterion, criterion.load, *family(log_alpha))
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


def _none(criterion: Criterion) -> str:
    return f"no margin of a reference makes the Franz-Parisi entropy {criterion.wanted}"


def _without(criterion: Criterion, question: str, model: Model, control: str) -> str:
    """Words of an error message: there is no threshold."""
    what = "the slope of its Franz-Parisi entropy" if criterion is MONOTONIC else "its Franz-Parisi entropy"
    return (
        f"{_not_computed(question, model)}: {what} has no minimum at a small distance that vanishes at a {control}, so "
        f"no {control} is a threshold"
    )


def _not_computed(question: str, model: Model) -> str:
    of_load = question in (MONOTONIC.load, POSITIVE.load)
    shown = {name: value for name, value in model.parameters().items() if not (of_load and name == model.load)}
    given = ", ".join(f"{name}={value!r}" for name, value in shown.items())
    return f"{question} is not computed for {type(model).__name__}({given})"


def _require_more_than_the_minimum(criterion: Criterion, question: str, student: Model, reference: Model) -> None:
    """Refuse a threshold of the entropy's minimum if the entropy is negative still nearer to the reference.

    It never is in the package's models: a student at distance 0 sees the patterns as its reference does. At this small
    distance the entropy is that of random flips.
    """
    if criterion is not POSITIVE:
        return
    nearest = FranzParisiCurve(student, reference).problem(math.log(NEAREST_MINIMUM))
    if from_random_flips(nearest)[0].entropy < 0.0:
        raise DomainError(
            f"{_not_computed(question, student)}: nearer than the minimum of its Franz-Parisi entropy, at the distance "
            f"{NEAREST_MINIMUM:g}, the entropy is still negative where the minimum vanishes"
        )


def _zero(
    function: Callable[[float], float], start: float, step: float, rising: float, ends: tuple[float, float]
) -> float | None:
    """Value of a control parameter at which a function vanishes.

    Args:
        function: it is infinite where it is positive and nothing more is known.
        start: near the zero.
        step: first one away from the start. The next ones follow the secant, until the sign has changed.
        rising: +1 where the function rises with the control parameter, -1 where it falls.
        ends: smallest and largest value of the control parameter.

    Returns:
        The value. None if the function is negative up to an end; infinity if it is positive up to an end, or becomes
        infinite without having vanished.
    """
    from scipy.optimize import brentq

    known: dict[float, float] = {}

    def at(control: float) -> float:
        if control not in known:
            known[control] = function(control)
        return known[control]

    here = start
    while True:
        value = at(here)
        there = min(max(here - math.copysign(step, value * rising), ends[0]), ends[1])
        if there == here:
            return math.inf if value > 0.0 else None
        other = at(there)
        if (other > 0.0) != (value > 0.0):
            break
        # A little beyond the zero of the secant.
        steepness = abs(other - value) / abs(there - here)
        further = 1.2 * abs(other) / steepness if math.isfinite(steepness) and steepness > 0.0 else math.inf
        here, step = there, min(max(further, 0.1 * step), 8.0 * step) if math.isfinite(further) else 2.0 * step
    while not (math.isfinite(at(here)) and math.isfinite(at(there))):
        middle = 0.5 * (here + there)
        if abs(there - here) < SHORTEST_WAY:
            return math.inf
        if (at(middle) > 0.0) == (at(here) > 0.0):
            here = middle
        else:
            there = middle
    return float(brentq(at, here, there, xtol=1e-10, rtol=1e-10))


def small_distance_guess(model: Model, criterion: Criterion) -> tuple[float, float]:
    """Reference margin and distance at which a criterion's measure first vanishes in the law of small distances.

    Random flips of a reference add to its stabilities a noise of deviation s(d), so that
    phi_FP = -d ln d + d + alpha P s K(gap / s) with K(y) = int_y^inf ln Phi and P the density at the margin
    (docs/overparam/theory.md eqs. 26, 28).

    Args:
        model: with an alpha and the margin of the solutions counted.
        criterion: what is asked of the curve.

    Returns:
        margin and distance.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.monotonicity import MONOTONIC, small_distance_guess
        >>> [round(found, 4) for found in small_distance_guess(Perceptron(alpha=0.5), MONOTONIC)]
        [0.0338, 0.0005]
    """
    at_margin = density(np.array([model.margin]), model)[0]
    deviation = _deviation_of_flips(model.at(alpha=1.0, margin=0.0))
    free = LAW_DISTANCES - LAW_DISTANCES * np.log(LAW_DISTANCES)
    y, tail = _integrated_tail()

    def measured(gap: float) -> Array:
        loss = model.alpha * at_margin * deviation * np.interp(gap / deviation, y, tail, right=0.0)
        return criterion.law(free + loss, LAW_DISTANCES)

    # The least value rises with the gap.
    low, high = (math.sqrt(model.variance) * gap for gap in (SMALLEST_GAP, 1.0))
    while high > 1.02 * low:
        gap = math.sqrt(low * high)
        low, high = (gap, high) if measured(gap).min() < 0.0 else (low, gap)
    return model.margin + low, float(LAW_DISTANCES[measured(low).argmin()])


LAW_DISTANCES = np.geomspace(NEAREST_MINIMUM, 0.1, 600)
"""Distances at which the law of small distances is computed."""


@lru_cache(maxsize=64)
def _deviation_of_flips(model: Model) -> Array:
    """Standard deviation of the noise that random flips add to a stability, at `LAW_DISTANCES`."""
    kept = np.array([model.flip_correlation(1.0 - 2.0 * d) for d in LAW_DISTANCES.tolist()])
    return math.sqrt(model.variance) * np.sqrt(1.0 - kept**2)


@lru_cache(maxsize=1)
def _integrated_tail() -> tuple[Array, Array]:
    """y and K(y)."""
    y = np.linspace(0.0, 40.0, 8001)
    log_phi = log_ndtr(y)
    return y[:-1], np.flip(np.cumsum(np.flip(0.5 * (log_phi[1:] + log_phi[:-1]) * np.diff(y))))
