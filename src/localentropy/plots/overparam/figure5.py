"""Figure 5: tree committee machine with continuous weights, focusing BP and SGD against overparameterization."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.lines import Line2D

from localentropy.analysis.thresholds import first_solved
from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.drawing import Drawing, in_style, letter, panels, threshold_line
from localentropy.plots.network_points import SERIES
from localentropy.plots.perceptron_points import one_two_five, small_rates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SOLVERS: dict[str, dict[str, Any]] = {
    "committee_focusing_bp": ALGORITHMS["focusing_bp"],
    "committee_sgd": ALGORITHMS["sgd"],
}
LINES = SERIES | {"overlap": {}}
THRESHOLDS = {"half": ":", "all": "-"}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train and test error, (b) overlap of SGD's solutions of one training set, (c) local energy at two N/P."""
    runs = {solver: tables[f"overparam/{solver}"] for solver in SOLVERS}
    near, far = _compared(runs)
    data = pd.concat(
        [_errors(solver, table) for solver, table in runs.items()]
        + [_overlaps(runs["committee_sgd"])]
        + [_local_energies(solver, table, near, far) for solver, table in runs.items()]
    )
    thresholds = pd.concat([_thresholds(solver, table) for solver, table in runs.items()])
    figure, axes = panels(3, 7.2, 2.8)
    for (panel, series, solver), points in data.groupby(["panel", "series", "solver"], sort=False):
        style = SOLVERS[str(solver)] | LINES[str(series)]
        axes["abc".index(str(panel))].errorbar(points["x"], points["y"], points["y_err"], **style)
    for axis in axes[:2]:
        for line in thresholds.itertuples():
            if axis is axes[0] or line.solver == "committee_sgd":
                color, linestyle = SOLVERS[str(line.solver)]["color"], THRESHOLDS[str(line.share)]
                # Two lines may coincide: the solvers' values are on different sides.
                side = "left" if line.solver == "committee_focusing_bp" else "right"
                at = {"half": 0.42, "all": 0.8}[str(line.share)] if axis is axes[0] else 0.97  # below the legend
                threshold_line(axis, line.x, f"{line.x:.3g}", color=color, linestyle=linestyle, side=side, at=at)
        errors = data[data["panel"] == "a"]
        one_two_five(axis, (0.2, 0.5, 1, 2, 5), (0.9 * errors["x"].min(), 1.1 * errors["x"].max()))
    axes[0].set(ylabel="error rate", ylim=(-2e-4, 60.0 * data.loc[data["panel"] == "a", "y"].max()))
    small_rates(axes[0])
    axes[1].set(ylabel="overlap of SGD's solutions", ylim=(0.0, 1.0))
    shown = data[(data["panel"] == "c") & (data["x"] < 0.75)]
    axes[2].set(xlabel="distance per unit", ylabel="train error after noise", xlim=(-0.01, 0.75))
    axes[2].set_ylim(-0.006, max(0.02, shown["y"].max() * 1.3))
    _legends(axes, near, far)
    letter(axes)
    marks = thresholds.assign(panel="a", series="threshold, " + thresholds["share"], y=float("nan"), y_err=0.0)
    columns = ["panel", "series", "x", "y", "y_err", "solver", "inv_alpha", "sigma", "solved", "samples"]
    numbers = pd.concat([data, _difference(runs), marks])[columns].fillna({"y_err": 0.0})
    return Drawing(figure, numbers, _caption(runs, thresholds, near, far, scale))


def _legends(axes: Sequence[Axes], near: float, far: float) -> None:
    """Colours stand for solvers in all panels. Each panel explains its line styles."""
    black: dict[str, Any] = {"color": "black", "marker": "o"}
    solvers = [Line2D([], [], **style) for style in SOLVERS.values()]
    test, train = (Line2D([], [], **(black | SERIES[name])) for name in ("test error", "train error"))
    axes[0].legend([*solvers, test, train], [*(style["label"] for style in SOLVERS.values()), "test", "train"], ncols=2)
    lines = [Line2D([], [], color=SOLVERS["committee_sgd"]["color"], lw=0.8, ls=style) for style in THRESHOLDS.values()]
    axes[1].legend(lines, [f"{share} solved" for share in THRESHOLDS], loc="upper right")
    if not math.isnan(far):
        lines = [Line2D([], [], **(black | SERIES[name])) for name in ("near threshold", "far above")]
        axes[2].legend(lines, [f"$N/P$ = {value:.2g}" for value in (near, far)], loc="upper left")


def _by_training_set(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Mean and standard error over training sets of the mean over the runs on each."""
    each = rows.groupby([*by, "sample"])["value"].mean()
    return each.groupby(level=list(by)).agg(y="mean", y_err="sem", samples="size").reset_index()


def _solved(table: pd.DataFrame) -> pd.Series:
    """Fraction of the runs solved at each N/P."""
    return table[table["quantity"] == "solved"].groupby("inv_alpha")["value"].mean().sort_index()


def _errors(solver: str, table: pd.DataFrame) -> pd.DataFrame:
    frames = []
    for quantity in ("train_error", "test_error"):
        points = _by_training_set(table[table["quantity"] == quantity], ["inv_alpha"])
        frames.append(points.assign(series=quantity.replace("_", " "), solved=points["inv_alpha"].map(_solved(table))))
    points = pd.concat(frames)
    return points.assign(panel="a", solver=solver, x=points["inv_alpha"])


def _overlaps(table: pd.DataFrame) -> pd.DataFrame:
    points = _by_training_set(table[table["quantity"] == "overlap"], ["inv_alpha"])
    points = points[points["samples"] >= 3]  # of fewer training sets an error says nothing
    points = points.assign(panel="b", series="overlap", solver="committee_sgd", x=points["inv_alpha"])
    return points.assign(solved=points["inv_alpha"].map(_solved(table)))


def _difference(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Test error of SGD less that of focusing BP on the same training sets; not drawn."""
    keys = ["inv_alpha", "sample"]
    each = {
        solver: table[table["quantity"] == "test_error"].groupby(keys)["value"].mean() for solver, table in runs.items()
    }
    gap = (each["committee_sgd"] - each["committee_focusing_bp"]).rename("value").reset_index()
    points = _by_training_set(gap, ["inv_alpha"])
    return points.assign(panel="not drawn", series="SGD - fBP, test error", x=points["inv_alpha"])


def _thresholds(solver: str, table: pd.DataFrame) -> pd.DataFrame:
    """Smallest N/P from which on at least half of the runs, and all of them, are solved."""
    firsts = {share: first_solved(_solved(table), least) for share, least in (("half", 0.5), ("all", 1.0))}
    marks = pd.DataFrame({"solver": solver, "share": list(firsts), "x": list(firsts.values())})
    return marks.dropna(subset="x")


def _compared(runs: Mapping[str, pd.DataFrame]) -> tuple[float, float]:
    """The smallest N/P from which on all runs of both solvers are solved, and the largest N/P; NaN where there is none."""
    both = pd.concat([_solved(table).rename(solver) for solver, table in runs.items()], axis=1).min(axis=1)
    first = first_solved(both)
    return (math.nan, math.nan) if first is None else (first, float(both.index.max()))


def _local_energies(solver: str, table: pd.DataFrame, near: float, far: float) -> pd.DataFrame:
    frames = []
    for series, inv_alpha in (("near threshold", near), ("far above", far)):
        here = table[table["inv_alpha"] == inv_alpha]
        distance = here[here["quantity"] == "noise_distance"].groupby("sigma")["value"].mean()
        points = _by_training_set(here[here["quantity"] == "noise_train_error"], ["sigma"])
        points = points.assign(series=series, inv_alpha=inv_alpha, x=points["sigma"].map(distance))
        frames.append(points.assign(panel="c", solver=solver))
    return pd.concat(frames)


def _caption(runs: Mapping[str, pd.DataFrame], thresholds: pd.DataFrame, near: float, far: float, scale: str) -> str:
    fbp, sgd = (runs[solver].attrs["parameters"] for solver in SOLVERS)
    P = int(runs["committee_sgd"]["P"].iloc[0])
    smallest = int(runs["committee_sgd"]["N"].min()) // fbp["units"]
    found = [
        f"{SOLVERS[solver]['label']} "
        + (", ".join(f"{share} from N/P = {x:.3g}" for share, x in zip(marks["share"], marks["x"], strict=True)))
        for solver, marks in thresholds.groupby("solver", sort=False)
    ]
    energies = (
        f"at N/P = {near:.3g}, the first at which all runs of both are solved (dashed, open), and at {far:.3g}"
        if not math.isnan(far)
        else "not drawn: at no N/P are all runs of both solved"
    )
    return (
        f"Figure 5. Tree committee machine with K = {fbp['units']} units and continuous weights on sign features of "
        f"{fbp['D']} latent dimensions, P = {P} patterns, α_T = {fbp['alpha_T']:g}; {fbp['samples']} training sets, the "
        f"same for both solvers, {sgd['starts']} starts of SGD on each; mean and standard error over training sets. "
        "(a) Train (dashed, open) and test error of focusing BP and of SGD on the cross-entropy, linear below 0.001 and "
        "logarithmic above; of an unsolved run, the weights with the fewest errors. Vertical lines: from where on half (dotted) and all (solid) runs are "
        f"solved: {'; '.join(found) or 'nowhere'}. (b) Cosine of two solutions of SGD for one training set, mean over "
        "units, where at least three training sets have two. Focusing BP is deterministic and has one solution. (c) Train error under multiplicative noise on the "
        f"weights, units normalised again, against the root mean square distance that a unit moved, {energies}. Both solvers stop at the first solution they meet"
        f"{'' if fbp['stop'] == 'first' else ' (focusing BP: after all couplings)'}. Correlated features make "
        "focusing BP approximate. The text lost K, P, D, the damping and number of iterations of focusing BP and all "
        f"settings of SGD: these are chosen here. {_below_paper(scale, smallest)}"
    )


def _below_paper(scale: str, smallest: int) -> str:
    if scale == "paper":
        return ""
    return (
        f"Scale {scale}: below the paper's size (fewer training sets and starts; units have {smallest} inputs or more)."
    )
