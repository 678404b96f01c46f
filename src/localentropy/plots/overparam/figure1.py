"""Figure 1: phase diagram of the overparameterized perceptron in the plane (α_T, 1/α)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import seaborn as sns

from localentropy.analysis.solver_runs import averages, shared_size
from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.drawing import Drawing, curve_rows, in_style, letter, panels, threshold_line
from localentropy.plots.perceptron_points import one_two_five, series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP = 1.6
"""Upper end of the axis of 1/α."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Both thresholds, the three regions between them, and the storage limit at α_T = 0."""
    table = tables["overparam/thresholds"].sort_values("alpha_T")
    p = tables["overparam/thresholds"].attrs["parameters"]
    runs = tables["overparam/solve_sbpi"].attrs["parameters"]
    storage = table[table["alpha_T"] == p["alpha_T_storage"]].iloc[0]
    # The storage limit is drawn at α_T = 0.
    lines = table.assign(alpha_T=table["alpha_T"].mask(table["alpha_T"] == p["alpha_T_storage"], 0.0))
    x, c, le = lines["alpha_T"], lines["inv_alpha_c"], lines["inv_alpha_le"]
    flat, _, hard, _, unsat = sns.color_palette("Blues", 5)
    figure, (axis, inset) = panels(2, 7.2, 3.0)
    bottom = 0.5
    axis.fill_between(x, bottom, c, color=unsat, linewidth=0)
    axis.fill_between(x, c, le, color=hard, linewidth=0)
    axis.fill_between(x, le, TOP, color=flat, linewidth=0)
    axis.plot(x, c, color="black", label=r"$1/\alpha_c$, interpolation")
    axis.plot(x, le, color="black", linestyle="--", label=r"$1/\alpha_{\mathrm{LE}}$, local entropy")
    ends = [storage["inv_alpha_c"], storage["inv_alpha_le"]]
    axis.plot([0, 0], ends, "o", color="black", clip_on=False, zorder=3)
    for y, shift, color in zip(ends, (-14, 7), ("white", "black"), strict=True):
        axis.annotate(
            f"{y:.4f}",
            (0, y),
            xytext=(4, shift),
            textcoords="offset points",
            va="center",
            fontsize=6,
            color=color,
        )
    at = 0.75 * x.max()
    low, high = np.interp(at, x, c), np.interp(at, x, le)
    regions = (
        ("wide flat minima", (high + TOP) / 2),
        ("SAT, hard", (low + high) / 2),
        ("UNSAT", (bottom + low) / 2),
    )
    for name, y in regions:
        axis.text(at, y, name, ha="center", va="center", color="white" if name == "UNSAT" else "black")
    axis.set(xlim=(0.0, x.max()), ylim=(bottom, TOP), xlabel=r"$\alpha_T = P/D$", ylabel=r"$1/\alpha = N/P$")
    axis.secondary_yaxis("right", functions=(_reciprocal, _reciprocal)).set_ylabel(r"$\alpha$")
    axis.legend(loc="upper right")
    points = _train_errors(inset, tables)
    # The thresholds of other features do not apply to these runs.
    marked = table[(table["alpha_T"] == runs["alpha_T"]) & (p["ensemble"]["activation"] == runs["activation"])]
    for row in marked.itertuples():
        threshold_line(inset, row.inv_alpha_c, f"$1/\\alpha_c$ = {row.inv_alpha_c:.3f}")
        at = rf"$1/\alpha_{{\mathrm{{LE}}}}$ = {row.inv_alpha_le:.3f}"
        threshold_line(inset, row.inv_alpha_le, at, side="right")
    one_two_five(inset, (1, 2, 5, 10, 20), (0.75, 24.0))
    inset.set(ylabel="train error, best over the run")
    inset.set_ylim(-0.003, 0.19)
    inset.legend()
    letter([axis, inset])
    thresholds = {"inv_alpha_c": "interpolation threshold", "inv_alpha_le": "local-entropy threshold"}
    data = pd.concat(curve_rows("a", name, table["alpha_T"], table[column]) for column, name in thresholds.items())
    lines = [
        pd.DataFrame({"panel": "b", "series": f"threshold, {name}", "x": marked[column]})
        for column, name in thresholds.items()
    ]
    data = pd.concat([data, *points, *lines])
    caption = (
        "Figure 1. (a): interpolation threshold 1/α_c, where solutions of the binary perceptron on random features begin to "
        "exist, and local-entropy threshold 1/α_LE, from which on the Franz–Parisi entropy of solutions of the largest "
        f"margin is monotonic; replica-symmetric theory, {p['ensemble']['activation']} features. Dots at α_T = 0: the storage problem "
        f"(computed at α_T = {p['alpha_T_storage']:g}), {storage['inv_alpha_c']:.4f} and {storage['inv_alpha_le']:.4f}. "
        f"(b): train error, smallest of a run and mean over instances, of four solvers at α_T = {runs['alpha_T']:g} (the "
        f"inset of the paper), D = {shared_size(tables)}; {_marks(len(marked), p, runs)}. The plane of the figure, the "
        "range of α_T, sizes and settings of the solvers are chosen here: the text lost them."
    )
    return Drawing(figure, data, caption)


def _marks(drawn: int, theory: Mapping[str, Any], runs: Mapping[str, Any]) -> str:
    if drawn:
        return "dotted lines: the two thresholds"
    if theory["ensemble"]["activation"] != runs["activation"]:
        return f"no thresholds are drawn: the solvers ran on {runs['activation']} features"
    return f"the thresholds at α_T = {runs['alpha_T']:g} were not computed"


def _train_errors(axis: Axes, tables: Mapping[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """Best train error of each solver at the size they share; the CSV has the last one and the other sizes too."""
    rows = []
    for solver in ("anneal", "focusing_bp", "sbpi", "binarynet"):
        runs = tables[f"overparam/solve_{solver}"]
        for quantity in ("train_error_best", "train_error_last", "solved"):
            points = averages(runs, quantity, solved_only=False)
            rows.append(series(points, "b" if quantity == "train_error_best" else "data", f"{solver}, {quantity}"))
            if quantity == "train_error_best":
                here = points[points["D"] == shared_size(tables)]
                axis.errorbar(here["inv_alpha"], here["y"], here["y_err"], **ALGORITHMS[solver])
    return rows


def _reciprocal(values):  # type: ignore[no-untyped-def]
    return 1.0 / values
