"""Figure 4: Franz–Parisi entropy around solutions of the largest margin, across the local-entropy threshold."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.analysis.flatness import without_frozen_ends
from localentropy.figures.drawing import Drawing, in_style
from localentropy.figures.frozen_ends import frozen_ends
from localentropy.figures.largest_margin_curves import beyond_axis, draw_curves


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) entropy, (b) its derivative by the distance, on a logarithmic axis of distances."""
    table = tables["overparam/franz_parisi"]
    p = table.attrs["parameters"]
    curves = without_frozen_ends(table[table["curve"].isin(["max_margin", "threshold"])], ["inv_alpha"])
    figure, _ = draw_curves(curves, "inv_alpha", r"1/\alpha")
    threshold = curves.loc[curves["curve"] == "threshold", "inv_alpha"].iloc[0]
    caption = (
        "Figure 4. (a) Franz–Parisi entropy of solutions around typical solutions of the largest margin, up to the "
        "typical distance, and (b) its derivative by the distance. Negative values are dashed. The black curve is at the "
        f"threshold 1/α_LE = {threshold:.4f}: below this value the derivative is negative at some distances"
        f"{beyond_axis(curves, 'inv_alpha')}, and above it the entropy grows everywhere."
    )
    settings = {
        "theory": f"replica-symmetric, α_T = {p['alpha_T']:g}, {p['ensemble']['activation']} features, solutions of "
        f"margin κ = {p['margin']:g}",
        **frozen_ends(curves, ["inv_alpha"], "1/α = {:g}".format),
        "chosen here": "α_T and the values of 1/α other than the threshold",
    }
    return Drawing(figure, caption, settings)
