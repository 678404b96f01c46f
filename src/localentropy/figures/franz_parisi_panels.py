"""Two panels of Franz–Parisi curves around references of several margins: all distances, and small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.figures.drawing import GREY, NO_CORNER, colors_of

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

SMALL = 0.03
"""Right end of the panel of small distances."""
LINEAR = 1e-4
"""Entropies of which the axis of that panel is linear; it is logarithmic beyond."""
REFERENCES = ("reference", "monotonic")
"""Names of curves of one κ around references of several margins."""


def draw_curves(axes: Sequence[Panel], table: pd.DataFrame) -> None:
    """The curves named bound, same_margin and those of `REFERENCES`, dashed where the entropy is negative.

    Both panels draw the same numbers.
    """
    margins = table.loc[table["curve"].isin(REFERENCES), "margin_ref"].unique()
    colors = colors_of(sorted(margins), of="margin")
    more = table[["slope", "residual", "margin_ref", "margin", "distance_typical", "entropy_typical"]]
    names = table["curve"] + " " + table["reference"]
    table = table.assign(
        row=axes[0].picture.add(more, series=names, x=table["distance"], y=table["entropy"], y_err=0.0)
    )
    for axis in axes:
        axis.axhline(0.0, color="black", linewidth=0.6)
        for (kind, _), curve in table.groupby(["curve", "reference"], sort=False):
            _curve(axis, curve, str(kind), colors)
        axis.set_xlabel("distance $d$")
    tops = table[table["curve"] != "bound"].drop_duplicates(["curve", "reference"])
    for top in tops.itertuples():
        color = colors[top.margin_ref] if top.curve in REFERENCES else "black"
        axes[0].plot(top.distance_typical, top.entropy_typical, "o", color=color, markersize=3)
    axes[0].set(xlim=(0.0, table["distance"].max()), ylabel=r"Franz–Parisi entropy $\phi_{\mathrm{FP}}(d)$")
    # All phases lie below the entropy of all solutions, and the first ones at the smallest distances.
    axes[0].set_ylim(-0.05, 1.25 * tops["entropy_typical"].max())
    axes[1].set(xscale="log", xlim=(table["distance"].min(), SMALL), ylabel=r"$\phi_{\mathrm{FP}}(d)$")
    axes[1].set_yscale("symlog", linthresh=LINEAR, linscale=NO_CORNER)
    axes[1].set(ylim=(-0.05, 0.2), yticks=[-1e-2, -1e-3, -LINEAR, 0.0, LINEAR, 1e-3, 1e-2, 1e-1])


def curve_name(kind: str, margin: float) -> str:
    """A curve in the words of a caption."""
    return f"{'κ̃' if kind in REFERENCES else 'black, κ = κ̃'} = {margin:.3g}"


def _curve(axis: Panel, curve: pd.DataFrame, kind: str, colors: Mapping[float, tuple[float, float, float]]) -> None:
    margin = curve["margin_ref"].iloc[0]
    styles: dict[str, dict[str, Any]] = {
        "bound": {"color": GREY, "linestyle": ":", "label": r"$\alpha = 0$"},
        "same_margin": {"color": "black", "linewidth": 1.0, "label": rf"$\kappa = \tilde\kappa = {margin:.3g}$"},
        "reference": {"color": colors.get(margin, GREY), "label": _margin_label(curve)},
        "monotonic": {"color": colors.get(margin, GREY), "linestyle": "-.", "label": _margin_label(curve)},
    }
    axis.signed(curve["distance"], curve["entropy"], curve["row"].to_numpy(), styles[kind])


def _margin_label(curve: pd.DataFrame) -> str:
    margin = curve["margin_ref"].iloc[0]
    names = {"max": r"\tilde\kappa = \kappa_{\max}", "kappa_u": r"\tilde\kappa = \kappa_u"}
    name = names.get(curve["reference"].iloc[0], r"\tilde\kappa")
    return rf"${name} = {margin:.3g}$"
