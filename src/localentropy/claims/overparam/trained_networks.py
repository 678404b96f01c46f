"""Samples and local energies of trained networks, for the claims about all three architectures.

The text says "flat profiles for small distances" and "robust to noise perturbations" (Section III). So the train error
at the least noise is compared with 0. `mean_radius` says how far around a solution it stays small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from localentropy.analysis.agreement import to_infinite_size
from localentropy.analysis.flatness import radius
from localentropy.claims.conditions import (
    FEWEST,
    Condition,
    Finding,
    Mean,
    Untestable,
    agrees,
    all_of,
    largest,
    mean_of,
    numbers,
    require,
    scored,
)
from localentropy.claims.overlaps import overlap

COMPARED_AT = 0.3
"""Distance per unit at which the sharpness of two profiles is compared."""
WORSE = 4.0
"""By how much χ² of one law is above that of another with as many parameters that fits clearly better."""
CLOSE = 0.03
"""Difference of two overlaps below which solutions are as far apart as untrained networks: chosen here.

Differences up to 0.016 were known when it was chosen, of other training sets and settings.
"""


def of_samples(table: pd.DataFrame, samples: Iterable[int]) -> pd.DataFrame:
    """Rows of these samples, and of pairs of them."""
    return table[table["sample"].isin(samples) & (table["other"].isna() | table["other"].isin(samples))]


def far_apart(places: Iterable[tuple[str, pd.DataFrame]]) -> Finding:
    """Aligned solutions overlap as much as the same networks did before training, within `CLOSE`.

    Args:
        places: which solutions, and their rows.

    Raises:
        Untestable: fewer than three networks, or no overlaps.
    """
    conditions, words = [], []
    for place, solutions in places:
        names = ("overlap", "overlap_untrained")
        trained, untrained = (overlap(solutions, name) for name in names)
        layers = [by_layer(solutions, name) for name in names]
        difference, error = trained.value - untrained.value, float(np.hypot(trained.error, untrained.error))
        name = f"overlap of solutions minus that of aligned untrained networks, {place}"
        conditions.append(agrees(name, difference, error, CLOSE))
        words.append(
            f"{place}: {trained:.3f}, untrained {untrained.value:.3f}; layers {numbers(layers[0] - layers[1], '+.3f')}"
        )
    return all_of(*conditions, detail="; ".join(words))


def by_layer(table: pd.DataFrame, quantity: str) -> pd.Series:
    """Mean of a quantity over networks or pairs of them, by layer."""
    rows = table[(table["quantity"] == quantity) & table["layer"].notna()]
    return rows.groupby("layer")["value"].mean()


def limit_of(sizes: np.ndarray, values: np.ndarray, errors: np.ndarray) -> Mean:
    """Limit a of a fit a + b / size, and its error, which grows with the scatter around the line.

    Raises:
        Untestable: fewer than three sizes, or a value without an error.
    """
    require(len(sizes) > 2 and (errors > 0).all(), "three widths or more and two networks of each needed")
    line = to_infinite_size(sizes, values, errors)
    return Mean(line.value, line.error * np.sqrt(max(1.0, line.chi_squared / line.freedom)), len(sizes))


@dataclass(frozen=True)
class PowerLaw:
    """A power of the size, by least squares of logarithms.

    Attributes:
        exponent: of the size.
        error: its standard error, which grows with the scatter around the line.
        chi_squared: of the points around the line.
    """

    exponent: float
    error: float
    chi_squared: float

    @property
    def falls(self) -> bool:
        """Whether the exponent is below zero by two standard errors."""
        return self.exponent + 2.0 * self.error < 0.0


def power_law(sizes: np.ndarray, values: np.ndarray, errors: np.ndarray) -> PowerLaw:
    """Fit of positive values to a power of the size."""
    x, y, weights = np.log(sizes), np.log(values), (values / errors) ** 2
    x = x - np.average(x, weights=weights)
    slope = np.average(x * y, weights=weights) / np.average(x * x, weights=weights)
    misfit = y - np.average(y, weights=weights) - slope * x
    chi_squared = float((weights * misfit**2).sum())
    scatter = max(1.0, chi_squared / (len(x) - 2))
    return PowerLaw(float(slope), float(np.sqrt(scatter / (weights * x * x).sum())), chi_squared)


def limit_beats_power(
    words: str, sizes: np.ndarray, values: np.ndarray, errors: np.ndarray, *, or_open: bool = False
) -> Condition:
    """Falling values have a limit: a + b / size fits clearly better than a power of the size, whose limit is zero.

    Both laws have two parameters. Where neither fits, the errors are taken to be larger. Where neither fits clearly
    better, the condition is open, and where the power does, it fails.

    Args:
        words: what the values are.
        sizes: three or more.
        values: positive, one at each size.
        errors: their standard errors.
        or_open: whether the condition is open, too, where the power fits clearly better: a claim that something remains
            is not disproved by it, for another law may have a limit.
    """
    line, power = to_infinite_size(sizes, values, errors), power_law(sizes, values, errors)
    scatter = max(1.0, min(power.chi_squared, line.chi_squared) / line.freedom)
    worse = (power.chi_squared - line.chi_squared) / scatter
    found = scored(f"χ² of a power of the width above that of the fit with a limit, {words}", worse, WORSE)
    return replace(found, bound=f"> {WORSE:g}, else open", holds=found.holds or None) if or_open else found


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


def energy(profiles: pd.DataFrame, at: float = COMPARED_AT) -> Mean:
    """Local energy at a distance, mean over samples."""
    each = [
        np.interp(at, profile["distance"], profile["energy"])
        for _, profile in profiles.sort_values("sigma").groupby("sample")
    ]
    return mean_of(each)


def curvature(solutions: pd.DataFrame) -> Mean:
    """Trace of the Hessian by relative changes of the weights, mean over networks.

    Raises:
        Untestable: fewer than `FEWEST` have one.
    """
    rows = solutions[(solutions["quantity"] == "hessian_trace") & solutions["layer"].isna()]
    require(len(rows) >= FEWEST, f"the Hessian of fewer than {FEWEST} solutions")
    return mean_of(rows["value"])


def mean_radius(profiles: pd.DataFrame) -> Mean:
    """Mean over samples of the distance at which the train error is `analysis.flatness.REACHED`.

    It is missing (NaN) where a profile does not reach it.

    Raises:
        Untestable: fewer than two samples.
    """
    found = [
        radius(profile["distance"].to_numpy(), profile["energy"].to_numpy())
        for _, profile in profiles.sort_values("sigma").groupby("sample")
    ]
    if len(found) < 2:
        raise Untestable("perturbed solutions of two networks needed")
    return mean_of(found)


def errors_at_least_noise(profiles: pd.DataFrame) -> float:
    """Train error at the two smallest levels of noise, the larger of the two in standard errors; 0 without errors."""
    noisy = profiles[profiles["sigma"] > 0].groupby("sigma")["energy"].agg(["mean", "sem"]).head(2)
    return largest((noisy["mean"] / noisy["sem"]).where(noisy["mean"] != 0, 0.0))
