"""Claims about groups of solutions and typical solutions of tree machines (figures 1 and s1)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator

from localentropy.analysis.flatness import ACCURACY, around_parity_solutions, around_solutions
from localentropy.analysis.printed import CAPACITY, CLUSTERING
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    above,
    all_of,
    below,
    digits,
    falls,
    largest,
    numbers,
    require,
    smallest,
)

WIDE, NEAR_ONE = 0.9, 0.99
"""Entropies are compared from the first overlap on. Curves next to q₁ = 1 must reach the second."""
FLAT, LEFT = 0.01, 0.1
"""Parts of α ln 2, the cost of patterns that are independent of each other: |V₁| is on the plateau up to the second."""
STEEP = 1.25
"""A curve that is linear in 1 − q₁ has the power 1, and one around a narrow solution 1/2."""
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
    """Next to q₁ = 1 there is a plateau with V₁ near 0, at K = 3 below the capacity and at K → ∞ at every load.

    V₁ goes to 0 above the capacity, too, where there are no solutions. It also does so around a narrow solution, but
    like the square root of 1 − q₁, because stabilities have a density at zero there. On a plateau it is flatter. So
    between the levels `FLAT` and `LEFT` |V₁| must grow faster than the power `STEEP` of 1 − q₁. That the plateau gets
    narrower as the load grows is judged, too. Its width is told: the text names none. Before, widths of 0.01, and of
    more than the grid's last step, were asked for. The power was chosen after the widths were seen.
    """
    conditions, words = [], []
    few = wide_minima[wide_minima["alpha"] < CAPACITY]
    for name, table in ((f"K = 3 (α < {CAPACITY})", few), ("K → ∞", wide_minima_many_units)):
        curves = table.pivot(index="overlap", columns="alpha", values="entropy").sort_index().sort_index(axis=1)
        reach = curves.shape[1] > 1 and curves.index.min() <= WIDE and curves.index.max() >= NEAR_ONE
        require(reach, f"{name}: curves at two loads at least, from q₁ ≤ {WIDE} to {NEAR_ONE} or more, needed")
        narrow, widths = ([_plateau(curves[alpha], alpha, level) for alpha in curves] for level in (FLAT, LEFT))
        powers = math.log(LEFT / FLAT) / np.log(np.divide(widths, narrow))
        near = curves[curves.index >= WIDE - ACCURACY]
        conditions += [
            above(f"smallest power of 1 − q₁ by which |V₁| leaves 0, over α, {name}", smallest(powers), STEEP),
            falls(f"width of the plateau, {name},", widths, along="α"),
            above(f"smallest step of V₁ along q₁ ≥ {WIDE}, {name}", smallest(np.diff(near, axis=0).ravel()), -ACCURACY),
            below(f"largest step of V₁ along α, q₁ ≥ {WIDE}, {name}", largest(np.diff(near, axis=1).ravel()), ACCURACY),
        ]
        words.append(
            f"{name}: widths {numbers(widths, '.3f')}, powers {numbers(powers, '.2f')} at α = {numbers(curves.columns)}"
        )
    return all_of(*conditions, detail=f"plateau: |V₁| < {LEFT:g} α ln 2; {'; '.join(words)}")


def _plateau(curve: pd.Series, alpha: float, level: float) -> float:
    """1 − q₁ where |V₁| reaches this part of α ln 2, from q₁ = 1 on, by linear interpolation; NaN if it does not."""
    if curve.isna().any():
        return math.nan
    overlaps, levels = curve.index.to_numpy(), curve.abs().to_numpy() / (alpha * math.log(2.0))
    overlaps, levels = np.append(overlaps, 1.0)[::-1], np.append(levels, 0.0)[::-1]
    outside = np.flatnonzero(levels >= level)
    if not outside.size:
        return math.nan
    at = int(outside[0])
    return float(1.0 - np.interp(level, levels[at - 1 : at + 1], overlaps[at - 1 : at + 1]))


def largest_volume(wide_minima: pd.DataFrame, alpha: float, distances: np.ndarray) -> np.ndarray:
    """The theory's largest V₁ at distances from a solution: that of groups of overlap (1 − 2D)². NaN where it has none.

    Raises:
        Untestable: a number is missing.
    """
    known = wide_minima[["alpha", "overlap", "entropy"]].notna().all(axis=None)
    require(known, "a number of the theory of wide minima is missing")
    curve = wide_minima[(wide_minima["alpha"] - alpha).abs() < 0.01].sort_values("overlap")
    if len(curve) < 2:
        return np.full(len(distances), math.nan)
    spline = PchipInterpolator(curve["overlap"], curve["entropy"], extrapolate=False)
    return np.asarray(spline((1.0 - 2.0 * distances) ** 2))


def focusing_bp_is_compatible(units3_local_entropy: pd.DataFrame, wide_minima: pd.DataFrame) -> Finding:
    """Around fBP's solutions of three units V₁ falls with the distance, below the theory's bound and near it.

    A group of overlap q₁ is at S = √q₁ from its barycentre. The theory has the largest V₁ that exists. Compatible means
    no more than that by three standard errors, and less by at most a tenth of α ln 2 (chosen here, after first
    measurements: the text says "qualitatively compatible").
    """
    around = around_solutions(units3_local_entropy)
    known = around[["alpha", "distance", "entropy"]].notna().all(axis=None)
    require(known, "a local entropy is missing although its messages converged, or a distance")
    excess, missed, steps, words = [], [], [], []
    for alpha, rows in around.groupby("alpha"):
        cost = alpha * math.log(2.0)
        points = rows.groupby("distance")["entropy"].agg(["mean", "sem", "size"])
        require(points["size"].min() >= FEWEST, f"fewer than {FEWEST} solutions at α = {alpha:.3g}")
        theory = largest_volume(wide_minima, float(alpha), points.index.to_numpy())
        inside = ~np.isnan(theory)
        require(inside.any(), f"no curve of the theory at α = {alpha:.3g}")
        bound = theory[inside]
        apart = points["mean"][inside] - bound
        excess.append(largest(apart / points["sem"][inside]))
        missed.append(largest(-apart / cost))
        steps.append(points["mean"])
        words.append(f"α = {alpha:.3g}: {numbers(points['mean'][inside], '.3f')}, theory {numbers(bound, '.3f')}")
    return all_of(
        below("largest V₁ of fBP above the theory's, in SE", largest(excess), 3.0),
        below("largest V₁ of the theory above fBP's, in parts of α ln 2", largest(missed), LEFT),
        falls("V₁ of fBP", *steps, along="D"),
        detail="; ".join(words),
    )


def parity_is_constant(wide_minima_parity: pd.DataFrame, parity_solutions: pd.DataFrame) -> Finding:
    """V₁ of the parity machine is −α ln 2 at every overlap.

    In the theory, and in simulations around solutions made by hand. These are a lower bound on V₁, so at no overlap may
    one be above the constant by two standard errors.
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
    scores = excess / points["y_err"]
    beyond = (excess - 2.0 * points["y_err"]) / (points["alpha"] * math.log(2.0))
    highest = points.loc[points["overlap"].idxmax()]
    words.append(
        f"Monte Carlo {highest['y']:.2g} ± {highest['y_err']:.1g} at q₁ = {highest['overlap']:g}, at each overlap "
        f"at least {smallest(scores):.2g} SE above −α ln 2"
    )
    return all_of(
        below("largest |V₁/(−α ln 2) − 1| over all q₁ and α", largest((ratio - 1).abs()), CONSTANT),
        below("largest measured entropy + α ln 2 less 2 SE, in parts of α ln 2", largest(beyond), 0.0),
        detail=f"V₁/(−α ln 2) of the full minimisation, {'; '.join(words)}; the constant is the value on the branch "
        "q₀ = 0, which is not the extremum for q₁ > 0",
    )
