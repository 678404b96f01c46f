"""Claims about what lies around the solutions of several algorithms (solution_surroundings; figures 3, 12 and 13)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from localentropy.analysis.statistics import paired_differences, spearman_over_sets
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    above,
    all_of,
    at_least,
    below,
    largest,
    mean_of,
    numbers,
    require,
    scored,
    smallest,
    welch,
)
from localentropy.solvers.names import NAMES

EFFICIENT = ("focusing_bp", "sbpi", "binarynet")
"""The solvers that find dense regions."""
CONVERGED = 0.9
"""Fraction of the messages around solutions that must converge."""
DISTANCE = 0.02
"""The distance at which local entropies and local energies are compared."""
FEW = 0.5
"""Part of the small stabilities of typical solutions that counts as few (chosen here, before the numbers)."""
SURE = 3.0
"""Standard errors that decide where the two most different of several algorithms are taken."""
HIGHLY = 0.7
"""Size of a rank correlation that is called high (chosen here, after the correlations had been seen)."""
SAME = 0.01
"""Part of a value by which algorithms may differ and still be called alike."""


def efficient_solutions_are_in_dense_regions(solution_surroundings: pd.DataFrame) -> Finding:
    """Around the solutions of fBP, SBPI and BinaryNet the local entropy is positive, and grows with the distance.

    At each 1/α that was run and each distance, on average over instances, by two standard errors.
    """
    around = _around(solution_surroundings, EFFICIENT)
    conditions, words = [], []
    for name, rows in around.groupby("solver"):
        means = rows.groupby(["inv_alpha", "distance"])[["entropy", "slope", "converged"]].agg(["mean", "sem", "size"])
        require(means["entropy", "size"].min() >= FEWEST, f"{NAMES[str(name)]}: fewer than {FEWEST} solutions")
        for column, what in (("entropy", "local entropy"), ("slope", "slope of the local entropy")):
            score = smallest(means[column, "mean"] / means[column, "sem"])
            conditions.append(scored(f"smallest {what} over 1/α and distances, in SE, {NAMES[str(name)]}", score))
        rate = means["converged", "mean"].min()
        conditions.append(at_least(f"smallest fraction of messages converged, {NAMES[str(name)]}", rate, CONVERGED))
        loads = rows["inv_alpha"].unique()
        words.append(f"{NAMES[str(name)]} at 1/α = {numbers(loads, '.3g')}")
    return all_of(*conditions, detail=f"distances up to {around['distance'].max():g}; {'; '.join(words)}")


def flat_solutions_have_few_small_stabilities(
    solution_surroundings: pd.DataFrame, typical_stabilities: pd.DataFrame
) -> Finding:
    """Solutions of fBP, SBPI and BinaryNet have few patterns of small stability, compared with typical solutions."""
    least = solution_surroundings.attrs["parameters"]["small_stability"]
    runs = _around(solution_surroundings, EFFICIENT).drop_duplicates(["solver", "N", "sample"])
    density = typical_stabilities[
        (typical_stabilities["quantity"] == "density") & (typical_stabilities["margin"] == 0.0)
    ]
    conditions, words = [], []
    for name, own in runs.groupby("solver"):
        parts = []
        for inv_alpha, rows in own.groupby("inv_alpha"):
            line = density[(density["inv_alpha"] / float(inv_alpha) - 1.0).abs() < 0.02].sort_values("x")
            require(len(line), f"no density of typical solutions at 1/α = {inv_alpha:.3g}")
            require(len(rows) >= FEWEST, f"{NAMES[str(name)]}: fewer than {FEWEST} solutions at 1/α = {inv_alpha:.3g}")
            x = np.linspace(0.0, least, 201)
            typical = float(np.trapezoid(np.interp(x, line["x"], line["value"]), x))
            counts = rows["small_stabilities"]
            parts.append((counts.mean() + 2.0 * counts.sem()) / typical)
            words.append(f"{NAMES[str(name)]} {counts.mean():.4f} against {typical:.4f} at 1/α = {inv_alpha:.3g}")
        what = f"largest fraction of stabilities up to {least:g} + 2 SE, over that of typical solutions"
        conditions.append(below(f"{what}, {NAMES[str(name)]}", largest(parts), FEW))
    return all_of(*conditions, detail="; ".join(words))


def algorithms_sample_different_solutions(solution_surroundings: pd.DataFrame) -> Finding:
    """Algorithms find solutions nearer to the barycentre or farther from it, and of different flatness, at one 1/α."""
    around = _around(solution_surroundings, EFFICIENT)
    around = around[np.isclose(around["distance"], DISTANCE)]
    common = around.groupby("inv_alpha")["solver"].nunique()
    common = common[common == len(EFFICIENT)]
    require(len(common), f"no 1/α at which {', '.join(NAMES[name] for name in EFFICIENT)} were run")
    rows = around[around["inv_alpha"] == common.index.max()].rename(columns={"solver": "algorithm"})
    conditions, words = [], []
    for column, what in (("barycentre_overlap", "overlap with the barycentre"), ("local_energy", "local energy")):
        scores, alike = [], True
        for first, second in combinations(EFFICIENT, 2):
            gap = paired_differences(rows, column, first, second).dropna()
            require(len(gap) >= FEWEST, f"{NAMES[first]} and {NAMES[second]}: fewer than {FEWEST} instances with both")
            scores.append(abs(welch(mean_of(gap))) if gap.std() > 0.0 else 0.0)
            alike &= abs(gap.mean()) + 2.0 * gap.sem() < SAME * rows[column].mean()
        name = f"largest normal score of a paired difference of the {what} between two algorithms"
        conditions.append(scored(name, largest(scores), SURE).fail_if(alike))
        means = rows.groupby("algorithm")[column].mean()
        words.append(f"{what} {', '.join(f'{NAMES[str(name)]} {value:.4f}' for name, value in means.items())}")
    return all_of(*conditions, detail=f"1/α = {common.index.max():.3g}, d = {DISTANCE:g}: {'; '.join(words)}")


def local_energy_tells_local_entropy(solution_surroundings: pd.DataFrame) -> Finding:
    """Over the solutions of all algorithms at one 1/α, local energy and local entropy are highly correlated.

    The error is that over instances: solutions of one instance share its luck.
    """
    around = _around(solution_surroundings, tuple(solution_surroundings["solver"].unique()))
    around = around[np.isclose(around["distance"], DISTANCE)]
    conditions, words = [], []
    around = around.dropna(subset="entropy")  # of messages that did not converge
    for inv_alpha, rows in around.groupby("inv_alpha"):
        if rows["solver"].nunique() < len(EFFICIENT) or len(rows) < FEWEST * len(EFFICIENT):
            continue
        require(rows["sample"].nunique() >= FEWEST, f"fewer than {FEWEST} instances at 1/α = {inv_alpha:.3g}")
        rho, error = spearman_over_sets(rows["local_energy"], rows["entropy"], rows["sample"])
        name = f"Spearman's ρ of local energy and local entropy at d = {DISTANCE:g}, 1/α = {inv_alpha:.3g}"
        conditions.append(below(name, rho, -HIGHLY, error, by=2.0, or_open=True))
        within = [
            f"{NAMES[str(name)]} {own['local_energy'].corr(own['entropy'], 'spearman'):.2f}"
            for name, own in rows.groupby("solver")
        ]
        words.append(
            f"{len(rows)} solutions of {rows['sample'].nunique()} instances at 1/α = {inv_alpha:.3g}; ρ of one "
            f"algorithm's {', '.join(within)}"
        )
    require(conditions, f"no 1/α with {FEWEST} solutions each of {len(EFFICIENT)} algorithms")
    return all_of(*conditions, detail="; ".join(words))


def dense_regions_have_more_solutions(solution_surroundings: pd.DataFrame, franz_parisi: pd.DataFrame) -> Finding:
    """Around solutions of fBP and SBPI there are more solutions than around typical ones, at the same 1/α."""
    curve = franz_parisi[(franz_parisi["curve"] == "reference") & (franz_parisi["margin_ref"] == 0.0)]
    curve = curve.dropna(subset=["entropy"]).sort_values("distance")
    require(len(curve) > 1, "a curve around typical references needed")
    inv_alpha = franz_parisi.attrs["parameters"]["inv_alpha"]
    around = _around(solution_surroundings, EFFICIENT)
    around = around[
        ((around["inv_alpha"] / inv_alpha - 1.0).abs() < 0.02) & (around["distance"] > curve["distance"].min())
    ]
    require(len(around), f"no solutions at 1/α = {inv_alpha:g}")
    theory = np.interp(np.log(around["distance"]), np.log(curve["distance"]), curve["entropy"])
    excess = around.assign(excess=around["entropy"] - theory)
    conditions = []
    for name, rows in excess.groupby("solver"):
        means = rows.groupby("distance")["excess"].agg(["mean", "sem", "size"])
        require(means["size"].min() >= FEWEST, f"{NAMES[str(name)]}: fewer than {FEWEST} solutions")
        what = f"smallest local entropy less that around typical solutions, in SE, {NAMES[str(name)]}"
        conditions.append(above(what, smallest(means["mean"] / means["sem"]), 2.0))
    return all_of(*conditions, detail=f"1/α = {inv_alpha:g}, distances up to {around['distance'].max():g}")


def _around(table: pd.DataFrame, solvers: tuple[str, ...]) -> pd.DataFrame:
    """The rows of solutions of some solvers.

    Raises:
        Untestable: a solver has none, an outcome is missing, or a number of a solution.
    """
    require(table["solved"].notna().all(), "a run without an outcome")
    around = table[(table["solved"] == 1) & table["solver"].isin(solvers)]
    absent = [NAMES[name] for name in solvers if name not in set(around["solver"])]
    require(not absent, f"no solutions of {', '.join(absent)}")
    known = around[["slope", "local_energy", "small_stabilities", "converged"]].notna().all(axis=None)
    known = known and around.loc[around["converged"] == 1, "entropy"].notna().all()
    require(known, "a number of a solution is missing")
    return around
