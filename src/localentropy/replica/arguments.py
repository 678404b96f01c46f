"""Checks of the arguments of the theory functions."""

from __future__ import annotations

import math

from localentropy.errors import DomainError


def require_number(name: str, value: object) -> float:
    """The argument as a finite float.

    Raises:
        DomainError: naming the argument and its value.
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DomainError(f"{name} = {value!r} is not a number") from None
    if not math.isfinite(number):
        raise DomainError(f"{name} = {number} must be finite")
    return number


def require_positive(name: str, value: object) -> float:
    """The argument as a positive finite float, or DomainError."""
    number = require_number(name, value)
    if not number > 0.0:
        raise DomainError(f"{name} = {number:.12g} must be positive: allowed are (0, inf)")
    return number


def require_non_negative(name: str, value: object) -> float:
    """The argument as a finite float that is not negative, or DomainError."""
    number = require_number(name, value)
    if number < 0.0:
        raise DomainError(f"{name} = {number:.12g} must not be negative: allowed are [0, inf)")
    return number
