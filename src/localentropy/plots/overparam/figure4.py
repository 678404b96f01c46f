"""Figure 4: Franz–Parisi entropy around solutions of the largest margin, across the local-entropy threshold."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.drawing import Drawing, frozen_ends, in_style
from localentropy.plots.largest_margin_curves import beyond_axis, draw_curves


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) entropy, (b) its derivative by the distance, on a logarithmic axis of distances."""
    table = tables["overparam/franz_parisi"]
    p = table.attrs["parameters"]
    curves = table[table["curve"] == "max_margin"]
    figure, data = draw_curves(curves, "inv_alpha", r"1/\alpha")
    ends = frozen_ends(curves, ["inv_alpha"], "1/α = {:g}".format)
    caption = (
        f"Figure 4. Franz–Parisi entropy of solutions of margin κ = {p['margin']:g} around typical solutions of the largest "
        f"margin, (a), and its derivative by the distance, (b), up to the typical distance; α_T = {p['alpha_T']:g}, "
        f"{p['ensemble']['activation']} features, replica-symmetric theory. Dashed: negative values of what is drawn. {ends}Below 1/α_LE{_threshold(tables)} "
        f"the derivative is negative somewhere{beyond_axis(curves, 'inv_alpha')}. α_T and the values of 1/α are chosen here: the text "
        "lost them."
    )
    return Drawing(figure, data, caption)


def _threshold(tables: Mapping[str, pd.DataFrame]) -> str:
    """The value of the local-entropy threshold, if it was computed for the drawn parameters."""
    drawn, thresholds = tables["overparam/franz_parisi"].attrs["parameters"], tables["overparam/thresholds"]
    row = thresholds[thresholds["alpha_T"] == drawn["alpha_T"]]
    if row.empty or thresholds.attrs["parameters"]["ensemble"] != drawn["ensemble"]:
        return ""
    return f" = {row['inv_alpha_le'].iloc[0]:.4f}"
