"""Claims about the tree committee machine with continuous weights (figure 5)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.runs import on_each_set, over_sets, solved_by_all, solved_fractions
from localentropy.analysis.thresholds import first_solved
from localentropy.claims.conditions import (
    FEWEST,
    Condition,
    Finding,
    Mean,
    Untestable,
    above,
    all_of,
    at_least,
    at_most,
    below,
    larger,
    largest,
    numbers,
    require,
    trend,
)
from localentropy.claims.overparam.trained_networks import COMPARED_AT, energy, profiles

SHORT = 0.01
"""Distance per unit at which minima are flat."""
LITTLE = 2e-3
"""Largest train error of a flat minimum there."""
SLIGHTLY = 0.25
"""Relative difference of two test errors below which one is only slightly worse."""


def both_fail_below_one_threshold(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """Below one N/P neither algorithm solves; their thresholds lie within one step of the grid."""
    solved = [_solved(table) for table in (committee_focusing_bp, committee_sgd)]
    grid = sorted(set(solved[0].index) & set(solved[1].index))
    require(grid, "no N/P at which both ran")
    solved = [fractions.loc[grid] for fractions in solved]
    halves = [first_solved(fractions, 0.5) for fractions in solved]
    if None in halves or grid[0] in halves:
        raise Untestable(f"half solved from N/P = {halves} on; the grid starts at {grid[0]:.2f}")
    told = "; ".join(
        f"{name}: {numbers(fractions, '.2f')}" for name, fractions in zip(("fBP", "SGD"), solved, strict=True)
    )
    return all_of(
        at_most(
            "grid steps between the first N/P where half of the runs solve (fBP, SGD)",
            abs(grid.index(halves[0]) - grid.index(halves[1])),
            1.0,
        ),
        at_most("largest fraction solved at the smallest N/P", largest(each.iloc[0] for each in solved), 0.0),
        detail=f"fraction solved at N/P = {numbers(grid, '.2f')}: {told}",
    )


def solutions_stay_apart(committee_sgd: pd.DataFrame) -> Finding:
    """The overlap of SGD's solutions grows as N/P falls, and stays well below 1 at the threshold.

    It grows if it does so on all training sets together, as a trend over all N/P; and over the half of them next to
    the threshold, where it may level off, it does not fall again.
    """
    overlaps = on_each_set(committee_sgd[committee_sgd["quantity"] == "overlap"])
    points = over_sets(overlaps)
    first = first_solved(_solved(committee_sgd), 0.5)
    points = points[points["samples"] >= 3]
    enough = first is not None and len(points) > 3 and first in points.index
    require(enough, "fewer than four values of N/P with pairs of solutions")
    at = points.loc[first]
    return all_of(
        below("overlap at the smallest N/P where half of the runs solve", at["y"], 0.9, at["y_err"], by=3.0),
        below("slope of the overlap in ln N/P, in SE over training sets", _slope(overlaps, points.index), -3.0),
        below(
            "the same over the half of N/P next to the threshold",
            _slope(overlaps, points.index[: (len(points) + 1) // 2]),
            2.0,
        ),
        detail=f"{numbers(points['y'], '.3f')} at N/P = {numbers(points.index, '.2f')}; threshold {first:.2f}",
    )


def focusing_generalises_better(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """Test errors fall monotonically with N/P; SGD's are slightly larger."""
    tables = committee_focusing_bp, committee_sgd
    errors = [on_each_set(_of_solutions(table, "test_error")) for table in tables]
    both = solved_by_all(_solved(table) for table in tables)
    used = both[both >= 0.9].index
    gap = (errors[1] - errors[0]).dropna()
    gap = gap[gap.index.isin(used, level="inv_alpha")]
    sets = len(used) > 1 and gap.groupby("inv_alpha").size().reindex(used, fill_value=0).min() >= FEWEST
    require(sets, f"fewer than two N/P where both solve, or fewer than {FEWEST} training sets")
    # A training set has a number at each N/P. They count as one measurement, so the average over N/P comes first.
    each = gap.groupby("sample").mean()
    relative = gap.groupby("inv_alpha").mean() / errors[0].groupby("inv_alpha").mean().loc[used]
    return all_of(
        above(
            "ε_SGD − ε_fBP on the same training sets, mean over N/P where both solve, in SE",
            each.mean() / each.sem(),
            2.0,
        ),
        at_least(f"part of these N/P where it is less than {SLIGHTLY} ε_fBP", (relative < SLIGHTLY).mean(), 0.5),
        *_falls(errors[0].loc[used], "fBP"),
        *_falls(errors[1].loc[used], "SGD"),
        detail=f"mean {each.mean():.4f} ± {each.sem():.4f}; {numbers(relative, '.3f')} of ε_fBP at N/P = "
        f"{numbers(used, '.2f')}",
    )


def profiles_are_flat(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """Minima are flat at short distance, sharper near the threshold, and fBP's flatter than SGD's."""
    tables = {"fBP": committee_focusing_bp, "SGD": committee_sgd}
    both = solved_by_all(_solved(table) for table in tables.values())
    near, far = first_solved(both), float(both.index.max())
    if near is None or near == far:
        raise Untestable("no two values of N/P at which all runs of both solve")
    energies, little = {}, {}
    for name, table in tables.items():
        for place, inv_alpha in (("near", near), ("far", far)):
            found = profiles(table[table["inv_alpha"] == inv_alpha])
            energies[name, place] = energy(found)
            little[name, place] = energy(found, SHORT).value

    def higher(which: str, sharp: tuple[str, str], flat: tuple[str, str]) -> Condition:
        return larger(f"z of E({COMPARED_AT}) {which}", energies[sharp], energies[flat], or_open=True)

    words = (f"{' '.join(key)} {energies[key]:.4f}, E({SHORT}) = {little[key]:.2g}" for key in energies)
    return all_of(
        below(f"largest E({SHORT})", largest(little.values()), LITTLE),
        *(higher(f"of {name}, near minus far", (name, "near"), (name, "far")) for name in tables),
        *(higher(f"of SGD minus fBP, {place}", ("SGD", place), ("fBP", place)) for place in ("near", "far")),
        detail=f"{'; '.join(words)} (near: N/P = {near:.2f}, far: {far:.2f})",
    )


def energies_at_the_largest_load(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> dict[str, Mean]:
    """Local energy of the solutions of each algorithm at the largest N/P.

    Raises:
        Untestable: not all runs of both solve there.
    """
    tables = {"fBP": committee_focusing_bp, "SGD": committee_sgd}
    both = solved_by_all(_solved(table) for table in tables.values())
    far = both.index.max()
    require(both[far] == 1.0, f"not all runs of both solve at the largest N/P, {far:.2f}")
    return {name: energy(profiles(table[table["inv_alpha"] == far])) for name, table in tables.items()}


def inputs_exceed_the_latent_dimension(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """At the threshold committees have more inputs than latent dimensions.

    N/D = α_T N/P, so the claim depends on α_T, which is chosen here. The grid must reach down to N = D, for the claim
    could not fail else. The text says of all networks that they need more parameters than inputs. For convolutional
    ones see `cnn.parameters_exceed_the_inputs`. A multi-layer perceptron with ten inputs has more than ten parameters
    at any width, so nothing is asked of it.
    """
    conditions, starts = [], []
    for name, table in (("fBP", committee_focusing_bp), ("SGD", committee_sgd)):
        solved = _solved(table)
        first = first_solved(solved, 0.5)
        if first is None:
            raise Untestable("no N/P where half of the runs solve")
        sizes = table.groupby("inv_alpha")[["N", "D"]].first()
        ratio = sizes["N"] / sizes["D"]
        least = float(ratio.iloc[0])
        require(least <= 1.0, f"the smallest N/D is {least:.2f}, above 1 already, {name}")
        conditions.append(above(f"N/D of the committee at its threshold, {name}", ratio[first], 1.0))
        starts.append(least)
    alpha_T = committee_sgd["P"].iloc[0] / committee_sgd["D"].iloc[0]
    return all_of(
        *conditions, detail=f"α_T = {alpha_T:g} is chosen here; the grids start at N/D = {numbers(starts, '.2f')}"
    )


def _solved(table: pd.DataFrame) -> pd.Series:
    """Fraction of the runs solved, by N/P.

    Raises:
        Untestable: fewer than `FEWEST` runs at some N/P.
    """
    fewest = table[table["quantity"] == "solved"].groupby("inv_alpha").size().min()
    require(fewest >= FEWEST, f"fewer than {FEWEST} runs at some N/P")
    return solved_fractions(table)


def _of_solutions(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Rows of a quantity in the runs that solved."""
    run = ["inv_alpha", "sample", "start"]
    solved = table.loc[(table["quantity"] == "solved") & (table["value"] == 1.0), run]
    return table[table["quantity"] == quantity].merge(solved, on=run)


def _slope(each: pd.Series, places: pd.Index) -> float:
    """Mean over training sets of the slope in ln N/P, in standard errors.

    Args:
        each: a number at each N/P and training set.
        places: N/P that are used.

    Raises:
        Untestable: fewer than `FEWEST` training sets have numbers at two of them, or a number is missing.
    """
    table = each.unstack("sample").reindex(places)
    require(each.notna().all(), "a number is missing")
    x = np.log(table.index.to_numpy())
    slopes = np.array(
        [np.polyfit(x[known], y[known], 1)[0] for y in table.to_numpy().T if (known := np.isfinite(y)).sum() > 1]
    )
    require(len(slopes) >= FEWEST, f"fewer than {FEWEST} training sets with numbers at two N/P")
    return float(slopes.mean() / (slopes.std(ddof=1) / np.sqrt(len(slopes))))


def _falls(each: pd.Series, name: str) -> tuple[Condition, ...]:
    """The mean over training sets does not rise along N/P, and falls from first to last."""
    means, errors, _ = over_sets(each).to_numpy().T
    return trend(f"error of {name}", means, errors, along="N/P")
