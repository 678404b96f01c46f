"""Mean local entropies around the solutions of several algorithms, in several figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from localentropy.analysis.flatness import around_solutions, over_samples
from localentropy.figures.algorithms import COMMITTEE, of_committees, of_each

if TYPE_CHECKING:
    from localentropy.figures.series import Panel, Rows

TICKS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Numbers on an axis of distances."""
LABELS = {"xlabel": "distance $D = (1 - S)/2$", "ylabel": r"local entropy $\mathcal{V}_1$ (nats per weight)"}
"""Of the axes."""
MOST = 0.5
"""A point is drawn where the local entropies of at least this part of the solutions converged."""


def entropy_points(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the solutions whose local entropy converged, where at least half of them did.

    Args:
        table: of the program `committee_local_entropy`.

    Returns:
        Columns algorithm, distance, y, y_err, spread, n (converged), solutions.
    """
    own = of_committees(table)
    points = over_samples(around_solutions(own), "entropy", by=("algorithm",))
    solutions = own[own["solved"] == 1].groupby("algorithm")["sample"].nunique()
    points["solutions"] = solutions.reindex(points["algorithm"]).to_numpy()
    return points[points["n"] >= MOST * points["solutions"]]


def draw_entropies(axis: Panel, points: pd.DataFrame, rows: Rows, **style: Any) -> None:
    """The local entropy against the distance, a line for each algorithm; both axes are logarithmic."""
    for look, own, at in of_each(points, rows):
        axis.points(own, at, {**look, **style}, "distance")
    axis.set(**LABELS)
    if points.empty:
        return
    least, most = points["y"].abs().min(), points["y"].abs().max()
    axis.set_yscale("symlog", linthresh=10.0 ** np.floor(np.log10(least)), linscale=0.2)
    axis.set(xscale="log", ylim=(-2.0 * most, -0.5 * least))
    distance_ticks(axis, points["distance"])


def distance_ticks(axis: Panel, distances: pd.Series) -> None:
    """Plain numbers on a logarithmic axis of distances."""
    shown = [tick for tick in TICKS if distances.min() <= tick <= distances.max()]
    axis.set_xticks(shown, [f"{tick:g}" for tick in shown])
    axis.xaxis.set_minor_formatter(NullFormatter())


def not_converged(table: pd.DataFrame, method: str) -> str:
    """The caption's sentence on local entropies that did not converge."""
    solved = of_committees(table[table["solved"] == 1])
    if solved.empty:
        return "No algorithm has a solution."
    words = []
    for name, look in COMMITTEE.items():
        own = solved[solved["algorithm"] == name]
        lost = own.groupby("distance")["converged"].agg(lambda values: int((values != 1).sum()))
        lost = lost[lost > 0]
        if len(lost):
            counts = ", ".join(f"{count} at D = {distance:g}" for distance, count in lost.items())
            words.append(f"{look['label']}, of {own['sample'].nunique()}: {counts}")
    if not words:
        return f"{method} converged everywhere."
    return f"{method} did not converge ({'; '.join(words)}); points with fewer than half of the solutions are left out."


def counts(table: pd.DataFrame) -> str:
    """How many runs of each algorithm are solved."""
    runs = table.drop_duplicates(["algorithm", "sample"]).groupby("algorithm")["solved"].agg(["sum", "size"])
    names = [name for name in COMMITTEE if name in runs.index]
    told = (f"{COMMITTEE[name]['label']} {runs.loc[name, 'sum']:.0f} of {runs.loc[name, 'size']:.0f}" for name in names)
    return ", ".join(told) or "none"
