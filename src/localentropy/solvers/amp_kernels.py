"""Kernels of approximate message passing: the channels, and one pass over the inputs for both products of an update.

A label y tells of its sum z over the weights, for the channel "sign", that y z ≥ T; for "absolute", that |z| = y. The
sum is Gaussian, of mean ω and variance V. With P(y | ω, V), the probability of the label, or its density,
g = ∂_ω ln P(y | ω, V).
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import FUSED, kernel, subroutine
from localentropy.numerics.gaussian_kernels import exp, hazard, log, log_tail
from localentropy.solvers.binary.message_kernels import signed_sum


@subroutine(fastmath=FUSED)
def _sign(label: float, threshold: float, omega: float, variance: float) -> tuple[float, float]:
    """g and −∂g/∂ω for the channel "sign": g = y 𝒢(x)/√V, 𝒢 is the hazard function."""
    s = 1.0 / math.sqrt(variance)
    x = (threshold - label * omega) * s
    pull = hazard(x)
    return label * (pull * s), pull * (pull - x) * s * s


@subroutine(fastmath=FUSED)
def _absolute(label: float, omega: float, variance: float) -> tuple[float, float]:
    """g and −∂g/∂ω for the channel "absolute": z is y or −y, its mean is y tanh(yω/V)."""
    x = label * omega / variance
    small = exp(-min(2.0 * abs(x), 700.0))
    mean = label * math.copysign((1.0 - small) / (1.0 + small), x)
    spread = label * label * (4.0 * small / ((1.0 + small) * (1.0 + small)))
    return (mean - omega) / variance, (1.0 - spread / variance) / variance


@subroutine(fastmath=FUSED)
def _add(pattern: np.ndarray, factor: float, incoming: np.ndarray) -> None:
    """incoming += factor · ξ."""
    for i in range(pattern.size):
        incoming[i] += factor * np.float64(pattern[i])


@kernel(fastmath=FUSED)
def amp_update(
    absolute: bool,
    inputs: np.ndarray,
    labels: np.ndarray,
    threshold: float,
    variance: float,
    means: np.ndarray,
    g: np.ndarray,
    incoming: np.ndarray,
) -> float:
    """ω = X·a − V g, g ← g(y, ω, V) for every label, incoming = X^T g. Returns Σ_μ −∂g/∂ω.

    An input is used for both products while it is in the cache.

    Args:
        absolute: the channel is "absolute", and not "sign".
        inputs: X, float32, [n, d].
        labels: y, [n].
        threshold: T, used for "sign" only.
        variance: V of the sums.
        means: a, [d].
        g: of the update before, [n], overwritten.
        incoming: [d], overwritten.
    """
    precision = 0.0
    incoming[:] = 0.0
    for mu in range(inputs.shape[0]):
        pattern = inputs[mu]
        omega = signed_sum(pattern, means) - variance * g[mu]
        if absolute:
            g[mu], slope = _absolute(labels[mu], omega, variance)
        else:
            g[mu], slope = _sign(labels[mu], threshold, omega, variance)
        precision += slope
        _add(pattern, g[mu], incoming)
    return precision


@kernel(fastmath=FUSED)
def channel_means(
    absolute: bool,
    labels: np.ndarray,
    threshold: float,
    omega: np.ndarray,
    variance: float,
    g: np.ndarray,
    slope: np.ndarray,
) -> None:
    """g and slope = −∂g/∂ω of every label, [n], at the sums' means ω, [n]. Other arguments as in `amp_update`."""
    if absolute:
        for mu in range(labels.size):
            g[mu], slope[mu] = _absolute(labels[mu], omega[mu], variance)
    else:
        for mu in range(labels.size):
            g[mu], slope[mu] = _sign(labels[mu], threshold, omega[mu], variance)


@kernel(fastmath=FUSED)
def log_probability(absolute: bool, labels: np.ndarray, threshold: float, omega: np.ndarray, variance: float) -> float:
    """Σ_μ ln P(y | ω, V), a density for "absolute". Arguments as in `channel_means`."""
    s = 1.0 / math.sqrt(variance)
    total = 0.0
    for mu in range(labels.size):
        if absolute:
            gap = (labels[mu] - abs(omega[mu])) * s
            small = exp(-min(2.0 * labels[mu] * abs(omega[mu]) / variance, 700.0))
            total += log(1.0 + small) - 0.5 * gap * gap - 0.5 * math.log(2.0 * math.pi * variance)
        else:
            total += log_tail((threshold - labels[mu] * omega[mu]) * s)
    return total
