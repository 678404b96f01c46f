"""Figure 6: multi-layer perceptrons on the parity of MNIST digits, against the number of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.ticker import NullFormatter

from localentropy.plots.drawing import Drawing, in_style, letter, panels
from localentropy.plots.network_points import (
    draw_points,
    draw_thresholds,
    energies,
    errors,
    label_panels,
    overlaps,
    threshold_rows,
    thresholds,
)

STARTS: dict[str, dict[str, Any]] = {
    "random_orthogonal": {"color": "#332288", "marker": "o", "label": "random orthogonal"},
    "adversarial": {"color": "#7a3b00", "marker": "s", "label": "adversarial"},
}
"""No algorithm has these colours."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train and test error, (b) overlap of aligned solutions, (c) local energy near the threshold and far above."""
    table = tables["overparam/mlp"]
    by, x = "initialization", "parameters"
    trains = table[table["quantity"] == "train_error"]
    widths = thresholds((trains["value"] == 0.0).groupby([trains[by], trains["width"]]).mean())
    parameters = table.groupby("width")["parameters"].first()
    positions = {start: int(parameters[width]) for start, width in widths.items()}
    # Without a threshold only the largest width is shown.
    shown = {str(start): widths.get(str(start), table["width"].max()) for start in table[by].unique()}
    data = pd.concat(
        [
            overlaps(table, by, x, "untrained"),
            errors(table, by, x),
            overlaps(table, by, x, "trained"),
            energies(table, by, shown),
        ]
    )
    figure, axes = panels(3, 7.2, 2.8)
    draw_points(axes, data, by, STARTS)
    for axis in axes[:2]:
        axis.set(xscale="log", xlabel="number of parameters")
        axis.xaxis.set_minor_formatter(NullFormatter())
    axes[0].set_ylim(-0.004, data.loc[data["panel"] == "a", "y"].max() * 1.3)
    axes[2].set(ylim=(-0.01, 0.6))
    draw_thresholds(axes[:1], positions, STARTS)
    label_panels(axes, data, by, STARTS, "the same, untrained", "width ", ("upper right", "upper right", "upper left"))
    letter(axes)
    rows = pd.concat([data, threshold_rows(positions, by, "a")])
    return Drawing(figure, rows, _caption(table, positions, scale))


def _caption(table: pd.DataFrame, positions: Mapping[str, int], scale: str) -> str:
    p = table.attrs["parameters"]
    firsts = [f"{count} ({STARTS[name]['label']})" for name, count in positions.items()]
    found = f"Vertical lines: first size from which on all networks have none, {' and '.join(firsts)}. "
    random_labels = table[table["quantity"] == "random_label_error"]
    largest = random_labels[random_labels["width"] == random_labels["width"].max()]["value"].mean()
    return (
        f"Figure 6. Perceptrons with {p['hidden_layers']} hidden ReLU layers on the parity of MNIST digits (10 "
        f"principal components): {p['training_patterns']} training patterns, all 10 000 test patterns, square-hinge "
        f"loss of margin {p['margin']:g}, full-batch Adam, learning rate {p['learning_rate']:g}, at most "
        f"{p['epochs']} epochs; mean and standard error of {p['samples']} networks per point (overlaps: jackknife over "
        "networks). (a) Train (dashed, open) and test error. "
        f"{found if positions else 'No size at which all have none. '}"
        "(b) Overlap of pairs of trained networks of one training set, normalised and aligned; grey: the same for the "
        "networks before training. (c) Train error under multiplicative noise on the weights, units normalised again, "
        "against the root mean square distance that a unit moved, at the first size "
        "without train errors (dashed, open) and at the largest. Adversarial: first trained on random labels for "
        f"{p['random_label_epochs']} epochs (error on them {largest:.2f} at the largest size). The text lost depth, "
        "widths, margin, learning rate, epochs and the size of its reduced training set: these are chosen here. "
        + _below_paper(scale)
    )


def _below_paper(scale: str) -> str:
    return "" if scale == "paper" else f"Scale {scale}: below the paper's size (fewer patterns, epochs and samples)."
