"""Figure 3: Franz–Parisi entropy against distance for references of several margins."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.drawing import Drawing, in_style, letter, panels
from localentropy.plots.franz_parisi_panels import LINEAR, curve_name, draw_curves
from localentropy.plots.frozen_ends import frozen_ends, without_frozen_ends


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Panel (a): all distances; (b): small ones on a logarithmic axis. Dashed where the entropy is negative."""
    table = tables["overparam/franz_parisi"]
    table = table[table["curve"].isin(["bound", "reference", "monotonic", "same_margin"])]
    table = without_frozen_ends(table, ["curve", "margin_ref"])
    figure, axes = panels(2, 7.0, 3.3)
    draw_curves(axes, table)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, columnspacing=1.2)
    letter(axes)
    return Drawing(figure, _caption(table))


def _caption(table: pd.DataFrame) -> str:
    p = table.attrs["parameters"]
    return (
        "Figure 3. Franz–Parisi entropy (nats per weight) of solutions of margin "
        f"κ = {p['margin']:g} at normalised Hamming distance d from a typical solution of margin κ̃, replica-symmetric "
        f"theory, α_T = {p['alpha_T']:g}, 1/α = {p['inv_alpha']:g}, {p['ensemble']['activation']} features. Dashed: "
        f"negative, where no such solutions exist around typical references. {_monotonic(table)}Black: solutions of the "
        "same margin as the reference. Dotted: all configurations, α = 0, which rise to ln 2 at d = 0.5. Dots: typical "
        "distance and entropy of all solutions, where a curve is highest. "
        f"{frozen_ends(table, ['curve', 'margin_ref'], curve_name)}(b): small distances; the axis is linear up to "
        f"{LINEAR:g} and logarithmic beyond, on both sides of 0. α_T, 1/α and the margins are chosen here; compare with "
        "the paper's figure."
    )


def _monotonic(table: pd.DataFrame) -> str:
    """The smallest margin without a gap, if its curve was computed."""
    margin = table.loc[table["curve"] == "monotonic", "margin_ref"]
    if margin.empty:
        return ""
    return (
        f"Dash-dotted: κ̃ = κ_u = {margin.iloc[0]:.4f}, from which on curves grow all the way to the typical distance. "
    )
