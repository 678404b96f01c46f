"""Kernel of single-flip Metropolis dynamics with an energy that depends on every pattern.

The chain is that of `annealing_kernels`, with the same random words. Attempt number c takes word c of the stream. Its
upper half chooses the weight i, and its lower half u decides: a flip that changes the energy by d is accepted if d <= 0
or u < floor(2³² exp(−β d)).
"""

from __future__ import annotations

import numpy as np

from localentropy.numerics.compiled import kernel
from localentropy.solvers.binary.bit_kernels import accepts, high_index, random_word

_ONE = np.uint64(1)


@kernel
def energy_sweeps(
    masks: np.ndarray,
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

    The kernel keeps the sums of both brackets over the patterns, and the second bracket of each pattern. Let t be its
    sum over the patterns with y ξ_i = 1, and T over all. Then Σ y ξ_i [...] = 2 t − T. So an attempt is an AND and an
    addition per pattern, of 32 bits. The tables are read only when a flip is accepted.

    Args:
        masks: −1 where y ξ = 1, else 0, int8, [N, P].
        odd: ℓ(s − 2) − ℓ(s + 2) at s = −N, −N + 2, …, N, int32, [N + 1]; P times the largest must be below 2³¹.
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
    first_right = np.int32((least + N + 1) >> 1)
    places = np.empty(sums.size, np.int32)  # (s + N)/2
    odd_here = np.empty(sums.size, np.int32)
    odd_total = even_total = wrong = 0
    for mu in range(sums.size):
        places[mu] = (sums[mu] + N) >> 1
        odd_here[mu] = odd[places[mu]]
        odd_total += odd_here[mu]
        even_total += even[places[mu]]
        wrong += places[mu] < first_right
    key, counter = stream[0], stream[1]
    sweep = 0
    while sweep < betas.size and not (stop and wrong == 0):
        half_beta = 0.5 * betas[sweep]
        for _ in range(weights.size):
            counter += _ONE
            word = random_word(key, counter)
            i = high_index(word, size)
            # Without the casts the loops have half as many lanes: sums of 32-bit numbers are of 64 bits in numba.
            part = np.int32(0)
            for mu in range(sums.size):
                part = np.int32(part + (odd_here[mu] & np.int32(masks[i, mu])))
            twice_change = even_total + weights[i] * (2 * np.int64(part) - odd_total)
            if twice_change <= 0 or accepts(word, half_beta * twice_change):
                # Three loops, because one would not be compiled to vector instructions.
                step = np.int32(weights[i])
                errors_left = np.int32(0)
                for mu in range(sums.size):
                    place = np.int32(places[mu] + step + 2 * step * np.int32(masks[i, mu]))
                    places[mu] = place
                    errors_left = np.int32(errors_left + np.int32(place < first_right))
                for mu in range(sums.size):
                    odd_here[mu] = odd[np.uint32(places[mu])]
                part = all_odd = np.int32(0)
                for mu in range(sums.size):
                    part = np.int32(part + (odd_here[mu] & np.int32(masks[i, mu])))
                    all_odd = np.int32(all_odd + odd_here[mu])
                wrong, odd_total = int(errors_left), int(all_odd)
                # Flipping the weight back would change the energy by the opposite amount. The new sum follows from it.
                even_total = weights[i] * (2 * np.int64(part) - odd_total) - twice_change
                weights[i] = -weights[i]
                if stop and wrong == 0:
                    break
        errors[sweep] = wrong
        sweep += 1
    for mu in range(sums.size):
        sums[mu] = 2 * places[mu] - N
    stream[1] = counter
    return sweep
