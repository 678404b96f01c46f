"""Derivatives by finite differences, against which formulas are checked."""

from __future__ import annotations

from typing import Any

import numpy as np


def five_points(here: Any, step: Any, index: int | None = None) -> list[Any]:
    """The places at −2, −1, 1 and 2 steps, by one coordinate of several; without `index`, the step is as it stands."""
    move = step if index is None else step * np.eye(len(here))[index]
    return [here + n * move for n in (-2, -1, 1, 2)]


def slope_at(function: Any, here: Any, step: float, index: int | None = None) -> Any:
    """The derivative of a function, by one coordinate of several."""
    return five_point_slope([function(place) for place in five_points(here, step, index)], step)


def slopes_of_jet(function: Any, here: Any, step: float, index: int | None = None) -> tuple[Any, Any]:
    """The same of the value and of the gradient of a jet, which the function returns."""
    jets = [function(place) for place in five_points(here, step, index)]
    return five_point_slope([jet.value for jet in jets], step), five_point_slope([jet.gradient for jet in jets], step)


def five_point_slope(values: Any, step: float) -> Any:
    """The derivative, from the values at −2, −1, 1 and 2 steps."""
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)


def five_point_curvature(values: Any, here: Any, step: float) -> Any:
    """The second derivative, from the same values and the one here."""
    return (-values[0] + 16 * values[1] - 30 * here + 16 * values[2] - values[3]) / (12 * step**2)
