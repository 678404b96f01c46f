"""Checks of what a user passes to a function: one line that names the argument, its value and what is allowed."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any

from localentropy.errors import DomainError

if TYPE_CHECKING:
    import numpy as np


LARGEST_COUNT = 10**9
"""Of samples, weights or iterations. A larger number is a mistake, and the run would not end."""
LONGEST_SHOWN = 80
"""Characters of a value in a message."""


def shown(value: object) -> str:
    """A value as it is written in Python, on one line and not longer than a line."""
    try:
        text = " ".join(repr(value).split("\n"))
    except Exception:  # an object of the user's may raise anything; Python does not write integers of 4301 digits
        text = f"{type(value).__name__} object"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def nearest_choice(value: object, choices: Iterable[str], similarity: float = 0.5) -> str | None:
    """The choice that is written most like a value; None where none is `similarity` (0 to 1) like it."""
    close = difflib.get_close_matches(str(value), list(choices), n=1, cutoff=similarity)
    return close[0] if close else None


def require_number(name: str, value: object) -> float:
    """The argument as a finite float.

    Text and booleans are refused even where Python could convert them: they are mistakes.

    Raises:
        DomainError: not a number, or not finite.
    """
    # A 0-d array of numpy or torch is a number too.
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise DomainError(f"{name} = {shown(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DomainError(f"{name} = {number} must be finite")
    return number


def require_integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """The argument as an int, from Python's or numpy's integers.

    Raises:
        DomainError: not an integer, below `least` or above `most`.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise DomainError(f"{name} = {shown(value)} is not an integer")
    number = int(value)
    if (least is not None and number < least) or (most is not None and number > most):
        allowed = f"at least {least}" if most is None else f"from {least} to {most}"
        raise DomainError(f"{name} = {shown(number)} is out of range: allowed are integers {allowed}")
    return number


def require_choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """The argument, one of a few words.

    Raises:
        DomainError: with the nearest valid choice.
    """
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        text = value[:LONGEST_SHOWN] if isinstance(value, str) else shown(value)
        nearest = nearest_choice(text, words, similarity=0.0)
        raise DomainError(
            f"{name} = {shown(value)} is not known: allowed are {', '.join(words)}; nearest is {nearest!r}"
        )
    return value


def require_positive(**values: float) -> None:
    """Refuse values that are not positive and finite.

    Raises:
        DomainError: naming the first.
    """
    for name, value in values.items():
        if require_number(name, value) <= 0.0:
            raise DomainError(f"{name} = {value} is out of range: it must be positive and finite")


def require_fraction(**values: float) -> None:
    """Refuse values outside [0, 1).

    Raises:
        DomainError: naming the first.
    """
    for name, value in values.items():
        if not 0.0 <= require_number(name, value) < 1.0:
            raise DomainError(f"{name} = {value} is out of range: allowed is 0 <= {name} < 1")


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
        values: a number or a (nested) sequence of numbers, with at least one element. Sets and mappings are refused:
            sets have no order, and mappings have keys and values.
        low: lower end of the interval.
        high: upper end.
        inclusive: whether the ends are allowed.
    """
    import numpy as np

    if isinstance(values, (Set, Mapping)):
        raise DomainError(f"{name}: a {type(values).__name__} given, allowed is a sequence of numbers")
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is not None and array.dtype.kind in "fiu":
        numbers = array.astype(np.float64)
        if not np.isfinite(numbers).all():
            require_number(name, numbers[~np.isfinite(numbers)][0])
    else:
        # Booleans, text and what else Python could convert are refused one by one.
        whole = not isinstance(values, Iterable) or isinstance(values, (str, bytes, bytearray, np.ndarray))
        elements = np.asarray(values if whole else list(values), dtype=object)
        numbers = np.array([require_number(name, element) for element in elements.flat]).reshape(elements.shape)
    if numbers.size == 0:
        raise DomainError(f"no {name} given")
    inside = (low <= numbers) & (numbers <= high) if inclusive else (low < numbers) & (numbers < high)
    if not inside.all():
        interval = f"[{low:g}, {high:g}]" if inclusive else f"({low:g}, {high:g})"
        raise DomainError(f"{name} = {numbers[~inside].flat[0]:.12g} is outside {interval}")
    return numbers
