"""Claims about the interpolation and local-entropy thresholds (figure 1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.thresholds import storage_thresholds
from localentropy.claims.conditions import (
    Finding,
    above,
    all_of,
    below,
    between,
    falls,
    largest,
    numbers,
    require,
    smallest,
)
from localentropy.claims.large_deviations import SLIGHTLY, below_in_words

NEAR = 2e-4
"""Distance from the limit α_T → 0 that is left at α_T = 10⁻³."""


def interpolation_falls(thresholds: pd.DataFrame) -> Finding:
    """1/α_c decreases with α_T."""
    rows = thresholds.sort_values("alpha_T")
    ends = rows.iloc[[0, -1]]
    detail = f"1/α_c = {numbers(ends['inv_alpha_c'], '.5f')} at α_T = {numbers(ends['alpha_T'], 'g')}{_at_three(rows)}"
    return all_of(falls("1/α_c", rows["inv_alpha_c"], along="α_T"), detail=detail)


def gap(thresholds: pd.DataFrame) -> Finding:
    """1/α_LE lies above 1/α_c everywhere."""
    gaps = thresholds["inv_alpha_le"] - thresholds["inv_alpha_c"]
    detail = f"largest {gaps.max():.4f}, over {len(gaps)} values of α_T{_at_three(thresholds)}"
    return all_of(above("smallest 1/α_LE − 1/α_c", smallest(gaps), 0.0), detail=detail)


def storage_limit(thresholds: pd.DataFrame, dense_regions: pd.DataFrame) -> Finding:
    """For α_T → 0 the thresholds are those of random patterns."""
    row = thresholds.loc[thresholds["alpha_T"].idxmin()]
    require(row["alpha_T"] <= 1e-3, f"the smallest α_T is {row['alpha_T']:g}; 10⁻³ needed")
    storage = storage_thresholds(dense_regions)
    require(storage, "the thresholds of random patterns needed")
    conditions = [
        between(
            f"{name} at the smallest α_T, near that of random patterns", 1.0 / row[f"inv_{key}"], at - NEAR, at + NEAR
        )
        for name, key in (("α_c", "alpha_c"), ("α_LE", "alpha_le"))
        for at in [storage[key]]
    ]
    detail = ", ".join(f"{name} = {storage[name]:.6f}" for name in ("alpha_c", "alpha_le"))
    return all_of(*conditions, detail=f"random patterns: {detail}; α_T = {row['alpha_T']:g}")


def storage_limit_of_activations(storage_limit: pd.DataFrame) -> Finding:
    """The limit is the same for every nonlinearity of the features."""
    values = storage_limit.set_index("activation")["alpha_c"]
    require(len(values) > 1, "two activations needed")
    spread = largest(values) - smallest(values)
    detail = ", ".join(f"{name} {value:.6f}" for name, value in values.items())
    return all_of(below("spread of α_c over activations at the smallest α_T", spread, NEAR), detail=detail)


def gap_of_activations(activations: pd.DataFrame) -> Finding:
    """The two thresholds are apart for other odd nonlinearities of the features, too."""
    gaps = activations["inv_alpha_le"] - activations["inv_alpha_c"]
    require(activations["activation"].nunique() > 1, "two activations needed")
    words = [
        f"{row.activation} {row.inv_alpha_c:.4f}, {row.inv_alpha_le:.4f} at α_T = {row.alpha_T:g}"
        for row in activations.itertuples()
    ]
    detail = f"1/α_c, 1/α_LE: {'; '.join(words)}"
    return all_of(above("smallest 1/α_LE − 1/α_c, over activations and α_T", smallest(gaps), 0.0), detail=detail)


def equation_16_underestimates(thresholds: pd.DataFrame, large_deviations: pd.DataFrame) -> Finding:
    """α_LE of equation 16 is smaller than α_U, the threshold of large deviations, at each α_T.

    α_U is that of y = ∞, the lower of the two thresholds of large deviations. How much smaller is judged apart.
    """
    parts, detail = _over_large_deviations(thresholds, large_deviations)
    return all_of(below("largest α_LE of equation 16 over α_U of y = ∞, over α_T", largest(parts), 1.0), detail=detail)


def equation_16_is_close(thresholds: pd.DataFrame, large_deviations: pd.DataFrame) -> Finding:
    """It is so by little, at each α_T, as for random patterns (M07)."""
    parts, detail = _over_large_deviations(thresholds, large_deviations)
    words = "smallest α_LE of equation 16 over α_U of y = ∞, over α_T"
    return all_of(above(words, smallest(parts), 1.0 - SLIGHTLY), detail=detail)


def _over_large_deviations(thresholds: pd.DataFrame, large_deviations: pd.DataFrame) -> tuple[pd.Series, str]:
    """α_LE of equation 16 over α_U at each α_T of both tables, and in words."""
    require(_ensemble(thresholds) == _ensemble(large_deviations), "both thresholds of the same features needed")
    both = large_deviations.merge(thresholds[["alpha_T", "inv_alpha_le"]], on="alpha_T")
    require(len(both), "both thresholds at one α_T at least needed")
    ours, best, typical = 1.0 / both["inv_alpha_le"], both["best_alpha"], both["typical_alpha"]
    words = [
        f"at α_T = {alpha_T:g} {below_in_words(own, upper)}; not judged: {100.0 * (1.0 - own / other):.1f} % below "
        f"{other:.7f}, that of zero external entropy"
        for alpha_T, own, upper, other in zip(both["alpha_T"], ours, best, typical, strict=True)
    ]
    return ours / best, "; ".join(words)


def _ensemble(table: pd.DataFrame) -> object:
    return table.attrs["parameters"]["ensemble"]


def _at_three(rows: pd.DataFrame) -> str:
    marked = rows[np.isclose(rows["alpha_T"], 3.0)]
    if marked.empty:
        return ""
    row = marked.iloc[0]
    return f"; at α_T = 3: 1/α_c = {row['inv_alpha_c']:.5f}, 1/α_LE = {row['inv_alpha_le']:.5f}"
