"""Roots and maxima of functions of one number."""

from __future__ import annotations

import math
from collections.abc import Callable

from localentropy.errors import ConvergenceError

LARGEST_RESIDUAL = 1e-9
"""Relative error of a load, an order parameter or an equation, from which a solve has failed."""


def positive_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root of a function of a positive variable, between two places where its signs differ; found in the logarithm.

    Args:
        function: of a positive number.
        low: one place.
        high: the other.

    Returns:
        The root.

    Raises:
        ValueError: the signs at both places are the same.

    Example:
        >>> from localentropy.numerics.search import positive_root
        >>> round(positive_root(lambda x: x**3 - 8.0, 1e-6, 1e6), 9)
        2.0
    """
    from scipy.optimize import brentq

    return math.exp(brentq(lambda y: function(math.exp(y)), math.log(low), math.log(high), xtol=1e-13, rtol=1e-15))


def maximum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Place, to about 1e-8, and value of the maximum of a function with one maximum between two places.

    Args:
        function: of a number.
        low: the lower end.
        high: the upper end.

    Returns:
        Place and value.

    Raises:
        ConvergenceError: it was not found.

    Example:
        >>> from localentropy.numerics.search import maximum
        >>> place, value = maximum(lambda x: 3.0 - (x - 1.0) ** 2, 0.0, 5.0)
        >>> round(place, 6), round(value, 9)
        (1.0, 3.0)
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda x: -function(x), bounds=(low, high), method="bounded", options={"xatol": 1e-8})
    if not found.success:
        raise ConvergenceError("maximum", {"place": float(found.x)}, math.nan)
    return float(found.x), -float(found.fun)


def extremum(function: Callable[[float], float], low: float, high: float, sign: float) -> tuple[float, float]:
    """Place and value of the maximum (sign 1) or minimum (sign -1) of a function of a positive variable.

    Args:
        function: of a positive number.
        low: the lower end, positive.
        high: the upper end.
        sign: 1 for the maximum, -1 for the minimum.

    Returns:
        Place and value.

    Raises:
        ConvergenceError: see `maximum`.

    Example:
        >>> from localentropy.numerics.search import extremum
        >>> place, value = extremum(lambda x: x + 1.0 / x, 0.01, 100.0, sign=-1)
        >>> round(place, 6), round(value, 9)
        (1.0, 2.0)
    """
    place, value = maximum(lambda y: sign * function(math.exp(y)), math.log(low), math.log(high))
    return math.exp(place), sign * value
