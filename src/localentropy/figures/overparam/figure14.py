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
from localentropy.figures.network_points import distance_axis, distance_of

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
    """How far each layer is from its initial weights, a column for each optimizer: against epochs, and against width.

    Against epochs as an overlap, as in the text. Against the width as a distance, which must not vanish.
    """
    table = tables["overparam/cnn"]
    rows = table[table["quantity"] == "overlap_start"]
    rows = rows.assign(series=[WHOLE if pd.isna(layer) else list(LOOKS)[int(layer)] for layer in rows["layer"]])
    rows = rows.astype({"epoch": int}).sort_values(["width", "epoch"])
    last, widest = rows["epoch"].max(), rows["width"].max()
    in_time = rows["epoch"].isin(SHOWN | {0, last}) & (rows["width"] == widest) & (rows["series"] != WHOLE)
    optimizers = table.attrs["parameters"]["optimizers"]
    frames = []
    for column, optimizer in enumerate(optimizers):
        here = rows["optimizer"] == optimizer
        frames.append(_means(rows[here & in_time]).assign(panel="ab"[column], x=lambda means: means["epoch"]))
        apart = rows.assign(value=distance_of(rows["value"]))[here & (rows["epoch"] == last)]
        frames.append(_means(apart).assign(panel="cd"[column], x=lambda means: means["width"]))
    data = pd.concat(frames)
    figure, axes = panels(2, 7.2, 5.2, rows=2)
    data = data.assign(row=figure.add(data))
    for (panel, series), line in data.groupby(["panel", "series"], sort=False):
        axes["abcd".index(str(panel))].points(line, line["row"].to_numpy(), LOOKS[str(series)])
    letter(axes)
    for axis, optimizer in zip(axes[:2], optimizers, strict=False):
        axis.set(xlabel="epoch $t$", ylabel="overlap of epochs $t$ and 0")
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xticks([0, *(10**power for power in range(6) if 10**power <= last)])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_title(f"{ALGORITHMS[optimizer]['label']}, $k = {widest}$", loc="right")
        here = data[data["panel"] == axis.letter]
        axis.set_ylim(here["y"].min() - 0.05, 1.02)
        distance_axis(axis, r"distance $\sqrt{2 (1 - q)}$")
    for axis, optimizer in zip(axes[2:], optimizers, strict=False):
        axis.set(xscale="log", xlabel="width $k$", ylabel=f"distance of epochs {last} and 0", ylim=(0.0, 1.42))
        axis.set_xticks(powers_of_two(rows["width"]))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_title(ALGORITHMS[optimizer]["label"], loc="right")
    for axis in axes:
        axis.xaxis.set_major_formatter(ScalarFormatter())
    handles = [Line2D([], [], **look) for look in LOOKS.values()]
    figure.legend(handles, LOOKS, loc="outside lower center", ncols=len(LOOKS), columnspacing=1.2)
    for column in range(len(optimizers), 2):
        for axis in axes[column::2]:
            axis.set_visible(False)
    return Drawing(figure, _caption(table), _settings(table, scale))


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean over networks with its standard error."""
    keys = ["optimizer", "width", "parameters", "series", "epoch"]
    return rows.groupby(keys, sort=False)["value"].agg(y="mean", y_err="sem", samples="size").reset_index()


def _caption(table: pd.DataFrame) -> str:
    p = table.attrs["parameters"]
    labels = [ALGORITHMS[optimizer]["label"] for optimizer in p["optimizers"]]
    in_time = " and ".join(f"({panel}) {label}" for panel, label in zip("ab", labels, strict=False))
    by_width = " and ".join(f"({panel}) {label}" for panel, label in zip("cd", labels, strict=False))
    return (
        f"Figure 14. How far the layers of convolutional networks move from their initial weights. {in_time}: overlap q "
        "(cosine) of each layer with itself before training, and on the right axis the distance √(2 (1 − q)), against the "
        f"epoch, at the largest width k = {max(p['widths'])}. {by_width}: this distance after the last epoch, against the "
        "width. Black points are the weights of all layers together."
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
