"""Typical solutions: thresholds, errors, entropies, stabilities (figures of overparam and margins; shaping, s6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from localentropy.explore import sweeps
from localentropy.explore.explorer import Axes, Call, Choice, Curve, Explorer, Points, Slider, call, of
from localentropy.figures.drawing import COLORS
from localentropy.programs.parts.ensembles import BEYOND
from localentropy.theory.monotonicity import thresholds

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.pipeline.config import Configuration

POINTS = 40
INV_ALPHA = r"$$1/\alpha = N/P$$"
ALPHA_T = r"$$\alpha_T = P/D$$"
ALPHA = r"patterns per weight $$\alpha$$"
MARGIN = r"margin $$\kappa$$"
ERROR = r"generalization error $$\epsilon_g$$"


def phase_diagram(configuration: Configuration) -> Explorer:
    """Thresholds in 1/α against α_T (figure 1)."""
    p: Any = configuration.experiments["overparam/thresholds"]
    alphas_T = p.over.alpha_T.ends

    def curves(margin: float, activation: str) -> list[Curve]:
        exist = call(
            "alpha_c", of("RandomFeatures", alpha_T=Points(alphas_T, POINTS), margin=margin, activation=activation)
        )
        # Each point takes up to a second.
        dense = call("alpha_le", of("RandomFeatures", alpha_T=Points(alphas_T, 8), activation=activation), 8)
        return [
            Curve("1/α_c, interpolation", exist, inverse),
            Curve("1/α_LE, local entropy (κ = 0)", dense, inverse, dash="dashed"),
        ]

    return Explorer(
        (
            Slider("margin", "κ", 0.0, 0.0, 1.0, 0.01),
            *sweeps.activation(p.ensemble),
        ),
        (Axes(ALPHA_T, INV_ALPHA, x_range=(0.0, alphas_T[1]), y_range=(0.5, 1.6), shipped=("a", ".*threshold")),),
        curves,
    )


def errors(configuration: Configuration) -> Explorer:
    """Errors of typical solutions and of their barycentre (figure 2)."""

    def curves(**values: Any) -> list[Curve]:
        line = _line(configuration, **values)
        return [
            Curve("typical solutions", line, "error_typical"),
            Curve("barycentre", line, "error_barycenter", dash="dotdash"),
        ]

    panel = Axes(INV_ALPHA, ERROR, x_log=True, y_range=(0.0, 0.5), shipped=("a", "(typical|barycenter) .*"))
    return Explorer(_controls(configuration), (panel,), curves)


def entropies(configuration: Configuration) -> Explorer:
    """Entropy of typical solutions (figure 8)."""

    def curves(**values: Any) -> list[Curve]:
        return [Curve("typical solutions", _line(configuration, **values), "entropy", color=COLORS[0])]

    panel = Axes(INV_ALPHA, "entropy per weight (nats)", x_log=True, y_range=(0.0, 0.7), shipped=("a", ".*"))
    return Explorer(_controls(configuration), (panel,), curves)


def barycentres(configuration: Configuration) -> Explorer:
    """Error of the barycentre, and its limit for infinitely many features (figure 9)."""
    p: Any = configuration.experiments["overparam/overparameterized_limit"]
    grid = Points(p.over.alpha_T.ends, POINTS)

    def curves(**values: Any) -> list[Curve]:
        line = _line(configuration, **values)
        model = of("RandomFeatures", alpha_T=grid, margin=values["margin"], activation=values["activation"])
        plateau = call("overparameterized_limit", model)
        return [
            Curve("barycentre", line, "error_barycenter", 0, COLORS[0]),
            Curve("limit, typical solutions", plateau, "error_typical", 1, COLORS[0]),
            Curve("limit, barycentre", plateau, "error_barycenter", 1, COLORS[0], "dashed"),
        ]

    return Explorer(
        _controls(configuration),
        (
            Axes(INV_ALPHA, r"error of the barycentre $$\epsilon_g$$", x_log=True, shipped=("a", "barycenter")),
            Axes(ALPHA_T, r"$$\epsilon_g$$ at $$1/\alpha \to \infty$$", x_log=True, shipped=("c", ".*")),
        ),
        curves,
    )


def on_typical_solutions(configuration: Configuration, panel: str, series: str) -> Explorer:
    """The error of typical solutions, beside which figures 10 and 11 draw those of algorithms.

    Args:
        configuration: of the page's start.
        panel: of the figure's CSV, with the line of the theory.
        series: pattern of its name.
    """

    def curves(**values: Any) -> list[Curve]:
        return [Curve("typical solutions", _line(configuration, **values), "error_typical", color=COLORS[0])]

    axes = Axes(INV_ALPHA, "test error of solutions", x_log=True, shipped=(panel, series))
    return Explorer(_controls(configuration), (axes,), curves)


def stabilities(configuration: Configuration) -> Explorer:
    """Density of the stabilities of typical solutions (figure 12)."""
    p: Any = configuration.experiments["overparam/stability_density"]

    def curves(**values: Any) -> list[Curve]:
        grid = Points((values["margin"], max(p.largest_stability, 2.0 * values["margin"])), POINTS, "linear")
        found = call("stability_density", of("RandomFeatures", **values), stabilities=grid)
        return [Curve("typical solutions", found, "value", color=COLORS[0])]

    axes = Axes(
        r"stability $$\Delta$$", r"$$P(\Delta)$$", x_range=(0.0, p.largest_stability), shipped=("a", "theory.*")
    )
    return Explorer(_with_load(p), (axes,), curves)


def local_energies(configuration: Configuration) -> Explorer:
    """Local energy of typical solutions, and their overlap (figure 13)."""
    p: Any = configuration.experiments["overparam/stability_density"]
    grid = Points((0.0, p.largest_distance), POINTS, "linear")

    def curves(**values: Any) -> list[Curve]:
        found = call("local_energy", of("RandomFeatures", **values), distances=grid)
        others = {name: value for name, value in values.items() if name != "inv_alpha"}
        return [
            Curve("typical solutions", found, "value", 0, COLORS[0]),
            Curve("typical solutions", _line(configuration, **others), "q", 1, COLORS[0]),
        ]

    return Explorer(
        _with_load(p),
        (
            Axes(
                "distance $$d$$",
                "train error after flips",
                y_range=(-1e-5, 0.4),
                y_linear=1e-4,
                shipped=("a", "typical.*"),
            ),
            Axes(INV_ALPHA, "overlap of two solutions", x_log=True, y_log=True, shipped=("e", "typical")),
        ),
        curves,
    )


def distances(configuration: Configuration) -> Explorer:
    """Distance of two typical solutions against their margin (margins, figure 2)."""
    p: Any = configuration.experiments["margins/typical"]

    def curves(**values: Any) -> list[Curve]:
        found = sweeps.line(p, "typical", values)
        return [Curve("typical solutions", found, distance, color=COLORS[0])]

    axes = Axes(MARGIN, r"typical distance $$d = (1 - q)/2$$", y_range=(0.0, 0.5), shipped=("a", ".*"))
    return Explorer(sweeps.controls(p), (axes,), curves)


def largest_margins(configuration: Configuration) -> Explorer:
    """Entropy of typical solutions against their margin, and the largest margin (margins, figure 5)."""
    p: Any = configuration.experiments["margins/typical"]
    q: Any = configuration.experiments["margins/largest_margin"]

    def curves(**values: Any) -> list[Curve]:
        others = {name: value for name, value in values.items() if name != "alpha"}
        return [
            Curve("typical solutions", sweeps.line(p, "typical", values), "entropy", 0, COLORS[0]),
            Curve("largest margin", sweeps.line(q, "kappa_max", others), "value", 1),
        ]

    return Explorer(
        sweeps.controls(p),
        (
            Axes(MARGIN, r"entropy $$\phi$$ (nats per weight)", shipped=("a", ".*")),
            Axes(ALPHA, r"largest margin $$\kappa_{\max}$$", shipped=("b", ".*")),
        ),
        curves,
    )


def phases(configuration: Configuration) -> Explorer:
    """The margins that bound the phases of typical solutions against the load (margins, figure s2)."""
    p: Any = configuration.experiments["margins/dense_regions"]

    def curves(model: str) -> list[Curve]:
        ensemble = p.ensembles[model]
        kind, own = type(ensemble).__name__, ensemble.model_dump(exclude={"model"})
        found = thresholds(ensemble.at())

        def line(name: str, question: str, end: float, points: int, color: str) -> Curve:
            # At its end a line has the rounding of a root. A point takes up to a second.
            grid = Points((p.smallest_alpha, (1.0 - 1e-6) * end), points, "linear")
            return Curve(name, call(question, of(kind, alpha=grid, **own), points), "value", color=color)

        return [
            line("κ_max", "kappa_max", found.alpha_c, 20, "black"),
            line("κ_u", "kappa_u", found.alpha_le, 5, COLORS[0]),
            line("κ_min", "kappa_min", found.alpha_min, 5, COLORS[1]),
        ]

    axes = Axes(ALPHA, r"margin of the reference $$\tilde\kappa$$", shipped=("a", "perceptron, kappa.*"))
    return Explorer((Choice("model", "model", p.lines[0], tuple(p.ensembles)),), (axes,), curves)


def volumes(configuration: Configuration) -> Explorer:
    """Entropy of typical solutions of tree committees with weights on a sphere (shaping, s6)."""
    p: Any = configuration.experiments["shaping/typical_volume"]

    def curves(units: str) -> list[Curve]:
        model = of("Spherical", alpha=Points(p.alphas, 20, "linear"), units=math.inf if units == "inf" else int(units))
        return [Curve("replica theory", call("typical", model, 4), "entropy", color=COLORS[0])]

    axes = Axes(r"$$\alpha$$", "entropy (nats per weight)", shipped=("a", "replica theory"))
    return Explorer((Choice("units", "units K", str(p.units[0]), tuple(map(str, p.units))),), (axes,), curves)


def minimizers(configuration: Configuration) -> Explorer:
    """Errors of minimizers of the cross-entropy loss against the load (shaping, figure 2)."""
    p: Any = configuration.experiments["shaping/cross_entropy_minimizers"]

    def curves(**values: Any) -> list[Curve]:
        found = sweeps.line(p, "cross_entropy.minimizers", values, 24, 4)
        return [Curve("minimizers", found, "error", color=COLORS[0])]

    axes = Axes(ALPHA, r"error rate $$\epsilon$$", x_range=p.over.alpha.ends, shipped=("a, b", ".*"))
    return Explorer(sweeps.controls(p), (axes,), curves)


def inverse(rows: pd.DataFrame) -> pd.Series:
    """One over the value."""
    return 1.0 / rows["value"]


def distance(rows: pd.DataFrame) -> pd.Series:
    """Normalised Hamming distance of two solutions."""
    return 0.5 * (1.0 - rows["q"])


def _with_load(p: Any) -> tuple[Slider | Choice, ...]:
    """α_T, 1/α, margin and activation of a section on random features."""
    return (
        sweeps.slider("alpha_T", p.alpha_T),
        Slider("inv_alpha", "1/α = N/P", next(x for x in p.inv_alphas if x >= 5.0), 0.7, 30.0, 0.1),
        sweeps.slider("margin", p.margin),
        *sweeps.activation(p.ensemble),
    )


def _controls(configuration: Configuration) -> tuple[Slider | Choice, ...]:
    p: Any = configuration.experiments["overparam/typical"]
    return (
        sweeps.slider("alpha_T", p.alpha_T),
        sweeps.slider("margin", p.margins[0]),
        *sweeps.activation(p.ensemble),
    )


def _line(configuration: Configuration, alpha_T: float, margin: float, activation: str) -> Call:
    """Typical solutions from their threshold on."""
    from localentropy.theory import RandomFeatures as Model
    from localentropy.theory import alpha_c

    p: Any = configuration.experiments["overparam/typical"]
    low = BEYOND / alpha_c(Model(alpha_T, margin=margin, activation=activation))
    grid = Points((low, max(p.largest_inv_alpha, 2.0 * low)), POINTS)
    return call("typical", of("RandomFeatures", alpha_T=alpha_T, inv_alpha=grid, margin=margin, activation=activation))
