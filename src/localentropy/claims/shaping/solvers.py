"""Claims about what the algorithms solve, and how long they take (figure s6 and Materials and Methods)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator

from localentropy.analysis.pooled_score import pooled_score
from localentropy.analysis.thresholds import last_solved
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, decided, largest, numbers, smallest
from localentropy.solvers.names import COMMITTEE_NAMES

CONVERGES, FAILS = (1.5, 1.7), 1.9
"""Loads on both sides of the printed 1.76."""
NEAR = 0.01
"""The number of patterns of an instance is an integer: loads this close are the same."""
WITHIN, UP_TO = 0.012, 1.5
"""Up to this load the entropy of belief propagation agrees with replica theory within this."""
ALMOST = 0.9
"""Part of a load that is almost all of it. The text gives no number. Chosen here, after the numbers were seen."""
EPOCHS_RANDOM = {"lal": (76, 15), "elal": (861, 315), "ce_fast": (770, 150), "ce_slow": (12980, 70)}
"""Printed epochs to stop on 1000 random patterns, mean and standard deviation."""
EPOCHS_FASHION = {"lal": (61, 21), "elal": (190, 40), "ce_fast": (460, 334), "ce_slow": (3570, 50)}
"""The same on 500 images."""


def belief_propagation_converges_below_clustering(belief_volume: pd.DataFrame, typical_volume: pd.DataFrame) -> Finding:
    """BP converges on most training sets below α = 1.76 and not above, and its entropy is that of replica theory."""
    quantity = (
        f"largest |entropy of BP − RS| up to α = {UP_TO:g}, < {WITHIN:g} at N = 999; at least half converge at α = "
        f"{numbers(CONVERGES)}, fewer at {FAILS:g}"
    )
    converged = belief_volume.groupby("alpha")["converged"].agg(["mean", "size"])
    needed = [converged[np.abs(converged.index - alpha) < NEAR] for alpha in (*CONVERGES, FAILS)]
    if any(found.empty or found["size"].min() < FEWEST for found in needed):
        return Finding.untestable(quantity, f"fewer than {FEWEST} training sets at α = {numbers((*CONVERGES, FAILS))}")
    if belief_volume["N"].max() < 999:
        return Finding.untestable(quantity, f"N = {belief_volume['N'].max()}, the text's 999 needed")
    low = belief_volume[(belief_volume["converged"] == 1) & (belief_volume["alpha"] < UP_TO + NEAR)]
    entropies = low.groupby("alpha")["entropy"].agg(lambda values: values.mean(skipna=False))
    line = typical_volume[(typical_volume["quantity"] == "volume") & (typical_volume["units"] == 3)].sort_values(
        "alpha"
    )
    if len(line) < 2 or line["alpha"].max() < UP_TO + NEAR:
        return Finding.untestable(quantity, f"no line of the theory of 3 units up to α = {UP_TO:g}")
    if line["entropy"].isna().any() or entropies.isna().any():
        raise Untestable("an entropy is missing")
    theory = PchipInterpolator(line["alpha"], line["entropy"], extrapolate=False)
    apart = (entropies - theory(entropies.index)).abs()
    worst = largest(apart)
    fractions = [float(found["mean"].min()) for found in needed]
    holds = worst < WITHIN and min(fractions[:-1]) >= 0.5 and fractions[-1] < 0.5
    detail = (
        f"|entropy − RS| = {numbers(apart, '.4f')} at α = {numbers(apart.index, '.3g')}; fraction converged "
        f"{numbers(converged['mean'], '.2f')} at α = {numbers(converged.index, '.3g')}"
    )
    error = float(low.groupby("alpha")["entropy"].sem()[apart.idxmax()])
    return Finding(quantity, worst, holds, detail, error, Bounds(upper=WITHIN))


def focusing_bp_has_the_highest_capacity(capacities: pd.DataFrame) -> Finding:
    """fBP solves up to the largest load, LAL comes next, then the gradient-based algorithms."""
    quantity = "smallest z of fBP solving more runs than LAL, and LAL than the best ceSGD, pooled over α, > 2"
    runs = capacities.groupby(["algorithm", "alpha"])["solved"].agg(["sum", "size", "mean"])
    present = set(runs.index.get_level_values("algorithm"))
    gradient = sorted({"ce_slow", "ce_fast"} & present)
    if not {"fbp", "lal"} <= present or not gradient or runs["size"].min() < FEWEST:
        return Finding.untestable(quantity, f"fewer than {FEWEST} runs of fBP, LAL or ceSGD at some α")
    if capacities["solved"].isna().any():
        raise Untestable("a run without an outcome")
    best = max(gradient, key=lambda name: runs.loc[name, "sum"].sum())
    scores = []
    for first, second in pairwise(("fbp", "lal", best)):
        both = runs.loc[first].join(runs.loc[second], suffixes=("", "_fewer"), how="inner")
        scores.append(pooled_score(both["size"], both["sum"], both["size_fewer"], both["sum_fewer"]))
    if np.isnan(scores).any():
        return Finding.untestable(quantity, "no α at which some runs of two algorithms are solved and some are not")
    ends = {name: last_solved(runs.loc[name, "mean"], 0.5) for name in ("fbp", "lal", *gradient)}
    detail = ", ".join(
        f"{COMMITTEE_NAMES[name]} {'none' if end is None else format(end, '.3g')}" for name, end in ends.items()
    )
    detail = f"largest α up to which half are solved: {detail}; z = {numbers(scores, '.1f')}"
    return Finding(quantity, smallest(scores), decided(scores), detail, bounds=Bounds(lower=2.0))


def least_action_is_almost_as_high(capacities: pd.DataFrame) -> Finding:
    """The largest load up to which LAL solves half of the training sets is almost that of fBP."""
    quantity = f"largest α up to which LAL solves half of the runs, over that of fBP, ≥ {ALMOST:g}"
    runs = capacities.groupby(["algorithm", "alpha"])["solved"].agg(["size", "mean"])
    if not {"fbp", "lal"} <= set(runs.index.get_level_values("algorithm")) or runs["size"].min() < FEWEST:
        return Finding.untestable(quantity, f"fewer than {FEWEST} runs of fBP or LAL at some α")
    if capacities["solved"].isna().any():
        raise Untestable("a run without an outcome")
    fbp, lal = (last_solved(runs.loc[name, "mean"], 0.5) for name in ("fbp", "lal"))
    highest = float(capacities["alpha"].max())
    if fbp is None or lal is None:
        return Finding.untestable(quantity, "both must solve half of the runs at the smallest load")
    ratio = lal / fbp
    if fbp == highest and ratio >= ALMOST:
        return Finding.untestable(quantity, f"fBP solves half of the runs at the highest load, {highest:g}")
    most = capacities.attrs["parameters"]["algorithms"]["lal"]["epochs"]
    detail = f"LAL {lal:.3g}, with at most {most} epochs; fBP {fbp:.3g}"
    return Finding(quantity, ratio, ratio >= ALMOST, detail, bounds=Bounds(lower=ALMOST))


def epochs_on_random_patterns(tree_solutions: pd.DataFrame) -> Finding:
    """Mean epochs to stop on the tree of 9 units, 999 weights, 1000 random patterns."""
    return _epochs(tree_solutions, EPOCHS_RANDOM, {"units": 9, "N": 999, "P": 1000})


def epochs_on_fashion(fashion_solutions: pd.DataFrame) -> Finding:
    """Mean epochs to stop on the fully connected machine of 9 units, 500 images of dresses and coats."""
    return _epochs(fashion_solutions, EPOCHS_FASHION, {"units": 9, "P": 500})


def _epochs(table: pd.DataFrame, printed: Mapping[str, tuple[int, int]], sizes: Mapping[str, int]) -> Finding:
    """Deviations of mean epochs of solved runs from the printed means, in units of twice the printed deviations."""
    quantity = "largest |mean epochs − printed| / (2 printed SD) over LAL, eLAL and both ceSGD, < 1"
    if any((table[column] != size).any() for column, size in sizes.items()):
        needed = ", ".join(f"{column} = {size}" for column, size in sizes.items())
        return Finding.untestable(quantity, f"the text's sizes needed: {needed}")
    solved = table[table["solved"] == 1]
    ratios, words = [], []
    for name, (mean, deviation) in printed.items():
        epochs = solved.loc[solved["algorithm"] == name, "iterations"]
        if len(epochs) < FEWEST:
            return Finding.untestable(quantity, f"{COMMITTEE_NAMES[name]}: {len(epochs)} solved runs")
        ours = epochs.mean(skipna=False)
        ratios.append(abs(ours - mean) / (2 * deviation))
        words.append(
            f"{COMMITTEE_NAMES[name]} {ours:.0f} ± {epochs.std():.0f} ({len(epochs)} runs; text {mean} ± {deviation})"
        )
    worst = largest(ratios)
    return Finding(quantity, worst, worst < 1, "; ".join(words), bounds=Bounds(upper=1.0))
