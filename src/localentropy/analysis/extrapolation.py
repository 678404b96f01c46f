"""Extrapolation of simulations of several sizes to infinite size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from localentropy.arguments import require_shape, shown
from localentropy.errors import DomainError
from localentropy.quantities import FITTED_ERROR, FITTED_MEAN, FITTED_SIZE


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
        sizes: [points], in [1e-60, 1e60], two different ones at least.
        means: of independent runs, [points], up to 1e60.
        errors: standard errors of the means, [points], in [1e-60, 1e60].

    Returns:
        The line, its value at infinite size first.

    Raises:
        DomainError: arrays of other shapes, a number out of range, fewer than two different sizes, errors so unlike
            that in double precision one point outweighs all others.

    Example:
        >>> from localentropy.analysis.extrapolation import to_infinite_size
        >>> line = to_infinite_size([100, 200, 400], means=[0.86, 0.845, 0.8375], errors=[0.01, 0.01, 0.01])
        >>> round(line.value, 6), round(line.slope, 6)
        (0.83, 3.0)
    """
    size = FITTED_SIZE.require_all(sizes)
    mean = FITTED_MEAN.require_all(means)
    error = FITTED_ERROR.require_all(errors)
    require_shape("sizes", size.shape, ("points",))
    require_shape("means", mean.shape, size.shape)
    require_shape("errors", error.shape, size.shape)
    if len(np.unique(size)) < 2:
        raise DomainError(f"sizes = {shown(size.tolist())}: two different ones are needed at least")
    # In units of the largest inverse size both columns are of order 1.
    unit = float(size.min())
    design = np.column_stack([np.ones_like(size), unit / size]) / error[:, None]
    (value, slope), _, rank, _ = np.linalg.lstsq(design, mean / error, rcond=None)
    if rank < 2:
        raise DomainError(f"errors = {shown(error.tolist())}: one point outweighs all others")
    rest = mean / error - design @ [value, slope]
    # The square root of the covariance, from the triangular factor of the design.
    root = np.linalg.inv(np.linalg.qr(design, mode="r"))
    return Extrapolation(
        float(value), float(np.linalg.norm(root[0])), float(slope * unit), float(rest @ rest), len(size) - 2
    )
