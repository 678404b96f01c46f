"""Bayes-optimal learning from a teacher (glm, figures binary, phase_retrieval and committee)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from localentropy.explore.explorer import Axes, Choice, Curve, Explorer, Points, Slider, call
from localentropy.figures.drawing import COLORS
from localentropy.numerics.channels import CHANNELS
from localentropy.numerics.priors import PRIORS

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.pipeline.config import Configuration

POINTS = 60
ALPHA = r"$$\alpha = n/d$$"
STARTS = {"uninformed": "solid", "informed": "dashed"}
"""Starts of state evolution → style of the line. Where there is one state only, the lines lie on each other."""
STATES = "equilibrium|metastable.*"
"""Series of the figures with the states."""


def binary(configuration: Configuration) -> Explorer:
    """Overlap with the teacher, error, and the plane of load and temperature (figure binary)."""
    p: Any = configuration.experiments["glm/bayes_binary"]
    glass: Any = configuration.experiments["glm/glass"]
    temperatures = Points(glass.temperatures, 12, "linear")

    def curves(alpha: float, **teacher: str) -> list[Curve]:
        ends = {"equilibrium": COLORS[0], "spinodal": COLORS[1]}
        return [
            *_starts("bayes.learning", "overlap", alpha=Points((p.alphas[0], alpha), POINTS, "linear"), **teacher),
            *_starts(
                "bayes.learning", "bayes_error", 1, alpha=Points((p.alphas[0], alpha), POINTS, "linear"), **teacher
            ),
            *(
                Curve(name, call(f"gibbs.{name}", pieces=6, temperature=temperatures), "value", 2, color, across=True)
                for name, color in ends.items()
            ),
        ]

    return Explorer(
        _teacher("binary", "sign", p.alphas[1]),
        (
            Axes(ALPHA, "overlap $$m$$ with the teacher", y_range=(0.0, 1.05), shipped=("a", STATES)),
            Axes(ALPHA, "generalization error (of labels ±1)", shipped=("b", STATES)),
            Axes(ALPHA, "temperature $$T$$", x_range=(1.15, 2.05), y_range=(0.0, 0.6), shipped=("d", STATES)),
        ),
        curves,
    )


def phase_retrieval(configuration: Configuration) -> Explorer:
    """Error of the weights (figure phase_retrieval)."""
    p: Any = configuration.experiments["glm/bayes_phase_retrieval"]

    def curves(alpha: float, **teacher: str) -> list[Curve]:
        return _starts("bayes.learning", "mse", alpha=Points((p.alphas[0], alpha), POINTS, "linear"), **teacher)

    axes = Axes(ALPHA, "mean squared error of a weight", y_range=(-0.03, 1.08), shipped=("a", STATES))
    return Explorer(_teacher("gaussian", "absolute", p.alphas[1]), (axes,), curves)


def committee(configuration: Configuration) -> Explorer:
    """Error of many units, and growth of a small specialization (figure committee)."""
    p: Any = configuration.experiments["glm/bayes_committee_large"]
    evolution: Any = configuration.experiments["glm/committee_evolution"]
    specializations = Points((evolution.starts[0], evolution.starts[-1]), 13)

    def curves(units: str, alpha: float) -> list[Curve]:
        many = math.inf if units == "inf" else int(units)
        grown = call("committee.state_evolution", specialization=specializations, alpha=alpha, updates=1)
        return [
            *_starts(
                "committee.learning", "bayes_error", pieces=6, alpha=Points(p.alphas, POINTS, "linear"), units=many
            ),
            Curve("one update, many units", grown, growth, 1, COLORS[0]),
        ]

    return Explorer(
        (
            Choice("units", "units K", "inf", ("2", "inf")),
            Slider("alpha", "α̃ of the growth", evolution.alphas[0], 0.5, 100.0),
        ),
        (
            Axes(
                r"$$\tilde\alpha = n/(Kd)$$, for two units $$n/d$$",
                r"generalization error $$\varepsilon_g$$",
                shipped=("c", STATES),
            ),
            Axes("$$q_d$$ before the update", "growth of $$q_d$$", x_log=True, y_log=True, shipped=("d", ".*")),
        ),
        curves,
    )


def _teacher(prior: str, channel: str, largest: float) -> tuple[Slider | Choice, ...]:
    """The teacher, and the right end of the axis."""
    return (
        Choice("prior", "weights of the teacher", prior, tuple(PRIORS)),
        Choice("channel", "labels", channel, tuple(CHANNELS)),
        Slider("alpha", "largest α", largest, 0.5, 10.0, 0.1),
    )


def _starts(function: str, column: str, panel: int = 0, /, **arguments: Any) -> list[Curve]:
    """A line for each start of state evolution."""
    return [
        Curve(f"{start} start", call(function, start=start, **arguments), column, panel, dash=dash)
        for start, dash in STARTS.items()
    ]


def growth(rows: pd.DataFrame) -> pd.Series:
    """The value over the point."""
    return rows["value"] / rows["x"]
