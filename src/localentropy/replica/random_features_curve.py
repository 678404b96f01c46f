"""Franz-Parisi entropy as a function of distance: where the branch starts and how it is followed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from localentropy.errors import ConvergenceError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.saddle_point import Array, FreeEntropy, residual_of, solve, value_and_gradient
from localentropy.replica.random_features_franz_parisi import (
    PAIR_NODES,
    STUDENT_NODES,
    FranzParisiFreeEntropy,
    Reference,
)
from localentropy.replica.random_features_typical import Ensemble, TypicalFreeEntropy

# Violation of the saddle-point equations at which their iteration counts as converged.
WEAK_RESIDUAL = 1e-10
# Margins closer than this leave student and reference with almost the same measure: at the maximum of
# phi_FP their pattern fields then coincide and the free entropy is singular there.
CLOSE_MARGINS = 0.05
# Relative distance from the maximum within which phi_FP is a parabola to 1e-12.
NEAR_MAXIMUM = 1e-4
# At small distances variances nearly cancel; phi_FP is stationary, so steps of this size do not matter to it.
ROUNDING_FLOOR = 1e-5
MARGIN_OFFSET = 0.1
# Margins closer than this have the overlap at the maximum of phi_FP in closed form, to the square of it.
SAME_MARGINS = 1e-6


@dataclass(frozen=True)
class CurvePoint:
    """One point of a Franz-Parisi curve.

    Attributes:
        distance: d.
        entropy: phi_FP, nats per weight.
        slope: d phi_FP / d d.
        residual: largest violation of a saddle-point equation.
        parameters: shape (15,), as in `FranzParisiFreeEntropy`.
    """

    distance: float
    entropy: float
    slope: float
    residual: float
    parameters: Array


@dataclass(frozen=True)
class _FreeOverlap(FreeEntropy):
    """phi_FP with the overlap as a sixteenth unknown: stationary where the student ignores the reference."""

    conditioned: FranzParisiFreeEntropy

    names = (*FranzParisiFreeEntropy.names, "S")

    @property
    def scales(self) -> Array:
        return np.append(self.conditioned.scales, 1.0)

    def positive(self, parameters: Array) -> Array:
        return self.conditioned.positive_at_overlap(parameters[:-1], parameters[-1])

    def value(self, parameters: Tensor) -> Tensor:
        return self.conditioned.value_at_overlap(parameters[:-1], parameters[-1])


class FranzParisiCurve:
    """phi_FP(d) around typical solutions of margin `margin_ref`, for students of margin `margin`.

    Args:
        student: ensemble of the student; all but the margin is the reference's too.
        typical: parameters of the student ensemble's typical solution, shape (8,).
        margin_ref: margin of the reference.
        nodes: of the energetic term.
        student_nodes: of the student term.

    Raises:
        ConvergenceError: the starting point was not found.
    """

    def __init__(
        self,
        student: Ensemble,
        typical: Array,
        margin_ref: float,
        nodes: tuple[int, int, int] = PAIR_NODES,
        student_nodes: int = STUDENT_NODES,
    ) -> None:
        self.student = student
        self.typical = typical
        self.nodes = nodes
        self.student_nodes = student_nodes
        self._references = Branch(
            lambda margin: TypicalFreeEntropy(replace(student, margin=margin)),
            "margin_ref", [(student.margin, typical)], step=0.05,
        )  # fmt: skip
        self._last_reference: Reference | None = None
        self.reference = self.reference_at(margin_ref)
        self.close = abs(margin_ref - student.margin) < CLOSE_MARGINS
        start = self._unconstrained(margin_ref)
        self.typical_distance = 0.5 * (1.0 - float(start[-1]))
        self._start = start[:-1]
        # Where the student hardly feels the patterns; tried, and lowered where it turns out wrong.
        self._weak_below = self.typical_distance
        self._branches: dict[bool, Branch] = {}
        # Failures on either side: where the branch ends, nothing lies beyond.
        self._lost: dict[bool, ConvergenceError] = {}

    def at(self, distance: float) -> CurvePoint:
        """The curve at one distance in (0, 1); cheap next to the distance asked for before.

        Raises:
            ConvergenceError: the branch could not be followed that far.
        """
        problem = self.problem_at(self.reference, distance)
        if abs(math.log(distance / self.typical_distance)) < NEAR_MAXIMUM:
            return self._near_maximum(distance)
        if distance < self._weak_below:
            point = self._weakly_coupled(problem)
            if point is not None:
                return point
            self._weak_below = 0.8 * distance
        beyond = distance > self.typical_distance
        lost = self._lost.get(beyond)
        if lost is not None and (distance > lost.point["distance"]) == beyond:
            raise lost
        try:
            solution = self._branch(beyond).to(math.log(distance))
        except ConvergenceError as failure:
            reached = {"distance": math.exp(failure.point.pop("log_distance", math.log(distance)))}
            self._lost[beyond] = ConvergenceError(
                "Franz-Parisi entropy", {**reached, **failure.point}, failure.residual
            )
            raise self._lost[beyond] from None
        return self._curve_point(problem, solution.parameters, solution.residual)

    def problem_at(self, reference: Reference, distance: float) -> FranzParisiFreeEntropy:
        """Free entropy of the student at a distance from a reference."""
        return FranzParisiFreeEntropy(
            reference, self.student.margin, 1.0 - 2.0 * distance, self.nodes, self.student_nodes
        )

    def reference_at(self, margin_ref: float) -> Reference:
        """Typical solution of another margin; cheap next to the margin asked for before."""
        if self._last_reference is None or self._last_reference.ensemble.margin != margin_ref:
            ensemble = replace(self.student, margin=margin_ref)
            self._last_reference = Reference(ensemble, self._references.to(margin_ref).parameters)
        return self._last_reference

    def _curve_point(self, problem: FranzParisiFreeEntropy, parameters: Array, residual: float) -> CurvePoint:
        entropy = problem.value(torch.from_numpy(parameters)).item()
        distance = 0.5 * (1.0 - problem.overlap)
        return CurvePoint(distance, entropy, problem.slope(parameters), residual, parameters)

    def _near_maximum(self, distance: float) -> CurvePoint:
        """Parabola about the maximum, where phi_FP is known and a solve may be singular."""
        problem = TypicalFreeEntropy(self.student)
        height, gradient = value_and_gradient(problem, self.typical)
        offset = distance - self.typical_distance
        if offset == 0.0:
            return CurvePoint(distance, height, 0.0, residual_of(problem, gradient), self._start)
        beside = self.at(self.typical_distance * math.exp(math.copysign(10.0 * NEAR_MAXIMUM, offset)))
        part = offset / (beside.distance - self.typical_distance)
        slope = part * beside.slope
        parameters = self._start + part * (beside.parameters - self._start)
        return CurvePoint(distance, height + 0.5 * slope * offset, slope, beside.residual, parameters)

    def _weakly_coupled(self, problem: FranzParisiFreeEntropy) -> CurvePoint | None:
        """Solution by iteration from random flips of the reference, if that contracts."""
        parameters = problem.flipped_reference()
        residuals = [math.inf]
        for _ in range(30):
            try:
                parameters = problem.iterate(parameters)
                if not np.all(problem.variances(parameters) > 1e-9):
                    return None
                _, gradient = value_and_gradient(problem, parameters)
            except ConvergenceError:  # an iterate outside the domain
                return None
            residuals.append(residual_of(problem, gradient))
            # The last digits are noise of size rounding / gamma.
            if residuals[-1] < WEAK_RESIDUAL or max(residuals[-2:]) < 1e-9:
                return self._curve_point(problem, parameters, residuals[-1])
            if not residuals[-1] < 1.0 or (len(residuals) > 4 and residuals[-1] > 0.3 * residuals[-3]):
                return None
        return None

    def _branch(self, beyond: bool) -> Branch:
        """The branch in ln d on one side of the maximum."""
        if beyond not in self._branches:
            log_distance, parameters = math.log(self.typical_distance), self._start
            if self.close:
                log_distance, parameters = self._beside_maximum(beyond)
            self._branches[beyond] = Branch(
                lambda position: self.problem_at(self.reference, math.exp(position)),
                "log_distance", [(log_distance, parameters)], step=0.02, smallest_step=1e-2,
                rounding_floor=ROUNDING_FLOOR,
            )  # fmt: skip
        return self._branches[beyond]

    def _unconstrained(self, margin_ref: float) -> Array:
        """Parameters and overlap where the student does not feel the reference, shape (16,)."""
        gap = margin_ref - self.student.margin
        first = math.copysign(min(MARGIN_OFFSET, abs(gap)), gap)
        reference = self.reference_at(self.student.margin + first)
        pairs = (self.typical * reference.parameters)[[0, 1, 4, 5]]
        overlaps = np.sqrt(pairs) * (1.0 - 0.45 * first**2)
        if abs(gap) < SAME_MARGINS:
            # Student and reference are as good as two replicas of one measure, where a solve is singular.
            return self._assemble(*overlaps)
        start = solve(_FreeOverlap(self.problem_at(reference, 0.5)), self._assemble(*overlaps))
        branch = Branch(
            lambda margin: _FreeOverlap(self.problem_at(self.reference_at(margin), 0.5)),
            "margin_ref", [(reference.ensemble.margin, start.parameters)], step=0.05,
            inverse_hessian=start.inverse_hessian,
        )  # fmt: skip
        return branch.to(margin_ref).parameters

    def _assemble(self, t: float, P_t: float, t_hat: float, P_t_hat: float) -> Array:
        q, p, p_d, r, q_hat, p_hat, p_d_hat, r_hat = self.typical
        return np.array([q, p, p_d, r, P_t, t, P_t,
                         q_hat, p_hat, p_d_hat, r_hat, t_hat, P_t_hat, t_hat, P_t_hat, t])  # fmt: skip

    def _beside_maximum(self, beyond: bool) -> tuple[float, Array]:
        """A point away from the maximum for nearly equal margins, reached from other reference margins."""
        margin = self.student.margin - MARGIN_OFFSET
        start = self._unconstrained(margin)
        log_distance = math.log(0.5 * (1.0 - start[-1]))
        reference = self.reference_at(margin)
        aside = Branch(
            lambda position: self.problem_at(reference, math.exp(position)),
            "log_distance", [(log_distance, start[:-1])], step=0.02,
        )  # fmt: skip
        position = math.log(self.typical_distance * (1.15 if beyond else 0.85))
        point = aside.to(position)
        across = Branch(
            lambda margin_ref: self.problem_at(self.reference_at(margin_ref), math.exp(position)),
            "margin_ref", [(margin, point.parameters)], step=0.02, inverse_hessian=point.inverse_hessian,
        )  # fmt: skip
        return position, across.to(self.reference.ensemble.margin).parameters
