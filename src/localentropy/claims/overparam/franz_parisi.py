"""Claims about the Franz–Parisi entropy around typical solutions (figures 3 and 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.claims.curves import isolation, smallest_slope, up_to_maximum
from localentropy.claims.finding import Bounds, Finding, Untestable, numbers, smallest

CHOSEN = {
    "alpha_T": 3.0,
    "inv_alpha": 1.2,
    "margin": 0.0,
    "ensemble": {"model": "random_features", "activation": "sign"},
}
"""At these values the margins below lie on the sides of κ_min and κ_u = 0.0617 that the text names."""


def typical_are_isolated(franz_parisi: pd.DataFrame, franz_parisi_text: pd.DataFrame) -> Finding:
    """No other solutions next to typical ones of κ̃ = 0."""
    zero = franz_parisi[(franz_parisi["curve"] == "reference") & (franz_parisi["margin_ref"] == 0.0)]
    isolated = franz_parisi_text[franz_parisi_text["curve"] == "isolated"]
    return isolation(pd.concat([zero, isolated]), "inv_alpha", "1/α")


def small_margins_have_a_gap(franz_parisi: pd.DataFrame) -> Finding:
    """Small margins: at some distances the entropy is negative, or falls."""
    shell, hill = (_reference(franz_parisi, margin) for margin in (0.03, 0.05))
    inside = up_to_maximum(hill)
    holds = all(curve["entropy"].min() < 0 or up_to_maximum(curve)["slope"].min() < 0 for curve in (shell, hill))
    at = shell.loc[shell["entropy"].idxmin(), "distance"]
    detail = (
        f"κ̃ = 0.03: min φ = {shell['entropy'].min():.5f} at d = {at:.4f}, {shell['entropy'].iloc[0]:.2e} next to 0; "
        f"κ̃ = 0.05: min φ = {hill['entropy'].min():.6f}, smallest slope {inside['slope'].min():.4f}"
    )
    quantity = "smallest slope up to the highest point at κ̃ = 0.05, < 0, or a negative entropy; the same at 0.03"
    return Finding.of_theory(quantity, float(inside["slope"].min()), holds, detail, Bounds(upper=0.0))


def large_margins_are_monotonic(franz_parisi_text: pd.DataFrame) -> Finding:
    """From a margin κ_u on, and up to the largest, the entropy grows all the way to the typical distance."""
    curves = franz_parisi_text[franz_parisi_text["curve"] == "monotonic"]
    slopes = pd.Series({at: smallest_slope(curve) for at, curve in curves.groupby("margin_ref")}).sort_index()
    if len(slopes) < 7 or curves.loc[curves["margin_ref"].idxmax(), "reference"] != "max":
        raise Untestable("a reference below κ_u, one just above, and five more up to the largest margin needed")
    below, above = slopes.index[0], slopes.index[1]
    if above > 1.03 * below:
        raise Untestable(f"references at κ̃ = {below:g} and {above:g}: closer ones needed")
    value = smallest(slopes.iloc[1:])
    detail = f"{slopes.iloc[0]:.4f} at κ̃ = {below:g}; {numbers(slopes.iloc[1:])} at {numbers(slopes.index[1:])}"
    quantity = "smallest slope on (10⁻⁴, d_typ) for κ̃ from just above κ_u to κ_max, > 0; < 0 just below κ_u"
    return Finding.of_theory(quantity, value, slopes.iloc[0] < 0 < value, detail, Bounds(lower=0.0))


def largest_margin_is_highest(franz_parisi: pd.DataFrame) -> Finding:
    """The largest margin has the highest local entropy, up to its typical distance."""
    best = _reference(franz_parisi, "max").set_index("distance")
    d_typ = best["distance_typical"].iloc[0]
    rows = franz_parisi[(franz_parisi["curve"] == "reference") & (franz_parisi["reference"] != "max")]
    others = rows.pivot(index="distance", columns="reference", values="entropy").reindex(best.index)
    gaps = others.rsub(best["entropy"], axis=0)
    inside = gaps[(gaps.index >= 1e-3) & (gaps.index <= d_typ)]
    # The entropy of another reference may be missing: it has no solutions there. That of κ_max must not be missing.
    value = smallest(inside.min()) if best.loc[inside.index, "entropy"].notna().all() else np.nan
    beyond = gaps[gaps.index > 1.05 * d_typ].max().max()
    detail = f"largest difference beyond d_typ = {d_typ:.4f}: {beyond:+.2e}"
    return Finding.of_theory(
        "smallest φ(κ_max) − φ(κ̃) for 10⁻³ ≤ d ≤ d_typ(κ_max), > 0", value, value > 0, detail, Bounds(lower=0.0)
    )


def monotonic_above_the_threshold(franz_parisi_text: pd.DataFrame) -> Finding:
    """At 1/α_LE the curve of the largest margin loses its monotonicity."""
    curves = franz_parisi_text[franz_parisi_text["curve"] == "threshold"]
    slopes = pd.Series({at: smallest_slope(curve) for at, curve in curves.groupby("inv_alpha")}).sort_index()
    if len(slopes) < 2:
        raise Untestable("curves on both sides of 1/α_LE needed")
    below, above = float(slopes.iloc[0]), float(slopes.iloc[-1])
    detail = ", ".join(f"{slope:.4f} at 1/α = {at:.4f}" for at, slope in slopes.items())
    quantity = "smallest slope just above 1/α_LE, > 0, and < 0 below"
    return Finding.of_theory(quantity, above, below < 0 < above, detail, Bounds(lower=0.0))


def same_margin_are_isolated(franz_parisi: pd.DataFrame, franz_parisi_text: pd.DataFrame) -> Finding:
    """Solutions of one margin are isolated from each other, however large it is."""
    curves = pd.concat([t[t["curve"] == "same_margin"] for t in (franz_parisi, franz_parisi_text)])
    return isolation(curves, "margin_ref", "κ = κ̃")


def _reference(franz_parisi: pd.DataFrame, margin: float | str) -> pd.DataFrame:
    p = franz_parisi.attrs["parameters"]
    other = [f"{name} = {p[name]}" for name, value in CHOSEN.items() if p[name] != value]
    if other:
        raise Untestable(f"the margins of the phases are known at α_T = 3, 1/α = 1.2 only, not at {', '.join(other)}")
    rows = franz_parisi[(franz_parisi["curve"] == "reference") & (franz_parisi["reference"] == str(margin))]
    if not rows["entropy"].notna().any():
        raise Untestable(f"no curve around references of margin {margin}")
    return rows.sort_values("distance")
