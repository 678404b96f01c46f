"""Kernels of belief propagation with full messages on the binary perceptron.

Messages are fields a_μi on every edge (pattern μ, weight i), because fields do not saturate. The mean that weight i
sends to pattern μ is tanh(h_i − a_μi), where h_i is the sum of all its fields. All loops run along the weights, which
are contiguous in memory. They are split so that no loop has calls or branches.
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import FUSED, REORDERED, kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, erfcx, exp, hazard, log, log_tail, tail_mantissa

LOG_2 = math.log(2.0)

SERIES_ORDER = 14
"""Terms of the power series of ln H, which is used if all edges of a pattern are close to its centre."""

SERIES_RADIUS = 0.25
"""Largest distance from the centre for the series. ln H is analytic within 2.8 of any real point, because the first
zeros of H are at −1.92 ± 2.82i. So the terms that are left out are below (0.25/2.8)¹⁴ = 2e-15."""

SERIES_LIMIT = 20.0
"""Largest centre for the series. Beyond it the coefficients lose digits."""


@subroutine(fastmath=REORDERED)
def signed_sum(pattern: np.ndarray, weights: np.ndarray) -> float:
    """Σ_i w_i ξ_i."""
    total = 0.0
    for i in range(pattern.size):
        total += np.float64(pattern[i]) * np.float64(weights[i])
    return total


@kernel(fastmath=FUSED)
def count_errors(patterns: np.ndarray, threshold: float, weights: np.ndarray) -> int:
    """Patterns [P, N], labels included, whose sum Σ_i w_i ξ_i is below the threshold or not positive."""
    errors = 0
    for mu in range(patterns.shape[0]):
        total = signed_sum(patterns[mu], weights)
        errors += total < threshold or total <= 0.0
    return errors


@subroutine(fastmath=FUSED)
def _tanh(x: float) -> float:
    """tanh x, absolute error below 1e-15."""
    tail = exp(-2.0 * min(abs(x), 300.0))
    return math.copysign((1.0 - tail) / (1.0 + tail), x)


@subroutine(fastmath=REORDERED)
def send(
    pattern: np.ndarray, total: np.ndarray, fields: np.ndarray, mean: np.ndarray, variance: np.ndarray
) -> tuple[float, float]:
    """Means ξm, m = tanh(h − a), and variances ξ²(1 − m²) of the weights without this pattern. Returns their sums."""
    omega, spread = 0.0, 0.0
    for i in range(pattern.size):
        x = total[i] - fields[i]
        tail = exp(-2.0 * min(abs(x), 300.0))
        inverse = 1.0 / (1.0 + tail)
        xi = np.float64(pattern[i])
        m = math.copysign((1.0 - tail) * inverse, x)
        v = xi * xi * 4.0 * tail * inverse * inverse
        mean[i] = xi * m
        variance[i] = v
        omega += xi * m
        spread += v
    return omega, spread


@subroutine(fastmath=FUSED)
def _series(x: float, c: np.ndarray) -> None:
    """c[k] = coefficient of δᵏ in −ln H(x + δ), k ≥ 1, from G' = G(G − x) for G = −d ln H/dx."""
    g = np.empty(SERIES_ORDER)
    g[0] = hazard(x)
    for k in range(SERIES_ORDER - 1):
        convolution = 0.0
        for j in range(k + 1):
            convolution += g[j] * g[k - j]
        previous = g[k - 1] if k > 0 else 0.0
        g[k + 1] = (convolution - x * g[k] - previous) / (k + 1)
    for k in range(SERIES_ORDER):
        c[k + 1] = g[k] / (k + 1)


@subroutine(fastmath=FUSED)
def _answer_series(
    pattern: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    gap: float,
    spread: float,
    c: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fields to the weights, exact up to rounding, by the power series of ln H around the argument of the pattern."""
    s0 = 1.0 / math.sqrt(spread)
    x0 = gap * s0
    inverse = 1.0 / spread
    c1, c2, c3, c4, c5, c6, c7 = c[1], c[2], c[3], c[4], c[5], c[6], c[7]
    c8, c9, c10, c11, c12, c13, c14 = c[8], c[9], c[10], c[11], c[12], c[13], c[14]
    for i in range(pattern.size):
        r = variance[i] * inverse
        # (1 − r)^(−1/2) − 1
        e = r * (429 / 2048) + 231 / 1024
        e = e * r + 63 / 256
        e = e * r + 35 / 128
        e = e * r + 5 / 16
        e = e * r + 3 / 8
        e = (e * r + 0.5) * r
        s = s0 + s0 * e
        xi = np.float64(pattern[i])
        centre = x0 * e + mean[i] * s
        low, high = centre - xi * s, centre + xi * s
        p = c14 * low + c13
        q = c14 * high + c13
        p, q = p * low + c12, q * high + c12
        p, q = p * low + c11, q * high + c11
        p, q = p * low + c10, q * high + c10
        p, q = p * low + c9, q * high + c9
        p, q = p * low + c8, q * high + c8
        p, q = p * low + c7, q * high + c7
        p, q = p * low + c6, q * high + c6
        p, q = p * low + c5, q * high + c5
        p, q = p * low + c4, q * high + c4
        p, q = p * low + c3, q * high + c3
        p, q = p * low + c2, q * high + c2
        p, q = p * low + c1, q * high + c1
        out[i] = 0.5 * (q * high - p * low)


@subroutine(fastmath=FUSED)
def _answer_direct(
    pattern: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    gap: float,
    spread: float,
    bound: float,
    out: np.ndarray,
) -> None:
    """Fields to the weights from two Gaussian tails for each, in log space: also right for frozen weights."""
    floor = 1e-15 * spread + 1e-24
    for i in range(pattern.size):
        xi = np.float64(pattern[i])
        s = 1.0 / math.sqrt(max(spread - variance[i], floor))
        centre = gap + mean[i]
        low, high = (centre - xi) * s, (centre + xi) * s
        a = tail_mantissa(low, erfcx(abs(low) * SQRT_HALF))
        b = tail_mantissa(high, erfcx(abs(high) * SQRT_HALF))
        squares = 0.5 * ((high * high if high > 0.0 else 0.0) - (low * low if low > 0.0 else 0.0))
        out[i] = min(max(0.5 * (log(a / b) + squares), -bound), bound)


@subroutine(fastmath=FUSED)
def _answer_expanded(pattern: np.ndarray, mean: np.ndarray, gap: float, spread: float, out: np.ndarray) -> None:
    """Fields to the weights to order 1/V: one hazard function for the pattern."""
    s = 1.0 / math.sqrt(spread)
    x = gap * s
    g = hazard(x)
    pull, reaction = s * g, s * s * g * (g - x)
    for i in range(pattern.size):
        xi = np.float64(pattern[i])
        out[i] = xi * (pull + reaction * mean[i])


@subroutine(fastmath=FUSED)
def _mix(
    new: np.ndarray, damping: float, live: float, fields: np.ndarray, incoming: np.ndarray, total: np.ndarray
) -> None:
    """a ← damping · a + (1 − damping) · new; adds a to `incoming` and live · (change of a) to `total`."""
    for i in range(new.size):
        a = damping * fields[i] + (1.0 - damping) * new[i]
        total[i] += live * (a - fields[i])
        incoming[i] += a
        fields[i] = a


@kernel(fastmath=FUSED)
def update_messages(
    patterns: np.ndarray,
    order: np.ndarray,
    threshold: float,
    reach: float,
    expanded: bool,
    damping: float,
    bound: float,
    sequential: bool,
    fields: np.ndarray,
    total: np.ndarray,
    incoming: np.ndarray,
) -> None:
    """One update of all messages.

    Args:
        patterns: labels times patterns, [P, N].
        order: the order of the patterns, a permutation.
        threshold: smallest pre-activation, in units of the patterns (margin times √N).
        reach: largest |pattern|.
        expanded: to order 1/V instead of exactly. Patterns with few free weights are always updated exactly.
        damping: share of the old field that is kept.
        bound: largest |field| of one message.
        sequential: each pattern sees the fields that the patterns before it have sent in this sweep.
        fields: a_μi, [P, N], overwritten.
        total: h_i, [N], overwritten if sequential.
        incoming: Σ_μ a_μi after the update, [N], overwritten.
    """
    size = patterns.shape[1]
    mean, variance, new = np.empty(size), np.empty(size), np.empty(size)
    coefficients = np.empty(SERIES_ORDER + 1)
    live = 1.0 if sequential else 0.0
    incoming[:] = 0.0
    for mu in order:
        pattern = patterns[mu]
        omega, spread = send(pattern, total, fields[mu], mean, variance)
        gap = threshold - omega
        spread = max(spread, 1e-24)
        # How far the arguments of the two tails of an edge can be from the argument of the pattern.
        rest = spread - reach * reach
        near = rest > 0.0 and 2.0 * reach + 0.5 * abs(gap) * reach * reach / rest < SERIES_RADIUS * math.sqrt(rest)
        if near and expanded:
            _answer_expanded(pattern, mean, gap, spread, new)
        elif near and abs(gap) < SERIES_LIMIT * math.sqrt(spread):
            _series(gap / math.sqrt(spread), coefficients)
            _answer_series(pattern, mean, variance, gap, spread, coefficients, new)
        else:
            _answer_direct(pattern, mean, variance, gap, spread, bound, new)
        _mix(new, damping, live, fields[mu], incoming, total)


@subroutine(fastmath=FUSED)
def _log_cosh(x: float) -> float:
    """ln cosh x."""
    return abs(x) + log(1.0 + exp(-2.0 * min(abs(x), 300.0))) - LOG_2


@subroutine(fastmath=FUSED)
def add_centre(coupling: float, replicas: float, fields: np.ndarray) -> None:
    """Add the centre's field to each h: artanh{tanh γ tanh[(y − 1) artanh(tanh γ tanh h)]} (margins, supplement II.3).

    artanh(tanh γ tanh x) is computed as ½ ln[cosh(γ + x)/cosh(γ − x)], which does not saturate.

    Args:
        coupling: γ, may be infinite.
        replicas: y.
        fields: [N], overwritten.
    """
    if coupling == 0.0 or replicas == 1.0:
        return
    if coupling == math.inf:
        for i in range(fields.size):
            fields[i] *= replicas
        return
    half = 0.5 * (replicas - 1.0)
    for i in range(fields.size):
        h = fields[i]
        inner = half * (_log_cosh(coupling + h) - _log_cosh(coupling - h))
        fields[i] = h + 0.5 * (_log_cosh(coupling + inner) - _log_cosh(coupling - inner))


@kernel(fastmath=REORDERED)
def update_weights(
    incoming: np.ndarray,
    external: np.ndarray,
    coupling: float,
    replicas: float,
    bound: float,
    total: np.ndarray,
    magnetizations: np.ndarray,
    changes: np.ndarray,
    weights: np.ndarray,
) -> tuple[float, float, float]:
    """Sum of all fields of each weight, its mean and its sign.

    Returns the largest change of a mean, the sum of squares of the changes, and their scalar product with the changes
    of the call before.

    Args:
        incoming: Σ_μ a_μi, [N].
        external: fields from outside, [N].
        coupling: γ to the centre; 0 without replicas.
        replicas: y.
        bound: largest |h|.
        total: h_i, [N], overwritten.
        magnetizations: tanh h_i, [N], overwritten.
        changes: of the magnetizations in the last call, [N], overwritten.
        weights: sign h_i, +1 where it is 0, int8 [N], overwritten.
    """
    largest, squares, product = 0.0, 0.0, 0.0
    for i in range(incoming.size):
        total[i] = incoming[i] + external[i]
    add_centre(coupling, replicas, total)
    for i in range(incoming.size):
        total[i] = min(max(total[i], -bound), bound)
        m = _tanh(total[i])
        change = m - magnetizations[i]
        largest = max(largest, abs(change))
        squares += change * change
        product += change * changes[i]
        changes[i] = change
        magnetizations[i] = m
        weights[i] = 1 if total[i] >= 0.0 else -1
    return largest, squares, product


@kernel(fastmath=FUSED)
def bethe_free_entropy(patterns: np.ndarray, threshold: float, fields: np.ndarray, total: np.ndarray) -> float:
    """Σ_μ ln H_μ + Σ_i ln 2cosh h_i − Σ_μi [ln cosh h_i − ln cosh(h_i − a_μi)] (margins, supplement II.3), nats.

    The term of an edge and the normalisation of its message are added: ln cosh a + ln(1 + tanh a tanh(h − a)) =
    ln cosh h − ln cosh(h − a).
    """
    number, size = patterns.shape
    mean, variance = np.empty(size), np.empty(size)
    free_entropy = 0.0
    for i in range(size):
        free_entropy += _log_cosh(total[i]) + LOG_2
    for mu in range(number):
        omega, spread = send(patterns[mu], total, fields[mu], mean, variance)
        free_entropy += log_tail((threshold - omega) / math.sqrt(max(spread, 1e-24)))
        for i in range(size):
            free_entropy -= _log_cosh(total[i]) - _log_cosh(total[i] - fields[mu, i])
    return free_entropy
