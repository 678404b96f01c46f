"""Claims about Hessian spectra (figures 5 and 6)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.statistics import paired_differences, spearman, spearman_over_sets
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    above,
    all_of,
    at_least,
    below,
    larger,
    mean_of,
    require,
    scored,
    smallest,
    welch,
)
from localentropy.claims.shaping.local_entropy import (
    CLEAR,
    NEAREST,
    SURE,
    none_opposite,
    ranked_by_volume,
    volumes_at,
    with_errors,
)
from localentropy.solvers.names import COMMITTEE_NAMES

WITH_LAL, WITHOUT_LAL = "all", "without_lal"
"""Rules of β: the smallest at which all solutions are valid, and the same but for LAL's."""
BETAS = {WITH_LAL: "at the β that LAL sets", WITHOUT_LAL: "at the β without LAL"}
NOT_TOLD_APART = ("elal", "ce_slow")
"""Algorithms whose spectra the text does not tell from fBP's at the higher β (figure 5)."""
PAPER = "paper"
"""The paper's own β."""
MOST_PAIRS = 7
"""Of the ten pairs of algorithms the text sees no difference in three at the higher β."""


def spectra_rank_algorithms(tree_spectra: pd.DataFrame) -> Finding:
    """LAL's spectrum is the widest and fBP's is the narrowest, at the β that LAL sets and at the lower one.

    The text says of fBP "at all β". But at the higher β it sees no difference between fBP and `NOT_TOLD_APART` itself.
    So there neither of them may be clearly narrower than fBP.
    """
    others = [name for name in COMMITTEE_NAMES if name != "lal"]
    differences = {
        "LAL minus each other": [("lal", other) for other in others],
        "each other but LAL minus fBP": [(other, "fbp") for other in others if other != "fbp"],
    }
    conditions, words = [], []
    for rule in (WITH_LAL, WITHOUT_LAL):
        rows = _largest(tree_spectra, rule)
        means = rows.groupby("algorithm")["value"].mean()
        require(set(COMMITTEE_NAMES) <= set(means.index), "not all five algorithms have solutions")
        for name, pairs in differences.items():
            scores = {}
            for wide, narrow in pairs:
                gap = paired_differences(rows, "value", wide, narrow)
                require(len(gap) >= FEWEST, f"{wide}, {narrow}: fewer than {FEWEST} training sets with both")
                scores[wide, narrow] = welch(mean_of(gap))
            words_of = f"smallest normal score of λ_max of {name}, {BETAS[rule]}"
            alike = [
                scores.pop((each, "fbp")) for each in NOT_TOLD_APART if (each, "fbp") in scores and rule == WITH_LAL
            ]
            if alike:
                told_apart = ", ".join(COMMITTEE_NAMES[each] for each in NOT_TOLD_APART)
                conditions.append(above(f"{words_of}, of {told_apart}", smallest(alike), -SURE))
            conditions.append(scored(words_of + (", of the others" if alike else ""), smallest(scores.values())))
        told = ", ".join(f"{COMMITTEE_NAMES[str(name)]} {value:.3g}" for name, value in means.sort_values().items())
        words.append(f"mean λ_max at β = {rows['beta'].iloc[0]:.3g}: {told}")
    return all_of(*conditions, detail="; ".join(words))


def spectra_rank_as_local_entropies(tree_spectra: pd.DataFrame, tree_local_entropy: pd.DataFrame) -> Finding:
    """At the β that LAL sets, no two algorithms are ranked one way by λ_max and the other way by V₁, both clearly."""
    return _ranked_alike(tree_spectra, tree_local_entropy, WITH_LAL)


def spectra_rank_as_local_entropies_at_the_lower_beta(
    tree_spectra: pd.DataFrame, tree_local_entropy: pd.DataFrame
) -> Finding:
    """The same at the β without LAL."""
    return _ranked_alike(tree_spectra, tree_local_entropy, WITHOUT_LAL)


def _ranked_alike(tree_spectra: pd.DataFrame, tree_local_entropy: pd.DataFrame, rule: str) -> Finding:
    spectra = _largest(tree_spectra, rule)
    pairs = ranked_by_volume(tree_local_entropy, spectra, "value", tuple(COMMITTEE_NAMES))
    return all_of(
        none_opposite("λ_max", len(pairs.opposite)),
        at_least(f"pairs that both rank alike, each by {SURE:g} SE", len(pairs.alike), MOST_PAIRS),
        detail=f"β = {spectra['beta'].iloc[0]:.3g}; {pairs.told()}",
    )


def volumes_correlate_with_spectra(tree_spectra: pd.DataFrame, tree_local_entropy: pd.DataFrame) -> Finding:
    """Over the runs of all algorithms on random patterns V₁ falls as λ_max grows, at the β that LAL sets."""
    volumes = volumes_at(tree_local_entropy, NEAREST)[["algorithm", "sample", "entropy"]]
    runs = _largest(tree_spectra, WITH_LAL).merge(volumes, on=["algorithm", "sample"])
    counts = runs.groupby("algorithm").size()
    require(len(counts) == len(COMMITTEE_NAMES) and counts.min() >= FEWEST, f"fewer than {FEWEST} runs of an algorithm")
    rho, error = spearman_over_sets(runs["value"], runs["entropy"], runs["sample"])
    return all_of(
        below(f"Spearman's ρ of λ_max and V₁ at D = {NEAREST:g}", rho, -CLEAR, error),
        detail=f"{len(runs)} runs at β = {runs['beta'].iloc[0]:.3g}",
    )


def spectra_concentrate(tree_spectra: pd.DataFrame) -> Finding:
    """The root mean square of all eigenvalues is smaller for fBP and eLAL than for ceSGD-fast, at both β.

    The text says "much more concentrated" and gives no number. The ratios of the widths are told.
    """
    rows = tree_spectra[tree_spectra["quantity"] == "eigenvalue"]
    require(len(rows) and rows["value"].notna().all(), "no eigenvalues, or one is missing")
    squares = rows.assign(value=rows["value"] ** 2).groupby(["rule", "beta", "algorithm", "sample"])["value"].mean()
    widths = np.sqrt(squares).reset_index()
    conditions, words = [], []
    for (rule, beta), here in widths.groupby(["rule", "beta"]):
        for name in ("fbp", "elal"):
            gap = paired_differences(here, "value", "ce_fast", name)
            require(len(gap) >= FEWEST, f"{COMMITTEE_NAMES[name]}: fewer than {FEWEST} training sets with both")
            what = f"normal score of the width of the spectrum of ceSGD-fast minus {COMMITTEE_NAMES[name]}"
            conditions.append(larger(f"{what}, {BETAS[str(rule)]}", mean_of(gap), or_open=True))
        means = here.groupby("algorithm")["value"].mean().sort_values()
        told = ", ".join(f"{COMMITTEE_NAMES[str(name)]} {value:.3g}" for name, value in means.items())
        ratios = " and ".join(
            f"{COMMITTEE_NAMES[name]} {means['ce_fast'] / means[name]:.2f}" for name in ("fbp", "elal")
        )
        words.append(f"widths at β = {beta:.3g}: {told}; that of ceSGD-fast over {ratios}")
    require(len(words) > 1, "spectra at two β needed")
    return all_of(*conditions, detail="; ".join(words))


def _largest(tree_spectra: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The largest eigenvalues at the β of a rule.

    Raises:
        Untestable: there are none, or one is missing.
    """
    rows = tree_spectra[(tree_spectra["quantity"] == "largest_eigenvalue") & (tree_spectra["rule"] == rule)]
    require(len(rows) and rows["value"].notna().all(), f"no largest eigenvalues at the β {rule}, or one is missing")
    return rows


def curvature_correlates_with_test_error(fashion_spectra: pd.DataFrame, fashion_solutions: pd.DataFrame) -> Finding:
    """Over the runs of all algorithms, the largest eigenvalue of the Hessian grows with the test error.

    The error is over training sets, of which there was one before. That there should be eight, and that differences are
    paired over them, was decided after a trial with several sets was seen.
    """
    of_paper = (fashion_spectra["quantity"] == "largest_eigenvalue") & (fashion_spectra["rule"] == PAPER)
    runs = with_errors(fashion_spectra[of_paper], fashion_solutions)
    known = runs[["value", "test_error"]].notna().all(axis=None)
    require(known, "a largest eigenvalue or a test error is missing")
    rho, error = spearman_over_sets(runs["value"], runs["test_error"], runs["sample"])
    within = ", ".join(
        f"{COMMITTEE_NAMES[str(name)]} {spearman(own['value'], own['test_error'])[0]:+.2f}"
        for name, own in runs.groupby("algorithm")
    )
    others = runs[runs["algorithm"] != "lal"]
    without, spread = spearman_over_sets(others["value"], others["test_error"], others["sample"])
    return all_of(
        above("Spearman's ρ of λ_max and test error over all runs", rho, 0.0, error, by=2.0, or_open=True),
        # Where no correlation is seen, the claim fails if a clear one would be.
        at_least("ρ + 2 SE", rho + 2 * error, CLEAR),
        detail=f"{len(runs)} runs at β = {runs['beta'].iloc[0]:.3g}; without LAL {without:+.2f} ± {spread:.2f}; over "
        f"the runs of one algorithm {within}",
    )
