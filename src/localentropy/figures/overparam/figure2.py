"""Figure 2: generalization error against overparameterization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.runs import averages, deviations, largest_solved, shared_size, with_theory
from localentropy.analysis.thresholds import typical_line
from localentropy.figures.agreement import csv_rows, in_words
from localentropy.figures.algorithms import ALGORITHMS, legend_entries
from localentropy.figures.drawing import Drawing, in_style, panels
from localentropy.figures.perceptron_points import apart, draw_points, one_two_five, sizes_in_words

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

LINES: dict[tuple[str, str], dict[str, Any]] = {
    ("error_typical", "0.0"): {"color": "black", "label": r"typical, $\kappa = 0$"},
    ("error_typical", "0.5"): {"color": "black", "linestyle": "--", "label": r"typical, $\kappa = 0.5$"},
    ("error_typical", "max"): {"color": "black", "linestyle": ":", "label": r"typical, $\kappa = \kappa_{\max}$"},
    ("error_barycenter", "0.0"): {"color": "black", "linestyle": "-.", "label": r"barycentre, $\kappa = 0$"},
}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Theory lines; inset: the margin that minimises the error of the barycentre."""
    typical = tables["overparam/typical"]
    p = typical.attrs["parameters"]
    lines = typical[typical["line"] == "inv_alpha"]
    agreement = agreement_by_size(
        deviations(tables["overparam/solve_anneal"], "test_error", tables["overparam/typical_points"], "error_typical"),
        ["margin"],
    )
    figure, (axis,) = panels(1, 4.4, 3.8)
    figure.add(csv_rows(agreement))
    for (column, reference), style in LINES.items():
        line = typical_line(typical, reference)
        axis.line(line["inv_alpha"], line[column], f"{column.removeprefix('error_')} {reference}", style)
    solvers = ("sbpi", "anneal", "focusing_bp", "binarynet")
    for index, solver in enumerate(solvers):
        points = _points(tables, solver)
        at = apart(points["inv_alpha"], index, len(solvers))
        draw_points(axis, points, solver, ALGORITHMS[solver], at=at)
    ends = lines["inv_alpha"].min(), lines["inv_alpha"].max()
    one_two_five(axis, (1, 2, 5, 10, 20), ends)
    axis.set(ylabel=r"generalization error $\epsilon_g$", ylim=(0.1, 0.335))
    entries = legend_entries([axis])
    theory = len(LINES)
    axis.add_artist(axis.legend(*(part[:theory] for part in entries), loc="upper right", ncols=2))
    axis.legend(*(part[theory:] for part in entries), loc="lower right", ncols=2)
    _optimum(axis.inset_axes((0.11, 0.12, 0.27, 0.22)), tables)
    caption = (
        "Figure 2. Generalization error against 1/α. Lines are replica theory: typical solutions of three margins, and "
        "the barycentre of all solutions. Each line starts at the threshold of its margin. Points are mean test errors "
        "of four solvers on the instances that they solve; hollow points are where fewer than 90 % are solved. Inset: "
        "the margin whose solutions have the barycentre of smallest error; the dotted line is where it turns positive."
    )
    settings = {
        "theory": f"replica-symmetric, α_T = {p['alpha_T']:g}, {p['ensemble']['activation']} features",
        "points": "mean and standard error over the solved instances, solvers a little apart; of BinaryNet the last "
        "weights without train error",
        "size": f"D = {shared_size(tables)} for focusing BP, SBPI and BinaryNet",
        "size of simulated annealing": "the largest that is solved in 90 % of the instances, else the largest with "
        f"solutions: {'; '.join(sizes_in_words(_points(tables, 'anneal'), '{:.3g}'.format))}",
        "simulated annealing and typical solutions of κ = 0": in_words(agreement, "test error"),
        "chosen here": "α_T, the margin 0.5, sizes and settings of the solvers",
    }
    return Drawing(figure, caption, settings)


def _optimum(inset: Panel, tables: Mapping[str, pd.DataFrame]) -> None:
    """The optimal margin, and the 1/α from which on it is positive."""
    optimum, onsets = tables["overparam/optimal_margin"], tables["overparam/optimal_margin_onsets"]
    inset.line(optimum["inv_alpha"], optimum["kappa_opt"], "optimal margin", {"color": "black"})
    same = onsets.attrs["parameters"]["ensemble"] == optimum.attrs["parameters"]["ensemble"]
    for onset in onsets.loc[same & (onsets["alpha_T"] == optimum.attrs["parameters"]["at"]["alpha_T"]), "onset"]:
        inset.threshold(onset, f"{onset:.3f}", "onset of the optimal margin")
    one_two_five(inset, (1, 3, 10), (optimum["inv_alpha"].min(), optimum["inv_alpha"].max()))
    inset.set_ylabel(r"$\kappa_{\mathrm{opt}}$", labelpad=2, fontsize=8)
    inset.set_yticks([0, 1, 2])
    inset.set_xlabel(r"$1/\alpha$", labelpad=0, fontsize=8)
    inset.tick_params(labelsize=6)


def _points(tables: Mapping[str, pd.DataFrame], solver: str) -> pd.DataFrame:
    """Test errors of solutions; for annealing with the theory of typical solutions and z-scores."""
    points = averages(tables[f"overparam/solve_{solver}"], "test_error")
    if solver == "anneal":
        return with_theory(largest_solved(points), tables["overparam/typical_points"], "error_typical")
    return points[points["D"] == shared_size(tables)]
