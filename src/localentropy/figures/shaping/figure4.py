"""Figure 4: local entropy around the solutions of five algorithms, on a tree committee that stores random patterns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from localentropy.analysis.flatness import around_solutions, over_samples
from localentropy.analysis.statistics import paired_differences
from localentropy.figures.algorithms import COMMITTEE, nothing_drawn
from localentropy.figures.drawing import Drawing, in_style, letter
from localentropy.figures.layout import two_columns
from localentropy.figures.shaping.local_entropies import (
    LABELS,
    counts,
    distance_ticks,
    draw_entropies,
    entropy_points,
    not_converged,
)

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

LINEAR = 1e-3
"""Differences of which the axis of panel (c) is linear; it is logarithmic beyond."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) all distances, (b) the same on logarithmic axes, (c) neighbours in the order, on the same training sets."""
    table = tables["shaping/tree_local_entropy"]
    points = entropy_points(table)
    figure, axes = two_columns(3, 2.8)
    rows = figure.add(points, series=points["algorithm"], x=points["distance"])
    for name, look in COMMITTEE.items():
        own = points["algorithm"] == name
        axes[0].points(points[own], rows[own], look, "distance")
    axes[0].set(**LABELS)
    draw_entropies(axes[1], points, rows)
    _differences(axes[2], table)
    axes[0].legend(*axes[0].get_legend_handles_labels(), loc="upper right")
    letter(axes)
    return Drawing(figure, CAPTION, _settings(table, scale) | nothing_drawn(figure.data, "abc"))


def _differences(axis: Panel, table: pd.DataFrame) -> None:
    """Paired differences of neighbours in the paper's order, against the distance."""
    drawn = []
    around = around_solutions(table)
    for first, second in pairwise(COMMITTEE):
        gaps = paired_differences(around, "entropy", first, second, by=["distance"])
        own = over_samples(gaps.rename("gap").reset_index(), "gap")
        own = own[own["n"] >= 2]  # of one pair there is no error
        label = f"{COMMITTEE[first]['label']} − {COMMITTEE[second]['label']}"
        look = {"color": COMMITTEE[first]["color"], "marker": COMMITTEE[second]["marker"], "markersize": 5}
        axis.points(own, label, look | {"label": label, "linestyle": "--"}, "distance")
        drawn.append(own)
    data = pd.concat(drawn)
    axis.axhline(0.0, color="black", linewidth=0.6)
    axis.set_yscale("symlog", linthresh=LINEAR)
    if len(data):
        top = 2.0 * max(data["y"].abs().max(), LINEAR)
        axis.set(xscale="log", ylim=(-top, top))
        distance_ticks(axis, data["distance"])
    axis.set_xlabel("distance $D$")
    axis.set_ylabel(r"difference of $\mathcal{V}_1$, same training sets")
    axis.legend()


CAPTION = (
    "Figure 4. Local entropy around the solutions that five algorithms find for a tree committee on random "
    "patterns: (a) against the distance D from the solution, and (b) the same on logarithmic axes. A larger value means "
    "more solutions around, that is, a flatter minimum. (c) Differences between neighbours in the paper's order, on the "
    "same training sets, in the colour of the first algorithm and with the marker of the second."
)


def _settings(table: pd.DataFrame, scale: str) -> dict[str, str]:
    settings = {
        "local entropy": "the log of the fraction of solutions among all weights at distance D = (1 − S)/2, where S is the "
        "overlap with the solution in each unit",
        "model": f"tree committee of K = {table['units'].iloc[0]} units, N = {table['N'].iloc[0]} weights, "
        f"P = {table['P'].iloc[0]} random patterns",
        "points": "mean and standard error over the training sets that an algorithm solves; in (c) over two or more that both solve",
        "solved": counts(table),
        "axis of (c)": f"linear between −{LINEAR:g} and {LINEAR:g}",
        "convergence": not_converged(table, "Message passing"),
        "chosen here": "the axis D, the distances, and β₁ of ceSGD-slow, which the text does not give",
    }
    full = table["sample"].nunique() >= 10 and table["N"].iloc[0] == 999
    return settings | ({} if full else {f"scale {scale}": "below the paper's size (10 samples, N = 999)"})
