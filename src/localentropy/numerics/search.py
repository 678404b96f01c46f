"""Roots and maxima of functions of one number."""

from __future__ import annotations

import math
from collections.abc import Callable

from localentropy.errors import ConvergenceError


def positive_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Root of a function of a positive variable, between two places where its signs differ; found in the logarithm."""
    from scipy.optimize import brentq

    return math.exp(brentq(lambda y: function(math.exp(y)), math.log(low), math.log(high), xtol=1e-13, rtol=1e-15))


def maximum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Place, to about 1e-8, and value of the maximum of a function with one maximum between two places.

    Raises:
        ConvergenceError: it was not found.
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda x: -function(x), bounds=(low, high), method="bounded", options={"xatol": 1e-8})
    if not found.success:
        raise ConvergenceError("maximum", {"place": float(found.x)}, math.nan)
    return float(found.x), -float(found.fun)


def extremum(function: Callable[[float], float], low: float, high: float, sign: float) -> tuple[float, float]:
    """Place and value of the maximum (sign 1) or minimum (sign -1) of a function of a positive variable."""
    place, value = maximum(lambda y: sign * function(math.exp(y)), math.log(low), math.log(high))
    return math.exp(place), sign * value
