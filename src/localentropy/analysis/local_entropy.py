"""Local entropies measured around solutions, beside a curve of the theory."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.interpolate import CubicHermiteSpline

LARGE_DEVIATIONS = 0.76
"""α_U of the binary perceptron, by large deviations: above it the dense cluster fractures (arXiv:1905.07833)."""


def around_solutions(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the program `local_entropy` that count: around a solution, from messages that converged."""
    return table[(table["solved"] == 1) & (table["converged"] == 1)]


def with_excess(table: pd.DataFrame, curve: pd.DataFrame) -> pd.DataFrame:
    """Add `excess`, the local entropy less that of a Franz–Parisi curve at the same distance.

    Args:
        table: columns distance, entropy.
        curve: columns distance, entropy, slope; cubic between its points, in ln d. Beyond its ends excess is missing.
    """
    line = curve.dropna(subset=["entropy", "slope"]).sort_values("distance")
    d = line["distance"].to_numpy()
    theory = CubicHermiteSpline(np.log(d), line["entropy"], d * line["slope"], extrapolate=False)
    return table.assign(excess=table["entropy"] - theory(np.log(table["distance"])))


def over_samples(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Mean over samples at each distance: columns distance, y, y_err (standard error), spread (deviation of one), n."""
    return table.groupby("distance")[column].agg(y="mean", y_err="sem", spread="std", n="count").reset_index()
