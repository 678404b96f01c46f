"""Compiled loop over flips: the train errors of binary weights while more and more of them are flipped."""

from __future__ import annotations

import numpy as np

from localentropy.numerics.compiled import kernel


@kernel
def errors_along_flips(
    contributions: np.ndarray, sums: np.ndarray, orders: np.ndarray, flips: np.ndarray, least: int, errors: np.ndarray
) -> None:
    """Number of patterns below the margin after flipping the first weights of each order.

    Args:
        contributions: w_i y ξ_i, int8, [N, P].
        sums: their sum over i, int32, [P].
        orders: the weights in the order in which they are flipped, int32, [realisations, at least flips[-1]].
        flips: numbers of flips, non-decreasing, int64, [distances].
        least: smallest sum that is no error.
        errors: receives the counts, int64, [distances, realisations].
    """
    for realisation in range(orders.shape[0]):
        current = sums.copy()
        done = 0
        for distance in range(flips.size):
            while done < flips[distance]:
                row = contributions[orders[realisation, done]]
                for mu in range(current.size):
                    current[mu] -= np.int32(2) * np.int32(row[mu])
                done += 1
            wrong = 0
            for mu in range(current.size):
                wrong += current[mu] < least
            errors[distance, realisation] = wrong
