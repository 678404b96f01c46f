"""Means of simulated runs, AMP's runs that recover the teacher and those that do not, and students of risk minimisation."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.analysis.runs import RECOVERED
from localentropy.analysis.thresholds import success_fractions
from localentropy.figures.drawing import COLORS, clipped_bars, enumerated, span

if TYPE_CHECKING:
    from localentropy.figures.series import Look, Panel

POINTS: dict[str, Any] = {"linestyle": "none", "zorder": 3}
AMP: dict[str, Any] = {"color": COLORS[3], "marker": "o"}
"""The look of AMP in every figure of the talk."""
AMP_SIZES = tuple(AMP | {"marker": marker} for marker in "o^sDv")
"""Its looks where a panel shows several sizes."""
LOSSES = {"square": COLORS[2], "logistic": COLORS[0], "hinge": COLORS[1]}
"""Colours of the students that minimize a loss."""
FEATURES: dict[str, dict[str, Any]] = {
    "independent": {"marker": "o"},
    "nonlinear": {"marker": "o"},
    "gaussian": {"marker": "D", "markerfacecolor": "white"},
}
"""Marks of simulations on each kind of features."""


def means(runs: pd.DataFrame, keys: Sequence[str], value: str) -> pd.DataFrame:
    """Mean y over runs, its standard error y_err, and their number, for each combination of the keys."""
    points = runs.groupby(list(keys), dropna=False, sort=True)[value].agg(y="mean", y_err="sem", runs="size")
    return points.reset_index()


def recovered(runs: pd.DataFrame) -> pd.Series:
    """Which runs of AMP have the teacher's direction; of absolute values the sign is free."""
    return runs["cosine"].abs() > RECOVERED


def branches(table: pd.DataFrame, transition: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """States of larger and of smaller free entropy, of a model whose informed start has the larger one from the transition on.

    Args:
        table: of the program `bayes_optimal`.
        transition: the information-theoretic load.
    """
    table = table.sort_values("alpha")
    informed, below = table["start"] == "informed", table["alpha"] <= transition
    return table[informed != below], table[informed == below]


def draw_branches(panel: Panel, best: pd.DataFrame, other: pd.DataFrame, column: str) -> None:
    """The equilibrium as a solid line, each part of the other state as a dashed one."""
    panel.line(best["alpha"], best[column], "equilibrium", {"color": "black"})
    for start, line in other.groupby("start"):
        dashed = {"color": "black", "linestyle": "--", "linewidth": 1.0}
        panel.line(line["alpha"], line[column], f"metastable, {start} start", dashed)


def draw_runs(panel: Panel, runs: pd.DataFrame, errors: bool = False) -> None:
    """Means over the runs of AMP that recover the teacher, hollow, and over those that do not, filled.

    The squared cosine with the teacher is drawn, or what it lacks of 1. Of a posterior mean it is the overlap m, and it
    stays right in runs that have the teacher's direction but lose their length.
    """
    found, overlap = recovered(runs), runs["cosine"] ** 2
    values = 1.0 - overlap if errors else overlap
    for name, chosen, face in (("not recovered", ~found, AMP["color"]), ("recovered", found, "white")):
        points = means(runs[chosen].assign(value=values[chosen]), ["alpha", "d"], "value")
        panel.points(points, f"AMP, {name}", AMP | POINTS | {"markerfacecolor": face}, "alpha")


def draw_recovery(panel: Panel, runs: pd.DataFrame, **look: Any) -> None:
    """Fraction of the runs of AMP that recover the teacher, a line for each size."""
    points = success_fractions(runs, ["d", "alpha"], recovered(runs))
    draw_shares(panel, points, "AMP, fraction recovered", AMP_SIZES, linewidth=0.7, **look)


def amp_counts(runs: pd.DataFrame) -> str:
    """The sizes of AMP's runs and their number at each α."""
    each = runs.groupby(["alpha", "d"]).size()
    return f"AMP, d = {sizes(runs['d'])}, {span(each)} instances at each α"


def amp_settings(runs: pd.DataFrame, threshold: float) -> dict[str, str]:
    """The settings on the points of AMP, whose algorithmic threshold this is."""
    settled = runs["converged"] == 1
    shares = [
        f"{100.0 * settled[side].mean():.0f} % of the runs {name} α_AMP"
        for name, side in (("below", runs["alpha"] < threshold), ("above", runs["alpha"] > threshold))
        if side.any()
    ]
    return {
        "points": f"{amp_counts(runs)}; mean and standard error over the runs "
        f"that recover the teacher (hollow: cosine above {RECOVERED:g}), and over those that do not (filled); none next to "
        "α_AMP, because runs scatter there",
        "overlap of a run": "the squared cosine with the teacher",
        "converged": " and ".join(shares),
    }


def draw_shares(panel: Panel, points: pd.DataFrame, series: str, looks: Iterable[Look], **more: Any) -> None:
    """Fractions of the runs against α, a line and a look for each size. Their error bars end at 0 and 1."""
    for (d, own), look in zip(points.groupby("d"), itertools.cycle(looks), strict=False):
        panel.points(own, series, {"label": f"$d = {d}$", **look, **more}, "alpha", bars=clipped_bars(own))


def sizes(values: Sequence[float] | pd.Series) -> str:
    """Sizes for a caption, such as "50, 100 and 200"."""
    return enumerated([f"{value:.0f}" for value in sorted(set(values))])


def counts(points: pd.DataFrame) -> str:
    """How many runs a point has, such as "8" or "4 to 12"."""
    return span(points["runs"])


def same_limits(axes: Sequence[Panel]) -> None:
    """The limits of y that hold what all panels show."""
    limits = [limit for axis in axes for limit in axis.get_ylim()]
    for axis in axes:
        axis.set_ylim(min(limits), max(limits))


def write(panel: Panel, x: float, y: float, text: str, color: Any = "black", **style: Any) -> None:
    """A curve's name beside it, in its colour, at a place in the data's units."""
    panel.text(x, y, text, color=color, fontsize=7, **style)
