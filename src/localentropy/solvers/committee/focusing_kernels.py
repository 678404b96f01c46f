"""Kernels of message passing on committee machines, with or without focusing.

One update goes through the patterns once: pre-activations of the units, majority nodes, fields back to the weights.
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import FUSED, kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, SQRT_TWO_OVER_PI, erfcx, exp, log
from localentropy.solvers.committee.kernels import add_all, preactivations

BLOCK = 32  # patterns at once: their majority nodes stay in the fastest cache and fill vector instructions


@subroutine(fastmath=FUSED)
def majority(
    plus: np.ndarray,
    minus: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    decisive: np.ndarray,
    total: np.ndarray,
) -> None:
    """Probability that most of K independent units are +, and that a unit decides, for several patterns.

    Exact, by convolution: O(K²) for all units of a pattern.

    Args:
        plus: probability of each unit to be +, [K, patterns], K odd.
        minus: probability of each unit to be −, [K, patterns]. It is an argument because 1 − plus may lose all digits.
        before: work space, [K + 1, K + 1, patterns]. Row l is the distribution of the number of + among the first l.
        after: work space of the same shape, for the units from l on.
        decisive: set to the probability that exactly (K − 1)/2 of the other units are +, [K, patterns].
        total: set to the probability that at least (K + 1)/2 units are +, [patterns].
    """
    K, patterns = plus.shape
    half = (K - 1) // 2
    for b in range(patterns):
        before[0, 0, b] = 1.0
        after[K, 0, b] = 1.0
        total[b] = 0.0
    for unit in range(K):
        for b in range(patterns):
            before[unit + 1, 0, b] = before[unit, 0, b] * minus[unit, b]
            before[unit + 1, unit + 1, b] = before[unit, unit, b] * plus[unit, b]
        for count in range(1, unit + 1):
            for b in range(patterns):
                before[unit + 1, count, b] = (
                    before[unit, count, b] * minus[unit, b] + before[unit, count - 1, b] * plus[unit, b]
                )
    for unit in range(K - 1, -1, -1):
        others = K - 1 - unit
        for b in range(patterns):
            after[unit, 0, b] = after[unit + 1, 0, b] * minus[unit, b]
            after[unit, others + 1, b] = after[unit + 1, others, b] * plus[unit, b]
        for count in range(1, others + 1):
            for b in range(patterns):
                after[unit, count, b] = (
                    after[unit + 1, count, b] * minus[unit, b] + after[unit + 1, count - 1, b] * plus[unit, b]
                )
    for unit in range(K):
        for b in range(patterns):
            decisive[unit, b] = 0.0
        for count in range(max(0, half - (K - 1 - unit)), min(unit, half) + 1):
            for b in range(patterns):
                decisive[unit, b] += before[unit, count, b] * after[unit + 1, half - count, b]
    for count in range(half + 1, K + 1):
        for b in range(patterns):
            total[b] += before[K, count, b]


def steepest_mean(units: int) -> float:
    """Bound on |t| for `vote`: the product of the (K + 1)/2 smallest probabilities of a pattern does not underflow."""
    return math.sqrt(2600.0 / (units + 1))


@subroutine(fastmath=FUSED)
def vote(
    t: np.ndarray,
    steepest: float,
    density: np.ndarray,
    plus: np.ndarray,
    minus: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    decisive: np.ndarray,
    total: np.ndarray,
) -> None:
    """The majority of K units with independent Gaussian pre-activations, for several patterns.

    Args:
        t: mean over standard deviation of each pre-activation, [K, patterns]; brought into ±steepest.
        steepest: bound on |t|, see `steepest_mean`.
        density: set to exp(−t²/2).
        plus: set to the probability of each unit to be +, Φ(t); work space of `majority`, as all that follow.
        minus: set to Φ(−t).
        before: see `majority`.
        after: see `majority`.
        decisive: see `majority`.
        total: see `majority`.
    """
    K, patterns = t.shape
    for unit in range(K):
        for b in range(patterns):
            x = min(max(t[unit, b], -steepest), steepest)
            bell = exp(-0.5 * x * x)
            smaller = 0.5 * erfcx(abs(x) * SQRT_HALF) * bell
            t[unit, b] = x
            density[unit, b] = bell
            plus[unit, b] = 1.0 - smaller if x > 0.0 else smaller
            minus[unit, b] = smaller if x > 0.0 else 1.0 - smaller
    majority(plus, minus, before, after, decisive, total)


@kernel(fastmath=FUSED)
def update_patterns(
    patterns: np.ndarray,
    means: np.ndarray,
    variances: np.ndarray,
    damping: float,
    steepest: float,
    slopes: np.ndarray,
    curvatures: np.ndarray,
    fields: np.ndarray,
    precisions: np.ndarray,
) -> float:
    """Update the fields from all patterns to the weights: steps 1–3 of `committee_focusing_bp`.

    Args:
        patterns: labels times patterns, int8 of ±1, [P, N].
        means: m, [K, N/K].
        variances: v of each unit, [K].
        damping: share of the old slopes and curvatures kept; 1 keeps them.
        steepest: bound on |ω|/√v, see `steepest_mean`.
        slopes: g = ∂ ln Z/∂ω, [P, K]; updated.
        curvatures: Γ = −∂² ln Z/∂ω², [P, K]; updated.
        fields: set to B_l = X_lᵀ g_l + A_l m_l, [K, N/K].
        precisions: set to A_l = K/N Σ_μ Γ_μl, [K].

    Returns:
        The patterns' part of the free entropy of the messages before the update, Σ_μ [ln Z_μ + Σ_l v_l g_μl²/2]
        (docs/shaping/theory.md eq. B.6).
    """
    P = patterns.shape[0]
    K, size = means.shape
    scale = 1.0 / math.sqrt(size)
    x, tail = np.zeros((K, BLOCK)), np.zeros((K, BLOCK))
    plus, minus, decisive = np.zeros((K, BLOCK)), np.zeros((K, BLOCK)), np.zeros((K, BLOCK))
    before, after = np.zeros((K + 1, K + 1, BLOCK)), np.zeros((K + 1, K + 1, BLOCK))
    total, sums, factors, rows = np.zeros(BLOCK), np.zeros(K), np.zeros((BLOCK, K)), np.arange(P)
    fields[:] = 0.0
    precisions[:] = 0.0
    free_entropy = 0.0
    for start in range(0, P, BLOCK):
        here = min(BLOCK, P - start)
        for b in range(here):
            preactivations(patterns[start + b], means, sums)
            for unit in range(K):
                x[unit, b] = scale * sums[unit] - variances[unit] * slopes[start + b, unit]
        for unit in range(K):
            root = math.sqrt(variances[unit])
            for b in range(BLOCK):
                x[unit, b] /= root
        vote(x, steepest, tail, plus, minus, before, after, decisive, total)
        for unit in range(K):
            root = math.sqrt(variances[unit])
            for b in range(BLOCK):
                g = 0.5 * SQRT_TWO_OVER_PI * tail[unit, b] * decisive[unit, b] / (root * total[b])
                plus[unit, b] = g
                minus[unit, b] = g * (g + x[unit, b] / root)
        for b in range(here):
            free_entropy += log(total[b])
            for unit in range(K):
                free_entropy += 0.5 * variances[unit] * slopes[start + b, unit] ** 2
                g = damping * slopes[start + b, unit] + (1.0 - damping) * plus[unit, b]
                gamma = damping * curvatures[start + b, unit] + (1.0 - damping) * minus[unit, b]
                slopes[start + b, unit] = g
                curvatures[start + b, unit] = gamma
                precisions[unit] += gamma / size
                factors[b, unit] = scale * g
        add_all(factors, patterns, rows[start : start + here], fields)
    for unit in range(K):
        for i in range(size):
            fields[unit, i] += precisions[unit] * means[unit, i]
    return free_entropy


@subroutine(fastmath=FUSED)
def replica_precision(square: float, coupling: float, replicas: float) -> float:
    """Precision x, without the coupling, at which a unit has norm 1: the root of square/x² + 1/(x + Λ(x)) = 1.

    Λ = 1/[(1/x + 1/λ)/(y − 1) + 1/λ] is the precision of the message from the y − 1 other replicas. Both terms fall
    with x. The root lies above √square, where the first term alone is 1, and below the root without coupling.

    Args:
        square: mean of B².
        coupling: λ, positive.
        replicas: y, larger than 1.
    """
    low, high = math.sqrt(square), 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * square))
    for _ in range(60):
        x = 0.5 * (low + high)
        if square / (x * x) + 1.0 / (x + returned_precision(x, coupling, replicas)) > 1.0:
            low = x
        else:
            high = x
    return 0.5 * (low + high)


@subroutine(fastmath=FUSED)
def returned_precision(x: float, coupling: float, replicas: float) -> float:
    """Λ, the precision of the message that the y − 1 other replicas send through the centre."""
    return 1.0 / ((1.0 / x + 1.0 / coupling) / (replicas - 1.0) + 1.0 / coupling)


@kernel(fastmath=FUSED)
def update_weights(
    fields: np.ndarray,
    coupling: float,
    replicas: float,
    damping: float,
    means: np.ndarray,
    variances: np.ndarray,
) -> float:
    """Update the weights from the fields on them (`shaping`, SI; step 4 of `committee_focusing_bp`).

    Args:
        fields: B, [K, N/K].
        coupling: λ.
        replicas: y.
        damping: share of the old means and variances kept.
        means: m, [K, N/K]; updated.
        variances: v, [K]; updated.

    Returns:
        The largest change of a mean, without damping; infinity if the fields overflowed.
    """
    K, size = means.shape
    largest = 0.0
    for unit in range(K):
        square = 0.0
        for i in range(size):
            square += fields[unit, i] * fields[unit, i]
        if not math.isfinite(square):
            return math.inf
        x = replica_precision(square / size, coupling, replicas)
        variance = 1.0 / (x + returned_precision(x, coupling, replicas))
        variances[unit] = damping * variances[unit] + (1.0 - damping) * variance
        for i in range(size):
            change = fields[unit, i] / x - means[unit, i]
            largest = max(largest, abs(change))
            means[unit, i] += (1.0 - damping) * change
    return largest


@kernel(fastmath=FUSED)
def update_weights_at_distance(
    fields: np.ndarray,
    reference: np.ndarray,
    distance: float,
    damping: float,
    means: np.ndarray,
    variances: np.ndarray,
) -> float:
    """Update the weights from the fields on them, at a distance from a reference (docs/shaping/theory.md eq. B.4).

    The multipliers of norm and overlap are found in closed form for each unit. A reference of zeros at the distance 1/2
    leaves the norm alone: the whole volume.

    Args:
        fields: B, [K, N/K].
        reference: w̃, [K, N/K], each unit of squared norm N/K.
        distance: D = (1 − S)/2, S the overlap with the reference.
        damping: share of the old means and variances kept.
        means: m, [K, N/K]; updated.
        variances: v, [K]; updated.

    Returns:
        The largest change of a mean, in units of √(1 − S²), the standard deviation of a weight without patterns, or
        relative change of a variance, both without damping; infinity if the fields overflowed.
    """
    K, size = means.shape
    overlap, free = 1.0 - 2.0 * distance, 4.0 * distance * (1.0 - distance)
    root, largest = math.sqrt(free), 0.0
    for unit in range(K):
        along = 0.0
        for i in range(size):
            along += fields[unit, i] * reference[unit, i]
        along /= size
        square = 0.0
        for i in range(size):
            across = fields[unit, i] - along * reference[unit, i]
            square += across * across
        if not math.isfinite(square):
            return math.inf
        x = (1.0 + math.sqrt(1.0 + 4.0 * free * square / size)) / (2.0 * free)
        largest = max(largest, abs(variances[unit] * x - 1.0))
        variances[unit] = damping * variances[unit] + (1.0 - damping) / x
        for i in range(size):
            across = fields[unit, i] - along * reference[unit, i]
            change = overlap * reference[unit, i] + across / x - means[unit, i]
            largest = max(largest, abs(change) / root)
            means[unit, i] += (1.0 - damping) * change
    return largest
