"""Figure 12: distribution of the stabilities of solutions found by zero-temperature Monte Carlo."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns

from localentropy.plots.agreement import agreement_by_size, in_words, normal_score
from localentropy.plots.drawing import STYLE, Drawing, panels
from localentropy.plots.perceptron_points import MOST_SOLVED, averages, deviations

DRAWN_BINS = 0.12
"""Width of the drawn bins, about: a whole number of steps 2/√N of the lattice."""
COMPARED_BINS = 0.5
"""Width of the bins of χ², about: few enough for their covariance over the instances to be known."""
COMPARED = 6
"""Number of these; what is beyond follows from the others."""


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Densities at the largest size of each 1/α where most instances are solved, on the lines of the theory."""
    runs, theory, lattice = tables["solve_mct0"], tables["stability_density"], tables["typical_lattice"]
    p = runs.attrs["parameters"]
    runs, lattice = runs[runs["margin"] == 0.0], lattice[lattice["margin"] == 0.0]
    lines = theory[theory["quantity"] == "density"]
    inv_alphas = sorted(lines["inv_alpha"].unique())
    means = lattice[lattice["quantity"] == "mean_stability"].rename(columns={"value": "theory"})
    of_means = agreement_by_size(deviations(runs, "mean_stability", means, "theory"), ["margin"])
    of_bins = agreement_by_size(_deviations(runs, lattice), ["x"])
    frames = [of_bins, of_means.assign(panel="agreement, mean stability")]
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
    fractions, theory, width = _fractions(runs, lattice, int(size["D"]), int(size["N"]), DRAWN_BINS)
    table = pd.DataFrame(
        {
            "x": (fractions.columns.to_numpy() + 0.5) * width,
            "y": fractions.mean().to_numpy() / width,
            "y_err": fractions.sem().to_numpy() / width,
            "n": len(fractions),
            "D": size["D"],
            "N": size["N"],
            "solved": size["solved"],
            "theory": theory.to_numpy() / width,
        }
    )
    known = (table["y_err"] > 0) & (table["solved"] >= MOST_SOLVED)
    z = ((table["y"] - table["theory"]) / table["y_err"]).where(known)
    return table.assign(z=z, score=normal_score(z.to_numpy(), table["n"].to_numpy()))


def _deviations(runs: pd.DataFrame, lattice: pd.DataFrame) -> pd.DataFrame:
    """Fractions in wide bins less their theory, in each run, at the sizes where most instances are solved."""
    sizes = averages(runs, "mean_stability")
    frames = [pd.DataFrame({"D": [], "N": [], "sample": [], "x": [], "deviation": []})]
    for _, size in sizes[sizes["solved"] >= MOST_SOLVED].iterrows():
        fractions, theory, width = _fractions(runs, lattice, int(size["D"]), int(size["N"]), COMPARED_BINS)
        kept = (fractions - theory).iloc[:, :COMPARED]
        kept.columns = (kept.columns + 0.5) * width
        long = kept.rename_axis(columns="x").stack().rename("deviation").reset_index()
        frames.append(long.assign(D=int(size["D"]), N=int(size["N"])))
    return pd.concat(frames[1:] or frames)


def _fractions(
    runs: pd.DataFrame, lattice: pd.DataFrame, D: int, N: int, about: float
) -> tuple[pd.DataFrame, pd.Series, float]:
    """Fractions of the patterns in bins of one size: of each run [samples × bins], of the theory, and the width."""
    root = np.sqrt(N)
    steps = max(1, round(about * root / 2))
    counts = runs[(runs["quantity"] == "stability_count") & (runs["D"] == D) & (runs["N"] == N)]
    table = counts.assign(bin=_bins(counts["x"], root, steps)).pivot_table(
        index="sample", columns="bin", values="value", aggfunc="sum", fill_value=0
    )
    cells = lattice[(lattice["quantity"] == "stability_probability") & (lattice["D"] == D) & (lattice["N"] == N)]
    theory = cells.groupby(_bins(cells["x"], root, steps))["value"].sum()
    fractions = table.div(table.sum(axis=1), axis=0)
    every = range(max(int(fractions.columns.max()) + 1, COMPARED))
    return fractions.reindex(columns=every, fill_value=0.0), theory.reindex(every, fill_value=0.0), 2 * steps / root


def _bins(stabilities: pd.Series, root: float, steps: int) -> pd.Series:
    """Number of the bin of each stability of the lattice."""
    # The sums are odd integers 1, 3, 5, …: number them before dividing, so that no rounding moves one across an edge.
    return np.rint((stabilities * root - 1) / 2).astype(int) // steps
