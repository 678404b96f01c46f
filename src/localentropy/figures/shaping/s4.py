"""Figure s4: the optimal sharpness of the cross-entropy, by theory and by simulated annealing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import entr

from localentropy.analysis.runs import MOST_SOLVED, annealed_averages
from localentropy.figures.drawing import COLORS, GREY, Drawing, colors_of, in_style, letter
from localentropy.figures.layout import two_columns
from localentropy.figures.perceptron_points import apart, draw_points

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

BEYOND = 2.5
"""The place of γ = ∞ on the axis, in units of the largest finite γ."""
TICKS = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Numbers on the axis of γ of the last panel."""

PARTS, NARROW = (0.05, 0.1, 0.2, 0.5, 1.0), 30.0
"""Numbers on an axis whose ends have a smaller ratio than the second."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """A panel for each load: how much the local entropy is below its bound, against γ; the last one around final weights
    and first solutions.
    """
    theory, runs = tables["shaping/optimal_gamma"], tables["shaping/optimal_gamma_annealing"]
    theory = theory.assign(y=1.0 - theory["entropy"] / theory["bound"])
    measured, measured_first = (
        _relative(annealed_averages(runs, name)) for name in ("local_entropy", "local_entropy_first")
    )
    # Where messages often fail, those that converge are of the luckier instances.
    last, first = (points[points["n"] >= MOST_SOLVED * points["runs"]] for points in (measured, measured_first))
    loads = sorted(theory["alpha"].unique())
    figure, axes = two_columns(len(loads) + 1, 2.6)
    for axis, alpha in zip(axes, loads, strict=False):
        _load(axis, theory[theory["alpha"] == alpha], _at(last, alpha))
        axis.set_title(rf"$\alpha = {alpha:g}$")
    distances = sorted(theory["distance"].unique())
    middle = distances[len(distances) // 2]
    _firsts(axes[-1], last, first, loads, middle)
    for axis in axes[::2]:
        axis.set_ylabel("1 − local entropy / bound $H_b(d)$")
    axes[0].legend(title="$d$", title_fontsize=7, loc="lower left")
    letter(axes)
    lost = _left_out(measured, measured_first, axes[-1].letter, middle)
    return Drawing(figure, _caption(axes[-1].letter), _settings(theory, runs) | lost)


def _at(points: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """The points of a load. The number of patterns of an instance is an integer."""
    return points[(points["alpha"] - alpha).abs() * points["N"] <= 1]


def _relative(points: pd.DataFrame) -> pd.DataFrame:
    """How much entropies are below the entropy of all weights at the same distance, in units of it."""
    bound = entr(points["x"]) + entr(1.0 - points["x"])
    return points.assign(distance=points["x"], y=1.0 - points["y"] / bound, y_err=points["y_err"] / bound)


def _load(axis: Panel, theory: pd.DataFrame, points: pd.DataFrame) -> None:
    """Lines of the theory and points of annealing, in a colour for each distance."""
    finite = np.isfinite(theory["gamma"])
    right = BEYOND * theory.loc[finite, "gamma"].max()
    for distance, color in colors_of(sorted(theory["distance"].unique()), of="distance").items():
        here = theory["distance"] == distance
        curve, limit = theory[here & finite], theory[here & ~finite]
        name, both = f"d = {distance:.2g}", pd.concat([curve, limit])
        values = pd.DataFrame({"x": both["gamma"], "y": both["y"], "y_err": 0.0, "alpha": both["alpha"]})
        rows = axis.declare(f"theory, {name}", values)
        axis.line(curve["gamma"], curve["y"], rows[: len(curve)], {"color": color, "label": f"{distance:.2g}"})
        dash = {"marker": "_", "linestyle": "none", "color": color, "markersize": 9, "markeredgewidth": 1.4}
        axis.line([right] * len(limit), limit["y"], rows[len(curve) :], dash)
        near = points[np.isclose(points["distance"], distance)]
        draw_points(axis, near, f"annealing, {name}", {"color": color, "marker": "o"}, x="gamma")
    axis.set(xscale="log", yscale="log", xlabel=r"sharpness $\gamma$")
    axis.set_xticks([1.0, 10.0, 100.0, right], ["1", "10", "100", r"$\infty$"])
    low, high = axis.get_ylim()
    axis.axhline(1.0, color=GREY, linestyle=":", linewidth=0.8)
    if high < NARROW * low:
        ticks = [part for part in PARTS if low <= part <= high]
        axis.set_yticks(ticks, [f"{part:g}" for part in ticks])
    axis.minorticks_off()


def _firsts(axis: Panel, last: pd.DataFrame, first: pd.DataFrame, loads: list[float], distance: float) -> None:
    """Around the final weights, and around the first solution of the same runs."""
    for index, (color, alpha) in enumerate(zip(itertools.cycle(COLORS), loads, strict=False)):
        for points, marker, name in ((last, "o", "final weights"), (first, "^", "first solution")):
            here = _at(points, alpha)
            here = here[np.isclose(here["distance"], distance)]
            series, style = f"{name}, α = {alpha:g}, d = {distance:.2g}", {"color": color, "marker": marker}
            at = apart(here["gamma"], index, len(loads))
            if points is last:
                draw_points(axis, here, series, style, x="gamma", at=at)
            else:
                axis.points(here, series, style | {"linestyle": "none"}, "gamma", at=at)
        axis.plot([], [], color=color, label=rf"$\alpha = {alpha:g}$")
    for marker, name in (("o", "final weights"), ("^", "first solution")):
        axis.plot([], [], marker, color=GREY, label=name)
    axis.set(xscale="log", yscale="log", xlabel=r"sharpness $\gamma$", title=rf"$d = {distance:.2g}$")
    ticks = [gamma for gamma in TICKS if last["gamma"].min() <= gamma <= last["gamma"].max()]
    axis.set_xticks(ticks, [f"{gamma:g}" for gamma in ticks])
    axis.minorticks_off()
    axis.legend(loc="lower right")


def _left_out(last: pd.DataFrame, first: pd.DataFrame, panel: str, distance: float) -> dict[str, str]:
    """The settings on the points that are not drawn; empty if all are."""
    failed = last[last["n"] < MOST_SOLVED * last["runs"]]
    points = "; ".join(
        f"{_gammas(at)} at α = {alpha:.2g}, d = {d:.2g}" for (alpha, d), at in failed.groupby(["alpha", "distance"])
    )
    # An instance without a solution has no row of a first one.
    keys = ["gamma", "alpha", "distance"]
    counted = last[[*keys, "runs"]].merge(first[[*keys, "n"]], on=keys, how="left").fillna({"n": 0})
    missing = counted[np.isclose(counted["distance"], distance) & (counted["n"] < MOST_SOLVED * counted["runs"])]
    firsts = "; ".join(f"{_gammas(at)} at α = {alpha:.2g}" for alpha, at in missing.groupby("alpha"))
    settings = {}
    if points:
        settings["points left out"] = f"where the messages converged in fewer than 90 % of the instances, γ = {points}"
    if firsts:
        settings[f"first solutions left out in ({panel})"] = (
            f"where fewer than 90 % of the instances met a solution around which the messages converged, γ = {firsts}"
        )
    return settings


def _gammas(points: pd.DataFrame) -> str:
    return ", ".join(f"{gamma:g}" for gamma in sorted(points["gamma"]))


def _caption(panel: str) -> str:
    return (
        "Figure s4. How much the local entropy of the binary perceptron around weights of low cross-entropy loss is below its "
        "bound, against the sharpness γ of the loss. Lower is better. Lines: around the minimizers, by replica theory. The "
        "dash at the right is γ = ∞, where the minimizers are typical solutions; for γ → ∞ the lines go to solutions of the "
        "largest margin instead. Points: around the final weights of simulated annealing, hollow where fewer than 90 % of them have no errors. "
        f"({panel}) Circles as before; triangles: the first solution of the same runs, where annealing would "
        "usually end. It has far fewer solutions around it."
    )


def _settings(theory: pd.DataFrame, runs: pd.DataFrame) -> dict[str, str]:
    p = runs.attrs["parameters"]
    finite = theory[np.isfinite(theory["gamma"])].dropna(subset=["y"])
    highest = finite.loc[finite.groupby(["alpha", "distance"])["y"].idxmin()]
    optima = "; ".join(
        f"{', '.join(f'{gamma:g}' for gamma in at['gamma'])} at α = {alpha:g} (d = {', '.join(f'{d:.2g}' for d in at['distance'])})"
        for alpha, at in highest.groupby("alpha")
    )
    return {
        "unit": "the entropy H_b of all weights at distance d; dotted: 1, where the local entropy is 0",
        "lines": "Franz–Parisi entropy; the minimizers are at the β where their entropy is zero",
        "optimum": f"of the drawn γ the theory is highest at γ = {optima}",
        "points": f"by belief propagation, N = {p['N']}, {p['samples']} instances, mean and standard error",
        "schedule": f"β grows linearly from {p['beta_start']:g} to {p['beta_end']:g} in {p['sweeps']} sweeps",
        "large γ": "the β of the theory is larger than the last one of the schedule, and the runs get stuck before: their "
        "final weights are not the minimizers",
        "chosen here": "loads, distances, N and the schedule; the talk gives none",
    }
