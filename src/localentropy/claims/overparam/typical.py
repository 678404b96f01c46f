"""Claims about typical solutions, their barycentre, and infinite overparameterization (figures 2, 8 and 9)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from localentropy.analysis.thresholds import typical_line
from localentropy.claims.conditions import (
    Finding,
    above,
    all_of,
    at_least,
    at_most,
    below,
    falls,
    largest,
    numbers,
    require,
    rises,
    smallest,
)

ROUNDING = 1e-6
"""Relative distance within which two ends of lines are the same."""
CLOSE, ONE = 0.999, 0.99
"""Part of a capacity that is next to it, and an overlap that is next to one: chosen here, before the numbers."""


def largest_margin_grows(typical: pd.DataFrame) -> Finding:
    """κ_max increases with 1/α from 0 at the interpolation threshold."""
    rows = along(typical, "max")
    return all_of(
        below("κ_max at 1/α_c", rows["margin"].iloc[0], 1e-6),
        rises("κ_max", rows["margin"], along="1/α"),
        detail=f"κ_max = {rows['margin'].iloc[-1]:.4f} at 1/α = {rows.index[-1]:g}",
    )


def overlap_at_largest_margin(typical: pd.DataFrame) -> Finding:
    """Solutions of the largest margin still differ from each other."""
    q = along(typical, "max")["q"]
    return all_of(below("largest typical overlap q at κ_max", largest(q), 1.0), detail=f"smallest {q.min():.4f}")


def typical_error_falls(typical: pd.DataFrame) -> Finding:
    """The error of typical solutions at κ = 0 decreases with 1/α."""
    return _falls({"κ = 0": along(typical, "0.0")["error_typical"]})


def other_errors_fall(typical: pd.DataFrame) -> Finding:
    """The errors at fixed margins and at κ_max decrease too, and that of the barycentre at κ = 0."""
    curves = {f"κ = {name}": along(typical, name)["error_typical"] for name in _references(typical) if name != "0.0"}
    return _falls(curves | {"barycentre": along(typical, "0.0")["error_barycenter"]})


def barycentre_is_best(typical: pd.DataFrame, optimal_margin: pd.DataFrame) -> Finding:
    """The barycentre at its optimal margin errs less than typical solutions of any margin."""
    barycentre = _interpolated(optimal_margin.set_index("inv_alpha")["error_barycenter"].sort_index())
    references = _references(typical)
    require(
        len(references) > 2 and {"0.0", "max"} <= set(references),
        "lines of typical solutions of margin 0, of a fixed one above, and of the largest needed",
    )
    gaps, words = [], []
    for reference in references:
        curve = along(typical, reference)["error_typical"]
        gap = curve - barycentre(curve.index)
        gaps.append(smallest(gap))
        worse = gap.index[gap <= 0]
        words.append(
            f"κ = {reference}: {gaps[-1]:.4f}" + (f" (not from 1/α = {worse[0]:.3g} on)" if len(worse) else "")
        )
    return all_of(
        above("smallest ε(κ) − ε_B(κ_opt) over 1/α and margins", smallest(gaps), 0.0),
        detail=f"per margin {', '.join(words)}",
    )


def optimal_margin_has_an_onset(optimal_margin: pd.DataFrame, optimal_margin_onsets: pd.DataFrame) -> Finding:
    """The margin that minimises the barycentre's error is zero below some 1/α and positive above."""
    alpha_T = optimal_margin.attrs["parameters"]["at"]["alpha_T"]
    require(
        optimal_margin_onsets.attrs["parameters"]["ensemble"] == optimal_margin.attrs["parameters"]["ensemble"],
        "the line and its onsets are of different ensembles",
    )
    onsets = optimal_margin_onsets.set_index("alpha_T")["onset"]
    require(
        alpha_T in onsets.index and optimal_margin["inv_alpha"].max() >= onsets[alpha_T],
        f"the line at α_T = {alpha_T:g} ends before its onset, or the onset is not computed",
    )
    # If it is zero again, the first bound is above the second. If it is always or never positive, one is missing.
    positive = optimal_margin["kappa_opt"] > 0
    low, high = optimal_margin.loc[~positive, "inv_alpha"].max(), optimal_margin.loc[positive, "inv_alpha"].min()
    missing = np.sum(~np.isfinite([*onsets, *optimal_margin["kappa_opt"]]))
    return all_of(
        at_least("onset of a positive optimal margin in 1/α, from the last one without", onsets[alpha_T], low),
        at_most("the same onset, up to the first 1/α with a positive margin", onsets[alpha_T], high),
        at_most("values of α_T without an onset, and of 1/α without an optimal margin", missing, 0),
        detail="onsets " + ", ".join(f"{onset:.4f} at α_T = {at:g}" for at, onset in onsets.items()),
    )


def barycentre_curves_cross(typical: pd.DataFrame) -> Finding:
    """A margin worsens the barycentre at small 1/α and improves it at large."""
    zero = _interpolated(along(typical, "0.0")["error_barycenter"])
    fixed = [name for name in _references(typical) if name not in ("0.0", "max")]
    require(fixed, "no line at a fixed margin above 0")
    crossings, ends, changes = [], [], []
    for reference in fixed:
        curve = along(typical, reference)["error_barycenter"]
        # Linear interpolation: the first points of the curve may lie closer together than rounding.
        gap = (curve - zero(curve.index)).to_numpy()
        found = np.flatnonzero(np.sign(gap[1:]) != np.sign(gap[:-1]))
        ends.append((gap[0], gap[-1]))
        changes.append(len(found))
        if len(found):
            at, x = found[0], curve.index.to_numpy()
            crossings.append(float(x[at] + (x[at + 1] - x[at]) * gap[at] / (gap[at] - gap[at + 1])))
    first, last = zip(*ends, strict=True)
    return all_of(
        above("smallest 1/α where ε_B(κ) crosses ε_B(0)", min(crossings, default=np.nan), 0.0),
        above("smallest ε_B(κ) − ε_B(0) where solutions of a margin begin", smallest(first), 0.0),
        below("largest ε_B(κ) − ε_B(0) at the largest 1/α", largest(last), 0.0),
        at_most("most crossings of one margin", largest(changes), 1),
        detail=f"crossings at 1/α = {numbers(crossings)}",
    )


def overlap_vanishes(large_overparameterization: pd.DataFrame) -> Finding:
    """For 1/α → ∞ typical solutions are uncorrelated, and still know the teacher."""
    rows, farthest = large_overparameterization, _farthest(large_overparameterization)
    thousand = rows[np.isclose(rows["inv_alpha"], 1000.0)]
    require(len(thousand), "1/α = 10³ needed")
    return all_of(
        below("overlap q at 1/α = 10³, κ = 0", thousand.loc[thousand["margin"].idxmin(), "q"], 1e-3),
        below("largest overlap q at the largest 1/α", largest(farthest["q"]), 1e-5),
        above("smallest overlap r with the teacher", smallest(rows["r"]), 0.0),
        detail=f"q = {numbers(thousand['q'])} at κ = {numbers(thousand['margin'])}, 1/α = 10³",
    )


def error_has_a_plateau(large_overparameterization: pd.DataFrame) -> Finding:
    """For 1/α → ∞ the errors tend to those of the reduced problem, between 0 and that of guessing."""
    farthest = _farthest(large_overparameterization)
    limits = farthest[["limit_error_typical", "limit_error_barycenter"]].to_numpy()
    off = np.abs(farthest[["error_typical", "error_barycenter"]].to_numpy() - limits)
    typical, barycentre = (numbers(farthest[f"limit_error_{name}"]) for name in ("typical", "barycenter"))
    return all_of(
        below("largest difference of an error from its limit at the largest 1/α", largest(off.ravel()), 1e-5),
        above("smallest limit", smallest(limits.ravel()), 0.0),
        below("largest limit", largest(limits.ravel()), 0.5),
        detail=f"limits: typical {typical}, barycentre {barycentre} at κ = {numbers(farthest['margin'])}",
    )


def plateau_falls(overparameterized_limit: pd.DataFrame) -> Finding:
    """The error at 1/α → ∞ falls with α_T and with κ."""
    table = overparameterized_limit.pivot(index="alpha_T", columns="margin", values="error_typical").sort_index()
    require(0.0 in table.columns, "no margin zero")
    plateau = falls("plateau", *table.to_numpy(), *table.to_numpy().T, along="α_T or κ")
    at_three = float(_interpolated(table[0.0])(3.0))
    return all_of(
        plateau,
        detail=f"{at_three:.4f} at α_T = 3, κ = 0; {numbers(table.iloc[-1])} at α_T = {table.index[-1]:g}",
    )


def entropy_vanishes_at_capacity(typical: pd.DataFrame) -> Finding:
    """Where solutions of a margin begin their entropy is 0, and it is positive beyond."""
    lines = [along(typical, name)["entropy"] for name in _references(typical) if name != "max"]
    return all_of(
        below("largest |entropy| at 1/α_c(κ)", largest(abs(line.iloc[0]) for line in lines), 1e-6),
        above("smallest entropy beyond", smallest(smallest(line.iloc[1:]) for line in lines), 0.0),
        detail=f"{len(lines)} margins",
    )


def entropy_falls_with_margin(typical: pd.DataFrame) -> Finding:
    """The entropy decreases with κ, and grows with 1/α and with α_T."""
    conditions = []
    for axis, symbol in (("inv_alpha", "1/α"), ("alpha_T", "α_T")):
        margins = sorted((name for name in _references(typical, axis) if name != "max"), key=float)
        lines = {name: along(typical, name, axis)["entropy"] for name in margins}
        down = []
        for lower, higher in pairwise(margins):
            shared = lines[higher].index[1:]
            down.append(smallest(_interpolated(lines[lower])(shared) - lines[higher][shared]))
        conditions += [
            rises("entropy", *lines.values(), along=symbol),
            above(f"smallest fall of the entropy from one margin to the next, along {symbol}", smallest(down), 0.0),
        ]
    return all_of(*conditions)


def flat_solutions_are_rare(flat_solutions: pd.DataFrame) -> Finding:
    """The entropy of typical solutions of margin κ_u, the first flat ones, is positive and below that of all solutions.

    So they are fewer by a factor exp(−N (s(0) − s(κ_u))).
    """
    isolated, flat = (
        flat_solutions[chosen].set_index("inv_alpha")["entropy"].sort_index()
        for chosen in (flat_solutions["margin"] == 0.0, flat_solutions["margin"] > 0.0)
    )
    both = pd.DataFrame({"isolated": isolated, "flat": flat})
    require(both.notna().all(axis=None) and len(both), "both entropies at each 1/α needed")
    rarer = both["isolated"] - both["flat"]
    return all_of(
        above("smallest entropy of solutions of margin κ_u, over 1/α", smallest(both["flat"]), 0.0),
        above("smallest s(0) − s(κ_u), over 1/α", smallest(rarer), 0.0),
        detail=f"s(0) − s(κ_u) = {numbers(rarer, '.2g')} nats per weight at 1/α = {numbers(rarer.index, 'g')}",
    )


def flat_region_grows(flat_solutions: pd.DataFrame) -> Finding:
    """Solutions of margin κ_u, the first flat ones, grow in number and apart from each other with 1/α.

    They are the references from which the local entropy grows at all distances: they lie inside the connected region.
    """
    flat = flat_solutions[flat_solutions["margin"] > 0.0].set_index("inv_alpha").sort_index()
    require(len(flat) > 1, "flat solutions at two values of 1/α needed")
    apart = 0.5 * (1.0 - flat["q"])
    return all_of(
        rises("distance between two typical flat solutions", apart, along="1/α"),
        rises("entropy of flat solutions", flat["entropy"], along="1/α"),
        detail=f"distances {numbers(apart, '.3f')} at 1/α = {numbers(flat.index, 'g')}",
    )


def isolated_solutions_remain(large_overparameterization: pd.DataFrame) -> Finding:
    """Solutions without margin are exponentially many up to the largest 1/α, and generalize badly there.

    Badly: at least half as many errors more than their barycentre makes (chosen here, before the number was seen). That
    they are isolated is O15.
    """
    rows = large_overparameterization[large_overparameterization["margin"] == 0.0]
    farthest = _farthest(large_overparameterization)
    worse = farthest["error_typical"] / farthest["error_barycenter"]
    return all_of(
        above("smallest entropy of solutions without margin, over 1/α", smallest(rows["entropy"]), 0.0),
        above(
            "their error over that of their barycentre at the largest 1/α",
            worse[farthest["margin"] == 0.0].iloc[0],
            1.5,
        ),
        detail=f"entropy {numbers(rows['entropy'])} nats per weight at 1/α = {numbers(rows['inv_alpha'], 'g')}",
    )


def convex_solutions_shrink_to_a_point(convex_volume: pd.DataFrame, typical: pd.DataFrame) -> Finding:
    """Weights on a sphere: the overlap of solutions goes to 1 at the capacity. Binary ones keep their distance.

    The convex model is the perceptron that stores random patterns.
    """
    line = convex_volume[convex_volume["quantity"] == "volume"].set_index("alpha")["q"].sort_index()
    ends = convex_volume.loc[convex_volume["quantity"] == "capacity", "alpha"]
    require(len(ends) and len(line) > 1, "a line of the convex perceptron and its capacity needed")
    near = line.index[-1] / ends.iloc[0]
    require(near > CLOSE, f"a load nearer to the capacity than {CLOSE:g} of it needed, not {near:.4f}")
    binary = along(typical, "0.0")["q"].iloc[0]
    return all_of(
        rises("overlap of convex solutions", line, along="α"),
        above(f"overlap of convex solutions at {CLOSE:g} of the capacity or more", line.iloc[-1], ONE),
        below("overlap of binary solutions at their capacity", binary, ONE),
        detail=f"{line.iloc[-1]:.4f} at {near:.4f} of the capacity, {ends.iloc[0]:.4g}; binary {binary:.4f}",
    )


def along(typical: pd.DataFrame, reference: str, line: str = "inv_alpha") -> pd.DataFrame:
    """One line of the table of typical solutions, indexed and sorted by its abscissa.

    Raises:
        Untestable: it is not in the table, or has one point only.
    """
    rows = typical_line(typical, reference, line)
    require(len(rows) > 1, f"no line of typical solutions of margin {reference} along {line}")
    return rows.set_index(line, drop=False)


def _farthest(large_overparameterization: pd.DataFrame) -> pd.DataFrame:
    """The rows of the largest 1/α.

    Raises:
        Untestable: it is below 10⁶.
    """
    inv_alpha = large_overparameterization["inv_alpha"]
    require(inv_alpha.max() >= 1e6, "a value of 1/α from 10⁶ on needed")
    return large_overparameterization[inv_alpha == inv_alpha.max()]


def _references(typical: pd.DataFrame, line: str = "inv_alpha") -> list[str]:
    """The margins of the lines along one axis, as in the table."""
    points = typical.loc[typical["line"] == line, "reference"].value_counts(sort=False)
    return list(points.index[points > 1])


def _interpolated(curve: pd.Series) -> Callable[[ArrayLike], np.ndarray]:
    """The curve between its points. Outside their range, by more than rounding, the claim is untestable."""
    require(curve.notna().all(), f"{curve.name} is missing at {numbers(curve.index[curve.isna()])}")
    known = curve.index.to_numpy(dtype=float)
    spline = PchipInterpolator(known, curve.to_numpy())

    def value(at: ArrayLike) -> np.ndarray:
        x = np.asarray(at, dtype=float)
        inside = np.clip(x, known[0], known[-1])
        within = np.allclose(x, inside, rtol=ROUNDING, atol=0.0)
        require(within, f"{curve.name} is known from {known[0]:g} to {known[-1]:g} only")
        return spline(inside)

    return value


def _falls(curves: dict[str, pd.Series]) -> Finding:
    detail = ", ".join(f"{name}: from {c.iloc[0]:.4f} to {c.iloc[-1]:.4f}" for name, c in curves.items())
    return all_of(falls("error", *curves.values(), along="1/α"), detail=detail)
