"""Points of the binary perceptron's solvers in figures, and the axes that they need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from localentropy.analysis.solver_runs import MOST_SOLVED


def series(points: pd.DataFrame, panel: str, name: str, x: str = "inv_alpha") -> pd.DataFrame:
    """Rows of a figure's CSV."""
    return points.assign(panel=panel, series=name, x=points[x])


def draw_points(axis: Any, points: pd.DataFrame, style: Mapping[str, Any], x: str = "inv_alpha") -> None:
    """Points with error bars, filled where most instances are solved and hollow elsewhere.

    The legend shows the label of the style, if it has one, beside a filled point.
    """
    filled = points["solved"] >= MOST_SOLVED
    look = {key: value for key, value in style.items() if key != "label"} | {"linestyle": "none"}
    for chosen, face in ((filled, style["color"]), (~filled, "white")):
        here = points[chosen]
        axis.errorbar(here[x], here["y"], np.nan_to_num(here["y_err"]), markerfacecolor=face, zorder=3, **look)
    if "label" in style:
        shown = {key: style[key] for key in ("color", "label", "markersize") if key in style}
        axis.plot([], [], style["marker"], **shown)


def apart(points: pd.DataFrame, index: int, of: int, step: float = 1.025) -> pd.DataFrame:
    """The points of one of several sets, moved along the axis of 1/α by a factor. So the sets do not hide each other."""
    return points.assign(inv_alpha=points["inv_alpha"] * step ** (index - (of - 1) / 2))


def without_errors(*drawn: pd.DataFrame) -> str:
    """A sentence for the caption, if a point is of a single instance."""
    if all((points["n"] > 1).all() for points in drawn):
        return ""
    return " A point without error bar: solutions of one instance only."


def small_rates(axis: Any, linear: float = 1e-3) -> None:
    """An axis of rates from zero over several decades: linear below a rate, logarithmic above."""
    axis.set_yscale("symlog", linthresh=linear)
    decades = [10.0**power for power in range(round(np.log10(linear)), 1)]
    axis.set_yticks([0.0, *decades], ["0", *(f"{decade:g}" for decade in decades)])
    axis.set_yticks([], minor=True)


def one_two_five(
    axis: Any, ticks: tuple[float, ...], ends: tuple[float, float], points: pd.DataFrame | None = None
) -> None:
    """A logarithmic axis of 1/α with plain numbers at the given ticks only. Points beyond its ends make it longer."""
    low, high = ends
    if points is not None and len(points):
        low, high = min(low, 0.9 * points["inv_alpha"].min()), max(high, 1.1 * points["inv_alpha"].max())
    axis.set(xscale="log", xlabel=r"$1/\alpha = N/P$")
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlim(low, high)
