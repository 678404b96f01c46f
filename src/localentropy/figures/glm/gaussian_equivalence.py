"""Figure gaussian_equivalence: one student on random features and on Gaussian ones, against the number of inputs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from localentropy.analysis.agreement import Extrapolation, to_infinite_size
from localentropy.analysis.statistics import paired_differences
from localentropy.figures.drawing import GREY, Drawing, in_style, letter
from localentropy.figures.glm.points import FEATURES, LOSSES, POINTS, counts, means, same_limits, sizes
from localentropy.figures.layout import two_columns

if TYPE_CHECKING:
    from matplotlib.artist import Artist

    from localentropy.figures.series import Panel

KINDS = {"nonlinear": "erf features", "gaussian": "Gaussian features"}
SHARED: tuple[dict[str, Any], ...] = (
    {"marker": "^", "linestyle": "-"},
    {"marker": "s", "linestyle": "--"},
    {"marker": "v", "linestyle": "-."},
)
"""Looks of the loads, again and again, where they share a panel."""
END = {"marker": "_", "markersize": 7}
"""What is extrapolated is no measurement: a tick."""
SIDE = 0.02
"""Sets stand side by side, so much of the largest 1/d apart."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """A panel for each load: error over its theory against 1/d; and one for the differences of the kinds of features."""
    theory, runs = tables["glm/equivalence"], tables["glm/equivalence_runs"]
    points = means(runs, ["student", "features", "alpha", "d"], "generalization_error")
    exact = theory.assign(alpha=theory["alpha"].round(9))[
        ["student", "alpha", "generalization_error", "regularization"]
    ]
    points = _over_theory(points, exact)
    pairs = paired_differences(
        runs.rename(columns={"features": "algorithm"}), "generalization_error", "nonlinear", "gaussian",
        ["student", "alpha", "d"],
    )  # fmt: skip
    apart = _over_theory(means(pairs.rename("y").reset_index(), ["student", "alpha", "d"], "y"), exact)
    loads = sorted(points["alpha"].unique())
    figure, (*axes, last) = two_columns(len(loads) + 1, 2.7)
    fits = [
        fit for axis, alpha in zip(axes, loads, strict=True) for fit in _load(axis, points[points["alpha"] == alpha])
    ]
    for axis in axes:
        axis.axhline(1.0, color="black", linewidth=0.8)
    same_limits(axes)
    for axis in axes[::2]:
        axis.set_ylabel(r"$\varepsilon_g$, simulation / theory")
    gaps = _differences(last, apart)
    for axis in (*axes, last):
        _inverse_sizes(axis, points["d"])
    figure.legend(*_entries(axes[0], points), loc="outside upper center", ncols=4)
    letter([*axes, last])
    strengths = sorted(points["regularization"].unique())
    letters = ", ".join(f"({axis.letter})" for axis in axes)
    caption = (
        "Figure gaussian_equivalence. Linear students of the hidden manifold on erf features (filled) and on Gaussian "
        f"features of the same covariances (hollow). {letters} Probability of a wrong sign, divided by the theory for "
        "infinitely many inputs, against 1/d. Each panel has its number n/p of samples per feature. Lines are fits in 1/d, "
        f"and ticks, in ({last.letter}) hollow symbols, mark their ends at 1/d = 0. ({last.letter}) The error on erf features minus the error on Gaussian "
        "ones in the same instances, divided by the theory. If both kinds of features are equivalent for many inputs, the "
        "lines end at 1, and here at 0."
    )
    settings = {
        "features": "erf(Fᵀc/√d) and κ₁Fᵀc/√d + κ⋆ζ; the slide prints κ⋆ where its square is meant",
        "parameters": f"d/p = {theory['inputs_per_feature'].iloc[0]:g}, λ = {', '.join(f'{value:g}' for value in strengths)}, "
        f"n/p = {', '.join(f'{alpha:g}' for alpha in loads)}",
        "points": f"d = {sizes(points['d'])}, {counts(points)} instances; mean and standard error; those at one d side by side",
        "lines": f"weighted least squares in 1/d; their ends at 1/d = 0 are {_ends(fits)}",
        "differences": "in each instance both have the same teacher and inputs, so much of the scatter cancels; the ends are "
        f"{_ends(gaps)}",
        "chosen here": "losses, λ, loads, sizes and numbers of instances",
    }
    return Drawing(figure, caption, settings)


def _load(axis: Panel, points: pd.DataFrame) -> list[Extrapolation]:
    """The points of a load with a line through each set, and the numbers of the lines."""
    axis.set_title(f"$n/p = {points['alpha'].iloc[0]:g}$")
    fits = []
    groups = [(student, kind) for student in LOSSES if student in set(points["student"]) for kind in KINDS]
    for number, (student, kind) in enumerate(groups):
        own = points[(points["student"] == student) & (points["features"] == kind)]
        style = {"color": LOSSES[student], "markersize": 4, **FEATURES[kind]}
        line = {"linestyle": "-" if kind == "nonlinear" else ":", "linewidth": 0.9}
        shift = SIDE * (number - 0.5 * (len(groups) - 1)) / points["d"].min()
        fits += _set(axis, f"{student}, {KINDS[kind]}", own, shift, style, line, END)
    return fits


def _set(
    axis: Panel,
    series: str,
    own: pd.DataFrame,
    shift: float,
    style: dict[str, Any],
    line: dict[str, Any],
    end: dict[str, Any],
) -> list[Extrapolation]:
    """Points against 1/d, a line through them and a mark at its end; the line's numbers, if there is one."""
    own = own.assign(x=1.0 / own["d"])
    axis.points(own, series, style | POINTS, at=own["x"] + shift)
    fit = _fit(own)
    if fit is None:
        return []
    x = np.array([0.0, own["x"].max()])
    axis.line(x, fit.value + fit.slope * x, None, {"color": style["color"], **line})
    row = {"x": 0.0, "y": fit.value, "y_err": fit.error, "alpha": own["alpha"].iloc[0]}
    row |= {"slope": fit.slope, "chi_squared": fit.chi_squared}
    axis.points(pd.DataFrame([row]), f"{series}, 1/d → 0", style | end | POINTS, at=[shift])
    return [fit]


def _over_theory(points: pd.DataFrame, exact: pd.DataFrame) -> pd.DataFrame:
    """Means and errors in units of the theory's error."""
    points = points.assign(alpha=points["alpha"].round(9)).merge(exact, on=["student", "alpha"])
    unit = points["generalization_error"]
    return points.assign(y=points["y"] / unit, y_err=points["y_err"] / unit)


def _differences(axis: Panel, points: pd.DataFrame) -> list[Extrapolation]:
    """Differences of the kinds of features with a line through each set; the numbers of the lines."""
    looks = dict(zip(sorted(points["alpha"].unique()), itertools.cycle(SHARED), strict=False))
    groups = [key for key, _ in points.groupby(["student", "alpha"])]
    fits = []
    for number, (student, alpha) in enumerate(groups):
        own = points[(points["student"] == student) & (points["alpha"] == alpha)]
        style = {"color": LOSSES[student], "marker": looks[alpha]["marker"], "markersize": 4}
        line = {"linewidth": 0.9, "linestyle": looks[alpha]["linestyle"]}
        shift = SIDE * (number - 0.5 * (len(groups) - 1)) / points["d"].min()
        fits += _set(axis, f"{student}, erf less Gaussian", own, shift, style, line, {"markerfacecolor": "white"})
    axis.axhline(0.0, color="black", linewidth=0.8)
    for alpha, look in looks.items():
        axis.plot([], [], color=GREY, label=f"$n/p = {alpha:g}$", **look)
    axis.set(ylabel="(erf − Gaussian) / theory", title="differences")
    axis.legend()
    return fits


def _ends(fits: Sequence[Extrapolation]) -> str:
    """The range of the ends of lines, for a caption. The CSV has each of them."""
    if not fits:
        return "no line"
    values, errors = ([getattr(fit, name) for fit in fits] for name in ("value", "error"))
    return f"between {min(values):.3f} and {max(values):.3f}, with standard errors of {min(errors):.3f} to {max(errors):.3f}"


def _inverse_sizes(axis: Panel, sizes: pd.Series) -> None:
    """An axis of 1/d with the values of d."""
    values = sorted(sizes.unique(), reverse=True)
    axis.set_xticks([0.0, *(1.0 / d for d in values)], ["0", *(f"1/{d}" for d in values)])
    axis.set(xlabel="$1/d$", xlim=(-0.1 / values[-1], 1.1 / values[-1]))


def _fit(points: pd.DataFrame) -> Extrapolation | None:
    """The line through the points with errors; none through fewer than two."""
    sure = points[points["y_err"] > 0.0]
    return to_infinite_size(sure["d"], sure["y"], sure["y_err"]) if sure["d"].nunique() > 1 else None


def _entries(axis: Panel, points: pd.DataFrame) -> tuple[list[Artist], list[str]]:
    """Legend: colours of the losses, marks of the features."""
    entries: dict[str, Artist] = {
        f"{student} loss": axis.plot([], [], color=color)[0]
        for student, color in LOSSES.items()
        if student in set(points["student"])
    }
    for kind, name in KINDS.items():
        entries[name] = axis.plot([], [], color=GREY, linestyle="-" if kind == "nonlinear" else ":", **FEATURES[kind])[
            0
        ]
    return list(entries.values()), list(entries)
