"""Figure binary: the first-order transition of the perceptron with weights ±1, and its student at a temperature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from localentropy.analysis.printed import BINARY, METASTABLE
from localentropy.figures.drawing import COLORS, Drawing, in_style, letter
from localentropy.figures.glm.points import (
    amp_settings,
    branches,
    draw_branches,
    draw_recovery,
    draw_runs,
    write,
)
from localentropy.figures.layout import two_columns
from localentropy.figures.series import DOT

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

LINES = {
    "equilibrium": {"color": COLORS[0], "label": "equilibrium"},
    "metastable_end": {"color": COLORS[1], "label": "end of other state"},
    "zero_entropy": {"color": COLORS[2], "label": "zero entropy", "linestyle": "--"},
}
SHOWN = {"xlim": (1.15, 2.05), "ylim": (0.0, 0.6)}
"""The part of the plane of load and temperature around the end of the glass."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Overlap and (b) error against α; (c) fraction of the runs of AMP that recover the teacher; (d) at a temperature."""
    runs, glass = tables["glm/amp_binary"], tables["glm/glass"].sort_values("temperature")
    transitions = tables["glm/transitions"].set_index("model").loc["binary_perceptron"]
    best, other = branches(tables["glm/bayes_binary"], transitions["information_theoretic"])
    figure, axes = two_columns(4, 2.7)
    draw_branches(axes[0], best, other, "overlap")
    draw_runs(axes[0], runs)
    draw_branches(axes[1], best, other, "bayes_error")
    draw_recovery(axes[2], runs)
    _glass(axes[3], glass)
    for axis, side, at in ((axes[0], "right", 0.5), (axes[1], "right", 0.99), (axes[2], "left", 0.99)):
        for key, name in (("information_theoretic", r"\mathrm{IT}"), ("algorithmic", r"\mathrm{AMP}")):
            axis.threshold(transitions[key], rf"$\alpha_{{{name}}} = {transitions[key]:.4f}$", side=side, at=at)
        axis.set(xlabel=r"$\alpha = n/d$", xlim=(0.0, best["alpha"].max()))
    axes[0].set(ylabel="overlap $m$ with the teacher", ylim=(0.0, 1.05))
    axes[1].set(ylabel="generalization error", ylim=(-0.01, 0.52))
    axes[2].set(ylabel="fraction recovered", xlim=(0.97, None), ylim=(-0.05, 1.05))
    axes[2].legend(loc="lower right")
    letter(axes)
    jump = best.loc[best["alpha"] <= transitions["information_theoretic"], "bayes_error"].iloc[-1]
    first = glass.iloc[0]
    caption = (
        "Figure binary. A teacher with weights ±1 labels Gaussian inputs by signs. (a) Overlap of the posterior mean with the "
        "teacher: in the state of larger free entropy (solid) and in the other one (dashed). From "
        f"α_IT = {transitions['information_theoretic']:.5f} on the solid line is the teacher. Points: AMP, which stays at a "
        f"small overlap up to α_AMP = {transitions['algorithmic']:.5f}. (b) Error of the best guess. (c) "
        "Fraction of the runs of AMP that recover the teacher. (d) A student at temperature T. Right of the equilibrium line "
        "the teacher is stable. Below the line of zero entropy the other state is a glass, which ends at the vertical line "
        f"α = {first['glass_end']:.3f}; dot: end of the line of zero entropy."
    )
    settings = {
        "samples": "n = αd",
        **amp_settings(runs, transitions["algorithmic"]),
        "error": f"arccos(√m)/π, at overlap m; the smallest possible one falls from {jump:.3f} to 0 at α_IT",
        "slides": f"α_IT = {BINARY}; end of the glass {METASTABLE}",
        "student in (d)": "drawn with a probability proportional to exp(−training errors / T); replica-symmetric theory",
        "glass": "keeps the state that it has on the line of zero entropy (one step of replica symmetry breaking); it ends at "
        f"the largest α of this line, α = {first['glass_end']:.4f} at T = {first['glass_end_temperature']:.4f}",
        "chosen here": "loads of the points, d and the number of instances",
    }
    return Drawing(figure, caption, settings)


def _glass(axis: Panel, glass: pd.DataFrame) -> None:
    """The lines of the plane of load and temperature, and the end of the glass."""
    for column, look in LINES.items():
        line = glass.dropna(subset=column)
        axis.line(line[column], line["temperature"], column, look)
    x, y = glass.iloc[0][["glass_end", "glass_end_temperature"]]
    axis.line(x, y, "glass_end", DOT | {"color": "black", "markersize": 4, "zorder": 4})
    axis.annotate(f"{x:.3f}", (x, y), (-5, 4), textcoords="offset points", ha="right", va="center", fontsize=7)
    axis.threshold(float(METASTABLE), f"slide: {METASTABLE}", "slide", at=0.4)
    write(axis, 1.42, 0.1, "glass", ha="center")
    write(axis, 1.68, 0.45, "other state\nmetastable", ha="center")
    write(axis, 1.27, 0.45, "other state\nstable", ha="center")
    write(axis, 1.88, 0.2, "teacher only", ha="center")
    axis.set(xlabel=r"$\alpha = n/d$", ylabel="temperature $T$", **SHOWN)
    axis.legend(loc="lower right", handlelength=1.3)
