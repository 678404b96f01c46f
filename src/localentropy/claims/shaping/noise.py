"""Claims about noise in the inputs (figure s3)."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.statistics import paired_differences
from localentropy.claims.conditions import (
    Condition,
    Finding,
    all_of,
    mean_of,
    require,
    scored,
    smallest,
    welch,
)
from localentropy.claims.shaping.local_entropy import ON_IMAGES, none_opposite, ranked_by_volume

LITTLE = 0.1
"""Largest probability of a new value that is little noise. It was chosen as the one at which errors are compared,
before they were seen, and as a limit after."""


def noise_confirms_the_picture(
    fashion_noise: pd.DataFrame,
    shuffled_noise: pd.DataFrame,
    fashion_local_entropy: pd.DataFrame,
    shuffled_local_entropy: pd.DataFrame,
) -> Finding:
    """With noisy inputs LAL errs most, and a little noise ranks the algorithms as V₁ does, on images and shuffled ones.

    V₁ next to the solutions is local, so only up to `LITTLE` no two algorithms may be ranked oppositely, both clearly.
    LAL errs clearly more than each other one at every noise. A run's error is its mean over the draws of the noise. A
    sample is one training set, so differences are paired. The order was that of the text for random patterns before,
    on shuffled images too, where eLAL has another rank in V₁. This was seen only with the numbers.
    """
    conditions, words = [], []
    for name, table, around in _sets(fashion_noise, shuffled_noise, fashion_local_entropy, shuffled_local_entropy):
        condition, told = _ranked(name, table, around, LITTLE)
        gaps = (
            paired_differences(own, "train_error", ON_IMAGES[-1], other)
            for own in _by_noise(table).values()
            for other in ON_IMAGES[:-1]
        )
        least = smallest(welch(mean_of(gap)) for gap in gaps)
        conditions += [
            condition,
            scored(f"smallest normal score of LAL's train error less each other's, over all noise, {name}", least),
        ]
        words.append(told)
    return all_of(*conditions, detail="; ".join(words))


def every_noise_confirms_the_picture(
    fashion_noise: pd.DataFrame,
    shuffled_noise: pd.DataFrame,
    fashion_local_entropy: pd.DataFrame,
    shuffled_local_entropy: pd.DataFrame,
) -> Finding:
    """All noise that is drawn ranks the algorithms as V₁ does. The text does not say it."""
    sets = _sets(fashion_noise, shuffled_noise, fashion_local_entropy, shuffled_local_entropy)
    conditions, words = zip(*(_ranked(name, table, around, 1.0) for name, table, around in sets), strict=True)
    return all_of(*conditions, detail="; ".join(words))


def _sets(*tables: pd.DataFrame) -> list[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """The two training sets, with their errors and local entropies."""
    names = "images", "shuffled images"
    return list(zip(names, tables[:2], tables[2:], strict=True))


def _by_noise(table: pd.DataFrame) -> dict[float, pd.DataFrame]:
    """Probability of noise → mean train error of each run.

    Raises:
        Untestable: a number is missing.
    """
    require(table["probability"].notna().all(), "a probability is missing")
    require(table["train_error"].notna().all(), "a train error is missing")
    noisy = table[table["probability"] > 0.0]
    runs = noisy.groupby(["probability", "algorithm", "sample"])["train_error"].mean().reset_index()
    return {float(noise): own for noise, own in runs.groupby("probability")}


def _ranked(name: str, table: pd.DataFrame, around: pd.DataFrame, most: float) -> tuple[Condition, str]:
    """No train error up to a probability of noise ranks two algorithms against V₁; the same in words."""
    noises = {noise: own for noise, own in _by_noise(table).items() if noise <= most}
    require(noises, f"{name}: noise up to a probability of {most:g} needed")
    pairs = {noise: ranked_by_volume(around, own, "train_error", ON_IMAGES) for noise, own in noises.items()}
    opposite = sum(len(each.opposite) for each in pairs.values())
    told = "; ".join(f"p = {noise:g}: {each.told()}" for noise, each in pairs.items())
    return none_opposite("a train error", opposite, f", {name}"), f"{name}, {told}"
