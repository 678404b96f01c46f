"""Figure 3: Franz–Parisi entropy against distance for references of several margins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.plots.drawing import GREY, Drawing, colors_of, draw_signed, frozen_ends, in_style, letter, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 0.03
"""Right end of the panel of small distances."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Panel (a): all distances; (b): small ones on a logarithmic axis. Dashed where the entropy is negative."""
    table = tables["overparam/franz_parisi"]
    table = table[table["curve"].isin(["bound", "reference", "same_margin"])]
    figure, axes = panels(2, 7.0, 2.9)
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
    axes[0].legend(loc="lower right", bbox_to_anchor=(1.02, 0.38), ncols=2, columnspacing=1.0)
    letter(axes)
    return Drawing(figure, _data(table), _caption(table))


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


def _data(table: pd.DataFrame) -> pd.DataFrame:
    """Both panels draw the same numbers."""
    more = table[["slope", "residual", "margin_ref", "margin", "distance_typical", "entropy_typical"]]
    names = table["curve"] + " " + table["reference"]
    return more.assign(panel="a, b", series=names, x=table["distance"], y=table["entropy"], y_err=0.0)


def _caption(table: pd.DataFrame) -> str:
    p = table.attrs["parameters"]
    return (
        "Figure 3. Franz–Parisi entropy (nats per weight) of solutions of margin "
        f"κ = {p['margin']:g} at normalised Hamming distance d from a typical solution of margin κ̃, replica-symmetric "
        f"theory, α_T = {p['alpha_T']:g}, 1/α = {p['inv_alpha']:g}, {p['ensemble']['activation']} features (these values and the "
        "margins are chosen here: the text lost them). Dashed: negative, where no such solutions exist around typical "
        "references. Black: solutions of the same margin as the reference. Dotted: all configurations, α = 0. Dots: typical distance and "
        "entropy of all solutions, where a curve is highest. "
        f"{frozen_ends(table, ['curve', 'margin_ref'], _name)}(b): small distances."
    )


def _name(kind: str, margin: float) -> str:
    return f"{'κ̃' if kind == 'reference' else 'black, κ = κ̃'} = {margin:g}"
