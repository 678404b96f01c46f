"""Means over pairs of samples. Their terms are correlated, because each sample is in many pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from localentropy.arguments import require_reals
from localentropy.errors import DomainError

LARGEST_VALUE = 1e100
"""Squares of values do not overflow."""


def pair_mean(first: ArrayLike, second: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """Mean over pairs and its standard error by the jackknife over samples.

    The error is √((S − 1)/S Σ_s (m_s − m̄)²), with m_s the mean over pairs without sample s, S the number of samples and
    m̄ the mean of the m_s.

    Args:
        first: the number of one sample of each pair, [pairs].
        second: that of the other sample.
        values: a quantity of each pair, up to 1e100. Where one is missing (NaN), so are mean and error.

    Returns:
        The mean and its error.

    Raises:
        DomainError: arrays of other shapes, a number out of range, fewer than three samples, or a sample that is in
            every pair.

    Example:
        >>> from localentropy.analysis.pairs import pair_mean
        >>> mean, error = pair_mean([0, 0, 1], [1, 2, 2], [0.4, 0.5, 0.6])
        >>> round(mean, 6), round(error, 6)
        (0.5, 0.11547)
    """
    one = require_reals("first", first, ("pairs",))
    two = require_reals("second", second, one.shape)
    value = require_reals("values", values, one.shape, most=LARGEST_VALUE, missing=True)
    samples = np.union1d(one, two)
    without = [(one != sample) & (two != sample) for sample in samples]
    if len(samples) < 3 or not all(kept.any() for kept in without):
        raise DomainError(f"the error of a mean over pairs needs at least 3 samples, got {len(samples)}")
    means = np.array([value[kept].mean() for kept in without])
    error = np.sqrt((len(samples) - 1) * means.var())
    return float(value.mean()), float(error)
