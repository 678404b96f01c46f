"""How far around a solution its train error stays small."""

from __future__ import annotations

import numpy as np

REACHED = 1e-3
"""Train error that ends the flat surrounding of a solution (chosen here)."""


def radius(distance: np.ndarray, energy: np.ndarray) -> float:
    """Distance at which a profile of train errors first reaches `REACHED`, by linear interpolation.

    Args:
        distance: increasing, from 0.
        energy: train error at each distance.

    Returns:
        The distance; missing (NaN) if an error is missing, or none is as large.
    """
    beyond = np.flatnonzero(energy >= REACHED)
    if np.isnan(energy).any() or not beyond.size:
        return np.nan
    part = slice(max(beyond[0] - 1, 0), beyond[0] + 1)
    return float(np.interp(REACHED, energy[part], distance[part]))
