"""Generalized linear problems: a teacher labels Gaussian inputs, through any channel of a sum.

Conventions (`glm`; docs/glm/theory.md eq. 1): the inputs X are n × d, independent Gaussians of variance 1/d. The
pre-activations are z = X w* with a teacher w* of independent weights of mean square 1. The load is α = n/d.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    locked,
    require_frozen,
    require_memory,
    require_reals,
)
from localentropy.errors import DomainError
from localentropy.numerics.channels import Channel, as_channel
from localentropy.numerics.priors import PRIORS, Prior, as_prior
from localentropy.quantities import SEED, SIZE

ROUNDING = 1e-9
"""Rounding of a teacher's pre-activation, in units of the largest one."""


@dataclass(frozen=True, eq=False)
class GeneralizedLinear:
    """A labelled training set and the teacher that made its labels.

    Arrays are checked once, here, and cannot be written to afterwards. A writable array is copied.

    Attributes:
        inputs: X, float64, [n, d], at most 10⁶, as all numbers here.
        labels: y, float64, [n], those that the channel gives to the teacher's sums.
        teacher: w*, float64, [d].
        prior: of the teacher's weights, a `Prior`. It may be given by its name.
        channel: what a label tells of the sum, a `Channel`. It may be given by its name.
        seed: root seed of its random stream.

    Raises:
        DomainError: arrays of other shapes or types, numbers that are not finite, labels that the teacher does not
            give, a teacher of zeros, an unknown prior or channel, a seed that is no integer.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.generalized_linear import GeneralizedLinear
        >>> inputs, teacher = np.eye(3) / 3**0.5, np.array([1.0, -1.0, 1.0])
        >>> problem = GeneralizedLinear(inputs, np.sign(inputs @ teacher), teacher, "binary", "sign", seed=0)
        >>> problem.n, problem.d, round(problem.overlap(np.ones(3)), 6)
        (3, 3, 0.333333)
    """

    inputs: np.ndarray
    labels: np.ndarray
    teacher: np.ndarray
    prior: Prior
    channel: Channel
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", as_prior(self.prior))
        object.__setattr__(self, "channel", as_channel(self.channel))
        SEED.require(self.seed)
        inputs = require_frozen("inputs", self.inputs, ("n", "d"))
        labels = require_frozen("labels", self.labels, inputs.shape[:1])
        teacher = require_frozen("teacher", self.teacher, inputs.shape[1:])
        for name, array in (("inputs", inputs), ("labels", labels), ("teacher", teacher)):
            object.__setattr__(self, name, array)
        if not np.all(self.channel.possible(self.labels)):
            raise DomainError(f"labels: allowed are {self.channel.allowed}, as the channel {self.channel} gives them")
        if not self.teacher.any():
            raise DomainError("teacher: all its weights are zero")
        z = self.inputs @ self.teacher
        if not np.all(self.channel.gives(self.labels, z, ROUNDING * float(np.abs(z).max()))):
            raise DomainError("labels: some are not those that the teacher gives to the inputs")

    @property
    def n(self) -> int:
        """Number of labelled inputs."""
        return self.inputs.shape[0]

    @property
    def d(self) -> int:
        """Number of weights."""
        return self.inputs.shape[1]

    def overlap(self, weights: np.ndarray) -> float:
        """m = w·w*/d; its absolute value for an even channel, whose labels do not tell the teacher's sign.

        Args:
            weights: w, [d].

        Raises:
            DomainError: weights of another shape or not finite.
        """
        m = float(self._weights(weights) @ self.teacher) / self.d
        return abs(m) if self.channel.even else m

    def cosine(self, weights: np.ndarray) -> float:
        """Overlap of the directions, m / (|w| |w*| / d); 0 for weights that are all zero.

        For the posterior mean it is √m. Use it to judge whether the teacher is recovered, because there the length of
        the weights may not settle.

        Args:
            weights: w, [d].

        Raises:
            DomainError: weights of another shape or not finite.
        """
        weights = self._weights(weights)
        # Divided by a power of two first, which rounds nothing: squares of very small or large weights are no numbers.
        weights = np.ldexp(weights, -int(np.frexp(np.abs(weights).max())[1]))
        length = float(np.linalg.norm(weights) * np.linalg.norm(self.teacher)) / self.d
        return self.overlap(weights) / length if length > 0.0 else 0.0

    def _weights(self, weights: np.ndarray) -> np.ndarray:
        return require_reals("weights", weights, self.teacher.shape)


def check_problem(instance: object, channel: Channel | None = None) -> None:
    """Refuse what is no generalized linear problem, or one of another channel.

    Args:
        instance: what was passed.
        channel: the only one allowed, if any is.

    Raises:
        DomainError: says which.

    Example:
        >>> from localentropy.instances.generalized_linear import check_problem, generalized_linear
        >>> from localentropy.numerics.channels import Absolute
        >>> check_problem(generalized_linear(n=20, d=10, seed=0), Absolute())
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: channel = Sign(): allowed is Absolute()
    """
    if not isinstance(instance, GeneralizedLinear):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is a GeneralizedLinear, as generalized_linear of "
            "localentropy.instances.generalized_linear makes it"
        )
    if channel is not None and instance.channel != channel:
        raise DomainError(f"channel = {instance.channel}: allowed is {channel}")


def generalized_linear(
    n: int, d: int, seed: int, *, prior: str | Prior = "gaussian", channel: str | Channel = "sign"
) -> GeneralizedLinear:
    """Gaussian inputs with the labels of a random teacher.

    Source: `glm`, docs/glm/theory.md eq. 1. The inputs depend on the sizes, the seed and the prior, not on the channel.

    Args:
        n: number of labelled inputs.
        d: number of weights.
        seed: root seed.
        prior: of the teacher's weights: "gaussian" of variance 1, "binary", +1 or −1, or a value of
            `localentropy.numerics.priors`.
        channel: what a label tells of the pre-activation: "sign", "absolute" value, "relu", or a value of
            `localentropy.numerics.channels`.

    Returns:
        Inputs, labels and the teacher.

    Raises:
        DomainError: a size below 1 or too large for the memory, an unknown prior or channel, a seed that is no integer.

    Example:
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> problem = generalized_linear(n=300, d=200, seed=0, channel="absolute")
        >>> problem.inputs.shape
        (300, 200)
    """
    n, d = SIZE.called("n").require(n), SIZE.called("d").require(d)
    weights, labels = as_prior(prior), as_channel(channel)
    require_memory(2 * 8 * n * d, n=n, d=d)  # the inputs, and the random numbers that they are made from
    stream = seeds.generator(seed, "instance/generalized_linear", n=n, d=d, prior=_name(weights))
    teacher = weights.sample(stream, d)
    inputs = locked(stream.standard_normal((n, d)) / np.sqrt(d))
    return GeneralizedLinear(inputs, labels.labels(inputs @ teacher, stream), teacher, weights, labels, seed)


def _name(prior: Prior) -> str:
    """A prior in the name of a random stream."""
    return next((name for name, value in PRIORS.items() if value == prior), repr(prior))
