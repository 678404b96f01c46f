"""Kernel of SBPI: integer hidden states, and signs packed 64 to a word along the weights.

The rule is as follows; the tests repeat it in plain Python. A pass first shuffles the order of the patterns by Fisher
and Yates: for k = P − 1 … 1, one random word chooses the place below k + 1 that is exchanged with k. Then each pattern
acts on the current weights. A pattern that is barely correct takes one more random word.
"""

from __future__ import annotations

import numpy as np

from localentropy.numerics.compiled import kernel, subroutine
from localentropy.solvers.binary.bit_kernels import count_bits, high_index, low_half, random_word

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@subroutine
def _disagreements(pattern: np.ndarray, weights: np.ndarray) -> np.int64:
    count = _ZERO
    for j in range(weights.size):
        count += count_bits(pattern[j] ^ weights[j])
    return np.int64(count)


@subroutine
def _learn(pattern: np.ndarray, hidden: np.ndarray, weights: np.ndarray) -> None:
    """h_i ← h_i + 2 y ξ_i for all i, and the signs packed anew."""
    for j in range(weights.size):
        word = _ZERO
        for b in range(min(64, hidden.size - 64 * j)):
            bit = np.uint64(b)
            h = hidden[64 * j + b] + np.int32(4) * np.int32((pattern[j] >> bit) & _ONE) - np.int32(2)
            hidden[64 * j + b] = h
            word |= np.uint64(h > 0) << bit
        weights[j] = word


@subroutine
def _reinforce(pattern: np.ndarray, hidden: np.ndarray, weights: np.ndarray) -> None:
    """h_i ← h_i + 2 w_i where w_i = y ξ_i: no weight changes sign."""
    for j in range(weights.size):
        agree = ~(pattern[j] ^ weights[j])
        for b in range(min(64, hidden.size - 64 * j)):
            bit = np.uint64(b)
            w = np.int32(2) * np.int32((weights[j] >> bit) & _ONE) - np.int32(1)
            hidden[64 * j + b] += np.int32(2) * w * np.int32((agree >> bit) & _ONE)


@kernel
def sbpi_passes(
    patterns: np.ndarray,
    hidden: np.ndarray,
    weights: np.ndarray,
    order: np.ndarray,
    stream: np.ndarray,
    least: int,
    theta: int,
    reinforce_below: np.uint64,
    errors: np.ndarray,
) -> int:
    """Passes over the patterns until none is in error in a separate check with frozen weights.

    Args:
        patterns: signs of y ξ packed along the weights, uint64, [P, words].
        hidden: odd integers, int32, [N]; changed.
        weights: their signs, packed, uint64, [words]; changed.
        order: a permutation of the patterns, int64, [P]; changed.
        stream: key and number of words used, uint64, [2]; the second is changed.
        least: smallest allowed sum s = Σ_i w_i y ξ_i, odd.
        theta: θ_m; patterns with least <= s < least + θ_m are barely correct.
        reinforce_below: p_s 2³².
        errors: receives the errors after each pass, int64, [passes].

    Returns:
        Passes made.
    """
    key, counter = stream[0], stream[1]
    made = 0
    while made < errors.size:
        for k in range(order.size - 1, 0, -1):
            counter += _ONE
            place = np.int64(high_index(random_word(key, counter), np.uint64(k + 1)))
            order[k], order[place] = order[place], order[k]
        for mu in order:
            excess = hidden.size - 2 * _disagreements(patterns[mu], weights) - (least - 1)
            if excess <= 0:
                _learn(patterns[mu], hidden, weights)
            elif excess <= theta:
                counter += _ONE
                if low_half(random_word(key, counter)) < reinforce_below:
                    _reinforce(patterns[mu], hidden, weights)
        wrong = 0
        for mu in range(order.size):
            wrong += hidden.size - 2 * _disagreements(patterns[mu], weights) < least
        errors[made] = wrong
        made += 1
        if wrong == 0:
            break
    stream[1] = counter
    return made
