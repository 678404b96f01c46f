"""Kernel of single-flip Metropolis dynamics with any energy of the sums.

The chain is that of `energy_kernels`, with the same random words. Each attempt looks every pattern up in the table.
"""

from __future__ import annotations

import numpy as np

from localentropy.numerics.compiled import kernel
from localentropy.solvers.binary.bit_kernels import accepts, high_index, random_word

_ONE = np.uint64(1)


@kernel
def table_sweeps(
    patterns: np.ndarray,
    table: np.ndarray,
    wrong: np.ndarray,
    places: np.ndarray,
    weights: np.ndarray,
    stream: np.ndarray,
    betas: np.ndarray,
    errors: np.ndarray,
) -> int:
    """Sweeps over ±1 weights on ±1 patterns until the first configuration without errors.

    Args:
        patterns: y ξ, int8, [N, P].
        table: energy at the sums s = −N, −N + 2, …, N, int64, [N + 1].
        wrong: whether such a sum is an error, bool, [N + 1].
        places: (s + N)/2 of each pattern, int64, [P]; changed.
        weights: int8 of ±1, [N]; changed.
        stream: key and number of words used, uint64, [2]; the second is changed.
        betas: inverse temperature of each sweep, [sweeps].
        errors: receives the number of errors after each sweep, int64, [sweeps].

    Returns:
        Sweeps begun.
    """
    size = np.uint64(weights.size)
    key, counter = stream[0], stream[1]
    sweep, left = 0, 1
    while sweep < betas.size and left:
        for _ in range(weights.size):
            counter += _ONE
            word = random_word(key, counter)
            i = high_index(word, size)
            change = 0
            for mu in range(places.size):
                change += table[places[mu] - weights[i] * patterns[i, mu]] - table[places[mu]]
            if change <= 0 or accepts(word, betas[sweep] * change):
                left = 0
                for mu in range(places.size):
                    places[mu] -= weights[i] * patterns[i, mu]
                    left += wrong[places[mu]]
                weights[i] = -weights[i]
                if left == 0:
                    break
        left = 0
        for mu in range(places.size):
            left += wrong[places[mu]]
        errors[sweep] = left
        sweep += 1
    stream[1] = counter
    return sweep
