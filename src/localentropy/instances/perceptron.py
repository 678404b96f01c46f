"""Problems for the binary perceptron: the hidden manifold (random features of a Gaussian latent pattern) and storage.

Conventions (`overparam`, eqs. 1–3): the output of a student w in {±1}^N on the pattern ξ is the sign of its field
λ = Σ_i w_i ξ_i / √N. The stability of a labelled pattern is Δ = y λ. The student w solves the problem at margin κ if
Δ >= κ for every pattern.

Memory: an entry of a ±1 pattern takes one byte, of a real one four; the feature matrix takes 8 N D bytes. At D = 1000,
P = 3000, N = 20000: 60 MB of patterns and 160 MB of features. Test patterns are made in blocks of 17 MB.

Arrays for users are of floating-point type, because products and sums of int8 overflow at 127 without an error. Only
the arrays `compact_patterns` and `signed_patterns`, which the compiled kernels read, may be of int8.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    frozen,
    locked,
    require_choice,
    require_flag,
    require_frozen,
    require_memory,
    require_number,
    require_patterns,
    require_reals,
    require_signs,
    shown,
)
from localentropy.errors import DomainError
from localentropy.numerics.activations import Activation, activation_function, activation_moments, values_at_probes
from localentropy.quantities import PATTERNS, SEED, SIZE

_BLOCK = 2**22  # entries of a block of patterns


@dataclass(frozen=True, eq=False)
class Instance:
    """A labelled training set for one binary perceptron.

    Arrays are checked once, here, and cannot be written to afterwards, so results computed from them stay right. A
    writable array is copied.

    Arrays may have any type and layout, and may be of numpy, pandas or torch, or nested lists. Patterns are ±1 if every
    number is exactly 1 or -1. Patterns of other real numbers must be float32.

    Attributes:
        patterns: [P, N], ±1, or real and at most 10⁶; float32. For ±1 patterns this array, with four bytes for each
            number, is made when it is first asked for, and kept. In it, sums of up to 2²⁴ products of ±1 are exact.
        labels: ±1 in float64, [P].
        seed: root seed of its random streams.
        compact_patterns: the patterns as they are kept, for kernels: int8 of ±1, whose products overflow, or float32.

    Raises:
        DomainError: an array of another shape, labels that are not ±1, patterns that are neither ±1 nor real numbers in
            float32, a number that is not finite, a seed that is no integer.

    Example:
        >>> from localentropy.instances.perceptron import Instance
        >>> data = Instance(patterns=[[1, 1, -1], [1, -1, -1]], labels=[1, -1], seed=0)
        >>> data.P, data.N
        (2, 3)
        >>> data.sums([1, 1, -1]).tolist(), float(data.train_error([1, 1, -1]))
        ([3.0, -1.0], 0.5)
    """

    patterns: np.ndarray = field(repr=False)
    labels: np.ndarray
    seed: int
    compact_patterns: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        SEED.require(self.seed)
        patterns = frozen(require_patterns("patterns", self.patterns, ("P", "N")))
        labels = _kept_signs("labels", self.labels, len(patterns))
        self._keep(compact_patterns=patterns, labels=labels)
        object.__delattr__(self, "patterns")

    def _keep(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    if not TYPE_CHECKING:  # which takes `patterns` for an array like the others

        def __getattr__(self, name: str) -> np.ndarray:
            # Python asks here for what is not there: the patterns, until they are first wanted.
            if name != "patterns" or "compact_patterns" not in vars(self):
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
            object.__setattr__(self, name, locked(self.compact_patterns.astype(np.float32, copy=False)))
            return vars(self)[name]

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy, or one of another process, is made anew: arrays that are copied can be written to.
        given = (getattr(self, one.name) for one in fields(self)[1:] if one.init)
        return type(self), (self.compact_patterns, *given)

    @property
    def P(self) -> int:
        """Number of patterns."""
        return self.compact_patterns.shape[0]

    @property
    def N(self) -> int:
        """Number of weights."""
        return self.compact_patterns.shape[1]

    @property
    def binary(self) -> bool:
        """Whether the patterns are ±1, so that the fields of ±1 weights live on a lattice."""
        return self.compact_patterns.dtype == np.int8

    @functools.cached_property
    def signed_patterns(self) -> np.ndarray:
        """y ξ, for kernels: the patterns times their labels, [P, N], of the type of `compact_patterns`.

        It cannot be written to.
        """
        patterns = self.compact_patterns
        return locked(patterns * self.labels.astype(patterns.dtype)[:, None])

    def stabilities(self, weights: np.ndarray) -> np.ndarray:
        """Stabilities Δ = y w·ξ / √N of the training patterns.

        Args:
            weights: binary or real, [N] or [students, N].

        Returns:
            float64, [P] or [students, P].

        Raises:
            DomainError: weights of another length than N, or not finite.
        """
        return self.sums(weights) / math.sqrt(self.N)

    def train_error(self, weights: np.ndarray, margin: float = 0.0) -> Any:
        """Fraction of training patterns with stability below the margin, or not positive.

        Args:
            weights: binary or real, [N] or [students, N].
            margin: κ, not negative.

        Returns:
            One number, or [students].

        Raises:
            DomainError: weights of another length than N, or not finite; a margin outside [0, √N].
        """
        allowed = smallest_allowed(margin, self.N)
        weights = self._checked(weights)
        sums = self._sums(weights)
        if self.binary and np.all(np.abs(weights) == 1):
            right = sums >= allowed
        else:
            right = (sums > 0) & (sums >= float(margin) * math.sqrt(self.N))
        # What is not right is an error, whatever it is.
        error = (~right).mean(-1)
        return error if error.ndim else float(error)

    def test_error(self, weights: np.ndarray, n: int = 10_000) -> Any:
        """Fraction of n fresh patterns of the same teacher and features that get the wrong label.

        The patterns are the first n of one fixed sequence, for all weights and all calls. A field of exactly zero is
        half an error.

        Args:
            weights: binary or real (a barycentre), [N] or [students, N].
            n: number of patterns.

        Returns:
            One number, or [students].

        Raises:
            DomainError: a training set that is no `HiddenManifold`, and has no teacher; weights of another length than
                N, or not finite; n < 1.
        """
        weights = self._checked(weights)
        students = np.atleast_2d(weights)
        # Sums of fewer than 2^24 signs are exact in single precision.
        exact = self.binary and self.N < 2**24 and bool((np.abs(students) == 1.0).all())
        students = students.astype(np.float32 if exact else np.float64)
        wrong = np.zeros(len(students))
        for patterns, labels in self.test_patterns(n):
            answers = np.sign(patterns.astype(students.dtype, copy=False) @ students.T)
            wrong += 0.5 * (1.0 - answers * labels[:, None]).sum(0)
        error = wrong / n
        return error if weights.ndim > 1 else float(error[0])

    def test_patterns(self, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Fresh patterns of the same teacher and features: blocks of (patterns [rows, N], labels [rows]).

        Patterns are float32 and labels float64, as those of the instance.

        Raises:
            DomainError: a training set that is no `HiddenManifold`, and has no teacher; n < 1.
        """
        raise DomainError("these patterns have no teacher: there is no test error, only a train error")

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """Σ_i w_i y ξ_i = Δ √N, float64, [P] or [students, P]; exact for ±1 weights on ±1 patterns.

        Raises:
            DomainError: weights of another length than N, or not finite.
        """
        return self._sums(self._checked(weights))

    def _checked(self, weights: np.ndarray) -> np.ndarray:
        return require_reals("weights", weights, (self.N,), ("students", self.N))

    def _sums(self, weights: np.ndarray) -> np.ndarray:
        sums = np.empty((*weights.shape[:-1], self.P))
        rows = max(1, _BLOCK // self.N)
        for start in range(0, self.P, rows):
            block = self.signed_patterns[start : start + rows].astype(np.float64)
            sums[..., start : start + rows] = weights @ block.T
        return sums


@dataclass(frozen=True, eq=False)
class HiddenManifold(Instance):
    """A training set of random features, with the features, the latent patterns and the teacher of the labels.

    Attributes:
        patterns, labels, seed, compact_patterns: as in `Instance`.
        activation: the activation σ of the features.
        features: F, float64, [N, D].
        latent: latent patterns x, float64, [P, D].
        teacher: ±1 in float64, [D].
        gaussian_covariate: whether the patterns are μ₁ F x/√D + μ⋆ z instead of σ(F x/√D).

    Raises:
        DomainError: what `Instance` refuses; an array of another shape, or with numbers that are not finite; a teacher
            that is not ±1; an unknown activation or one whose mean is not 0.

    Example:
        >>> from localentropy.instances.perceptron import HiddenManifold
        >>> features, latent, teacher = [[0.5], [-0.5], [2.0]], [[0.3]], [1]
        >>> data = HiddenManifold([[1, -1, 1]], [1], 0, "sign", features, latent, teacher)
        >>> data.features.shape, data.test_error([1, -1, 1], n=100)
        ((3, 1), 0.0)
    """

    activation: Activation
    features: np.ndarray
    latent: np.ndarray
    teacher: np.ndarray
    gaussian_covariate: bool = False
    _values: tuple[float, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        activation_moments(self.activation)
        features = require_frozen("features", self.features, (self.N, "D"))
        D = features.shape[1]
        self._keep(
            features=features,
            latent=require_frozen("latent", self.latent, (self.P, D)),
            teacher=_kept_signs("teacher", self.teacher, D),
            gaussian_covariate=require_flag("gaussian_covariate", self.gaussian_covariate),
            _values=values_at_probes(self.activation),
        )

    def test_patterns(self, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Fresh patterns of the same teacher and features: blocks of (patterns [rows, N], labels [rows]).

        Patterns are float32 and labels float64, as those of the instance.

        Args:
            n: number of patterns.

        Raises:
            DomainError: with the first block: n < 1; an activation that gives other numbers than it gave for the
                training patterns.
        """
        n = PATTERNS.require(n)
        if values_at_probes(self.activation) != self._values:
            raise DomainError(
                f"activation = {shown(self.activation)} gives other numbers now than it gave for the training patterns"
            )
        sizes = {"D": len(self.teacher), "P": self.P, "N": self.N}
        latent_stream = seeds.generator(self.seed, "test", **sizes)
        noise = seeds.generator(self.seed, "test/noise", **sizes) if self.gaussian_covariate else None
        rows = max(1, _BLOCK // self.N)
        for start in range(0, n, rows):
            latent = latent_stream.standard_normal((min(rows, n - start), len(self.teacher)))
            patterns = _project(latent, self.features, self.activation, noise)
            yield locked(patterns.astype(np.float32, copy=False)), _answers(latent, self.teacher)


def random_patterns(N: int, P: int, seed: int) -> Instance:
    """P independent random ±1 patterns with random labels: the storage problem.

    Args:
        N: number of weights.
        P: number of patterns.
        seed: root seed.

    Returns:
        The training set; it has no teacher.

    Raises:
        DomainError: N or P not an integer, below 1 or too large for the memory; a seed that is no integer.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> random_patterns(N=101, P=51, seed=0).patterns.shape
        (51, 101)
    """
    sizes = _sizes(N=N, P=P)
    N, P = sizes["N"], sizes["P"]
    require_memory(3 * P * N, **sizes)  # the patterns, and the random numbers that they are made from
    stream = seeds.generator(seed, "instance", **sizes)
    labels = _random_signs(stream, P)
    return Instance(patterns=_random_signs(stream, (P, N)), labels=labels, seed=seed)


def hidden_manifold(
    D: int,
    P: int,
    N: int,
    seed: int,
    activation: Activation = "sign",
    *,
    features: str = "gaussian",
    gaussian_covariate: bool = False,
) -> HiddenManifold:
    """Random features of Gaussian latent patterns, labelled by a binary teacher in the latent space.

    Patterns ξ_i = σ(Σ_k F_ik x_k / √D) with x_k and F_ik standard normal, labels sign(Σ_k t_k x_k) with t in {±1}^D
    (`overparam`, eqs. 1–2). Latent patterns and teacher depend on the sizes and the seed alone, F on its kind too.

    Args:
        D: latent dimension.
        P: number of training patterns.
        N: number of features, one weight each.
        seed: root seed.
        activation: "sign" (±1 patterns), "tanh", "erf", "identity", or a function of arrays or of one number, with the
            mean 0 under N(0, 1).
        features: "gaussian", or "binary" for F_ik = ±1, which has the same first two moments.
        gaussian_covariate: replace the features by μ₁ F x/√D + μ⋆ z with z standard normal and the Gaussian moments of
            the activation (`overparam`, eq. 97).

    Returns:
        The training set, with its teacher, which gives labels to new patterns (`test_error`).

    Raises:
        DomainError: a size that is no integer, below 1 or too large for the memory; a seed that is no integer; an
            unknown activation or kind of features; an activation that fails, gives no number, or has another mean.

    Example:
        >>> from localentropy.instances import hidden_manifold
        >>> instance = hidden_manifold(D=21, P=63, N=127, seed=0)
        >>> instance.patterns.shape, instance.labels.shape
        ((63, 127), (63,))
    """
    sizes = _sizes(D=D, P=P, N=N)
    D, P, N = sizes["D"], sizes["P"], sizes["N"]
    require_choice("features", features, ("gaussian", "binary"))
    gaussian_covariate = require_flag("gaussian_covariate", gaussian_covariate)
    activation_moments(activation)
    require_memory(8 * (N * D + P * D) + 4 * P * N, **sizes)
    stream = seeds.generator(seed, "instance", **sizes)
    teacher = _random_signs(stream, D)
    latent = stream.standard_normal((P, D))
    if features == "gaussian":
        matrix = stream.standard_normal((N, D))
    else:
        matrix = _random_signs(stream, (N, D)).astype(np.float64)
    noise = seeds.generator(seed, "instance/noise", **sizes) if gaussian_covariate else None
    return HiddenManifold(
        patterns=_project(latent, matrix, activation, noise),
        labels=_answers(latent, teacher),
        seed=seed,
        activation=activation,
        features=locked(matrix),
        latent=locked(latent),
        teacher=teacher,
        gaussian_covariate=gaussian_covariate,
    )


def smallest_allowed(margin: float, N: int) -> int:
    """Smallest Σ_i w_i y ξ_i of ±1 weights and patterns with stability >= margin: positive and of the parity of N.

    For N odd this is h_min, the smallest odd integer >= κ√N.

    Args:
        margin: κ.
        N: number of weights.

    Returns:
        The smallest allowed sum.

    Raises:
        DomainError: a margin outside [0, √N], N no integer or below 1.

    Example:
        >>> from localentropy.instances.perceptron import smallest_allowed
        >>> smallest_allowed(0.0, 101), smallest_allowed(0.5, 101)  # 0.5 √101 = 5.02
        (1, 7)
    """
    N, margin = SIZE.require(N), require_number("margin", margin)
    if not 0.0 <= margin <= math.sqrt(N) * (1.0 + 1e-12):
        raise DomainError(f"margin = {margin} is out of range: allowed is 0 to √N = {math.sqrt(N):.6g}")
    least = 1 if N % 2 else 2
    # Rounding must not move a margin that was computed as (integer)/√N to the next integer.
    steps = math.ceil((margin * math.sqrt(N) - least) / 2 - 1e-9)
    return least + 2 * max(steps, 0)


def effective_margin(margin: float, N: int) -> float:
    """Margin of the large-N theory with which ±1 weights and patterns at margin κ are compared, N odd.

    κ_eff = (h_min − 1)/√N, half-way between the smallest allowed and the largest forbidden sum.

    Args:
        margin: κ.
        N: number of weights.

    Returns:
        κ_eff.

    Raises:
        DomainError: N even, no integer or below 1; a margin outside [0, √N].

    Example:
        >>> from localentropy.instances.perceptron import effective_margin
        >>> effective_margin(0.0, 101), round(effective_margin(0.5, 101), 6)
        (0.0, 0.597022)
    """
    require_odd(N)
    return (smallest_allowed(margin, N) - 1) / math.sqrt(N)


def require_odd(N: int) -> None:
    """Refuse an even number of ±1 weights on ±1 patterns, whose fields can be zero.

    Args:
        N: number of weights.

    Raises:
        DomainError: N even, no integer or below 1.

    Example:
        >>> from localentropy.instances.perceptron import require_odd
        >>> require_odd(101)
        >>> require_odd(100)
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: N = 100 is even: a sum of N terms ±1 can be 0, a tie; nearest allowed are
            99, 101
    """
    if SIZE.require(N) % 2 == 0:
        raise DomainError(f"N = {N} is even: a sum of N terms ±1 can be 0, a tie; nearest allowed are {N - 1}, {N + 1}")


def _project(
    latent: np.ndarray, features: np.ndarray, activation: Activation, noise: np.random.Generator | None
) -> np.ndarray:
    """Patterns of latent patterns, [rows, N]: int8 if the activation is "sign" without noise, else float32."""
    function = activation_function(activation)
    binary = isinstance(activation, str) and activation == "sign" and noise is None
    patterns = np.empty((len(latent), len(features)), np.int8 if binary else np.float32)
    rows = max(1, _BLOCK // len(features))
    for start in range(0, len(latent), rows):
        block = latent[start : start + rows]
        if binary:
            patterns[start : start + rows] = function(_products_with_right_signs(block, features))
            continue
        z = block / math.sqrt(latent.shape[1]) @ features.T
        patterns[start : start + rows] = _covariates(z, activation, noise) if noise else function(z)
    return locked(patterns)


def _products_with_right_signs(latent: np.ndarray, features: np.ndarray) -> np.ndarray:
    """latent · featuresᵀ in single precision, where rounding cannot decide the sign; elsewhere once more in double.

    This is twice as fast as double precision for all. In double precision the order in which a library adds
    practically never decides a sign.
    """
    single = features.astype(np.float32)
    products = latent.astype(np.float32) @ single.T
    # A sum of D products of rounded numbers errs by at most (D + 2) u |x||F| to first order in the unit of rounding u,
    # half of eps, in any order of the sum.
    longest = math.sqrt(np.einsum("nk,nk->n", single, single).max())
    reach = 0.51 * (latent.shape[1] + 2) * np.finfo(np.float32).eps * longest * np.linalg.norm(latent, axis=1)
    near = np.flatnonzero(np.abs(products) <= reach.astype(np.float32)[:, None])
    pattern, feature = np.divmod(near, len(features))
    products[pattern, feature] = np.einsum("nk,nk->n", latent[pattern], features[feature])
    return products


def _covariates(z: np.ndarray, activation: Activation, noise: np.random.Generator) -> np.ndarray:
    """μ₁ z plus Gaussian noise: the same first two moments as σ(z)."""
    moments = activation_moments(activation)
    return moments.mu_1 * z + math.sqrt(moments.mu_star_squared) * noise.standard_normal(z.shape)


def _answers(latent: np.ndarray, teacher: np.ndarray) -> np.ndarray:
    """Labels that a teacher gives, ±1 in float64."""
    return locked(activation_function("sign")(latent @ teacher.astype(np.float64)).astype(np.float64, copy=False))


def _kept_signs(name: str, values: Any, length: int | str) -> np.ndarray:
    """Labels or a teacher, ±1 in float64, that nobody can write to."""
    return frozen(require_signs(name, values, (length,)).astype(np.float64))


def _random_signs(stream: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    return locked(2 * stream.integers(0, 2, shape, dtype=np.int8) - 1)


def _sizes(**sizes: int) -> dict[str, int]:
    """The sizes as Python's integers, for the names of random streams."""
    return {name: SIZE.called(name).require(size) for name, size in sizes.items()}
