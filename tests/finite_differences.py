"""Derivatives by finite differences, against which formulas are checked."""

from __future__ import annotations

from typing import Any

FIVE_POINTS = (-2, -1, 1, 2)
"""Multiples of the step at which the values are taken."""


def five_point_slope(values: Any, step: float) -> Any:
    """The derivative, from the values at −2, −1, 1 and 2 steps."""
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)


def five_point_curvature(values: Any, here: Any, step: float) -> Any:
    """The second derivative, from the same values and the one here."""
    return (-values[0] + 16 * values[1] - 30 * here + 16 * values[2] - values[3]) / (12 * step**2)
