"""Figure 2: errors of minimizers of the cross-entropy loss against the load; inset: the loss."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from localentropy.analysis.local_entropy import LARGE_DEVIATIONS
from localentropy.plots.drawing import (
    COLUMN_WIDTH,
    GREY,
    Drawing,
    colors_of,
    curve_rows,
    in_style,
    panels,
    threshold_line,
)

STABILITIES = np.linspace(-1.0, 2.0, 121)
"""Where the inset draws the loss."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """ε against α, a line for each γ; inset: f_γ(x)."""
    table = tables["shaping/cross_entropy_minimizers"]
    colors, frames = colors_of(table["gamma"].unique(), of="other"), []
    figure, (axis,) = panels(1, COLUMN_WIDTH + 1.0, 3.2)
    inset = axis.inset_axes((0.13, 0.62, 0.33, 0.35))
    for gamma, line in table.groupby("gamma"):
        axis.plot(line["alpha"], line["error"], color=colors[gamma], label=f"{gamma:g}")
        more = {"gamma": gamma, "residual": line["residual"]}
        frames.append(curve_rows("a", f"γ = {gamma:g}", line["alpha"], line["error"], **more))
        loss = np.logaddexp(0.0, -2.0 * gamma * STABILITIES) / (2.0 * gamma)
        inset.plot(STABILITIES, loss, color=colors[gamma], linewidth=1.0)
        frames.append(curve_rows("inset", f"γ = {gamma:g}", STABILITIES, loss, gamma=gamma))
    inset.plot(STABILITIES, np.where(STABILITIES < 0.0, 1.0, 0.0), color=GREY, linestyle=":", linewidth=1.0)
    inset.set(xlim=STABILITIES[[0, -1]], ylim=(0.0, 1.3))
    inset.set_xlabel("stability $x$", fontsize=7)
    inset.set_ylabel(r"loss $f_\gamma(x)$", fontsize=7, labelpad=1.0)
    inset.tick_params(labelsize=6)
    alpha_c = table["alpha_c"].iloc[0]
    threshold_line(axis, alpha_c, rf"$\alpha_c = {alpha_c:.3f}$")
    threshold_line(axis, LARGE_DEVIATIONS, rf"$\alpha_U = {LARGE_DEVIATIONS}$")
    axis.set(xlabel=r"patterns per weight $\alpha$", ylabel=r"error rate $\epsilon$")
    axis.set(xlim=table["alpha"].agg(["min", "max"]), ylim=(0.0, 1.15 * table["error"].max()))
    axis.legend(title=r"$\gamma$", loc="center left", bbox_to_anchor=(1.0, 0.5))
    caption = (
        "Figure 2. Fraction of patterns with an error for the weights ±1 of smallest cross-entropy loss, binary perceptron, "
        "replica theory at the temperature where the entropy is zero, for several γ. "
        f"Dotted: α_c = {alpha_c:.4f}, up to which there are weights without errors, and α_U = {LARGE_DEVIATIONS}, up to "
        "which they form dense regions (by large deviations; the paper's number). Inset: the loss of a stability x; dotted: "
        "the error loss. The values of γ are chosen here."
    )
    return Drawing(figure, pd.concat(frames), caption)
