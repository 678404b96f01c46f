"""Histogram of the stabilities of binary weights on ±1 patterns, which live on a lattice of spacing 2/√N.

Source: overparam, §C, the distribution of the stabilities of MCT0 solutions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, smallest_allowed


@dataclass(frozen=True)
class StabilityHistogram:
    """Counts of the stabilities Δ = s/√N of several samples, s = Σ_i w_i y ξ_i; bins lie next to each other.

    Attributes:
        edges: of the bins, half-way between values of the lattice, [bins + 1].
        counts: patterns in each bin, int64, [samples, bins].
    """

    edges: np.ndarray
    counts: np.ndarray

    @property
    def stability(self) -> np.ndarray:
        """Centres of the bins, [bins]; with one value of the lattice in a bin, this value."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    @property
    def probability(self) -> np.ndarray:
        """Fraction of the patterns in each bin, mean over samples, [bins]."""
        return self._fractions.mean(0)

    @property
    def probability_error(self) -> np.ndarray:
        """Standard error over samples of `probability`, [bins]; NaN with one sample."""
        samples = len(self.counts)
        if samples < 2:
            return np.full(self.counts.shape[1], np.nan)
        return self._fractions.std(0, ddof=1) / math.sqrt(samples)

    @property
    def density(self) -> np.ndarray:
        """`probability` over the widths of the bins, to be compared with P(Δ) of the theory, [bins]."""
        return self.probability / np.diff(self.edges)

    @property
    def density_error(self) -> np.ndarray:
        """Standard error over samples of `density`, [bins]."""
        return self.probability_error / np.diff(self.edges)

    @property
    def _fractions(self) -> np.ndarray:
        return self.counts / self.counts.sum(1, keepdims=True)


def stability_histogram(
    instances: Sequence[Instance], weights: Sequence[np.ndarray], *, margin: float = 0.0, width: int = 1
) -> StabilityHistogram:
    """Histogram of the training stabilities of one solution of each instance.

    The first bin begins half a step below the smallest allowed sum h_min. With N odd this edge is
    κ_eff = (h_min − 1)/√N, where the density of the theory begins, so that no bin is cut by the margin. Weights with
    errors have further bins on the left, an integer number of widths away.

    Args:
        instances: ±1 patterns, all with the same N.
        weights: ±1, [N], one for each instance.
        margin: κ.
        width: values of the lattice in a bin.

    Raises:
        DomainError: no instances, not one weight vector for each, unequal N, real patterns, weights other than ±1 or
            of another length, width < 1, a margin outside [0, √N].
    """
    if not instances or len(weights) != len(instances):
        raise DomainError(f"a histogram needs one solution for each instance, got {len(weights)} for {len(instances)}")
    if width < 1:
        raise DomainError(f"width = {width} must be at least 1 value of the lattice")
    N = instances[0].N
    sums = []
    for instance, solution in zip(instances, weights, strict=True):
        if not instance.binary or instance.N != N or not (np.abs(solution) == 1).all():
            raise DomainError("a histogram on the lattice needs ±1 patterns, ±1 weights and the same N in all samples")
        sums.append(instance.sums(solution).astype(np.int64))
    least = smallest_allowed(margin, N)
    # Number of the bin of each sum, counted from the one that begins at h_min.
    places = [(one - least) // (2 * width) for one in sums]
    first = min(0, *(int(one.min()) for one in places))
    bins = max(0, *(int(one.max()) for one in places)) - first + 1
    counts = np.stack([np.bincount(one - first, minlength=bins) for one in places])
    edges = (least - 1 + 2 * width * (first + np.arange(counts.shape[1] + 1))) / math.sqrt(N)
    return StabilityHistogram(edges, counts)


def chi_squared_per_bin(
    histogram: StabilityHistogram, probabilities: np.ndarray, *, skip: int = 1, least_count: float = 10.0
) -> tuple[float, int]:
    """Mean over bins of the squared deviation from a theory in units of its standard error over samples.

    As the standard errors are estimated from S samples, the mean of a squared deviation that is due to chance would be
    (S − 1)/(S − 3); it is divided by this, so that 1 is what a right theory gives.

    Args:
        histogram: of at least four samples.
        probabilities: of the bins according to the theory (the integral of P(Δ) between the edges), [bins].
        skip: bins left out on the left. At the margin, where the density jumps from 0, single flips decide and a finite
            system differs most from the theory.
        least_count: bins with fewer expected patterns, all samples together, are left out: their deviations are not
            Gaussian. So are those with equal counts in all samples, whose standard error is 0.

    Returns:
        Chi squared per bin, and the number of bins.

    Raises:
        DomainError: fewer than four samples, not one probability for each bin, or no bin left.
    """
    samples, bins = histogram.counts.shape
    probabilities = np.asarray(probabilities, np.float64)
    if samples < 4 or probabilities.shape != (bins,):
        raise DomainError(
            f"chi squared needs at least 4 samples and one probability for each of {bins} bins, got {samples} samples "
            f"and {probabilities.size} probabilities"
        )
    error = histogram.probability_error
    varying = np.ptp(histogram.counts, axis=0) > 0
    kept = (probabilities * histogram.counts.sum() >= least_count) & varying & (np.arange(bins) >= skip)
    if not kept.any():
        raise DomainError(f"no bin is left of {bins} with at least {least_count} expected patterns: take more samples")
    deviations = (histogram.probability[kept] - probabilities[kept]) / error[kept]
    return float((deviations**2).mean() * (samples - 3) / (samples - 1)), int(kept.sum())
