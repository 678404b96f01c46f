"""Overlaps and local energies of trained networks, for the claims about all three architectures.

One rule of flatness serves all of them. The text says "flat profiles for small distances", "the first derivative at
short distances is essentially zero" (Section III). So the derivative of the local energy at zero distance is compared
with 0. The tolerance is a tenth of the slope, of order 1, of a straight line to the error of guessing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import radius
from localentropy.analysis.pairs import pair_mean
from localentropy.claims.finding import Untestable, largest
from localentropy.errors import DomainError

FLAT = 0.1
"""Train error per unit of distance below which a profile counts as flat at zero.

It was chosen after an earlier run, in which the largest slopes were 0.02 for the committee, and 0.5 and 0.9 for
multi-layer perceptrons at their threshold.
"""
COMPARED_AT = 0.3
"""Distance per unit at which the sharpness of two profiles is compared."""


def overlap(table: pd.DataFrame, quantity: str) -> tuple[float, float]:
    """Mean overlap of whole networks over pairs, and its error.

    Raises:
        Untestable: fewer than three networks.
    """
    rows = table[(table["quantity"] == quantity) & table["layer"].isna()]
    try:
        return pair_mean(rows["sample"], rows["other"], rows["value"])
    except DomainError as error:
        raise Untestable(str(error)) from None


def of_samples(table: pd.DataFrame, samples: Iterable[int]) -> pd.DataFrame:
    """Rows of these samples, and of pairs of them."""
    return table[table["sample"].isin(samples) & (table["other"].isna() | table["other"].isin(samples))]


def profiles(table: pd.DataFrame, name: str = "noise") -> pd.DataFrame:
    """Local energies of every sample, mean over its runs: columns sample, sigma, distance, energy.

    Args:
        table: rows of networks.
        name: begins the quantities' names.

    Raises:
        Untestable: there are none, or they do not reach `COMPARED_AT`.
    """
    columns = {f"{name}_distance": "distance", f"{name}_train_error": "energy"}
    rows = table[table["quantity"].isin(columns)]
    found = rows.pivot_table(index=["sample", "sigma"], columns="quantity", values="value", dropna=False)
    found = found.reindex(columns=list(columns)).rename(columns=columns).reset_index()
    if found.empty or not found.groupby("sigma")["distance"].mean().max() >= COMPARED_AT:
        raise Untestable(f"no noise that reaches the distance {COMPARED_AT}")
    return found


def energy(profiles: pd.DataFrame, at: float = COMPARED_AT) -> tuple[float, float]:
    """Local energy at a distance, mean over samples, and its error."""
    each = [
        np.interp(at, profile["distance"], profile["energy"])
        for _, profile in profiles.sort_values("sigma").groupby("sample")
    ]
    return float(np.mean(each)), float(np.std(each, ddof=1) / np.sqrt(len(each))) if len(each) > 1 else np.nan


def mean_radius(profiles: pd.DataFrame) -> tuple[float, float]:
    """Mean over samples of the distance at which the train error is `analysis.flatness.REACHED`, and its error.

    Both are missing (NaN) where a profile does not reach it.

    Raises:
        Untestable: fewer than two samples.
    """
    found = [
        radius(profile["distance"].to_numpy(), profile["energy"].to_numpy())
        for _, profile in profiles.sort_values("sigma").groupby("sample")
    ]
    if len(found) < 2:
        raise Untestable("perturbed solutions of two networks needed")
    return float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(len(found)))


def errors_at_least_noise(profiles: pd.DataFrame) -> float:
    """Train error at the two smallest levels of noise, the larger of the two in standard errors; 0 without errors."""
    noisy = profiles[profiles["sigma"] > 0].groupby("sigma")["energy"].agg(["mean", "sem"]).head(2)
    return largest((noisy["mean"] / noisy["sem"]).where(noisy["mean"] != 0, 0.0))


def initial_slope(profiles: pd.DataFrame, points: int = 4) -> tuple[float, float]:
    """Slope at zero distance and its error over samples, from E = a d + b d² through the first points with noise.

    Raises:
        Untestable: fewer than two samples, or fewer than two points with noise.
    """
    noisy = profiles[profiles["sigma"] > 0].sort_values(["sample", "sigma"])
    if noisy["sample"].nunique() < 2 or noisy["sigma"].nunique() < 2:
        raise Untestable("perturbed solutions of two networks at two levels of noise needed")
    slopes = []
    for _, profile in noisy.groupby("sample"):
        near = profile.head(points)
        basis = np.stack([near["distance"], near["distance"] ** 2], axis=1)
        slopes.append(float(np.linalg.lstsq(basis, near["energy"].to_numpy(), rcond=None)[0][0]))
    return float(np.mean(slopes)), float(np.std(slopes, ddof=1) / np.sqrt(len(slopes)))


def all_flat(slopes: list[tuple[float, float]]) -> bool:
    """Whether all initial slopes are below `FLAT` by two standard errors.

    Raises:
        Untestable: no slope is above by two standard errors, but not all are below.
    """
    values, errors = np.array(slopes).T
    if (values - 2 * errors > FLAT).any():
        return False
    if not (values + 2 * errors < FLAT).all():
        raise Untestable(f"slopes at zero {values.round(3).tolist()} ± {errors.round(3).tolist()}: too near {FLAT}")
    return True


def slope_in_words(slope: tuple[float, float]) -> str:
    """The slope with its error."""
    return f"slope at 0 {slope[0]:.3f} ± {slope[1]:.3f}"
