"""Figure real_data: learning curves of ridge regression on real images against the theory of Gaussian features."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from localentropy.figures.drawing import COLORS, Drawing, in_style, letter, panels
from localentropy.figures.glm.points import POINTS, counts, means, same_limits, sizes
from localentropy.figures.layout import PAGE_WIDTH

if TYPE_CHECKING:
    from localentropy.figures.series import Panel, Rows

DATASETS = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST"}
FEATURES = {"random_features": "random features", "pixels": "pixels"}
MARKERS = "osD^v"
CLOSE = 1.2
"""Ratios of simulation and theory up to this are also shown by themselves."""
PALETTE = (COLORS[3], COLORS[0], COLORS[2], COLORS[1], COLORS[4])


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """For each dataset and kind of features the square error against n, and below it simulation over theory."""
    theory, runs = tables["glm/real_theory"], tables["glm/real_runs"]
    covariance = tables["glm/real_covariance"].groupby(["dataset", "features"])[["rank", "norm_spread"]].first()
    directions = covariance["rank"]
    keys = ["dataset", "features", "regularization", "n"]
    points = means(runs, keys, "square_error").merge(theory[[*keys, "square_error"]], on=keys, how="left")
    groups = [
        (dataset, features)
        for dataset in DATASETS
        for features in FEATURES
        if ((theory["dataset"] == dataset) & (theory["features"] == features)).any()
    ]
    strengths = sorted(theory["regularization"].unique())
    rows = 2 * (-(-len(groups) // 2))
    figure, axes = panels(2, PAGE_WIDTH, 2.0 * rows, rows=rows)
    uppers = [axes[4 * (number // 2) + number % 2] for number in range(len(groups))]
    lowers = [axes[4 * (number // 2) + 2 + number % 2] for number in range(len(groups))]
    shown = [axis for axis in axes if axis in uppers or axis in lowers]
    for axis in axes:
        if axis not in shown:
            axis.remove()
    letter(shown)
    for (dataset, features), upper, lower in zip(groups, uppers, lowers, strict=True):
        line, own = (
            table[(table["dataset"] == dataset) & (table["features"] == features)] for table in (theory, points)
        )
        _column(upper, lower, line, own, strengths)
        rank = int(directions[dataset, features])
        upper.threshold(rank, f"$n$ = {rank}", side="right" if features == "pixels" else "left")
        upper.set_title(f"{DATASETS[dataset]}, {FEATURES[features]}", fontsize=8, loc="right")
    for axis in shown:
        axis.set(xscale="log", xlim=(0.9 * theory["n"].min(), 1.1 * theory["n"].max()))
    for axis in lowers:
        axis.set_xlabel("samples $n$")
    for upper, lower in zip(uppers[::2], lowers[::2], strict=True):
        upper.set_ylabel(r"test error $E\,(y - w\cdot v)^2$")
        lower.set_ylabel("simulation / theory")
    same_limits(uppers)
    for features in FEATURES:
        same_limits([axis for axis, group in zip(lowers, groups, strict=True) if group[1] == features])
    axes[0].legend(title="ridge $r$", title_fontsize=7)
    upper_panels, lower_panels = (", ".join(f"({axis.letter})" for axis in part) for part in (uppers, lowers))
    return Drawing(figure, *_told(theory, points, tables["glm/real_covariance"], upper_panels, lower_panels))


def _column(upper: Panel, lower: Panel, theory: pd.DataFrame, points: pd.DataFrame, strengths: list[float]) -> None:
    """A curve and points for each ridge, and below them the ratio of the two; enlarged where others hide it."""
    drawn: list[tuple[pd.DataFrame, Rows, dict[str, Any]]] = []
    for color, marker, strength in zip(itertools.cycle(PALETTE), itertools.cycle(MARKERS), strengths, strict=False):
        line = theory[theory["regularization"] == strength].sort_values("n")
        own = points[points["regularization"] == strength]
        style: dict[str, Any] = {"color": color, "marker": marker, "markersize": 3.5}
        name, about = f"r = {strength:g}", line[["regularization", "dataset", "features"]]
        upper.line(line["n"], line["square_error"], f"theory, {name}", {"color": color}, **about)
        unit, own = own["square_error"], own.drop(columns="square_error")
        upper.points(own, f"simulation, {name}", style | POINTS, "n")
        upper.plot([], [], label=_power(strength), **style)
        ratio = own.assign(y=own["y"] / unit, y_err=own["y_err"] / unit)
        drawn.append(
            (ratio, lower.points(ratio, f"simulation / theory, {name}", style | {"linewidth": 0.7}, "n"), style)
        )
    upper.set_yscale("log")
    close = [one for one in drawn if one[0]["y"].max() < CLOSE]
    if close and len(close) < len(drawn):
        inset = lower.inset_axes((0.16, 0.45, 0.4, 0.5))
        for ratio, rows, style in close:
            inset.points(ratio, rows, style | {"linewidth": 0.7, "markersize": 2.5}, "n")
        inset.axhline(1.0, color="black", linewidth=0.8)
        inset.set(xscale="log", xticks=[100, 1000], xticklabels=["100", "1000"])
        inset.yaxis.set_major_locator(MaxNLocator(3))
        inset.yaxis.set_major_formatter(StrMethodFormatter("{x:.2f}"))
        inset.tick_params(labelsize=6, pad=1)
    lower.axhline(1.0, color="black", linewidth=0.8)


def _told(
    theory: pd.DataFrame, points: pd.DataFrame, covariance: pd.DataFrame, upper: str, lower: str
) -> tuple[str, dict[str, str]]:
    """The caption, and the settings."""
    ratio = points["y"] / points["square_error"]
    told = "; ".join(
        f"{ratio[own.index].min():.2f} to {ratio[own.index].max():.2f} ({DATASETS[dataset]}, {FEATURES[features]})"
        for (dataset, features), own in points.groupby(["dataset", "features"], sort=False)
    )
    # Of Gaussian features the spread is 2 / rank.
    spread = covariance["norm_spread"] * covariance["rank"] / 2.0
    spreads = spread.groupby([covariance["dataset"], covariance["features"]], sort=False).first()
    tails = "; ".join(
        f"{value:.0f} ({DATASETS[dataset]}, {FEATURES[features]})" for (dataset, features), value in spreads.items()
    )
    random = covariance.loc[covariance["features"] == "random_features", "rank"].max()
    hidden = (theory["finite_set"] / theory["square_error"]).max()
    caption = (
        "Figure real_data. Ridge regression on labels ±1 of real images, on random features of the pixels or on the pixels "
        f"themselves. {upper} Mean squared error on new images, against the number n of training images, for several ridges r. "
        "Lines: theory of Gaussian features that have the covariance of the data. Points: regression on random training sets. "
        f"Dotted: as many images as directions. {lower} Simulation divided by theory."
    )
    settings = {
        "labels": "even and odd classes",
        "student": "w·v minimises the sum of (y − w·v)² over n training images, plus r|w|²; r is the ridge",
        "features v": f"the tanh of p = {random} random projections of the pixels, or the pixels",
        "theory": "from the eigenvalues of the features' covariance, E[y v] and E[y²], over all "
        f"{sizes(covariance['images'])} images; a correction for this finite number of images is up to "
        f"{100.0 * hidden:.0f} % of the error",
        "points": f"{counts(points)} draws; mean and standard error",
        "simulation over theory": told,
        "heavy tails": "real features have them, and the theory does not: the sum of vᵢ²/E[vᵢ²] over the eigenvectors i of the covariance has a larger variance over the images "
        f"than for Gaussian features, by a factor of {tails}",
        "chosen here": "datasets, labels, features, r, n and the number of draws; the talk shows curves of other data",
    }
    return caption, settings


def _power(value: float) -> str:
    """A small number as a power of ten, others as they are."""
    exponent = round(math.log10(value))
    return rf"$10^{{{exponent}}}$" if value < 1e-3 and math.isclose(value, 10.0**exponent) else f"{value:g}"
