"""Claims about the interpolation and local-entropy thresholds (figure 1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.thresholds import storage_thresholds
from localentropy.claims.finding import Bounds, Finding, Untestable, largest, numbers, smallest

NEAR = 2e-4
"""Distance from the limit α_T → 0 that is left at α_T = 10⁻³."""


def interpolation_falls(thresholds: pd.DataFrame) -> Finding:
    """1/α_c decreases with α_T."""
    rows = thresholds.sort_values("alpha_T")
    step = largest(np.diff(rows["inv_alpha_c"]))
    ends = rows.iloc[[0, -1]]
    detail = f"1/α_c = {numbers(ends['inv_alpha_c'], '.5f')} at α_T = {numbers(ends['alpha_T'], 'g')}{_at_three(rows)}"
    return Finding.of_theory(
        "largest step of 1/α_c from one α_T to the next, < 0", step, step < 0, detail, Bounds(upper=0.0)
    )


def gap(thresholds: pd.DataFrame) -> Finding:
    """1/α_LE lies above 1/α_c everywhere."""
    gaps = thresholds["inv_alpha_le"] - thresholds["inv_alpha_c"]
    detail = f"largest {gaps.max():.4f}, over {len(gaps)} values of α_T{_at_three(thresholds)}"
    least = smallest(gaps)
    return Finding.of_theory("smallest 1/α_LE − 1/α_c, > 0", least, least > 0, detail, Bounds(lower=0.0))


def storage_limit(thresholds: pd.DataFrame, dense_regions: pd.DataFrame) -> Finding:
    """For α_T → 0 the thresholds are those of random patterns."""
    row = thresholds.loc[thresholds["alpha_T"].idxmin()]
    if row["alpha_T"] > 1e-3:
        raise Untestable(f"the smallest α_T is {row['alpha_T']:g}; 10⁻³ needed")
    storage = storage_thresholds(dense_regions)
    if not storage:
        raise Untestable("the thresholds of random patterns needed")
    alpha_c, alpha_le = 1.0 / row["inv_alpha_c"], 1.0 / row["inv_alpha_le"]
    off = largest([abs(alpha_c - storage["alpha_c"]), abs(alpha_le - storage["alpha_le"])])
    bounds = Bounds(storage["alpha_c"] - NEAR, storage["alpha_c"] + NEAR)
    detail = f"α_LE = {alpha_le:.6f} against {storage['alpha_le']:.6f} at α_T = {row['alpha_T']:g}"
    quantity = (
        f"α_c at the smallest α_T, within {NEAR:g} of that of random patterns, {storage['alpha_c']:.6f}; α_LE too"
    )
    return Finding.of_theory(quantity, alpha_c, off < NEAR, detail, bounds)


def storage_limit_of_activations(storage_limit: pd.DataFrame) -> Finding:
    """The limit is the same for every nonlinearity of the features."""
    values = storage_limit.set_index("activation")["alpha_c"]
    if len(values) < 2:
        raise Untestable("two activations needed")
    spread = largest(values) - smallest(values)
    detail = ", ".join(f"{name} {value:.6f}" for name, value in values.items())
    quantity = f"spread of α_c over activations at α_T = {storage_limit['alpha_T'].iloc[0]:g}, < {NEAR:g}"
    return Finding.of_theory(quantity, spread, spread < NEAR, detail, Bounds(upper=NEAR))


def _at_three(rows: pd.DataFrame) -> str:
    marked = rows[np.isclose(rows["alpha_T"], 3.0)]
    if marked.empty:
        return ""
    row = marked.iloc[0]
    return f"; at α_T = 3: 1/α_c = {row['inv_alpha_c']:.5f}, 1/α_LE = {row['inv_alpha_le']:.5f}"
