"""Claims about Hessian spectra (figures 5 and 6)."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.agreement import normal_score
from localentropy.analysis.paired_differences import paired_differences
from localentropy.analysis.rank_correlation import spearman
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, decided, smallest
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
    quantity = (
        "smallest normal score of the paired differences of λ_max, > 2: LAL minus each other at both β; each "
        "other minus fBP at the β without LAL"
    )
    table = tree_spectra[tree_spectra["quantity"] == "largest_eigenvalue"]
    scores, words = [], []
    for rule in (WITH_LAL, WITHOUT_LAL):
        rows = table[table["rule"] == rule]
        if rows.empty or rows["value"].isna().any():
            raise Untestable(f"no largest eigenvalues at the β of the rule {rule}, or one is missing")
        means = rows.groupby("algorithm")["value"].mean()
        if not set(COMMITTEE_NAMES) <= set(means.index):
            return Finding.untestable(quantity, "not all five algorithms have solutions")
        pairs = [("lal", other) for other in COMMITTEE_NAMES if other != "lal"]
        if rule == WITHOUT_LAL:
            pairs += [(other, "fbp") for other in COMMITTEE_NAMES if other not in ("lal", "fbp")]
        for wide, narrow in pairs:
            gap = paired_differences(rows, "value", wide, narrow)
            if len(gap) < FEWEST:
                return Finding.untestable(quantity, f"{wide}, {narrow}: fewer than {FEWEST} training sets with both")
            scores.append(float(normal_score(gap.mean() / gap.sem(), len(gap))))
        told = ", ".join(f"{COMMITTEE_NAMES[str(name)]} {value:.3g}" for name, value in means.sort_values().items())
        words.append(f"mean λ_max at β = {rows['beta'].iloc[0]:.3g}: {told}")
    return Finding(quantity, smallest(scores), decided(scores), "; ".join(words), bounds=Bounds(lower=2.0))


def curvature_correlates_with_test_error(fashion_spectra: pd.DataFrame, fashion_solutions: pd.DataFrame) -> Finding:
    """Over the runs of all algorithms, the largest eigenvalue of the Hessian grows with the test error."""
    quantity = "Spearman's ρ of λ_max and test error over all runs, > 0 by 2 SE"
    largest = fashion_spectra[
        (fashion_spectra["quantity"] == "largest_eigenvalue") & (fashion_spectra["rule"] == PAPER)
    ]
    solved = fashion_solutions[fashion_solutions["solved"] == 1]
    runs = largest.merge(solved[["algorithm", "sample", "test_error"]], on=["algorithm", "sample"])
    counts = runs.groupby("algorithm").size()
    if len(counts) < len(COMMITTEE_NAMES) - 1 or counts.min() < FEWEST:
        return Finding.untestable(quantity, f"fewer than {FEWEST} runs of an algorithm")
    if runs[["value", "test_error"]].isna().any(axis=None):
        raise Untestable("a largest eigenvalue or a test error is missing")
    rho, error = spearman(runs["value"], runs["test_error"])
    within = ", ".join(
        f"{COMMITTEE_NAMES[str(name)]} {spearman(own['value'], own['test_error'])[0]:+.2f}"
        for name, own in runs.groupby("algorithm")
    )
    others = runs[runs["algorithm"] != "lal"]
    without, spread = spearman(others["value"], others["test_error"])
    detail = (
        f"{len(runs)} runs at β = {runs['beta'].iloc[0]:.3g}; without LAL {without:+.2f} ± {spread:.2f}; over the "
        f"runs of one algorithm {within}. The errors take runs of one algorithm as independent points"
    )
    # Where no correlation is seen, the claim fails if a clear one would be.
    holds = False if rho + 2 * error < CLEAR else decided([rho / error])
    return Finding(quantity, rho, holds, detail, error, Bounds(lower=0.0))
