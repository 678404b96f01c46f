"""Franz–Parisi curves around solutions of the largest margin, across the local-entropy threshold."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from localentropy.figures.drawing import NO_CORNER, colors_of, letter, panels
from localentropy.figures.series import Panel, Picture

BOTTOM = -4.0
"""The axis of derivatives goes no further down."""
LINEAR = 1e-3
"""Entropies of which their axis is linear; it is logarithmic beyond, so that it shows the transition, which is low."""
TOP = 3.0
"""Its upper end, above all maxima: for d → 0 they grow like log(1/d)."""


def draw_curves(curves: pd.DataFrame, control: str, symbol: str) -> tuple[Picture, Sequence[Panel]]:
    """(a) entropy, (b) its derivative by the distance, on a logarithmic axis of distances, up to the typical one.

    Args:
        curves: rows of the table of the program `franz_parisi`. Those of its family `threshold` are black.
        control: the column whose values the curves differ in.
        symbol: what the control is called in TeX.
    """
    colors = colors_of(sorted(curves[control].unique()), of="load")
    figure, axes = panels(2, 7.0, 3.2)
    for value, curve in curves.groupby(control):
        rising = _up_to_typical(curve)
        at_threshold = rising["curve"].iloc[0] == "threshold"
        style = {"color": "black" if at_threshold else colors[value], "label": f"{value:.4g}"}
        for axis, column in zip(axes, ("entropy", "slope"), strict=True):
            own = {control: value, "margin_ref": rising["margin_ref"]}
            name = f"{column}, {written(control)} = {value:g}"
            axis.signed(rising["distance"], rising[column], name, style, **own)
    for axis in axes:
        axis.axhline(0.0, color="black", linewidth=0.6)
        axis.set(xscale="log", xlabel="distance $d$", xlim=(1e-4, 0.4))
    axes[0].set_yscale("symlog", linthresh=LINEAR, linscale=NO_CORNER)
    axes[0].set_ylim(bottom=min(1.5 * _up_to_typical(curves)["entropy"].min(), -0.3 * LINEAR))
    axes[0].set(ylabel=r"$\phi_{\mathrm{FP}}(d)$ (nats per weight)")
    axes[1].set(ylabel=r"$\mathrm{d}\phi_{\mathrm{FP}}/\mathrm{d}d$", ylim=(_bottom(curves), TOP))
    labels = axes[0].get_legend_handles_labels()
    figure.legend(*labels, title=f"${symbol}$", loc="outside lower center", ncols=8, columnspacing=1.2)
    letter(axes)
    return figure, axes


def _up_to_typical(curves: pd.DataFrame) -> pd.DataFrame:
    """The rows at distances up to the typical one, where the entropy has its maximum."""
    return curves[curves["distance"] <= curves["distance_typical"]]


def _bottom(curves: pd.DataFrame) -> float:
    """Lower end of the axis of derivatives: just below the smallest one."""
    return max(BOTTOM, 1.15 * min(_up_to_typical(curves)["slope"].min(), -0.4))


def written(control: str) -> str:
    """The control parameter in plain text."""
    return {"inv_alpha": "1/α", "alpha": "α"}[control]


def beyond_axis(curves: pd.DataFrame, control: str) -> str:
    """The curves whose derivative leaves the axis, and how far down it goes, for the caption."""
    least = _up_to_typical(curves).groupby(control)["slope"].min()
    left = ", ".join(f"{slope:.1f} at {written(control)} = {value:g}" for value, slope in least[least < BOTTOM].items())
    return f" (below the axis: down to {left})" if left else ""
