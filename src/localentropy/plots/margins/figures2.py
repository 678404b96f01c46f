"""Figure s2, beyond the paper: the phases of typical solutions in the plane of load and margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from localentropy.plots.drawing import COLORS, GREY, Drawing, curve_rows, in_style, letter, panels
from localentropy.plots.margins.largest_margin import model_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = {
    "kappa_max": {"color": "black", "linestyle": "-", "label": r"$\kappa_{\max}$"},
    "kappa_u": {"color": COLORS[0], "linestyle": "-", "label": r"$\kappa_u$"},
    "kappa_min": {"color": COLORS[1], "linestyle": "--", "label": r"$\kappa_{\min}$"},
}
TOP = 2.5
"""Upper end of the axis of margins, in units of the largest margin at α'_LE."""
ENDS = {"kappa_max": "α_c", "kappa_u": "α'_LE", "kappa_min": "α_min"}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """A panel for each model with lines; the ends of the lines of all models are in the numbers and the caption."""
    table = tables["margins/dense_regions"]
    p = table.attrs["parameters"]
    figure, axes = panels(len(p["lines"]), 2.4 * len(p["lines"]) + 0.2, 2.8)
    frames = []
    for axis, letter_of, name in zip(axes, "abcdefgh", p["lines"], strict=False):
        rows = table[table["ensemble"] == name]
        lines = {line: rows[rows["line"] == line].sort_values("alpha") for line in LINES}
        _regions(axis, lines, p["smallest_alpha"])
        for line, style in LINES.items():
            x, y = lines[line]["alpha"], lines[line]["margin"]
            axis.plot(x, y, **style)
            frames.append(curve_rows(letter_of, f"{name}, {line}", x, y, ensemble=name))
        for line in ("kappa_u", "kappa_min"):
            end = lines[line].iloc[-1]
            axis.plot(end["alpha"], end["margin"], "o", color=LINES[line]["color"], zorder=3)
        top = TOP * lines["kappa_u"]["margin"].iloc[-1]
        axis.set(xlabel=r"patterns per weight $\alpha$", xlim=(p["smallest_alpha"], None), ylim=(0.0, top))
        axis.set_title(model_in_words(p["ensembles"][name]).partition(",")[0], fontsize=7)
    axes[0].set(ylabel=r"margin of the reference $\tilde\kappa$")
    axes[-1].legend(loc="center right")
    axes[0].text(0.1, 0.5, "dense regions", transform=axes[0].transAxes, fontsize=7)
    letter(axes)
    thresholds = _thresholds(table[table["end"]])
    for name, values in thresholds.items():
        frames.append(curve_rows("thresholds", str(name), np.nan, values, ensemble=values.index))
    caption = (
        "Figure s2, not in the paper. Phases of typical solutions of margin κ̃ at α patterns per weight, replica-symmetric "
        "theory, local entropy of solutions of margin κ = 0. White: no solutions. Blue: dense regions, where the local "
        "entropy grows up to the typical distance. Orange: the local entropy is positive, with a minimum at a small distance. Grey: "
        f"it is negative in a shell of distances. {_in_words(thresholds)} The range of α is chosen here."
    )
    return Drawing(figure, pd.concat(frames), caption)


def _regions(axis: Axes, lines: Mapping[str, pd.DataFrame], left: float) -> None:
    """The three phases, between the lines. Each line goes on as that of κ_max where it has ended."""
    alphas = np.unique(np.concatenate([lines[line]["alpha"] for line in LINES]))
    alphas = np.union1d(alphas, np.linspace(left, alphas[-1], 200))
    top = np.interp(alphas, lines["kappa_max"]["alpha"], lines["kappa_max"]["margin"])
    edges = [top]
    for line in ("kappa_u", "kappa_min"):
        edge = np.interp(alphas, lines[line]["alpha"], lines[line]["margin"])
        edges.append(np.where(alphas <= lines[line]["alpha"].iloc[-1], np.minimum(edge, top), top))
    edges.append(np.full(len(alphas), 1e-9))
    for upper, lower, color in zip(edges[:-1], edges[1:], (COLORS[0], COLORS[1], GREY), strict=True):
        axis.fill_between(alphas, lower, upper, color=color, alpha=0.2, linewidth=0.0)


def _thresholds(ends: pd.DataFrame) -> pd.DataFrame:
    """A row for each model: where its lines end, and the margin and the distance of the tangent at α'_LE."""
    at = ends.pivot(index="ensemble", columns="line", values="alpha")[[*ENDS]].rename(columns=ENDS)
    tangents = ends[ends["line"] == "kappa_u"].set_index("ensemble")
    return at.assign(**{"κ_max(α'_LE)": tangents["margin"], "d": tangents["distance"]}).loc[tangents.index]


def _in_words(thresholds: pd.DataFrame) -> str:
    """The thresholds of every model."""
    words = []
    for name, row in thresholds.iterrows():
        numbers = ", ".join(f"{symbol} = {value:.7f}" for symbol, value in row.drop("d").items())
        words.append(f"{name}: {numbers}, tangent at d = {row['d']:.4f}")
    return f"Ends of the lines, {'; '.join(words)}."
