"""Figure 3: Franz–Parisi entropy against distance for references of several margins."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.analysis.flatness import without_frozen_ends
from localentropy.figures.drawing import Drawing, in_style, letter, panels
from localentropy.figures.franz_parisi_panels import LINEAR, curve_name, draw_curves
from localentropy.figures.frozen_ends import frozen_ends


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
    return Drawing(figure, _caption(table), _settings(table))


def _caption(table: pd.DataFrame) -> str:
    return (
        "Figure 3. Franz–Parisi entropy of solutions at distance d from a typical solution of margin κ̃, (a) at all "
        "distances and (b) at small ones. Curves are dashed where the entropy is negative: there are no such solutions "
        f"around typical references. {_monotonic(table)}Black curves are solutions of the same margin as the reference. "
        "The dotted curve has all configurations, α = 0, and rises to ln 2 at d = 0.5. Dots mark where a curve is "
        "highest: at the typical distance, with the entropy of all solutions"
        f"{_of_same_margin(table)}."
    )


def _settings(table: pd.DataFrame) -> dict[str, str]:
    p = table.attrs["parameters"]
    return {
        "theory": f"replica-symmetric, α_T = {p['alpha_T']:g}, 1/α = {p['inv_alpha']:g}, "
        f"{p['ensemble']['activation']} features, solutions of margin κ = {p['margin']:g}",
        "entropy": "nats per weight; d is the normalised Hamming distance",
        **frozen_ends(table, ["curve", "margin_ref"], curve_name),
        "axis of (b)": f"linear up to {LINEAR:g} and logarithmic beyond, on both sides of 0",
        "chosen here": "α_T, 1/α and the margins",
    }


def _of_same_margin(table: pd.DataFrame) -> str:
    """What the dots of the black curves mean, if these were computed."""
    margins = table.loc[table["curve"] == "same_margin", "margin_ref"].unique()
    return f" (black: of all of margin {', '.join(f'{margin:.3g}' for margin in margins)})" if len(margins) else ""


def _monotonic(table: pd.DataFrame) -> str:
    """The smallest margin without a gap, if its curve was computed."""
    margin = table.loc[table["curve"] == "monotonic", "margin_ref"]
    if margin.empty:
        return ""
    return f"From κ̃ = κ_u = {margin.iloc[0]:.4f} on (dash-dotted) curves grow up to the typical distance. "
