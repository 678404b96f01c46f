"""Stationary points of a free entropy by Newton's method, and how they move with a control parameter."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localentropy.errors import ConvergenceError
from localentropy.numerics.jets import Jet, variables

Array = np.ndarray

TOLERANCE = 1e-9
"""Newton's last step, relative to the scales of the coordinates. The step is taken: its square remains as the error."""
EVALUATIONS = 60
"""Largest number of Newton steps in one solve. Each takes one to `HALVINGS` evaluations of the free entropy."""
COORDINATES_OF_ZERO = 1e-6
"""Newton's last step in the coordinates where a zero of the free entropy is sought."""
ROUNDING, AT_REST = 1e-6, 0.7
"""Newton's last step where rounding ends the convergence; ratio to the step before from which the method is at rest."""
HALVINGS = 5
"""Largest number of halvings of a step that leads out of the domain."""
LONG_STEPS = 20
"""A solve gives up after so many steps in a row that had to be shortened."""


class FreeEntropy(ABC):
    """A free entropy as a function of coordinates, at given control parameters.

    Coordinates are functions of the order parameters in which no digits cancel, such as the logarithm of a variance.

    Attributes:
        names: the names of the coordinates.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.jets import log
        >>> from localentropy.numerics.saddle_point import FreeEntropy, solve
        >>> class OneCoordinate(FreeEntropy):
        ...     names = ("x",)
        ...
        ...     def value(self, coordinates, controls):
        ...         (x,), (a,) = coordinates, controls
        ...         return a * log(x) - x
        ...
        ...     def controls(self):
        ...         return np.array([3.0])
        >>> solve(OneCoordinate(), np.array([1.0])).coordinates.round(9).tolist()  # x = a
        [3.0]
    """

    names: tuple[str, ...]

    @abstractmethod
    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """The free entropy.

        Raises:
            ValueError, ZeroDivisionError, OverflowError: outside of its domain.
        """

    @abstractmethod
    def controls(self) -> Array:
        """Values of the control parameters, shape (m,)."""

    def scales(self, coordinates: Array) -> Array:
        """Sizes of the coordinates that their errors are compared with; 1 for a logarithm that matters."""
        return np.ones(len(coordinates))

    def refresh(self) -> bool:
        """Make approximate second derivatives exact at the next evaluation. False if they always are exact."""
        return False

    def exact(self) -> FreeEntropy:
        """This free entropy with exact second derivatives."""
        return self


def sizes(names: Sequence[str], coordinates: Array) -> Array:
    """Scales of coordinates by their names: 1 for logarithms, the size of others.

    Args:
        names: of the coordinates; "ln " and "logit " begin those of logarithms.
        coordinates: shape (n,).

    Returns:
        Shape (n,).

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.saddle_point import sizes
        >>> sizes(("ln V", "r"), np.array([-7.0, -0.5])).tolist()
        [1.0, 0.5]
    """
    logarithm = [name.startswith(("ln ", "logit ")) for name in names]
    return np.where(logarithm, 1.0, np.maximum(np.abs(coordinates), 1e-300))


@dataclass(frozen=True)
class StationaryPoint:
    """A solution of the saddle-point equations.

    Attributes:
        coordinates: shape (n,).
        value: the free entropy there.
        residual: the last correction of a coordinate, relative to its scale: an upper bound of its error.
        gradient: by coordinates and control parameters, shape (n + m,), to first order in the last correction.
        hessian: second derivatives by the same, shape (n + m, n + m).
    """

    coordinates: Array
    value: float
    residual: float
    gradient: Array
    hessian: Array

    @property
    def response(self) -> Array:
        """Derivatives of the coordinates by the control parameters, shape (n, m)."""
        n = len(self.coordinates)
        return -solve_equilibrated(self.hessian[:n, :n], self.hessian[:n, n:])

    def slope(self, control: int) -> float:
        """Derivative of the free entropy by a control parameter, along the solution."""
        return float(self.gradient[len(self.coordinates) + control])

    def curvature(self, control: int) -> float:
        """Second derivative of the free entropy by a control parameter, along the solution."""
        n = len(self.coordinates)
        index = n + control
        return float(self.hessian[index, index] + self.hessian[index, :n] @ self.response[:, control])


def solve(
    problem: FreeEntropy, start: Array, vanishing: int | None = None, tolerance: float = TOLERANCE
) -> StationaryPoint:
    """The stationary point that Newton's method reaches from `start`.

    No step is longer than `scales`, and a step out of the domain is halved. Where rounding keeps the steps above the
    tolerance, the first one that is not shorter than the one before it is the last; the residual says its size.

    Args:
        problem: the free entropy.
        start: coordinates, shape (n,).
        vanishing: position of a control parameter that is found together with the point, so that the free entropy is
            zero. The search starts from its value in `problem`; the point's last coordinate is the value found.
        tolerance: largest last step, in scales.

    Returns:
        The point, with the free entropy and its derivatives there.

    Raises:
        ConvergenceError: with the last point and the size of its step.
    """
    controls = problem.controls()
    n = len(start)
    unknown = np.arange(n) if vanishing is None else np.append(np.arange(n), n + vanishing)
    here = np.concatenate([start, controls])
    last = size = math.inf
    exact, long = False, 0
    free = evaluate(problem, here[:n], here[n:])
    if free is None:
        raise failure(problem, here[:n], math.inf)
    for _ in range(EVALUATIONS):
        step = np.zeros_like(here)
        step[unknown] = _newton_step(free, unknown, n)
        moves = np.abs(step) / np.concatenate([problem.scales(here[:n]), np.maximum(np.abs(here[n:]), 1e-2)])
        length = size = float(moves.max())
        if not math.isfinite(length):
            break
        if vanishing is not None:
            # The free entropy is stationary: an error of the coordinates moves its zero by that error's square only.
            size = float(max(moves[:n].max() * (TOLERANCE / COORDINATES_OF_ZERO), moves[n:].max()))
        rounded = size < ROUNDING and size > AT_REST * last and (exact or not problem.refresh())
        if size < tolerance or rounded:
            value = free.value + float(free.gradient @ step)
            gradient = free.gradient + free.hessian @ step
            return StationaryPoint((here + step)[unknown], value, size, gradient, free.hessian)
        if size > 0.3 * last and not exact and problem.refresh():
            free, exact = evaluate(problem, here[:n], here[n:]), True
            assert free is not None
            continue
        last, exact = size, False
        long = long + 1 if length > 1.0 else 0
        if long > LONG_STEPS:
            break
        step *= min(1.0, 1.0 / length)
        for _ in range(HALVINGS):
            trial = evaluate(problem, (here + step)[:n], (here + step)[n:])
            if trial is not None:
                break
            step *= 0.5
        if trial is None:
            break
        here, free = here + step, trial
    raise failure(problem, here[:n], size)


def _newton_step(free: Jet, unknown: Array, n: int) -> Array:
    """Newton's step in the unknowns for a vanishing gradient, and a vanishing value if there is one unknown more."""
    matrix = free.hessian
    if len(unknown) == n:
        return -solve_equilibrated(matrix[:n, :n], free.gradient[:n])
    control = unknown[-1]
    response = -solve_equilibrated(matrix[:n, :n], np.column_stack([free.gradient[:n], matrix[:n, control]]))
    newton, by_control = response.T
    move = -(free.value + free.gradient[:n] @ newton) / (free.gradient[control] + free.gradient[:n] @ by_control)
    return np.append(newton + move * by_control, move)


def evaluate(problem: FreeEntropy, coordinates: Array, controls: Array) -> Jet | None:
    """The free entropy as a jet of coordinates and controls; None outside of its domain.

    Args:
        problem: the free entropy.
        coordinates: shape (n,).
        controls: values of the control parameters, shape (m,).

    Returns:
        The jet, or None.
    """
    jets = variables(np.concatenate([coordinates, controls]))
    n = len(coordinates)
    try:
        free = problem.value(jets[:n], jets[n:])
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return free if math.isfinite(free.value) and np.isfinite(free.gradient).all() else None


def solve_equilibrated(matrix: Array, right: Array) -> Array:
    """Solution of a symmetric linear system whose rows differ by orders of magnitude; NaN where it is singular.

    Args:
        matrix: symmetric, shape (n, n).
        right: shape (n,) or (n, k).

    Returns:
        The solution, of the shape of `right`.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.saddle_point import solve_equilibrated
        >>> solve_equilibrated(np.array([[1e12, 1.0], [1.0, 1e-8]]), np.array([2e12, 2.0])).round(6).tolist()
        [2.0, 0.0]
    """
    with np.errstate(all="ignore"):
        scale = 1.0 / np.sqrt(np.maximum(np.abs(matrix).max(axis=1), 1e-300))
    try:
        solution: Array = np.linalg.solve(scale[:, None] * matrix * scale, (scale * right.T).T)
    except np.linalg.LinAlgError:
        return np.full_like(right, math.nan)
    return (scale * solution.T).T


def failure(problem: FreeEntropy, coordinates: Array, residual: float) -> ConvergenceError:
    """The error of a solve that ended at a point.

    Args:
        problem: the free entropy.
        coordinates: where the solve ended, shape (n,).
        residual: of its last step.

    Returns:
        The error, to be raised.
    """
    return ConvergenceError("saddle point", dict(zip(problem.names, coordinates.tolist(), strict=True)), residual)
