"""Local energy of binary weights: the train error after a fraction d of the weights is flipped at random.

The weights stay ±1, so the noise is a number of flips instead of a Gaussian factor (`overparam`, §E.2; the text does
not say how it was done). In the limit of large N the energy of a solution with stability density P(Δ) is

    E(d) = ∫_κ^∞ dΔ P(Δ) H( ((1 − 2d) Δ − κ) / √(4 d (1 − d)) ),    H(x) = ∫_x^∞ dz e^{−z²/2}/√(2π).

At κ = 0 it starts like √(2/π) P(0⁺) √d: the slope of typical solutions is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from localentropy import seeds
from localentropy.arguments import MOST_DRAWS, require_array, require_integer, require_signs
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, smallest_allowed
from localentropy.landscape.flip_kernels import errors_along_flips
from localentropy.solvers.solution import check_instance, check_run


@dataclass(frozen=True)
class FlipEnergy:
    """Train errors after some weights are flipped.

    Attributes:
        flips: number of flipped weights, [distances].
        distance: fraction of flipped weights, flips/N, [distances].
        train_error: fraction of patterns in error, [distances, realisations].
    """

    flips: np.ndarray
    distance: np.ndarray
    train_error: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean over realisations, [distances]."""
        return self.train_error.mean(1)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of the mean over realisations, [distances]; NaN if there is only one.

        It is the error of the energy of these weights. The error of an average over samples comes from the differences
        between the means of the samples.
        """
        realisations = self.train_error.shape[1]
        if realisations < 2:
            return np.full(len(self.flips), np.nan)
        return self.train_error.std(1, ddof=1) / np.sqrt(realisations)


def flip_energy(
    instance: Instance,
    weights: np.ndarray,
    *,
    distances: ArrayLike,
    realisations: int,
    seed: int,
    margin: float = 0.0,
) -> FlipEnergy:
    """Train error after flipping round(dN) weights chosen at random, several times at each distance.

    A realisation is a random order of the weights. At each distance its first round(dN) weights are flipped. The orders
    depend only on N and the seed. So solutions of different solvers get the same flips under the same seed, and a finer
    grid or more realisations change no old number.

    Args:
        instance: the patterns.
        weights: ±1, [N].
        distances: fractions of flipped weights d, in [0, 1], in any order.
        realisations: number of orders.
        seed: root seed of the orders.
        margin: κ; an error is a stability below it.

    Raises:
        DomainError: weights other than ±1 or of another length, a distance outside [0, 1], realisations < 1, a margin
            outside [0, √N], a seed that is no integer.
    """
    check_run(instance, seed)
    weights = require_signs("weights", weights, (instance.N,))
    flips = numbers_of_flips(distances, instance.N)
    realisations = require_integer("realisations", realisations, 1, MOST_DRAWS)
    least = smallest_allowed(margin, instance.N)
    stream = seeds.generator(seed, "local_energy", N=instance.N)
    orders = np.stack([stream.permutation(instance.N).astype(np.int32) for _ in range(realisations)])
    if instance.binary:
        increasing = np.argsort(flips, kind="stable")
        contributions = np.ascontiguousarray((instance.signed_patterns * weights).T)
        errors = np.empty((len(flips), realisations), np.int64)
        sums = instance.sums(weights).astype(np.int32)
        errors_along_flips(contributions, sums, orders, flips[increasing], least, errors)
        train_error = np.empty(errors.shape)
        train_error[increasing] = errors / instance.P
    else:
        train_error = np.array([instance.train_error(flipped(weights, orders[:, :k]), margin) for k in flips])
    return FlipEnergy(flips, flips / instance.N, train_error)


def expected_flip_energy(
    instance: Instance, weights: np.ndarray, *, distances: ArrayLike, margin: float = 0.0
) -> np.ndarray:
    """Exact mean of `flip_energy` over all choices of the flipped weights, ±1 patterns only: [distances].

    A sum s has (N + s)/2 terms +1. If j of the k flipped terms were +1, the sum becomes s + 2k − 4j, and j has a
    hypergeometric distribution. So the energy follows from the stabilities alone.

    Args:
        instance: ±1 patterns.
        weights: ±1, [N].
        distances: fractions of flipped weights d, in [0, 1]; round(dN) are flipped.
        margin: κ.

    Raises:
        DomainError: real patterns, weights other than ±1 or of another length, a distance outside [0, 1], a margin
            outside [0, √N].
    """
    check_instance(instance)
    if not instance.binary:
        raise DomainError("the exact local energy needs ±1 patterns; take activation = 'sign', or flip_energy")
    weights = require_signs("weights", weights, (instance.N,))
    flips = numbers_of_flips(distances, instance.N)
    sums, counts = np.unique(instance.sums(weights).astype(np.int64), return_counts=True)
    return energy_of_sums(sums, counts, flips, instance.N, smallest_allowed(margin, instance.N)) / instance.P


def energy_of_sums(sums: np.ndarray, counts: np.ndarray, flips: np.ndarray, N: int, least: int) -> np.ndarray:
    """Mean number of errors after flips, from the sums before: [flips].

    Args:
        sums: s = Σ_i w_i y ξ_i, integers of the parity of N, [sums].
        counts: number of patterns with each sum, [sums]. If it has probabilities, the result is the train error.
        flips: numbers k of weights flipped at random, [flips].
        N: number of weights.
        least: h_min, the smallest sum that is no error.
    """
    from scipy.stats import hypergeom

    flips = np.asarray(flips)[:, None]
    # An error is s + 2k − 4j < h_min.
    most = (sums + 2 * flips - least) // 4
    return hypergeom.sf(most, N, (N + sums) // 2, flips) @ counts


def numbers_of_flips(distances: ArrayLike, N: int) -> np.ndarray:
    """round(dN), int64, [distances].

    Raises:
        DomainError: a distance outside [0, 1], or none.
    """
    return np.rint(require_array("distance", distances, 0.0, 1.0).ravel() * N).astype(np.int64)


def flipped(weights: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Copies of the weights with some flipped.

    Args:
        weights: [N].
        places: indices of the weights to flip, no index twice in a row, [copies, flips].

    Returns:
        [copies, N].
    """
    copies = np.repeat(weights[None], len(places), axis=0)
    np.put_along_axis(copies, places, -np.take_along_axis(copies, places, 1), 1)
    return copies
