"""Figure binary: the first-order transition of the perceptron with weights ±1, and its student at a temperature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from localentropy.analysis.printed_loads import BINARY, METASTABLE
from localentropy.plots.drawing import COLORS, Drawing, curve_rows, in_style, letter, threshold_line
from localentropy.plots.glm.points import (
    amp_caption,
    branches,
    draw_branches,
    draw_recovery,
    draw_runs,
    write,
)
from localentropy.plots.layout import two_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = {
    "equilibrium": {"color": COLORS[0], "label": "equilibrium"},
    "spinodal": {"color": COLORS[1], "label": "spinodal"},
    "zero_entropy": {"color": COLORS[2], "label": "zero entropy", "linestyle": "--"},
}
SHOWN = {"xlim": (1.15, 2.05), "ylim": (0.0, 0.6)}
"""The part of the plane of load and temperature around the ends of the glass."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Overlap against α; (b) fraction of the runs of AMP that recover the teacher; (c) learning at a temperature."""
    runs, glass = tables["glm/amp_binary"], tables["glm/glass"].sort_values("temperature")
    transitions = tables["glm/transitions"].set_index("model").loc["binary_perceptron"]
    best, other = branches(tables["glm/bayes_binary"], transitions["information_theoretic"])
    figure, axes = two_columns(3, 2.7)
    data = pd.concat(
        [
            draw_branches(axes[0], "a", best, other, "overlap"),
            draw_runs(axes[0], "a", runs),
            draw_recovery(axes[1], "b", runs),
            _glass(axes[2], glass),
        ]
    )
    for axis, side, at in ((axes[0], "right", 0.5), (axes[1], "left", 0.99)):
        for key, name in (("information_theoretic", r"\mathrm{IT}"), ("algorithmic", r"\mathrm{AMP}")):
            threshold_line(axis, transitions[key], rf"$\alpha_{{{name}}} = {transitions[key]:.4f}$", side=side, at=at)
        axis.set(xlabel=r"$\alpha = n/d$", xlim=(0.0, best["alpha"].max()))
    axes[0].set(ylabel="overlap $m$ with the teacher", ylim=(0.0, 1.05))
    axes[1].set_xlim(left=0.97)
    letter(axes)
    first = glass.iloc[0]
    caption = (
        "Figure binary. A teacher with weights ±1 labels n = αd Gaussian inputs by signs. (a) Overlap of the posterior mean with the teacher. Solid: "
        "equilibrium, the state of larger free entropy; dashed: the other state. The teacher itself has the larger free entropy from "
        f"α_IT = {transitions['information_theoretic']:.5f} on (slide: {BINARY}); the state of small overlap, where AMP stays, "
        f"ends at α_AMP = {transitions['algorithmic']:.5f}. {amp_caption(runs, transitions['algorithmic'])} "
        "(b) Fraction of the runs of AMP that recover the teacher. (c) A student that is drawn with a probability proportional to exp(−training errors / T), replica-symmetric theory. "
        "Left of the equilibrium line the stable state is not the teacher. Right of it the teacher is the stable state. Up to the spinodal there is also a "
        f"metastable state, which is a glass below the line of zero entropy. Two definitions of the end of this glass: where the two lines touch, α = {first['on_spinodal']:.4f} at "
        f"T = {first['on_spinodal_temperature']:.4f}, and the largest α of zero entropy, {first['on_line']:.4f} at T = {first['on_line_temperature']:.4f}. From the first on the line belongs to an unstable state, and is drawn dotted. "
        f"The slide prints {METASTABLE}, which is neither. Loads of the points, d and the number of instances are chosen here."
    )
    return Drawing(figure, data, caption)


def _glass(axis: Axes, glass: pd.DataFrame) -> pd.DataFrame:
    """The lines of the plane of load and temperature, and the two ends of the glass."""
    first = glass.iloc[0]
    frames = []
    for column, style in LINES.items():
        line = glass.dropna(subset=column)
        beyond = (line["temperature"] >= first["on_spinodal_temperature"]) & (column == "zero_entropy")
        axis.plot(line[column].mask(beyond), line["temperature"], **style)
        axis.plot(line[column].where(beyond), line["temperature"], **style | {"linestyle": ":", "label": None})
        frames.append(curve_rows("c", column, line[column], line["temperature"]))
    for name, marker in (("on_spinodal", "o"), ("on_line", "s")):
        x, y = first[name], first[f"{name}_temperature"]
        axis.plot(x, y, marker, color="black", markersize=4, zorder=4)
        frames.append(curve_rows("c", name, [x], [y]))
    threshold_line(axis, float(METASTABLE), f"slide: {METASTABLE}", side="right", at=0.4)
    for name, place, align in (("on_spinodal", (5, -3), "left"), ("on_line", (-5, 2), "right")):
        at = (first[name], first[f"{name}_temperature"])
        axis.annotate(f"{at[0]:.3f}", at, place, textcoords="offset points", ha=align, va="center", fontsize=7)
    write(axis, 1.42, 0.1, "glass", ha="center")
    write(axis, 1.68, 0.45, "other state\nmetastable", ha="center")
    write(axis, 1.27, 0.45, "other state\nstable", ha="center")
    write(axis, 1.88, 0.2, "teacher only", ha="center")
    axis.set(xlabel=r"$\alpha = n/d$", ylabel="temperature $T$", **SHOWN)
    axis.legend(loc="lower right")
    return pd.concat([*frames, pd.DataFrame([{"panel": "c", "series": "slide", "x": float(METASTABLE)}])])
