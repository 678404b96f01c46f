"""Figure 7: convolutional networks on CIFAR-10 trained by SGD and by Adam, against their size."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.ticker import NullFormatter, ScalarFormatter

from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.cnn_tables import below_paper, powers_of_two, training
from localentropy.plots.drawing import Drawing, in_style, letter, panels
from localentropy.plots.network_points import (
    SERIES,
    draw_points,
    draw_thresholds,
    energies,
    errors,
    label_panels,
    overlaps,
    threshold_rows,
    thresholds,
)


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train and test error, (b) overlap of aligned networks, (c) local energy near the threshold and far above."""
    table = tables["overparam/cnn"]
    by, x = "optimizer", "width"
    outcomes = table[table["quantity"] == "solved"].groupby([by, "width"], sort=False)["value"]
    positions = thresholds(outcomes.mean())
    untrained = overlaps(table, by, x, "untrained")
    # Both optimizers start from the same networks.
    untrained = untrained[untrained[by] == untrained[by].iloc[0]]
    data = pd.concat(
        [
            untrained,
            errors(table, by, x).merge(outcomes.sum().rename("solved"), on=[by, "width"]),
            overlaps(table, by, x, "trained"),
            energies(table, by, positions),
        ]
    )
    figure, axes = panels(3, 7.2, 2.8)
    draw_points(axes, data, by, ALGORITHMS, SERIES | {"untrained": SERIES["untrained"] | {"marker": "o"}})
    draw_thresholds(axes[:2], positions, ALGORITHMS, at=0.74)
    for axis in axes[:2]:
        axis.set(xscale="log", xlabel="width $k$", xticks=powers_of_two(data["width"]))
        axis.xaxis.set_major_formatter(ScalarFormatter())
        axis.xaxis.set_minor_formatter(NullFormatter())
    # Room for the legend above the points and the lines.
    axes[0].set(ylim=(-0.03, 1.3), yticks=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    label_panels(axes, data, by, ALGORITHMS, "both, untrained", "k = ", ("upper left", "upper left", "upper left"))
    letter(axes)
    rows = pd.concat([data, threshold_rows(positions, by, "a, b")])
    return Drawing(figure, rows, _caption(table, positions, scale))


def _caption(table: pd.DataFrame, positions: Mapping[str, float], scale: str) -> str:
    p = table.attrs["parameters"]
    firsts = [f"k = {width:.0f} ({ALGORITHMS[name]['label']})" for name, width in positions.items()]
    found = f"Vertical lines: first width from which on half of the networks are solutions, {' and '.join(firsts)}. "
    return (
        f"Figure 7. {training(table)} Mean and standard error of {p['samples']} networks per point (overlaps: "
        "jackknife over networks). (a) Train (dashed, open) and test error, in evaluation mode with batch-norm "
        f"statistics of the training set. {found if positions else 'No width at which half of the networks are solutions. '}"
        "(b) Overlap of pairs of trained networks of one training set, batch norm folded into the convolutions, "
        "normalised and aligned; grey: the same for the networks before training. (c) Train error of solutions under "
        "multiplicative noise on the folded, normalised weights, units normalised again, against the root mean square "
        "distance that a unit moved, at the threshold (dashed, open) and at the largest "
        f"width; linear in errors below 0.001. {below_paper(table, scale)}"
    )
