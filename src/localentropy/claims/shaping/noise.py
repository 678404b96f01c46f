"""Claims about noise in the inputs (figure s3)."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd

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
    over the draws of the noise.
    """
    conditions, words = [], []
    for name, table in (("images", fashion_noise), ("shuffled images", shuffled_noise)):
        require(table["probability"].notna().all(), "a probability is missing")
        near = table[(table["probability"] - PROBABILITY).abs() < 1e-9]
        require(near["train_error"].notna().all(), "a train error is missing")
        runs = near.groupby(["algorithm", "sample"])["train_error"].mean()
        counts = runs.groupby(level="algorithm").size()
        require(set(ORDER) <= set(counts.index) and counts.min() >= FEWEST, f"{name}: fewer than {FEWEST} runs of one")
        errors = [runs[each] for each in ORDER]
        upside = largest(welch(mean_of(first), mean_of(second)) for first, second in pairwise(errors))
        what = "largest normal score of an algorithm's train error above that of the next one"
        conditions.append(below(f"{what}, {name}", upside, 2.0))
        above = [welch(mean_of(errors[-1]), mean_of(each)) for each in errors[:-1]]
        conditions.append(
            scored(f"smallest normal score of LAL's train error less each other's, {name}", smallest(above))
        )
        words.append(f"{name} {numbers([each.mean() for each in errors], '.4f')}")
    names = ", ".join(COMMITTEE_NAMES[each] for each in ORDER)
    return all_of(*conditions, detail=f"{names} with probability {PROBABILITY:g}: {'; '.join(words)}")
