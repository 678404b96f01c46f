"""Generalized linear problems: a teacher labels Gaussian inputs, by the sign or the absolute value of a sum.

Conventions (`glm`; docs/glm/theory.md eq. 1): the inputs X are n × d, independent Gaussians of variance 1/d. The
pre-activations are z = X w* with a teacher w* of independent weights of mean square 1. The load is α = n/d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    LARGEST_SIZE,
    locked,
    require_choice,
    require_frozen,
    require_integer,
    require_memory,
    require_reals,
)
from localentropy.errors import DomainError

PRIORS = ("gaussian", "binary")
CHANNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sign": lambda z: np.where(z >= 0.0, 1.0, -1.0),
    "absolute": np.abs,
}
"""Labels of the teacher's pre-activations."""
ROUNDING = 1e-9
"""Of a teacher's pre-activation, in units of the largest one."""
_LABELS = {"sign": "1 and -1", "absolute": "numbers that are not negative"}


@dataclass(frozen=True, eq=False)
class GeneralizedLinear:
    """A labelled training set and the teacher that made its labels.

    Arrays are checked once, here, and cannot be written to afterwards. A writable array is copied.

    Attributes:
        inputs: X, float64, [n, d], at most 10⁶, as all numbers here.
        labels: y, float64, [n]: ±1 for signs, not negative for absolute values.
        teacher: w*, float64, [d].
        prior: of the teacher's weights, "gaussian" or "binary" (±1).
        channel: "sign" or "absolute".
        seed: root seed of its random stream.

    Raises:
        DomainError: arrays of other shapes or types, numbers that are not finite, labels that the teacher does not
            give, a teacher of zeros, an unknown prior or channel, a seed that is no integer.
    """

    inputs: np.ndarray
    labels: np.ndarray
    teacher: np.ndarray
    prior: str
    channel: str
    seed: int

    def __post_init__(self) -> None:
        require_choice("prior", self.prior, PRIORS)
        require_choice("channel", self.channel, CHANNELS)
        seeds.require_seed(self.seed)
        inputs = require_frozen("inputs", self.inputs, ("n", "d"), np.float64)
        labels = require_frozen("labels", self.labels, inputs.shape[:1], np.float64)
        teacher = require_frozen("teacher", self.teacher, inputs.shape[1:], np.float64)
        for name, array in (("inputs", inputs), ("labels", labels), ("teacher", teacher)):
            object.__setattr__(self, name, array)
        # A channel gives its own labels back: sign(±1) = ±1, and |y| = y.
        if not np.array_equal(CHANNELS[self.channel](self.labels), self.labels):
            raise DomainError(
                f"labels: allowed are {_LABELS[self.channel]}, as the channel {self.channel!r} gives them"
            )
        if not self.teacher.any():
            raise DomainError("teacher: all its weights are zero")
        z = self.inputs @ self.teacher
        # Signs times labels are the sizes too, but where rounding chose the sign.
        sizes = z * self.labels if self.channel == "sign" else self.labels
        if not np.allclose(sizes, np.abs(z), rtol=0.0, atol=ROUNDING * np.abs(z).max()):
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
        """m = w·w*/d; its absolute value for the channel "absolute", whose labels do not tell the teacher's sign.

        Args:
            weights: w, [d].

        Raises:
            DomainError: weights of another shape or not finite.
        """
        m = float(self._weights(weights) @ self.teacher) / self.d
        return abs(m) if self.channel == "absolute" else m

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


def generalized_linear(
    n: int, d: int, seed: int, *, prior: str = "gaussian", channel: str = "sign"
) -> GeneralizedLinear:
    """Gaussian inputs with the labels of a random teacher.

    Source: `glm`, docs/glm/theory.md eq. 1. The inputs depend on the sizes, the seed and the prior, not on the channel.

    Args:
        n: number of labelled inputs.
        d: number of weights.
        seed: root seed.
        prior: of the teacher's weights: "gaussian" of variance 1, or "binary", +1 or −1.
        channel: what a label tells of the pre-activation: "sign" or "absolute" value.

    Raises:
        DomainError: a size below 1 or too large for the memory, an unknown prior or channel, a seed that is no integer.
    """
    n, d = require_integer("n", n, 1, LARGEST_SIZE), require_integer("d", d, 1, LARGEST_SIZE)
    prior, channel = require_choice("prior", prior, PRIORS), require_choice("channel", channel, CHANNELS)
    require_memory(2 * 8 * n * d, n=n, d=d)  # the inputs, and the random numbers that they are made from
    stream = seeds.generator(seed, "instance/generalized_linear", n=n, d=d, prior=prior)
    teacher = stream.standard_normal(d) if prior == "gaussian" else stream.choice(np.array([-1.0, 1.0]), d)
    inputs = locked(stream.standard_normal((n, d)) / np.sqrt(d))
    return GeneralizedLinear(inputs, CHANNELS[channel](inputs @ teacher), teacher, prior, channel, seed)
