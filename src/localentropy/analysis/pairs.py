"""Means over pairs of samples. Their terms are correlated, because each sample is in many pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from localentropy.arguments import require_shape
from localentropy.errors import DomainError


def pair_mean(first: ArrayLike, second: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """Mean over pairs and its standard error by the jackknife over samples.

    The error is √((S − 1)/S Σ_s (m_s − m̄)²), with m_s the mean over pairs without sample s, S the number of samples and
    m̄ the mean of the m_s.

    Args:
        first: one sample of each pair, [pairs].
        second: the other sample.
        values: a quantity of each pair. Where one is missing (NaN), so are mean and error.

    Raises:
        DomainError: arrays of other shapes, fewer than three samples, or a sample that is in every pair.
    """
    one, two, value = np.asarray(first), np.asarray(second), np.asarray(values, float)
    require_shape("first", one.shape, ("pairs",))
    require_shape("second", two.shape, one.shape)
    require_shape("values", value.shape, one.shape)
    samples = np.union1d(one, two)
    without = [(one != sample) & (two != sample) for sample in samples]
    if len(samples) < 3 or not all(kept.any() for kept in without):
        raise DomainError(f"the error of a mean over pairs needs at least 3 samples, got {len(samples)}")
    means = np.array([value[kept].mean() for kept in without])
    error = np.sqrt((len(samples) - 1) * means.var())
    return float(value.mean()), float(error)
