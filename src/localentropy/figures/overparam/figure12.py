"""Figure 12: distribution of the stabilities of solutions found by zero-temperature Monte Carlo."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.runs import MOST_SOLVED, averages, deviations, scored
from localentropy.analysis.stability_histogram import (
    COMPARED,
    COMPARED_BINS,
    histogram_deviations,
    stability_histogram,
    steps_of,
)
from localentropy.figures.agreement import csv_rows, in_words
from localentropy.figures.drawing import Drawing, colors_of, in_style, letter, panels
from localentropy.figures.perceptron_points import FIRST, sizes_in_words, sweeps_of

DRAWN_BINS = 0.12
"""Width of the drawn bins, about: a whole number of steps 2/√N of the lattice."""
SHIFT, APART = 0.4, 0.15
"""Distance of the curves, and of the levels in the panel of differences."""
UNIT = 0.1
"""Length of the bar in that panel."""
LARGEST = 3.0
"""Right end of the axis of stabilities."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Densities at the largest size of each 1/α where most instances are solved, on the lines of the theory."""
    names = ("solve_mct0", "stability_density", "typical_lattice")
    runs, theory, lattice = (tables[f"overparam/{name}"] for name in names)
    p = runs.attrs["parameters"]
    runs, lattice = runs[runs["margin"] == 0.0], lattice[lattice["margin"] == 0.0]
    lines = theory[theory["quantity"] == "density"]
    inv_alphas = sorted(lines["inv_alpha"].unique())
    means = lattice[lattice["quantity"] == "mean_stability"].rename(columns={"value": "theory"})
    of_means = agreement_by_size(deviations(runs, "mean_stability", means, "theory"), ["margin"])
    of_bins = agreement_by_size(histogram_deviations(runs, lattice), ["x"])
    histograms: dict[float, pd.DataFrame] = {}
    began: dict[float, pd.DataFrame] = {}
    levels: dict[float, str] = {}
    figure, (axis, below) = panels(2, 7.0, 4.4)
    figure.add(csv_rows(of_bins))
    figure.add(csv_rows(of_means, "agreement, mean stability"))
    for index, (inv_alpha, color) in enumerate(colors_of(inv_alphas, of="load").items()):
        line = lines[lines["inv_alpha"] == inv_alpha]
        base, mode = SHIFT * index, line.loc[line["value"].idxmax()]
        axis.axhline(base, color=color, linewidth=0.5)
        theory_of = pd.DataFrame({"x": line["x"], "y": line["value"], "y_err": 0.0})
        rows = axis.declare(f"theory, 1/α = {inv_alpha:g}", theory_of)
        axis.line(line["x"], base + line["value"], rows, {"color": color})
        axis.plot([mode["x"]] * 2, [base + mode["value"] - 0.06, base + mode["value"] + 0.06], color="black")
        histogram = _histogram(runs, lattice, inv_alpha)
        name = f"$1/\\alpha = {inv_alpha:g}$"
        if len(histogram):
            level, face = APART * len(histograms), "white" if (histogram["solved"] < MOST_SOLVED).any() else color
            look = {"linestyle": "none", "marker": "o", "markersize": 3, "color": color, "markerfacecolor": face}
            rows = axis.declare(f"MCT0, 1/α = {inv_alpha:g}", histogram.fillna({"y_err": 0.0}))
            axis.points(histogram.assign(y=base + histogram["y"]), rows, look)
            below.axhline(level, color=color, linewidth=0.8)
            below.errorbar(histogram["x"], level + histogram["y"] - histogram["theory"], histogram["y_err"], **look)
            first = _histogram(runs, lattice, inv_alpha, "_first")
            rows = below.declare(f"MCT0, first solutions, 1/α = {inv_alpha:g}", first.fillna({"y_err": 0.0}))
            below.line(first["x"], level + first["y"] - first["theory"], rows, FIRST | {"color": color})
            began[inv_alpha] = first
            name += f", $D = {histogram['D'].iloc[0]}$"
            levels[level] = f"{inv_alpha:g}"
            histograms[inv_alpha] = histogram
        axis.text(LARGEST, base + 0.17, name, ha="right", va="bottom", fontsize=7)
    ticks = [0.0, 0.4, 0.8]
    axis.set(
        xlabel=r"stability $\Delta$", ylabel=rf"$P(\Delta)$, curves {SHIFT:g} apart", xlim=(0.0, LARGEST), yticks=ticks
    )
    axis.set_ylim(bottom=0.0)
    below.set(xlabel=r"stability $\Delta$", ylabel=r"$P(\Delta)$ minus theory, at $1/\alpha =$", xlim=(0.0, LARGEST))
    below.set_ylim(-APART, APART * len(histograms))
    below.set_yticks(list(levels), list(levels.values()))
    below.plot([0.97 * LARGEST] * 2, [-0.9 * APART, UNIT - 0.9 * APART], color="black", linewidth=2.0)
    below.annotate(f"{UNIT:g} ", (0.97 * LARGEST, UNIT / 2 - 0.9 * APART), ha="right", va="center", fontsize=7)
    letter([axis, below])
    caption = (
        "Figure 12. (a) Distribution of the stabilities of the training patterns. Points are solutions of "
        "zero-temperature Monte Carlo at κ = 0, and lines are typical solutions in replica theory; black marks are at "
        f"their maxima. Curves of different 1/α are {SHIFT:g} apart. Hollow points are where fewer than 90 % of the "
        f"instances are solved. (b) The points minus the theory on their lattice; levels are {APART:g} apart, and the bar "
        f"is {UNIT:g} long. {sweeps_of(p)}"
    )
    settings = {
        "load": f"α_T = {p['alpha_T']:g}",
        "size": f"the largest at which 90 % of the instances are solved, else the largest with solutions: "
        f"{_sizes(histograms)}",
        "bins": "whole steps of the lattice of stabilities",
        "first bin minus theory": f"{_first(histograms)}; of first solutions: {_first(began)}; in standard errors",
        f"first {COMPARED} bins": f"the fractions in bins of width {COMPARED_BINS:g} are compared with the theory "
        f"integrated over the lattice. {in_words(of_bins, 'stabilities', drift=False)}",
        "mean stability": in_words(of_means, "mean stability"),
        "error bars": "standard errors over instances",
        "chosen here": "sizes, 1/α and α_T",
    }
    return Drawing(figure, caption, settings)


def _sizes(histograms: Mapping[float, pd.DataFrame]) -> str:
    sizes = [(rows["D"].iloc[0], inv_alpha) for inv_alpha, rows in histograms.items()]
    return "; ".join(sizes_in_words(pd.DataFrame(sizes, columns=["D", "inv_alpha"]), "{:g}".format)) or "none"


def _first(histograms: Mapping[float, pd.DataFrame]) -> str:
    scores = {inv_alpha: rows["z"].iloc[0] for inv_alpha, rows in histograms.items() if len(rows)}
    known = [f"{z:+.1f} at 1/α = {inv_alpha:g}" for inv_alpha, z in scores.items() if pd.notna(z)]
    return ", ".join(known) or "too few are solved"


def _histogram(runs: pd.DataFrame, lattice: pd.DataFrame, inv_alpha: float, which: str = "") -> pd.DataFrame:
    """Mean over instances of the density in bins of whole lattice steps, with its theory and z-scores.

    `which` is the end of the quantity's name: nothing for the final weights, `_first` for the first solutions.
    """
    sizes = averages(runs, "mean_stability")
    sizes = sizes[(sizes["inv_alpha"] / inv_alpha - 1.0).abs() < 0.02]
    if sizes.empty or f"stability_count{which}" not in set(runs["quantity"]):
        return pd.DataFrame({"x": [], "y": [], "y_err": [], "solved": [], "theory": []})
    size = sizes.assign(most=sizes["solved"] >= MOST_SOLVED).sort_values(["most", "D"]).iloc[-1]
    D, N = int(size["D"]), int(size["N"])
    drawn = stability_histogram(runs, lattice, D, N, steps=steps_of(DRAWN_BINS, N), which=which)
    table = pd.DataFrame(
        {
            "x": drawn.centres,
            "y": drawn.fractions.mean().to_numpy() / drawn.width,
            "y_err": drawn.fractions.sem().to_numpy() / drawn.width,
            "n": len(drawn.fractions),
            "D": D,
            "N": N,
            "solved": size["solved"],
            "theory": drawn.theory.to_numpy() / drawn.width,
        }
    )
    return scored(table)
