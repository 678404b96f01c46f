"""Whether two quantities of the same runs grow together."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from localentropy.arguments import require_reals
from localentropy.errors import DomainError


def spearman(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Spearman's rank correlation ρ and its standard error (1 − ρ²) √((1 + ρ²/2)/(n − 3)), n the number of runs.

    The error is that of Bonett and Wright (Psychometrika 65, 23, 2000) for Fisher's transformation of ρ. Ties get their
    mean rank.

    Args:
        x: one quantity of each run, [runs]. Where one is missing (NaN), or all are the same, ρ and its error are NaN.
        y: the other.

    Returns:
        ρ and its standard error.

    Raises:
        DomainError: arrays of other shapes, a number out of range, fewer than four runs.

    Example:
        >>> from localentropy.analysis.rank_correlation import spearman
        >>> rho, error = spearman([1, 2, 3, 4, 5], [1, 4, 9, 25, 16])
        >>> round(rho, 6), round(error, 2)
        (0.9, 0.16)
    """
    x = require_reals("x", x, ("runs",), missing=True)
    y = require_reals("y", y, x.shape, missing=True)
    number = len(x)
    if number < 4:
        raise DomainError(f"the error of a rank correlation needs at least 4 runs, got {number}")
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return math.nan, math.nan
    rho = float(stats.spearmanr(x, y).statistic)
    return rho, float((1.0 - rho**2) * np.sqrt((1.0 + rho**2 / 2.0) / (number - 3)))
