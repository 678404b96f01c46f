"""Figures 4, 6 and 7: Franz–Parisi entropy around solutions of the largest margin, for three models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from localentropy.plots.drawing import COLORS, Drawing, in_style
from localentropy.plots.frozen_ends import frozen_ends, without_frozen_ends
from localentropy.plots.largest_margin_curves import beyond_axis, draw_curves

TRANSITIONS: dict[str, dict[str, Any]] = {
    "kappa_max": {"color": "black", "label": r"$\kappa_{\max}$"},
    "kappa_u": {"color": COLORS[0], "label": r"$\kappa_u$"},
    "kappa_min": {"color": COLORS[1], "linestyle": "--", "label": r"$\kappa_{\min}$"},
}
"""Looks of the margins that bound the phases."""
UNITS = {"relu": "ReLU", "sign": "sign"}
"""Activation → its name in captions, where it has one."""


@in_style
def draw_model(table: pd.DataFrame, number: int) -> Drawing:
    """(a) entropy, (b) its derivative; black at the local-entropy threshold.

    Args:
        table: of the program `franz_parisi`, with the families `max_margin` and `threshold`.
        number: of the figure.
    """
    p = table.attrs["parameters"]
    curves = without_frozen_ends(table[table["curve"].isin(["max_margin", "threshold"])], ["alpha"])
    figure, data = draw_curves(curves, "alpha", r"\alpha")
    threshold = curves.loc[curves["curve"] == "threshold", ["alpha", "margin_ref"]].iloc[0]
    caption = (
        f"Figure {number}. Franz–Parisi entropy of solutions of margin κ = {p['margin']:g} around typical solutions of the largest "
        f"margin (a) and its derivative by the distance (b), up to the typical distance; {model_in_words(p['ensemble'])}, "
        "replica-symmetric theory. Dashed: negative values. "
        f"{frozen_ends(curves, ['alpha'], 'α = {:g}'.format)}Black: the threshold α'_LE = {threshold['alpha']:.6f}, where "
        f"κ_max = {threshold['margin_ref']:.6f}. Above it the derivative is negative somewhere{beyond_axis(curves, 'alpha')}. "
        "The other values of α are chosen here: compare with the paper's figure."
    )
    return Drawing(figure, data, caption)


def model_in_words(ensemble: Mapping[str, Any]) -> str:
    """What a caption calls a model of random patterns."""
    if ensemble["model"] != "tree_committee":
        return {"perceptron": "binary perceptron", "teacher_student": "planted binary perceptron"}[ensemble["model"]]
    activation = ensemble["activation"]
    return f"tree committee of {UNITS.get(activation, activation)} units, K → ∞"
