"""Claims about the Franz–Parisi entropy around typical solutions (figures 3 and 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.claims.conditions import Finding, above, all_of, below, numbers, require, smallest
from localentropy.claims.curves import isolation, smallest_slope

CHOSEN = {
    "alpha_T": 3.0,
    "inv_alpha": 1.2,
    "margin": 0.0,
    "ensemble": {"model": "random_features", "activation": "sign"},
}
"""At these values the margins below lie on the sides of κ_min and κ_u = 0.0617 that the text names."""


def typical_are_isolated(
    franz_parisi: pd.DataFrame, franz_parisi_text: pd.DataFrame, franz_parisi_isolated: pd.DataFrame
) -> Finding:
    """No other solutions next to typical ones of κ̃ = 0, even at a very large 1/α, where the gap is tiny."""
    zero = franz_parisi[(franz_parisi["curve"] == "reference") & (franz_parisi["margin_ref"] == 0.0)]
    isolated = [table[table["curve"] == "isolated"] for table in (franz_parisi_text, franz_parisi_isolated)]
    return isolation(pd.concat([zero, *isolated]), "inv_alpha", "1/α")


def small_margins_have_a_gap(franz_parisi: pd.DataFrame) -> Finding:
    """Small margins: at some distances the entropy is negative, or falls."""
    conditions, words = [], []
    for margin in (0.03, 0.05):
        curve = _reference(franz_parisi, margin)
        slope, lowest = smallest_slope(curve), curve["entropy"].min()
        conditions.append(
            below(f"smaller of entropy and slope up to the highest point at κ̃ = {margin:g}", min(lowest, slope), 0.0)
        )
        at = curve.loc[curve["entropy"].idxmin(), "distance"]
        words.append(f"κ̃ = {margin:g}: min φ = {lowest:.6f} at d = {at:.4f}, smallest slope {slope:.4f}")
    return all_of(*conditions, detail="; ".join(words))


def large_margins_are_monotonic(franz_parisi_text: pd.DataFrame) -> Finding:
    """From a margin κ_u on, and up to the largest, the entropy grows all the way to the typical distance."""
    curves = franz_parisi_text[franz_parisi_text["curve"] == "monotonic"]
    slopes = pd.Series({at: smallest_slope(curve) for at, curve in curves.groupby("margin_ref")}).sort_index()
    require(
        len(slopes) >= 7 and curves.loc[curves["margin_ref"].idxmax(), "reference"] == "max",
        "a reference below κ_u, one just above, and five more up to the largest margin needed",
    )
    first, second = slopes.index[:2]
    require(second <= 1.03 * first, f"references at κ̃ = {first:g} and {second:g}: closer ones needed")
    return all_of(
        above("smallest slope on (10⁻⁴, d_typ) for κ̃ from just above κ_u to κ_max", smallest(slopes.iloc[1:]), 0.0),
        below("smallest slope just below κ_u", slopes.iloc[0], 0.0),
        detail=f"slopes {numbers(slopes)} at κ̃ = {numbers(slopes.index)}",
    )


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
    return all_of(
        above("smallest φ(κ_max) − φ(κ̃) for 10⁻³ ≤ d ≤ d_typ(κ_max)", value, 0.0),
        detail=f"largest difference beyond d_typ = {d_typ:.4f}: {beyond:+.2e}",
    )


def monotonic_above_the_threshold(franz_parisi_text: pd.DataFrame) -> Finding:
    """At 1/α_LE the curve of the largest margin loses its monotonicity."""
    curves = franz_parisi_text[franz_parisi_text["curve"] == "threshold"]
    slopes = pd.Series({at: smallest_slope(curve) for at, curve in curves.groupby("inv_alpha")}).sort_index()
    require(len(slopes) > 1, "curves on both sides of 1/α_LE needed")
    return all_of(
        above("smallest slope just above 1/α_LE", slopes.iloc[-1], 0.0),
        below("smallest slope below 1/α_LE", slopes.iloc[0], 0.0),
        detail=f"at 1/α = {numbers(slopes.index, '.4f')}",
    )


def same_margin_are_isolated(franz_parisi: pd.DataFrame, franz_parisi_text: pd.DataFrame) -> Finding:
    """Solutions of one margin are isolated from each other, however large it is."""
    curves = pd.concat([t[t["curve"] == "same_margin"] for t in (franz_parisi, franz_parisi_text)])
    return isolation(curves, "margin_ref", "κ = κ̃")


def _reference(franz_parisi: pd.DataFrame, margin: float | str) -> pd.DataFrame:
    p = franz_parisi.attrs["parameters"]
    other = [f"{name} = {p[name]}" for name, value in CHOSEN.items() if p[name] != value]
    require(not other, f"the margins of the phases are known at α_T = 3, 1/α = 1.2 only, not at {', '.join(other)}")
    rows = franz_parisi[(franz_parisi["curve"] == "reference") & (franz_parisi["reference"] == str(margin))]
    require(rows["entropy"].notna().any(), f"no curve around references of margin {margin}")
    return rows.sort_values("distance")
