"""Figure 5: tree committee machine with continuous weights, focusing BP and SGD against overparameterization."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.lines import Line2D

from localentropy.analysis.runs import on_each_set, over_sets, solved_by_all, solved_fractions
from localentropy.analysis.thresholds import first_solved
from localentropy.figures.algorithms import ALGORITHMS
from localentropy.figures.drawing import GREY, Drawing, in_style, letter, panels
from localentropy.figures.network_points import SERIES
from localentropy.figures.perceptron_points import one_two_five, small_rates

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

SOLVERS: dict[str, dict[str, Any]] = {
    "committee_focusing_bp": ALGORITHMS["focusing_bp"],
    "committee_sgd": ALGORITHMS["sgd"],
}
LINES = SERIES | {"overlap": {}, "difference": {"color": "black", "marker": "o", "markersize": 2.5, "linewidth": 0.8}}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train error, (b) test error, (c) overlap of SGD's solutions of one training set, (d) local energy at two N/P."""
    runs = {solver: tables[f"overparam/{solver}"] for solver in SOLVERS}
    near, far = _compared(runs)
    data = pd.concat(
        [_errors(solver, table) for solver, table in runs.items()]
        + [_difference(runs), _overlaps(runs["committee_sgd"])]
        + [_local_energies(solver, table, near, far) for solver, table in runs.items()]
    )
    found = ((solver, first_solved(solved_fractions(table), 0.5)) for solver, table in runs.items())
    halves = {solver: half for solver, half in found if half is not None}
    columns = ["panel", "series", "x", "y", "y_err", "solver", "inv_alpha", "sigma"]
    columns += ["distance_raw", "solved", "samples"]
    K = runs["committee_sgd"].attrs["parameters"]["units"]
    data = data.assign(distance_raw=data["x"].where(data["panel"] == "d") * math.sqrt(K))
    figure, axes = panels(2, 6.2, 5.2, rows=2)
    data = data.assign(row=figure.add(data[columns].fillna({"y_err": 0.0})))
    places = {**dict(zip("abcd", axes, strict=True)), "b, inset": axes[1].inset_axes((0.5, 0.5, 0.5, 0.42))}
    for (panel, series, solver), points in data.groupby(["panel", "series", "solver"], sort=False):
        style = {**SOLVERS[str(solver)], **LINES[str(series)]}
        places[str(panel)].points(points, points["row"].to_numpy(), style)
    for solver, half in halves.items():
        # Two lines may coincide: the solvers' values are on different sides.
        side = "left" if solver == "committee_focusing_bp" else "right"
        mark = {"color": SOLVERS[solver]["color"], "side": side, "at": 0.95}
        rows = axes[0].threshold(half, f"{half:.3g}", "threshold", **mark, solver=solver, y_err=0.0)
        for axis in axes[1 : 3 if solver == "committee_sgd" else 2]:
            axis.threshold(half, f"{half:.3g}", rows, **mark)
    smallest, largest = 0.9 * data["inv_alpha"].min(), 1.1 * data["inv_alpha"].max()
    # Train errors are zero far above the threshold: this is left out.
    one_two_five(axes[0], (0.2, 0.3, 0.5, 1, 2), (smallest, min(largest, 2.0 * max(halves.values(), default=math.inf))))
    axes[0].set(ylabel="train error", ylim=(-1e-4, 1.0))
    small_rates(axes[0])
    for axis in axes[1:3]:
        one_two_five(axis, (0.2, 0.5, 1, 2, 5), (smallest, largest))
    _test_errors(axes[1], places["b, inset"], data)
    axes[2].set(ylabel="overlap of SGD's solutions", ylim=(0.0, 1.02))
    axes[2].axhline(1.0, color=GREY, linewidth=0.8)
    axes[3].set(xlabel="distance per unit", ylabel="train error after noise", xscale="log", xlim=(8e-4, 1.0))
    small_rates(axes[3])
    axes[3].set_ylim(-1e-4, 1.0)
    _legends(axes, near, far)
    letter(axes)
    return Drawing(figure, _caption(halves, near, far), _settings(runs, halves, scale))


def _test_errors(axis: Panel, inset: Panel, data: pd.DataFrame) -> None:
    """Limits and labels of the test errors and of their difference."""
    errors = data.loc[data["series"] == "test error", "y"]
    low, high = float(errors.min()), float(errors.max())
    axis.set(ylabel="test error", ylim=(low - 0.1 * (high - low), high + 0.6 * (high - low)))
    inset.axhline(0.0, color=GREY, linewidth=0.8)
    inset.set_title("SGD − fBP", fontsize=7)
    inset.tick_params(labelsize=6)
    N_P = data.loc[data["panel"] == "b, inset", "x"]
    one_two_five(inset, (0.5, 1, 2), (0.9 * N_P.min(), 1.1 * N_P.max()))
    inset.set_xlabel("")


def _legends(axes: Sequence[Panel], near: float, far: float) -> None:
    """Colours stand for solvers in all panels."""
    solvers = [Line2D([], [], **style) for style in SOLVERS.values()]
    axes[0].legend(solvers, [style["label"] for style in SOLVERS.values()], loc="upper right")
    if not math.isnan(far):
        black: dict[str, Any] = {"color": "black", "marker": "o"}
        lines = [Line2D([], [], **(black | SERIES[name])) for name in ("near threshold", "far above")]
        axes[3].legend(lines, [f"$N/P$ = {value:.2g}" for value in (near, far)], loc="upper left")


def _errors(solver: str, table: pd.DataFrame) -> pd.DataFrame:
    frames = []
    for panel, quantity in (("a", "train_error"), ("b", "test_error")):
        points = over_sets(on_each_set(table[table["quantity"] == quantity])).reset_index()
        points = points.assign(panel=panel, series=quantity.replace("_", " "), solver=solver, x=points["inv_alpha"])
        frames.append(points.assign(solved=points["inv_alpha"].map(solved_fractions(table))))
    return pd.concat(frames)


def _overlaps(table: pd.DataFrame) -> pd.DataFrame:
    points = over_sets(on_each_set(table[table["quantity"] == "overlap"])).reset_index()
    points = points[points["samples"] >= 3]  # of fewer training sets an error says nothing
    points = points.assign(panel="c", series="overlap", solver="committee_sgd", x=points["inv_alpha"])
    return points.assign(solved=points["inv_alpha"].map(solved_fractions(table)))


def _difference(runs: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Test error of SGD minus that of focusing BP on the same training sets."""
    each = {solver: on_each_set(table[table["quantity"] == "test_error"]) for solver, table in runs.items()}
    points = over_sets(each["committee_sgd"] - each["committee_focusing_bp"]).reset_index()
    return points.assign(panel="b, inset", series="difference", solver="committee_sgd", x=points["inv_alpha"])


def _compared(runs: Mapping[str, pd.DataFrame]) -> tuple[float, float]:
    """The smallest N/P from which on all runs of both solvers are solved, and the largest N/P; NaN where there is none."""
    both = solved_by_all(solved_fractions(table) for table in runs.values())
    first = first_solved(both)
    return (math.nan, math.nan) if first is None else (first, float(both.index.max()))


def _local_energies(solver: str, table: pd.DataFrame, near: float, far: float) -> pd.DataFrame:
    frames = []
    for series, inv_alpha in (("near threshold", near), ("far above", far)):
        here = table[table["inv_alpha"] == inv_alpha]
        distance = here[here["quantity"] == "noise_distance"].groupby("sigma")["value"].mean()
        points = over_sets(on_each_set(here[here["quantity"] == "noise_train_error"], ["sigma"])).reset_index()
        points = points.assign(series=series, inv_alpha=inv_alpha, x=points["sigma"].map(distance))
        frames.append(points.assign(panel="d", solver=solver))
    return pd.concat(frames)


def _caption(halves: Mapping[str, float], near: float, far: float) -> str:
    found = [f"{SOLVERS[solver]['label']} {half:.3g}" for solver, half in halves.items()]
    energies = (
        f"at N/P = {near:.3g} (dashed, open), the first at which both solve every run, and at {far:.3g}"
        if not math.isnan(far)
        else "not drawn: there is no N/P at which both solve every run"
    )
    return (
        "Figure 5. Tree committee machine with continuous weights, trained by focusing BP and by SGD. (a) Train error "
        "against the number of weights per pattern. From the dotted lines on, half of the runs are solved: "
        f"{', '.join(found) or 'nowhere'}. (b) Test error. The inset shows the test error of SGD minus the one of focusing "
        "BP on the same training sets. (c) Cosine of two solutions of SGD for one training set; grey: equal "
        "solutions. Focusing BP is deterministic and has one solution. (d) Train error when the weights are multiplied by "
        f"noise, against the distance that a unit moved, {energies}."
    )


def _settings(runs: Mapping[str, pd.DataFrame], halves: Mapping[str, float], scale: str) -> dict[str, str]:
    fbp, sgd = (runs[solver].attrs["parameters"] for solver in SOLVERS)
    P = int(runs["committee_sgd"]["P"].iloc[0])
    first = halves.get("committee_focusing_bp")
    inputs = f"; {round(first * P / fbp['units'])} inputs of a unit at the threshold of fBP" if first else ""
    stop = "" if fbp["stop"] == "first" else " (focusing BP: after all couplings)"
    settings = {
        "model": f"K = {fbp['units']} units, sign features of {fbp['D']} latent dimensions, P = {P} patterns, α_T = "
        f"{fbp['alpha_T']:g}{inputs}",
        "points": f"mean and standard error over {fbp['samples']} training sets, the same for both solvers; "
        f"{sgd['starts']} starts of SGD on each",
        "runs": f"both solvers stop at the first solution they meet{stop}, SGD {sgd['epochs_after']} epochs after it; an "
        "unsolved run counts with its weights of fewest errors",
        "SGD": f"on the cross-entropy; after each epoch the norm β of the units grows by a factor 1 + "
        f"{sgd['beta_growth']:g} from {sgd['beta']:g} on, and the norm γ of the output by 1 + {sgd['gamma_growth']:g} from "
        f"{sgd['gamma']:g} on",
        "focusing BP": "approximate here, because the features are correlated",
        "axes of train errors": "linear below 0.001 and logarithmic above",
        "overlap in (c)": "mean over units, where at least three training sets have two solutions",
        "distance in (d)": "root mean square over units, normalised again after the noise; √K times it is the distance of "
        "all weights, which the CSV has too",
        "chosen here": "K, P, D, damping and number of iterations of focusing BP, all values of SGD's schedule",
    }
    below = {} if scale == "paper" else {f"scale {scale}": "fewer training sets and starts than at the scale paper"}
    return settings | below
