"""Claims about simulated annealing on the cross-entropy (figures s4 and s5)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from localentropy.analysis.annealing import averages
from localentropy.analysis.solver_runs import MOST_SOLVED
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, decided, jointly, numbers, smallest

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
    quantity = (
        f"smallest train error that annealing on the number of errors ends with, .3 ≤ α ≤ .6, > {HIGH:g} by {SURE:g} "
        f"SE; the cross-entropy leads ≥ {MOST_SOLVED:.0%} of the runs to a solution at each of these loads"
    )
    judged = annealing[annealing["quantity"].isin(["train_error_last", "solved", "solved_once"])]
    if judged["value"].isna().any():
        raise Untestable("a number is missing")
    judged = judged[judged["alpha"].between(*LOADS)]
    last, once = averages(judged, "train_error_last"), averages(judged, "solved_once")
    last = last[(last["energy"] == "errors") & (last["alpha"] * np.sqrt(last["N"]) >= LARGE)]
    once = once[once["energy"] == "cross_entropy"]
    if last.empty or once.empty or last["alpha"].max() < 0.55:
        return Finding.untestable(quantity, f"no load near .6 with P/√N ≥ {LARGE:g} for both energies")
    if min(last["n"].min(), once["n"].min()) < FEWEST:
        return Finding.untestable(quantity, f"fewer than {FEWEST} instances")
    lowest = last.loc[last["y"].idxmin()]
    solved = smallest(once["y"])
    detail = (
        f"N = {lowest['N']}: train error {numbers(last['y'], '.3f')} at α = {numbers(last['alpha'], '.2g')}; fraction "
        f"solved with the cross-entropy {numbers(once['y'], '.2f')} at α = {numbers(once['alpha'], '.2g')}"
    )
    high = decided((last["y"] - HIGH) / last["y_err"], SURE)
    holds = jointly(high, solved >= MOST_SOLVED)
    return Finding(quantity, lowest["y"], holds, detail, lowest["y_err"], Bounds(lower=HIGH))


def an_optimal_sharpness_exists(optimal_gamma: pd.DataFrame, optimal_gamma_annealing: pd.DataFrame) -> Finding:
    """The local entropy around weights of low cross-entropy is highest at some γ, inside a wide good range.

    In the theory at each load and distance. In the simulation at each where enough messages converged: the ends of the
    range are lower than the best γ by three standard errors over instances, paired.
    """
    quantity = (
        f"smallest ratio of the ends of the γ with {NEARLY:.0%} of the theory's highest entropy, ≥ {WIDE:g}; the "
        f"maximum of the theory, and that of annealing by {SURE:g} SE, inside the range of γ"
    )
    finite = optimal_gamma[np.isfinite(optimal_gamma["gamma"])].sort_values("gamma")
    if finite["entropy"].isna().any():
        raise Untestable("an entropy of the theory is missing")
    ratios, inside, words = [], [], []
    for (alpha, distance), curve in finite.set_index("gamma").groupby(["alpha", "distance"])["entropy"]:
        best, good = curve.idxmax(), curve.index[curve >= NEARLY * curve.max()]
        ratios.append(good[-1] / good[0])
        inside.append(curve.index[0] < best < curve.index[-1])
        words.append(f"{best:g} at α = {alpha:g}, d = {distance:.2g}")
    measured = _measured_optima(optimal_gamma_annealing)
    ratio = smallest(ratios)
    detail = f"best γ in theory: {'; '.join(words)}; of annealing: {'; '.join(said for _, said in measured)}"
    holds = jointly(bool(ratio >= WIDE and all(inside)), *(verdict for verdict, _ in measured))
    return Finding(quantity, ratio, holds, detail, 0.0, Bounds(lower=WIDE))


def _measured_optima(runs: pd.DataFrame) -> list[tuple[bool | None, str]]:
    """For each load and distance: whether the best γ is above both ends of the range, and what it is."""
    rows = runs[runs["quantity"] == "local_entropy"]
    found: list[tuple[bool | None, str]] = []
    for (alpha, distance), here in rows.groupby(["alpha", "x"]):
        table = here.pivot(index="sample", columns="gamma", values="value")
        # Where messages often fail, those that converge are of the luckier instances.
        table = table.dropna(axis=1, thresh=max(FEWEST, math.ceil(MOST_SOLVED * len(table))))
        if table.shape[1] < 3:
            continue
        best, ends = table.mean().idxmax(), (table.columns[0], table.columns[-1])
        inside = ends[0] < best < ends[1]
        below = [table[best] - table[end] for end in ends if end != best]
        lower = decided((difference.mean() / difference.sem() for difference in below), SURE)
        found.append((inside and lower, f"{best:g} at α = {alpha:.2g}, d = {distance:.2g}"))
    if not found:
        raise Untestable(f"at no load and distance three γ with {FEWEST} instances, nearly all of which converged")
    return found
