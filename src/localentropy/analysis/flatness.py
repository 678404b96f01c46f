"""How far around a solution its train error stays small."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from localentropy.arguments import require_reals, shown
from localentropy.errors import DomainError

REACHED = 1e-3
"""Train error that ends the flat surrounding of a solution (chosen here)."""
CHORD_FROM, CHORD_TO = 0.002, 0.1
"""Fractions of flipped weights (chosen here). A profile counts as convex if it lies below its chord from zero to the
second. It is judged from the first on: fewer flips change too few outputs to tell."""


def radius(distance: ArrayLike, energy: ArrayLike) -> float:
    """Distance at which a profile of train errors first reaches `REACHED`, by linear interpolation.

    Args:
        distance: [points], increasing up to there.
        energy: train error at each distance.

    Returns:
        The distance; missing (NaN) if an error is missing, or none is as large.

    Raises:
        DomainError: arrays of other shapes, distances that do not increase.

    Example:
        >>> from localentropy.analysis.flatness import REACHED, radius
        >>> round(radius([0.0, 0.1, 0.2], energy=[0.0, 0.5 * REACHED, 1.5 * REACHED]), 6)
        0.15
    """
    distance = require_reals("distance", distance, ("points",))
    energy = require_reals("energy", energy, distance.shape, missing=True)
    beyond = np.flatnonzero(energy >= REACHED)
    if np.isnan(energy).any() or not beyond.size:
        return np.nan
    if not (np.diff(distance[: beyond[0] + 1]) > 0.0).all():
        raise DomainError(f"distance = {shown(distance.tolist())}: allowed are numbers that increase")
    part = slice(max(beyond[0] - 1, 0), beyond[0] + 1)
    return float(np.interp(REACHED, energy[part], distance[part]))
