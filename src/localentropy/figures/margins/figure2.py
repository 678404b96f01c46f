"""Figure 2: distance between typical solutions against their margin."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.figures.drawing import COLUMN_WIDTH, Drawing, colors_of, in_style, panels
from localentropy.figures.margins.largest_margin import model_in_words
from localentropy.figures.series import DOT


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """d = (1 - q) / 2 against κ, a line for each α, up to κ_max."""
    table = tables["margins/typical"]
    lines = table.assign(distance=lambda rows: 0.5 * (1.0 - rows["q"]))
    colors = colors_of(lines["alpha"].unique(), of="load")
    figure, (axis,) = panels(1, COLUMN_WIDTH, 2.7)
    for alpha, line in lines.groupby("alpha"):
        look = {"color": colors[alpha], "label": f"{alpha:g}"}
        rows = axis.line(line["margin"], line["distance"], f"α = {alpha:g}", look, alpha=alpha)
        axis.line(line["margin"].iloc[-1], line["distance"].iloc[-1], rows[-1:], DOT | {"color": colors[alpha]})
    axis.set(xlabel=r"margin $\kappa$", ylabel=r"typical distance $d = (1 - q)/2$", xlim=(0.0, None), ylim=(0.0, 0.5))
    axis.legend(title=r"$\alpha$", loc="upper right")
    caption = (
        "Figure 2. Normalised Hamming distance between two typical solutions of margin κ of the "
        f"{model_in_words(table.attrs['parameters']['ensemble'])}, for several numbers α of patterns per weight. The "
        "larger the margin, the closer the solutions are. Each line ends with a dot at the largest margin κ_max, where the "
        "entropy vanishes."
    )
    return Drawing(figure, caption, {"theory": "replica-symmetric", "chosen here": "the values of α"})
