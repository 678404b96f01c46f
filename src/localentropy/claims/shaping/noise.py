"""Claims about noise in the inputs (figure s3)."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.statistics import paired_differences
from localentropy.claims.conditions import (
    Finding,
    all_of,
    at_most,
    mean_of,
    numbers,
    require,
    scored,
    smallest,
    welch,
)
from localentropy.claims.shaping.local_entropy import NEAREST, ON_IMAGES, SURE, ranked_by_volume
from localentropy.solvers.names import COMMITTEE_NAMES

PROBABILITY = 0.1
"""Probability of a new value at which they are compared (chosen here, before the errors were seen)."""


def noise_confirms_the_picture(
    fashion_noise: pd.DataFrame,
    shuffled_noise: pd.DataFrame,
    fashion_local_entropy: pd.DataFrame,
    shuffled_local_entropy: pd.DataFrame,
) -> Finding:
    """With noisy inputs the train errors rank the algorithms as V₁ does, on images and on shuffled ones.

    No two algorithms are ranked oppositely, both clearly, and LAL errs clearly more than each other. A run's error is
    its mean over the draws of the noise. A sample is one training set, so differences are paired. The order was that of
    the text for random patterns before, on shuffled images too, where eLAL has another rank in V₁. This was seen only
    with the numbers.
    """
    conditions, words = [], []
    for name, table, around in (
        ("images", fashion_noise, fashion_local_entropy),
        ("shuffled images", shuffled_noise, shuffled_local_entropy),
    ):
        require(table["probability"].notna().all(), "a probability is missing")
        near = table[(table["probability"] - PROBABILITY).abs() < 1e-9]
        require(near["train_error"].notna().all(), "a train error is missing")
        runs = near.groupby(["algorithm", "sample"])["train_error"].mean().reset_index()
        pairs = ranked_by_volume(around, runs, "train_error", ON_IMAGES)
        what = (
            f"pairs of algorithms that the train error and V₁ at D = {NEAREST:g} rank oppositely, each by {SURE:g} SE"
        )
        conditions.append(at_most(f"{what}, {name}", len(pairs.opposite), 0.0))
        gaps = [paired_differences(runs, "train_error", ON_IMAGES[-1], other) for other in ON_IMAGES[:-1]]
        scores = [welch(mean_of(gap)) for gap in gaps]
        conditions.append(
            scored(f"smallest normal score of LAL's train error less each other's, {name}", smallest(scores))
        )
        errors = numbers(runs.groupby("algorithm")["train_error"].mean()[list(ON_IMAGES)], ".4f")
        words.append(f"{name} {errors}; {pairs.told()}")
    names = ", ".join(COMMITTEE_NAMES[each] for each in ON_IMAGES)
    return all_of(*conditions, detail=f"{names} with probability {PROBABILITY:g}: {'; '.join(words)}")
