"""Figure 9: error of the barycentre for several margins, and the limit of infinite overparameterization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator

from localentropy.plots.drawing import Drawing, colors_of, curve_rows, in_style, letter, panels
from localentropy.plots.perceptron_points import typical_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) barycentre against 1/α, its limit dotted; (b) the limits of both errors against α_T."""
    lines = tables["overparam/typical"]
    p = lines.attrs["parameters"]
    limits = tables["overparam/overparameterized_limit"]
    margins = sorted(limits["margin"].unique())
    lines = lines[(lines["line"] == "inv_alpha") & lines["reference"].isin([str(m) for m in margins])]
    colors = colors_of(margins)
    frames = []
    figure, axes = panels(2, 6.6, 2.9)
    for margin, color in colors.items():
        line = typical_line(lines, str(margin))
        limit = limits[limits["margin"] == margin].sort_values("alpha_T")
        limits_of = PchipInterpolator(np.log(limit["alpha_T"]), limit["error_barycenter"], extrapolate=False)
        plateau = float(limits_of(np.log(p["alpha_T"])))
        axes[0].plot(line["inv_alpha"], line["error_barycenter"], color=color, label=rf"$\kappa = {margin:g}$")
        axes[0].axhline(plateau, color=color, linestyle=":", linewidth=0.8)
        axes[1].plot(limit["alpha_T"], limit["error_typical"], color=color)
        axes[1].plot(limit["alpha_T"], limit["error_barycenter"], color=color, linestyle="--")
        x, y = line["inv_alpha"], line["error_barycenter"]
        frames.append(curve_rows("a", "barycenter", x, y, margin=margin))
        frames.append(curve_rows("a", "plateau", [np.nan], [plateau], margin=margin))
        for column in ("error_typical", "error_barycenter"):
            x, y = limit["alpha_T"], limit[column]
            series = f"limit of {column.removeprefix('error_')}"
            frames.append(curve_rows("b", series, x, y, margin=margin))
    axes[0].set(xscale="log", xlabel=r"$1/\alpha = N/P$", ylabel=r"error of the barycentre $\epsilon_g$")
    axes[0].set_xlim(lines["inv_alpha"].min(), lines["inv_alpha"].max())
    axes[1].set(xscale="log", xlabel=r"$\alpha_T = P/D$", ylabel=r"$\epsilon_g$ at $1/\alpha \to \infty$")
    axes[0].legend(loc="upper right")
    frames += _differences(axes[0].inset_axes((0.58, 0.4, 0.4, 0.24)), lines, colors)
    axes[1].plot([], [], color="black", label="typical")
    axes[1].plot([], [], color="black", linestyle="--", label="barycentre")
    axes[1].legend(loc="lower left")
    letter(axes)
    caption = (
        f"Figure 9. (a) Generalization error of the barycentre of solutions of margin κ at α_T = {p['alpha_T']:g}; dotted: "
        "its limit for 1/α → ∞; inset: the error at margin κ less that at κ = 0. (b) The limits for 1/α → ∞ of the errors of typical solutions (solid) and of their "
        f"barycentre (dashed). Replica-symmetric theory, {p['ensemble']['activation']} features; α_T and the margins are chosen here: "
        "the text lost them."
    )
    return Drawing(figure, pd.concat(frames), caption)


def _differences(inset: Axes, lines: pd.DataFrame, colors: Mapping[float, Any]) -> list[pd.DataFrame]:
    """How much a margin worsens or improves the barycentre."""
    zero = typical_line(lines, "0.0")
    frames: list[pd.DataFrame] = []
    if zero.empty:
        inset.remove()
        return frames
    for margin, color in colors.items():
        line = typical_line(lines, str(margin))
        x = line["inv_alpha"]
        without = PchipInterpolator(np.log(zero["inv_alpha"]), zero["error_barycenter"])(np.log(x))
        y = line["error_barycenter"] - without
        inset.plot(x, y, color=color, linewidth=1.0)
        frames.append(curve_rows("inset", "barycenter - κ = 0", x, y, margin=margin))
    inset.axhline(0.0, color="black", linewidth=0.6)
    inset.set(xscale="log", xlim=(zero["inv_alpha"].min(), zero["inv_alpha"].max()), ylim=(-0.005, 0.005))
    inset.set_xticks([1, 5, 20], ["1", "5", "20"])
    inset.set_yticks([-0.003, 0.0, 0.003], ["-0.003", "0", "0.003"])
    inset.minorticks_off()
    inset.set_title(r"$\epsilon_g(\kappa) - \epsilon_g(0)$", fontsize=6, pad=2)
    inset.tick_params(labelsize=6)
    return frames
