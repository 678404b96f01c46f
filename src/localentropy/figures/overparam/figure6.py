"""Figure 6: multi-layer perceptrons on the parity of MNIST digits, against the number of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter, NullLocator

from localentropy.figures.drawing import GREY, Drawing, in_style, letter, panels
from localentropy.figures.network_points import (
    ERROR_BARS,
    SERIES,
    curvatures,
    draw_points,
    draw_thresholds,
    energies,
    errors,
    hessian,
    label_panels,
    logarithmic_inset,
    overlaps,
    samples_in_words,
    thresholds,
)

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

STARTS: dict[str, dict[str, Any]] = {
    "random_orthogonal": {"color": "#332288", "marker": "o", "label": "orthogonal"},
    "adversarial": {"color": "#7a3b00", "marker": "s", "label": "adversarial"},
}
"""No algorithm has these colours."""
PREPARED = {"scaled": "which have one common scale", "whitened": "whitened, each pattern with mean square 1"}
OWN: dict[str, Any] = {"linestyle": "-.", "markersize": 2.0, "linewidth": 0.8}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train and test error, (b) overlap of aligned solutions, (c) local energy near the threshold and far above,
    (d) curvature of the loss.
    """
    table = tables["overparam/mlp"]
    by, x = "initialization", "parameters"
    trains = table[table["quantity"] == "train_error"]
    solved = (trains["value"] == 0.0).groupby([trains[by], trains["width"]])
    widths = thresholds(solved.mean())
    parameters = table.groupby("width")["parameters"].first()
    positions = {start: int(parameters[width]) for start, width in widths.items()}
    solutions = _of_solutions(table)
    # Without a threshold only the largest width is shown.
    shown = {str(start): widths.get(str(start), table["width"].max()) for start in solutions[by].unique()}
    data = pd.concat(
        [
            overlaps(table, by, x, "untrained"),
            errors(table, by, x).merge(solved.sum().rename("solved"), on=[by, "width"]),
            overlaps(solutions, by, x, "trained"),
            _own_starts(solutions, x),
            energies(solutions, by, shown),
            curvatures(solutions, by, x),
        ]
    )
    figure, axes = panels(2, 7.2, 6.2, rows=2)
    points = data.assign(row=figure.add(data))
    draw_points(axes, points, by, STARTS, SERIES | {"own start": OWN})
    logarithmic = logarithmic_inset(axes[0], points, by, STARTS, SERIES, table.attrs["parameters"]["training_patterns"])
    for axis in (axes[0], axes[1], axes[3]):
        axis.set(xscale="log", xlabel="number of parameters")
        axis.xaxis.set_minor_formatter(NullFormatter())
    logarithmic.set_xscale("log")
    logarithmic.xaxis.set_minor_formatter(NullFormatter())
    # The inset is above the points.
    top = data.loc[data["panel"] == "a", "y"].max()
    axes[0].set(ylim=(-0.02 * top, 2.4 * top), yticks=[0.0, 0.05, 0.1, 0.15])
    label_panels(axes, data, by, STARTS, "both, untrained", "width ", ("upper left", (0.3, 0.43), "upper left", "best"))
    axes[1].text(0.96, 0.72, "with the own start", ha="right", va="top", fontsize=7, transform=axes[1].transAxes)
    _draw_difference(axes[1].inset_axes((0.53, 0.11, 0.44, 0.11)), _difference(data, by), by)
    # In (b) the points are above.
    draw_thresholds({axes[0]: 0.56, logarithmic: 0.99, axes[1]: 0.26}, positions, by, STARTS)
    figure.add(pd.concat([_adversity(table, x), _layers(solutions, x)]))
    # Room for the legend above the points.
    axes[2].set(ylim=(-1e-4, 8.0), yticks=[0.0, 1e-3, 1e-2, 1e-1, 0.5])
    axes[2].set_yticklabels(["0", "0.001", "0.01", "0.1", "0.5"])
    axes[2].yaxis.set_minor_locator(NullLocator())
    letter(axes)
    return Drawing(figure, _caption(positions), _settings(table, data, scale))


def _difference(data: pd.DataFrame, by: str) -> pd.DataFrame:
    """Overlap of trained minus that of untrained networks, where there is one."""
    known = data[data["panel"] == "b"].dropna(subset="y").astype({"y": float, "y_err": float})
    trained, untrained = (known[known["series"] == series] for series in ("trained", "untrained"))
    both = trained.merge(untrained[[by, "width", "y", "y_err"]], on=[by, "width"], suffixes=("", "_before"))
    both = both.assign(y=both["y"] - both["y_before"], y_err=np.hypot(both["y_err"], both["y_err_before"]))
    return both.drop(columns=["y_before", "y_err_before"])


def _draw_difference(inset: Panel, difference: pd.DataFrame, by: str) -> None:
    """The two overlaps of the panel are close to each other."""
    for start, points in difference.groupby(by, sort=False):
        style = STARTS[str(start)] | {"markersize": 2.0, "linewidth": 0.7, "capsize": 1, "label": None}
        inset.points(points, "trained minus untrained", style)
    inset.axhline(0.0, color=GREY, linewidth=0.8)
    inset.set(xscale="log")
    inset.set_title("trained − untrained", fontsize=5, pad=2)
    inset.xaxis.set_minor_formatter(NullFormatter())
    inset.tick_params(labelsize=5)


def _of_solutions(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of networks without a train error, and of pairs of them, at widths with three or more."""
    keys = ["initialization", "width", "sample"]
    solved = table.loc[(table["quantity"] == "train_error") & (table["value"] == 0.0), keys]
    solved = solved[solved.groupby(keys[:2])["sample"].transform("size") >= 3]
    rows = table.merge(solved, on=keys)
    alone, pairs = rows[rows["other"].isna()], rows[rows["other"].notna()]
    pairs = pairs.astype({"other": "int64"}).merge(solved.rename(columns={"sample": "other"}), on=[*keys[:2], "other"])
    return pd.concat([alone, pairs], ignore_index=True)


def _own_starts(solutions: pd.DataFrame, x: str) -> pd.DataFrame:
    """Overlap of each solution with its own network before training, panel b."""
    rows = solutions[(solutions["quantity"] == "overlap_start") & solutions["layer"].isna()]
    points = rows.groupby(["initialization", "width", x])["value"].agg(y="mean", y_err="sem", samples="size")
    points = points.reset_index().assign(panel="b", series="own start", x_err=0.0)
    return points.assign(x=points[x])


def _layers(solutions: pd.DataFrame, x: str) -> pd.DataFrame:
    """Not drawn: the overlaps of (b) for each layer, and how far the activations of each moved in training."""
    frames = [_own_starts(solutions.iloc[:0], x)]
    moved = solutions[solutions["quantity"] == "activation_change"]
    means = moved.groupby(["initialization", "width", x, "layer"])["value"].agg(y="mean", y_err="sem", samples="size")
    for layer, points in means.reset_index("layer").groupby("layer"):
        told = points.drop(columns="layer").reset_index().assign(series=f"change of the activations, layer {layer:.0f}")
        frames.append(told.assign(x=told[x], x_err=0.0))
    for layer, rows in solutions.dropna(subset="layer").groupby("layer"):
        alone = rows.assign(layer=np.nan)
        pairs = [overlaps(alone, "initialization", x, series) for series in ("trained", "untrained")]
        for points in (*pairs, _own_starts(alone, x)):
            frames.append(points.assign(series=points["series"] + f", layer {layer:.0f}"))
    return pd.concat(frames).assign(panel="not drawn")


def _adversity(table: pd.DataFrame, x: str) -> pd.DataFrame:
    """Not drawn: error on the random labels, the overlap with the own start after them, and the number of hidden units
    that no pattern activates.
    """
    silent = table[table["quantity"] == "silent_units"].groupby(["initialization", "width", x, "sample"])["value"].sum()
    labels = table[table["quantity"] == "random_label_error"]
    frames = []
    own = table[table["quantity"] == "random_label_overlap_start"]
    told = {"random-label error": labels, "own start after random labels": own, "silent units": silent.reset_index()}
    for series, rows in told.items():
        points = rows.groupby(["initialization", "width", x])["value"].agg(y="mean", y_err="sem", samples="size")
        frames.append(points.reset_index().assign(panel="not drawn", series=series))
    points = pd.concat(frames)
    return points.assign(x=points[x])


def _caption(positions: Mapping[str, int]) -> str:
    firsts = [f"{count} ({STARTS[name]['label']})" for name, count in positions.items()]
    found = f"From the vertical lines on, half of the networks make no train errors: {' and '.join(firsts)}. "
    return (
        "Figure 6. Multi-layer perceptrons on the parity of MNIST digits from random orthogonal and adversarial "
        "initializations, against the number of parameters. (a) Train error (dashed, open; inset: logarithmic) and test error. "
        f"{found if positions else 'There is no size at which half of the networks make no train errors. '}"
        "(b) Overlap of two aligned solutions; the right axis has their distance. Grey: "
        "before training; inset: the difference. Dash-dotted: a solution and its own start. (c) Train error of "
        "solutions when their weights are multiplied by noise, against the distance that a unit moved, at the threshold "
        "(dashed, open) and at the largest size. (d) Trace and largest eigenvalue of the Hessian of solutions by relative "
        "changes of their weights."
    )


def _settings(table: pd.DataFrame, data: pd.DataFrame, scale: str) -> dict[str, str]:
    p = table.attrs["parameters"]
    settings = {
        "networks": f"{p['hidden_layers']} hidden ReLU layers on 10 principal components, {PREPARED[p['preparation']]}; "
        f"the gain of the initialization is {p['gain']:.4g}",
        "data": f"{p['training_patterns']} training patterns, all 10 000 test patterns",
        "training": f"square-hinge loss of margin {p['margin']:g}, full-batch Adam, learning rate {p['learning_rate']:g} up "
        f"to width {p['narrow']}, beyond it times ({p['narrow']} / width)^(3/2), {p['epochs']} epochs or until there are "
        f"no errors and {_end(p['smallest_loss'])}",
        "networks per point": samples_in_words(data),
        "error bars": ERROR_BARS,
        "overlap in (b)": "weights normalised, where there are three or more solutions; distance per unit, √2 for "
        "orthogonal weights; before training both starts have the same networks",
        "axis of (c)": "root mean square distance over units, normalised again after the noise; errors below 0.001 "
        "(dotted) are on a linear scale, and the distance where a line crosses 0.001 is the radius of its minimum",
        **hessian(table),
        **_adversarial(table),
        "chosen here": "depth, widths, margin, learning rates (Adam's follows Geiger et al.), epochs, batches, size of the "
        "reduced training set",
    }
    if others := _otherwise(p):
        settings["Geiger et al. (2020), whom the text follows"] = others
    below = "below the sizes of the paper's scale: fewer widths and networks, and fewer epochs on random labels"
    return settings | ({} if scale == "paper" else {f"scale {scale}": below})


def _otherwise(p: Mapping[str, Any]) -> str:
    """What Geiger et al. do in another way, in words."""
    theirs = {
        f"principal components {PREPARED['whitened']}": p["preparation"] != "whitened",
        "a gain of 1": p["gain"] != 1.0,
        f"training until {_end(0)}": p["smallest_loss"] != 0.0,
    }
    return "; ".join(words for words, other in theirs.items() if other)


def _end(smallest_loss: float) -> str:
    """Where training ends, in words."""
    if smallest_loss:
        return f"the loss is at most {smallest_loss:g} of the squared margin"
    return "no pattern is inside the margin"


def _adversarial(table: pd.DataFrame) -> dict[str, str]:
    """The setting on what was done before Adam, and what it did."""
    p = table.attrs["parameters"]
    labels = table[table["quantity"] == "random_label_error"].groupby("width")["value"].mean()
    if labels.empty:
        return {}
    reached = ", ".join(f"{error:.2f} ({width})" for width, error in labels.items())
    units = table[(table["quantity"] == "silent_units") & (table["initialization"] == "adversarial")]
    silent = units.groupby("width")["value"].mean() / units["width"].drop_duplicates().set_axis(units["width"].unique())
    return {
        "adversarial initialization": "first trained on random labels by SGD, learning rate "
        f"{p['random_label_learning_rate']:g}, batches of {p['random_label_batch']}, {p['random_label_epochs']} epochs or "
        f"until they are learned; error on them at each width: {reached}; in the end no pattern activates up to "
        f"{silent.max():.1%} of the hidden units (at width {silent.idxmax()})"
    }
