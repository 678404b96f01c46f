"""Figure 12: distribution of the stabilities of solutions found by zero-temperature Monte Carlo."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import pandas as pd
import seaborn as sns

from localentropy.landscape.agreement import agreement_by_size, normal_score
from localentropy.landscape.solver_runs import MOST_SOLVED, averages, deviations
from localentropy.landscape.stability_histogram import (
    COMPARED,
    COMPARED_BINS,
    histogram_deviations,
    stability_histogram,
    steps_of,
)
from localentropy.plots.agreement import csv_rows, in_words
from localentropy.plots.drawing import STYLE, Drawing, panels

DRAWN_BINS = 0.12
"""Width of the drawn bins, about: a whole number of steps 2/√N of the lattice."""


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Densities at the largest size of each 1/α where most instances are solved, on the lines of the theory."""
    runs, theory, lattice = tables["solve_mct0"], tables["stability_density"], tables["typical_lattice"]
    p = runs.attrs["parameters"]
    runs, lattice = runs[runs["margin"] == 0.0], lattice[lattice["margin"] == 0.0]
    lines = theory[theory["quantity"] == "density"]
    inv_alphas = sorted(lines["inv_alpha"].unique())
    means = lattice[lattice["quantity"] == "mean_stability"].rename(columns={"value": "theory"})
    of_means = agreement_by_size(deviations(runs, "mean_stability", means, "theory"), ["margin"])
    of_bins = agreement_by_size(histogram_deviations(runs, lattice), ["x"])
    frames = [csv_rows(of_bins), csv_rows(of_means, "agreement, mean stability")]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, (axis,) = panels(1, 3.8, 3.2)
        for inv_alpha, color in zip(inv_alphas, sns.color_palette("viridis", len(inv_alphas)), strict=True):
            line = lines[lines["inv_alpha"] == inv_alpha]
            axis.plot(line["x"], line["value"], color=color, label=rf"$1/\alpha = {inv_alpha:g}$")
            frames.append(
                pd.DataFrame(
                    {"panel": "a", "series": f"theory, 1/α = {inv_alpha:g}", "x": line["x"], "y": line["value"]}
                )
            )
            histogram = _histogram(runs, lattice, inv_alpha)
            look = {"linestyle": "none", "marker": "o", "markersize": 3, "color": color}
            hollow = bool((histogram["solved"] < MOST_SOLVED).any())
            axis.errorbar(
                histogram["x"], histogram["y"], histogram["y_err"], markerfacecolor="white" if hollow else color, **look
            )
            frames.append(histogram.assign(panel="a", series=f"MCT0, 1/α = {inv_alpha:g}"))
        axis.set(xlabel=r"stability $\Delta$", ylabel=r"$P(\Delta)$", xlim=(0.0, 4.0))
        axis.set_ylim(bottom=0.0)
        axis.legend()
    caption = (
        "Figure 12. Distribution of the stabilities of the training patterns, solutions of zero-temperature Monte Carlo at "
        f"κ = 0 (points; bins of whole steps of the lattice) and typical solutions, replica theory (lines); α_T = "
        f"{p['alpha_T']:g}. At each 1/α the largest size at which 90 % of the instances are solved (hollow: fewer). The "
        f"fractions in the first {COMPARED} bins of width {COMPARED_BINS:g} are compared with the theory integrated over the "
        f"lattice. {in_words(of_bins, 'stabilities', drift=False)} The same for the mean stability. "
        f"{in_words(of_means, 'mean stability')} "
        "Error bars: standard errors over instances. Sizes, 1/α and α_T are chosen here: the text lost them."
    )
    return Drawing(figure, pd.concat(frames).fillna({"y_err": 0.0}), caption)


def _histogram(runs: pd.DataFrame, lattice: pd.DataFrame, inv_alpha: float) -> pd.DataFrame:
    """Mean over instances of the density in bins of whole lattice steps, with its theory and z-scores."""
    sizes = averages(runs, "mean_stability")
    sizes = sizes[(sizes["inv_alpha"] / inv_alpha - 1.0).abs() < 0.02]
    if sizes.empty:
        return pd.DataFrame({"x": [], "y": [], "y_err": [], "solved": []})
    size = sizes.assign(most=sizes["solved"] >= MOST_SOLVED).sort_values(["most", "D"]).iloc[-1]
    D, N = int(size["D"]), int(size["N"])
    drawn = stability_histogram(runs, lattice, D, N, steps=steps_of(DRAWN_BINS, N))
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
    known = (table["y_err"] > 0) & (table["solved"] >= MOST_SOLVED)
    z = ((table["y"] - table["theory"]) / table["y_err"]).where(known)
    return table.assign(z=z, score=normal_score(z.to_numpy(), table["n"].to_numpy()))
