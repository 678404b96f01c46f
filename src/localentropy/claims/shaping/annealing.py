"""Claims about simulated annealing on the cross-entropy (figures s4 and s5)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from localentropy.analysis.runs import MOST_SOLVED, annealed_averages
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    above,
    all_of,
    at_least,
    at_most,
    below,
    largest,
    numbers,
    require,
    scored,
    smallest,
    undecided,
)

LOADS = (0.29, 0.61)
"""Loads that are judged: .3 to .6. The number of patterns of an instance is an integer."""
LARGE = 9.0
"""P/√N below which single flips lead small instances to a solution whatever the energy (docs/solvers/annealing.md).

Chosen such that all loads from .3 on are judged at N = 1001, the size of the default scale.
"""
HIGH = 0.05
"""A train error that counts as very high."""
SURE = 3.0
"""Standard errors that decide."""
NEARLY, WIDE = 0.9, 2.0
"""The good range of γ: where the entropy is this part of the highest; the ratio of its ends that counts as wide."""


def only_the_cross_entropy_leads_to_solutions(annealing: pd.DataFrame) -> Finding:
    """With one schedule annealing ends at many errors if it counts them, and at solutions with the cross-entropy.

    The text gives no loads. Those from .3 to .6 are judged where the instance is large enough to have a glass phase.
    """
    judged = annealing[annealing["quantity"].isin(["train_error_last", "solved", "solved_once"])]
    judged = judged[judged["alpha"].between(*LOADS)]
    last, once = annealed_averages(judged, "train_error_last"), annealed_averages(judged, "solved_once")
    last = last[(last["energy"] == "errors") & (last["alpha"] * np.sqrt(last["N"]) >= LARGE)]
    once = once[once["energy"] == "cross_entropy"]
    loads = len(last) and len(once) and last["alpha"].max() >= 0.55
    require(loads, f"no load near .6 with P/√N ≥ {LARGE:g} for both energies")
    require(min(last["n"].min(), once["n"].min()) >= FEWEST, f"fewer than {FEWEST} instances")
    left = "train error that annealing on the number of errors ends with"
    return all_of(
        *(
            above(f"{left}, α = {row.alpha:.2g}", row.y, HIGH, row.y_err, by=SURE, or_open=True)
            for row in last.itertuples()
        ),
        at_least("smallest fraction solved with the cross-entropy, .3 ≤ α ≤ .6", smallest(once["y"]), MOST_SOLVED),
        detail=f"N = {numbers(last['N'].unique(), 'g')}; solved with the cross-entropy {numbers(once['y'], '.2f')} at "
        f"α = {numbers(once['alpha'], '.2g')}",
    )


def hardly_worse_than_on_the_local_entropy(annealing: pd.DataFrame) -> Finding:
    """Annealing on the cross-entropy is only slightly worse than the same on the local entropy.

    The program anneals on the number of errors and on the cross-entropy, so there is nothing to compare with.
    """
    energies = ", ".join(sorted(annealing["energy"].unique()))
    return all_of(
        undecided("performance on the cross-entropy against that on the local entropy", "not computed here"),
        detail=f"annealed here: {energies}",
    )


def an_optimal_sharpness_exists(optimal_gamma: pd.DataFrame, optimal_gamma_annealing: pd.DataFrame) -> Finding:
    """The local entropy around weights of low cross-entropy is highest at some γ, inside a wide good range.

    In the theory at each load and distance. In the simulation at each where enough messages converged: the ends of the
    range are lower than the best γ by three standard errors over instances, paired.
    """
    table = _known(optimal_gamma)
    finite = table.loc[:, np.isfinite(table.columns)]
    ratios, at_end, words = [], 0, []
    for (alpha, distance), row in finite.iterrows():
        curve = row.dropna()
        best, good = curve.idxmax(), curve.index[curve >= NEARLY * curve.max()]
        ratios.append(good[-1] / good[0])
        at_end += not curve.index[0] < best < curve.index[-1]
        words.append(f"{best:g} at α = {alpha:g}, d = {distance:.2g}")
    measured = _measured_optima(optimal_gamma_annealing)
    return all_of(
        at_least(f"smallest ratio of the ends of the γ with {NEARLY:.0%} of the theory's top", smallest(ratios), WIDE),
        at_most("maxima of the theory at an end of the range of γ", at_end, 0.0),
        at_most("maxima of annealing at an end of the range of γ", sum(end for end, *_ in measured), 0.0),
        scored("smallest z of the best γ above the ends, annealing", smallest(z for _, z, _ in measured), SURE),
        detail=f"best γ in theory: {'; '.join(words)}; of annealing: {'; '.join(said for *_, said in measured)}",
    )


def extreme_sharpness_works_badly(optimal_gamma: pd.DataFrame) -> Finding:
    """The smallest γ and γ = ∞ have less than the good part of the highest local entropy, at each load and distance.

    The text says so of the theory, before it comes to algorithms. Its only curve of a too large value is that of γ = ∞.
    The parts at the largest finite γ are told. The smallest γ is the smallest one with a solution. The range ended
    at γ = 0.7 before, with 0.96 of the highest entropy at one distance. It was made longer after that number was seen:
    whether γ can be too small is a question about small γ.
    """
    table = _known(optimal_gamma)
    require(table.shape[1] > 2 and math.isinf(table.columns[-1]), "local entropies at γ = ∞ and at two other γ needed")
    parts = table.div(table.max(axis=1), axis=0)
    blunt, sharp, finite = parts.bfill(axis=1).iloc[:, 0], parts.iloc[:, -1], parts.iloc[:, -2]
    smallest_gammas = table.apply(pd.Series.first_valid_index, axis=1)
    return all_of(
        below(
            "largest part of the highest local entropy at the smallest γ, over loads and distances",
            largest(blunt),
            NEARLY,
        ),
        below("the same at γ = ∞", largest(sharp), NEARLY),
        detail=f"{numbers(blunt, '.2f')} at γ = {numbers(smallest_gammas, 'g')}, {numbers(sharp, '.2f')} at γ = ∞, "
        f"{numbers(finite, '.3f')} at γ = {table.columns[-2]:g}; "
        f"α = {numbers(table.index.get_level_values('alpha'), 'g')}",
    )


def _known(optimal_gamma: pd.DataFrame) -> pd.DataFrame:
    """Entropies of the theory: load and distance × γ. At the smallest γ there may be no solution.

    Raises:
        Untestable: a number is missing at another one.
    """
    table = optimal_gamma.pivot(index=["alpha", "distance"], columns="gamma", values="entropy").sort_index(axis=1)
    begun = table.notna().cummax(axis=1)
    require((table.notna() == begun).all(axis=None) and begun.any(axis=1).all(), "an entropy of the theory is missing")
    return table


def _measured_optima(runs: pd.DataFrame) -> list[tuple[bool, float, str]]:
    """For each load and distance: whether the best γ is an end of the range, its z above the ends, and what it is."""
    rows = runs[runs["quantity"] == "local_entropy"]
    found = []
    for (alpha, distance), here in rows.groupby(["alpha", "x"]):
        table = here.pivot(index="sample", columns="gamma", values="value")
        # Where messages often fail, those that converge are of the luckier instances.
        table = table.dropna(axis=1, thresh=max(FEWEST, math.ceil(MOST_SOLVED * len(table))))
        if table.shape[1] < 3:
            continue
        best, ends = table.mean().idxmax(), (table.columns[0], table.columns[-1])
        lower = [table[best] - table[end] for end in ends if end != best]
        z = smallest(difference.mean() / difference.sem() for difference in lower)
        found.append((best in ends, z, f"{best:g} at α = {alpha:.2g}, d = {distance:.2g}"))
    require(found, f"at no load and distance three γ with {FEWEST} instances, nearly all of which converged")
    return found
