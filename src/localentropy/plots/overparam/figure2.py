"""Figure 2: generalization error against overparameterization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.solver_runs import averages, deviations, largest_solved, shared_size, with_theory
from localentropy.plots.agreement import csv_rows, in_words
from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.drawing import Drawing, curve_rows, in_style, panels
from localentropy.plots.perceptron_points import draw_points, one_two_five, series, typical_line

LINES: dict[tuple[str, str], dict[str, Any]] = {
    ("error_typical", "0.0"): {"color": "black", "label": r"typical, $\kappa = 0$"},
    ("error_typical", "0.5"): {"color": "black", "linestyle": "--", "label": r"typical, $\kappa = 0.5$"},
    ("error_typical", "max"): {"color": "black", "linestyle": ":", "label": r"typical, $\kappa = \kappa_{\max}$"},
    ("error_barycenter", "0.0"): {"color": "black", "linestyle": "-.", "label": r"barycentre, $\kappa = 0$"},
}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Theory lines; inset: the margin that minimises the error of the barycentre."""
    typical, optimum = tables["overparam/typical"], tables["overparam/optimal_margin"]
    p = typical.attrs["parameters"]
    lines = typical[typical["line"] == "inv_alpha"]
    agreement = agreement_by_size(
        deviations(tables["overparam/solve_anneal"], "test_error", tables["overparam/typical_points"], "error_typical"),
        ["margin"],
    )
    frames = [csv_rows(agreement)]
    figure, (axis,) = panels(1, 4.4, 3.8)
    for (column, reference), style in LINES.items():
        line = typical_line(typical, reference)
        axis.plot(line["inv_alpha"], line[column], **style)
        name = f"{column.removeprefix('error_')} {reference}"
        frames.append(curve_rows("a", name, line["inv_alpha"], line[column]))
    for solver in ("anneal", "focusing_bp", "sbpi", "binarynet"):
        points = _points(tables, solver)
        draw_points(axis, points, ALGORITHMS[solver])
        frames.append(series(points, "a", solver))
    one_two_five(axis, (1, 2, 5, 10, 20), (lines["inv_alpha"].min(), lines["inv_alpha"].max()))
    axis.set(ylabel=r"generalization error $\epsilon_g$", ylim=(0.13, 0.46))
    axis.legend(loc="upper left", ncols=2, bbox_to_anchor=(0.0, 1.02))
    inset = axis.inset_axes((0.72, 0.76, 0.27, 0.23))
    inset.plot(optimum["inv_alpha"], optimum["kappa_opt"], color="black")
    inset.set(xscale="log", ylabel=r"$\kappa_{\mathrm{opt}}$")
    inset.set_xlabel(r"$1/\alpha$", labelpad=0)
    inset.set_xticks([1, 3, 10], ["1", "3", "10"])
    inset.minorticks_off()
    inset.tick_params(labelsize=6)
    frames.append(curve_rows("inset", "optimal margin", optimum["inv_alpha"], optimum["kappa_opt"]))
    caption = (
        "Figure 2. Generalization error of typical solutions of several margins and of the barycentre of all solutions, "
        f"replica-symmetric theory, α_T = {p['alpha_T']:g}, {p['ensemble']['activation']} features; each line starts at the threshold "
        f"of its margin. Points: test error of solutions of focusing BP, SBPI and BinaryNet (its last weights without "
        f"training error) at D = {shared_size(tables)}, and of simulated annealing at the largest size that is solved in "
        f"90 % of the instances, else the largest with solutions ({_sizes(_points(tables, 'anneal'))}); mean and "
        "standard error over solved instances; hollow: fewer than 90 % solved. "
        f"Simulated annealing is compared with typical solutions of κ = 0. {in_words(agreement, 'test error')} "
        "Inset: the margin whose solutions have the barycentre of smallest error. α_T, the margin 0.5, sizes and settings of the solvers are chosen here: the text lost them."
    )
    return Drawing(figure, pd.concat(frames), caption)


def _sizes(points: pd.DataFrame) -> str:
    at = points.groupby("D")["inv_alpha"].unique()
    return "; ".join(f"D = {D} at 1/α = {', '.join(f'{x:.3g}' for x in sorted(values))}" for D, values in at.items())


def _points(tables: Mapping[str, pd.DataFrame], solver: str) -> pd.DataFrame:
    """Test errors of solutions; for annealing with the theory of typical solutions and z-scores."""
    points = averages(tables[f"overparam/solve_{solver}"], "test_error")
    if solver == "anneal":
        return with_theory(largest_solved(points), tables["overparam/typical_points"], "error_typical")
    return points[points["D"] == shared_size(tables)]
