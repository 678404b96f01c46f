"""Figure 13: local energy of solutions of three algorithms at several overparameterizations."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import pandas as pd
import seaborn as sns

from localentropy.plots.drawing import STYLE, Drawing, letter, panels
from localentropy.plots.perceptron_points import averages, series

PANELS = {"mct0": "MCT0", "sbpi": "SBPI", "belief_propagation": "BP, signs of the magnetizations"}


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """One panel per algorithm; dashed: the theory line of typical solutions."""
    lines = tables["stability_density"]
    lines = lines[lines["quantity"] == "local_energy"]
    frames = []
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axes = panels(3, 7.2, 2.7)
        for panel, (axis, (solver, title)) in zip("abc", zip(axes, PANELS.items(), strict=True), strict=False):
            runs = tables[f"solve_{solver}"]
            # BP is no solver near the threshold: its curves start at the train error it leaves.
            energies = averages(runs, "local_energy", solved_only=solver != "belief_propagation", by=("x",))
            energies = _main_sizes(energies[energies["margin"] == 0.0], solver, tables)
            values = sorted(energies["inv_alpha"].unique())
            for inv_alpha, color in zip(values, sns.color_palette("viridis", len(values)), strict=True):
                here = energies[energies["inv_alpha"] == inv_alpha]
                axis.errorbar(
                    here["x"], here["y"], here["y_err"], color=color, marker="o", markersize=3, label=f"{inv_alpha:.1f}"
                )
                frames.append(series(here, panel, f"{solver}, 1/α = {inv_alpha:.2f}", x="x"))
            for inv_alpha, line in lines.groupby("inv_alpha"):
                axis.plot(line["x"], line["value"], color="black", linestyle="--", linewidth=0.7, zorder=1)
                name = f"typical, 1/α = {inv_alpha:g}"
                frames.append(pd.DataFrame({"panel": panel, "series": name, "x": line["x"], "y": line["value"]}))
            axis.set(xlabel="distance $d$", xlim=(0.0, 0.1), ylim=(0.0, 0.2))
            axis.legend(title=rf"{title}; $1/\alpha$", fontsize=6, title_fontsize=7, loc="upper left", ncols=2)
        axes[0].set_ylabel("train error after random flips")
        letter(axes)
    p = tables["solve_sbpi"].attrs["parameters"]
    caption = (
        "Figure 13. Train error after round(dN) random flips of the weights, exact mean over the flips, at κ = 0 and "
        f"α_T = {p['alpha_T']:g}, for solutions of (a) zero-temperature Monte Carlo and (b) SBPI, and for (c) the signs of "
        "belief propagation's magnetizations, which solve only at large 1/α: elsewhere the curve starts at the train error "
        "they leave. Dashed: typical solutions, replica theory, at the values of 1/α of figure 12. Error bars: standard "
        "errors over instances. The text does not say how binary weights were perturbed; sizes and 1/α are chosen here."
    )
    return Drawing(figure, pd.concat(frames).fillna({"y_err": 0.0}), caption)


def _main_sizes(energies: pd.DataFrame, solver: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """MCT0: at each 1/α its largest size. The others: the sizes and 1/α that belief propagation was run at."""
    if solver == "mct0":
        largest = energies.groupby(energies["inv_alpha"].round(1))["D"].transform("max")
        return energies[energies["D"] == largest]
    return energies[energies["N"].isin(tables["solve_belief_propagation"]["N"].unique())]
