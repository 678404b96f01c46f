"""Simulation points of the binary perceptron's solvers: one look for each solver, one way to average."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from localentropy.plots.drawing import COLORS

SOLVERS: dict[str, dict[str, Any]] = {
    "anneal": {"label": "SA", "color": COLORS[3], "marker": "o"},
    "mct0": {"label": "MCT0", "color": COLORS[1], "marker": "v"},
    "sbpi": {"label": "SBPI", "color": COLORS[2], "marker": "s"},
    "focusing_bp": {"label": "fBP", "color": COLORS[0], "marker": "D"},
    "belief_propagation": {"label": "BP", "color": COLORS[7], "marker": "P"},
    "binarynet": {"label": "BinaryNet", "color": COLORS[4], "marker": "^"},
}
POINT = ["D", "N", "inv_alpha", "margin", "margin_effective"]
MOST_SOLVED = 0.9
"""Points at which a smaller fraction of the instances is solved are drawn hollow and enter no z-score."""


def averages(table: pd.DataFrame, quantity: str, solved_only: bool = True, by: tuple[str, ...] = ()) -> pd.DataFrame:
    """Mean over samples with its standard error, for each size and margin (and value of the columns `by`).

    Returns:
        Columns D, N, inv_alpha, margin, margin_effective, *by, y, y_err, n (samples averaged), solved (fraction).
    """
    keys = [*POINT, "sample"]
    solved = table[table["quantity"] == "solved"].set_index(keys)["value"].rename("is_solved")
    rows = table[table["quantity"] == quantity].join(solved, on=keys)
    if solved_only:
        rows = rows[rows["is_solved"] == 1]
    means = rows.groupby([*POINT, *by])["value"].agg(y="mean", y_err="sem", n="size").reset_index()
    fractions = solved.groupby(level=POINT).mean().rename("solved")
    return means.join(fractions, on=POINT)


def largest_solved(points: pd.DataFrame) -> pd.DataFrame:
    """At each 1/α the largest size at which most instances are solved; where there is none, the largest of all."""
    ranked = points.assign(near=points["inv_alpha"].round(2), most=points["solved"] >= MOST_SOLVED)
    ranked = ranked.sort_values(["near", "most", "D"]).groupby("near").tail(1)
    return ranked.drop(columns=["near", "most"])


def with_theory(points: pd.DataFrame, theory: pd.DataFrame, column: str) -> pd.DataFrame:
    """Add the theory's value at each point and the z-score (y − theory)/y_err where most instances are solved."""
    keys = ["D", "N", "margin"]
    # Solvers that share a size share its theory: one row for each.
    values = theory[[*keys, column]].rename(columns={column: "theory"}).drop_duplicates(keys)
    joined = points.merge(values, on=keys, how="left")
    z = (joined["y"] - joined["theory"]) / joined["y_err"]
    return joined.assign(z=z.where((joined["solved"] >= MOST_SOLVED) & (joined["n"] > 1)))


def series(points: pd.DataFrame, panel: str, name: str, x: str = "inv_alpha") -> pd.DataFrame:
    """Rows of a figure's CSV."""
    return points.assign(panel=panel, series=name, x=points[x])


def draw_points(axis: Any, points: pd.DataFrame, style: Mapping[str, Any], x: str = "inv_alpha") -> None:
    """Points with error bars, filled where most instances are solved and hollow elsewhere."""
    filled = points["solved"] >= MOST_SOLVED
    look = {key: value for key, value in style.items() if key != "label"} | {"linestyle": "none"}
    for chosen, face in ((filled, style["color"]), (~filled, "white")):
        here = points[chosen]
        axis.errorbar(here[x], here["y"], np.nan_to_num(here["y_err"]), markerfacecolor=face, zorder=3, **look)


def one_two_five(axis: Any, ticks: tuple[float, ...], ends: tuple[float, float]) -> None:
    """A logarithmic axis of 1/α with plain numbers at the given ticks only."""
    axis.set(xscale="log", xlabel=r"$1/\alpha = N/P$")
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlim(*ends)
