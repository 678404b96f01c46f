"""Franz–Parisi entropies of every model: around references of a margin, of the largest margin, around minimizers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.analysis.flatness import without_frozen_ends
from localentropy.explore.explorer import Axes, Call, Curve, Explorer, Points, Slider, call, of
from localentropy.explore.sweeps import activation, slider
from localentropy.figures.drawing import COLORS, GREY
from localentropy.figures.franz_parisi_panels import LINEAR, SMALL
from localentropy.figures.largest_margin_curves import BOTTOM, TOP
from localentropy.figures.largest_margin_curves import LINEAR as LINEAR_OF_ENTROPY
from localentropy.programs.parts.ensembles import Ensemble

if TYPE_CHECKING:
    from localentropy.pipeline.config import Configuration

POINTS = 40
ENTROPY = r"$$\phi_{\mathrm{FP}}(d)$$ (nats per weight)"
SLOPE = r"$$\mathrm{d}\phi_{\mathrm{FP}}/\mathrm{d}d$$"
DISTANCE = "distance $$d$$"
REFERENCES = "(reference|monotonic) .*"
"""Series of the figures of several references."""


def any_margin(configuration: Configuration, experiment: str) -> Explorer:
    """Around typical solutions of a margin (overparam, figure 3; margins, figure 3)."""
    p: Any = configuration.experiments[experiment]
    grid = Points((p.smallest_distance, p.largest_distance), POINTS, p.spacing)
    margin_ref = max(margin for margin in p.curves["reference"].margins_ref if isinstance(margin, float))

    def curves(**values: Any) -> list[Curve]:
        found = _curve(p.ensemble, grid, **values)
        bound = call("binary_entropy", distances=grid)
        name = "around margin κ̃"
        return [
            *(Curve("α = 0", bound, "value", panel, GREY, "dotted") for panel in (0, 1)),
            *(Curve(name, found, until_frozen, panel, COLORS[0], signed=True) for panel in (0, 1)),
        ]

    return Explorer(
        (
            *_loads(p),
            Slider("margin_ref", "κ̃ (of the reference)", margin_ref, 0.0, 1.0, 0.001),
            Slider("margin", "κ (of the solutions)", p.margin, 0.0, 1.0, 0.001),
            *activation(p.ensemble),
        ),
        (
            Axes(DISTANCE, ENTROPY, x_range=(0.0, p.largest_distance), shipped=("a, b", REFERENCES)),
            Axes(
                DISTANCE,
                ENTROPY,
                x_log=True,
                x_range=(p.smallest_distance, SMALL),
                y_range=(-0.05, 0.2),
                y_linear=LINEAR,
                shipped=("a, b", REFERENCES),
            ),
        ),
        curves,
    )


def largest_margin(
    configuration: Configuration, experiment: str, panels: str = "ab", y_linear: float | None = LINEAR_OF_ENTROPY
) -> Explorer:
    """Around solutions of the largest margin, up to the typical distance (overparam, figure 4; margins, 4, 6, 7, S1).

    Args:
        configuration: of the page's start.
        experiment: `<paper>/<name>` of the program `franz_parisi`.
        panels: of the figure's CSV, with the entropy and with the slope.
        y_linear: up to which the axis of entropies is linear; None if it is linear everywhere.
    """
    p: Any = configuration.experiments[experiment]
    right = 0.5 if p.largest_distance == "typical" else p.largest_distance
    grid = Points((p.smallest_distance, right), POINTS)

    def curves(**values: Any) -> list[Curve]:
        found = _curve(p.ensemble, grid, "max", **values)
        name = "around the largest margin"
        return [
            Curve(name, found, rising_entropy, 0, COLORS[0], signed=True),
            Curve(name, found, rising_slope, 1, COLORS[0], signed=True),
        ]

    return Explorer(
        (
            *_loads(p, "max_margin"),
            Slider("margin", "κ (of the solutions)", p.margin, 0.0, 1.0, 0.001),
            *activation(p.ensemble),
        ),
        (
            Axes(DISTANCE, ENTROPY, x_log=True, x_range=(1e-4, 0.5), y_linear=y_linear, shipped=(panels[0], ".*")),
            Axes(DISTANCE, SLOPE, x_log=True, x_range=(1e-4, 0.5), y_range=(BOTTOM, TOP), shipped=(panels[1], ".*")),
        ),
        curves,
    )


def minimizers(configuration: Configuration) -> Explorer:
    """Around minimizers of the cross-entropy loss (shaping, figure 3)."""
    p: Any = configuration.experiments["shaping/cross_entropy_franz_parisi"]
    grid, first = Points(p.distances, POINTS), p.curves[0]

    def curves(alpha: float, gamma: float) -> list[Curve]:
        found = call("cross_entropy.franz_parisi", pieces=2, distances=grid, alpha=alpha, gamma=gamma, unsolved="nan")
        bound, name = call("binary_entropy", distances=grid), "around the minimizer"
        return [
            Curve("α = 0", bound, "value", 0, GREY),
            Curve(name, found, "entropy", 0, COLORS[0], signed=True),
            Curve(name, found, normalised, 1, COLORS[0], signed=True),
        ]

    return Explorer(
        (Slider("alpha", "α", first.alpha, 0.05, 0.9, 0.01), slider("gamma", first.gammas[0])),
        (
            Axes(DISTANCE, ENTROPY, x_range=(0.0, 0.1), y_range=(-0.02, 0.34), shipped=("a", r"α = 0\..*")),
            Axes(
                DISTANCE,
                r"$$\phi_{\mathrm{FP}}(d)\,/\,\phi_{\alpha = 0}(d)$$",
                x_log=True,
                y_range=(-0.4, 1.1),
                shipped=("b", r"α = 0\..*"),
            ),
        ),
        curves,
    )


def _curve(ensemble: Ensemble, grid: Points, margin_ref: float | str, **values: Any) -> Call:
    """The call of the curve. Small distances come last: there the solve may take long to find that none is there."""
    model = of(type(ensemble).__name__, **values)
    return call("franz_parisi", model, 2, distances=grid, margin_ref=margin_ref, unsolved="nan")


def _loads(p: Any, family: str = "") -> list[Slider]:
    """α_T and 1/α, or α, from the section's value, or from the first one of a family that does not have it."""
    own = getattr(p, p.CONTROL)
    values = getattr(p.curves[family], f"{p.CONTROL}s") if family else [own]
    if own not in values:
        own = next((value for value in values if isinstance(value, float)), None) or p.threshold()
    if p.CONTROL == "alpha":
        return [slider("alpha", own)]
    return [slider("alpha_T", p.alpha_T), slider("inv_alpha", own)]


def optimal_sharpness(configuration: Configuration) -> Explorer:
    """Local entropy around minimizers against γ, at a distance (shaping, s4)."""
    p: Any = configuration.experiments["shaping/optimal_gamma"]
    gammas = [gamma for gamma in p.curves[0].gammas if isinstance(gamma, float)]

    def curves(alpha: float, distance: float) -> list[Curve]:
        grid = Points((gammas[0], gammas[-1]), 12)
        found = call(
            "cross_entropy.franz_parisi", None, 12, gamma=grid, alpha=alpha, distances=distance, unsolved="nan"
        )
        return [Curve("around the minimizer", found, below_bound, 0, COLORS[0])]

    return Explorer(
        (
            Slider("alpha", "α", p.curves[0].alpha, 0.05, 0.9, 0.01),
            Slider("distance", "d", p.distances[0], 1e-3, 0.3),
        ),
        (
            Axes(
                r"sharpness $$\gamma$$",
                r"1 − local entropy / bound $$H_b(d)$$",
                x_log=True,
                y_log=True,
                x_range=(gammas[0], gammas[-1]),
                shipped=("a", "theory, .*"),
            ),
        ),
        curves,
    )


def until_frozen(rows: pd.DataFrame) -> pd.Series:
    """The entropy without the end that the figures cut."""
    return without_frozen_ends(rows.assign(curve=""), ["curve"])["entropy"]


def normalised(rows: pd.DataFrame) -> pd.Series:
    """The entropy over that of all weights at the distance."""
    from localentropy.theory.franz_parisi_entropy import binary_entropy

    return rows["entropy"] / binary_entropy(rows["distance"])


def below_bound(rows: pd.DataFrame) -> pd.Series:
    """How much the entropy is below that of all weights at the distance, in units of it."""
    return 1.0 - normalised(rows)


def rising_entropy(rows: pd.DataFrame) -> pd.Series:
    """The entropy up to its maximum."""
    return _rising(rows, "entropy")


def rising_slope(rows: pd.DataFrame) -> pd.Series:
    """The slope up to the maximum of the entropy."""
    return _rising(rows, "slope")


def _rising(rows: pd.DataFrame, column: str) -> pd.Series:
    cut = without_frozen_ends(rows.assign(curve=""), ["curve"])
    return cut[column].where(cut["distance"] <= cut["typical_distance"])
