"""Figure 14: how far the layers of convolutional networks move from their initial weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator, ScalarFormatter

from localentropy.figures.algorithms import ALGORITHMS
from localentropy.figures.cnn_tables import below_paper, powers_of_two, training
from localentropy.figures.drawing import Drawing, colors_of, in_style, letter, panels
from localentropy.figures.network_points import distance_axis

WHOLE = "whole network"
LOOKS: dict[str, dict[str, Any]] = {
    name: {"color": color, "marker": marker}
    for (name, color), marker in zip(
        {**colors_of(("conv 1", "conv 2", "conv 3", "conv 4", "linear"), of="other"), WHOLE: "black"}.items(),
        ("o", "s", "^", "D", "v", "*"),
        strict=True,
    )
}
SHOWN = {leading * 10**power for leading in (1, 1.5, 2, 3, 5, 7) for power in range(6)}
"""Epochs that are drawn besides 0 and the last: a point for each would be a smear on the logarithmic axis."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Overlap of each layer with its initial weights, a column for each optimizer: against epochs, and against width."""
    table = tables["overparam/cnn"]
    rows = table[table["quantity"] == "overlap_start"]
    rows = rows.assign(series=[WHOLE if pd.isna(layer) else list(LOOKS)[int(layer)] for layer in rows["layer"]])
    keys = ["optimizer", "width", "parameters", "series", "epoch"]
    points = rows.groupby(keys, sort=False)["value"].agg(y="mean", y_err="sem", samples="size").reset_index()
    points = points.astype({"epoch": int}).sort_values(["width", "epoch"])
    last, widest = points["epoch"].max(), points["width"].max()
    in_time = points["epoch"].isin(SHOWN | {0, last}) & (points["width"] == widest) & (points["series"] != WHOLE)
    optimizers = table.attrs["parameters"]["optimizers"]
    frames = []
    for column, optimizer in enumerate(optimizers):
        here = points["optimizer"] == optimizer
        frames.append(points[here & in_time].assign(panel="ab"[column], x=points["epoch"]))
        frames.append(points[here & (points["epoch"] == last)].assign(panel="cd"[column], x=points["width"]))
    data = pd.concat(frames)
    figure, axes = panels(2, 7.2, 5.2, rows=2)
    data = data.assign(row=figure.add(data))
    for (panel, series), line in data.groupby(["panel", "series"], sort=False):
        axes["abcd".index(str(panel))].points(line, line["row"].to_numpy(), LOOKS[str(series)])
    for axis, optimizer in zip(axes[:2], optimizers, strict=False):
        axis.set(xlabel="epoch $t$", ylabel="overlap of epochs $t$ and 0")
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xticks([0, *(10**power for power in range(6) if 10**power <= last)])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_title(f"{ALGORITHMS[optimizer]['label']}, $k = {widest}$", loc="right")
    for axis, optimizer in zip(axes[2:], optimizers, strict=False):
        axis.set(xscale="log", xlabel="width $k$", ylabel=f"overlap of epochs {last} and 0")
        axis.set_xticks(powers_of_two(points["width"]))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_title(ALGORITHMS[optimizer]["label"], loc="right")
    for axis in axes:
        axis.set_ylim(max(0.0, data["y"].min() - 0.1), 1.03)
        axis.xaxis.set_major_formatter(ScalarFormatter())
        distance_axis(axis, r"distance $\sqrt{2 (1 - q)}$")
    handles = [Line2D([], [], **look) for look in LOOKS.values()]
    figure.legend(handles, LOOKS, loc="outside lower center", ncols=len(LOOKS), columnspacing=1.2)
    letter(axes)
    for column in range(len(optimizers), 2):
        for axis in axes[column::2]:
            axis.set_visible(False)
    return Drawing(figure, _caption(table), _settings(table, scale))


def _caption(table: pd.DataFrame) -> str:
    p = table.attrs["parameters"]
    labels = [ALGORITHMS[optimizer]["label"] for optimizer in p["optimizers"]]
    in_time = " and ".join(f"({panel}) {label}" for panel, label in zip("ab", labels, strict=False))
    by_width = " and ".join(f"({panel}) {label}" for panel, label in zip("cd", labels, strict=False))
    return (
        "Figure 14. How far the layers of convolutional networks move from their initial weights: overlap q (cosine) of "
        f"each layer with itself before training, and on the right axis the distance √(2 (1 − q)). {in_time}, against the "
        f"epoch, at the largest width k = {max(p['widths'])}. {by_width}, "
        "after the last epoch, against the width. Black points are the weights of all layers together."
    )


def _settings(table: pd.DataFrame, scale: str) -> dict[str, str]:
    p = table.attrs["parameters"]
    return {
        **training(table),
        "points": f"mean and standard error of {p['samples']} networks",
        "weights": "filters before batch norm is folded in, not aligned, of norm 1",
        "axis of epochs": "linear below epoch 1, logarithmic above",
        **below_paper(table, scale),
    }
