"""Local entropy of groups of y solutions around the references that have most of them: large deviations.

A reference is any binary configuration. References of one local entropy dominate the sum over all references of (number
of solutions at distance d)^y. At y = 1 each reference counts as often as there are solutions beside it. At y = infinity
only the best references count. The log of the number of the dominant references is the external entropy. Where it is
negative, typical training sets have no such reference. The largest local entropy that exists is that of the y at which
the external entropy vanishes. Derivation: docs/margins/theory.md section 11.

    >>> from localentropy.theory import Perceptron, alpha_u, local_entropy
    >>> local_entropy(Perceptron(0.7), [0.03, 0.1]).entropy.round(6).tolist()
    [0.067274, 0.108988]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from localentropy.arguments import nearest_choice, require_choice, shown
from localentropy.errors import ConvergenceError, DomainError, EndOfCurveError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.curvature import Curvature
from localentropy.numerics.quadrature import unit_legendre
from localentropy.numerics.saddle_point import (
    TOLERANCE,
    Array,
    FreeEntropy,
    StationaryPoint,
    evaluate,
    solve,
    solve_equilibrated,
)
from localentropy.numerics.waiting import waited
from localentropy.quantities import DISTANCE_OF_GROUPS, MARGIN_OF_ALPHA_U, REPLICAS
from localentropy.theory.franz_parisi_entropy import UNSOLVED, binary_entropy, solved_rows
from localentropy.theory.large_deviations import (
    EPSILON,
    FIELD,
    LOG_ALPHA,
    LOG_DELTA_HAT,
    LOG_Q_HAT,
    LOGIT_DISTANCE,
    LOGIT_Q,
    RATIO,
    AtField,
    LargeDeviations,
    require_replicas,
)
from localentropy.theory.model import Model
from localentropy.theory.question import question
from localentropy.theory.typical_solutions import finite_largest_alpha, typical_point

if TYPE_CHECKING:
    import pandas as pd

ZERO_EXTERNAL_ENTROPY = "zero external entropy"
"""The value of `replicas` for the y at which the external entropy vanishes."""
FIRST_FIELDS = (
    (0.1, 1.0), (0.1, 4.0), (0.02, 4.0), (0.02, 1.0), (0.3, 1.0),
    (0.1, None), (0.02, None), (0.004, None),
)  # fmt: skip
"""Fields where curves at y = infinity may start, in units of the random ones, and factors of their guessed effect; with
None, the effect is found from the equations."""
FIRST_PULLS = (None, 0.1)
"""Guesses of the patterns' pull on a reference, in units of delta; None for the one of many patterns."""
ROUNDS = 3
"""Rounds of the first answer of the weights to the patterns' pull, and back."""
FARTHEST_START = 2.0
"""Largest distance of the solution there from the guess, in a coordinate: farther ones belong to other states."""
BETWEEN = 0.8
"""Distance at which curves at finite y start from the curve at y = infinity, in units of its widest distance."""
SMALLEST_STEPS = (0.05, 0.005)
"""Smallest steps to small and to wide distances, in units of the first step. The curve ends where they fail."""
FIRST_EPSILON = 1e-3
"""1 / y up to which solutions are found from those at y = infinity."""
NEAR_ONE = 1.005
"""y below which curves are interpolated between neighbours: at y = 1 nothing depends on q1 and its conjugate."""
AROUND_ONE = 1.0 + np.array([-0.015, -0.005, 0.005, 0.015])
"""1 / y of these neighbours."""
ALL_SOLVE = 1e-9
"""Entropy of all configurations less the local entropy, in units of alpha, below which all count as solutions."""
ROUNDED = 1e-6
"""The same, below which a rise towards small distances is rounding."""
TAUGHT, NEARLY_TAUGHT = 1e-10, 1e-6
"""Local entropy less that around the teacher, nats per weight, below which the teacher counts as the best reference: at
once, and where no solution is found."""
NEAR_TEACHER = 0.01
"""Difference of the distances of students from the teacher and from the reference, in units of the second, up to which
the teacher may be the reference."""
THRESHOLD_START = 0.75
"""Load from which a threshold is looked for, in units of alpha_c."""
THRESHOLD_DISTANCES = (0.02, 0.06, 0.005, 0.002, 0.0005)
"""Distances at which the slope is brought to 0: the first one at which this succeeds."""
SLOW = 0.3
"""Ratio of two steps from which on approximate second derivatives are taken again."""
TANGENT_STEPS = 40
"""Steps of Newton's method to a state at a value of ln delta/v."""
SCANNED = 16
"""Distances at which the steepest place of a curve is looked for."""
STEP = 0.05
"""Step of ln delta/v and of the logit of 2 d in the search for the steepest place."""
AROUND = np.array([0.02, 0.04])
"""Differences, of either sign, of ln delta/v at which the derivative of ln alpha is computed around its minimum."""
ROUGH, ACCURATE = 1e-3, 1e-9
"""Tolerances of the logit of 2 d where the slope is infinite: on the way, and at the end."""
STEPS_ALONG = 60
"""Most steps in the distance to where the smallest rise changes its sign."""
JUMP = 0.5
"""Change of a coordinate in a step of ln delta/v, or of ln y in one of the margin, which only another branch has."""
FOLLOWED, LEAST_FOLLOWED = 0.2, 0.02
"""Steps in the margin where this place is followed: the first one, and the smallest."""


class LocalEntropy(NamedTuple):
    """The students of groups at one distance.

    Attributes:
        distance: d.
        entropy: log number of solutions at the distance of a reference, phi, nats per weight.
        slope: derivative of the entropy by the distance, along the curve.
        external_entropy: log number of references, Sigma, nats per weight.
        replicas: y.
        q0: overlap of students of two references.
        q1: overlap of students of one reference.
        delta_q: y (q1 - q0), which stays finite as y grows.
        residual: the error of the coordinates, the logarithms of order parameters and the field slope / 2.
    """

    distance: float
    entropy: float
    slope: float
    external_entropy: float
    replicas: float
    q0: float
    q1: float
    delta_q: float
    residual: float


class LocalEntropyThreshold(NamedTuple):
    """The smallest load at which the local entropy has a horizontal tangent, or its slope a vertical one.

    Attributes:
        alpha: patterns per weight.
        distance: d of the tangent.
        entropy: phi there, nats per weight.
        external_entropy: Sigma there, nats per weight.
        replicas: y there.
        residual: the last correction of the order parameters' logarithms and of ln alpha.

    Example:
        >>> from localentropy.theory import Perceptron, alpha_u
        >>> found = alpha_u(Perceptron())
        >>> round(found.distance, 6), round(found.external_entropy, 6), found.replicas
        (0.020737, -0.19308, inf)
    """

    alpha: float
    distance: float
    entropy: float
    external_entropy: float
    replicas: float
    residual: float


@question(pairs=True)
def local_entropy(
    model: Model,
    distances: Iterable[float] | float,
    replicas: float | str = math.inf,
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """Local entropy of groups of y solutions at a distance from their reference: large deviations.

    The references are those that dominate the sum over all references of (number of solutions at distance d)^y. Source:
    docs/margins/theory.md section 11.

    Args:
        model: the model at its load and at the margin of the solutions counted.
        distances: Hamming distances per weight of solutions from their reference, each in [1e-4, 0.5], in any order.
        replicas: y in [1, 1e4]; math.inf for the references with the largest local entropy; or "zero external entropy"
            for the y at which the external entropy is 0: the largest local entropy of typical training sets.
        unsolved: "raise", or "nan" for NaN, with the residual reached, at distances where the solve failed.

    Returns:
        One row per distance: distance, entropy (phi, nats per weight), slope (its derivative by the distance),
        external_entropy (Sigma; negative where typical training sets have no such reference), replicas (y), q0, q1,
        delta_q (y (q1 - q0)), residual. The residual is the error of the logarithms of the order parameters. The
        entropy is stationary in them at y = infinity and at zero external entropy: its error is the square of the
        residual, plus the error of the integrals, 1e-12. Errors of slope, external_entropy and, at other y, entropy are
        of the order of the residual. `attrs`: the model's parameters, replicas.

        Where the entropy is negative, there are no solutions at this distance.

        At y = infinity, external_entropy is the limit of finite y. Beyond the distance of typical solutions from the
        signs of their mean weights, the best references are around typical solutions. There the entropy is that of
        typical solutions, and the slope is 0 (at y = 1e4, to about 1e-8). There are exponentially many such references,
        so y is infinite at "zero external entropy". Near d = 0 all configurations around the best references are
        solutions, to about 1e-9. There the residual is the error of the entropy, and external_entropy, q0 and delta_q
        are NaN.

        At a negative margin and enough patterns the teacher of a `TeacherStudent` is the best reference at small
        distances, and at still larger loads at all distances up to that of typical solutions. There external_entropy
        and delta_q are 0, and the residual includes the error of the entropy: 1e-10, or 1e-6 where no other solution is
        found. At zero external entropy the row is that of the teacher, with infinite y, wherever its entropy is larger.

    Raises:
        DomainError: an argument out of range, or there are no solutions.
        ConvergenceError: the curve could not be started, or, if `unsolved` is "raise", not followed to a distance.
            Curves are followed from wide distances. They end where the state of the groups ends: at small distances for
            few replicas or loads near alpha_c. Where the teacher is the best reference at all distances, curves at
            finite y are not computed. At zero external entropy they end where y grows beyond about 1000, at small
            distances and loads.

    Example:
        >>> from localentropy.theory import Perceptron, local_entropy
        >>> local_entropy(Perceptron(alpha=0.7), [0.03, 0.1]).entropy.round(6).tolist()
        [0.067274, 0.108988]
    """
    require_choice("unsolved", unsolved, UNSOLVED)
    requested = DISTANCE_OF_GROUPS.require_all(distances).ravel().tolist()
    y = _replicas(replicas)
    curve = _curve(model, y)
    order = sorted(set(requested), key=lambda d: abs(logit(d) - logit(curve.first)))
    found = solved_rows("local_entropy", LocalEntropy._fields, curve.at, requested, order, unsolved)
    found.attrs = model.parameters() | {"replicas": y}
    return found


def _replicas(replicas: float | str) -> float | str:
    if isinstance(replicas, str):
        if replicas == ZERO_EXTERNAL_ENTROPY:
            return replicas
        words = repr(ZERO_EXTERNAL_ENTROPY), "math.inf"
        near = nearest_choice(replicas, words)
        raise DomainError(
            f"replicas = {shown(replicas)} is not known: allowed are {', '.join(words)} and {REPLICAS.interval}"
            f"{f'; nearest is {near}' if near else ''}"
        )
    return require_replicas(replicas, REPLICAS)


def logit(distance: float) -> float:
    """The logit of 2 d; infinite at 1/2.

    Args:
        distance: d in (0, 1/2].

    Returns:
        The logit.

    Example:
        >>> from localentropy.theory.local_entropies import logit
        >>> logit(0.25), logit(0.5)
        (0.0, inf)
    """
    return math.inf if distance == 0.5 else math.log(2.0 * distance) - math.log1p(-2.0 * distance)


def distance_at(position: float) -> float:
    """The distance d at a logit of 2 d.

    Args:
        position: the logit.

    Returns:
        d in (0, 1/2).

    Example:
        >>> from localentropy.theory.local_entropies import distance_at
        >>> distance_at(0.0)
        0.25
    """
    return 0.5 / (1.0 + math.exp(-position))


def _curve(model: Model, y: float | str) -> BestReferences | Groups | NearOne:
    best = BestReferences(model)
    if y == math.inf or (best.taught and isinstance(y, str)):
        return best
    if best.taught:
        raise ConvergenceError("local entropy of groups around the teacher", {"replicas": float(y)}, math.inf)
    if isinstance(y, str):
        return Groups(best, None)
    return Groups(best, 1.0 / y) if y >= NEAR_ONE else NearOne(best, 1.0 / y)


class Arm(Branch):
    """The part of a curve on one side of its first distance. It remembers where the curve ended.

    Args:
        curve: free entropy at the logit of 2 d.
        distance: the first one.
        start: coordinates there.
        beyond: whether it leads to wider distances.
    """

    def __init__(self, curve: Callable[[float], LargeDeviations], distance: float, start: Array, beyond: bool) -> None:
        super().__init__(
            curve, "logit 2 d", LOGIT_DISTANCE, logit(distance), start, step=0.2, smallest_step=SMALLEST_STEPS[beyond]
        )
        self._lost: ConvergenceError | None = None

    def advance(self, target: float, tolerance: float = TOLERANCE) -> StationaryPoint:
        """Make one step towards a distance, unless the curve is known to have ended.

        Raises:
            ConvergenceError: no step could be made.
        """
        if self._lost is not None:
            raise self._lost
        try:
            return super().advance(target, tolerance)
        except ConvergenceError as failure:
            point = {"distance": distance_at(self.position), **failure.point}
            epsilon = self.family(self.position).epsilon  # type: ignore[attr-defined]
            groups = f" of groups of {1.0 / epsilon:.6g}, whose states may end here," if epsilon else ""
            self._lost = EndOfCurveError("local entropy", point, failure.residual, groups)
            raise self._lost from None


class BestReferences:
    """The references with the largest local entropy: y = infinity.

    Beyond `widest`, the distance of typical solutions from the signs of their mean weights, the best references are
    around typical solutions.

    Args:
        model: the model at the margin of the solutions counted.

    Raises:
        DomainError: there are no solutions.
        ConvergenceError: the curve could not be started.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.typical = typical_point(model)
        self.order = model.values(self.typical.coordinates)
        self.widest = 0.5 * (1.0 - self._signs()[0])
        self._arms: dict[bool, Arm] = {}
        self._missing = math.inf
        self._students: Any = None
        self._limit: _Limit | None = None
        try:
            point = first_point(model)
        except ConvergenceError:
            error = self._beyond_teacher(self.widest, self.typical.value)
            if not error < NEARLY_TAUGHT:
                raise
            self._limit, self.first = _Limit(True, error), self.widest
        else:
            self._start = np.insert(point.coordinates, FIELD, point.field)
            self.first = point.distance
        self.taught = self._limit is not None

    def _arm(self, beyond: bool) -> Arm:
        if beyond not in self._arms:
            self._arms[beyond] = Arm(self.problem, self.first, self._start, beyond)
        return self._arms[beyond]

    def _signs(self, field: float = 0.0) -> tuple[float, float]:
        """Means of |tanh h| and of ln 2 cosh(field |tanh h|) over the random fields of typical solutions."""
        root, r_hat = math.sqrt(self.order.q_hat), float(getattr(self.order, "r_hat", 0.0))
        unit, weight = unit_legendre(200)
        reach = abs(r_hat) + 9.0 * root
        h = reach * unit
        density = np.exp(-0.5 * ((h - r_hat) / root) ** 2) + np.exp(-0.5 * ((h + r_hat) / root) ** 2)
        weight = weight * density * reach / (root * math.sqrt(2.0 * math.pi))
        tanh = np.tanh(h)
        return float(weight @ tanh), float(weight @ np.logaddexp(field * tanh, -field * tanh))

    def problem(self, logit_distance: float) -> LargeDeviations:
        """The free entropy at a distance."""
        return LargeDeviations(self.model, logit_distance)

    def point(self, distance: float) -> StationaryPoint | None:
        """The saddle point at a distance below `widest`; None where all configurations solve or the teacher is best.

        Raises:
            ConvergenceError: it was not reached.
        """
        if self.taught:
            return None
        branch, target = self._arm(distance > self.first), logit(distance)
        while branch.position != target:
            if target < branch.position and self._ended(branch, TAUGHT):
                return None
            try:
                branch.advance(target, TOLERANCE)
            except ConvergenceError:
                if target > branch.position or not self._ended(branch, NEARLY_TAUGHT):
                    raise
        return branch.point

    def _ended(self, branch: Arm, most: float) -> bool:
        """Whether a simple limit holds, to this error, at all distances below that of the branch."""
        if self._limit is None:
            left, scale, error = missing(branch), min(max(self.model.alpha, 1e-3), 1.0), math.inf
            distance = distance_at(branch.position)
            if self.model.teacher_solves:
                r = self.problem(branch.position).order_parameters(branch.point.coordinates).latent.r.value
                if abs(0.5 * (1.0 - r) - distance) < NEAR_TEACHER * distance:
                    error = self._beyond_teacher(distance, branch.point.value)
            if left < ALL_SOLVE * scale or (self._missing < left and self._missing < ROUNDED * scale):
                self._limit = _Limit(False, abs(min(left, self._missing)))
            elif error < most:
                self._limit = _Limit(True, error)
            self._missing = left
        return self._limit is not None

    def _beyond_teacher(self, distance: float, entropy: float) -> float:
        """By how much an entropy is larger than that around the teacher; infinite where no teacher is a reference."""
        if not self.model.teacher_solves:
            return math.inf
        try:
            return abs(entropy - self.around_teacher(distance).entropy)
        except ConvergenceError:
            return math.inf

    def at(self, distance: float) -> LocalEntropy:
        """The curve at one distance.

        Raises:
            ConvergenceError: the branch could not be followed that far.
        """
        if distance >= self.widest:
            return self._around_typical(distance)
        point = self.point(distance)
        if point is None:
            assert self._limit is not None
            return self.around_teacher(distance) if self._limit.teacher else self._all_solve(distance)
        x = self.problem(logit(distance)).order_parameters(point.coordinates)
        q = x.q.value
        return LocalEntropy(
            distance, point.value, 2.0 * float(point.coordinates[FIELD]), point.slope(EPSILON), math.inf, q, q,
            x.delta.value, point.residual,
        )  # fmt: skip

    def _all_solve(self, distance: float) -> LocalEntropy:
        """References around which all configurations are solutions."""
        assert self._limit is not None
        S, nan = 1.0 - 2.0 * distance, math.nan
        entropy, slope = float(binary_entropy(distance)), math.log1p(-distance) - math.log(distance)
        return LocalEntropy(distance, entropy, slope, nan, math.inf, nan, S * S, nan, self._limit.error)

    def around_teacher(self, distance: float) -> LocalEntropy:
        """The teacher as the reference, at a distance below that of typical solutions from the teacher.

        Raises:
            ConvergenceError: the students around it were not found.
        """
        if self._students is None:
            self._students = self.model.students_of_teacher(self.typical.coordinates)
        found = self._students.at(distance)
        residual = max(found.residual, self._limit.error if self._limit else 0.0)
        return LocalEntropy(distance, found.entropy, found.slope, 0.0, math.inf, found.q, found.q, 0.0, residual)

    def _around_typical(self, distance: float) -> LocalEntropy:
        """References around typical solutions; the signs of their weights are free as far as the distance allows."""
        from scipy.optimize import minimize_scalar

        S = 1.0 - 2.0 * distance
        found = minimize_scalar(lambda field: self._signs(field)[1] - field * S, bracket=(0.0, 1.0))
        return LocalEntropy(
            distance, self.typical.value, 0.0, float(found.fun), math.inf, self.order.q, self.order.q, 0.0,
            self.typical.residual,
        )  # fmt: skip


class _Limit(NamedTuple):
    """What holds at small distances at y = infinity.

    Attributes:
        teacher: whether the teacher is the reference; else all configurations around the references are solutions.
        error: of the entropy, nats per weight.
    """

    teacher: bool
    error: float


def missing(branch: Branch) -> float:
    """The entropy of all configurations at the present distance of a branch, less the local entropy there.

    Args:
        branch: of `LargeDeviations` in its distance.

    Returns:
        The difference, nats per weight.
    """
    distance = distance_at(branch.position)
    return float(binary_entropy(distance)) - branch.point.value


class FirstPoint(NamedTuple):
    """The first point of the curve at y = infinity.

    Attributes:
        field: the field on the reference.
        coordinates: the coordinates of `AtField`.
        distance: d.
    """

    field: float
    coordinates: Array
    distance: float


def first_point(model: Model) -> FirstPoint:
    """The solution at a small field, by its linear response to it.

    Args:
        model: it has solutions.

    Returns:
        The point.

    Raises:
        ConvergenceError: it was not found.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.local_entropies import first_point
        >>> 0.0 < first_point(Perceptron(alpha=0.5)).distance < 0.5
        True
    """
    typical = typical_point(model).coordinates
    x = model.values(typical)
    root, r_hat = math.sqrt(x.q_hat), float(getattr(x, "r_hat", 0.0))
    turned = 0.5 * math.log(2.0 / (math.pi * x.q_hat)) - 0.5 * r_hat**2 / x.q_hat  # ln of signs, by a small field
    lost = None
    for pull, (part, effect) in itertools.product(FIRST_PULLS, FIRST_FIELDS):
        field = part * root / (1.0 + root)
        log_delta = turned + math.log((effect or 1.0) * field)
        log_pulled = log_delta + math.log(pull or min(x.q_hat, x.q_hat**2 / model.alpha))
        start = np.concatenate(
            [typical[:2], [log_delta - math.log(x.v), log_pulled], model.weights.group_start(typical)]
        )
        problem = AtField(model, field)
        try:
            start = start if effect else _answered(problem, start)
            point = solve(problem, start)
        except ConvergenceError as failure:
            lost = lost or failure
        else:
            # The conjugate of delta may be so small that it moves nothing.
            missed = float(np.max(np.abs(np.delete(point.coordinates - start, LOG_DELTA_HAT))))
            if missed < FARTHEST_START:
                return FirstPoint(field, point.coordinates, -0.5 * point.slope(0))
            lost = lost or ConvergenceError("first point", {"field": field}, missed)
    assert lost is not None
    raise lost


def _answered(problem: AtField, start: Array) -> Array:
    """The start, with delta and its conjugate from the equations in which they are linear, by turns.

    Raises:
        ConvergenceError: an equation has no positive solution.
    """
    found = start.copy()
    for unknown, equation in ROUNDS * ((LOG_DELTA_HAT, LOGIT_Q), (RATIO, LOG_Q_HAT)):
        twice = found.copy()
        twice[unknown] += math.log(2.0)
        at_once, at_twice = (evaluate(problem, y, problem.controls()) for y in (found, twice))
        slope = 0.0 if at_once is None or at_twice is None else (at_twice.gradient - at_once.gradient)[equation]
        factor = 1.0 - at_once.gradient[equation] / slope if at_once is not None and slope else 0.0
        if not factor > 0.0:
            raise ConvergenceError("first point", {"field": problem.field}, math.inf)
        found[unknown] += math.log(factor)
    return found


class Groups:
    """Groups of y solutions around a reference, at a finite y or at the y where the external entropy vanishes.

    Args:
        best: the curve at y = infinity.
        epsilon: 1 / y, not within 0.005 of 1; None where the external entropy vanishes.

    Raises:
        ConvergenceError: the curve could not be started.
    """

    def __init__(self, best: BestReferences, epsilon: float | None) -> None:
        self.best = best
        self.model = best.model
        self.epsilon = epsilon
        self.first = BETWEEN * best.widest
        self._known = Curvature(), Curvature()
        self._start = self._started()
        self._arms: dict[bool, Arm] = {}

    def problem(self, logit_distance: float) -> LargeDeviations:
        """The free entropy at a distance."""
        return LargeDeviations(self.model, logit_distance, self.epsilon, known=self._known)

    def _started(self) -> Array:
        """Coordinates at the first distance, followed from y = infinity."""
        found = self.best.point(self.first)
        if found is None:
            self.first = self.best.first
            found = self.best.point(self.first)
            assert found is not None  # where the curve at y = infinity starts
        position = logit(self.first)

        def family(epsilon: float) -> LargeDeviations:
            return LargeDeviations(self.model, position, epsilon, known=self._known)

        if self.epsilon is not None and self.epsilon <= FIRST_EPSILON:
            return solve(family(self.epsilon), found.coordinates).coordinates
        branch = Branch(family, "1/y", EPSILON, FIRST_EPSILON, found.coordinates, step=0.05, smallest_step=1e-3)
        if self.epsilon is not None:
            return branch.to(self.epsilon).coordinates
        while branch.point.slope(EPSILON) < 0.0:
            branch.advance(1.0)
        return np.append(branch.point.coordinates, math.log(branch.position))

    def at(self, distance: float) -> LocalEntropy:
        """The curve at one distance.

        Raises:
            ConvergenceError: the branch could not be followed that far.
        """
        if self.epsilon is None and distance >= self.best.widest:
            return self.best.at(distance)
        if distance == 0.5:
            typical, q = self.best.typical, self.best.order.q
            assert self.epsilon is not None
            return LocalEntropy(
                distance, typical.value, 0.0, math.log(2.0), 1.0 / self.epsilon, q, q, 0.0, typical.residual
            )
        point = self.point(distance)
        row = self.best.at(distance) if point is None else self._row(distance, logit(distance), point)
        if self.epsilon is not None or not self.model.teacher_solves or self.model.margin >= 0.0:
            return row
        try:
            teacher = self.best.around_teacher(distance)
        except ConvergenceError:
            return row
        return teacher if teacher.entropy > row.entropy else row

    def point(self, distance: float) -> StationaryPoint | None:
        """The saddle point at a distance; None where the external entropy vanishes only at more than `REPLICAS.high`.

        Raises:
            ConvergenceError: it was not reached.
        """
        position, beyond = logit(distance), distance > self.first
        if beyond not in self._arms:
            self._arms[beyond] = Arm(self.problem, self.first, self._start, beyond)
        branch = self._arms[beyond]
        while branch.position != position:
            before = branch.point.coordinates[-1]
            try:
                branch.advance(position, TOLERANCE)
            except ConvergenceError:
                if not self._many(branch):
                    raise
                return None
            if self._many(branch) and branch.point.coordinates[-1] < before:  # y grows
                return None
        return None if self._many(branch) else branch.point

    def _many(self, branch: Arm) -> bool:
        """Whether the external entropy vanishes only at more than `REPLICAS.high`."""
        return self.epsilon is None and branch.point.coordinates[-1] < -math.log(REPLICAS.high)

    def _row(self, distance: float, position: float, point: StationaryPoint) -> LocalEntropy:
        problem = self.problem(position)
        x = problem.order_parameters(point.coordinates)
        epsilon, field = x.epsilon.value, float(point.coordinates[FIELD])
        if self.epsilon is None:
            external, slope = float(point.gradient[len(point.coordinates) - 1]) / epsilon, 2.0 * field
            entropy = point.value
        else:
            external = point.slope(EPSILON)
            entropy = point.value - epsilon * external
            slope = 2.0 * (field - epsilon * self._field_response(position, point))
        v, delta = x.v.value, x.delta.value
        return LocalEntropy(
            distance, entropy, slope, external, 1.0 / epsilon, x.q.value, 1.0 - v, delta, point.residual
        )

    def _field_response(self, position: float, point: StationaryPoint) -> float:
        """Derivative of the field by epsilon at a distance, by central differences."""
        problem = LargeDeviations(self.model, position, self.epsilon, central=True)
        free = evaluate(problem, point.coordinates, problem.controls())
        assert free is not None
        n = len(point.coordinates)
        return -float(solve_equilibrated(free.hessian[:n, :n], free.hessian[:n, n + EPSILON])[FIELD])


class NearOne:
    """Groups at y near 1, interpolated between curves at neighbouring y.

    Args:
        best: the curve at y = infinity.
        epsilon: 1 / y.
    """

    def __init__(self, best: BestReferences, epsilon: float) -> None:
        self.epsilon = epsilon
        self._curves = [Groups(best, neighbour) for neighbour in AROUND_ONE.tolist()]
        self.first = self._curves[0].first

    def at(self, distance: float) -> LocalEntropy:
        """The curve at one distance, whose residual is the largest one of the neighbours.

        Raises:
            ConvergenceError: a neighbour could not be followed that far.
        """
        rows = np.array([curve.at(distance) for curve in self._curves])
        found = np.vander([self.epsilon - 1.0], len(rows)) @ np.linalg.solve(np.vander(AROUND_ONE - 1.0), rows)
        return LocalEntropy(*found[0].tolist())._replace(
            distance=distance, replicas=1.0 / self.epsilon, residual=float(rows[:, -1].max())
        )


@question(load=False, pairs=True)
def alpha_u(model: Model, replicas: float | str = math.inf) -> LocalEntropyThreshold:
    """Patterns per weight above which the largest local entropy does not grow with distance everywhere.

    At y = infinity the slope touches 0 there. This is the smallest of all loads at which a state of groups without a
    field on the reference exists. At zero external entropy the slope never touches 0. There q1 and the slope
    change infinitely fast at one distance, and above this load they jump. At y = infinity a call takes less than two
    seconds, at zero external entropy about 5 s, and at some margins a minute. Source: docs/margins/theory.md section
    11.

    Args:
        model: the model at the margin of the solutions counted, in [-2.5, 3]; its alpha is not used.
        replicas: math.inf for the references with the largest local entropy, or "zero external entropy" for the largest
            local entropy of typical training sets, as in `local_entropy`.

    Returns:
        `LocalEntropyThreshold`: alpha, and the distance, entropy, external entropy and y where the slope is 0, or
        changes infinitely fast.

    Raises:
        DomainError: an argument out of range, or a teacher with a negative margin, who solves any number of patterns.
        ConvergenceError: the load was not found. At y = infinity this happens for features that are narrower than
            signs, such as erf, at margins below -1.6 or above 2.3. At zero external entropy it may happen for any model
            that is not in the table of docs/margins/theory.md section 11.

    Example:
        >>> from localentropy.theory import Perceptron, alpha_u
        >>> round(alpha_u(Perceptron()).alpha, 6)
        0.755302
    """
    y = _replicas(replicas)
    MARGIN_OF_ALPHA_U.require(model.margin)
    with waited("alpha_u"):
        if y == math.inf:
            return _horizontal(model.at(alpha=1.0))
        if y == ZERO_EXTERNAL_ENTROPY:
            return _steepest(model)
    raise DomainError(f"replicas = {y:.12g}: allowed are math.inf and {ZERO_EXTERNAL_ENTROPY!r}")


def _horizontal(model: Model) -> LocalEntropyThreshold:
    """The smallest load at which the slope is 0 somewhere, at y = infinity."""
    from scipy.optimize import brentq

    state = _first_tangent(model)
    ratio, step = state[RATIO], 0.1

    def rise(at: float) -> float:
        nonlocal state
        state, slope, _ = at_ratio(AtField(model, 0.0), state, LOG_ALPHA, at)
        return slope

    falling = rise(ratio) < 0.0
    while (rise(ratio + step if falling else ratio - step) < 0.0) == falling:
        ratio += step if falling else -step
    bracket = sorted((ratio, ratio + step if falling else ratio - step))
    state, _, residual = at_ratio(AtField(model, 0.0), state, LOG_ALPHA, brentq(rise, *bracket, xtol=1e-8))
    problem = AtField(model.at(alpha=math.exp(state[-1])), 0.0)
    n = len(problem.names)
    free = evaluate(problem, state[:n], problem.controls())
    assert free is not None
    full = LargeDeviations(problem.model, 0.0)
    external = evaluate(full, np.insert(state[:n], FIELD, 0.0), full.controls())
    assert external is not None
    return LocalEntropyThreshold(
        problem.model.alpha,
        -0.5 * float(free.gradient[n]),
        free.value,
        float(external.gradient[n + 1 + EPSILON]),
        math.inf,
        residual,
    )


def _first_tangent(model: Model) -> Array:
    """Coordinates and controls of `AtField` near a state without a field, at a small distance."""
    start = model.at(alpha=THRESHOLD_START * finite_largest_alpha("alpha_u", model))
    curve, lost = BestReferences(start), None
    for distance in THRESHOLD_DISTANCES:
        try:
            return _tangent_at(curve, distance)
        except ConvergenceError as failure:
            lost = lost or failure
    assert lost is not None
    raise lost


def _tangent_at(curve: BestReferences, distance: float) -> Array:
    """Coordinates and controls of `AtField` where the slope at a distance is 0, from a curve at a lower load.

    Raises:
        ConvergenceError: it was not found.
    """
    model, position, point = curve.model, logit(distance), curve.point(distance)
    if point is None:
        raise ConvergenceError("horizontal tangent", {"margin": model.margin, "distance": distance}, math.inf)

    def family(log_alpha: float) -> LargeDeviations:
        return LargeDeviations(model.at(alpha=math.exp(log_alpha)), position)

    branch = Branch(family, "ln alpha", LOG_ALPHA, math.log(model.alpha), point.coordinates, step=0.05)
    while branch.point.coordinates[FIELD] > 0.0:
        branch.advance(math.inf)
    return np.concatenate([np.delete(branch.point.coordinates, FIELD), [0.0, branch.position]])


def _steepest(model: Model) -> LocalEntropyThreshold:
    """The smallest load at which the slope changes infinitely fast somewhere, at zero external entropy.

    At one distance the load rises with ln delta/v. Its derivative has a minimum, which falls as the distance grows. At
    the distance where it is 0, two more states of this load and distance begin: the state changes infinitely fast.
    """
    place = _place_of_smallest_load(model, ACCURATE)
    problem, state = place.problem, place.state
    n = len(problem.names)
    state, _, residual = at_ratio(problem, state, LOG_ALPHA, state[RATIO])
    free = evaluate(problem, state[:n], state[n:])
    assert free is not None
    distance = distance_at(state[n])
    return LocalEntropyThreshold(math.exp(state[-1]), distance, free.value, 0.0, math.exp(place.log_replicas), residual)


def _place_of_smallest_load(model: Model, tolerance: float) -> SteepPlace:
    """Where the slope is infinite first, found at once, or followed from a margin nearer to 0.

    Raises:
        ConvergenceError: it was not found.
    """
    try:
        place = SteepPlace(model, _steep_place(model.at(alpha=_horizontal(model.at(alpha=1.0)).alpha)))
        place.to_smallest_rise()
        place.to_smallest_load(tolerance)
    except ConvergenceError:
        if model.margin == 0.0:
            raise
    else:
        return place
    step = math.copysign(min(FOLLOWED, abs(model.margin)), model.margin)
    margin = model.margin - step
    place = _place_of_smallest_load(model.at(margin=margin), ROUGH)
    while margin != model.margin:
        at = margin + step
        if abs(model.margin - at) < LEAST_FOLLOWED / 2 or abs(at) > abs(model.margin):
            at = model.margin
        following = SteepPlace(model.at(margin=at), place.state.copy())
        try:
            following.to_smallest_load(tolerance if at == model.margin else ROUGH)
            fewer = abs(following.log_replicas - place.log_replicas)
            if fewer > JUMP:
                raise ConvergenceError("steepest place", {"margin": at}, fewer)
        except ConvergenceError:
            step /= 2.0
            if abs(step) < LEAST_FOLLOWED:
                raise
        else:
            place, margin = following, at
    return place


class SteepPlace:
    """The place on curves at zero external entropy where the slope may be infinite.

    Attributes:
        problem: the free entropy.
        state: coordinates and control parameters at the place.
    """

    def __init__(self, model: Model, state: Array) -> None:
        self.problem = LargeDeviations(model, 0.0, None, known=(Curvature(), Curvature()))
        self.state = state

    @property
    def log_replicas(self) -> float:
        """ln y."""
        return -float(self.state[len(self.problem.names) - 1])

    def to_smallest_rise(self) -> None:
        """Go on at the distance of the state, while the load rises ever less with ln delta/v.

        Raises:
            ConvergenceError: a state was not found, or belongs to another branch.
        """
        last, rise = math.inf, math.inf
        while rise <= last:
            last = rise
            rise = self._move(STEP)

    def to_smallest_load(self, tolerance: float) -> None:
        """Go to the distance where the smallest rise is 0.

        Args:
            tolerance: of the logit of 2 d.

        Raises:
            ConvergenceError: the place was not found.
        """
        from scipy.optimize import brentq

        position = float(self.state[len(self.problem.names)])
        rise = self._least_rise(position)
        step = -STEP if rise <= 0.0 else STEP
        for _ in range(STEPS_ALONG):
            position, last = position + step, rise
            rise = self._least_rise(position)
            if (rise <= 0.0) != (last <= 0.0):
                break
        else:
            raise ConvergenceError("steepest place", {"logit 2 d": position}, abs(rise))
        try:
            position = brentq(self._least_rise, position - step, position, xtol=tolerance)
        except ValueError:  # another minimum was met on the way back
            raise ConvergenceError("steepest place", {"logit 2 d": position}, abs(rise)) from None
        self._least_rise(position)

    def _move(self, by: float) -> float:
        """Go on in ln delta/v at one distance. Returns the derivative of ln alpha there.

        Raises:
            ConvergenceError: the state was not found, or belongs to another branch.
        """
        state, rise, _ = at_ratio(self.problem, self.state, LOG_ALPHA, self.state[RATIO] + by)
        change = float(np.max(np.abs(state - self.state)))
        if change > JUMP:
            raise ConvergenceError("steepest place", {"ln delta/v": state[RATIO]}, change)
        self.state = state
        return rise

    def _rises(self, offsets: Iterable[float]) -> list[float]:
        """Derivatives of ln alpha at differences of ln delta/v, each followed from the one before."""
        here, found = self.state, []
        for offset in offsets:
            here, rise, _ = at_ratio(self.problem, here, LOG_ALPHA, self.state[RATIO] + offset)
            found.append(rise)
        return found

    def _least_rise(self, position: float) -> float:
        """The smallest derivative of ln alpha by ln delta/v at a distance, with the state at its place."""
        self.state[len(self.problem.names)] = position
        for _ in range(TANGENT_STEPS):
            found = [*self._rises(-AROUND)[::-1], *self._rises([0.0, *AROUND])]
            fitted = Polynomial.fit([*-AROUND[::-1], 0.0, *AROUND], found, len(found) - 1)
            slope, bend = fitted.deriv(), fitted.deriv(2)
            roots = [float(root.real) for root in slope.roots() if root.imag == 0.0]
            lowest = [root for root in roots if abs(root) < STEP and float(bend(root)) > 0.0]
            move = lowest[0] if lowest else -math.copysign(STEP, slope(0.0))
            self._move(move)
            if lowest and abs(move) < AROUND[0]:
                return float(fitted(move))
        raise ConvergenceError("steepest place", {"logit 2 d": position}, math.inf)


def _steep_place(model: Model) -> Array:
    """Coordinates and controls of the curve at zero external entropy, where it is steepest between its ends.

    At wider distances the load falls with ln delta/v, and nothing is infinite there.
    """
    curve = Groups(BestReferences(model), None)
    steepness, rising = [], []
    for distance in np.geomspace(1.0, 0.04, SCANNED) * curve.first:
        point = curve.point(float(distance))
        if point is not None:
            steepness.append(1.0 / point.response[RATIO, LOGIT_DISTANCE])
            here = np.concatenate([point.coordinates, [logit(float(distance)), math.log(model.alpha)]])
            rising.append(here if point.response[RATIO, LOG_ALPHA] > 0.0 else None)
    for i in range(1, len(steepness) - 1):
        if steepness[i] > max(steepness[i - 1], steepness[i + 1]):
            found = next((here for here in rising[i:] if here is not None), None)
            if found is not None:
                return found
    raise ConvergenceError("steepest place", {"alpha": model.alpha}, math.inf)


def at_ratio(problem: FreeEntropy, state: Array, control: int, ratio: float) -> tuple[Array, float, float]:
    """The state at a value of ln delta/v, for which one control parameter is found with the coordinates.

    Args:
        problem: the free entropy; its own control parameters are not used.
        state: coordinates and control parameters nearby.
        control: position of the one that is found.
        ratio: ln delta/v.

    Returns:
        the state; the derivative of the control parameter by the ratio; the last correction.

    Raises:
        ConvergenceError: it was not found.
    """
    n = len(problem.names)
    found = np.append(np.delete(np.arange(n), RATIO), n + control)
    here, last, size = state.copy(), math.inf, math.inf
    here[RATIO] = ratio
    for _ in range(TANGENT_STEPS):
        free = evaluate(problem, here[:n], here[n:])
        if free is None:
            break
        try:
            step, response = -np.linalg.solve(
                free.hessian[:n, found], np.column_stack([free.gradient[:n], free.hessian[:n, RATIO]])
            ).T
        except np.linalg.LinAlgError:
            break
        last, size = size, float(np.max(np.abs(step)))
        here[found] += step * min(1.0, 1.0 / size)
        if size < TOLERANCE:
            if problem.exact() is problem:
                return here, float(response[-1]), size
            problem = problem.exact()
        elif size > SLOW * last:
            problem.refresh()
    named = dict(zip(("logit 2 d", "ln alpha"), here[n:].tolist(), strict=True))
    raise ConvergenceError("steepest or horizontal place", {"ln delta/v": ratio, **named}, size)
