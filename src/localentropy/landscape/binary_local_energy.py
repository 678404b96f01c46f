"""Local energy of binary weights: the train error after a fraction d of the weights is flipped at random.

The weights stay ±1, so the noise is a number of flips instead of a Gaussian factor (`overparam`, §E.2; the text does
not say how it was done). In the limit of large N the energy of a solution with stability density P(Δ) is

    E(d) = ∫_κ^∞ dΔ P(Δ) H( ((1 − 2d) Δ − κ) / √(4 d (1 − d)) ),    H(x) = ∫_x^∞ dz e^{−z²/2}/√(2π).

At κ = 0 it starts like √(2/π) P(0⁺) √d: the slope of typical solutions is infinite.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from localentropy.arguments import require_integer, require_reals, require_signs
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, smallest_allowed
from localentropy.quantities import FLIPS, SIZE
from localentropy.solvers.solution import check_instance


def expected_flip_energy(
    instance: Instance, weights: np.ndarray, *, distances: ArrayLike, margin: float = 0.0
) -> np.ndarray:
    """Train error after round(dN) weights are flipped, mean over all choices of them; ±1 patterns only.

    A sum s has (N + s)/2 terms +1. If j of the k flipped terms were +1, the sum becomes s + 2k − 4j, and j has a
    hypergeometric distribution. So the energy follows from the stabilities alone.

    Args:
        instance: ±1 patterns.
        weights: ±1, [N].
        distances: fractions of flipped weights d, in [0, 1]; round(dN) are flipped.
        margin: κ.

    Returns:
        Mean train errors, [distances].

    Raises:
        DomainError: real patterns, weights other than ±1 or of another length, a distance outside [0, 1], a margin
            outside [0, √N].

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.landscape.binary_local_energy import expected_flip_energy
        >>> data = random_patterns(N=201, P=60, seed=0)
        >>> dense = solvers.focusing_bp(data, seed=0).weights
        >>> expected_flip_energy(data, dense, distances=[0.0, 0.05, 0.5]).round(2).tolist()
        [0.0, 0.02, 0.49]
    """
    check_instance(instance)
    if not instance.binary:
        raise DomainError("the exact local energy needs ±1 patterns; take activation = 'sign'")
    weights = require_signs("weights", weights, (instance.N,))
    flips = numbers_of_flips(distances, instance.N)
    sums, counts = np.unique(instance.sums(weights).astype(np.int64), return_counts=True)
    return energy_of_sums(sums, counts, flips, instance.N, smallest_allowed(margin, instance.N)) / instance.P


def energy_of_sums(sums: np.ndarray, counts: np.ndarray, flips: np.ndarray, N: int, least: int) -> np.ndarray:
    """Mean number of errors after flips, from the sums before them.

    Args:
        sums: s = Σ_i w_i y ξ_i, integers of the parity of N, [sums].
        counts: number of patterns with each sum, [sums]. If it has probabilities, the result is the train error.
        flips: numbers k of weights flipped at random, [flips].
        N: number of weights.
        least: h_min, the smallest sum that is no error.

    Returns:
        Mean numbers of errors, [flips].

    Raises:
        DomainError: arrays of other shapes, a sum of another parity than N or beyond ±N, a number of flips that is no
            integer from 0 to N, an N below 1.

    Example:
        >>> import numpy as np
        >>> from localentropy.landscape.binary_local_energy import energy_of_sums
        >>> sums, counts = np.array([1, 3]), np.array([1, 1])  # one pattern has the sum 1, another the sum 3
        >>> energy_of_sums(sums, counts, flips=np.array([0, 1, 2]), N=5, least=1).round(3).tolist()
        [0.0, 0.6, 0.9]
    """
    from scipy.stats import hypergeom

    N, least = SIZE.require(N), require_integer("least", least)
    sums, flips = require_reals("sums", sums, ("sums",)), require_reals("flips", flips, ("flips",))
    counts = require_reals("counts", counts, sums.shape)
    wrong = (np.abs(sums) > N) | ((sums - N) % 2 != 0)
    if wrong.any():
        raise DomainError(f"sums: {sums[wrong][0]:g} is among them, allowed are −N, −N + 2, …, N, with N = {N}")
    wrong = (flips < 0) | (flips > N) | (flips % 1 != 0)
    if wrong.any():
        raise DomainError(f"flips: {flips[wrong][0]:g} is among them, allowed are integers from 0 to N = {N}")
    sums, flips = sums.astype(np.int64), flips.astype(np.int64)[:, None]
    # An error is s + 2k − 4j < h_min.
    most = (sums + 2 * flips - least) // 4
    return hypergeom.sf(most, N, (N + sums) // 2, flips) @ counts


def numbers_of_flips(distances: ArrayLike, N: int) -> np.ndarray:
    """The numbers of weights, round(dN), at distances d.

    Args:
        distances: fractions d of the weights, in [0, 1].
        N: number of weights.

    Returns:
        int64, [distances].

    Raises:
        DomainError: a distance outside [0, 1], or none.

    Example:
        >>> from localentropy.landscape.binary_local_energy import numbers_of_flips
        >>> numbers_of_flips([0.0, 0.01, 0.5], N=201).tolist()
        [0, 2, 100]
    """
    return np.rint(FLIPS.require_all(distances).ravel() * N).astype(np.int64)
