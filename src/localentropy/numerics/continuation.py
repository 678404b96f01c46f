"""Following a stationary point while a control parameter moves."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from localentropy.errors import ConvergenceError
from localentropy.numerics.saddle_point import (
    TOLERANCE,
    Array,
    FreeEntropy,
    StationaryPoint,
    evaluate,
    solve,
    solve_equilibrated,
)

TRUST = 0.5
"""Largest correction of a predicted coordinate, in its scales, for the point to count as the next one of the branch."""
LONGEST_JUMP = 1e4
"""Largest predicted change of a coordinate, in its scales."""
ON_THE_WAY = 1e-5
"""Tolerance of the solves between the points asked for."""

Observable = Callable[[StationaryPoint], float]


class Branch:
    """The stationary point of a family of free entropies, followed continuously in one control parameter.

    The next point is predicted from the last one and its exact derivative, and from the one before. A point that cannot
    be solved, or that lies far from its prediction, is tried again at half the step. The branch stays where it is until
    a new point is found.

    Args:
        family: control parameter → free entropy.
        name: of the control parameter, in error messages.
        index: position of the control parameter among those of the free entropy; None where it is none of them.
        position: where the branch starts.
        start: coordinates near the solution there, shape (n,).
        step: first step to try.
        smallest_step: relative to the first; below it, the branch is lost.

    Attributes:
        position: value of the control parameter where the branch stands.
        point: the stationary point there.

    Raises:
        ConvergenceError: no solution at the start.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.continuation import Branch
        >>> from localentropy.numerics.saddle_point import FreeEntropy
        >>> class Valley(FreeEntropy):
        ...     names = ("x",)
        ...
        ...     def __init__(self, h):
        ...         self.h = h
        ...
        ...     def value(self, coordinates, controls):
        ...         (x,), (h,) = coordinates, controls
        ...         return h * x - 0.25 * x * x * x * x
        ...
        ...     def controls(self):
        ...         return np.array([self.h])
        >>> branch = Branch(Valley, "h", 0, position=1.0, start=np.array([1.0]), step=0.1)
        >>> round(float(branch.to(8.0).coordinates[0]), 6)  # x³ = h
        2.0
    """

    def __init__(
        self,
        family: Callable[[float], FreeEntropy],
        name: str,
        index: int | None,
        position: float,
        start: Array,
        step: float,
        smallest_step: float = 1e-6,
    ) -> None:
        self.family = family
        self.name = name
        self.position = position
        self.index = index
        self._first_step = self._step = abs(step)
        self._smallest_step = smallest_step * abs(step)
        self.point = solve(family(position), start)
        self._before: tuple[float, Array] | None = None

    def to(self, target: float) -> StationaryPoint:
        """The point at a value of the control parameter, reached in as many steps as it takes.

        Raises:
            ConvergenceError: the branch was lost on the way; the error names the last position.
        """
        while self.position != target:
            self.advance(target, TOLERANCE)
        return self.point

    def advance(self, target: float, tolerance: float = ON_THE_WAY) -> StationaryPoint:
        """One step towards a target, at most as long as the last steps allow.

        Args:
            target: value of the control parameter, which may be infinite.
            tolerance: of the solve, if it is at the target.

        Raises:
            ConvergenceError: no step could be made.
        """
        while True:
            distance = target - self.position
            length = min(abs(distance), self._step)
            position = target if length == abs(distance) else self.position + math.copysign(length, distance)
            problem, prediction = self.family(position), self._predicted(position)
            jump = np.abs(prediction - self.point.coordinates) / problem.scales(self.point.coordinates)
            try:
                if not np.max(jump) < LONGEST_JUMP:
                    raise ConvergenceError("branch", {self.name: position}, float(np.max(jump)))
                point = solve(problem, prediction, tolerance=tolerance if position == target else ON_THE_WAY)
                missed = np.abs(point.coordinates - prediction) / problem.scales(point.coordinates)
                if not np.max(missed) < TRUST:
                    raise ConvergenceError("branch", {self.name: position}, float(np.max(missed)))
            except ConvergenceError as error:
                self._step = 0.5 * length
                if not self._step >= self._smallest_step:  # nor where the target is not a number
                    self._step = self._first_step
                    raise ConvergenceError(
                        "branch", {**error.point, self.name: self.position}, error.residual
                    ) from None
            else:
                self._before = (self.position, self.point.coordinates)
                self.position, self.point = position, point
                self._step = max(self._step, length) * (2.0 if np.max(missed) < 0.1 * TRUST else 1.0)
                return point

    def _predicted(self, position: float) -> Array:
        """The parabola with the derivative at the last point that goes through the one before."""
        ahead = position - self.position
        tangent = self._tangent(ahead)
        prediction: Array = self.point.coordinates + ahead * tangent
        back = 0.0 if self._before is None else self._before[0] - self.position
        if self._before is not None and abs(back) > 0.1 * abs(ahead):  # nearer, its own error would decide
            bend = (self._before[1] - self.point.coordinates - back * tangent) / back**2
            prediction += ahead**2 * bend
        return prediction

    def _tangent(self, ahead: float) -> Array:
        """Derivative of the coordinates by the control; by a difference where the problem does not give it."""
        if self.index is not None:
            return self.point.response[:, self.index]
        n, change = len(self.point.coordinates), 1e-3 * ahead
        problems = [self.family(self.position), self.family(self.position + change)]
        here, beside = (evaluate(problem, self.point.coordinates, problem.controls()) for problem in problems)
        if here is None or beside is None:
            return np.zeros(n)
        return -solve_equilibrated(self.point.hessian[:n, :n], beside.gradient[:n] - here.gradient[:n]) / change


def point_of_zero(branch: Branch, ahead: float) -> StationaryPoint:
    """The point at which the free entropy first vanishes. It is positive where the branch stands.

    Newton's method finds the point and the control parameter together. Where it does not get there at once, the branch
    is followed half of the way that the tangent shows, and it is tried again from there.

    Args:
        branch: moved towards the root.
        ahead: +1 or -1, the direction in which the free entropy falls.

    Returns:
        The point. Its last coordinate is the control parameter.

    Raises:
        ConvergenceError: the branch was lost before the root.
    """
    assert branch.index is not None
    for _ in range(60):
        try:
            root = solve(branch.family(branch.position), branch.point.coordinates, vanishing=branch.index)
        except ConvergenceError:
            pass
        else:
            if (root.coordinates[-1] - branch.position) * ahead >= 0.0:
                return root
        way = -branch.point.value / branch.point.slope(branch.index)
        branch.advance(branch.position + (0.5 * way if way * ahead > 0.0 else ahead * math.inf))
    raise ConvergenceError("root", {branch.name: branch.position}, branch.point.value)


def zero_of_observable(branch: Branch, observable: Observable, end: float, tolerance: float = 1e-11) -> float | None:
    """Control parameter at which an observable first vanishes; None if it stays positive.

    Where the observable is not positive at the start, the answer is the start.

    Args:
        branch: moved to the root.
        observable: quantity read off a point.
        end: how far to look.
        tolerance: absolute accuracy of the root.

    Returns:
        The control parameter, or None.

    Raises:
        ConvergenceError: the branch was lost before a root.
    """
    from scipy.optimize import brentq

    before, value = branch.position, observable(branch.point)
    if value <= 0.0:
        return before
    while value > 0.0:
        if branch.position == end:
            return None
        before = branch.position
        value = observable(branch.advance(end))
    return float(
        brentq(lambda position: observable(branch.to(position)), before, branch.position, xtol=tolerance, rtol=1e-14)
    )
