"""Figure hidden_manifold: a linear student on random features, against samples per feature and regularization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm

from localentropy.figures.drawing import COLORS, GREY, Drawing, in_style, letter, panels
from localentropy.figures.glm.points import FEATURES, POINTS, counts, means, sizes, write

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

STUDENTS: dict[str, dict[str, Any]] = {
    "ridgeless": {"color": COLORS[3], "label": r"$\lambda \to 0$"},
    "optimal": {"color": COLORS[0], "label": r"best $\lambda$"},
}

MARKS: dict[str, dict[str, Any]] = {
    "nonlinear": {**FEATURES["nonlinear"], "markersize": 3},
    "gaussian": {**FEATURES["gaussian"], "markersize": 5.5, "markerfacecolor": "none", "markeredgewidth": 0.8},
}
"""Both kinds of features are in the same places: one mark is a ring around the other."""
NAMES = {"nonlinear": "erf", "gaussian": "Gaussian"}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Error against n/p, without regularization and with the best; (b) the error in the plane of n/p and λ."""
    theory, plane = tables["glm/manifold"].sort_values("alpha"), tables["glm/manifold_map"]
    runs = tables["glm/manifold_runs"]
    figure, axes = panels(2, 7.4, 3.2)
    points = means(runs, ["student", "features", "alpha", "p"], "generalization_error")
    _curves(axes[0], theory, points)
    _map(axes[1], plane, theory)
    letter(axes)
    smallest = theory.loc[theory["student"] == "ridgeless"]
    peak = smallest.loc[smallest["generalization_error"].idxmax()]
    caption = (
        "Figure hidden_manifold. A teacher labels Gaussian inputs of a low dimension d by signs. A linear student sees p "
        "nonlinear features of them and minimises the square loss on n samples. (a) Probability of a wrong sign on a new "
        "input, against n/p: almost without regularization, where the error has a peak at n = p, and with the best "
        "regularization. Lines are theory. Points are minimizers, on erf features (filled) and on Gaussian features of the "
        "same covariances (hollow). (b) The same error in the plane of n/p and λ; white: the best λ, and n = p (dashed)."
    )
    settings = {
        "features": f"erf(Fᵀc/√d) of the inputs c, d/p = {theory['inputs_per_feature'].iloc[0]:g}",
        "loss": "square loss and λ|w|²/2",
        "λ → 0": f"λ = {smallest['regularization'].iloc[0]:.0e} in its place; the peak is {peak['generalization_error']:.3f} at "
        f"n/p = {peak['alpha']:g}",
        "points": f"p = {sizes(points['p'])}, d = {sizes(runs['d'])}, {counts(points)} instances; mean and standard error",
        "finite d": "erf features have smaller errors than the theory (figure gaussian_equivalence)",
        "slide": "its equations are corrected: docs/glm/theory.md, section 7",
        "chosen here": "the λ that stands for λ → 0, the ranges, sizes and numbers of instances",
    }
    return Drawing(figure, caption, settings)


def _curves(axis: Panel, theory: pd.DataFrame, points: pd.DataFrame) -> None:
    for name, style in STUDENTS.items():
        line = theory[theory["student"] == name]
        strength = {"best_regularization" if name == "optimal" else "regularization": line["regularization"]}
        axis.line(line["alpha"], line["generalization_error"], f"{name}, theory", style, **strength)
        for features, own in points[points["student"] == name].groupby("features"):
            look = {"color": style["color"], **MARKS[str(features)], **POINTS}
            axis.points(own, f"{name}, {features} features", look, "alpha")
    axis.threshold(1.0, "$n = p$", side="right")
    axis.set(
        xscale="log",
        xlabel="samples per feature $n/p$",
        ylabel=r"generalization error $\varepsilon_g$",
        xlim=(theory["alpha"].min(), theory["alpha"].max()),
        ylim=(0.0, 0.55),
    )
    for features, look in MARKS.items():
        axis.plot([], [], color=GREY, label=f"{NAMES[features]} features", **look, **POINTS)
    axis.legend(fontsize=6)


def _map(axis: Panel, plane: pd.DataFrame, theory: pd.DataFrame) -> None:
    """Colours of the error, and the line of the best regularization."""
    plane = plane.rename(columns={"alpha": "x", "generalization_error": "y"})
    plane = plane[["x", "y", "regularization"]].assign(y_err=0.0)
    grid = plane.pivot(index="regularization", columns="x", values="y").sort_index()
    # First of all, since the labels of the contours are fitted to the axes.
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="samples per feature $n/p$",
        ylabel=r"regularization $\lambda$",
        xlim=(plane["x"].min(), plane["x"].max()),
        ylim=(plane["regularization"].min(), plane["regularization"].max()),
    )
    look = {"cmap": "viridis", "norm": LogNorm(), "rasterized": True}
    image = axis.colors(plane, "x", "regularization", "theory", look)
    levels = [level for level in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4) if level > np.nanmin(grid)]
    contours = axis.contour(grid.columns, grid.index, grid.to_numpy(), levels, colors="black", linewidths=0.5)
    axis.clabel(contours, fmt="%g", fontsize=6)
    best = theory[theory["student"] == "optimal"]
    axis.line(best["alpha"], best["regularization"], "best λ", {"color": "white", "linewidth": 1.4})
    axis.axvline(1.0, color="white", linestyle="--", linewidth=0.8)
    bar = axis.picture.colorbar(image, ax=axis, ticks=levels, format="%g", label=r"$\varepsilon_g$")
    bar.minorticks_off()
    write(axis, 0.105, 1.15 * best["regularization"].iloc[0], r"best $\lambda$", "white", va="bottom")
