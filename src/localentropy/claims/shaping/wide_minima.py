"""Claims about groups of solutions and typical solutions of tree machines (figures 1 and s1)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from localentropy.analysis.local_entropy import CAPACITY, CLUSTERING
from localentropy.claims.finding import Bounds, Finding, Untestable, largest, numbers, printed, smallest

WIDE, NEAR_ONE = 0.9, 0.99
"""Entropies are compared from the first overlap on. What is left at the last one is judged if it reaches the second."""
LEFT = 0.1
"""Part of α ln 2, the cost of patterns that are independent of each other, that may be left next to q₁ = 1."""
ACCURACY = 1e-5
"""Of the entropies of three units, in nats."""
CONSTANT = 0.01
"""A curve is constant if it changes by less than this part of its value."""


def clustering(typical_volume: pd.DataFrame) -> Finding:
    """The replicon of typical solutions is 1 at the paper's loads. The capacity needs broken symmetry."""
    rows = typical_volume.set_index(["quantity", "units"])["alpha"]
    if not {("clustering", units) for units in CLUSTERING} <= set(rows.index):
        raise Untestable("the clustering of 3 and of infinitely many units needed")
    ours = {units: float(rows["clustering", units]) for units in CLUSTERING}
    bounds = {units: printed(f"{load:.2f}") for units, load in CLUSTERING.items()}
    apart = ", ".join(
        f"{ours[units]:.4f} for {load} ({100 * (ours[units] / load - 1):+.1f} %, K = {units:g})"
        for units, load in CLUSTERING.items()
    )
    ends = rows.get(("capacity", 3.0), np.nan)
    detail = (
        f"replicon = 1 at α = {apart}; the capacity {CAPACITY} is not "
        f"tested: it needs broken symmetry; the symmetric solution ends at α = {ends:.4f}"
    )
    holds = all(bounds[units].hold(ours[units]) for units in CLUSTERING)
    quantity = f"α of clustering at K = 3, {CLUSTERING[3.0]} to the digits printed, and so for K → ∞"
    return Finding.of_theory(quantity, ours[3.0], holds, detail, bounds[3.0])


def wide_minima_exist(wide_minima: pd.DataFrame, wide_minima_many_units: pd.DataFrame) -> Finding:
    """V₁ rises to nearly 0 as q₁ → 1, at K = 3 below the capacity and at K → ∞ at every load; loads lower it."""
    parts, words, holds = [], [], True
    below = wide_minima[wide_minima["alpha"] < CAPACITY]
    for name, table in (("K = 3", below), ("K → ∞", wide_minima_many_units)):
        curves = table[table["overlap"] >= WIDE - ACCURACY].pivot(index="overlap", columns="alpha", values="entropy")
        if curves.shape[1] < 2 or curves.index.min() > 0.5 * (WIDE + NEAR_ONE) or curves.index.max() < NEAR_ONE:
            raise Untestable(f"{name}: curves at two loads at least, from q₁ ≈ {WIDE} to {NEAR_ONE} or more, needed")
        curves = curves.sort_index().sort_index(axis=1)
        rises, falls = np.diff(curves, axis=0), -np.diff(curves, axis=1)
        gained = curves.iloc[-1] - curves.iloc[0]
        monotonic = smallest(rises.ravel()) > -ACCURACY and smallest(falls.ravel()) > -ACCURACY
        left = curves.iloc[-1].abs() / (curves.columns.to_numpy() * math.log(2.0))
        parts.append(largest(left))
        holds &= monotonic and smallest(gained) > 0
        words.append(
            f"{name}, q₁ = {curves.index[-1]:g}: {numbers(left, '.2g')} at α = {numbers(curves.columns)}"
            + ("" if monotonic else "; not in order")
        )
    value = max(parts)
    quantity = (
        f"largest |V₁|/(α ln 2) at the largest q₁, < {LEFT}; V₁ rises with q₁ from {WIDE} on and falls with α at "
        f"every q₁ (to {ACCURACY:g}); α < {CAPACITY} at K = 3"
    )
    return Finding.of_theory(quantity, value, bool(holds and value < LEFT), "; ".join(words), Bounds(upper=LEFT))


def parity_is_constant(wide_minima_parity: pd.DataFrame) -> Finding:
    """V₁ of the parity machine is −α ln 2 at every overlap."""
    table = wide_minima_parity
    if set(table["machine"]) != {"parity"} or table["overlap"].max() < NEAR_ONE or table["overlap"].min() > WIDE:
        raise Untestable(f"curves of the parity machine from q₁ ≤ {WIDE} to {NEAR_ONE} or more needed")
    ratio = table["entropy"].abs() / (table["alpha"] * math.log(2.0))
    off = largest((ratio - 1).abs())
    ends = table.assign(ratio=ratio).sort_values("overlap").groupby("alpha")
    words = [
        f"α = {alpha:g}: from {curve['ratio'].iloc[0]:.3f} at q₁ = {curve['overlap'].iloc[0]:g} to "
        f"{curve['ratio'].iloc[-1]:.2g} at {curve['overlap'].iloc[-1]:g}"
        for alpha, curve in ends
    ]
    detail = (
        f"V₁/(−α ln 2) of the full minimisation, {'; '.join(words)}; the constant is the value on the branch q₀ = 0, "
        "which is not the extremum for q₁ > 0"
    )
    quantity = f"largest |V₁/(−α ln 2) − 1| over all q₁ and α, < {CONSTANT}"
    return Finding.of_theory(quantity, off, off < CONSTANT, detail, Bounds(upper=CONSTANT))
