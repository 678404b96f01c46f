"""Figure 5: Hessian spectra at the solutions of figure 4, at two sharpnesses of the activations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from localentropy.plots.algorithms import COMMITTEE, legend_entries, means_in_words, nothing_drawn, of_committees
from localentropy.plots.drawing import Drawing, curve_rows, in_style, letter, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RULES = {"all": "all algorithms", "without_lal": "all algorithms but LAL"}
"""Rules of β, in the words of the caption."""
BINS = 30
"""Edges of the bins in a histogram's logarithmic part, on each side of zero; a third as many are in the linear part."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """A panel for each β: histograms of all eigenvalues, and the mean largest one."""
    table = of_committees(tables["shaping/tree_spectra"])
    figure, axes = panels(1, 5.0, 6.0, rows=2)
    frames = [
        _spectra(axis, table[table["rule"] == rule], panel) for axis, rule, panel in zip(axes, RULES, "ab", strict=True)
    ]
    figure.legend(*legend_entries(axes), loc="outside lower center", ncols=len(COMMITTEE))
    letter(axes)
    data = pd.concat(frames)
    return Drawing(figure, data, _caption(table, scale) + nothing_drawn(data, "ab"))


def _spectra(axis: Axes, table: pd.DataFrame, panel: str) -> pd.DataFrame:
    eigenvalues = table[table["quantity"] == "eigenvalue"]
    axis.set(xlabel=r"eigenvalue $\lambda$ of the Hessian", ylabel="fraction of eigenvalues in a bin")
    if eigenvalues.empty:
        return curve_rows(panel, "", [], [])
    tops = table[table["quantity"] == "largest_eigenvalue"].groupby("algorithm")["value"].agg(["mean", "sem", "size"])
    linear, edges = _edges(eigenvalues["value"])
    frames = []
    for name, look in COMMITTEE.items():
        values = eigenvalues.loc[eigenvalues["algorithm"] == name, "value"]
        if values.empty:
            continue
        share = np.histogram(values, edges)[0] / len(values)
        axis.stairs(np.where(share > 0, share, np.nan), edges, color=look["color"], linewidth=1.2, label=look["label"])
        bins = {"x": 0.5 * (edges[1:] + edges[:-1]), "left": edges[:-1], "right": edges[1:], "y": share, "y_err": 0.0}
        frames.append(pd.DataFrame(bins | {"panel": panel, "series": name}))
    shares = pd.concat(frames)["y"]
    least, most = shares[shares > 0].min(), shares.max()
    # The means of the largest eigenvalues stand above the histograms, one below the other.
    heights = most * np.geomspace(40.0, 2.0, len(COMMITTEE))
    for (name, look), height in zip(COMMITTEE.items(), heights, strict=True):
        if name in tops.index:
            top, style = tops.loc[name], {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
            axis.errorbar(top["mean"], height, xerr=top["sem"], **style)
            row = {
                "x": top["mean"],
                "x_err": top["sem"],
                "n": top["size"],
                "panel": panel,
                "series": f"{name}, largest",
            }
            frames.append(pd.DataFrame([row]))
    axis.set_xscale("symlog", linthresh=linear)
    axis.set_yscale("log")
    axis.set(ylim=(0.5 * least, 70.0 * most), xlim=(edges[0], 2.0 * edges[-1]))
    axis.set_yticks([tick for tick in axis.get_yticks() if 0.5 * least <= tick <= 1.0])
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.set_title(rf"$\beta$ = {table['beta'].iloc[0]:.3g}", loc="right")
    return pd.concat(frames)


def _edges(values: pd.Series) -> tuple[float, np.ndarray]:
    """Where the axis of eigenvalues turns from linear to logarithmic, and bins of even width on each part."""
    linear = 10.0 ** np.floor(np.log10(values.abs().max()) - 2.0)
    outer = [np.geomspace(linear, max(1.01 * side.max(), 10.0 * linear), BINS) for side in (-values, values)]
    return linear, np.concatenate([-outer[0][::-1], np.linspace(-linear, linear, BINS // 3)[1:-1], outer[1]])


def _caption(table: pd.DataFrame, scale: str) -> str:
    tops = table[table["quantity"] == "largest_eigenvalue"]
    words = []
    for rule, panel in zip(RULES, "ab", strict=True):
        rows = tops[tops["rule"] == rule]
        if rows.empty:
            words.append(f"({panel}) no eigenvalues at a β at which the solutions of {RULES[rule]} stay valid.")
            continue
        means = means_in_words(rows.groupby("algorithm")["value"])
        words.append(
            f"({panel}) β = {rows['beta'].iloc[0]:.3g}, the smallest of a grid at which the solutions of {RULES[rule]} stay valid; mean "
            f"largest eigenvalue {means}."
        )
    solutions = tops.drop_duplicates(["algorithm", "sample"]).groupby("algorithm").size()
    below = "" if tops["sample"].nunique() >= 10 else f" Scale {scale}: below the paper's size, 10 samples."
    numbers = ", ".join(f"{COMMITTEE[str(name)]['label']} {size}" for name, size in solutions.items()) or "none"
    return (
        "Figure 5. Eigenvalues of the Hessian of the mean square error at the solutions of figure 4, with activations "
        f"tanh(βx) and units of norm 1; histograms over solutions ({numbers}). On the drawn axis bins have one width "
        "on each side of zero, and are wider around zero. "
        f"Markers: mean of the largest eigenvalue; error bars: its standard error. {' '.join(words)} The output "
        f"function, tanh without β, is chosen here: compare with the paper's figure.{below}"
    )
