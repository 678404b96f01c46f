"""Figure 3: Franz–Parisi entropy against distance for references of several margins."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.drawing import Drawing, frozen_ends, in_style, letter, panels
from localentropy.plots.franz_parisi_panels import curve_data, curve_name, draw_curves


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Panel (a): all distances; (b): small ones on a logarithmic axis. Dashed where the entropy is negative."""
    table = tables["overparam/franz_parisi"]
    table = table[table["curve"].isin(["bound", "reference", "same_margin"])]
    figure, axes = panels(2, 7.0, 2.9)
    draw_curves(axes, table)
    axes[0].legend(loc="lower right", bbox_to_anchor=(1.02, 0.38), ncols=2, columnspacing=1.0)
    letter(axes)
    return Drawing(figure, curve_data(table), _caption(table))


def _caption(table: pd.DataFrame) -> str:
    p = table.attrs["parameters"]
    return (
        "Figure 3. Franz–Parisi entropy (nats per weight) of solutions of margin "
        f"κ = {p['margin']:g} at normalised Hamming distance d from a typical solution of margin κ̃, replica-symmetric "
        f"theory, α_T = {p['alpha_T']:g}, 1/α = {p['inv_alpha']:g}, {p['ensemble']['activation']} features (these values and the "
        "margins are chosen here: the text lost them). Dashed: negative, where no such solutions exist around typical "
        "references. Black: solutions of the same margin as the reference. Dotted: all configurations, α = 0. Dots: typical distance and "
        "entropy of all solutions, where a curve is highest. "
        f"{frozen_ends(table, ['curve', 'margin_ref'], curve_name)}(b): small distances."
    )
