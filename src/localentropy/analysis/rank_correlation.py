"""Whether two quantities of the same runs grow together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from localentropy.errors import DomainError


def spearman(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Spearman's rank correlation ρ and its standard error (1 − ρ²) √((1 + ρ²/2)/(n − 3)), n the number of runs.

    The error is that of Bonett and Wright (Psychometrika 65, 23, 2000) for Fisher's transformation of ρ. Ties get their
    mean rank.

    Args:
        x: one quantity of each run.
        y: the other.

    Raises:
        DomainError: fewer than four runs.
    """
    number = np.size(x)
    if number < 4:
        raise DomainError(f"the error of a rank correlation needs at least 4 runs, got {number}")
    rho = float(stats.spearmanr(x, y).statistic)
    return rho, float((1.0 - rho**2) * np.sqrt((1.0 + rho**2 / 2.0) / (number - 3)))
