"""Claims about the tree committee machine with continuous weights (figure 5)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.claims.finding import FEWEST, Finding, Untestable, largest, numbers
from localentropy.claims.overparam.mlp import first_solved_parameters

FLAT = 2e-3
"""Train error at the smallest noise below which a profile counts as flat."""
COMPARED_AT = 0.3
"""Distance per unit at which the sharpness of two profiles is compared."""


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
    halves = [_from(fractions, 0.5) for fractions in solved]
    if None in halves or any(half == grid[0] for half in halves):
        return Finding.untestable(quantity, f"half solved from N/P = {halves} on; the grid starts at {grid[0]:.2f}")
    apart = abs(grid.index(halves[0]) - grid.index(halves[1]))
    empty = all(fractions.iloc[0] == 0.0 and fractions.iloc[-1] == 1.0 for fractions in solved)
    detail = "; ".join(
        f"{name}: {numbers(fractions, '.2f')}" for name, fractions in zip(("fBP", "SGD"), solved, strict=True)
    )
    detail = f"fraction solved at N/P = {numbers(grid, '.2f')}: {detail}"
    return Finding(quantity, float(apart), bool(apart <= 1 and empty), detail)


def solutions_stay_apart(committee_sgd: pd.DataFrame) -> Finding:
    """The overlap of SGD's solutions grows as N/P falls, and stays well below 1 at the threshold."""
    quantity = "overlap + 3 SE at the smallest N/P where half of the runs solve, < 0.9; falling with N/P"
    points = _points(committee_sgd, "overlap")
    first = _from(_solved(committee_sgd), 0.5)
    points = points[points["samples"] >= 3]
    if first is None or len(points) < 3 or first not in points.index:
        return Finding.untestable(quantity, "fewer than three values of N/P with pairs of solutions")
    steps = np.diff(points["y"]) / np.hypot(points["y_err"].to_numpy()[1:], points["y_err"].to_numpy()[:-1])
    at = points.loc[first]
    fell = bool(points["y"].iloc[0] > points["y"].iloc[-1] and steps.max() < 2)
    top = float(at["y"] + 3 * at["y_err"])
    detail = f"{numbers(points['y'], '.3f')} at N/P = {numbers(points.index, '.2f')}; threshold {first:.2f}"
    return Finding(quantity, float(at["y"]), top < 0.9 and fell, detail, float(at["y_err"]))


def focusing_generalises_better(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """Test errors fall monotonically with N/P; SGD's are slightly larger."""
    quantity = "ε_SGD − ε_fBP on the same training sets, averaged over N/P where both solve, > 2 SE; both falling"
    tables = committee_focusing_bp, committee_sgd
    errors = [_each(_of_solutions(table, "test_error")) for table in tables]
    both = pd.concat([_solved(table) for table in tables], axis=1, join="inner").min(axis=1)
    used = both[both >= 0.9].index
    gap = (errors[1] - errors[0]).dropna()
    gap = gap[gap.index.isin(used, level="inv_alpha")]
    if len(used) < 2 or gap.groupby("inv_alpha").size().reindex(used, fill_value=0).min() < FEWEST:
        return Finding.untestable(
            quantity, f"fewer than two N/P where both solve, or fewer than {FEWEST} training sets"
        )
    # The same training sets' latent patterns recur along N/P: average over N/P first.
    each = gap.groupby("sample").mean()
    mean, error = float(each.mean()), float(each.sem())
    steps, falls = zip(*(_steps(each.loc[used]) for each in errors), strict=True)
    detail = (
        f"z = {mean / error:.1f} over {len(used)} values of N/P; largest step of an error {largest(steps):+.1f} SE "
        f"(< 2), of all steps together {largest(falls):+.1f} SE (< −2)"
    )
    holds = mean > 2 * error and largest(steps) < 2 and largest(falls) < -2
    return Finding(quantity, mean, bool(holds), detail, error)


def profiles_are_flat(committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame) -> Finding:
    """Minima are flat, sharper near the threshold, and fBP's flatter than SGD's."""
    quantity = f"largest train error at the smallest noise, < {FLAT}; at distance {COMPARED_AT} near > far, SGD > fBP"
    tables = {"fBP": committee_focusing_bp, "SGD": committee_sgd}
    both = pd.concat([_solved(table) for table in tables.values()], axis=1, join="inner").min(axis=1)
    near, far = _from(both, 1.0), float(both.index.max())
    if near is None or near == far:
        return Finding.untestable(quantity, "no two values of N/P at which all runs of both solve")
    energies, smallest = {}, []
    for name, table in tables.items():
        for place, inv_alpha in (("near", near), ("far", far)):
            here = table[table["inv_alpha"] == inv_alpha]
            distance, energy = (
                here[here["quantity"] == quantity].groupby("sigma")["value"].mean().to_numpy()
                for quantity in ("noise_distance", "noise_train_error")
            )
            if len(energy) < 2 or distance.max() < COMPARED_AT:
                raise Untestable(f"{name}: no noise that reaches the distance {COMPARED_AT}")
            smallest.append(float(energy[1]))
            energies[name, place] = float(np.interp(COMPARED_AT, distance, energy))
    sharper = all(energies[name, "near"] > energies[name, "far"] for name in tables)
    flatter = all(energies["SGD", place] > energies["fBP", place] for place in ("near", "far"))
    detail = ", ".join(f"{name} {place} {energy:.4f}" for (name, place), energy in energies.items())
    top = largest(smallest)
    return Finding(
        quantity, top, top < FLAT and sharper and flatter, f"{detail} (near: N/P = {near:.2f}, far: {far:.2f})"
    )


def inputs_exceed_the_latent_dimension(
    committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame, mlp: pd.DataFrame
) -> Finding:
    """At the threshold there are more inputs than latent dimensions, and more parameters than inputs."""
    quantity = "smallest N/D at the first N/P where half of the runs solve, > 1"
    ratios = []
    for table in (committee_focusing_bp, committee_sgd):
        first = _from(_solved(table), 0.5)
        if first is None:
            return Finding.untestable(quantity, "no N/P where half of the runs solve")
        row = table[table["inv_alpha"] == first].iloc[0]
        ratios.append(float(row["N"] / row["D"]))
    firsts = first_solved_parameters(mlp)
    if not firsts:
        return Finding.untestable(quantity, "no width where all MLPs solve")
    detail = f"fBP {ratios[0]:.1f}, SGD {ratios[1]:.1f}; MLP on 10 inputs: {numbers(firsts.values(), '.0f')} parameters"
    return Finding(quantity, min(ratios), min(ratios) > 1 and min(firsts.values()) > 10, detail)


def _solved(table: pd.DataFrame) -> pd.Series:
    """Fraction of the runs solved, by N/P.

    Raises:
        Untestable: fewer than `FEWEST` runs at some N/P.
    """
    runs = table[table["quantity"] == "solved"].groupby("inv_alpha")["value"]
    if runs.size().min() < FEWEST:
        raise Untestable(f"fewer than {FEWEST} runs at some N/P")
    return runs.mean().sort_index()


def _from(fractions: pd.Series, least: float) -> float | None:
    """The smallest N/P from which on at least this fraction is solved."""
    above = fractions.sort_index(ascending=False)
    above = above[(above >= least).cummin()]
    return float(above.index[-1]) if len(above) else None


def _points(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Mean and standard error over training sets of the mean over runs, by N/P."""
    each = _each(table[table["quantity"] == quantity])
    return each.groupby("inv_alpha").agg(y="mean", y_err="sem", samples="size")


def _each(rows: pd.DataFrame) -> pd.Series:
    """Mean over the runs on one training set, by N/P and training set."""
    return rows.groupby(["inv_alpha", "sample"])["value"].mean()


def _of_solutions(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Rows of a quantity in the runs that solved."""
    run = ["inv_alpha", "sample", "start"]
    solved = table.loc[(table["quantity"] == "solved") & (table["value"] == 1.0), run]
    return table[table["quantity"] == quantity].merge(solved, on=run)


def _steps(each: pd.Series) -> tuple[float, float]:
    """Largest step of the mean over training sets along N/P, and from the first N/P to the last, in standard errors."""
    means, errors = (each.groupby("inv_alpha").agg(how).to_numpy() for how in ("mean", "sem"))
    steps = np.diff(means) / np.hypot(errors[1:], errors[:-1])
    return largest(steps), float((means[-1] - means[0]) / np.hypot(errors[-1], errors[0]))
