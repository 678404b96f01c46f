"""Problems for the tree committee machine: problems of the perceptron, whose inputs are divided among K units.

Conventions (`overparam`, eq. 17; `shaping`, eq. 14): unit l has the l-th block of N/K inputs, ξ_l, and real weights w_l
of norm 1. The output of the machine is sign Σ_l sign(w_l·ξ_l). K is odd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from localentropy.arguments import require_integer
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, hidden_manifold, random_patterns
from localentropy.numerics.activations import Activation

_BLOCK = 2**21  # entries of a block of patterns in float64


@dataclass(frozen=True, eq=False)
class TreeCommittee:
    """A labelled training set for K units, each with N/K inputs of its own.

    Attributes:
        data: the patterns, labels, and what made them.
        units: K, odd; divides N.

    Raises:
        DomainError: K no integer, even or below 1, or N not divisible by K.
    """

    data: Instance
    units: int

    def __post_init__(self) -> None:
        N, K = self.data.N, require_integer("units", self.units)
        if K < 1 or K % 2 == 0:
            raise DomainError(f"units = {K}: must be odd, or votes can tie; nearest allowed is {max(1, K + 1)}")
        if N % K:
            raise DomainError(
                f"N = {N} is not divisible by units = {K}; nearest allowed are {N - N % K or K}, {N - N % K + K}"
            )

    @property
    def P(self) -> int:
        """Number of patterns."""
        return self.data.P

    @property
    def N(self) -> int:
        """Number of weights of all units."""
        return self.data.N

    @property
    def inputs_per_unit(self) -> int:
        """N/K."""
        return self.data.N // self.units

    def preactivations(self, weights: np.ndarray) -> np.ndarray:
        """Pre-activations x_l = y w_l·ξ_l of all units on the training patterns, times the labels.

        Args:
            weights: [K, N/K] or [students, K, N/K].

        Returns:
            float64, [P, K] or [students, P, K].

        Raises:
            DomainError: weights of another shape or not finite.
        """
        students = self._students(weights)
        fields = np.empty((len(students), self.P, self.units))
        rows = max(1, _BLOCK // self.N)
        for start in range(0, self.P, rows):
            part = slice(start, start + rows)
            fields[:, part] = self._sums(self.data.signed_patterns[part], students)
        return fields if np.ndim(weights) == 3 else fields[0]

    def train_error(self, weights: np.ndarray) -> Any:
        """Fraction of training patterns without a majority of units on the side of the label.

        A unit whose pre-activation is exactly zero has no vote. No majority is an error.

        Args:
            weights: [K, N/K] or [students, K, N/K].

        Returns:
            One number, or [students].

        Raises:
            DomainError: weights of another shape or not finite.
        """
        votes = np.sign(self.preactivations(weights)).sum(-1)
        error = (votes <= 0).mean(-1)
        return error if error.ndim else float(error)

    def test_error(self, weights: np.ndarray, n: int = 10_000) -> Any:
        """Fraction of n fresh patterns of the same teacher and features that get the wrong label.

        The patterns are the first n of one fixed sequence, for all weights and all calls. A tie is half an error.

        Args:
            weights: [K, N/K] or [students, K, N/K].
            n: number of patterns.

        Returns:
            One number, or [students].

        Raises:
            DomainError: random patterns, which have no teacher; weights of another shape or not finite; n < 1.
        """
        n = require_integer("n", n, 1)
        students = self._students(weights)
        wrong = np.zeros(len(students))
        for patterns, labels in self.data.test_patterns(n):
            answers = np.sign(np.sign(self._sums(patterns, students)).sum(-1))
            wrong += 0.5 * (1.0 - answers * labels).sum(1)
        error = wrong / n
        return error if np.ndim(weights) == 3 else float(error[0])

    def _students(self, weights: np.ndarray) -> np.ndarray:
        """The weights in float64, [students, K, N/K]."""
        students = np.asarray(weights, np.float64)
        shape = (self.units, self.inputs_per_unit)
        if students.ndim not in (2, 3) or students.shape[-2:] != shape:
            raise DomainError(f"weights of shape {students.shape}: allowed are {shape} and (students, *{shape})")
        if not np.isfinite(students).all():
            raise DomainError("weights must be finite: some are infinite or NaN")
        return students.reshape(-1, *shape)

    def _sums(self, patterns: np.ndarray, students: np.ndarray) -> np.ndarray:
        """w_l·ξ_l of patterns [rows, N], as [students, rows, K]."""
        blocks = patterns.reshape(len(patterns), self.units, -1).swapaxes(0, 1).astype(np.float64)
        return (blocks @ students.transpose(1, 2, 0)).transpose(2, 1, 0)


def tree_committee(D: int, P: int, N: int, K: int, seed: int, activation: Activation = "sign") -> TreeCommittee:
    """Random features of Gaussian latent patterns in K blocks, labelled by a binary perceptron in the latent space.

    The data are those of the perceptron of the same sizes and seed (`overparam`, §III: "generated in the same way").

    Args:
        D: latent dimension.
        P: number of training patterns.
        N: number of features, one weight each.
        K: number of units.
        seed: root seed.
        activation: nonlinearity of the features, see `hidden_manifold`.

    Raises:
        DomainError: K even, N not divisible by K, or see `hidden_manifold`.
    """
    return TreeCommittee(hidden_manifold(D=D, P=P, N=N, seed=seed, activation=activation), K)


def random_tree_committee(N: int, P: int, K: int, seed: int) -> TreeCommittee:
    """Independent random ±1 patterns with random labels in K blocks: the storage problem of `shaping`.

    Raises:
        DomainError: K even, N not divisible by K, or a size below 1.
    """
    return TreeCommittee(random_patterns(N=N, P=P, seed=seed), K)


def nearest_divisible(N: float, K: int) -> int:
    """The positive multiple of K nearest to N."""
    return K * max(1, round(N / K))


def check_committee(instance: object) -> None:
    """Refuse what is not a tree committee with ±1 patterns.

    Raises:
        DomainError: says which.
    """
    if not isinstance(instance, TreeCommittee):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is a TreeCommittee, as tree_committee and "
            "random_tree_committee of localentropy.instances.committee make it"
        )
    if not instance.data.binary:
        raise DomainError("the solvers of the committee need ±1 patterns: activation 'sign'")


def unit_norm(weights: np.ndarray) -> np.ndarray:
    """Weights [..., K, N/K] with every unit divided by its norm; a unit of zeros stays as it is."""
    norm = np.linalg.norm(weights, axis=-1, keepdims=True)
    return weights / np.where(norm > 0, norm, 1.0)
