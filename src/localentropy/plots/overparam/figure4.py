"""Figure 4: Franz–Parisi entropy around solutions of the largest margin, across the local-entropy threshold."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.drawing import Drawing, in_style
from localentropy.plots.frozen_ends import frozen_ends, without_frozen_ends
from localentropy.plots.largest_margin_curves import beyond_axis, draw_curves


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) entropy, (b) its derivative by the distance, on a logarithmic axis of distances."""
    table = tables["overparam/franz_parisi"]
    p = table.attrs["parameters"]
    curves = without_frozen_ends(table[table["curve"].isin(["max_margin", "threshold"])], ["inv_alpha"])
    figure, _ = draw_curves(curves, "inv_alpha", r"1/\alpha")
    threshold = curves.loc[curves["curve"] == "threshold", "inv_alpha"].iloc[0]
    caption = (
        f"Figure 4. Franz–Parisi entropy of solutions of margin κ = {p['margin']:g} around typical solutions of the largest "
        f"margin, (a), and its derivative by the distance, (b), up to the typical distance; α_T = {p['alpha_T']:g}, "
        f"{p['ensemble']['activation']} features, replica-symmetric theory. Dashed: negative values of what is drawn. "
        f"{frozen_ends(curves, ['inv_alpha'], '1/α = {:g}'.format)}Black: the threshold 1/α_LE = {threshold:.4f}. Below it "
        f"the derivative is negative somewhere{beyond_axis(curves, 'inv_alpha')}. α_T and the other values of 1/α are "
        "chosen here; compare with the paper's figure."
    )
    return Drawing(figure, caption)
