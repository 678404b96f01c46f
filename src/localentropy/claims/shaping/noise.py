"""Claims about noise in the inputs (figure s3)."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

from localentropy.analysis.statistics import paired_differences
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    all_of,
    below,
    largest,
    mean_of,
    numbers,
    require,
    scored,
    smallest,
    welch,
)
from localentropy.solvers.names import COMMITTEE_NAMES

ORDER = ("elal", "ce_slow", "ce_fast", "lal")
"""The algorithms on images, from the widest minima to the narrowest."""
PROBABILITY = 0.1
"""Probability of a new value at which they are compared (chosen here, before the errors were seen)."""


def noise_confirms_the_picture(fashion_noise: pd.DataFrame, shuffled_noise: pd.DataFrame) -> Finding:
    """With noisy inputs the train errors rise in the order of the algorithms, on images and on shuffled ones.

    No algorithm errs clearly more than the next one, and LAL clearly more than each other. A run's error is its mean
    over the draws of the noise. A sample is one training set, so differences are paired.
    """
    conditions, words = [], []
    for name, table in (("images", fashion_noise), ("shuffled images", shuffled_noise)):
        require(table["probability"].notna().all(), "a probability is missing")
        near = table[(table["probability"] - PROBABILITY).abs() < 1e-9]
        require(near["train_error"].notna().all(), "a train error is missing")
        runs = near.groupby(["algorithm", "sample"])["train_error"].mean().reset_index()

        def score(first: str, second: str, runs: pd.DataFrame = runs, name: str = name) -> float:
            gap = paired_differences(runs, "train_error", first, second)
            require(len(gap) >= FEWEST, f"{name}: fewer than {FEWEST} training sets that two algorithms solve")
            return welch(mean_of(gap))

        upside = largest(score(first, second) for first, second in pairwise(ORDER))
        what = "largest normal score of an algorithm's train error above that of the next one"
        conditions.append(below(f"{what}, {name}", upside, 2.0))
        above = [score(ORDER[-1], each) for each in ORDER[:-1]]
        conditions.append(
            scored(f"smallest normal score of LAL's train error less each other's, {name}", smallest(above))
        )
        words.append(f"{name} {numbers(runs.groupby('algorithm')['train_error'].mean()[list(ORDER)], '.4f')}")
    names = ", ".join(COMMITTEE_NAMES[each] for each in ORDER)
    return all_of(*conditions, detail=f"{names} with probability {PROBABILITY:g}: {'; '.join(words)}")
