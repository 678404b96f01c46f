"""Figure 3: Franz–Parisi entropy around minimizers of the cross-entropy loss."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import without_frozen_ends
from localentropy.figures.drawing import GREY, Drawing, in_style, letter, panels
from localentropy.figures.frozen_ends import frozen_ends

LINEAR = 0.1
"""Right end of the panel with a linear axis of distances."""
SHADES = ("Blues", "Oranges", "Greens", "Purples")
"""Scales of colours of the loads, again and again."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) φ_FP against d; (b) its part of the entropy of all weights, on a logarithmic axis of distances."""
    import seaborn as sns

    table = without_frozen_ends(tables["shaping/cross_entropy_franz_parisi"], ["alpha", "gamma"]).sort_values(
        "distance"
    )
    figure, axes = panels(2, 7.4, 2.9)
    bound = table.drop_duplicates("distance")
    thick = {"color": GREY, "linewidth": 2.0}
    axes[0].line(bound["distance"], bound["bound"], "α = 0", thick | {"label": r"$\alpha = 0$"})
    axes[1].level(1.0, look=thick)
    for shades, (alpha, curves) in zip(cycle(SHADES), table.groupby("alpha"), strict=False):
        colors = sns.color_palette(shades, as_cmap=True)(np.linspace(0.35, 0.95, curves["gamma"].nunique()))
        for color, (gamma, curve) in zip(colors, curves.groupby("gamma"), strict=True):
            sharpness = r"\infty" if gamma == float("inf") else f"{gamma:g}"
            style = {"color": color, "label": rf"$\alpha = {alpha:g}$, $\gamma = {sharpness}$"}
            name, more = f"α = {alpha:g}, γ = {gamma:g}", curve[["alpha", "gamma", "residual"]]
            for axis, y in zip(axes, (curve["entropy"], curve["entropy"] / curve["bound"]), strict=True):
                axis.signed(curve["distance"], y, name, style, negative_style=":", **more)
    for axis in axes:
        axis.axhline(0.0, color="black", linewidth=0.6)
        axis.set_xlabel("distance $d$")
    axes[0].set(xlim=(0.0, LINEAR), ylabel=r"Franz–Parisi entropy $\phi_{\mathrm{FP}}(d)$")
    axes[0].set_ylim(-0.02, 1.05 * bound.loc[bound["distance"] <= LINEAR, "bound"].max())
    axes[1].set(xscale="log", xlim=table["distance"].agg(["min", "max"]), ylim=(-0.4, 1.1))
    axes[1].set_ylabel(r"part of the bound $\phi_{\mathrm{FP}}(d)\,/\,\phi_{\alpha = 0}(d)$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
    letter(axes)
    caption = (
        "Figure 3. (a) Franz–Parisi entropy of weights without errors at distance d from weights of smallest cross-entropy "
        "loss, for several loads and sharpnesses γ. Grey: the entropy of all weights (α = 0), an upper bound. At γ = ∞ "
        "the reference is a typical solution, and these are isolated. (b) The same, divided by the upper bound, on an axis "
        "that shows small distances. Curves are dotted where the entropy is negative: there are no such weights. "
        "Parts that are shorter than a dot look solid."
    )
    settings = {
        "theory": "binary perceptron, replica-symmetric; nats per weight; d is the normalised Hamming distance",
        **frozen_ends(
            table, ["alpha", "gamma"], lambda alpha, gamma: f"α = {alpha:g}, γ = {gamma:g}".replace("inf", "∞")
        ),
        "chosen here": "the range of d, and γ = 2 at α = 0.6",
    }
    return Drawing(figure, caption, settings)
