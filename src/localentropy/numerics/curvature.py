"""Second derivatives of a function whose gradient is exact: they only steer Newton's method."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

Array = np.ndarray

NEAR, FAR = 1e-6, 0.1
"""Sizes of a step below which it says nothing, and above which differences are taken again, in units."""


def differences(gradient_at: Callable[[Array], Array], point: Array, units: Array, places: Iterable[int]) -> Array:
    """Second derivatives by central differences, to 1e-9.

    Args:
        gradient_at: the gradient at a point.
        point: shape (n,).
        units: sizes of the coordinates.
        places: coordinates to vary; second derivatives by others are 0.

    Returns:
        symmetric matrix, shape (n, n).

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.curvature import differences
        >>> differences(lambda x: x**3, np.array([1.0, 2.0]), np.ones(2), range(2)).round(6).tolist()
        [[3.0, 0.0], [0.0, 12.0]]
    """
    return _differences(gradient_at, point, 3e-5 * units, places, None)


class Curvature:
    """Approximate second derivatives: differences to 1e-5 at first, which each new gradient then corrects.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.curvature import Curvature
        >>> known, square = Curvature(), lambda x: 2.0 * x
        >>> known.at(square, np.ones(2), square(np.ones(2)), np.ones(2), range(2)).round(6).tolist()
        [[2.0, 0.0], [0.0, 2.0]]
    """

    def __init__(self) -> None:
        self._hessian: Array | None = None
        self._last: tuple[Array, Array] | None = None

    def forget(self) -> None:
        """Take differences again at the next point."""
        self._hessian = None

    def at(
        self,
        gradient_at: Callable[[Array], Array],
        point: Array,
        gradient: Array,
        units: Array,
        places: Iterable[int],
    ) -> Array:
        """Second derivatives: differences, or the least symmetric change that explains the last step.

        Arguments are those of `differences`, and the gradient at the point.
        """
        step = None if self._last is None else (point - self._last[0]) / units
        if self._hessian is None or step is None or np.max(np.abs(step)) > FAR:
            self._hessian = _differences(gradient_at, point, 1e-5 * units, places, gradient)
        elif self._last is not None and (length := float(step @ step)) > NEAR**2:
            missing = (gradient - self._last[1] - self._hessian @ (units * step)) * units / length
            outer = np.outer(missing, step)
            change = outer + outer.T - (missing @ step / length) * np.outer(step, step)
            self._hessian = self._hessian + change / np.outer(units, units)
        self._last = (point, gradient)
        return self._hessian


def _differences(
    gradient_at: Callable[[Array], Array], point: Array, steps: Array, places: Iterable[int], gradient: Array | None
) -> Array:
    """Differences of the gradient: to the one at the point, or central ones."""
    matrix = np.zeros((len(point), len(point)))
    for index in places:
        ahead, back = point.copy(), point.copy()
        ahead[index] += steps[index]
        if gradient is None:
            back[index] -= steps[index]
        other = gradient_at(back) if gradient is None else gradient
        with np.errstate(all="ignore"):  # a step that is lost in rounding; its solve fails
            matrix[index] = (gradient_at(ahead) - other) / (ahead[index] - back[index])
    symmetric: Array = 0.5 * (matrix + matrix.T)
    return symmetric
