"""Following a stationary point while a control parameter moves."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from localentropy.errors import ConvergenceError
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint, solve

# Points through which the next one is extrapolated.
MEMORY = 4
# Largest correction of a prediction, relative to the distance from the last point.
TRUST = 0.5


class Branch:
    """The stationary point of a family of free entropies, followed continuously in one control parameter.

    The next point is extrapolated from the last few; a solve that fails, or that ends farther from
    its prediction than the branch has moved, is repeated with half the step. The branch remembers where
    it stands, so neighbouring requests cost a few gradients each.

    Args:
        family: control parameter -> free entropy.
        control: name of the control parameter, for error messages.
        history: known points (control, parameters), the current one last.
        inverse_hessian: that of the current point, if known.
        step: first step to try.
        smallest_step: step below which the branch counts as lost, relative to `step`.
        rounding_floor: as in `solve`.
    """

    def __init__(
        self,
        family: Callable[[float], FreeEntropy],
        control: str,
        history: list[tuple[float, Array]],
        *,
        step: float,
        inverse_hessian: Array | None = None,
        smallest_step: float = 1e-4,
        rounding_floor: float = 1e-7,
    ) -> None:
        self.family = family
        self.control = control
        # In the coordinates of each point's own problem, which may move with the control parameter.
        self.history = [
            (position, np.array(family(position).coordinates(parameters))) for position, parameters in history[-MEMORY:]
        ]
        self.parameters = np.array(history[-1][1])
        self.inverse_hessian = inverse_hessian
        self.step = abs(step)
        self.smallest_step = smallest_step * abs(step)
        self.rounding_floor = rounding_floor

    @property
    def position(self) -> float:
        """Control parameter of the current point."""
        return self.history[-1][0]

    def to(self, target: float) -> StationaryPoint:
        """Stationary point at `target`, reached in as many steps as needed.

        Raises:
            ConvergenceError: the branch could not be followed that far; it then stands where it stood.
        """
        saved = self.history, self.parameters, self.inverse_hessian, self.step
        try:
            while True:
                point = self.advance(target)
                if self.position == target:
                    return point
        except ConvergenceError:
            self.history, self.parameters, self.inverse_hessian, self.step = saved
            raise

    def advance(self, target: float) -> StationaryPoint:
        """Next point on the way to `target`, as far as one step leads.

        Raises:
            ConvergenceError: no step, however small, leads on.
        """
        while True:
            distance = target - self.position
            full = abs(distance) > self.step
            reach = self.position + math.copysign(self.step, distance) if full else target
            attempted = abs(reach - self.position)
            try:
                point = self._solve(reach)
            except ConvergenceError as failure:
                self.step = 0.4 * attempted
                self.inverse_hessian = None
                if self.step < self.smallest_step:
                    point_reached = {self.control: self.position, **failure.point}
                    raise ConvergenceError("continuation", point_reached, failure.residual) from None
                continue
            if attempted >= 0.99 * self.step and point.evaluations <= 12:
                self.step *= 1.8
            self._remember(reach, point)
            return point

    def _solve(self, reach: float) -> StationaryPoint:
        problem = self.family(reach)
        last = self.history[-1][1]
        guess = _extrapolate(self.history, reach)
        # Towards the last point in its moving coordinates; failing that, its parameters as they are.
        candidates = [last + 0.5**n * (guess - last) for n in range(20)]
        candidates.append(problem.coordinates(self.parameters))
        for guess in candidates:
            start = problem.parameters(torch.from_numpy(guess)).numpy()
            with np.errstate(all="ignore"):
                inside = bool(np.all(problem.positive(start) > 0.0))
            if inside:
                break
        point = solve(problem, start, self.inverse_hessian, rounding_floor=self.rounding_floor)
        scale = np.abs(last) + 1e-2
        moved = np.max(np.abs(guess - last) / scale)
        corrected = np.max(np.abs(problem.coordinates(point.parameters) - guess) / scale)
        if corrected > TRUST * moved + 0.02 and len(self.history) > 1:
            raise ConvergenceError("branch", {}, point.residual)
        return point

    def _remember(self, position: float, point: StationaryPoint) -> None:
        # Through points that a root search left next to each other, their rounding would be extrapolated.
        kept = [
            (known, coordinates) for known, coordinates in self.history if abs(known - position) > self.smallest_step
        ]
        coordinates = np.array(self.family(position).coordinates(point.parameters))
        self.history = [*kept, (position, coordinates)][-MEMORY:]
        self.parameters = point.parameters
        self.inverse_hessian = point.inverse_hessian


def _extrapolate(known: list[tuple[float, Array]], reach: float) -> Array:
    """Polynomial through the known points, evaluated at `reach`."""
    guess = np.zeros_like(known[-1][1])
    for position, coordinates in known:
        others = [other for other, _ in known if other != position]
        guess += coordinates * math.prod((reach - other) / (position - other) for other in others)
    return guess


Observable = Callable[[StationaryPoint], float]

ROUNDED = 1e-8
"""Relative width of an interval around a root in which no more points need be solvable."""


def bracket_root(branch: Branch, observable: Observable, end: float) -> tuple[StationaryPoint, float, float]:
    """Follow a branch until an observable that is positive where it stands becomes zero or negative.

    Beyond that root a branch may soon cease to exist: steps aim just past the root of the parabola
    through the last three values.

    Args:
        branch: moved by the walk.
        observable: quantity read off a point.
        end: control parameter at which to stop if no root was met; may be infinite.

    Returns:
        the last point, the position before it, and its position: the observable is positive at the
        former, and not positive at the latter unless that is `end`.

    Raises:
        ConvergenceError: the branch was lost before a root.
    """
    point = branch.to(branch.position)
    known = [(branch.position, observable(point))]
    while known[-1][1] > 0.0 and branch.position != end:
        here = branch.position
        target = end
        root = _next_root(known, math.copysign(1.0, end - here))
        if root is not None:
            overshoot = root + 0.03 * (root - here) + math.copysign(branch.smallest_step, end - here)
            target = overshoot if abs(overshoot - here) < abs(end - here) else end
        point = branch.advance(target)
        known = [*known[-2:], (branch.position, observable(point))]
    return point, known[-2][0] if len(known) > 1 else branch.position, branch.position


def _next_root(known: list[tuple[float, float]], ahead: float) -> float | None:
    """Root ahead of the last point, of the parabola (or line) through the last three (two)."""
    if len(known) < 2:
        return None
    (x_1, y_1), (x_2, y_2) = known[-2:]
    slope = (y_2 - y_1) / (x_2 - x_1)
    curvature = 0.0
    if len(known) > 2:
        x_0, y_0 = known[0]
        curvature = (slope - (y_1 - y_0) / (x_1 - x_0)) / (x_2 - x_0)
    local_slope = slope + curvature * (x_2 - x_1)
    discriminant = local_slope**2 - 4.0 * curvature * y_2
    if local_slope * ahead >= 0.0 or discriminant < 0.0:
        return None
    return x_2 + 2.0 * y_2 / (-local_slope + ahead * math.sqrt(discriminant))


def find_root(branch: Branch, observable: Observable, end: float, *, tolerance: float = 1e-12) -> float:
    """Control parameter at which an observable that is positive where the branch stands first vanishes.

    Args:
        branch: moved to the root.
        observable: quantity read off a point.
        end: how far to look; may be infinite.
        tolerance: absolute accuracy of the root, or `ROUNDED` where rounding keeps points so close to it from being
            solved: near the largest margins conjugates reach 1e7.

    Returns:
        the root; where the branch stood, if the observable was not positive there.

    Raises:
        ConvergenceError: the branch was lost, or there is no root up to `end`.
    """
    from scipy.optimize import brentq

    point, left, right = bracket_root(branch, observable, end)
    if left == right:
        return left
    if observable(point) > 0.0:
        raise ConvergenceError("root", {branch.control: right}, observable(point))
    ends = {True: left, False: right}

    def at(control: float) -> float:
        value = observable(branch.to(control))
        ends[value > 0.0] = control
        return value

    try:
        return float(brentq(at, left, right, xtol=tolerance, rtol=1e-14))
    except ConvergenceError:
        if abs(ends[True] - ends[False]) > ROUNDED * abs(right):
            raise
        return 0.5 * (ends[True] + ends[False])
