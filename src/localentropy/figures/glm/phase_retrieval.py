"""Figure phase_retrieval: what can be learned from absolute values, by message passing and by gradient descent."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from localentropy.analysis.printed import PHASE_RETRIEVAL, PHASE_RETRIEVAL_AMP
from localentropy.analysis.thresholds import last_half_point, success_fractions
from localentropy.figures.drawing import BINOMIAL, COLORS, GREY, Drawing, clipped_bars, in_style, letter, panels, span
from localentropy.figures.glm.points import (
    amp_settings,
    branches,
    counts,
    draw_branches,
    draw_recovery,
    draw_runs,
    draw_shares,
)

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

    from localentropy.figures.series import Look, Panel

TALK = {"plain": 7.0, "wide": 2.0}
"""Loads of gradient descent that the talk gives: 7 from numerics, 2 for infinitely many inputs."""
LOOKS: tuple[dict[str, Any], ...] = tuple(
    {"color": color, "marker": marker}
    for color, marker in zip([COLORS[k] for k in (9, 0, 4, 2, 5, 1)], "o^sDvP", strict=True)
)
"""Looks of the numbers of inputs of gradient descent, the smallest first. None is that of AMP."""

HOLLOW: dict[str, Any] = {"markerfacecolor": "white", "linestyle": "--"}
ERRORS: dict[str, dict[str, Any]] = {"test_error": {}, "loss": HOLLOW}
"""What is drawn of as many units as inputs."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Error of the weights; (b) success of one unit; (c), (d) the same of as many units as inputs.

    (c) has the fraction of training sets with a unique minimum, too; (d) has test error and loss.
    """
    runs, descent, unique = (tables[f"glm/{name}"] for name in ("amp_phase_retrieval", "descent", "uniqueness"))
    cavity = float(tables["glm/uniqueness_cavity"]["alpha"].iloc[0])
    transitions = tables["glm/transitions"].set_index("model").loc["phase_retrieval"]
    best, other = branches(tables["glm/bayes_phase_retrieval"], transitions["information_theoretic"])
    plain, wide = (descent[descent["student"] == name] for name in TALK)
    looks = dict(zip(sorted({*descent["d"], *unique["d"]}), itertools.cycle(LOOKS), strict=False))
    figure, axes = panels(2, 7.0, 5.4, rows=2)
    draw_branches(axes[0], best, other, "mse")
    draw_runs(axes[0], runs, errors=True)
    _inset(axes[0], runs)
    _success(axes[1], plain, looks)
    axes[1].legend(loc="lower right")
    _success(axes[2], wide, looks)
    _unique(axes[2], unique, looks)
    _errors(axes[3], wide, looks, sorted({*wide["d"], *unique["d"]}))
    for key, name, side in (
        ("weak", r"\alpha_{\mathrm{weak}}", "right"),
        ("information_theoretic", r"\alpha_{\mathrm{IT}}", "left"),
        ("algorithmic", r"\alpha_{\mathrm{AMP}}", "right"),
    ):
        axes[0].threshold(transitions[key], f"${name} = {transitions[key]:.5g}$", side=side, at=0.45)
    axes[0].set(ylabel=r"mean squared error of a weight", ylim=(-0.03, 1.08), xlim=(0.0, best["alpha"].max()))
    for axis, student, at in ((axes[1], "plain", 0.6), (axes[2], "wide", 0.99), (axes[3], "wide", 0.6)):
        axis.threshold(TALK[student], f"talk: {TALK[student]:g}", at=at)
    axes[2].threshold(cavity, f"cavity (heuristic): {cavity:.2f}", color=GREY, side="right", at=0.8)
    for axis in axes:
        axis.set_xlabel(r"$\alpha = n/d$")
    letter(axes)
    return Drawing(figure, CAPTION, _settings(transitions, runs, plain, wide, unique, cavity))


def _inset(axis: Panel, runs: pd.DataFrame) -> None:
    """Fraction of the runs of AMP that recover the teacher, where the panel is empty."""
    inset = axis.inset_axes((0.76, 0.58, 0.24, 0.4))
    draw_recovery(inset, runs, markersize=2.5, capsize=1)
    inset.set(ylim=(-0.08, 1.08), xlim=(0.9, runs["alpha"].max() + 0.05), yticks=[0, 1])
    inset.tick_params(labelsize=6)
    inset.set_title("fraction recovered", fontsize=6)


def _success(axis: Panel, runs: pd.DataFrame, looks: Mapping[int, Look]) -> None:
    """Fraction of the runs that find the teacher, a line for each number of inputs."""
    points = success_fractions(runs, ["d", "alpha"], runs["success"])
    own = [looks[d] for d in sorted(points["d"].unique())]
    draw_shares(axis, points, "fraction of successes", own, linewidth=0.9)
    axis.set(ylabel="fraction of successes", ylim=(-0.05, 1.05))


def _unique(axis: Panel, sets: pd.DataFrame, looks: Mapping[int, Look]) -> None:
    """Fraction of the training sets with a unique minimum, hollow, a line for each number of inputs."""
    points = success_fractions(sets, ["d", "alpha"], sets["unique"])
    for d, own in points.groupby("d"):
        look = {**looks[d], **HOLLOW, "linewidth": 0.9}
        axis.points(own, "fraction unique", look, "alpha", bars=clipped_bars(own))
    axis.set_ylabel("fraction of successes, or unique")
    kinds = [_kind(axis, "success", {}), _kind(axis, "unique minimum", HOLLOW)]
    # It hides a part of the cavity line.
    axis.legend(handles=kinds, loc="lower right", frameon=True, framealpha=1.0, edgecolor="none")


def _kind(axis: Panel, label: str, more: Mapping[str, Any]) -> Line2D:
    """An entry of a legend: what is filled or hollow, at every number of inputs."""
    named: dict[str, Any] = {"color": GREY, "marker": "o", "linewidth": 0.9, **more}
    (line,) = axis.plot([], [], label=label, **named)
    return line


def _errors(axis: Panel, runs: pd.DataFrame, looks: Mapping[int, Look], shown: list[int]) -> None:
    """Test error, filled, and loss, hollow, of as many units as inputs: mean logarithms; and a legend of the numbers d."""
    for d, own in runs.groupby("d"):
        for column, more in ERRORS.items():
            logs = np.log10(own[column]).groupby(own["alpha"]).agg(["mean", "sem", "size"]).reset_index()
            steps = own.groupby("alpha")["iterations"].median()
            middle, error = 10.0 ** logs["mean"], logs["sem"].fillna(0.0)
            bars = [middle * (1.0 - 10.0**-error), middle * (10.0**error - 1.0)]
            points = pd.DataFrame({"x": logs["alpha"], "y": middle, "y_err": middle * np.log(10.0) * error, "d": d})
            points = points.assign(runs=logs["size"], median_steps=steps.to_numpy())
            axis.points(points, column, {**looks[d], **more, "linewidth": 0.9}, bars=bars)
    kinds = [_kind(axis, column.replace("_", " "), more) for column, more in ERRORS.items()]
    axis.set(yscale="log", ylabel="test error, loss")
    axis.add_artist(axis.legend(handles=kinds))
    sizes = [axis.plot([], [], label=f"$d = {d}$", linewidth=0.9, **looks[d])[0] for d in shown]
    axis.legend(handles=sizes, loc="lower right", ncols=2, title="in (c) and (d)", title_fontsize=7)


CAPTION = (
    "Figure phase_retrieval. A teacher with Gaussian weights; the labels are the absolute values of its pre-activations. (a) "
    "Mean squared error of a weight: the smallest possible error (solid), and the state where AMP stays (dashed). Points are "
    "AMP; inset: the fraction of its runs that recover the teacher. (b) Fraction of the runs of gradient descent that "
    "succeed with one unit. (c) The same with as many units as inputs (filled), and the fraction of training sets whose loss "
    "has no zero but the teacher (hollow). (d) Test error (filled) and training loss (hollow) of the runs of (c). Dotted "
    "lines: thresholds, the talk's loads, and in (c) our heuristic cavity load for many inputs."
)


def _settings(
    transitions: pd.Series,
    runs: pd.DataFrame,
    plain: pd.DataFrame,
    wide: pd.DataFrame,
    unique: pd.DataFrame,
    cavity: float,
) -> dict[str, str]:
    sets = success_fractions(unique, ["d", "alpha"], unique["unique"])
    one, many = (success_fractions(table, ["d", "alpha"], table["success"]) for table in (plain, wide))
    return {
        "samples": "n = αd Gaussian inputs; the labels do not determine the sign of the weights; the error is that with the "
        "sign of the teacher",
        "thresholds": f"weak recovery {transitions['weak']:g} and perfect recovery {transitions['information_theoretic']:g} are "
        f"exact; α_AMP = {transitions['algorithmic']:.6f} (slides: {PHASE_RETRIEVAL} and {PHASE_RETRIEVAL_AMP})",
        **amp_settings(runs, transitions["algorithmic"]),
        "one unit": f"{counts(one)} runs on the sphere; success is an overlap above "
        f"{plain.attrs['parameters']['success_overlap']:g}; loads above which more than half succeed: {_half_points(one)}",
        "as many units as inputs": f"{counts(many)} runs; loads above which more than half succeed: {_half_points(many)}",
        "unique minimum": f"{counts(sets)} training sets, each decided by a certificate; more than half have no zero but the "
        f"teacher above {_half_points(sets)}",
        "cavity": f"a heuristic calculation has a unique minimum above α = {cavity:.4f} for d → ∞; the theorem says 2",
        "error bars of fractions": BINOMIAL,
        "(d)": f"geometric means{_falling(wide)}",
        "the talk's loads": f"{TALK['plain']:g} for one unit (numerics of the talk, d not said) and {TALK['wide']:g} for many "
        "(limit of many inputs)",
        "chosen here": "loads, d, steps, stopping rules and the number of runs",
    }


def _falling(runs: pd.DataFrame) -> str:
    """How much the loss of the runs that did not reach the one at which they stop fell in the second half of their steps."""
    left = runs[runs["converged"] != 1]
    if left.empty:
        return ""
    falls = (left["loss_midway"] / left["loss"]).groupby([left["d"], left["alpha"]]).median()
    part = 100.0 * len(left) / len(runs)
    return (
        f"; {part:.0f} % of these runs ended after {span(left['iterations'])} steps, before the loss at which they stop; their loss was still "
        f"falling, by a factor of {falls.min():.2g} to {falls.max():.2g} in the second half of the steps (medians at each d and α)"
    )


def _half_points(points: pd.DataFrame) -> str:
    """The load above which more than half of the runs succeed, for each number of inputs."""
    told = []
    for d, own in points.groupby("d"):
        place, error = last_half_point(own)
        at = f"{place:.2f} ± {error:.1g}" if np.isfinite(place) else "none" if place > 0 else "below all loads"
        told.append(f"{at} (d = {d})")
    return ", ".join(told)
