"""Extrapolation of simulations of several sizes to infinite size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from localentropy.arguments import require_reals, shown
from localentropy.errors import DomainError


@dataclass(frozen=True)
class Extrapolation:
    """A straight line in the inverse size.

    Attributes:
        value: at infinite size.
        error: its standard error.
        slope: times the inverse size, in the same units.
        chi_squared: of the points around the line.
        freedom: points less two.
    """

    value: float
    error: float
    slope: float
    chi_squared: float
    freedom: int


def to_infinite_size(sizes: ArrayLike, means: ArrayLike, errors: ArrayLike) -> Extrapolation:
    """Least squares of means on a + b/size, weighted by their errors.

    Args:
        sizes: [points], positive, two different ones at least.
        means: of independent runs, [points].
        errors: standard errors of the means, [points], positive.

    Raises:
        DomainError: arrays of other shapes, or with a number that is not finite; fewer than two different sizes; a size
            or an error that is not positive.
    """
    size = require_reals("sizes", sizes, ("points",))
    mean, error = require_reals("means", means, size.shape), require_reals("errors", errors, size.shape)
    if len(np.unique(size)) < 2:
        raise DomainError(f"sizes = {shown(size.tolist())}: two different ones are needed at least")
    for name, values in (("sizes", size), ("errors", error)):
        if not np.all(values > 0.0):
            raise DomainError(f"{name} = {shown(values.tolist())}: all must be positive")
    # In units of the largest inverse size both columns are of order 1.
    unit = float(size.min())
    design = np.column_stack([np.ones_like(size), unit / size]) / error[:, None]
    (value, slope), *_ = np.linalg.lstsq(design, mean / error, rcond=None)
    rest = mean / error - design @ [value, slope]
    variance = np.linalg.inv(design.T @ design)[0, 0]
    return Extrapolation(float(value), float(np.sqrt(variance)), float(slope * unit), float(rest @ rest), len(size) - 2)
