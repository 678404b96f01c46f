"""Claims about typical solutions, their barycentre, and infinite overparameterization (figures 2, 8 and 9)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from localentropy.analysis.typical_lines import typical_line
from localentropy.claims.finding import Bounds, Finding, Untestable, largest, numbers, smallest

ROUNDING = 1e-6
"""Relative distance within which two ends of lines are the same."""


def largest_margin_grows(typical: pd.DataFrame) -> Finding:
    """κ_max increases with 1/α from 0 at the interpolation threshold."""
    rows = along(typical, "max")
    first, step = float(rows["margin"].iloc[0]), smallest(np.diff(rows["margin"]))
    detail = f"smallest step {step:.3g}; κ_max = {rows['margin'].iloc[-1]:.4f} at 1/α = {rows.index[-1]:g}"
    holds = first < 1e-6 and step > 0
    return Finding.of_theory("κ_max at 1/α_c, < 1e-6, and growing", first, holds, detail, Bounds(upper=1e-6))


def overlap_at_largest_margin(typical: pd.DataFrame) -> Finding:
    """Solutions of the largest margin still differ from each other."""
    q = along(typical, "max")["q"]
    return Finding.of_theory(
        "largest typical overlap q at κ_max, < 1",
        largest(q),
        largest(q) < 1,
        f"smallest {q.min():.4f}",
        Bounds(upper=1.0),
    )


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
    if len(references) < 3 or not {"0.0", "max"} <= set(references):
        raise Untestable("lines of typical solutions of margin 0, of a fixed one above, and of the largest needed")
    gaps, words = [], []
    for reference in references:
        curve = along(typical, reference)["error_typical"]
        gap = curve - barycentre(curve.index)
        gaps.append(smallest(gap))
        worse = gap.index[gap <= 0]
        words.append(
            f"κ = {reference}: {gaps[-1]:.4f}" + (f" (not from 1/α = {worse[0]:.3g} on)" if len(worse) else "")
        )
    least = smallest(gaps)
    detail = f"per margin {', '.join(words)}"
    quantity = "smallest ε(κ) − ε_B(κ_opt) over 1/α and margins, > 0"
    return Finding.of_theory(quantity, least, least > 0, detail, Bounds(lower=0.0))


def optimal_margin_has_an_onset(optimal_margin: pd.DataFrame, optimal_margin_onsets: pd.DataFrame) -> Finding:
    """The margin that minimises the barycentre's error is zero below some 1/α and positive above."""
    alpha_T = optimal_margin.attrs["parameters"]["alpha_T"]
    if optimal_margin_onsets.attrs["parameters"]["ensemble"] != optimal_margin.attrs["parameters"]["ensemble"]:
        raise Untestable("the line and its onsets are of different ensembles")
    onsets = optimal_margin_onsets.set_index("alpha_T")["onset"]
    if alpha_T not in onsets.index or optimal_margin["inv_alpha"].max() < onsets[alpha_T]:
        raise Untestable(f"the line at α_T = {alpha_T:g} ends before its onset, or the onset is not computed")
    # If it is zero again, low is above high. If it is always or never positive, one of them is missing.
    positive = optimal_margin["kappa_opt"] > 0
    low, high = optimal_margin.loc[~positive, "inv_alpha"].max(), optimal_margin.loc[positive, "inv_alpha"].min()
    once = low <= onsets[alpha_T] <= high
    detail = f"κ_opt turns positive between 1/α = {low:.3f} and {high:.3f}; onsets " + ", ".join(
        f"{onset:.4f} at α_T = {at:g}" for at, onset in onsets.items()
    )
    holds = bool(once and np.isfinite(onsets).all() and np.isfinite(optimal_margin["kappa_opt"]).all())
    return Finding.of_theory(
        "onset of a positive optimal margin, 1/α, once and at every α_T", onsets[alpha_T], holds, detail
    )


def barycentre_curves_cross(typical: pd.DataFrame) -> Finding:
    """A margin worsens the barycentre at small 1/α and improves it at large."""
    zero = _interpolated(along(typical, "0.0")["error_barycenter"])
    crossings, right = [], True
    fixed = [name for name in _references(typical) if name not in ("0.0", "max")]
    for reference in fixed:
        curve = along(typical, reference)["error_barycenter"]
        # Linear interpolation: the first points of the curve may lie closer together than rounding.
        gap = (curve - zero(curve.index)).to_numpy()
        changes = np.flatnonzero(np.sign(gap[1:]) != np.sign(gap[:-1]))
        right &= len(changes) == 1 and gap[0] > 0 > gap[-1]
        if len(changes):
            at, x = changes[0], curve.index.to_numpy()
            crossings.append(float(x[at] + (x[at + 1] - x[at]) * gap[at] / (gap[at] - gap[at + 1])))
    detail = f"crossings at 1/α = {numbers(crossings)}"
    quantity = "smallest 1/α where ε_B(κ) crosses ε_B(0), once for each κ"
    if not fixed:
        raise Untestable("no line at a fixed margin above 0")
    return Finding.of_theory(quantity, min(crossings, default=np.nan), right, detail)


def overlap_vanishes(large_overparameterization: pd.DataFrame) -> Finding:
    """For 1/α → ∞ typical solutions are uncorrelated, and still know the teacher."""
    rows, farthest = large_overparameterization, _farthest(large_overparameterization)
    thousand = rows[np.isclose(rows["inv_alpha"], 1000.0)]
    if thousand.empty:
        raise Untestable("1/α = 10³ needed")
    q = float(thousand.loc[thousand["margin"].idxmin(), "q"])
    holds = bool(q < 1e-3 and largest(farthest["q"]) < 1e-5 and smallest(rows["r"]) > 0)
    detail = (
        f"{numbers(thousand['q'])} at κ = {numbers(thousand['margin'])}, r at least {rows['r'].min():.4f}; at 1/α = "
        f"{rows['inv_alpha'].max():g} q is {largest(farthest['q']):.1e} at most (< 1e-5)"
    )
    quantity = "overlap q at 1/α = 10³, κ = 0, < 10⁻³, with r > 0"
    return Finding.of_theory(quantity, q, holds, detail, Bounds(upper=1e-3))


def error_has_a_plateau(large_overparameterization: pd.DataFrame) -> Finding:
    """For 1/α → ∞ the errors tend to those of the reduced problem, between 0 and that of guessing."""
    farthest = _farthest(large_overparameterization)
    limits = farthest[["limit_typical", "limit_barycenter"]].to_numpy()
    off = largest(np.abs(farthest[["error_typical", "error_barycenter"]].to_numpy() - limits).ravel())
    inside = bool(((limits > 0) & (limits < 0.5)).all())
    detail = (
        f"at 1/α = {farthest['inv_alpha'].iloc[0]:g}; limits of typical solutions "
        f"{numbers(farthest['limit_typical'])}, of the barycentre {numbers(farthest['limit_barycenter'])} at "
        f"κ = {numbers(farthest['margin'])}"
    )
    quantity = "largest difference of an error from its limit at the largest 1/α, < 1e-5; limits in (0, 1/2)"
    return Finding.of_theory(quantity, off, off < 1e-5 and inside, detail, Bounds(upper=1e-5))


def plateau_falls(overparameterized_limit: pd.DataFrame) -> Finding:
    """The error at 1/α → ∞ falls with α_T and with κ."""
    table = overparameterized_limit.pivot(index="alpha_T", columns="margin", values="error_typical").sort_index()
    steps = largest(np.concatenate([np.diff(table.to_numpy(), axis=axis).ravel() for axis in (0, 1)]))
    if 0.0 not in table.columns:
        raise Untestable("no margin zero")
    at_three = float(_interpolated(table[0.0])(3.0))
    detail = f"{at_three:.4f} at α_T = 3, κ = 0; {numbers(table.iloc[-1])} at α_T = {table.index[-1]:g}"
    quantity = "largest step of the plateau along α_T or κ, < 0"
    return Finding.of_theory(quantity, steps, steps < 0, detail, Bounds(upper=0.0))


def entropy_vanishes_at_capacity(typical: pd.DataFrame) -> Finding:
    """Where solutions of a margin begin their entropy is 0, and it is positive beyond."""
    ends, least = [], []
    for name in _references(typical):
        if name != "max":
            line = along(typical, name)["entropy"]
            ends.append(float(abs(line.iloc[0])))
            least.append(smallest(line.iloc[1:]))
    root, beyond = largest(ends), smallest(least)
    detail = f"{len(ends)} margins; smallest entropy beyond {beyond:.2e}"
    quantity = "largest |entropy| at 1/α_c(κ), < 1e-6, and > 0 beyond"
    return Finding.of_theory(quantity, root, root < 1e-6 and beyond > 0, detail, Bounds(upper=1e-6))


def entropy_falls_with_margin(typical: pd.DataFrame) -> Finding:
    """The entropy decreases with κ, and grows with 1/α and with α_T."""
    steps, words = [], []
    for axis in ("inv_alpha", "alpha_T"):
        margins = sorted((name for name in _references(typical, axis) if name != "max"), key=float)
        lines = {name: along(typical, name, axis)["entropy"] for name in margins}
        grows = [smallest(np.diff(line)) for line in lines.values()]
        falls = []
        for lower, higher in pairwise(margins):
            shared = lines[higher].index[1:]
            falls.append(smallest(_interpolated(lines[lower])(shared) - lines[higher][shared]))
        steps += [*grows, *falls]
        words.append(f"along {axis} {smallest(grows):.2g}, between margins {smallest(falls):.2g}")
    least = smallest(steps)
    quantity = "smallest step of the entropy along 1/α and α_T, and down from one margin to the next, > 0"
    return Finding.of_theory(quantity, least, least > 0, "; ".join(words), Bounds(lower=0.0))


def along(typical: pd.DataFrame, reference: str, line: str = "inv_alpha") -> pd.DataFrame:
    """One line of the table of typical solutions, indexed and sorted by its abscissa.

    Raises:
        Untestable: it is not in the table, or has one point only.
    """
    rows = typical_line(typical, reference, line)
    if len(rows) < 2:
        raise Untestable(f"no line of typical solutions of margin {reference} along {line}")
    return rows.set_index(line, drop=False)


def _farthest(large_overparameterization: pd.DataFrame) -> pd.DataFrame:
    """The rows of the largest 1/α.

    Raises:
        Untestable: it is below 10⁶.
    """
    inv_alpha = large_overparameterization["inv_alpha"]
    if inv_alpha.max() < 1e6:
        raise Untestable("a value of 1/α from 10⁶ on needed")
    return large_overparameterization[inv_alpha == inv_alpha.max()]


def _references(typical: pd.DataFrame, line: str = "inv_alpha") -> list[str]:
    """The margins of the lines along one axis, as in the table."""
    points = typical.loc[typical["line"] == line, "reference"].value_counts(sort=False)
    return list(points.index[points > 1])


def _interpolated(curve: pd.Series) -> Callable[[ArrayLike], np.ndarray]:
    """The curve between its points. Outside their range, by more than rounding, the claim is untestable."""
    if curve.isna().any():
        raise Untestable(f"{curve.name} is missing at {numbers(curve.index[curve.isna()])}")
    known = curve.index.to_numpy(dtype=float)
    spline = PchipInterpolator(known, curve.to_numpy())

    def value(at: ArrayLike) -> np.ndarray:
        x = np.asarray(at, dtype=float)
        inside = np.clip(x, known[0], known[-1])
        if not np.allclose(x, inside, rtol=ROUNDING, atol=0.0):
            raise Untestable(f"{curve.name} is known from {known[0]:g} to {known[-1]:g} only")
        return spline(inside)

    return value


def _falls(curves: dict[str, pd.Series]) -> Finding:
    step = largest(largest(np.diff(curve)) for curve in curves.values())
    detail = ", ".join(f"{name}: from {c.iloc[0]:.4f} to {c.iloc[-1]:.4f}" for name, c in curves.items())
    return Finding.of_theory("largest step of the error along 1/α, < 0", step, step < 0, detail, Bounds(upper=0.0))
