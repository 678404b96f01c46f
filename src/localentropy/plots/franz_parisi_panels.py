"""Two panels of Franz–Parisi curves around references of several margins: all distances, and small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.plots.drawing import GREY, colors_of, draw_signed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 0.03
"""Right end of the panel of small distances."""


def draw_curves(axes: Sequence[Axes], table: pd.DataFrame) -> None:
    """The curves named bound, reference and same_margin, dashed where the entropy is negative."""
    references = table.loc[table["curve"] == "reference", "margin_ref"].unique()
    colors = colors_of(references)
    for axis in axes:
        axis.axhline(0.0, color="black", linewidth=0.6)
        for (kind, _), curve in table.groupby(["curve", "reference"], sort=False):
            _curve(axis, curve, str(kind), colors)
        axis.set_xlabel("distance $d$")
    tops = table[table["curve"] != "bound"].drop_duplicates(["curve", "reference"])
    for top in tops.itertuples():
        color = colors[top.margin_ref] if top.curve == "reference" else "black"
        axes[0].plot(top.distance_typical, top.entropy_typical, "o", color=color, markersize=3)
    axes[0].set(xlim=(0.0, table["distance"].max()), ylabel=r"Franz–Parisi entropy $\phi_{\mathrm{FP}}(d)$")
    axes[0].set_ylim(bottom=-0.03)
    small = table[table["distance"] <= SMALL]
    axes[1].set(xscale="log", xlim=(table["distance"].min(), SMALL), ylabel=r"$\phi_{\mathrm{FP}}(d)$")
    axes[1].set_ylim(max(small["entropy"].min(), -0.04) * 1.1, small["entropy"].max() * 1.05)


def curve_data(table: pd.DataFrame) -> pd.DataFrame:
    """The drawn numbers; both panels draw the same ones."""
    more = table[["slope", "residual", "margin_ref", "margin", "distance_typical", "entropy_typical"]]
    names = table["curve"] + " " + table["reference"]
    return more.assign(panel="a, b", series=names, x=table["distance"], y=table["entropy"], y_err=0.0)


def curve_name(kind: str, margin: float) -> str:
    """A curve in the words of a caption."""
    return f"{'κ̃' if kind == 'reference' else 'black, κ = κ̃'} = {margin:g}"


def _curve(axis: Axes, curve: pd.DataFrame, kind: str, colors: Mapping[float, tuple[float, float, float]]) -> None:
    d, phi = curve["distance"].to_numpy(), curve["entropy"].to_numpy()
    margin = curve["margin_ref"].iloc[0]
    styles: dict[str, dict[str, Any]] = {
        "bound": {"color": GREY, "linestyle": ":", "label": r"$\alpha = 0$"},
        "same_margin": {"color": "black", "linewidth": 1.0, "label": rf"$\kappa = \tilde\kappa = {margin:.3g}$"},
        "reference": {"color": colors.get(margin, GREY), "label": _margin_label(curve)},
    }
    draw_signed(axis, d, phi, styles[kind])


def _margin_label(curve: pd.DataFrame) -> str:
    margin = curve["margin_ref"].iloc[0]
    name = r"\tilde\kappa = \kappa_{\max}" if curve["reference"].iloc[0] == "max" else r"\tilde\kappa"
    return rf"${name} = {margin:.3g}$"
