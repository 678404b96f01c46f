"""Derivatives by finite differences, against which formulas are checked."""

from __future__ import annotations

from typing import Any

FIVE_POINTS = (-2, -1, 1, 2)
"""Multiples of the step at which `five_point_slope` wants its values."""


def five_point_slope(values: Any, step: float) -> Any:
    """The derivative, from the values at −2, −1, 1 and 2 steps."""
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)
