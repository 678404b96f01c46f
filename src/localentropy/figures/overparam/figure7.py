"""Figure 7: convolutional networks on CIFAR-10 trained by SGD and by Adam, against their size."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.ticker import NullFormatter, NullLocator, ScalarFormatter

from localentropy.figures.algorithms import ALGORITHMS
from localentropy.figures.cnn_tables import below_paper, powers_of_two, training
from localentropy.figures.drawing import Drawing, in_style, letter, panels
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


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train and test error, (b) overlap of aligned networks, (c) local energy near the threshold and far above,
    (d) curvature of the loss.
    """
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
            curvatures(table, by, x),
        ]
    )
    figure, axes = panels(2, 7.2, 6.0, rows=2)
    looks = SERIES | {"untrained": SERIES["untrained"] | {"marker": "o"}}
    points = data.assign(row=figure.add(data))
    draw_points(axes, points, by, ALGORITHMS, looks)
    # The overlaps are close to each other and far from 1.
    closer = axes[1].inset_axes((0.24, 0.36, 0.71, 0.33))
    draw_points((axes[0], closer), points[points["panel"] == "b"], by, ALGORITHMS, looks)
    patterns = table.attrs["parameters"]["training_patterns"]
    logarithmic = logarithmic_inset(axes[0], points, by, ALGORITHMS, looks, patterns)
    # Below the numbers of the inset's axis.
    draw_thresholds({axes[0]: 0.52, logarithmic: 0.99, axes[1]: 0.27}, positions, by, ALGORITHMS)
    parameters = table.groupby("width")["parameters"].first()
    ticks = [width for width in powers_of_two(parameters.index) if width in parameters.index]
    sized = (axes[0], axes[1], axes[3])
    for axis in (*sized, closer, logarithmic):
        axis.set(xscale="log", xticks=ticks)
        axis.xaxis.set_major_formatter(ScalarFormatter())
        axis.xaxis.set_minor_formatter(NullFormatter())
    for axis in sized:
        axis.set_xlabel("width $k$")
    for axis in axes[:2]:
        top = axis.secondary_xaxis("top")
        top.set(xlabel="parameters (thousands)")
        thousands = (parameters[width] / 1000 for width in ticks)
        top.set_xticks(ticks, [f"{number:.0f}" if number >= 10 else f"{number:.1f}" for number in thousands])
        top.xaxis.set_minor_locator(NullLocator())
    closer.tick_params(labelsize=6, pad=1)
    axes[0].set(ylim=(-0.03, 1.2), yticks=[0.0, 0.2, 0.4, 0.6])
    label_panels(
        axes, data, by, ALGORITHMS, "both, untrained", "k = ", ("upper left", "upper right", "upper left", "best")
    )
    axes[2].set(ylim=(None, 1.0))
    solved = data.loc[data["panel"] == "d", "x"]
    axes[3].set_xlim(0.9 * solved.min(), 1.1 * solved.max())
    letter(axes)
    return Drawing(figure, _caption(positions), _settings(table, data, scale))


def _caption(positions: Mapping[str, float]) -> str:
    firsts = [f"k = {width:.0f} ({ALGORITHMS[name]['label']})" for name, width in positions.items()]
    found = f"From the vertical lines on, half of the networks are solutions: {' and '.join(firsts)}."
    none = "There is no width at which half of the networks are solutions."
    return (
        "Figure 7. Convolutional networks on CIFAR-10, trained by SGD and by Adam, against their width. (a) Train error "
        f"(dashed, open; inset: logarithmic) and test error. {found if positions else none} (b) Overlap of two networks of one training set "
        "after their filters are aligned; the right axis has their distance. Grey: the same networks before training; "
        "inset: enlarged. (c) Train error of solutions when their weights are multiplied "
        "by noise, against the distance that a unit moved, at the threshold (dashed, open) and at the largest width. (d) "
        "Trace and largest eigenvalue of the Hessian of solutions by relative changes of their weights."
    )


def _settings(table: pd.DataFrame, data: pd.DataFrame, scale: str) -> dict[str, str]:
    return {
        **training(table),
        "networks per point": samples_in_words(data),
        "error bars": ERROR_BARS,
        "errors in (a)": "in evaluation mode, with batch-norm statistics of the training set",
        "overlap in (b)": "batch norm folded into the convolutions, weights normalised; distance per unit, √2 for "
        "orthogonal weights",
        "axes of (c)": "root mean square distance over units, normalised again after the noise; errors below 0.001 "
        "(dotted) are on a linear scale",
        **hessian(table),
        **below_paper(table, scale),
    }
