"""Generalized linear problems: a teacher labels Gaussian inputs, by the sign or the absolute value of a sum.

Conventions (`glm`; docs/glm/theory.md eq. 1): the inputs X are n × d, independent Gaussians of variance 1/d. The
pre-activations are z = X w* with a teacher w* of independent weights of mean square 1. The load is α = n/d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import LARGEST_COUNT, require_array, require_choice, require_integer
from localentropy.errors import DomainError

WEIGHTS = (-1e150, 1e150)
"""Beyond them overlaps overflow."""
PRIORS = ("gaussian", "binary")
CHANNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "sign": lambda z: np.where(z >= 0.0, 1.0, -1.0),
    "absolute": np.abs,
}
"""Labels of the teacher's pre-activations."""
_LABELS = {"sign": "1 and -1", "absolute": "numbers that are not negative"}


@dataclass(frozen=True, eq=False)
class GeneralizedLinear:
    """A labelled training set and the teacher that made its labels.

    Attributes:
        inputs: X, float64, [n, d].
        labels: y, float64, [n]: ±1 for signs, not negative for absolute values.
        teacher: w*, float64, [d].
        prior: of the teacher's weights, "gaussian" or "binary" (±1).
        channel: "sign" or "absolute".
        seed: root seed of its random stream.

    Raises:
        DomainError: arrays of other shapes or types, numbers that are not finite, labels that the channel cannot give,
            a teacher of zeros, an unknown prior or channel.
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
        for name in ("inputs", "labels", "teacher"):
            values = getattr(self, name)
            if not isinstance(values, np.ndarray) or values.dtype != np.float64 or not np.isfinite(values).all():
                raise DomainError(f"{name}: allowed is an array of numpy with finite numbers in float64")
        shape = self.inputs.shape
        if len(shape) != 2 or 0 in shape or (self.labels.shape, self.teacher.shape) != (shape[:1], shape[1:]):
            raise DomainError(
                f"inputs of shape {shape}, labels of shape {self.labels.shape}, teacher of shape {self.teacher.shape}: "
                "allowed are (n, d), (n,) and (d,), n and d at least 1"
            )
        # A channel gives its own labels back: sign(±1) = ±1, and |y| = y.
        if not np.array_equal(CHANNELS[self.channel](self.labels), self.labels):
            raise DomainError(
                f"labels: allowed are {_LABELS[self.channel]}, as the channel {self.channel!r} gives them"
            )
        if not self.teacher.any():
            raise DomainError("teacher: all its weights are zero")

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
            DomainError: weights of another shape, not finite or beyond 1e150.
        """
        weights = self._weights(weights)
        m = float(weights @ self.teacher) / len(self.teacher)
        return abs(m) if self.channel == "absolute" else m

    def cosine(self, weights: np.ndarray) -> float:
        """Overlap of the directions, m / (|w| |w*| / d); 0 for weights that are all zero.

        For the posterior mean it is √m. Use it to judge whether the teacher is recovered, because there the length of
        the weights may not settle.

        Args:
            weights: w, [d].

        Raises:
            DomainError: weights of another shape, not finite or beyond 1e150.
        """
        weights = self._weights(weights)
        length = float(np.linalg.norm(weights) * np.linalg.norm(self.teacher)) / len(self.teacher)
        m = self.overlap(weights)
        return m / length if length > 0.0 else 0.0

    def _weights(self, weights: np.ndarray) -> np.ndarray:
        weights = require_array("weight", weights, *WEIGHTS)
        if weights.shape != self.teacher.shape:
            raise DomainError(f"weights of shape {weights.shape}: allowed is {self.teacher.shape}")
        return weights


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
        DomainError: a size below 1, an unknown prior or channel, a seed that is not an integer.
    """
    n, d = require_integer("n", n, 1, LARGEST_COUNT), require_integer("d", d, 1, LARGEST_COUNT)
    seed = require_integer("seed", seed)
    prior, channel = require_choice("prior", prior, PRIORS), require_choice("channel", channel, CHANNELS)
    stream = seeds.generator(seed, "instance/generalized_linear", n=n, d=d, prior=prior)
    teacher = stream.standard_normal(d) if prior == "gaussian" else stream.choice(np.array([-1.0, 1.0]), d)
    inputs = stream.standard_normal((n, d)) / np.sqrt(d)
    return GeneralizedLinear(inputs, CHANNELS[channel](inputs @ teacher), teacher, prior, channel, seed)
