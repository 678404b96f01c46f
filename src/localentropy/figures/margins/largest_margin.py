"""Figures 4, 6 and 7: Franz–Parisi entropy around solutions of the largest margin, for three models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from localentropy.analysis.flatness import without_frozen_ends
from localentropy.figures.drawing import COLORS, Drawing, in_style
from localentropy.figures.frozen_ends import frozen_ends
from localentropy.figures.largest_margin_curves import beyond_axis, draw_curves
from localentropy.figures.margins.best_references import BEST_REFERENCES, largest_local_entropy
from localentropy.figures.series import Panel

TRANSITIONS: dict[str, dict[str, Any]] = {
    "kappa_max": {"color": "black", "label": r"$\kappa_{\max}$"},
    "kappa_u": {"color": COLORS[0], "label": r"$\kappa_u$"},
    "kappa_min": {"color": COLORS[1], "linestyle": "--", "label": r"$\kappa_{\min}$"},
}
"""Looks of the margins that bound the phases."""
UNITS = {"relu": "ReLU", "sign": "sign"}
"""Activation → its name in captions, where it has one."""


@in_style
def draw_model(table: pd.DataFrame, number: int, deviations: pd.DataFrame | None = None) -> Drawing:
    """(a) entropy, (b) its derivative; black at the local-entropy threshold.

    Args:
        table: of the program `franz_parisi`, with the families `max_margin` and `threshold`.
        number: of the figure.
        deviations: table of the program `large_deviations`, whose curve at α_U is drawn beside those of the same model.
    """
    p = table.attrs["parameters"]
    curves = without_frozen_ends(table[table["curve"].isin(["max_margin", "threshold"])], ["alpha"])
    figure, axes = draw_curves(curves, "alpha", r"\alpha")
    best = _best(axes, deviations, p["ensemble"])
    threshold = curves.loc[curves["curve"] == "threshold", ["alpha", "margin_ref"]].iloc[0]
    caption = (
        f"Figure {number}. (a) Franz–Parisi entropy of solutions of the {model_in_words(p['ensemble'])}, around typical "
        "solutions of the largest margin, up to the typical distance, and (b) its derivative by the distance. Negative "
        f"values are dashed. The black curve is at the threshold α'_LE = {threshold['alpha']:.6f}. Above this load the "
        f"derivative is negative at some distances{beyond_axis(curves, 'alpha')}. {_best_in_words(best)}"
    ).rstrip()
    unit = " standard deviations of the output" if p["ensemble"]["model"] == "tree_committee" else ""
    settings = {
        "theory": f"replica-symmetric, solutions of margin κ = {p['margin']:g}",
        "largest margin at the threshold": f"κ_max = {threshold['margin_ref']:.6f}{unit}",
        **frozen_ends(curves, ["alpha"], "α = {:g}".format),
        "chosen here": "the values of α other than the threshold",
    }
    return Drawing(figure, caption, settings)


def _best(axes: Sequence[Panel], deviations: pd.DataFrame | None, ensemble: Mapping[str, Any]) -> pd.DataFrame:
    """Draw the bound on the local entropy at α_U in both panels. Returns its rows, none if it is not drawn."""
    if deviations is None:
        return pd.DataFrame()
    best = largest_local_entropy(deviations, ensemble, "U")
    if best.empty:
        return best
    look = BEST_REFERENCES | {"label": rf"$\alpha_U$ = {best['alpha'].iloc[0]:.4f}"}
    for axis, column in zip(axes, ("entropy", "slope"), strict=True):
        name = f"{column}, bound of any reference, α = α_U"
        axis.line(best["distance"], best[column], name, look, alpha=best["alpha"])
    axes[1].legend(handles=axes[1].lines[-1:], title="bound of any reference", title_fontsize=7, loc="lower right")
    return best


def _best_in_words(best: pd.DataFrame) -> str:
    if best.empty:
        return ""
    return (
        "The dash-dotted curve bounds the local entropy of any reference (large deviations, y = ∞) at "
        f"α_U = {best['alpha'].iloc[0]:.6f}, above which its derivative is negative somewhere."
    )


def model_in_words(ensemble: Mapping[str, Any]) -> str:
    """What a caption calls a model of random patterns."""
    if ensemble["model"] != "tree_committee":
        return {"perceptron": "binary perceptron", "teacher_student": "planted binary perceptron"}[ensemble["model"]]
    activation = ensemble["activation"]
    return f"tree committee of {UNITS.get(activation, activation)} units, K → ∞"
