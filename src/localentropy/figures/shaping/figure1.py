"""Figure 1: largest normalised local entropy of groups of solutions against their overlap, three units; points around fBP's solutions."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.analysis.flatness import around_solutions, over_samples
from localentropy.analysis.printed import CAPACITY, CLUSTERING
from localentropy.figures.drawing import COLUMN_WIDTH, Drawing, colors_of, in_style, letter, panels
from localentropy.figures.series import DOT
from localentropy.figures.shaping.wide_minima import WHAT, draw_curves, draw_next_to_one, theory_in_words, thresholds


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) V₁ against q₁, a line for each α; local entropies around solutions of focusing BP. (b) The same next to q₁ = 1."""
    table, around = tables["shaping/wide_minima"], tables["shaping/units3_local_entropy"]
    figure, axes = panels(2, 2 * COLUMN_WIDTH + 1.0, 3.0)
    marks = {CLUSTERING[3.0]: "paper's clustering", CAPACITY: "paper's capacity"}
    points = _points(around)
    colors = colors_of(table["alpha"].unique(), of="load")
    draw_curves(axes[0], table, marks, colors)
    draw_next_to_one(axes[1], table, marks, colors)
    label: str | None = "around fBP"
    for (near, alpha), own in points.groupby(["load", "alpha"]):
        look, series = DOT | {"color": colors.get(near, "black"), "label": label}, f"fBP, α = {near:g}"
        numbers = own[["x", "y", "y_err", "n"]].assign(alpha=alpha)
        axes[0].points(numbers, series, look)
        axes[1].points(numbers.assign(x=1.0 - own["x"], y=-own["y"]), series, look)
        label = None
    axes[0].set(xlim=(table["overlap"].min(), 1.0), ylim=(None, 0.03))
    axes[1].legend(title=r"$\alpha$", loc="center left", bbox_to_anchor=(1.0, 0.5))
    letter(axes)
    caption = (
        f"Figure 1. (a) Tree committee: the {WHAT}. Each line has a number α of patterns per weight. Dashed lines have the "
        f"loads {CLUSTERING[3.0]} and {CAPACITY} that the paper gives for the clustering of typical solutions and for the "
        f"capacity. {_of_points(points)} (b) The same next to q₁ = 1, on logarithmic axes. Lines end where −V₁ is below "
        "10⁻⁵, the accuracy of the theory."
    )
    settings = {
        "theory": theory_in_words(table),
        **_of_theory(thresholds(tables["shaping/typical_volume"], 3.0)),
        **_of_runs(points, around),
        "chosen here": "the values of α other than the two loads of the paper",
    }
    return Drawing(figure, caption, settings)


def _points(table: pd.DataFrame) -> pd.DataFrame:
    """Means over training sets, against q₁ = S² with S = 1 − 2D; `load` is α as the configuration has it."""
    points = over_samples(around_solutions(table), "entropy", by=("alpha",))
    # The number of patterns is an integer.
    return points.assign(x=(1.0 - 2.0 * points["distance"]) ** 2, load=points["alpha"].round(2))


def _of_theory(at: pd.Series) -> dict[str, str]:
    """The setting on our thresholds; nothing if they were not computed."""
    if not {"clustering", "capacity"} <= set(at.index):
        return {}
    return {
        "loads in our theory": f"the replicon is 1 at {at['clustering']:.4f}, and the replica-symmetric solution ends at "
        f"{at['capacity']:.4f}, which is not the capacity"
    }


def _of_points(points: pd.DataFrame) -> str:
    """The caption's words on the points."""
    if points.empty:
        return "There are no points: no local entropy around a solution of focusing BP was found."
    return "Points are local entropies around solutions of focusing BP."


def _of_runs(points: pd.DataFrame, around: pd.DataFrame) -> dict[str, str]:
    """The setting on the points."""
    if points.empty:
        return {}
    loads = ", ".join(f"{load:g}" for load in points["load"].unique())
    return {
        "points": f"by belief propagation at S = √q₁, N = {around['N'].iloc[0]}, α = {loads}; mean and standard error over "
        f"those solved and converged of {around['sample'].nunique()} training sets at each α"
    }
