"""Figure gaussian_equivalence: one student on random features and on Gaussian ones, against the number of inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from localentropy.analysis.extrapolation import Extrapolation, to_infinite_size
from localentropy.plots.drawing import COLORS, GREY, Drawing, in_style, letter, panels
from localentropy.plots.glm.points import FEATURES, POINTS, counts, means, sizes

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

KINDS = {"nonlinear": "erf features", "gaussian": "Gaussian features"}
STUDENTS = {"square": COLORS[2], "logistic": COLORS[0], "hinge": COLORS[1]}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """A panel for each load: error over its theory against 1/d."""
    theory, runs = tables["glm/equivalence"], tables["glm/equivalence_runs"]
    points = means(runs, ["student", "features", "alpha", "d"], "generalization_error")
    exact = theory.assign(alpha=theory["alpha"].round(9))[
        ["student", "alpha", "generalization_error", "regularization"]
    ]
    points = points.assign(alpha=points["alpha"].round(9)).merge(exact, on=["student", "alpha"])
    points = points.assign(
        y=points["y"] / points["generalization_error"], y_err=points["y_err"] / points["generalization_error"]
    )
    loads = sorted(points["alpha"].unique())
    figure, axes = panels(len(loads), 3.0 * len(loads), 3.0)
    frames, told = [], []
    for axis, alpha, panel in zip(axes, loads, "abcdefgh", strict=False):
        own, words = _load(axis, panel, points[points["alpha"] == alpha])
        frames.append(own)
        told.append(f"α = {alpha:g}: {words}")
    low, high = (points["y"] - points["y_err"].fillna(0.0)).min(), (points["y"] + points["y_err"].fillna(0.0)).max()
    room = 0.05 * (high - low)
    for axis in axes:
        axis.axhline(1.0, color="black", linewidth=0.8)
        axis.set(xlabel="$1/d$", ylim=(min(low, 1.0) - room, max(high, 1.0) + room))
        axis.set_xlim(-0.05 / points["d"].min(), 1.06 / points["d"].min())
        axis.ticklabel_format(axis="x", style="plain")
    axes[0].set_ylabel(r"$\varepsilon_g$, simulation / theory")
    figure.legend(*_entries(axes[0], points), loc="outside upper center", ncols=4)
    letter(axes)
    strengths = sorted(points["regularization"].unique())
    caption = (
        "Figure gaussian_equivalence. Linear students of the hidden manifold on the true features erf(Fᵀc/√d) (filled) and on Gaussian features κ₁Fᵀc/√d + κ⋆ζ of the same covariances "
        f"(hollow), d/p = {theory['inputs_per_feature'].iloc[0]:g}, λ = {', '.join(f'{value:g}' for value in strengths)}: "
        "probability of a wrong sign, over the theory of infinitely many inputs, against 1/d. Panels: samples per feature "
        f"n/p = {', '.join(f'{alpha:g}' for alpha in loads)}. d = {sizes(points['d'])}, {counts(points)} instances; error bars: standard error. "
        f"Lines: weighted least squares in 1/d; at 1/d = 0 their ends with standard errors. Ends: {'; '.join(told)}. "
        "Losses, λ, loads, sizes and numbers of instances are chosen here. The slide prints κ⋆ where its square is meant."
    )
    return Drawing(figure, pd.concat(frames), caption)


def _load(axis: Axes, panel: str, points: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The points of a load with a line through each set, and the ends of the lines in words."""
    axis.set_title(f"$n/p = {points['alpha'].iloc[0]:g}$")
    frames, told = [], []
    groups = [(student, kind) for student in STUDENTS for kind in KINDS]
    for number, (student, kind) in enumerate(groups):
        own = points[(points["student"] == student) & (points["features"] == kind)]
        if own.empty:
            continue
        color = STUDENTS[student]
        style = {"color": color, "markersize": 4, **FEATURES[kind]}
        shift = 0.004 * (number - 0.5 * (len(groups) - 1)) / points["d"].min()
        axis.errorbar(1.0 / own["d"] + shift, own["y"], own["y_err"].fillna(0.0), **style, **POINTS)
        series = f"{student}, {KINDS[kind]}"
        frames.append(own.assign(panel=panel, series=series, x=1.0 / own["d"]))
        fit = _fit(own)
        if fit is None:
            continue
        x = np.array([0.0, 1.0 / own["d"].min()])
        axis.plot(
            x, fit.value + fit.slope * x, color=color, linestyle="-" if kind == "nonlinear" else ":", linewidth=0.9
        )
        axis.errorbar(2.5 * shift, fit.value, fit.error, **(style | {"marker": "_", "markersize": 7}), **POINTS)
        frames.append(
            pd.DataFrame(
                [
                    {"panel": panel, "series": f"{series}, 1/d → 0", "x": 0.0, "y": fit.value, "y_err": fit.error}
                    | {"alpha": own["alpha"].iloc[0], "slope": fit.slope, "chi_squared": fit.chi_squared}
                ]
            )
        )
        told.append(f"{fit.value:.3f} ± {fit.error:.3f} ({series})")
    return pd.concat(frames), ", ".join(told) or "no line"


def _fit(points: pd.DataFrame) -> Extrapolation | None:
    """The line through the points with errors; none through fewer than two."""
    sure = points[points["y_err"] > 0.0]
    return to_infinite_size(sure["d"], sure["y"], sure["y_err"]) if sure["d"].nunique() > 1 else None


def _entries(axis: Axes, points: pd.DataFrame) -> tuple[list[Artist], list[str]]:
    """Legend: colours of the losses, marks of the features."""
    entries: dict[str, Artist] = {
        f"{student} loss": axis.plot([], [], color=color)[0]
        for student, color in STUDENTS.items()
        if student in set(points["student"])
    }
    for kind, name in KINDS.items():
        entries[name] = axis.plot([], [], color=GREY, linestyle="-" if kind == "nonlinear" else ":", **FEATURES[kind])[
            0
        ]
    return list(entries.values()), list(entries)
