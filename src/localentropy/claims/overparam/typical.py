"""Claims about typical solutions, their barycentre, and infinite overparameterization (figures 2, 8 and 9)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator

from localentropy.claims.finding import Finding, Untestable, largest, numbers, smallest

ROUNDING = 1e-6
"""Relative distance within which two ends of lines are the same."""


def largest_margin_grows(typical: pd.DataFrame) -> Finding:
    """κ_max increases with 1/α from 0 at the interpolation threshold."""
    rows = along(typical, "max")
    first, step = float(rows["margin"].iloc[0]), smallest(np.diff(rows["margin"]))
    detail = f"smallest step {step:.3g}; κ_max = {rows['margin'].iloc[-1]:.4f} at 1/α = {rows.index[-1]:g}"
    return Finding.of_theory("κ_max at 1/α_c, < 1e-6, and growing", first, first < 1e-6 and step > 0, detail)


def overlap_at_largest_margin(typical: pd.DataFrame) -> Finding:
    """Solutions of the largest margin still differ from each other."""
    q = along(typical, "max")["q"]
    return Finding.of_theory(
        "largest typical overlap q at κ_max, all in (0.5, 0.95)",
        largest(q),
        bool(q.between(0.5, 0.95).all()),
        f"smallest {q.min():.4f}",
    )


def typical_error_falls(typical: pd.DataFrame) -> Finding:
    """The error of typical solutions at κ = 0 decreases with 1/α."""
    return _falls({"κ = 0": along(typical, "0.0")["error_typical"]})


def other_errors_fall(typical: pd.DataFrame) -> Finding:
    """The errors at fixed margins and at κ_max decrease too, and that of the barycentre at κ = 0."""
    curves = {f"κ = {name}": along(typical, name)["error_typical"] for name in _references(typical) if name != "0.0"}
    return _falls(curves | {"barycentre": along(typical, "0.0")["error_barycenter"]})


def barycentre_is_best(typical: pd.DataFrame) -> Finding:
    """The barycentre at κ = 0 errs less than typical solutions of any margin."""
    barycentre = _interpolated(along(typical, "0.0")["error_barycenter"])
    gaps, words = [], []
    for reference in _references(typical):
        curve = along(typical, reference)["error_typical"]
        gap = curve - barycentre(curve.index)
        gaps.append(smallest(gap))
        worse = gap.index[gap <= 0]
        words.append(
            f"κ = {reference}: {gaps[-1]:.4f}" + (f" (not from 1/α = {worse[0]:.3g} on)" if len(worse) else "")
        )
    least = smallest(gaps)
    detail = f"per margin {', '.join(words)}"
    return Finding.of_theory("smallest ε(κ) − ε_B(0) over 1/α and margins, > 0", least, least > 0, detail)


def optimal_margin_has_an_onset(optimal_margin: pd.DataFrame, optimal_margin_onsets: pd.DataFrame) -> Finding:
    """The margin that minimises the barycentre's error is zero below some 1/α and positive above."""
    rows = optimal_margin.sort_values("inv_alpha")
    positive = rows["kappa_opt"].to_numpy() > 0
    first = int(positive.argmax())
    once = not positive[:first].any() and positive[first:].all() and first > 0
    alpha_T = optimal_margin.attrs["parameters"]["alpha_T"]
    onsets = optimal_margin_onsets.set_index("alpha_T")["onset"]
    if alpha_T not in onsets.index or rows["inv_alpha"].max() < onsets[alpha_T]:
        raise Untestable(f"the line at α_T = {alpha_T:g} ends before its onset, or the onset is not computed")
    low, high = rows["inv_alpha"].iloc[first - 1], rows["inv_alpha"].iloc[first]
    between = bool(low <= onsets[alpha_T] <= high)
    detail = f"κ_opt turns positive between 1/α = {low:.3f} and {high:.3f}; onsets " + ", ".join(
        f"{onset:.4f} at α_T = {at:g}" for at, onset in onsets.items()
    )
    holds = bool(once and between and np.isfinite(onsets).all() and np.isfinite(rows["kappa_opt"]).all())
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
    rows = large_overparameterization
    thousand = rows[np.isclose(rows["inv_alpha"], 1000.0)]
    farthest = rows[rows["inv_alpha"] == rows["inv_alpha"].max()]
    if thousand.empty or not farthest["inv_alpha"].min() >= 1e6:
        raise Untestable("1/α = 10³ and a value from 10⁶ on needed")
    errors, limits = ["error_typical", "error_barycenter"], ["limit_typical", "limit_barycenter"]
    off = float(np.abs(farthest[errors].to_numpy() - farthest[limits].to_numpy()).max())
    q = float(thousand.loc[thousand["margin"].idxmin(), "q"])
    holds = bool(q < 1e-3 and largest(farthest["q"]) < 1e-5 and smallest(rows["r"]) > 0.5 and off < 1e-5)
    detail = (
        f"{numbers(thousand['q'])} at κ = {numbers(thousand['margin'])}, r at least {rows['r'].min():.4f}; at 1/α = "
        f"{rows['inv_alpha'].max():g} q is {largest(farthest['q']):.1e} at most (< 1e-5), and errors differ from the "
        f"reduced problem's by {off:.1e} at most (< 1e-5)"
    )
    return Finding.of_theory("overlap q at 1/α = 10³, κ = 0, < 10⁻³, with r > 0.5", q, holds, detail)


def plateau_falls(overparameterized_limit: pd.DataFrame) -> Finding:
    """The error at 1/α → ∞ is finite and falls with α_T and with κ."""
    table = overparameterized_limit.pivot(index="alpha_T", columns="margin", values="error_typical").sort_index()
    steps = largest(np.concatenate([np.diff(table.to_numpy(), axis=axis).ravel() for axis in (0, 1)]))
    if 0.0 not in table.columns:
        raise Untestable("no margin zero")
    value = float(_interpolated(table[0.0])(3.0))
    detail = f"largest step along α_T or κ {steps:.2e}; {numbers(table.iloc[-1])} at α_T = {table.index[-1]:g}"
    return Finding.of_theory(
        "plateau at α_T = 3, κ = 0; all steps < 0", value, bool(steps < 0 and 0 < value < 0.5), detail
    )


def entropy_falls_with_margin(typical: pd.DataFrame) -> Finding:
    """The entropy decreases with κ, grows with 1/α and with α_T, and vanishes at α_c(κ)."""
    problems, roots = [], []
    for axis in ("inv_alpha", "alpha_T"):
        margins = [name for name in _references(typical, axis) if name != "max"]
        lines = {m: along(typical, m, axis)["entropy"] for m in margins}
        for name, line in lines.items():
            if not smallest(np.diff(line)) > 0:
                problems.append(f"κ = {name} along {axis}")
            if axis == "inv_alpha":
                roots.append(float(abs(line.iloc[0])))
        ordered = sorted(lines, key=float)
        for lower, higher in pairwise(ordered):
            shared = lines[higher].index[1:]
            if not largest(lines[higher][shared] - _interpolated(lines[lower])(shared)) < 0:
                problems.append(f"κ = {higher} not below κ = {lower} along {axis}")
    detail = f"monotone on every line but {'; '.join(problems)}" if problems else "monotone on every line"
    root = largest(roots)
    return Finding.of_theory("largest |entropy| at 1/α_c(κ), < 1e-6", root, root < 1e-6 and not problems, detail)


def along(typical: pd.DataFrame, reference: str, line: str = "inv_alpha") -> pd.DataFrame:
    """One line of the table of typical solutions, indexed and sorted by its abscissa.

    Raises:
        Untestable: it is not in the table, or has one point only.
    """
    rows = typical[(typical["line"] == line) & (typical["reference"] == reference)]
    if len(rows) < 2:
        raise Untestable(f"no line of typical solutions of margin {reference} along {line}")
    return rows.set_index(line, drop=False).sort_index()


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
    return Finding.of_theory("largest step of the error along 1/α, < 0", step, step < 0, detail)
