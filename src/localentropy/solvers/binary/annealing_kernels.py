"""Kernels of single-flip Metropolis dynamics on the number of errors.

The chain is as follows; the tests repeat it in plain Python. Attempt number c takes the random word c of the stream.
Its upper half chooses the weight i, and its lower half u decides: a flip that changes the energy by d is accepted if
d <= 0 or u < floor(2³² x^d). Here x = exp(−β), and the power is a repeated multiplication. A sweep is N attempts.
"""

from __future__ import annotations

import numpy as np

from localentropy.numerics.compiled import kernel, subroutine
from localentropy.solvers.binary.bit_kernels import count_bits, high_index, low_half, random_word

_ZERO, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)


@subroutine
def _fill_thresholds(boltzmann: float, thresholds: np.ndarray) -> None:
    """thresholds[d] = floor(2³² x^d). The lower half of every word is below thresholds[0]."""
    power = 4294967296.0
    d = 0
    while d < thresholds.size and power >= 1.0:
        thresholds[d] = np.uint64(power)
        power *= boltzmann
        d += 1
    thresholds[d:] = _ZERO


@subroutine
def _refresh_edge(planes: np.ndarray, valid: np.ndarray, edge: np.ndarray) -> tuple[np.int64, np.int64, np.int64]:
    """Recompute `edge` from the counters: (patterns just above the margin, just below it, errors)."""
    above = below = errors = _ZERO
    for j in range(valid.size):
        every, some = _ALL, _ZERO
        for k in range(planes.shape[1]):
            every &= planes[j, k]
            some |= planes[j, k]
        every &= valid[j]
        some = ~some & valid[j]
        edge[j] = every | some
        above += count_bits(some)
        below += count_bits(every)
        errors += count_bits(planes[j, planes.shape[1] - 1] & valid[j])
    return np.int64(above), np.int64(below), np.int64(errors)


@subroutine
def _flip(
    bits: np.ndarray, i: np.uint64, inverted: np.uint64, planes: np.ndarray, valid: np.ndarray, edge: np.ndarray
) -> tuple[np.int64, np.int64]:
    """Change the counters and `edge` for a flip of weight i; `inverted` is all ones if the weight was −1, else 0.

    Returns:
        Patterns just above the margin, just below it.
    """
    above = below = _ZERO
    for j in range(valid.size):
        # A counter loses 1 where w y ξ was +1 and gains 1 elsewhere. Its lowest bit always turns. The next bit turns
        # where this one turned from 0 to 1 in a loss, or from 1 to 0 in a gain.
        lose = bits[i, j] ^ inverted
        turn = every = _ALL
        some = _ZERO
        for k in range(planes.shape[1]):
            old = planes[j, k]
            new = old ^ turn
            turn &= old ^ lose
            planes[j, k] = new
            every &= new
            some |= new
        every &= valid[j]
        some = ~some & valid[j]
        edge[j] = every | some
        above += count_bits(some)
        below += count_bits(every)
    return np.int64(above), np.int64(below)


@kernel
def lattice_sweeps(
    bits: np.ndarray,
    valid: np.ndarray,
    planes: np.ndarray,
    weights: np.ndarray,
    stream: np.ndarray,
    boltzmann: np.ndarray,
    stop: bool,
    errors: np.ndarray,
) -> int:
    """Sweeps over ±1 weights on ±1 patterns, with all patterns of a word at once.

    A flip moves every sum s = Σ_i w_i y ξ_i by 2. So the energy changes only for patterns with s = h_min, the smallest
    allowed sum, or s = h_min − 2. A popcount over these patterns gives the change, and a rejected flip costs nothing
    else. The kernel stores c = (s − h_min)/2 in two's complement, each bit in a plane. Then a flip adds ±1 to 64
    counters in a few operations per plane, all planes agree for c = 0 and c = −1, and the last plane marks the errors.

    Args:
        bits: signs of y ξ packed along the patterns, uint64, [N, words].
        valid: ones for the patterns, zeros beyond them, uint64, [words].
        planes: the counters, uint64, [words, planes]; changed.
        weights: int8 of ±1, [N]; changed.
        stream: key and number of words used, uint64, [2]; the second is changed.
        boltzmann: exp(−β) of each sweep, [sweeps].
        stop: end at the first configuration without errors.
        errors: receives the errors after each sweep, int64, [sweeps].

    Returns:
        Sweeps begun.
    """
    size = np.uint64(weights.size)
    edge = np.empty_like(valid)
    above, below, energy = _refresh_edge(planes, valid, edge)
    patterns = np.int64(0)
    for j in range(valid.size):
        patterns += np.int64(count_bits(valid[j]))
    thresholds = np.empty(patterns + 1, np.uint64)
    key, counter = stream[0], stream[1]
    sweep = 0
    while sweep < boltzmann.size and not (stop and energy == 0):
        _fill_thresholds(boltzmann[sweep], thresholds)
        for _ in range(weights.size):
            counter += _ONE
            word = random_word(key, counter)
            i = high_index(word, size)
            count = _ZERO
            for j in range(valid.size):
                count += count_bits(bits[i, j] & edge[j])
            # Without a branch, because a processor cannot predict the sign of a weight.
            w = np.int64(weights[i])
            positive = (w + 1) >> 1
            change = w * np.int64(count) - positive * below + (1 - positive) * above
            if low_half(word) < thresholds[max(change, 0)]:
                above, below = _flip(bits, i, np.uint64(positive) - _ONE, planes, valid, edge)
                weights[i] = -weights[i]
                energy += change
                if stop and energy == 0:
                    break
        errors[sweep] = energy
        sweep += 1
    stream[1] = counter
    return sweep


@kernel
def real_sweeps(
    patterns: np.ndarray,
    least: float,
    sums: np.ndarray,
    weights: np.ndarray,
    stream: np.ndarray,
    boltzmann: np.ndarray,
    stop: bool,
    errors: np.ndarray,
) -> int:
    """The same chain on real patterns, where every attempt needs every pattern.

    The other arguments and the result are those of `lattice_sweeps`.

    Args:
        patterns: y ξ, float32, [N, P].
        least: smallest allowed sum.
        sums: Σ_i w_i y ξ_i, float64, [P]; changed.
    """
    size = np.uint64(weights.size)
    thresholds = np.empty(sums.size + 1, np.uint64)
    energy = 0
    for mu in range(sums.size):
        energy += sums[mu] < least
    key, counter = stream[0], stream[1]
    sweep = 0
    while sweep < boltzmann.size and not (stop and energy == 0):
        _fill_thresholds(boltzmann[sweep], thresholds)
        for _ in range(weights.size):
            counter += _ONE
            word = random_word(key, counter)
            i = high_index(word, size)
            twice = 2.0 * weights[i]
            flipped = 0
            for mu in range(sums.size):
                flipped += sums[mu] - twice * patterns[i, mu] < least
            change = flipped - energy
            if low_half(word) < thresholds[max(change, 0)]:
                for mu in range(sums.size):
                    sums[mu] -= twice * patterns[i, mu]
                weights[i] = -weights[i]
                energy = flipped
                if stop and energy == 0:
                    break
        errors[sweep] = energy
        sweep += 1
    stream[1] = counter
    return sweep
