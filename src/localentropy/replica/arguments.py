"""Checks of the arguments of the theory functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from localentropy.arguments import require_number
from localentropy.errors import DomainError


def require_between(name: str, value: object, low: float, high: float) -> float:
    """The argument as a float in [low, high], or DomainError."""
    number = require_number(name, value)
    if not low <= number <= high:
        raise DomainError(f"{name} = {number:.12g} is out of range: allowed are [{low:g}, {high:g}]")
    return number


def require_array(name: str, values: Any, low: float, high: float, *, inclusive: bool = True) -> np.ndarray:
    """The argument as a float64 array of finite numbers in an interval, or DomainError.

    Args:
        name: of one element.
        values: a number or a (nested) sequence of numbers, with at least one element.
        low: lower end of the interval.
        high: upper end.
        inclusive: whether the ends are allowed.
    """
    listed = list(values) if isinstance(values, Iterable) and not isinstance(values, (str, np.ndarray)) else values
    elements = np.asarray(listed, dtype=object)
    if elements.size == 0:
        raise DomainError(f"no {name} given")
    numbers = np.array([require_number(name, element) for element in elements.flat]).reshape(elements.shape)
    inside = (low <= numbers) & (numbers <= high) if inclusive else (low < numbers) & (numbers < high)
    if not inside.all():
        interval = f"[{low:g}, {high:g}]" if inclusive else f"({low:g}, {high:g})"
        raise DomainError(f"{name} = {numbers[~inside].flat[0]:.12g} is outside {interval}")
    return numbers
