"""Claims about Hessian spectra (figures 5 and 6)."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.paired_differences import paired_differences
from localentropy.analysis.rank_correlation import spearman
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    above,
    all_of,
    at_least,
    mean_of,
    require,
    scored,
    smallest,
    welch,
)
from localentropy.solvers.names import COMMITTEE_NAMES

WITH_LAL, WITHOUT_LAL = "all", "without_lal"
"""Rules of β: the smallest at which all solutions are valid, and the same but for LAL's."""
PAPER = "paper"
"""The paper's own β."""
CLEAR = 0.5
"""A rank correlation that is clear (chosen here)."""


def spectra_rank_algorithms(tree_spectra: pd.DataFrame) -> Finding:
    """LAL's spectrum is the widest, at the β that it sets and at the lower one. There fBP's is the narrowest.

    At the higher β the text sees no difference between fBP, ceSGD-slow and eLAL.
    """
    table = tree_spectra[tree_spectra["quantity"] == "largest_eigenvalue"]
    others = [name for name in COMMITTEE_NAMES if name != "lal"]
    wider = {"LAL minus each other": [("lal", other) for other in others]}
    narrower = {"each other but LAL minus fBP": [(other, "fbp") for other in others if other != "fbp"]}
    conditions, words = [], []
    for rule, differences in ((WITH_LAL, wider), (WITHOUT_LAL, wider | narrower)):
        rows = table[table["rule"] == rule]
        known = len(rows) and rows["value"].notna().all()
        require(known, f"no largest eigenvalues at the β of the rule {rule}, or one is missing")
        means = rows.groupby("algorithm")["value"].mean()
        require(set(COMMITTEE_NAMES) <= set(means.index), "not all five algorithms have solutions")
        for name, pairs in differences.items():
            scores = []
            for wide, narrow in pairs:
                gap = paired_differences(rows, "value", wide, narrow)
                require(len(gap) >= FEWEST, f"{wide}, {narrow}: fewer than {FEWEST} training sets with both")
                scores.append(welch(mean_of(gap)))
            conditions.append(scored(f"smallest normal score of λ_max of {name}, at the β {rule}", smallest(scores)))
        told = ", ".join(f"{COMMITTEE_NAMES[str(name)]} {value:.3g}" for name, value in means.sort_values().items())
        words.append(f"mean λ_max at β = {rows['beta'].iloc[0]:.3g}: {told}")
    return all_of(*conditions, detail="; ".join(words))


def curvature_correlates_with_test_error(fashion_spectra: pd.DataFrame, fashion_solutions: pd.DataFrame) -> Finding:
    """Over the runs of all algorithms, the largest eigenvalue of the Hessian grows with the test error."""
    largest = fashion_spectra[
        (fashion_spectra["quantity"] == "largest_eigenvalue") & (fashion_spectra["rule"] == PAPER)
    ]
    solved = fashion_solutions[fashion_solutions["solved"] == 1]
    runs = largest.merge(solved[["algorithm", "sample", "test_error"]], on=["algorithm", "sample"])
    counts = runs.groupby("algorithm").size()
    enough = len(counts) >= len(COMMITTEE_NAMES) - 1 and counts.min() >= FEWEST
    require(enough, f"fewer than {FEWEST} runs of an algorithm")
    known = runs[["value", "test_error"]].notna().all(axis=None)
    require(known, "a largest eigenvalue or a test error is missing")
    rho, error = spearman(runs["value"], runs["test_error"])
    within = ", ".join(
        f"{COMMITTEE_NAMES[str(name)]} {spearman(own['value'], own['test_error'])[0]:+.2f}"
        for name, own in runs.groupby("algorithm")
    )
    others = runs[runs["algorithm"] != "lal"]
    without, spread = spearman(others["value"], others["test_error"])
    return all_of(
        above("Spearman's ρ of λ_max and test error over all runs", rho, 0.0, error, by=2.0, or_open=True),
        # Where no correlation is seen, the claim fails if a clear one would be.
        at_least("ρ + 2 SE", rho + 2 * error, CLEAR),
        detail=f"{len(runs)} runs at β = {runs['beta'].iloc[0]:.3g}; without LAL {without:+.2f} ± {spread:.2f}; over "
        f"the runs of one algorithm {within}. The errors take runs of one algorithm as independent points",
    )
