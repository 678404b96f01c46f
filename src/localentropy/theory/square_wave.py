"""The square-wave perceptron: the label is the sign of a square wave of the pre-activation.

>>> from localentropy.theory import Perceptron, SquareWave, SquareWaveChannel, SquareWaveTeacher, alpha_c, bayes
>>> model = Perceptron(energy=SquareWave(4.0))  # stores random labels
>>> round(alpha_c(model), 6), round(alpha_c(SquareWaveTeacher(period=4.0)), 6)
(0.96342, 1.050485)
>>> round(bayes.transitions("binary", SquareWaveChannel(4.0)).algorithmic, 6)
1.23995
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from localentropy.numerics.channels import Errors, TwoLabels
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE, unit_legendre
from localentropy.quantities import PERIOD
from localentropy.theory.energies import Energy, Labels, Steps
from localentropy.theory.model import OPEN
from localentropy.theory.teacher_student import TeacherStudent

Array = np.ndarray
ANGLES = 400
"""Nodes of the integral over the angle between two pre-activations."""


@dataclass(frozen=True)
class SquareWave(Steps):
    """A stability is right between 0 and half a period, wrong in the next half, and so on; hard.

    Attributes:
        period: delta, in [2, 1000]. The longest is the sign: no pre-activation reaches half of it.

    Example:
        >>> from localentropy.theory import Perceptron, SquareWave, alpha_c
        >>> round(alpha_c(Perceptron(energy=SquareWave(period=6.0))), 6)
        0.873748
    """

    period: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", PERIOD.require(self.period))

    @property
    def edges(self) -> tuple[float, ...]:  # type: ignore[override]
        """Multiples of half a period in the range of a Gaussian.

        Example:
            >>> from localentropy.theory import SquareWave
            >>> SquareWave(period=4.0).edges[4:7]
            (-2.0, 0.0, 2.0)
        """
        half = 0.5 * self.period
        most = math.ceil(RANGE / half)
        return tuple(half * k for k in range(-most, most + 1))

    @property
    def energies(self) -> tuple[float, ...]:  # type: ignore[override]
        """0 or infinite.

        Example:
            >>> from localentropy.theory import SquareWave
            >>> SquareWave(period=4.0).energies[5:7]
            (inf, 0.0)
        """
        most = len(self.edges) // 2
        return tuple(math.inf if k % 2 else 0.0 for k in range(-most - 1, most + 1))


@dataclass(frozen=True)
class SquareWaveTeacher(TeacherStudent):
    """Binary perceptron that learns from a binary teacher; the labels of both are the sign of a square wave.

    Attributes:
        alpha: patterns per weight, in [1e-9, 1e9].
        period: delta, in [2, 1000].

    Example:
        >>> from localentropy.theory import SquareWaveTeacher, typical
        >>> round(typical(SquareWaveTeacher(alpha=0.8, period=6.0)).r, 6)
        0.440218
    """

    alpha: float = OPEN
    period: float = 4.0
    margin: float = field(default=0.0, init=False, repr=False)
    energy: Energy | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._set(period=PERIOD.require(self.period))
        self._set(energy=SquareWave(self.period))
        super().__post_init__()

    @property
    def labels(self) -> Labels:  # type: ignore[override]
        """The teacher's pre-activations that have the label 1.

        Example:
            >>> from localentropy.theory import SquareWaveTeacher
            >>> SquareWaveTeacher(period=4.0).labels.edges[4:7]
            (-2.0, 0.0, 2.0)
        """
        return SquareWave(self.period).labels

    def disagreement(self, rest: float, R: float) -> float:
        """Probability that the label of a pre-activation is not the teacher's (docs/margins/theory.md eq. 54).

        Args:
            rest: variance of the pre-activation beyond the teacher's part.
            R: its covariance with the teacher's pre-activation, which has variance 1.

        Returns:
            The probability.

        Example:
            >>> from localentropy.theory import SquareWaveTeacher
            >>> round(SquareWaveTeacher(period=4.0).disagreement(rest=0.5, R=0.5), 6)
            0.352533
        """
        deviation = math.sqrt(rest + R * R)
        angle = math.atan2(R, math.sqrt(rest))
        edges = np.array(SquareWave(self.period).edges)
        jumps = np.where(np.arange(len(edges)) % 2 == len(edges) // 2 % 2, 2.0, -2.0)
        a, b = edges[:, None] / deviation, edges
        unit, weight = unit_legendre(ANGLES)
        sine = np.sin(angle * unit)[:, None, None]
        exponent = (0.5 * (a - b) ** 2 / (1.0 - sine) + a * b) / (1.0 + sine)
        return 0.5 - 0.25 / math.pi * angle * float(weight @ (jumps @ np.exp(-exponent) @ jumps))


@dataclass(frozen=True)
class SquareWaveChannel(TwoLabels):
    """The sign of a square wave of the pre-activation, for `bayes` and message passing.

    Attributes:
        period: delta, in [2, 1000].

    Example:
        >>> from localentropy.theory import SquareWaveChannel, bayes
        >>> round(bayes.transitions("binary", SquareWaveChannel(4.0)).algorithmic, 6)
        1.23995
    """

    period: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", PERIOD.require(self.period))

    @property
    def edges(self) -> tuple[float, ...]:  # type: ignore[override]
        """See `Channel`.

        Example:
            >>> from localentropy.theory import SquareWaveChannel
            >>> SquareWaveChannel(4.0).edges[4:7]
            (-2.0, 0.0, 2.0)
        """
        return SquareWave(self.period).edges

    def labels(self, z: Array, stream: np.random.Generator) -> Array:
        """See `Channel`.

        Example:
            >>> import numpy as np
            >>> from localentropy.theory import SquareWaveChannel
            >>> SquareWaveChannel(4.0).labels(np.array([1.0, 3.0]), np.random.default_rng(0)).tolist()
            [1.0, -1.0]
        """
        return np.where(np.floor(z / (0.5 * self.period)) % 2 == 0.0, 1.0, -1.0)

    def response(self, y: Array, omega: Array, V: float) -> tuple[Array, Array]:
        """See `Channel`.

        Example:
            >>> import numpy as np
            >>> from localentropy.theory import SquareWaveChannel
            >>> g, fall = SquareWaveChannel(4.0).response(np.array([1.0]), np.array([0.5]), 1.0)
            >>> g.round(6).tolist(), fall.round(6).tolist()
            ([0.326271], [0.619065])
        """
        P, slope, bend = self._probability(y, omega, V)
        return slope / P, (slope / P) ** 2 - bend / P

    def log_probability(self, y: Array, omega: Array, V: float) -> Array:
        """See `Channel`.

        Example:
            >>> import numpy as np
            >>> from localentropy.theory import SquareWaveChannel
            >>> SquareWaveChannel(4.0).log_probability(np.array([1.0]), np.array([0.5]), 1.0).round(6).tolist()
            [-0.4603]
        """
        return np.log(self._probability(y, omega, V)[0])

    def information(self, r: float) -> float:
        """See `Channel`.

        Example:
            >>> from localentropy.theory import SquareWaveChannel
            >>> round(SquareWaveChannel(4.0).information(1.0), 6)
            0.361308
        """
        weight, P, Q, slope = self._known(r)
        return float(weight @ (slope**2 / (P * Q))) / (1.0 + r)

    def entropy(self, r: float) -> float:
        """See `Channel`.

        Example:
            >>> from localentropy.theory import SquareWaveChannel
            >>> round(SquareWaveChannel(4.0).entropy(1.0), 6)
            -0.577687
        """
        weight, P, Q, _ = self._known(r)
        return float(weight @ (P * np.log(P) + Q * np.log(Q)))

    def errors(self, r: float) -> Errors:
        """See `Channel`.

        Example:
            >>> from localentropy.theory import SquareWaveChannel
            >>> round(SquareWaveChannel(4.0).errors(1.0).bayes, 6)
            0.29343
        """
        weight, P, Q, _ = self._known(r)
        gibbs = 2.0 * float(weight @ (P * Q))
        return Errors(float(weight @ np.minimum(P, Q)), gibbs, 2.0 * gibbs)

    def _probability(self, y: Array, omega: Array, V: float) -> tuple[Array, Array, Array]:
        """P(y | omega, V) as a sum of positive parts, and its first two derivatives by omega."""
        a = (np.array(self.edges) - omega[..., None]) / math.sqrt(V)
        ends = np.concatenate([np.full((*a.shape[:-1], 1), -math.inf), a, np.full((*a.shape[:-1], 1), math.inf)], -1)
        low, high = ends[..., :-1], ends[..., 1:]
        inside = np.where(low > 0.0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        right = (np.arange(len(self.edges) + 1) % 2 == (len(self.edges) // 2 + 1) % 2) == (y[..., None] > 0.0)
        density = INVERSE_SQRT_2PI * np.exp(-0.5 * a * a) * np.where(right[..., 1:], 1.0, -1.0)
        P = np.maximum(np.sum(inside * right, -1), 1e-300)
        return P, density.sum(-1) / math.sqrt(V), (density * a).sum(-1) / V

    def _known(self, r: float) -> tuple[Array, Array, Array, Array]:
        """Weights of omega, P of both labels and the slope of the first."""
        width, omega, weight = self._omegas(r)
        one = np.ones(len(omega))
        P, slope, _ = self._probability(one, omega, width**2)
        return weight, P, self._probability(-one, omega, width**2)[0], slope
