"""Kernels of approximate message passing: one pass over the patterns for both products of an update."""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import FUSED, kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, SQRT_TWO_OVER_PI, erfcx, exp, hazard, log_tail
from localentropy.solvers.binary.message_kernels import signed_sum


@subroutine(fastmath=FUSED)
def _add(pattern: np.ndarray, factor: float, incoming: np.ndarray) -> None:
    """incoming += factor · ξ."""
    for i in range(pattern.size):
        incoming[i] += factor * np.float64(pattern[i])


@kernel(fastmath=FUSED)
def amp_update(
    patterns: np.ndarray, threshold: float, variance: float, means: np.ndarray, g: np.ndarray, incoming: np.ndarray
) -> float:
    """ω = ξ·m − V g, g ← 𝒢((T − ω)/√V)/√V for every pattern, incoming = Σ_μ g ξ. Returns Σ_μ −∂g/∂ω.

    A pattern is used for both products while it is in the cache.

    Args:
        patterns: labels times patterns, [P, N].
        threshold: T, smallest sum.
        variance: V of the sums.
        means: m, [N].
        g: of the update before, [P], overwritten.
        incoming: [N], overwritten.
    """
    s = 1.0 / math.sqrt(variance)
    reaction = 0.0
    incoming[:] = 0.0
    for mu in range(patterns.shape[0]):
        pattern = patterns[mu]
        x = (threshold - signed_sum(pattern, means) + variance * g[mu]) * s
        pull = hazard(x)
        g[mu] = pull * s
        reaction += pull * (pull - x) * s * s
        _add(pattern, g[mu], incoming)
    return reaction


@kernel(fastmath=FUSED)
def output_means(x: np.ndarray, g: np.ndarray, slope: np.ndarray) -> None:
    """g = 𝒢(x) and slope = 𝒢(x)(𝒢(x) − x) elementwise, [size]; 𝒢 is the hazard function of the Gaussian."""
    for k in range(x.size):
        scaled = erfcx(abs(x[k]) * SQRT_HALF)
        density = exp(-min(0.5 * x[k] * x[k], 700.0))
        left = SQRT_TWO_OVER_PI * density / (2.0 - scaled * density)
        pull = SQRT_TWO_OVER_PI / scaled if x[k] > 0.0 else left
        g[k] = pull
        slope[k] = pull * (pull - x[k])


@kernel(fastmath=FUSED)
def sum_log_tails(x: np.ndarray) -> float:
    """Σ ln H(x), [size]."""
    total = 0.0
    for k in range(x.size):
        total += log_tail(x[k])
    return total
