"""Kernel of expectation propagation on committee machines: what a pattern wants of the pre-activations."""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import FUSED, kernel
from localentropy.numerics.gaussian_kernels import SQRT_TWO_OVER_PI, log
from localentropy.solvers.committee.focusing_kernels import BLOCK, vote


@kernel(fastmath=FUSED)
def majority_derivatives(
    means: np.ndarray,
    variances: np.ndarray,
    steepest: float,
    slopes: np.ndarray,
    curvatures: np.ndarray,
    logarithms: np.ndarray,
) -> bool:
    """Probability Z that most of K units with independent Gaussian pre-activations are +, and its derivatives.

    Args:
        means: ω, [K, P].
        variances: V, positive, [K, P].
        steepest: bound on |ω|/√V, see `vote`.
        slopes: set to ∂ ln Z/∂ω, [K, P].
        curvatures: set to −∂² ln Z/∂ω², [K, P].
        logarithms: set to ln Z, [P].

    Returns:
        Whether the bound changed a Z: no majority of a pattern is above −steepest.
    """
    K, P = means.shape
    t, density = np.zeros((K, BLOCK)), np.zeros((K, BLOCK))
    plus, minus, decisive = np.zeros((K, BLOCK)), np.zeros((K, BLOCK)), np.zeros((K, BLOCK))
    before, after = np.zeros((K + 1, K + 1, BLOCK)), np.zeros((K + 1, K + 1, BLOCK))
    total = np.zeros(BLOCK)
    bounded = False
    for start in range(0, P, BLOCK):
        here = min(BLOCK, P - start)
        for unit in range(K):
            for b in range(here):
                t[unit, b] = means[unit, start + b] / math.sqrt(variances[unit, start + b])
        vote(t, steepest, density, plus, minus, before, after, decisive, total)
        for b in range(here):
            below = 0
            for unit in range(K):
                root = math.sqrt(variances[unit, start + b])
                g = 0.5 * SQRT_TWO_OVER_PI * density[unit, b] * decisive[unit, b] / (root * total[b])
                slopes[unit, start + b] = g
                curvatures[unit, start + b] = g * (g + t[unit, b] / root)
                below += t[unit, b] <= -steepest
            logarithms[start + b] = log(total[b])
            bounded |= 2 * below > K
    return bounded
