"""Points of the binary perceptron's solvers in figures, and the axes that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from localentropy.analysis.runs import MOST_SOLVED

if TYPE_CHECKING:
    from localentropy.figures.series import Look, Panel, Series


FIRST: dict[str, Any] = {"marker": "x", "markersize": 3, "linestyle": "none"}
"""Look of first solutions beside those of a run that goes on. It is that of no solver's points."""


def sweeps_of(parameters: Mapping[str, Any]) -> str:
    """A sentence for the caption: which solutions of zero-temperature Monte Carlo are drawn."""
    most, after = parameters["sweeps"], parameters["sweeps_after"]
    found = f"of at most {most} sweeps"
    if not after:
        return f"Points: the first solutions {found}."
    return f"Crosses: the first solutions {found}; other points: the solutions {after} sweeps later."


def sizes_in_words(points: pd.DataFrame, told: Callable[[float], str]) -> list[str]:
    """Each latent dimension of the points with its 1/α, which are written as told."""
    at = points.groupby("D")["inv_alpha"].unique()
    return [f"D = {D} at 1/α = {', '.join(map(told, sorted(values)))}" for D, values in at.items()]


def draw_points(
    panel: Panel, points: pd.DataFrame, series: Series, style: Look, x: str = "inv_alpha", at: pd.Series | None = None
) -> None:
    """Points with error bars, filled where most instances are solved and hollow elsewhere.

    The legend shows the label of the style, if it has one, beside a filled point. The other arguments are those of
    `Panel.points`.
    """
    rows = panel.declare(series, points.assign(x=points[x]))
    places = points[x] if at is None else at
    filled = points["solved"] >= MOST_SOLVED
    look = {key: value for key, value in style.items() if key != "label"} | {"linestyle": "none"}
    for chosen, face in ((filled, style["color"]), (~filled, "white")):
        drawn = look | {"markerfacecolor": face, "zorder": 3}
        panel.points(points[chosen], rows[chosen], drawn, x, at=places[chosen])
    if "label" in style:
        shown = {key: style[key] for key in ("color", "label", "markersize") if key in style}
        panel.plot([], [], style["marker"], **shown)


def apart(places: pd.Series, index: int, of: int, step: float = 1.025) -> pd.Series:
    """Places of one of several sets, moved along a logarithmic axis by a factor. So the sets do not hide each other."""
    return places * step ** (index - (of - 1) / 2)


def without_errors(*drawn: pd.DataFrame) -> str:
    """What the settings say if a point is of a single instance."""
    if all((points["n"] > 1).all() for points in drawn):
        return ""
    return "; a point without one has solutions of a single instance"


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
