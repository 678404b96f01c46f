"""Figure 1: largest normalised local entropy of groups of solutions against their overlap, three units; points around fBP's solutions."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.analysis.local_entropy import CAPACITY, CLUSTERING, around_solutions, over_samples
from localentropy.plots.drawing import COLUMN_WIDTH, Drawing, colors_of, in_style, panels
from localentropy.plots.series import DOT
from localentropy.plots.shaping.wide_minima import draw_curves, in_words, thresholds


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """V₁ against q₁, a line for each α; local entropies around solutions of focusing BP."""
    table, around = tables["shaping/wide_minima"], tables["shaping/units3_local_entropy"]
    figure, (axis,) = panels(1, COLUMN_WIDTH + 1.0, 3.0)
    marks = {CLUSTERING[3.0]: "clustering", CAPACITY: "capacity"}
    points = _points(around)
    colors = colors_of(table["alpha"].unique(), of="load")
    draw_curves(axis, table, marks)
    label: str | None = "around fBP"
    for (near, alpha), own in points.groupby(["load", "alpha"]):
        look = DOT | {"color": colors.get(near, "black"), "label": label}
        axis.points(own[["x", "y", "y_err", "n"]].assign(alpha=alpha), f"fBP, α = {near:g}", look)
        label = None
    axis.set(xlim=(table["overlap"].min(), 1.0), ylim=(None, 0.03))
    axis.legend(title=r"$\alpha$", loc="center left", bbox_to_anchor=(1.0, 0.5))
    ours = _of_theory(thresholds(tables["shaping/typical_volume"], 3.0))
    caption = (
        f"Figure 1. {in_words(table)} Dashed: the loads {CLUSTERING[3.0]} and {CAPACITY} that the paper gives for the "
        f"clustering of typical solutions and for the capacity. {ours}The "
        f"other values of α are chosen here. {_of_points(points, around)}"
    )
    return Drawing(figure, caption)


def _points(table: pd.DataFrame) -> pd.DataFrame:
    """Means over training sets, against q₁ = S² with S = 1 − 2D; `load` is α as the configuration has it."""
    points = over_samples(around_solutions(table), "entropy", by=("alpha",))
    # The number of patterns is an integer.
    return points.assign(x=(1.0 - 2.0 * points["distance"]) ** 2, load=points["alpha"].round(2))


def _of_theory(at: pd.Series) -> str:
    """The caption's words on our thresholds, with a space; nothing if they were not computed."""
    if not {"clustering", "capacity"} <= set(at.index):
        return ""
    return (
        f"Here the replicon is 1 at {at['clustering']:.4f}. The replica-symmetric solution ends at "
        f"{at['capacity']:.4f}, which is not the capacity. "
    )


def _of_points(points: pd.DataFrame, around: pd.DataFrame) -> str:
    """The caption's words on the points."""
    if points.empty:
        return "There are no points: no local entropy around a solution of focusing BP was found."
    return (
        "Points: local entropy, by belief propagation, around solutions of focusing BP "
        f"at S = √q₁, N = {around['N'].iloc[0]}, α = {', '.join(f'{load:g}' for load in points['load'].unique())}; mean "
        f"and standard error over those solved and converged of {around['sample'].nunique()} training sets at each α."
    )
