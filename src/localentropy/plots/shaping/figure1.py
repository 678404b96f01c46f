"""Figure 1: largest normalised local entropy of groups of solutions against their overlap, three units."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.drawing import COLUMN_WIDTH, Drawing, in_style, panels
from localentropy.plots.shaping.wide_minima import CAPACITY, CLUSTERING, draw_curves, in_words, thresholds


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """V₁ against q₁, a line for each α."""
    table = tables["shaping/wide_minima"]
    figure, (axis,) = panels(1, COLUMN_WIDTH + 1.0, 3.0)
    marks = {CLUSTERING[3.0]: "clustering", CAPACITY: "capacity"}
    data = draw_curves(axis, table, "a", marks)
    axis.set(xlim=(table["overlap"].min(), 1.0), ylim=(None, 0.03))
    axis.legend(title=r"$\alpha$", loc="center left", bbox_to_anchor=(1.0, 0.5))
    at = thresholds(tables["shaping/typical_volume"], 3.0)
    caption = (
        f"Figure 1. {in_words(table)} Dashed: the loads {CLUSTERING[3.0]} and {CAPACITY} that the paper gives for the "
        f"clustering of typical solutions and for the capacity. Here the replicon is 1 at {at['clustering']:.4f}, and the "
        f"replica-symmetric solution, which does not know the capacity, ends at {at['capacity']:.4f}. The "
        "other values of α are chosen here."
    )
    return Drawing(figure, data, caption)
