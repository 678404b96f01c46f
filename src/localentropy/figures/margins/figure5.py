"""Figure 5: entropy of typical solutions against their margin, and the largest margin against the load."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.figures.drawing import Drawing, colors_of, in_style, letter, panels
from localentropy.figures.margins.largest_margin import model_in_words
from localentropy.figures.series import DOT


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) entropy against κ, a line for each α; (b) κ_max against α."""
    lines, largest = tables["margins/typical"], tables["margins/largest_margin"].sort_values("alpha")
    alpha_c = largest["alpha"].iloc[-1]
    colors = colors_of(lines["alpha"].unique(), of="load")
    figure, axes = panels(2, 6.6, 2.9)
    axes[1].line(largest["alpha"], largest["margin"], "largest margin", {"color": "black"})
    for alpha, line in lines.groupby("alpha"):
        look = {"color": colors[alpha], "label": f"{alpha:g}"}
        axes[0].line(line["margin"], line["entropy"], f"α = {alpha:g}", look, alpha=alpha)
        axes[1].line(alpha, line["margin"].iloc[-1], None, DOT | {"color": colors[alpha], "zorder": 3})
    axes[0].set(xlabel=r"margin $\kappa$", ylabel=r"entropy $\phi$ (nats per weight)", xlim=(0.0, None))
    axes[0].set_ylim(bottom=0.0)
    axes[0].legend(title=r"$\alpha$", loc="upper right")
    axes[1].threshold(alpha_c, rf"$\alpha_c$ = {alpha_c:.4f}")
    axes[1].set(xlabel=r"patterns per weight $\alpha$", ylabel=r"largest margin $\kappa_{\max}$")
    axes[1].set(xlim=(0.0, None), ylim=(0.0, None))
    letter(axes)
    caption = (
        f"Figure 5. Typical solutions of the {model_in_words(lines.attrs['parameters']['ensemble'])}. (a) Their entropy "
        "against the margin κ, for several numbers α of patterns per weight. It vanishes at the largest margin κ_max. (b) "
        f"This largest margin against α. It vanishes at α_c = {alpha_c:.4f}. Dots are at the values of α in (a)."
    )
    return Drawing(figure, caption, {"theory": "replica-symmetric", "chosen here": "the values of α in (a)"})
