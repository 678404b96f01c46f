"""Claims about the tree committee machine with continuous weights (figure 5)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.thresholds import first_solved
from localentropy.analysis.training_sets import on_each_set, over_sets, solved_by_all, solved_fractions
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, largest, largest_rise, numbers
from localentropy.claims.overparam.mlp import threshold_parameters
from localentropy.claims.overparam.trained_networks import COMPARED_AT, energy, profiles
from localentropy.data.mnist_parity import COMPONENTS

SHORT = 0.01
"""Distance per unit at which minima are flat."""
LITTLE = 2e-3
"""Largest train error of a flat minimum there."""
SLIGHTLY = 0.25
"""Relative difference of two test errors below which one is only slightly worse."""


def both_fail_below_one_threshold(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """Below one N/P neither algorithm solves; their thresholds lie within one step of the grid."""
    quantity = (
        "grid steps between the first N/P where half of the runs solve (fBP, SGD), ≤ 1; none solve at the smallest"
    )
    solved = [_solved(table) for table in (committee_focusing_bp, committee_sgd)]
    grid = sorted(set(solved[0].index) & set(solved[1].index))
    solved = [fractions.loc[grid] for fractions in solved]
    if not grid:
        raise Untestable("no N/P at which both ran")
    halves = [first_solved(fractions, 0.5) for fractions in solved]
    if None in halves or any(half == grid[0] for half in halves):
        return Finding.untestable(quantity, f"half solved from N/P = {halves} on; the grid starts at {grid[0]:.2f}")
    apart = abs(grid.index(halves[0]) - grid.index(halves[1]))
    empty = all(fractions.iloc[0] == 0.0 for fractions in solved)
    detail = "; ".join(
        f"{name}: {numbers(fractions, '.2f')}" for name, fractions in zip(("fBP", "SGD"), solved, strict=True)
    )
    detail = f"fraction solved at N/P = {numbers(grid, '.2f')}: {detail}"
    return Finding(quantity, float(apart), bool(apart <= 1 and empty), detail, bounds=Bounds(upper=1.0))


def solutions_stay_apart(committee_sgd: pd.DataFrame) -> Finding:
    """The overlap of SGD's solutions grows as N/P falls, and stays well below 1 at the threshold."""
    quantity = "overlap + 3 SE at the smallest N/P where half of the runs solve, < 0.9; falling with N/P"
    points = over_sets(on_each_set(committee_sgd[committee_sgd["quantity"] == "overlap"]))
    first = first_solved(_solved(committee_sgd), 0.5)
    points = points[points["samples"] >= 3]
    if first is None or len(points) < 3 or first not in points.index:
        return Finding.untestable(quantity, "fewer than three values of N/P with pairs of solutions")
    at = points.loc[first]
    rise = largest_rise(points["y"].to_numpy(), points["y_err"].to_numpy())
    fell = bool(points["y"].iloc[0] > points["y"].iloc[-1] and rise < 2)
    top = float(at["y"] + 3 * at["y_err"])
    detail = f"{numbers(points['y'], '.3f')} at N/P = {numbers(points.index, '.2f')}; threshold {first:.2f}"
    bounds = Bounds(upper=0.9)
    return Finding(quantity, float(at["y"]), top < 0.9 and fell, detail, float(at["y_err"]), bounds)


def focusing_generalises_better(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """Test errors fall monotonically with N/P; SGD's are slightly larger."""
    quantity = (
        "ε_SGD − ε_fBP on the same training sets in standard errors, averaged over N/P where both solve, > 2; less "
        f"than {SLIGHTLY} ε_fBP at half of these N/P at least; both falling"
    )
    tables = committee_focusing_bp, committee_sgd
    errors = [on_each_set(_of_solutions(table, "test_error")) for table in tables]
    both = solved_by_all(_solved(table) for table in tables)
    used = both[both >= 0.9].index
    gap = (errors[1] - errors[0]).dropna()
    gap = gap[gap.index.isin(used, level="inv_alpha")]
    if len(used) < 2 or gap.groupby("inv_alpha").size().reindex(used, fill_value=0).min() < FEWEST:
        return Finding.untestable(
            quantity, f"fewer than two N/P where both solve, or fewer than {FEWEST} training sets"
        )
    # A training set has a number at each N/P. They count as one measurement, so the average over N/P comes first.
    each = gap.groupby("sample").mean()
    z = float(each.mean() / each.sem())
    relative = gap.groupby("inv_alpha").mean() / errors[0].groupby("inv_alpha").mean().loc[used]
    slight = float((relative < SLIGHTLY).mean())
    rises, falls = zip(*(_rise_and_fall(each.loc[used]) for each in errors), strict=True)
    detail = (
        f"mean {each.mean():.4f} ± {each.sem():.4f}; {numbers(relative, '.3f')} of ε_fBP at N/P = "
        f"{numbers(used, '.2f')}; largest rise of an error {largest(rises):+.1f} SE (< 2), of all steps together "
        f"{largest(falls):+.1f} SE (< −2)"
    )
    holds = z > 2 and slight >= 0.5 and largest(rises) < 2 and largest(falls) < -2
    return Finding(quantity, z, bool(holds), detail, bounds=Bounds(lower=2.0))


def profiles_are_flat(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """Minima are flat at short distance, sharper near the threshold, and fBP's flatter than SGD's."""
    quantity = f"largest E({SHORT}), < {LITTLE}; E({COMPARED_AT}) near > far, SGD > fBP"
    tables = {"fBP": committee_focusing_bp, "SGD": committee_sgd}
    both = solved_by_all(_solved(table) for table in tables.values())
    near, far = first_solved(both), float(both.index.max())
    if near is None or near == far:
        return Finding.untestable(quantity, "no two values of N/P at which all runs of both solve")
    energies, errors, little = {}, {}, {}
    for name, table in tables.items():
        for place, inv_alpha in (("near", near), ("far", far)):
            found = profiles(table[table["inv_alpha"] == inv_alpha])
            energies[name, place], errors[name, place] = energy(found)
            little[name, place], _ = energy(found, SHORT)
    sharper = all(energies[name, "near"] > energies[name, "far"] for name in tables)
    flatter = all(energies["SGD", place] > energies["fBP", place] for place in ("near", "far"))
    words = (
        f"{' '.join(key)} {energies[key]:.4f} ± {errors[key]:.4f}, E({SHORT}) = {little[key]:.2g}" for key in energies
    )
    detail = f"{'; '.join(words)} (near: N/P = {near:.2f}, far: {far:.2f})"
    most = largest(little.values())
    return Finding(quantity, most, sharper and flatter and most < LITTLE, detail, bounds=Bounds(upper=LITTLE))


def inputs_exceed_the_latent_dimension(
    committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame, mlp: pd.DataFrame
) -> Finding:
    """At the threshold committees have more inputs than latent dimensions, perceptrons more parameters than inputs.

    N/D = α_T N/P, so the claim depends on α_T, which is chosen here. A multi-layer perceptron with ten inputs has more
    than ten parameters at any width. The text says the same of all networks. For convolutional ones see
    `cnn.parameters_exceed_the_inputs`.
    """
    quantity = "smallest ratio at the threshold, > 1: N/D of the committee, parameters over inputs of the perceptron"
    ratios, starts = [], []
    for table in (committee_focusing_bp, committee_sgd):
        solved = _solved(table)
        first = first_solved(solved, 0.5)
        if first is None:
            return Finding.untestable(quantity, "no N/P where half of the runs solve")
        sizes = table.groupby("inv_alpha")[["N", "D"]].first()
        ratio = sizes["N"] / sizes["D"]
        if first == solved.index[0] and ratio[first] > 1:
            return Finding.untestable(quantity, f"half solved at the smallest N/D already, {ratio[first]:.2f}")
        ratios.append(float(ratio[first]))
        starts.append(float(ratio.iloc[0]))
    alpha_T = committee_sgd["P"].iloc[0] / committee_sgd["D"].iloc[0]
    detail = (
        f"fBP {ratios[0]:.2f}, SGD {ratios[1]:.2f}, at the α_T = {alpha_T:g} chosen here; "
        f"the grids start at N/D = {numbers(starts, '.2f')}"
    )
    for start, parameters in threshold_parameters(mlp).items():
        ratios.append(parameters / COMPONENTS)
        detail += f"; perceptron, {start}: {parameters} parameters for {COMPONENTS} inputs"
    return Finding(quantity, min(ratios), min(ratios) > 1, detail, bounds=Bounds(lower=1))


def _solved(table: pd.DataFrame) -> pd.Series:
    """Fraction of the runs solved, by N/P.

    Raises:
        Untestable: fewer than `FEWEST` runs at some N/P.
    """
    if table[table["quantity"] == "solved"].groupby("inv_alpha").size().min() < FEWEST:
        raise Untestable(f"fewer than {FEWEST} runs at some N/P")
    return solved_fractions(table)


def _of_solutions(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Rows of a quantity in the runs that solved."""
    run = ["inv_alpha", "sample", "start"]
    solved = table.loc[(table["quantity"] == "solved") & (table["value"] == 1.0), run]
    return table[table["quantity"] == quantity].merge(solved, on=run)


def _rise_and_fall(each: pd.Series) -> tuple[float, float]:
    """Largest rise of the mean over training sets along N/P, and the step from first to last, in standard errors."""
    means, errors, _ = over_sets(each).to_numpy().T
    return largest_rise(means, errors), float((means[-1] - means[0]) / np.hypot(errors[-1], errors[0]))
