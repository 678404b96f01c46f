"""Figure 2: errors of minimizers of the cross-entropy loss against the load; inset: the loss."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from localentropy.analysis.printed import LARGE_DEVIATIONS
from localentropy.analysis.thresholds import large_deviations_threshold
from localentropy.figures.drawing import GREY, Drawing, colors_of, in_style, letter, panels
from localentropy.figures.layout import PAGE_WIDTH

STABILITIES = np.linspace(-1.0, 2.0, 121)
"""Where the inset draws the loss."""
SMALLEST, SMALL = 1e-5, 1e-3
"""Lower end of the logarithmic axis of errors, and an error at which it has a line."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """ε against α, a line for each γ, on (a) a linear and (b) a logarithmic axis; inset: f_γ(x)."""
    table = tables["shaping/cross_entropy_minimizers"]
    colors = colors_of(table["gamma"].unique(), of="other")
    figure, (axis, small) = panels(2, PAGE_WIDTH, 2.9)
    inset = axis.inset_axes((0.22, 0.6, 0.3, 0.37))
    for gamma, line in table.groupby("gamma"):
        name, look = f"γ = {gamma:g}", {"color": colors[gamma], "label": f"{gamma:g}"}
        rows = axis.line(line["alpha"], line["error"], name, look, gamma=gamma, residual=line["residual"])
        small.line(line["alpha"], line["error"], rows, look)
        loss = np.logaddexp(0.0, -2.0 * gamma * STABILITIES) / (2.0 * gamma)
        inset.line(STABILITIES, loss, name, {"color": colors[gamma], "linewidth": 1.0}, gamma=gamma)
    inset.plot(STABILITIES, np.where(STABILITIES < 0.0, 1.0, 0.0), color=GREY, linestyle=":", linewidth=1.0)
    inset.set(xlim=STABILITIES[[0, -1]], ylim=(0.0, 1.3))
    inset.set_xlabel("stability $x$", fontsize=7)
    inset.set_ylabel(r"loss $f_\gamma(x)$", fontsize=7, labelpad=1.0)
    inset.tick_params(labelsize=6)
    alpha_c = table["alpha_c"].iloc[0]
    axis.threshold(alpha_c, rf"$\alpha_c = {alpha_c:.3f}$")
    upper = large_deviations_threshold(tables["margins/large_deviations"], {"model": "perceptron"})
    alpha_u = LARGE_DEVIATIONS if upper is None else float(upper["alpha"])
    axis.threshold(alpha_u, rf"$\alpha_U = {alpha_u:.3f}$")
    for each in (axis, small):
        each.set(xlabel=r"patterns per weight $\alpha$", xlim=table["alpha"].agg(["min", "max"]))
    axis.set(ylabel=r"error rate $\epsilon$", ylim=(0.0, 1.15 * table["error"].max()))
    small.set(yscale="log", ylim=(SMALLEST, 0.3))
    small.level(SMALL, look={"color": "black", "linewidth": 0.6, "linestyle": ":"})
    small.legend(title=r"$\gamma$", loc="center left", bbox_to_anchor=(1.0, 0.5))
    letter([axis, small])
    caption = (
        "Figure 2. (a) Fraction of patterns in error for the weights ±1 of smallest cross-entropy loss, against the load, for "
        f"several sharpnesses γ of the loss. Up to α_c = {alpha_c:.4f} there are weights without errors, and up to "
        f"α_U = {alpha_u:.4g} they form dense regions (dotted lines). The inset shows the loss of a pattern against its "
        "stability x; the dotted line there is the error loss. (b) The same on a logarithmic axis, with a line at 10⁻³."
    )
    settings = {
        "theory": "binary perceptron, replica theory at the temperature where the entropy is zero",
        "α_U": f"by large deviations; the paper prints {LARGE_DEVIATIONS}",
        "chosen here": "the values of γ",
    }
    return Drawing(figure, caption, settings)
