"""Problems for committee machines of K units: problems of the perceptron with N inputs, and images.

Conventions (`overparam`, eq. 17; `shaping`, eq. 14): unit l sees the inputs ξ_l and has real weights w_l of norm 1. The
output of the machine is sign Σ_l sign(w_l·ξ_l). K is odd. On a tree ξ_l is the l-th block of N/K inputs. In a fully
connected machine every ξ_l is the whole pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from localentropy.arguments import require_flag, require_integer, require_number, require_reals, shown
from localentropy.data import dress_coat
from localentropy.data.prepared import Dataset, Split
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, hidden_manifold, random_patterns
from localentropy.numerics.activations import Activation
from localentropy.quantities import PATTERNS, UNITS

_BLOCK = 2**21  # entries of a block of patterns in float64


@dataclass(frozen=True, eq=False)
class Committee:
    """A labelled training set for K units: what `TreeCommittee` and `FullCommittee` have in common.

    Attributes:
        data: the patterns, labels, and what made them.
        units: K, odd.
        test: a test set, or None. Without one the test patterns come from the teacher of the data.

    Raises:
        DomainError: K no integer, even or below 1; data that are no instance, a test set with another number of inputs.

    Example:
        >>> from localentropy.instances.committee import Committee, FullCommittee, TreeCommittee
        >>> issubclass(TreeCommittee, Committee), issubclass(FullCommittee, Committee)
        (True, True)
    """

    data: Instance
    units: int
    test: Instance | None = None

    def __post_init__(self) -> None:
        K = require_integer("units", self.units)
        if not UNITS.has(K) or K % 2 == 0:
            nearest = min(max(1, K + 1), int(UNITS.high))
            raise DomainError(f"units = {shown(K)}: must be odd, or votes can tie; nearest allowed is {nearest}")
        object.__setattr__(self, "units", K)
        for name, data in (("data", self.data), ("test", self.test)):
            if not isinstance(data, Instance) and not (name == "test" and data is None):
                raise DomainError(f"{name} = {type(data).__name__} object: allowed is Instance(patterns, labels, seed)")
        if self.test is not None and self.test.N != self.data.N:
            raise DomainError(f"test patterns of N = {self.test.N} inputs: training patterns have {self.data.N}")

    @property
    def P(self) -> int:
        """Number of patterns."""
        return self.data.P

    @property
    def inputs_per_unit(self) -> int:
        """Inputs that one unit sees, as many as it has weights."""
        raise NotImplementedError

    @property
    def weights_count(self) -> int:
        """Number of weights of all units, K × `inputs_per_unit`. The load is α = P / `weights_count`."""
        return self.units * self.inputs_per_unit

    @property
    def unit_inputs(self) -> np.ndarray:
        """What each unit sees of each training pattern, times the label: a view, [K, P, inputs_per_unit].

        It is for kernels: int8 of ±1, or float32.
        """
        raise NotImplementedError

    def preactivations(self, weights: np.ndarray) -> np.ndarray:
        """Pre-activations x_l = y w_l·ξ_l of all units on the training patterns, times the labels.

        Args:
            weights: [K, inputs_per_unit] or [students, K, inputs_per_unit].

        Returns:
            float64, [P, K] or [students, P, K].

        Raises:
            DomainError: weights of another shape or not finite.
        """
        students = self._students(weights)
        fields = np.empty((len(students), self.P, self.units))
        rows = max(1, _BLOCK // self.data.N)
        for start in range(0, self.P, rows):
            part = slice(start, start + rows)
            fields[:, part] = self._sums(self.data.signed_patterns[part], students)
        return fields if np.ndim(weights) == 3 else fields[0]

    def train_error(self, weights: np.ndarray) -> Any:
        """Fraction of training patterns without a majority of units on the side of the label.

        A unit whose pre-activation is exactly zero has no vote. No majority is an error.

        Args:
            weights: [K, inputs_per_unit] or [students, K, inputs_per_unit].

        Returns:
            One number, or [students].

        Raises:
            DomainError: weights of another shape or not finite.
        """
        votes = np.sign(self.preactivations(weights)).sum(-1)
        error = (~(votes > 0)).mean(-1)
        return error if error.ndim else float(error)

    def test_error(self, weights: np.ndarray, n: int | None = None) -> Any:
        """Fraction of test patterns that get the wrong label. A tie is half an error.

        With a test set they are its first n patterns. Without one they are fresh patterns of the same teacher and
        features: the first n of one fixed sequence, for all weights and all calls.

        Args:
            weights: [K, inputs_per_unit] or [students, K, inputs_per_unit].
            n: number of patterns. Default: the whole test set; of a teacher 10 000.

        Returns:
            One number, or [students].

        Raises:
            DomainError: neither teacher nor test set; weights of another shape or not finite; n < 1, or more than the
                test set has.
        """
        students = self._students(weights)
        wrong, tested = np.zeros(len(students)), 0
        for patterns, labels in self._test_patterns(n):
            answers = np.sign(np.sign(self._sums(patterns, students)).sum(-1))
            wrong += 0.5 * (1.0 - answers * labels).sum(1)
            tested += len(labels)
        error = wrong / tested
        return error if np.ndim(weights) == 3 else float(error[0])

    def _test_patterns(self, n: int | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Blocks of (patterns [rows, N], labels [rows])."""
        if self.test is None:
            yield from self.data.test_patterns(10_000 if n is None else n)
            return
        n = PATTERNS.within(high=self.test.P).require(self.test.P if n is None else n)
        rows = max(1, _BLOCK // self.test.N)
        for start in range(0, n, rows):
            part = slice(start, min(start + rows, n))
            yield self.test.compact_patterns[part], self.test.labels[part]

    def _students(self, weights: np.ndarray) -> np.ndarray:
        """The weights in float64, [students, K, inputs_per_unit]."""
        shape = (self.units, self.inputs_per_unit)
        return require_reals("weights", weights, shape, ("students", *shape)).reshape(-1, *shape)

    def _sums(self, patterns: np.ndarray, students: np.ndarray) -> np.ndarray:
        """w_l·ξ_l of patterns [rows, N], as [students, rows, K]."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class TreeCommittee(Committee):
    """A labelled training set for K units, each with N/K inputs of its own.

    Attributes:
        data: the patterns, labels, and what made them.
        units: K, odd, a divisor of N.
        test: a test set, or None.

    Raises:
        DomainError: N not divisible by K, or see `Committee`.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.instances.committee import TreeCommittee
        >>> machine = TreeCommittee(random_patterns(N=99, P=40, seed=0), units=3)
        >>> machine.inputs_per_unit, machine.weights_count
        (33, 99)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        N, K = self.data.N, self.units
        if N % K:
            nearest = ", ".join(str(size) for size in (N - N % K, N - N % K + K) if size)
            raise DomainError(f"N = {N} is not divisible by units = {K}; nearest allowed: {nearest}")

    @property
    def inputs_per_unit(self) -> int:
        """N/K."""
        return self.data.N // self.units

    @property
    def unit_inputs(self) -> np.ndarray:
        """The blocks of the patterns, times the labels: [K, P, inputs_per_unit]."""
        return self.data.signed_patterns.reshape(self.P, self.units, -1).swapaxes(0, 1)

    def _sums(self, patterns: np.ndarray, students: np.ndarray) -> np.ndarray:
        blocks = patterns.reshape(len(patterns), self.units, -1).swapaxes(0, 1).astype(np.float64)
        return (blocks @ students.transpose(1, 2, 0)).transpose(2, 1, 0)


@dataclass(frozen=True, eq=False)
class FullCommittee(Committee):
    """A labelled training set for K units that all see all N inputs.

    Attributes:
        data: the patterns, labels, and what made them.
        units: K, odd.
        test: a test set, or None.

    Raises:
        DomainError: see `Committee`.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.instances.committee import FullCommittee
        >>> machine = FullCommittee(random_patterns(N=99, P=40, seed=0), units=3)
        >>> machine.inputs_per_unit, machine.weights_count
        (99, 297)
    """

    @property
    def inputs_per_unit(self) -> int:
        """N."""
        return self.data.N

    @property
    def unit_inputs(self) -> np.ndarray:
        """The patterns, times the labels, the same for all units: [K, P, N]."""
        return np.broadcast_to(self.data.signed_patterns, (self.units, self.P, self.data.N))

    def _sums(self, patterns: np.ndarray, students: np.ndarray) -> np.ndarray:
        sums = patterns.astype(np.float64) @ students.reshape(-1, self.data.N).T
        return sums.reshape(len(patterns), len(students), self.units).swapaxes(0, 1)


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

    Returns:
        The training set of the machine.

    Raises:
        DomainError: K even, N not divisible by K, or see `hidden_manifold`.

    Example:
        >>> from localentropy.instances.committee import tree_committee
        >>> machine = tree_committee(D=21, P=63, N=99, K=3, seed=0)
        >>> machine.units, machine.inputs_per_unit
        (3, 33)
    """
    return TreeCommittee(hidden_manifold(D=D, P=P, N=N, seed=seed, activation=activation), K)


def random_tree_committee(N: int, P: int, K: int, seed: int) -> TreeCommittee:
    """Independent random ±1 patterns with random labels in K blocks: the storage problem of `shaping`.

    Args:
        N: inputs of the machine, a multiple of K.
        P: number of patterns.
        K: number of units, odd.
        seed: root seed of patterns and labels.

    Returns:
        The machine and its training set.

    Raises:
        DomainError: K even, N not divisible by K, or a size below 1.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> machine = random_tree_committee(N=999, P=400, K=3, seed=0)
        >>> machine.unit_inputs.shape  # units, patterns, inputs of a unit
        (3, 400, 333)
    """
    return TreeCommittee(random_patterns(N=N, P=P, seed=seed), K)


def random_full_committee(N: int, P: int, K: int, seed: int) -> FullCommittee:
    """Independent random ±1 patterns of N inputs with random labels, which all K units see.

    Args:
        N: inputs of the machine, and of each unit.
        P: number of patterns.
        K: number of units, odd.
        seed: root seed of patterns and labels.

    Returns:
        The machine and its training set.

    Raises:
        DomainError: K even, or a size below 1.

    Example:
        >>> from localentropy.instances.committee import random_full_committee
        >>> machine = random_full_committee(N=999, P=400, K=3, seed=0)
        >>> machine.unit_inputs.shape  # units, patterns, inputs of a unit
        (3, 400, 999)
    """
    return FullCommittee(random_patterns(N=N, P=P, seed=seed), K)


def dress_coat_committee(dataset: Dataset, units: int, *, number: int = 0, shuffled: bool = False) -> FullCommittee:
    """Dress against coat of Fashion-MNIST for a fully connected machine (`shaping`, Numerical Studies and figure 6).

    A training set has 250 images of each class (`localentropy.data.dress_coat.training_subset`). The test set is that
    of the data set: all images of the official test file that pass the filter. Shuffled pixels have none.

    Args:
        dataset: prepared data set dress_coat (`localentropy.data.prepared.load`).
        units: K.
        number: which training set.
        shuffled: whether each pixel of the training set is permuted across its images
            (`localentropy.data.dress_coat.shuffle_pixels`).

    Returns:
        The training set of the machine, and the test set if the pixels are not shuffled.

    Raises:
        DomainError: another data set, K even, a wrong number or flag.

    Example:
        >>> from localentropy.data.embedded import read_embedded
        >>> from localentropy.data.registry import DATA_DIR
        >>> from localentropy.instances.committee import dress_coat_committee
        >>> dress_coat_committee(read_embedded("dress_coat", DATA_DIR), units=9).inputs_per_unit
        784
    """
    if not isinstance(dataset, Dataset):
        raise DomainError(f"dataset = {type(dataset).__name__} object: allowed is a prepared one, dress_coat")
    if dataset.name != "dress_coat":
        raise DomainError(f"dataset = {dataset.name}: allowed is dress_coat")
    number, shuffled = require_integer("number", number, 0), require_flag("shuffled", shuffled)
    split = dataset.train.take(dress_coat.training_subset(dataset.train.labels, dataset.train.source_indices, number))
    if shuffled:
        split = replace(split, inputs=dress_coat.shuffle_pixels(split.inputs, number))
    return FullCommittee(_labelled(split), units, None if shuffled else _labelled(dataset.test))


def _labelled(split: Split) -> Instance:
    return Instance(patterns=split.inputs, labels=split.labels, seed=0)


def nearest_divisible(N: float, K: int) -> int:
    """The positive multiple of K nearest to N.

    Args:
        N: the size asked for.
        K: number of units.

    Returns:
        A size that can be divided among the units.

    Raises:
        DomainError: an N that is not a finite number, or a K out of range.

    Example:
        >>> from localentropy.instances.committee import nearest_divisible
        >>> nearest_divisible(1000, 3)
        999
    """
    N, K = require_number("N", N), UNITS.called("K").require(K)
    return K * max(1, round(N / K))


def check_committee(instance: object) -> None:
    """Refuse what is not a committee with ±1 patterns.

    Args:
        instance: what was passed.

    Raises:
        DomainError: says which.

    Example:
        >>> from localentropy.instances.committee import check_committee, random_tree_committee
        >>> check_committee(random_tree_committee(N=99, P=10, K=3, seed=0))
        >>> check_committee([1, -1])
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: instance = list object: allowed is a TreeCommittee or a FullCommittee, as
            the functions of localentropy.instances.committee make them
    """
    if not isinstance(instance, (TreeCommittee, FullCommittee)):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is a TreeCommittee or a FullCommittee, as the "
            "functions of localentropy.instances.committee make them"
        )
    if not instance.data.binary:
        raise DomainError(
            "instance: its patterns are real numbers, allowed are patterns of ±1, such as those of activation 'sign'"
        )


def unit_norm(weights: np.ndarray) -> np.ndarray:
    """Weights with every unit divided by its norm; a unit of zeros stays as it is.

    Args:
        weights: [..., K, inputs_per_unit].

    Returns:
        Of the same shape; float32 of float32, else float64.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.committee import unit_norm
        >>> unit_norm(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
        [[0.6, 0.8], [0.0, 0.0]]
    """
    norm = np.linalg.norm(weights, axis=-1, keepdims=True)
    return weights / np.where(norm > 0, norm, 1.0)


def normalised_units(instance: Committee, weights: np.ndarray) -> np.ndarray:
    """A user's own weights for a committee with ±1 patterns, with units of norm 1.

    Args:
        instance: the machine.
        weights: [K, inputs_per_unit]; units may have any norm but 0.

    Returns:
        float64, of the same shape.

    Raises:
        DomainError: not a committee with ±1 patterns, weights of another shape, not finite or with a unit of zeros.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.committee import normalised_units, random_tree_committee
        >>> machine = random_tree_committee(N=9, P=4, K=3, seed=0)
        >>> np.linalg.norm(normalised_units(machine, np.arange(1, 10).reshape(3, 3)), axis=1).round(12).tolist()
        [1.0, 1.0, 1.0]
    """
    check_committee(instance)
    weights = require_reals("weights", weights, (instance.units, instance.inputs_per_unit))
    if not weights.any(axis=1).all():
        raise DomainError("weights: a unit is all zeros, which has no direction")
    # Divided by the largest first: the square of a very small or large weight is no number.
    return unit_norm(weights / np.abs(weights).max(axis=1, keepdims=True))
