"""Figure 14: how far the layers of convolutional networks move from their initial weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator, ScalarFormatter

from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.cnn_tables import below_paper, powers_of_two, training
from localentropy.plots.drawing import GREY, Drawing, in_style, letter, panels
from localentropy.plots.network_points import OPEN

LAYERS = ("conv 1", "conv 2", "conv 3", "conv 4", "linear")
MARKERS = ("o", "s", "^", "D", "v")
COLORS = (*sns.color_palette("viridis", 4).as_hex(), GREY)
SHOWN = {leading * 10**power for leading in (1, 1.5, 2, 3, 5, 7) for power in range(6)}
"""Epochs that are drawn besides 0 and the last: a point for each would be a smear on the logarithmic axis."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Overlap of each layer with its initial weights: against epochs, a panel for each optimizer; (c) against width."""
    table = tables["overparam/cnn"]
    rows = table[table["quantity"] == "overlap_start"]
    keys = ["optimizer", "width", "parameters", "layer", "epoch"]
    points = rows.groupby(keys, sort=True)["value"].agg(y="mean", y_err="sem", samples="size").reset_index()
    points[["layer", "epoch"]] = points[["layer", "epoch"]].astype(int)
    points["series"] = [LAYERS[layer] for layer in points["layer"]]
    last = points["epoch"].max()
    in_time = points[(points["width"] == points["width"].max()) & points["epoch"].isin(SHOWN | {0, last})]
    optimizers = list(dict.fromkeys(table["optimizer"]))
    data = pd.concat(
        [
            *(
                in_time[in_time["optimizer"] == optimizer].assign(panel="ab"[index], x=in_time["epoch"])
                for index, optimizer in enumerate(optimizers)
            ),
            points[points["epoch"] == last].assign(panel="c", x=points["width"]),
        ]
    )
    figure, axes = panels(3, 7.2, 2.8)
    for (panel, optimizer, layer), line in data.groupby(["panel", "optimizer", "layer"], sort=False):
        style: dict[str, Any] = {"color": COLORS[int(layer)], "marker": MARKERS[int(layer)]}
        if panel == "c" and optimizer != optimizers[0]:
            style |= OPEN
        axes["abc".index(str(panel))].errorbar(line["x"], line["y"], line["y_err"], **style)
    for axis, optimizer in zip(axes, optimizers, strict=False):
        axis.set(xlabel="epoch $t$", ylabel="overlap with epoch 0")
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xticks([0, *(10**power for power in range(6) if 10**power <= last)])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_title(f"{ALGORITHMS[optimizer]['label']}, $k = {points['width'].max()}$", loc="right")
    axes[2].set(xscale="log", xlabel="width $k$", ylabel=f"overlap of epochs {last} and 0")
    axes[2].set_xticks(powers_of_two(points["width"]))
    axes[2].xaxis.set_minor_formatter(NullFormatter())
    for axis in axes:
        axis.set_ylim(max(0.0, data["y"].min() - 0.1), 1.03)
        axis.xaxis.set_major_formatter(ScalarFormatter())
    layers = [Line2D([], [], color=color, marker=marker) for color, marker in zip(COLORS, MARKERS, strict=True)]
    axes[0].legend(layers, LAYERS, loc="lower left")
    filled, empty = (Line2D([], [], color="black", marker="o", **extra) for extra in ({}, OPEN))
    axes[2].legend([filled, empty], [ALGORITHMS[optimizer]["label"] for optimizer in optimizers], loc="lower right")
    letter(axes)
    for axis in axes[len(optimizers) : 2]:
        axis.set_visible(False)
    return Drawing(figure, data, _caption(table, scale))


def _caption(table: pd.DataFrame, scale: str) -> str:
    p = table.attrs["parameters"]
    labels = [ALGORITHMS[optimizer]["label"] for optimizer in p["optimizers"]]
    in_time = " and ".join(f"({panel}) {label}" for panel, label in zip("ab", labels, strict=False))
    looks = ", ".join(f"{label} {look}" for label, look in zip(labels, ("filled", "open, dashed"), strict=False))
    return (
        "Figure 14. Overlap (cosine) of each layer's weights with those before training: of the convolutions' filters "
        "before batch norm is folded in, not aligned, and of the linear layer. "
        f"{training(table)} Mean and standard error of {p['samples']} networks. {in_time} at the largest "
        f"width k = {max(p['widths'])}; the axis is linear below epoch 1, logarithmic above. (c) After the last epoch, "
        f"against the width: {looks}. {below_paper(table, scale)}"
    )
