"""Kernel of single-flip Metropolis dynamics with an energy that depends on every pattern.

The chain is that of `annealing_kernels`, with the same random words. Attempt number c takes word c of the stream. Its
upper half chooses the weight i, and its lower half u decides: a flip that changes the energy by d is accepted if d <= 0
or u < floor(2³² exp(−β d)).
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import kernel
from localentropy.solvers.binary.bit_kernels import high_index, low_half, random_word

_ONE = np.uint64(1)
_NEVER = 23.0
"""Above 32 ln 2 = 22.2 no word is below the threshold."""


@kernel
def energy_sweeps(
    patterns: np.ndarray,
    odd: np.ndarray,
    even: np.ndarray,
    least: int,
    sums: np.ndarray,
    weights: np.ndarray,
    stream: np.ndarray,
    betas: np.ndarray,
    stop: bool,
    errors: np.ndarray,
) -> int:
    """Sweeps over ±1 weights on ±1 patterns, N odd.

    A flip of weight i moves the sum s of a pattern by −2 w_i y ξ_i. Twice the change of its energy ℓ(s) is

        [ℓ(s − 2) + ℓ(s + 2) − 2 ℓ(s)] + w_i y ξ_i [ℓ(s − 2) − ℓ(s + 2)].

    The kernel keeps the sum of the first bracket over the patterns, and the second bracket of each pattern. So an
    attempt is one product of a row of ±1 with a vector of integers. The tables are read only when a flip is accepted.

    Args:
        patterns: y ξ, int8, [N, P].
        odd: ℓ(s − 2) − ℓ(s + 2) at s = −N, −N + 2, …, N, int32, [N + 1].
        even: ℓ(s − 2) + ℓ(s + 2) − 2 ℓ(s) at the same s, int32, [N + 1].
        least: smallest sum that is no error.
        sums: Σ_i w_i y ξ_i, int32, [P]; changed.
        weights: int8 of ±1, [N]; changed.
        stream: key and number of words used, uint64, [2]; the second is changed.
        betas: inverse temperature of each sweep, times the unit of the tables, [sweeps].
        stop: end at the first configuration without errors.
        errors: receives the number of errors (not the energy) after each sweep, int64, [sweeps].

    Returns:
        Sweeps begun.
    """
    size = np.uint64(weights.size)
    N = np.int32(weights.size)
    odd_here = np.empty(sums.size, np.int32)
    even_total = wrong = 0
    for mu in range(sums.size):
        place = (sums[mu] + N) >> 1
        odd_here[mu] = odd[place]
        even_total += even[place]
        wrong += sums[mu] < least
    key, counter = stream[0], stream[1]
    sweep = 0
    while sweep < betas.size and not (stop and wrong == 0):
        half_beta = 0.5 * betas[sweep]
        for _ in range(weights.size):
            counter += _ONE
            word = random_word(key, counter)
            i = high_index(word, size)
            total = 0
            for mu in range(sums.size):
                total += odd_here[mu] * patterns[i, mu]
            twice_change = even_total + weights[i] * total
            exponent = half_beta * twice_change
            if twice_change <= 0 or (
                exponent < _NEVER and low_half(word) < np.uint64(4294967296.0 * math.exp(-exponent))
            ):
                twice = np.int32(2 * weights[i])
                wrong = 0
                for mu in range(sums.size):
                    sums[mu] -= twice * np.int32(patterns[i, mu])
                    wrong += sums[mu] < least
                total = 0
                for mu in range(sums.size):
                    odd_here[mu] = odd[np.uint32(sums[mu] + N) >> np.uint32(1)]
                for mu in range(sums.size):
                    total += odd_here[mu] * patterns[i, mu]
                # Flipping the weight back would change the energy by the opposite amount. The new sum follows from it.
                even_total = weights[i] * total - twice_change
                weights[i] = -weights[i]
                if stop and wrong == 0:
                    break
        errors[sweep] = wrong
        sweep += 1
    stream[1] = counter
    return sweep
