"""Figure 5: entropy of typical solutions against their margin, and the largest margin against the load."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.drawing import Drawing, colors_of, curve_rows, in_style, letter, panels, threshold_line
from localentropy.plots.margins.largest_margin import model_in_words


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) entropy against κ, a line for each α; (b) κ_max against α."""
    table = tables["margins/typical"]
    lines = table[table["line"] == "margin"]
    largest = table[table["line"] == "alpha"].sort_values("alpha")
    alpha_c = largest["alpha"].iloc[-1]
    colors = colors_of(lines["alpha"].unique(), of="load")
    frames = [curve_rows("b", "largest margin", largest["alpha"], largest["margin"])]
    figure, axes = panels(2, 6.6, 2.9)
    axes[1].plot(largest["alpha"], largest["margin"], color="black")
    for alpha, line in lines.groupby("alpha"):
        axes[0].plot(line["margin"], line["entropy"], color=colors[alpha], label=f"{alpha:g}")
        axes[1].plot(alpha, line["margin"].iloc[-1], "o", color=colors[alpha], zorder=3)
        frames.append(curve_rows("a", f"α = {alpha:g}", line["margin"], line["entropy"], alpha=alpha))
    axes[0].set(xlabel=r"margin $\kappa$", ylabel=r"entropy $\phi$ (nats per weight)", xlim=(0.0, None))
    axes[0].set_ylim(bottom=0.0)
    axes[0].legend(title=r"$\alpha$", loc="upper right")
    threshold_line(axes[1], alpha_c, rf"$\alpha_c$ = {alpha_c:.4f}")
    axes[1].set(xlabel=r"patterns per weight $\alpha$", ylabel=r"largest margin $\kappa_{\max}$")
    axes[1].set(xlim=(0.0, None), ylim=(0.0, None))
    letter(axes)
    caption = (
        f"Figure 5. Typical solutions of the {model_in_words(table.attrs['parameters']['ensemble'])}, replica-symmetric theory. (a) Entropy against the margin κ, "
        "for several numbers of patterns per weight α. It vanishes at the largest margin. (b) The largest margin against α. It "
        f"vanishes at α_c = {alpha_c:.4f}. Dots: the values of α in (a). They are chosen here: compare with the paper's figure."
    )
    return Drawing(figure, pd.concat(frames), caption)
