"""Kernel of belief propagation with full messages on committee machines with binary weights.

Messages are fields on every edge (pattern, unit, weight), as in `message_kernels`. A pattern is one node. It is solved
exactly over the votes of the units, and over the inputs of a unit exactly or with a Gaussian sum.
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import FUSED, kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, erfcx, exp, log
from localentropy.solvers.binary.message_kernels import send

_NEVER = -1e30
"""The logarithm of 0, such that sums with it are finite."""
_TINY = 1e-300
"""Added to both probabilities of a ratio. If both underflow, the answer is 0."""


@subroutine(fastmath=FUSED)
def majority_without(
    plus: np.ndarray,
    minus: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    decisive: np.ndarray,
    above: np.ndarray,
) -> tuple[float, float]:
    """Votes of n independent voters, n odd, and of all but one of them: a Poisson-binomial recursion, O(n²).

    Args:
        plus: probability of each voter to be +, [n].
        minus: probability of each to be −, [n]. It is an argument because 1 − plus may lose all digits.
        before: work space, [n + 1, n + 1]. Row k is the distribution of the number of + among the first k voters.
        after: work space of the same shape, for the voters from k on.
        decisive: set to the probability that exactly (n − 1)/2 of the others are +, [n].
        above: set to the probability that at least (n + 1)/2 of the others are +, [n].

    Returns:
        The probabilities that most voters are + and that most are −.
    """
    n = plus.size
    half = (n - 1) // 2
    before[0, 0] = 1.0
    for one in range(n):
        before[one + 1, 0] = before[one, 0] * minus[one]
        for count in range(1, one + 1):
            before[one + 1, count] = before[one, count] * minus[one] + before[one, count - 1] * plus[one]
        before[one + 1, one + 1] = before[one, one] * plus[one]
    after[n, 0] = 1.0
    for one in range(n - 1, -1, -1):
        others = n - 1 - one
        after[one, 0] = after[one + 1, 0] * minus[one]
        for count in range(1, others + 1):
            after[one, count] = after[one + 1, count] * minus[one] + after[one + 1, count - 1] * plus[one]
        after[one, others + 1] = after[one + 1, others] * plus[one]
    for one in range(n):
        # With `count` + behind, at least half + 1 − count before are enough, and half − count are half of the others.
        exactly, more, enough = 0.0, 0.0, 0.0
        for count in range(half + 1, one + 1):
            enough += before[one, count]
        for count in range(n - one):
            missing = half + 1 - count
            if count > 0 and 0 <= missing <= one:
                enough += before[one, missing]
            more += enough * after[one + 1, count]
            if 1 <= missing <= one + 1:
                exactly += before[one, missing - 1] * after[one + 1, count]
        decisive[one] = exactly
        above[one] = more
    won, lost = 0.0, 0.0
    for count in range(half + 1):
        lost += before[n, count]
        won += before[n, n - count]
    return won, lost


@subroutine(fastmath=FUSED)
def _answer(
    pattern: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    omega: float,
    spread: float,
    log_above: float,
    bound: float,
    out: np.ndarray,
) -> None:
    """Fields ½ ln (r + p₊)/(r + p₋) to the weights of a unit, whose sum is Gaussian.

    p± is the probability that the unit is + if the weight is ±1. r, here its logarithm, is the ratio of the votes that
    are won without the unit to those that it decides. Both sides of the ratio are divided by the larger of p±, as far
    as this is a small tail.
    """
    floor = 1e-15 * spread + 1e-24
    for i in range(pattern.size):
        xi = np.float64(pattern[i])
        s = 1.0 / math.sqrt(max(spread - variance[i], floor))
        low, high = (mean[i] - omega - xi) * s, (mean[i] - omega + xi) * s
        common = 0.5 * max(min(low, high), 0.0) ** 2
        ratio = exp(min(max(common + log_above, -700.0), 690.0))
        falls_low = 0.5 * low * low - (common if low > 0.0 else 0.0)
        falls_high = 0.5 * high * high - (common if high > 0.0 else 0.0)
        a = 0.5 * erfcx(abs(low) * SQRT_HALF) * exp(-min(falls_low, 700.0))
        b = 0.5 * erfcx(abs(high) * SQRT_HALF) * exp(-min(falls_high, 700.0))
        a = a if low > 0.0 else 1.0 - a
        b = b if high > 0.0 else 1.0 - b
        out[i] = min(max(0.5 * log((ratio + a) / (ratio + b)), -bound), bound)


@kernel(fastmath=FUSED)
def update_messages(
    patterns: np.ndarray,
    units: int,
    exact: bool,
    damping: float,
    bound: float,
    fields: np.ndarray,
    total: np.ndarray,
    incoming: np.ndarray,
) -> float:
    """One update of all messages, in parallel.

    Args:
        patterns: labels times patterns, ±1, [P, K n]: the inputs of the first unit, of the second, and so on.
        units: K, odd.
        exact: whether the sum of a unit is exact, O(n²), or Gaussian.
        damping: share of the old fields kept; 1 keeps them.
        bound: largest field.
        fields: a_μi, [P, K n]; updated.
        total: h_i, [K n].
        incoming: set to Σ_μ a_μi, [K n].

    Returns:
        Σ_μ ln Z_μ of the messages before the update, Z_μ the probability that most units are on the side of the label.
    """
    size = total.size // units
    # A product of the (K + 1)/2 smallest probabilities does not underflow.
    floor = math.exp(-1300.0 / (units + 1))
    mean, variance, new = np.empty(total.size), np.empty(total.size), np.empty(total.size)
    omega, spread = np.empty(units), np.empty(units)
    plus, minus, decisive, above = np.empty(units), np.empty(units), np.empty(units), np.empty(units)
    before, after = np.empty((units + 1, units + 1)), np.empty((units + 1, units + 1))
    inner = size if exact else 1
    ups, downs, halves, others = np.empty(inner), np.empty(inner), np.empty(units * inner), np.empty(units * inner)
    front, back = np.empty((inner + 1, inner + 1)), np.empty((inner + 1, inner + 1))
    log_volume = 0.0
    incoming[:] = 0.0
    for mu in range(patterns.shape[0]):
        for unit in range(units):
            here = slice(unit * size, (unit + 1) * size)
            pattern = patterns[mu, here]
            omega[unit], spread[unit] = send(pattern, total[here], fields[mu, here], mean[here], variance[here])
            if exact:
                for i in range(size):
                    x = 2.0 * np.float64(pattern[i]) * (total[here.start + i] - fields[mu, here.start + i])
                    ups[i] = 1.0 / (1.0 + exp(min(max(-x, -600.0), 600.0)))
                    downs[i] = 1.0 / (1.0 + exp(min(max(x, -600.0), 600.0)))
                won, lost = majority_without(ups, downs, front, back, halves[here], others[here])
            else:
                t = omega[unit] / math.sqrt(max(spread[unit], 1e-24))
                smaller = 0.5 * erfcx(abs(t) * SQRT_HALF) * exp(-min(0.5 * t * t, 700.0))
                won, lost = (1.0 - smaller, smaller) if t > 0.0 else (smaller, 1.0 - smaller)
            plus[unit], minus[unit] = max(won, floor), max(lost, floor)
        log_volume += log(majority_without(plus, minus, before, after, decisive, above)[0])
        for unit in range(units):
            here = slice(unit * size, (unit + 1) * size)
            pattern = patterns[mu, here]
            ratio = above[unit] / decisive[unit]
            if exact:
                for i in range(here.start, here.stop):
                    least = ratio + others[i] + _TINY
                    answer = np.float64(patterns[mu, i]) * 0.5 * log((least + halves[i]) / least)
                    new[i] = min(max(answer, -bound), bound)
            else:
                log_above = log(ratio) if ratio > 0.0 else _NEVER
                _answer(pattern, mean[here], variance[here], omega[unit], spread[unit], log_above, bound, new[here])
        for i in range(total.size):
            a = damping * fields[mu, i] + (1.0 - damping) * new[i]
            fields[mu, i] = a
            incoming[i] += a
    return log_volume
