"""Figure perceptron: learning the sign of a teacher with Gaussian weights, Bayes-optimally and by risk minimisation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from localentropy.figures.algorithms import significant
from localentropy.figures.drawing import GREY, Drawing, in_style, letter
from localentropy.figures.glm.points import AMP, LOSSES, POINTS, counts, means, sizes, write
from localentropy.figures.layout import two_columns

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

STUDENTS: dict[str, dict[str, Any]] = {
    "square": {"color": LOSSES["square"], "marker": "s"},
    "hinge": {"color": LOSSES["hinge"], "marker": "^"},
    "logistic": {"color": LOSSES["logistic"], "marker": "D"},
}
"""Looks of the losses, the largest error first."""
LAW = 0.441700
"""The Bayes error times α for large α (docs/glm/theory.md, section 1)."""
CLAIMED = 0.1
"""Per cent: the excess that optimally regularised logistic regression stays below, in the claim."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Error against α; (b) what the students lose to Bayes; (c) simulation over theory."""
    bayes = tables["glm/bayes_perceptron"].sort_values("alpha")
    risk = tables["glm/risk"].sort_values("alpha")
    amp = tables["glm/amp_perceptron"]
    amp = amp.assign(error=np.arccos(np.clip(amp["cosine"], -1.0, 1.0)) / np.pi)
    runs = tables["glm/risk_runs"]
    points = {"AMP": means(amp, ["alpha", "d"], "error")}
    points |= {
        student: means(runs[runs["student"] == student], ["alpha", "d"], "generalization_error") for student in STUDENTS
    }
    lines = {"AMP": bayes.rename(columns={"bayes_error": "error"})}
    lines |= {
        student: risk[risk["student"] == student].rename(columns={"generalization_error": "error"})
        for student in STUDENTS
    }
    figure, axes = two_columns(3, 2.7)
    _errors(axes[0], lines, points)
    told = _excess(axes[1], lines)
    _ratios(axes[2], lines, points)
    for axis in axes:
        axis.set(xscale="log", xlabel=r"$\alpha = n/d$", xlim=(bayes["alpha"].min(), bayes["alpha"].max()))
    loads = pd.concat(points.values())["alpha"]
    axes[2].set_xlim(0.7 * loads.min(), 1.4 * loads.max())
    letter(axes)
    return Drawing(figure, CAPTION, _settings(amp, runs, points, told))


def _look(name: str) -> dict[str, Any]:
    return AMP if name == "AMP" else STUDENTS[name]


def _errors(axis: Panel, lines: Mapping[str, pd.DataFrame], points: Mapping[str, pd.DataFrame]) -> None:
    for name, line in lines.items():
        bayes = name == "AMP"
        style = (
            {"color": "black", "zorder": 2.5, "linestyle": (0, (3, 2))} if bayes else {"color": _look(name)["color"]}
        )
        style["label"] = "Bayes, state evolution" if bayes else f"{name} loss, best $\\lambda$"
        axis.line(line["alpha"], line["error"], "Bayes" if bayes else f"{name} loss", style)
        # The points of AMP and of the logistic loss are in the same places: one is a ring around the other.
        ring = {"markersize": 6, "markerfacecolor": "none"} if bayes else {"markersize": 3}
        axis.points(points[name], f"{name}, simulation", _look(name) | ring | POINTS, "alpha")
    alpha = lines["AMP"]["alpha"]
    law = alpha[alpha >= 1.0]
    look = {"color": GREY, "linestyle": ":", "label": rf"${LAW:.4f}/\alpha$"}
    axis.line(law, LAW / law, "law of large α", look)
    axis.plot([], [], label="AMP", **(AMP | {"markersize": 6, "markerfacecolor": "none"}), **POINTS)
    axis.set(yscale="log", ylabel=r"generalization error $\varepsilon_g$")
    axis.legend(loc="lower left")


def _excess(axis: Panel, lines: Mapping[str, pd.DataFrame]) -> str:
    """The relative excess at the loads that a student shares with the Bayes curve; the range of the logistic loss in words."""
    found = {}
    bayes = lines["AMP"].assign(load=lines["AMP"]["alpha"].round(9))[["load", "error"]]
    for name in STUDENTS:
        line = lines[name].assign(load=lines[name]["alpha"].round(9)).merge(bayes, on="load", suffixes=("", "_bayes"))
        excess = 100.0 * (line["error"] / line["error_bayes"] - 1.0)
        color = {"color": STUDENTS[name]["color"]}
        axis.line(line["alpha"], excess, name, color, best_regularization=line["regularization"])
        if len(line):
            at = 2 * len(line) // 3
            write(axis, line["alpha"].iloc[at], 0.7 * excess.iloc[at], name, STUDENTS[name]["color"], va="top")
        found[name] = excess
    axis.axhline(CLAIMED, color="black", linestyle=":", linewidth=0.8)
    axis.annotate(
        f"{CLAIMED:g} %", (0.99, CLAIMED), xycoords=("axes fraction", "data"), xytext=(0, 2),
        textcoords="offset points", ha="right", fontsize=7,
    )  # fmt: skip
    axis.set(yscale="log", ylabel=r"$\varepsilon_g/\varepsilon_{\mathrm{Bayes}} - 1$ (%)")
    logistic = found["logistic"]
    if logistic.empty:
        return "not computed at Bayes' loads"
    return f"{significant(logistic.min(), 2)} to {significant(logistic.max(), 2)} %"


def _ratios(axis: Panel, lines: Mapping[str, pd.DataFrame], points: Mapping[str, pd.DataFrame]) -> None:
    for number, (name, own) in enumerate(points.items()):
        line = lines[name]
        theory = np.exp(np.interp(np.log(own["alpha"]), np.log(line["alpha"]), np.log(line["error"])))
        near = own.assign(y=own["y"] / theory, y_err=own["y_err"] / theory)
        # Side by side, so that they do not hide each other.
        x = near["alpha"] * 1.06 ** (number - 1.5)
        look = _look(name) | POINTS | {"label": name} | ({"markerfacecolor": "white"} if name == "AMP" else {})
        axis.points(near, f"{name}, simulation / theory", look, "alpha", at=x)
    axis.axhline(1.0, color="black", linewidth=0.8)
    low, high = axis.get_ylim()
    axis.set(ylabel=r"$\varepsilon_g$, simulation / theory", ylim=(low - 0.15 * (high - low), high))
    axis.legend(ncols=4, loc="lower center", columnspacing=1.0, handletextpad=0.1)


CAPTION = (
    "Figure perceptron. A teacher with Gaussian weights labels Gaussian inputs by signs. (a) Probability of a wrong label on "
    "a new input. Dashed: the Bayes-optimal student; dotted: its law for many samples. Solid: minimizers of three losses, "
    "with the regularization of smallest error; the curve of the logistic loss is hidden by the Bayes-optimal one. Points are "
    f"simulations. (b) By how much the errors of the minimizers exceed the Bayes-optimal error; dotted: {CLAIMED:g} %. (c) "
    "Simulations divided by theory; points at one α are drawn side by side."
)


def _settings(amp: pd.DataFrame, runs: pd.DataFrame, points: Mapping[str, pd.DataFrame], told: str) -> dict[str, str]:
    students = pd.concat([points[name] for name in STUDENTS])
    return {
        "samples": "n = αd",
        "theory": "state evolution",
        "losses": "square, hinge and logistic, each with the penalty λ|w|²/2; the slide writes the logistic loss with log₂ and "
        "λ|w|²: our λ is 2 ln 2 times that λ",
        "excess of the logistic loss": f"{told} on the drawn loads",
        "points": f"AMP, d = {sizes(amp['d'])}, {counts(points['AMP'])} instances, and minimizers, d = {sizes(runs['d'])}, "
        f"{counts(students)} instances; mean and standard error",
        "chosen here": "loads, sizes and numbers of instances",
    }
