"""Figure 5: Hessian spectra at the solutions of figure 4, at two sharpnesses of the activations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from localentropy.figures.algorithms import COMMITTEE, legend_entries, means_in_words, nothing_drawn, of_committees
from localentropy.figures.drawing import GREY, Drawing, in_style, letter, panels

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

RULES = {"all": "all algorithms", "without_lal": "all algorithms but LAL"}
"""Rules of β, in the words of the caption."""
BINS = 30
"""Edges of the bins in a histogram's logarithmic part, on each side of zero; a third as many are in the linear part."""
WHOLE = 0.74
"""Where a fraction of 1 stands on the axis, as a part of it. The means of the largest eigenvalues are above."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """A panel for each β: histograms of all eigenvalues, and the mean largest one."""
    table = of_committees(tables["shaping/tree_spectra"])
    figure, axes = panels(1, 5.0, 6.0, rows=2)
    for axis, rule in zip(axes, RULES, strict=True):
        _spectra(axis, table[table["rule"] == rule])
    figure.legend(handles=_legend(axes), loc="outside lower center", ncols=3)
    letter(axes)
    return Drawing(figure, CAPTION, _settings(table, scale) | nothing_drawn(figure.data, "ab"))


def _spectra(axis: Panel, table: pd.DataFrame) -> None:
    eigenvalues = table[table["quantity"] == "eigenvalue"]
    axis.set(xlabel=r"eigenvalue $\lambda$ of the Hessian", ylabel="fraction of eigenvalues in a bin")
    if eigenvalues.empty:
        return
    tops = table[table["quantity"] == "largest_eigenvalue"].groupby("algorithm")["value"].agg(["mean", "sem", "size"])
    linear, edges = _edges(eigenvalues["value"])
    least = np.inf
    for name, look in COMMITTEE.items():
        values = eigenvalues.loc[eigenvalues["algorithm"] == name, "value"]
        if values.empty:
            continue
        share = np.histogram(values, edges)[0] / len(values)
        bins = {"x": 0.5 * (edges[1:] + edges[:-1]), "left": edges[:-1], "right": edges[1:], "y": share, "y_err": 0.0}
        style = {"color": look["color"], "linewidth": 1.2, "label": look["label"]}
        axis.steps(pd.DataFrame(bins), edges, name, style)
        least = min(least, 0.5 * share[share > 0].min())
    # The means of the largest eigenvalues have no fraction: they stand above the line at 1, one below the other.
    heights = np.linspace(0.97, WHOLE + 0.04, len(COMMITTEE))
    for (name, look), height in zip(COMMITTEE.items(), heights, strict=True):
        if name in tops.index:
            top, style = tops.loc[name], {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
            row = pd.DataFrame({"x": [top["mean"]], "x_err": top["sem"], "n": top["size"]})
            rows = axis.declare(f"{name}, largest", row)
            axis.points(row.assign(y=height), rows, style | {"transform": axis.get_xaxis_transform()})
    axis.set_xscale("symlog", linthresh=linear)
    axis.set_yscale("log")
    axis.set(ylim=(least, least ** (1.0 - 1.0 / WHOLE)), xlim=(edges[0], 2.0 * edges[-1]))
    axis.set_yticks([tick for tick in axis.get_yticks() if least <= tick <= 1.0])
    axis.set_yticks([tick for tick in axis.get_yticks(minor=True) if least <= tick <= 1.0], minor=True)
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.spines["left"].set_bounds(least, 1.0)
    axis.axhline(1.0, color=GREY, linewidth=0.6)
    axis.set_title(rf"$\beta$ = {table['beta'].iloc[0]:.3g}", loc="right")


def _legend(axes: Sequence[Panel]) -> list[Line2D]:
    """A line and a marker for each algorithm that is drawn, and what the markers are."""
    _, labels = legend_entries(axes)
    handles = [
        Line2D([], [], color=look["color"], marker=look["marker"], label=look["label"])
        for look in COMMITTEE.values()
        if look["label"] in labels
    ]
    if handles:
        handles.append(Line2D([], [], color=GREY, marker="o", linestyle="none", label=r"mean of $\lambda_{\max}$"))
    return handles


def _edges(values: pd.Series) -> tuple[float, np.ndarray]:
    """Where the axis of eigenvalues turns from linear to logarithmic, and bins of even width on each part."""
    linear = 10.0 ** np.floor(np.log10(values.abs().max()) - 2.0)
    outer = [np.geomspace(linear, max(1.01 * side.max(), 10.0 * linear), BINS) for side in (-values, values)]
    return linear, np.concatenate([-outer[0][::-1], np.linspace(-linear, linear, BINS // 3)[1:-1], outer[1]])


CAPTION = (
    "Figure 5. Eigenvalues of the Hessian of the mean square error at the solutions of figure 4, with smooth activations "
    "tanh(βx): histograms over the solutions of each algorithm. Markers above the line at 1 show the mean of the largest "
    "eigenvalue λ_max, at heights without meaning. (a) At the smallest β at which the solutions of all algorithms stay "
    "valid. (b) At a smaller one, at which this holds for all algorithms but LAL."
)


def _settings(table: pd.DataFrame, scale: str) -> dict[str, str]:
    tops = table[table["quantity"] == "largest_eigenvalue"]
    settings = {}
    for rule, panel in zip(RULES, "ab", strict=True):
        rows = tops[tops["rule"] == rule]
        if rows.empty:
            settings[f"({panel})"] = f"no eigenvalues at a β at which the solutions of {RULES[rule]} stay valid"
            continue
        settings[f"({panel})"] = (
            f"β = {rows['beta'].iloc[0]:.3g}, the smallest of a grid at which the solutions of {RULES[rule]} stay valid; mean "
            f"largest eigenvalue {means_in_words(rows.groupby('algorithm')['value'])}"
        )
    solutions = tops.drop_duplicates(["algorithm", "sample"]).groupby("algorithm").size()
    numbers = ", ".join(f"{COMMITTEE[str(name)]['label']} {size}" for name, size in solutions.items()) or "none"
    settings |= {
        "solutions": f"{numbers}; units of norm 1",
        "bins": "on the drawn axis they have one width on each side of zero, and are wider around zero",
        "error bars": "standard error of the mean",
        "chosen here": "the output function, tanh without β",
    }
    below = "below the paper's size, 10 samples"
    return settings | ({} if tops["sample"].nunique() >= 10 else {f"scale {scale}": below})
