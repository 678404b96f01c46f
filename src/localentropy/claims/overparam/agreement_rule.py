"""The rule of agreement between simulation and theory over a whole figure: p > 0.01 at infinite size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from localentropy.analysis.agreement import Agreement, agreement_at_infinite_size, agreement_by_size
from localentropy.claims.conditions import Untestable

LEAST = 0.01
"""Smallest p-value of all points, extrapolated in 1/D, at which simulation and theory agree."""


def drifts(deviations: pd.DataFrame, by: Sequence[str]) -> str:
    """The mean deviations at the sizes that were run, in words.

    Args:
        deviations: simulation less theory, as in `agreement_by_size`.
        by: as there.
    """
    return ", ".join(
        f"{row.drift:+.4f} ± {row.drift_err:.4f} at D = {row.D}"
        for row in agreement_by_size(deviations, by).itertuples()
    )


def at_infinite_size(deviations: pd.DataFrame, by: Sequence[str]) -> tuple[Agreement, str]:
    """The agreement at infinite size, and in words beside that of the sizes that were run.

    Raises:
        Untestable: no point at two sizes with enough solved instances.
    """
    found = agreement_at_infinite_size(deviations, by)
    if np.isnan(found.p_value):
        raise Untestable("no point at two sizes at which enough instances are solved: nothing to extrapolate")
    extrapolated = f"extrapolated {found.drift:+.4f} ± {found.drift_error:.4f}, p = {found.p_value:.2g}"
    return found, f"{drifts(deviations, by)}, {extrapolated}"
