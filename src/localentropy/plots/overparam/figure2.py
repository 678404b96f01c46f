"""Figure 2: generalization error against overparameterization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.solver_runs import averages, deviations, largest_solved, shared_size, with_theory
from localentropy.analysis.typical_lines import typical_line
from localentropy.plots.agreement import csv_rows, in_words
from localentropy.plots.algorithms import ALGORITHMS, legend_entries
from localentropy.plots.drawing import Drawing, in_style, panels
from localentropy.plots.perceptron_points import apart, draw_points, one_two_five

if TYPE_CHECKING:
    from localentropy.plots.series import Panel

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
        "Figure 2. Generalization error. Lines: typical solutions of several margins and the barycentre of all solutions, "
        f"replica-symmetric theory, α_T = {p['alpha_T']:g}, {p['ensemble']['activation']} features. Each line starts at the "
        "threshold of its margin. Points: mean test error of the solved instances and its standard error, algorithms a "
        "little apart; hollow: fewer than 90 % are solved. Focusing BP, SBPI and BinaryNet (its last weights without train "
        f"error) have D = {shared_size(tables)}. Simulated annealing has the largest size that is solved in 90 % of the "
        f"instances, else the largest with solutions ({_sizes(_points(tables, 'anneal'))}). It is compared with typical "
        f"solutions of κ = 0. {in_words(agreement, 'test error')} Inset: the margin whose solutions have the barycentre of "
        "smallest error; dotted: where it turns positive. α_T, the margin 0.5, sizes and settings of the solvers are chosen "
        "here; compare with the paper's figure."
    )
    return Drawing(figure, caption)


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


def _sizes(points: pd.DataFrame) -> str:
    at = points.groupby("D")["inv_alpha"].unique()
    return "; ".join(f"D = {D} at 1/α = {', '.join(f'{x:.3g}' for x in sorted(values))}" for D, values in at.items())


def _points(tables: Mapping[str, pd.DataFrame], solver: str) -> pd.DataFrame:
    """Test errors of solutions; for annealing with the theory of typical solutions and z-scores."""
    points = averages(tables[f"overparam/solve_{solver}"], "test_error")
    if solver == "anneal":
        return with_theory(largest_solved(points), tables["overparam/typical_points"], "error_typical")
    return points[points["D"] == shared_size(tables)]
