"""Solutions around a binary teacher: at a distance from it, and typical ones that share nothing beyond it.

Models whose teacher solves ask for them (`Model.students_of_teacher`, `Model.sharing_nothing`). Derivation:
docs/margins/theory.md sections 9 and 11.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from localentropy.errors import ConvergenceError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.jets import Jet, exp, logistic, variables
from localentropy.numerics.quadrature import unit_legendre
from localentropy.numerics.saddle_point import TOLERANCE, Array, FreeEntropy, StationaryPoint, evaluate
from localentropy.theory.energies import HardMargin
from localentropy.theory.model import Model, Typical
from localentropy.theory.teacher_student import TeacherOverlap

LARGEST_STABILITY, SURE, STABILITIES = 9.0, 12.0, 400
"""Where integrals over the teacher's stabilities end, in standard deviations of the teacher's and of a student's
pre-activation given it; and their nodes."""
SHARED = 1e-11
"""q_hat c, with c = q - r^2, below which students share nothing beyond their teacher."""
LOG_DISTANCE, LOG_ALPHA = range(2)
"""Positions of the control parameters."""
LOG_DISTANCES = (-60.0, math.log(0.5), 0.25)
"""Logarithms of the distances from a teacher where typical solutions are looked for: the ends, and the step."""
SITES = 40
"""Nodes of integrals over the fields of sites there."""


def without_overlap(model: Model, distance: float) -> tuple[float, float, float]:
    """Log number of solutions at a distance from their teacher that share nothing beyond it, its slope, and q_hat.

    Source: docs/margins/theory.md eq. 48a. It is the entropy of all configurations at the distance, and alpha times the
    mean over the teacher's stabilities of the log of the fraction of them that satisfies a pattern. It is exact in the
    limit c = q - r^2 to 0. At small q_hat c it is too large by about q_hat c / 4.

    Args:
        model: the model at the margin of the solutions counted; its weights have a binary teacher.
        distance: d, in (0, 1/2).

    Returns:
        The log number, nats per weight; its derivative by the distance; q_hat.

    Example:
        >>> from localentropy.theory import TeacherStudent
        >>> from localentropy.theory.around_teacher import without_overlap
        >>> value, slope, q_hat = without_overlap(TeacherStudent(alpha=2.0, margin=-0.5), 0.005)
        >>> round(value, 6)
        0.031468
    """
    from scipy.special import entr, log_ndtr

    S, spread = 1.0 - 2.0 * distance, 2.0 * math.sqrt(distance * (1.0 - distance))
    unit, weight = unit_legendre(STABILITIES)
    # Beyond, all students satisfy a pattern.
    end = min(LARGEST_STABILITY, max((model.margin + SURE * spread) / S, spread))
    z = end * unit
    weight = end * weight * np.exp(-0.5 * z**2) * math.sqrt(2.0 / math.pi)
    u = (S * z - model.margin) / spread
    log_fraction = log_ndtr(u)
    steepness = np.exp(-0.5 * u**2 - log_fraction) / math.sqrt(2.0 * math.pi)
    rise = float(weight @ (steepness * (z - model.margin * S))) / spread**3  # by S
    value = float(entr(distance) + entr(1.0 - distance)) + model.alpha * float(weight @ log_fraction)
    slope = math.log1p(-distance) - math.log(distance) - 2.0 * model.alpha * rise
    return value, slope, model.alpha * float(weight @ steepness**2) / spread**2


@dataclass(frozen=True)
class AroundTeacher(FreeEntropy):
    """Log number of the solutions at a distance from their teacher, nats per weight.

    It is phi of typical solutions (docs/margins/theory.md eq. 35) at a given overlap r = 1 - 2 d with the teacher. At a
    negative margin and enough patterns the teacher is the best reference at small distances. Controls: ln d, ln alpha.

    Attributes:
        model: the model at the margin of the solutions counted; its weights have a binary teacher.
        log_distance: ln d.

    Example:
        >>> from localentropy.theory import TeacherStudent
        >>> from localentropy.theory.around_teacher import AroundTeacher
        >>> AroundTeacher(TeacherStudent(alpha=2.0, margin=-0.5), log_distance=-4.6).names
        ('ln q_hat', 'ln c/v', 'r_hat')
    """

    model: Model
    log_distance: float
    names = ("ln q_hat", "ln c/v", "r_hat")

    def controls(self) -> Array:
        """ln d, ln alpha."""
        return np.array([self.log_distance, math.log(self.model.alpha)])

    def scales(self, coordinates: Array) -> Array:
        """1, but for strong fields."""
        return np.array([1.0, 1.0, max(1.0, abs(float(coordinates[2])))])

    def order_parameters(self, coordinates: Array) -> TeacherOverlap:
        """The order parameters, as jets of coordinates and controls."""
        n = len(coordinates)
        jets = variables(np.concatenate([coordinates, self.controls()]))
        return _around_teacher(jets[:n], jets[n])

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi."""
        x, alpha = _around_teacher(coordinates, controls[LOG_DISTANCE]), exp(controls[LOG_ALPHA])
        model = self.model
        energy = model.asked.term(model.covariances(x), 0.0 * alpha + model.margin, model.labels)
        return model.weights.entropy(x, alpha) + alpha * energy


def _around_teacher(y: Sequence[Jet], position: Jet) -> TeacherOverlap:
    """Order parameters at an overlap r with the teacher: c + v = 1 - r^2."""
    d = exp(position)
    r, spread = 1.0 - 2.0 * d, 4.0 * d * (1.0 - d)
    c, v = spread * logistic(y[1]), spread * logistic(-y[1])
    return TeacherOverlap(exp(y[0]), 1.0 - v, v, y[2], r, c)


class Students(NamedTuple):
    """Solutions at a distance from their teacher.

    Attributes:
        entropy: log number, nats per weight.
        slope: its derivative by the distance.
        q: overlap of two.
        residual: the error of the logarithms of the order parameters, or q_hat c where these share nothing.
    """

    entropy: float
    slope: float
    q: float
    residual: float


class TaughtStudents:
    """Solutions at a distance from their teacher, below that of typical ones.

    Args:
        model: the model at the margin of the solutions counted, with a binary teacher.
        typical: coordinates of typical solutions.

    Example:
        >>> from localentropy.theory import TeacherStudent
        >>> from localentropy.theory.around_teacher import TaughtStudents
        >>> from localentropy.theory.typical_solutions import typical_point
        >>> model = TeacherStudent(alpha=10.0, margin=-0.5)
        >>> round(TaughtStudents(model, typical_point(model).coordinates).at(0.01).entropy, 6)
        0.052885
    """

    def __init__(self, model: Model, typical: Array) -> None:
        x = model.values(typical)
        self.model = model
        self._shared = x.q_hat * x.c
        self._branch: Branch | None = None
        if self._shared >= SHARED:
            self._branch = Branch(
                lambda position: AroundTeacher(model, position), "ln d", LOG_DISTANCE, math.log(0.5 * (1.0 - x.r)),
                np.array([math.log(x.q_hat), math.log(x.c / x.v), x.r_hat]), step=0.2,
            )  # fmt: skip

    def at(self, distance: float) -> Students:
        """The solutions at one distance.

        Args:
            distance: d.

        Returns:
            Entropy, slope, overlap and residual.

        Raises:
            ConvergenceError: the branch could not be followed that far.
        """
        branch, target, r = self._branch, math.log(distance), 1.0 - 2.0 * distance
        while branch is not None and branch.position != target:
            x = AroundTeacher(self.model, branch.position).order_parameters(branch.point.coordinates)
            shared = x.q_hat.value * x.c.value
            if target < branch.position and shared < SHARED:
                self._shared, branch = shared, None
            else:
                branch.advance(target, TOLERANCE)
        if branch is None:
            value, slope, _ = without_overlap(self.model, distance)
            return Students(value, slope, r * r, self._shared)
        point = branch.point
        q = AroundTeacher(self.model, target).order_parameters(point.coordinates).q.value
        return Students(point.value, point.slope(LOG_DISTANCE) / distance, q, point.residual)


def sharing_nothing(model: Model) -> StationaryPoint:
    """The solutions next to a teacher that share next to nothing beyond it: c = q - r^2 is rounding.

    Patterns see students without c (docs/margins/theory.md eq. 48a). Its relative error was at most 10 c / (1 - r^2)
    where it was compared with a branch.

    Args:
        model: the model, with a binary teacher.

    Returns:
        The saddle point; its residual is that error.

    Raises:
        ConvergenceError: they share more.

    Example:
        >>> from localentropy.theory import TeacherStudent
        >>> from localentropy.theory.around_teacher import sharing_nothing
        >>> round(sharing_nothing(TeacherStudent(alpha=50.0, margin=-0.01)).value * 1e5, 6)
        2.316576
    """
    from scipy.optimize import brentq

    def rise(log_distance: float) -> float:
        return without_overlap(model, math.exp(log_distance))[1]

    tried = np.arange(*LOG_DISTANCES) if isinstance(model.asked, HardMargin) else np.array([])
    falling = next((at for at in tried if rise(at) < 0.0), None)
    if falling is None or falling == tried[0]:
        raise ConvergenceError("solutions next to the teacher", {"alpha": model.alpha}, math.inf)
    log_distance = brentq(rise, falling - LOG_DISTANCES[2], falling, xtol=1e-14)
    d = math.exp(log_distance)
    value, _, q_hat = without_overlap(model, d)
    r_hat, c = _fields_of(log_distance, q_hat)
    if not q_hat * c < SHARED:
        raise ConvergenceError("solutions next to the teacher", {"alpha": model.alpha, "c": c}, q_hat * c)
    spread = 4.0 * d * (1.0 - d)
    log_q, log_r2 = math.log1p(c - spread), 2.0 * math.log1p(-2.0 * d)
    coordinates = np.array([math.log(q_hat), log_q - math.log(spread - c), math.log(r_hat), log_r2 - math.log(c)])
    problem = Typical(model)
    free = evaluate(problem, coordinates, problem.controls())
    assert free is not None
    return StationaryPoint(coordinates, value, 10.0 * c / spread, free.gradient, free.hessian)


def _fields_of(log_distance: float, q_hat: float) -> tuple[float, float]:
    """r_hat and c = q - r^2 at a distance from the teacher, from the equations of the sites, without cancellation."""
    from scipy.optimize import brentq

    z, weight = np.polynomial.hermite.hermgauss(SITES)
    weight, deviations = weight / math.sqrt(math.pi), math.sqrt(2.0 * q_hat) * z

    def flipped(r_hat: float) -> np.ndarray:
        """(1 - tanh h) / 2 at the nodes."""
        return np.exp(-np.logaddexp(0.0, 2.0 * (r_hat + deviations)))

    start = -0.5 * log_distance
    r_hat = brentq(lambda at: math.log(weight @ flipped(at)) - log_distance, start - 1.0, start + 2.0 * q_hat + 1.0)
    share = flipped(r_hat)
    return r_hat, 4.0 * float(weight @ (share - weight @ share) ** 2)
