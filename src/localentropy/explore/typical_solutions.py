"""Typical solutions on random features: thresholds, errors, entropies (overparam, figures 1, 2, 8 and 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from localentropy.experiments.ensembles import RandomFeatures
from localentropy.experiments.typical import BEYOND
from localentropy.explore.explorer import Call, Choice, Curve, Explorer, Grid, Panel, Slider, call
from localentropy.plots.drawing import COLORS

if TYPE_CHECKING:
    from localentropy.pipeline.config import Configuration

POINTS = 40
INV_ALPHA = r"$$1/\alpha = N/P$$"
ALPHA_T = r"$$\alpha_T = P/D$$"
ERROR = r"generalization error $$\epsilon_g$$"
ACTIVATIONS = get_args(RandomFeatures.model_fields["activation"].annotation)


def phase_diagram(configuration: Configuration) -> Explorer:
    """Thresholds in 1/α against α_T (figure 1)."""
    p: Any = configuration.experiments["overparam/thresholds"]

    def curves(margin: float, activation: str) -> list[Curve]:
        exist = call("random_features.alpha_c", alpha_T=Grid(p.alphas_T, POINTS), margin=margin, activation=activation)
        # Each point takes up to a second.
        dense = call("random_features.inv_alpha_le", 8, alpha_T=Grid(p.alphas_T, 8), activation=activation)
        return [
            Curve("1/α_c, interpolation", exist, lambda rows: 1.0 / rows["value"]),
            Curve("1/α_LE, local entropy (κ = 0)", dense, "value", dash="dashed"),
        ]

    return Explorer(
        (
            Slider("margin", "κ", 0.0, 0.0, 1.0, 0.01),
            Choice("activation", "activation", p.ensemble.activation, ACTIVATIONS),
        ),
        (Panel(ALPHA_T, INV_ALPHA, x_range=(0.0, p.alphas_T[1]), y_range=(0.5, 1.6), shipped=("a", ".*threshold")),),
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

    panel = Panel(INV_ALPHA, ERROR, x_log=True, y_range=(0.0, 0.5), shipped=("a", "typical|barycenter"))
    return Explorer(_controls(configuration), (panel,), curves)


def entropies(configuration: Configuration) -> Explorer:
    """Entropy of typical solutions (figure 8)."""

    def curves(**values: Any) -> list[Curve]:
        return [Curve("typical solutions", _line(configuration, **values), "entropy", color=COLORS[0])]

    panel = Panel(INV_ALPHA, "entropy per weight (nats)", x_log=True, y_range=(0.0, 0.7), shipped=("a", ".*"))
    return Explorer(_controls(configuration), (panel,), curves)


def barycentres(configuration: Configuration) -> Explorer:
    """Error of the barycentre, and its limit for infinitely many features (figure 9)."""
    p: Any = configuration.experiments["overparam/overparameterized_limit"]
    grid = Grid(p.alphas_T, POINTS)

    def curves(**values: Any) -> list[Curve]:
        line = _line(configuration, **values)
        plateau = call(
            "random_features.overparameterized_limit",
            alpha_T=grid,
            margin=values["margin"],
            activation=values["activation"],
        )
        return [
            Curve("barycentre", line, "error_barycenter", 0, COLORS[0]),
            Curve("limit, typical solutions", plateau, "error_typical", 1, COLORS[0]),
            Curve("limit, barycentre", plateau, "error_barycenter", 1, COLORS[0], "dashed"),
        ]

    return Explorer(
        _controls(configuration),
        (
            Panel(INV_ALPHA, r"error of the barycentre $$\epsilon_g$$", x_log=True, shipped=("a", "barycenter")),
            Panel(ALPHA_T, r"$$\epsilon_g$$ at $$1/\alpha \to \infty$$", x_log=True, shipped=("c", ".*")),
        ),
        curves,
    )


def _controls(configuration: Configuration) -> tuple[Slider | Choice, ...]:
    p: Any = configuration.experiments["overparam/typical"]
    return (
        Slider("alpha_T", "α_T = P/D", p.alpha_T, 0.1, 20.0, 0.1),
        Slider("margin", "κ", p.margins[0], 0.0, 2.0, 0.01),
        Choice("activation", "activation", p.ensemble.activation, ACTIVATIONS),
    )


def _line(configuration: Configuration, alpha_T: float, margin: float, activation: str) -> Call:
    """Typical solutions from their threshold on."""
    from localentropy.replica.random_features import alpha_c

    p: Any = configuration.experiments["overparam/typical"]
    low = BEYOND / alpha_c(alpha_T, margin, activation)
    grid = Grid((low, max(p.largest_inv_alpha, 2.0 * low)), POINTS)
    return call("random_features.typical", inv_alpha=grid, alpha_T=alpha_T, margin=margin, activation=activation)
