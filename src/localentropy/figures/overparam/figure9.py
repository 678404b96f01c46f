"""Figure 9: error of the barycentre for several margins, and the limit of infinite overparameterization."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator

from localentropy.analysis.thresholds import typical_line
from localentropy.figures.drawing import Drawing, colors_of, in_style, letter, panels
from localentropy.figures.perceptron_points import one_two_five


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) barycentre against 1/α, its limit dotted; (c) limits of both errors against α_T; (b), (d) minus κ = 0."""
    lines = tables["overparam/typical"]
    p = lines.attrs["parameters"]
    limits = tables["overparam/overparameterized_limit"]
    margins = sorted(limits["margin"].unique())
    lines = lines[(lines["line"] == "inv_alpha") & lines["reference"].isin([str(m) for m in margins])]
    without, limit_without = typical_line(lines, "0.0"), limits[limits["margin"] == 0.0].sort_values("alpha_T")
    figure, axes = panels(2, 6.6, 5.2, rows=2)
    barycenter = {}
    for margin, color in colors_of(margins, of="margin").items():
        label = rf"$\kappa = {margin:g}$"
        line = typical_line(lines, str(margin))
        limit = limits[limits["margin"] == margin].sort_values("alpha_T")
        plateau = float(_between(limit, "alpha_T", p["alpha_T"]))
        look = {"color": color, "label": label}
        axes[0].line(line["inv_alpha"], line["error_barycenter"], "barycenter", look, margin=margin)
        axes[0].level(plateau, "plateau", {"color": color, "linestyle": ":", "linewidth": 0.8}, margin=margin)
        look = {"color": color, "label": f"typical, {label}"}
        axes[2].line(limit["alpha_T"], limit["error_typical"], "limit of typical", look, margin=margin)
        own = {"x": limit["alpha_T"], "y": limit["error_barycenter"], "y_err": 0.0, "margin": margin}
        barycenter[margin] = axes[2].declare("limit of barycenter", pd.DataFrame(own))
        for axis, x, curve, zero in (
            (axes[1], "inv_alpha", line, without),
            (axes[3], "alpha_T", limit, limit_without),
        ):
            if len(zero):
                y = curve["error_barycenter"] - _between(zero, x, curve[x])
                axis.line(curve[x], y, "barycenter - κ = 0", {"color": color}, margin=margin)
    if len(limit_without):
        look = {"linestyle": "--", "color": "black", "label": "barycentre, $\\kappa = 0$"}
        axes[2].line(limit_without["alpha_T"], limit_without["error_barycenter"], barycenter[0.0], look)
    for axis in axes[:2]:
        one_two_five(axis, (1, 2, 5, 10, 20), (lines["inv_alpha"].min(), lines["inv_alpha"].max()))
    for axis in axes[2:]:
        axis.set(xscale="log", xlabel=r"$\alpha_T = P/D$", xlim=limits["alpha_T"].agg(["min", "max"]))
        axis.set_xticks([0.1, 1.0, 10.0], ["0.1", "1", "10"])
    axes[0].set(ylabel=r"error of the barycentre $\epsilon_g$")
    axes[1].set(ylabel=r"$\epsilon_g(\kappa) - \epsilon_g(0)$, barycentre", ylim=(-0.005, 0.005))
    axes[2].set(ylabel=r"$\epsilon_g$ at $1/\alpha \to \infty$")
    axes[3].set(ylabel=r"$\epsilon_g(\kappa) - \epsilon_g(0)$, $1/\alpha \to \infty$")
    for axis in (axes[1], axes[3]):
        axis.axhline(0.0, color="black", linewidth=0.6, zorder=1)
    axes[0].legend(loc="upper right")
    axes[2].legend(loc="lower left")
    letter(axes)
    caption = (
        "Figure 9. (a) Generalization error of the barycentre of solutions of margin κ, against 1/α; its limit for "
        "1/α → ∞ is dotted. (b) How much larger it is than the error of the barycentre of κ = 0. (c) Limits of the errors "
        "for 1/α → ∞, against α_T: typical solutions (solid) and the barycentre of κ = 0 (dashed). (d) In the same limit, "
        "the error of the barycentre at margin κ minus its error at κ = 0."
    )
    settings = {
        "theory": f"replica-symmetric, {p['ensemble']['activation']} features; α_T = {p['alpha_T']:g} in (a) and (b)",
        "chosen here": "α_T and the margins",
    }
    return Drawing(figure, caption, settings)


def _between(curve: pd.DataFrame, x: str, at: float | pd.Series) -> np.ndarray:
    """The barycentre's error between the points of a curve in x; missing outside."""
    spline = PchipInterpolator(np.log(curve[x]), curve["error_barycenter"], extrapolate=False)
    return spline(np.log(at))  # type: ignore[no-any-return]
