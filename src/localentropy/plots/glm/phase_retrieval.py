"""Figure phase_retrieval: what can be learned from absolute values, by message passing and by gradient descent."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from localentropy.analysis.printed_loads import PHASE_RETRIEVAL, PHASE_RETRIEVAL_AMP
from localentropy.analysis.thresholds import last_half_point, success_fractions
from localentropy.plots.drawing import COLORS, GREY, Drawing, in_style, letter, panels, threshold_line
from localentropy.plots.glm.points import (
    AMP_SIZES,
    amp_caption,
    branches,
    counts,
    draw_branches,
    draw_runs,
    draw_shares,
    recovered,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TALK = {"plain": 7.0, "wide": 2.0}
"""Loads of gradient descent that the talk gives, for infinitely many inputs."""
LOOKS: tuple[dict[str, Any], ...] = tuple(
    {"color": color, "marker": marker}
    for color, marker in zip((COLORS[9], COLORS[0], COLORS[4], COLORS[2], COLORS[5]), "o^sDv", strict=True)
)
"""Looks of the numbers of inputs of gradient descent, the smallest first. None is that of AMP."""

ERRORS: dict[str, dict[str, Any]] = {"test_error": {}, "loss": {"markerfacecolor": "white", "linestyle": "--"}}
"""What is drawn of as many units as inputs."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Error of the weights; (b) success of one unit; (c), (d) success, test error and loss of as many units as inputs."""
    runs, descent = tables["glm/amp_phase_retrieval"], tables["glm/descent"]
    transitions = tables["glm/transitions"].set_index("model").loc["phase_retrieval"]
    best, other = branches(tables["glm/bayes_phase_retrieval"], transitions["information_theoretic"])
    plain, wide = (descent[descent["student"] == name] for name in TALK)
    looks = dict(zip(sorted(descent["d"].unique()), itertools.cycle(LOOKS), strict=False))
    figure, axes = panels(2, 7.0, 5.4, rows=2)
    data = pd.concat(
        [
            draw_branches(axes[0], "a", best, other, "mse"),
            draw_runs(axes[0], "a", runs, errors=True),
            _inset(axes[0], runs),
            _success(axes[1], "b", plain, looks),
            _success(axes[2], "c", wide, looks),
            _errors(axes[3], wide, looks),
        ]
    )
    for key, name, side in (
        ("weak", r"\alpha_{\mathrm{weak}}", "right"),
        ("information_theoretic", r"\alpha_{\mathrm{IT}}", "left"),
        ("algorithmic", r"\alpha_{\mathrm{AMP}}", "right"),
    ):
        threshold_line(axes[0], transitions[key], f"${name} = {transitions[key]:.5g}$", side=side, at=0.45)
    axes[0].set(ylabel=r"mean squared error of a weight", ylim=(-0.03, 1.08), xlim=(0.0, best["alpha"].max()))
    for axis, student, at in ((axes[1], "plain", 0.6), (axes[2], "wide", 0.99), (axes[3], "wide", 0.6)):
        threshold_line(axis, TALK[student], f"talk: {TALK[student]:g}", at=at)
    for axis in axes:
        axis.set_xlabel(r"$\alpha = n/d$")
    letter(axes)
    return Drawing(figure, data, _caption(transitions, runs, plain, wide))


def _inset(axis: Axes, runs: pd.DataFrame) -> pd.DataFrame:
    """Fraction of the runs of AMP that recover the teacher, where the panel is empty."""
    points = success_fractions(runs, ["d", "alpha"], recovered(runs))
    inset = axis.inset_axes((0.76, 0.58, 0.24, 0.4))
    draw_shares(inset, points, AMP_SIZES, markersize=2.5, linewidth=0.7, capsize=1)
    inset.set(ylim=(-0.08, 1.08), xlim=(0.9, runs["alpha"].max() + 0.05), yticks=[0, 1])
    inset.tick_params(labelsize=6)
    inset.set_title("fraction recovered", fontsize=6)
    return points.assign(panel="a", series="AMP, fraction recovered", x=points["alpha"])


def _success(axis: Axes, panel: str, runs: pd.DataFrame, looks: Mapping[int, Mapping[str, Any]]) -> pd.DataFrame:
    """Fraction of the runs that find the teacher, a line for each number of inputs."""
    points = success_fractions(runs, ["d", "alpha"], runs["success"])
    draw_shares(axis, points, [looks[d] for d in sorted(points["d"].unique())], linewidth=0.9)
    axis.set(ylabel="fraction of successes", ylim=(-0.05, 1.05))
    axis.legend(loc="lower right")
    return points.assign(panel=panel, series="fraction of successes", x=points["alpha"])


def _errors(axis: Axes, runs: pd.DataFrame, looks: Mapping[int, Mapping[str, Any]]) -> pd.DataFrame:
    """Test error, filled, and loss, hollow, of as many units as inputs: mean logarithms."""
    frames = []
    for d, own in runs.groupby("d"):
        for column, more in ERRORS.items():
            logs = np.log10(own[column]).groupby(own["alpha"]).agg(["mean", "sem", "size"]).reset_index()
            steps = own.groupby("alpha")["iterations"].median()
            middle, error = 10.0 ** logs["mean"], logs["sem"].fillna(0.0)
            bars = [middle * (1.0 - 10.0**-error), middle * (10.0**error - 1.0)]
            axis.errorbar(logs["alpha"], middle, bars, linewidth=0.9, **{**looks[d], **more})
            frames.append(
                pd.DataFrame(
                    {
                        "panel": "d",
                        "series": column,
                        "x": logs["alpha"],
                        "y": middle,
                        "y_err": middle * np.log(10.0) * error,
                        "d": d,
                        "runs": logs["size"],
                        "median_steps": steps.to_numpy(),
                    }
                )
            )
    for column, more in ERRORS.items():
        named: dict[str, Any] = {"color": GREY, "marker": "o", "linewidth": 0.9} | more
        axis.plot([], [], label=column.replace("_", " "), **named)
    axis.set(yscale="log", ylabel="test error, loss")
    axis.legend()
    return pd.concat(frames)


def _caption(transitions: pd.Series, runs: pd.DataFrame, plain: pd.DataFrame, wide: pd.DataFrame) -> str:
    one, many = (success_fractions(table, ["d", "alpha"], table["success"]) for table in (plain, wide))
    return (
        "Figure phase_retrieval. A teacher with Gaussian weights; the labels are absolute values |z| of its pre-activations on n = αd Gaussian inputs. "
        "(a) Mean squared error of a weight, with the right sign, which the labels do not determine. Solid: the smallest possible error; dashed: the state where AMP stays. "
        f"Weak recovery {transitions['weak']:g} and perfect recovery {transitions['information_theoretic']:g} are exact; "
        f"α_AMP = {transitions['algorithmic']:.6f} (slides: {PHASE_RETRIEVAL} and {PHASE_RETRIEVAL_AMP}). {amp_caption(runs, transitions['algorithmic'])} Inset: fraction of all runs that recover the teacher. "
        f"(b) Gradient descent of one unit on the sphere: fraction of {counts(one)} runs whose overlap exceeds {plain.attrs['parameters']['success_overlap']:g}; "
        f"error bars: binomial. Loads above which more than half succeed: {_half_points(one)}. "
        f"(c) The same for as many units as inputs, {counts(many)} runs. Loads above which more than half succeed: {_half_points(many)}. "
        f"(d) Test error (filled) and training loss (hollow) of the runs of (c), geometric means.{_falling(wide)} "
        f"The talk's loads, {TALK['plain']:g} for one unit and {TALK['wide']:g} for many, are limits for many inputs. Our sizes are too small to find them. "
        "Loads, d, steps, stopping rules and the number of runs are chosen here."
    )


def _falling(runs: pd.DataFrame) -> str:
    """How much the loss of the runs that did not reach the one at which they stop fell in the second half of their steps."""
    left = runs[runs["converged"] != 1]
    if left.empty:
        return ""
    falls = (left["loss_midway"] / left["loss"]).groupby([left["d"], left["alpha"]]).median()
    part, steps = 100.0 * len(left) / len(runs), left["iterations"]
    given = f"{steps.min()}" if steps.min() == steps.max() else f"{steps.min()} to {steps.max()}"
    return (
        f" {part:.0f} % of these runs ended after {given} steps, before the loss at which they stop. Their loss was still falling, by a factor of {falls.min():.2g} to {falls.max():.2g} in the "
        "second half of the steps (medians at each d and α)."
    )


def _half_points(points: pd.DataFrame) -> str:
    """The load above which more than half of the runs succeed, for each number of inputs."""
    told = []
    for d, own in points.groupby("d"):
        place, error = last_half_point(own)
        at = f"{place:.2f} ± {error:.1g}" if np.isfinite(place) else "none" if place > 0 else "below all loads"
        told.append(f"{at} (d = {d})")
    return ", ".join(told)
