"""Figure 1: phase diagram of the overparameterized perceptron in the plane (α_T, 1/α)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from localentropy.analysis.runs import averages, shared_size
from localentropy.analysis.thresholds import storage_thresholds, success_fractions
from localentropy.figures.algorithms import ALGORITHMS, shades_of
from localentropy.figures.drawing import BINOMIAL, PHASES, Drawing, clipped_bars, in_style, letter, plane_beside_two
from localentropy.figures.perceptron_points import one_two_five, small_rates
from localentropy.figures.series import DOT

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

TOP = 1.6
"""Upper end of the axis of 1/α."""
BOTTOM = 0.5
"""Its lower end."""
FRACTIONS = ("focusing_bp", "sbpi")
"""Solvers whose fractions solved are shown near the thresholds."""
THRESHOLDS = {"inv_alpha_c": "interpolation threshold", "inv_alpha_le": "local-entropy threshold"}
NEAR = (0.78, 1.37)
"""Ends of the axis of 1/α there."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Both thresholds, the three regions between them, and the storage limit at α_T = 0; train errors of solvers."""
    table = tables["overparam/thresholds"].sort_values("alpha_T")
    p = tables["overparam/thresholds"].attrs["parameters"]
    runs = tables["overparam/solve_sbpi"].attrs["parameters"]
    storage = {f"inv_{name}": 1.0 / at for name, at in storage_thresholds(tables["margins/dense_regions"]).items()}
    figure, axes = plane_beside_two(7.2, 4.4)
    axis, errors, fractions = axes
    _phases(axis, table, storage)
    _train_errors(errors, tables)
    _fractions(fractions, tables)
    # The thresholds of other features do not apply to these runs.
    marked = table[(table["alpha_T"] == runs["alpha_T"]) & (p["ensemble"]["activation"] == runs["activation"])]
    for column, symbol, side in (("inv_alpha_c", "c", "left"), ("inv_alpha_le", r"{\mathrm{LE}}", "right")):
        for x in marked[column]:
            name = f"threshold, {THRESHOLDS[column]}"
            value = rf"$1/\alpha_{symbol}$ = {x:.3f}"
            fractions.threshold(x, "", errors.threshold(x, value, name, side=side), side=side)
    one_two_five(errors, (1, 2, 5, 10, 20), (0.75, 24.0))
    small_rates(errors)
    # The values of the dotted lines stand above the points.
    errors.set(ylabel="train error, best over the run", ylim=(-1e-4, 40.0))
    errors.legend(loc="upper right")
    fractions.set(xlim=NEAR, ylim=(-0.04, 1.04), xlabel=r"$1/\alpha = N/P$", ylabel="fraction solved")
    look = {"fontsize": 6, "handlelength": 1.0, "columnspacing": 0.8, "title_fontsize": 6}
    # The entries have no error bars, so that they are no points.
    marks, names = zip(*((bars[0], bars.get_label()) for bars in fractions.containers), strict=True)
    fractions.legend(marks, names, title="size $D$", loc="lower right", ncols=len(FRACTIONS), **look)
    letter(axes)
    caption = (
        "Figure 1. (a) The plane of the loads with two thresholds of the binary perceptron on random features. From the "
        "interpolation threshold 1/α_c on (solid) there are solutions. From the local-entropy threshold 1/α_LE on "
        "(dashed) the Franz–Parisi entropy around solutions of the largest margin is monotonic. "
        f"{_dots(storage)}The inset shows the distance between the two lines. (b) The smallest train error that each of "
        f"four solvers reaches at α_T = {runs['alpha_T']:g}, against 1/α; {_marks(len(marked), p, runs)}. (c) Which fraction "
        "of the instances focusing BP and SBPI solve near the thresholds; larger sizes are darker, the largest has large "
        "marks."
    )
    settings = {
        "theory": f"replica-symmetric, {p['ensemble']['activation']} features",
        "size in (b)": f"D = {shared_size(tables)}; the legend of (c) has its sizes, which are drawn side by side",
        "points in (b)": "the smallest train error of a run, mean and standard error over instances",
        "error bars of fractions": BINOMIAL,
        "chosen here": "the plane of the figure, the range of α_T, sizes and settings of the solvers",
    }
    return Drawing(figure, caption, settings)


def _dots(storage: Mapping[str, float]) -> str:
    if not storage:
        return ""
    values = " and ".join(f"{at:.4f}" for at in storage.values())
    return f"Dots: their values {values} in the storage problem, α_T = 0. "


def _phases(axis: Panel, table: pd.DataFrame, storage: Mapping[str, float]) -> None:
    """The plane of the loads, and in an inset the distance of the two thresholds."""
    x, c, le = table["alpha_T"], table["inv_alpha_c"], table["inv_alpha_le"]
    axis.fill_between(x, BOTTOM, c, color=PHASES["none"], linewidth=0)
    axis.fill_between(x, c, le, color=PHASES["hard"], linewidth=0)
    axis.fill_between(x, le, TOP, color=PHASES["wide"], linewidth=0)
    solid = {"color": "black", "label": r"$1/\alpha_c$, interpolation"}
    axis.line(x, c, THRESHOLDS["inv_alpha_c"], solid)
    dashed = {"color": "black", "linestyle": "--", "label": r"$1/\alpha_{\mathrm{LE}}$, local entropy"}
    axis.line(x, le, THRESHOLDS["inv_alpha_le"], dashed)
    ends = [*storage.values()]
    names = [f"{THRESHOLDS[column]}, storage" for column in storage]
    rows = axis.picture.add(pd.DataFrame({"series": names, "x": 0.0, "y": ends, "y_err": 0.0}))
    axis.line([0.0] * len(ends), ends, rows, DOT | {"color": "black", "clip_on": False, "zorder": 3})
    # The lower label would lie on its line: it stands below, and a thin line leads to the dot.
    for y, place, lead in zip(
        ends, ((5, -62), (5, 6)), ({"arrowstyle": "-", "linewidth": 0.5, "color": "black"}, None), strict=False
    ):
        axis.annotate(f"{y:.4f}", (0, y), xytext=place, textcoords="offset points", fontsize=7, arrowprops=lead)
    axis.set(xlim=(0.0, x.max()), ylim=(BOTTOM, TOP), xlabel=r"$\alpha_T = P/D$", ylabel=r"$1/\alpha = N/P$")
    at = 0.45 * x.max()
    low, high = np.interp(at, x, c), np.interp(at, x, le)
    axis.text(0.8 * x.max(), 0.5 * (np.interp(0.8 * x.max(), x, le) + 1.12), "wide flat minima", ha="center")
    slope = (np.interp(1.1 * at, x, c) - np.interp(0.9 * at, x, c)) / (0.2 * at)
    look = {"rotation": np.degrees(np.arctan(slope)), "transform_rotates_text": True, "rotation_mode": "anchor"}
    axis.text(at, (low + high) / 2, "SAT, hard", ha="center", va="center", **look)
    axis.text(at, (BOTTOM + low) / 2, "UNSAT", ha="center", va="center")
    right = axis.secondary_yaxis("right", functions=(np.reciprocal, np.reciprocal))
    right.set(ylabel=r"$\alpha$", yticks=[0.7, 0.8, 1.0, 1.2, 1.5, 2.0])
    axis.legend(loc="upper right")
    inset = axis.inset_axes((0.5, 0.57, 0.46, 0.2))
    inset.plot(x, le - c, color="black")
    inset.set(xlim=(0.0, x.max()), ylim=(0.0, 0.2), yticks=[0.0, 0.1, 0.2], facecolor="none")
    inset.set_title(r"$1/\alpha_{\mathrm{LE}} - 1/\alpha_c$", fontsize=6, pad=2)
    inset.set_xlabel(r"$\alpha_T$", fontsize=6, labelpad=0)
    inset.tick_params(labelsize=6)


def _marks(drawn: int, theory: Mapping[str, Any], runs: Mapping[str, Any]) -> str:
    if drawn:
        return "dotted lines are the thresholds"
    if theory["ensemble"]["activation"] != runs["activation"]:
        return f"no thresholds are drawn: the solvers ran on {runs['activation']} features"
    return f"the thresholds at α_T = {runs['alpha_T']:g} were not computed"


def _train_errors(axis: Panel, tables: Mapping[str, pd.DataFrame]) -> None:
    """Best train error of each solver at the size they share; the CSV has the last one and the other sizes too."""
    for solver in ("anneal", "focusing_bp", "sbpi", "binarynet"):
        runs = tables[f"overparam/solve_{solver}"]
        if solver not in FRACTIONS:
            solved = _fractions_solved(runs)
            axis.declare(f"{solver}, solved", solved.assign(x=solved["inv_alpha"]))
        for quantity in ("train_error_best", "train_error_last"):
            points = averages(runs, quantity, solved_only=False)
            rows = axis.declare(f"{solver}, {quantity}", points.assign(x=points["inv_alpha"]))
            if quantity == "train_error_best":
                here = points["D"] == shared_size(tables)
                # SBPI hides focusing BP where their errors agree.
                size = {"focusing_bp": 6.0, "sbpi": 3.5}.get(solver, 4.0)
                look = {**ALGORITHMS[solver], "markersize": size, "linewidth": 1.0}
                axis.points(points[here], rows[here], look, "inv_alpha")


def _fractions(axis: Panel, tables: Mapping[str, pd.DataFrame]) -> None:
    """Fraction solved of each size, in the colour of its solver, darker for larger sizes, side by side."""
    for index, solver in enumerate(FRACTIONS):
        points = _fractions_solved(tables[f"overparam/solve_{solver}"])
        rows = axis.declare(f"{solver}, solved", points.assign(x=points["inv_alpha"]))
        look = ALGORITHMS[solver]
        sizes = sorted(points["D"].unique())
        for size, (D, color) in enumerate(shades_of(solver, sizes).items()):
            near = (points["D"] == D) & points["inv_alpha"].between(*NEAR)
            largest = size == len(sizes) - 1
            style = {"color": color, "marker": look["marker"], "linewidth": 0.8, "capsize": 1.5, "zorder": 3 + largest}
            style |= {"label": f"{look['label']} {D}", "markersize": 5.0 if largest else 3.0}
            here, shift = points[near], 0.0015 * (2 * size - len(sizes) + index)
            at = here["inv_alpha"] + shift
            axis.points(here, rows[near], style, "inv_alpha", at=at, bars=clipped_bars(here))


def _fractions_solved(runs: pd.DataFrame) -> pd.DataFrame:
    """Fraction of the instances solved at each size."""
    outcomes = runs[runs["quantity"] == "solved"]
    points = success_fractions(outcomes, ["D", "N", "inv_alpha"], outcomes["value"]).rename(columns={"runs": "n"})
    return points.assign(solved=points["y"])
