"""Figure s1: as figure 1, for infinitely many units, and for the parity machine."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from localentropy.analysis.local_entropy import CLUSTERING
from localentropy.plots.drawing import Drawing, colors_of, curve_rows, in_style, letter, panels
from localentropy.plots.shaping.wide_minima import draw_curves, in_words, thresholds

WIDE = 0.9
"""Overlap of the entropies of the parity machine in the caption: the nearest that was computed."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) V₁ against q₁ for K → ∞; (b) for the parity machine, with the constant of the paper."""
    many, parity = tables["shaping/wide_minima_many_units"], tables["shaping/wide_minima_parity"]
    figure, axes = panels(2, 8.4, 2.9)
    frames = [
        draw_curves(axes[0], many, "a", {CLUSTERING[math.inf]: "clustering"}),
        draw_curves(axes[1], parity, "b", {}),
    ]
    colors = colors_of(parity["alpha"].unique(), of="load")
    for alpha, curve in parity.sort_values("overlap").groupby("alpha"):
        axes[1].plot(curve["overlap"], curve["annealed"], color=colors[alpha], linestyle=":")
        frames.append(curve_rows("b", f"paper, α = {alpha:g}", curve["overlap"], curve["annealed"], alpha=alpha))
    axes[1].plot([], [], color="black", linestyle=":", label=r"$-\alpha\ln 2$ (paper)")
    for axis, table in zip(axes, (many, parity), strict=True):
        axis.set(xlim=(round(table["overlap"].min(), 1), 1.0), ylim=(None, 0.05))
        axis.legend(title=r"$\alpha$", loc="center left", bbox_to_anchor=(1.0, 0.5))
    letter(axes)
    clustering = thresholds(tables["shaping/typical_volume"], math.inf).get("clustering")
    ours = "" if clustering is None else f"; here the replicon is 1 at {clustering:.4f}"
    wide = parity[parity["overlap"] == min(parity["overlap"], key=lambda overlap: abs(overlap - WIDE))]
    shares = (wide["entropy"] / wide["annealed"]).groupby(wide["alpha"]).mean()
    # Below the accuracy of the entropies a fraction is 0, whatever its sign.
    left = ", ".join(f"{abs(round(share, 6)):.2g} (α = {alpha:g})" for alpha, share in shares.items())
    caption = (
        f"Figure s1. (a) {in_words(many)} Dashed: the load {CLUSTERING[math.inf]} that the paper gives for the clustering "
        f"of typical solutions{ours}. (b) The same for the parity machine of "
        "three units. Dotted: the paper's constant −α ln 2. It is the value on the branch q₀ = 0, u = 0, where each "
        "replica is right on a pattern with probability ½. It is exact at q₁ = 0. Lines: the full minimisation over d₀, which is larger at every "
        f"q₁ > 0. At q₁ = {wide['overlap'].iloc[0]:g} it is this fraction of the constant: {left}. The values of α are chosen "
        "here, except the marked one."
    )
    return Drawing(figure, pd.concat(frames), caption)
