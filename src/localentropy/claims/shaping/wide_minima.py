"""Claims about groups of solutions and typical solutions of tree machines (figures 1 and s1)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from localentropy.analysis.local_entropy import CAPACITY, CLUSTERING, around_parity_solutions
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    above,
    all_of,
    below,
    digits,
    largest,
    numbers,
    require,
    smallest,
)

WIDE, NEAR_ONE = 0.9, 0.99
"""Entropies are compared from the first overlap on. What is left at the last one is judged if it reaches the second."""
LEFT = 0.1
"""Part of α ln 2, the cost of patterns that are independent of each other, that may be left next to q₁ = 1."""
ACCURACY = 1e-5
"""Of the entropies of three units, in nats."""
CONSTANT = 0.01
"""A curve is constant if it changes by less than this part of its value."""


def clustering(typical_volume: pd.DataFrame) -> Finding:
    """Typical solutions cluster above a load: the replicon passes 1 there. The printed loads are judged apart."""
    rows = typical_volume.set_index(["quantity", "units"])["alpha"]
    known = {("clustering", units) for units in CLUSTERING} <= set(rows.index)
    require(known, "the clustering of 3 and of infinitely many units needed")
    conditions = []
    for units, printed in CLUSTERING.items():
        load = float(rows["clustering", units])
        of_it = (typical_volume["quantity"] == "volume") & (typical_volume["units"] == units)
        line = typical_volume[of_it].set_index("alpha")["replicon"]
        before, after = line[line.index < load], line[line.index > load]
        sides = len(before) and len(after)
        require(sides, f"typical solutions on both sides of α = {load:.4f} needed (K = {units:g})")
        conditions += [
            digits(f"load where the replicon is 1, K = {units:g}", load, f"{printed:.2f}"),
            below(f"largest replicon at smaller loads, K = {units:g}", largest(before), 1.0),
            above(f"smallest replicon at larger loads, K = {units:g}", smallest(after), 1.0),
        ]
    return all_of(*conditions)


def capacity_of_three_units(typical_volume: pd.DataFrame) -> Finding:
    """The capacity of three units is finite, and smaller than the replica-symmetric one. The number is judged apart.

    It is above the load of clustering, where symmetry breaks.
    """
    rows = typical_volume[typical_volume["units"] == 3].set_index("quantity")["alpha"]
    known = {"clustering", "capacity", "capacity_one_step"} <= set(rows.index)
    require(known, "the clustering and both capacities of three units needed")
    start, symmetric, value = (float(rows[name]) for name in ("clustering", "capacity", "capacity_one_step"))
    return all_of(
        digits("capacity at K = 3 with one step of symmetry breaking", value, f"{CAPACITY:.2f}"),
        above("capacity minus the load of clustering", value - start, 0.0),
        below("capacity minus the replica-symmetric one", value - symmetric, 0.0),
        detail=f"an upper bound: more steps can only lower it; clustering at {start:.4f}, symmetric capacity "
        f"{symmetric:.4f}",
    )


def wide_minima_exist(wide_minima: pd.DataFrame, wide_minima_many_units: pd.DataFrame) -> Finding:
    """V₁ rises to nearly 0 as q₁ → 1, at K = 3 below the capacity and at K → ∞ at every load; loads lower it."""
    conditions, words = [], []
    few = wide_minima[wide_minima["alpha"] < CAPACITY]
    for name, table in ((f"K = 3 (α < {CAPACITY})", few), ("K → ∞", wide_minima_many_units)):
        curves = table[table["overlap"] >= WIDE - ACCURACY].pivot(index="overlap", columns="alpha", values="entropy")
        curves = curves.sort_index().sort_index(axis=1)
        near, end = curves.index.min(), curves.index.max()
        reach = curves.shape[1] > 1 and near <= 0.5 * (WIDE + NEAR_ONE) and end >= NEAR_ONE
        require(reach, f"{name}: curves at two loads at least, from q₁ ≈ {WIDE} to {NEAR_ONE} or more, needed")
        left = curves.iloc[-1].abs() / (curves.columns.to_numpy() * math.log(2.0))
        conditions += [
            below(f"largest |V₁|/(α ln 2) at the largest q₁, {name}", largest(left), LEFT),
            above(
                f"smallest rise of V₁ from q₁ = {WIDE} to the largest, {name}",
                smallest(curves.iloc[-1] - curves.iloc[0]),
                0.0,
            ),
            above(f"smallest step of V₁ along q₁, {name}", smallest(np.diff(curves, axis=0).ravel()), -ACCURACY),
            below(f"largest step of V₁ along α, {name}", largest(np.diff(curves, axis=1).ravel()), ACCURACY),
        ]
        words.append(f"{name}, q₁ = {end:g}: {numbers(left, '.2g')} at α = {numbers(curves.columns)}")
    return all_of(*conditions, detail="; ".join(words))


def parity_is_constant(wide_minima_parity: pd.DataFrame, parity_solutions: pd.DataFrame) -> Finding:
    """V₁ of the parity machine is −α ln 2 at every overlap.

    In the theory, and in simulations around solutions made by hand. These are a lower bound on V₁.
    """
    table = wide_minima_parity
    reach = (
        set(table["machine"]) == {"parity"} and table["overlap"].max() >= NEAR_ONE and table["overlap"].min() <= WIDE
    )
    require(reach, f"curves of the parity machine from q₁ ≤ {WIDE} to {NEAR_ONE} or more needed")
    ratio = table["entropy"].abs() / (table["alpha"] * math.log(2.0))
    ends = table.assign(ratio=ratio).sort_values("overlap").groupby("alpha")
    words = [
        f"α = {alpha:g}: from {curve['ratio'].iloc[0]:.3f} at q₁ = {curve['overlap'].iloc[0]:g} to "
        f"{curve['ratio'].iloc[-1]:.2g} at {curve['overlap'].iloc[-1]:g}"
        for alpha, curve in ends
    ]
    points = around_parity_solutions(parity_solutions)
    require(
        len(points) and points["n"].min() >= FEWEST,
        f"an overlap with measured entropies around {FEWEST} solutions needed",
    )
    excess = points["y"] + points["alpha"] * math.log(2.0)
    highest = points.loc[points["overlap"].idxmax()]
    words.append(f"Monte Carlo {highest['y']:.2g} ± {highest['y_err']:.1g} at q₁ = {highest['overlap']:g}")
    return all_of(
        below("largest |V₁/(−α ln 2) − 1| over all q₁ and α", largest((ratio - 1).abs()), CONSTANT),
        below("largest measured entropy + α ln 2, in standard errors", largest(excess / points["y_err"]), 2.0),
        detail=f"V₁/(−α ln 2) of the full minimisation, {'; '.join(words)}; the constant is the value on the branch "
        "q₀ = 0, which is not the extremum for q₁ > 0",
    )
