"""Figure 12: distribution of the stabilities of solutions found by zero-temperature Monte Carlo."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns

from localentropy.plots.drawing import STYLE, Drawing, panels

LATTICE_BINS = 0.12
"""Width of the drawn bins, about: a whole number of steps 2/√N of the lattice."""


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Densities at the sizes with the largest D of each 1/α, on the lines of the theory."""
    runs, theory = tables["solve_mct0"], tables["stability_density"]
    p = runs.attrs["parameters"]
    lines = theory[theory["quantity"] == "density"]
    inv_alphas = sorted(lines["inv_alpha"].unique())
    frames = []
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
            histogram = _histogram(runs, inv_alpha)
            axis.errorbar(
                histogram["x"],
                histogram["y"],
                histogram["y_err"],
                linestyle="none",
                marker="o",
                markersize=3,
                color=color,
            )
            frames.append(histogram.assign(panel="a", series=f"MCT0, 1/α = {inv_alpha:g}"))
        axis.set(xlabel=r"stability $\Delta$", ylabel=r"$P(\Delta)$", xlim=(0.0, 4.0))
        axis.set_ylim(bottom=0.0)
        axis.legend()
    caption = (
        "Figure 12. Distribution of the stabilities of the training patterns, solutions of zero-temperature Monte Carlo at "
        f"κ = 0 (points; bins of whole steps of the lattice) and typical solutions, replica theory (lines); α_T = "
        f"{p['alpha_T']:g}. Error bars: standard errors over instances. Sizes, 1/α and α_T are chosen here: the text lost "
        "them."
    )
    return Drawing(figure, pd.concat(frames).fillna({"y_err": 0.0}), caption)


def _histogram(runs: pd.DataFrame, inv_alpha: float) -> pd.DataFrame:
    """Mean over instances of the density in bins of whole lattice steps, at the largest size near this 1/α."""
    counts = runs[(runs["quantity"] == "stability_count") & (runs["margin"] == 0.0)]
    counts = counts[(counts["inv_alpha"] / inv_alpha - 1.0).abs() < 0.02]
    if counts.empty:
        return pd.DataFrame({"x": [], "y": [], "y_err": []})
    counts = counts[counts["D"] == counts["D"].max()]
    root = np.sqrt(counts["N"].iloc[0])
    steps = max(1, round(LATTICE_BINS * root / 2))
    width = 2 * steps / root
    # The sums are odd integers 1, 3, 5, …: number them before dividing, so that no rounding moves one across an edge.
    index = np.rint((counts["x"] * root - 1) / 2).astype(int) // steps
    table = counts.assign(bin=index).pivot_table(
        index="sample", columns="bin", values="value", aggfunc="sum", fill_value=0
    )
    density = table.div(table.sum(axis=1), axis=0) / width
    return pd.DataFrame(
        {
            "x": (density.columns.to_numpy() + 0.5) * width,
            "y": density.mean().to_numpy(),
            "y_err": density.sem().to_numpy(),
            "n": len(density),
            "D": counts["D"].iloc[0],
            "N": counts["N"].iloc[0],
        }
    )
