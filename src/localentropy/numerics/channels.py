"""Channels: what a label tells of the teacher's pre-activation (`glm`; docs/glm/theory.md section 1).

Theory, instances and message passing take the same values. A student knows the pre-activation z up to a variance V: z
is Gaussian around ω. P(y | ω, V) is the probability of a label, or its density, and g = ∂_ω ln P(y | ω, V). In theory z
has variance 1, and V = 1 - m. The functions of theory take r = m / (1 - m), in which no digits cancel.

    >>> from localentropy.numerics.channels import Door, Relu
    >>> round(Relu().information(1.0), 6), round(Door(0.67).weak, 6)
    (0.740269, 1.370411)

A channel of one's own is a frozen dataclass that derives from `Channel`, with `labels`, `possible`, `response` and
`log_probability`. Without noise its averages follow.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from localentropy.arguments import require_named
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE, gaussian_nodes, unit_legendre
from localentropy.quantities import NOISE_OF_LABELS, WIDTH_OF_DOOR

Array = np.ndarray

NOISE_SPACING = 0.15
"""Spacing of the nodes of the part of a pre-activation that the student does not know, in its standard deviation."""
PANEL_NODES = 16
"""Of Gauss-Legendre's rule on each panel."""
PANEL_RATIO = 3.0
"""Of the lengths of neighbouring panels, which grow away from an edge."""
COARSE = (-9.0, -6.0, -3.0, 0.0, 3.0, 6.0, 9.0)
"""Ends of panels in the range of a Gaussian."""
LOG_2PI = math.log(2.0 * math.pi)


class Errors(NamedTuple):
    """Errors on a new label.

    Attributes:
        bayes: probability that the best guess is wrong; NaN for labels of a continuum.
        gibbs: the same for the label of a sample of the posterior; NaN likewise.
        label: mean squared error of the posterior mean of the label.
    """

    bayes: float
    gibbs: float
    label: float


class Channel(ABC):
    """What a label tells. `Sign`, `Absolute`, `Linear`, `Relu` and `Door` are channels.

    Attributes:
        edges: pre-activations at which the label has a jump or a kink.
        even: whether z and -z have the same label. Then no label tells the teacher's sign.
        noisy: whether a label is not a function of z.
        limit: the limit of `information` where nearly all is known, r → ∞.
        weak: samples per input above which an uninformed student learns; not 0 for even channels only.
        allowed: the labels, in words.

    Example:
        >>> from localentropy.numerics.channels import Absolute, Channel
        >>> isinstance(Absolute(), Channel), Absolute().even, Absolute().weak
        (True, True, 0.5)
    """

    edges: tuple[float, ...] = ()
    even: bool = False
    noisy: bool = False
    limit: float = 0.0
    weak: float = 0.0
    allowed: str = "labels of the channel"

    @abstractmethod
    def labels(self, z: Array, stream: np.random.Generator) -> Array:
        """Labels of pre-activations, [n]; noise comes from the stream."""

    @abstractmethod
    def possible(self, y: Array) -> Array:
        """Whether each number is a label, [n]."""

    def gives(self, y: Array, z: Array, rounding: float) -> Array:
        """Whether each label may be that of its pre-activation, [n], which has an error of rounding."""
        if self.noisy:
            return self.possible(y)
        near = [np.abs(z - edge) <= rounding for edge in self.edges]
        same: Array = np.abs(self.labels(z, np.random.default_rng(0)) - y) <= rounding
        return np.logical_or.reduce([same, *near])

    @abstractmethod
    def response(self, y: Array, omega: Array, V: float) -> tuple[Array, Array]:
        """g and -∂g/∂ω of each label."""

    @abstractmethod
    def log_probability(self, y: Array, omega: Array, V: float) -> Array:
        """ln P(y | ω, V) of each label."""

    def information(self, r: float) -> float:
        """Fisher information of a label on ω, times 1 - m, which is 2 (1 - m) Phi'(m), at m = r / (1 + r)."""
        V = 1.0 / (1.0 + r)
        return V * self._mean(r, lambda y, omega: self.response(y, omega, V)[0] ** 2)

    def entropy(self, r: float) -> float:
        """Phi(m): minus the mean conditional entropy of a label, nats; differential for labels of a continuum."""
        return self._mean(r, lambda y, omega: self.log_probability(y, omega, 1.0 / (1.0 + r)))

    def errors(self, r: float) -> Errors:
        """Errors on a new label; NaN where a channel does not say them."""
        return Errors(math.nan, math.nan, math.nan)

    def _mean(self, r: float, function: Callable[[Array, Array], Array]) -> float:
        """Of a function of label and ω, over both, without noise: on panels that end at the edges."""
        width, omega, weight = self._omegas(r)
        omega = omega[:, None]
        ends = ((np.array(self.edges) - omega) / width).clip(-RANGE, RANGE)
        ends = np.sort(np.hstack([ends, np.tile(COARSE, (len(omega), 1))]))
        unknown, share = panels(ends)
        z = omega + width * unknown
        values = function(self.labels(z, np.random.default_rng(0)), np.broadcast_to(omega, z.shape))
        return float(np.sum(weight[:, None] * share * values))

    def _omegas(self, r: float) -> tuple[float, Array, Array]:
        """Deviation of what the student does not know; nodes of ω and their weights, on panels around the edges."""
        width, root = 1.0 / math.sqrt(1.0 + r), math.sqrt(r / (1.0 + r))
        # Places and widths of the edges in units of the standard deviation of ω.
        places = [edge / root for edge in self.edges] if root > 0.0 else []
        x, weight = panels(np.array(sorted({*COARSE, *around(places, width / max(root, width))})))
        return width, root * x, weight


class TwoLabels(Channel):
    """A channel of the labels 1 and -1.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.channels import Door, TwoLabels
        >>> isinstance(Door(0.67), TwoLabels), Door(0.67).possible(np.array([1.0, 0.5])).tolist()
        (True, [True, False])
    """

    allowed = "1 and -1"

    def possible(self, y: Array) -> Array:
        """See `Channel`."""
        return np.abs(y) == 1.0


class _NotNegative(Channel):
    """A channel of labels that are not negative."""

    allowed = "numbers that are not negative"

    def possible(self, y: Array) -> Array:
        """See `Channel`."""
        return y >= 0.0


@dataclass(frozen=True)
class Sign(TwoLabels):
    """The sign of z (docs/glm/theory.md eqs. 6, 10).

    Example:
        >>> from localentropy.numerics.channels import Sign
        >>> round(Sign().errors(r=1.0).bayes, 6)  # of a student at the overlap m = 1/2
        0.25
    """

    edges = (0.0,)

    def labels(self, z: Array, stream: np.random.Generator) -> Array:
        """See `Channel`."""
        return np.where(z >= 0.0, 1.0, -1.0)

    def response(self, y: Array, omega: Array, V: float) -> tuple[Array, Array]:
        """See `Channel`."""
        pull, slope = _tail(-y * omega / math.sqrt(V))
        return y * pull / math.sqrt(V), slope / V

    def log_probability(self, y: Array, omega: Array, V: float) -> Array:
        """See `Channel`."""
        logarithm: Array = log_ndtr(y * omega / math.sqrt(V))
        return logarithm

    def information(self, r: float) -> float:
        """See `Channel`."""
        u, weight = known(r)
        return float(weight @ np.exp(-u * u - log_ndtr(-u))) / math.pi

    def entropy(self, r: float) -> float:
        """See `Channel`."""
        u, weight = known(r)
        return float(2.0 * weight @ (ndtr(u) * log_ndtr(u)))

    def errors(self, r: float) -> Errors:
        """arccos(sqrt m) / pi, arccos(m) / pi and twice this, without cancellation."""
        gibbs = 2.0 * math.asin(math.sqrt(0.5 / (1.0 + r))) / math.pi
        return Errors(math.atan2(1.0, math.sqrt(r)) / math.pi, gibbs, 2.0 * gibbs)


@dataclass(frozen=True)
class Absolute(_NotNegative):
    """The absolute value of z: phase retrieval (docs/glm/theory.md eqs. 8, 9, 13).

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.channels import Absolute
        >>> Absolute().labels(np.array([-2.0, 1.0]), np.random.default_rng(0)).tolist()
        [2.0, 1.0]
    """

    edges, even, limit, weak = (0.0,), True, 1.0, 0.5

    def labels(self, z: Array, stream: np.random.Generator) -> Array:
        """See `Channel`."""
        size: Array = np.abs(z)
        return size

    def response(self, y: Array, omega: Array, V: float) -> tuple[Array, Array]:
        """z is y or -y."""
        mean = y * np.tanh(y * omega / V)
        return (mean - omega) / V, (1.0 - (y - mean) * (y + mean) / V) / V

    def log_probability(self, y: Array, omega: Array, V: float) -> Array:
        """See `Channel`."""
        gap, size = y - np.abs(omega), np.abs(omega)
        logarithm: Array = np.log1p(np.exp(-2.0 * y * size / V)) - 0.5 * (gap * gap / V + LOG_2PI + math.log(V))
        return logarithm

    def information(self, r: float) -> float:
        """See `Channel`."""
        a, z, weight = _known_and_unknown(r)
        b = a + z
        x = a * b
        small = np.exp(-2.0 * np.abs(x))
        # b tanh(a b) - a, where a may be large.
        rest = b * (2.0 * small / (1.0 + small))
        gap = np.where(x >= 0.0, z - rest, rest - 2.0 * a - z)
        return float(np.sum(weight * gap**2))

    def entropy(self, r: float) -> float:
        """See `Channel`."""
        a, z, weight = _known_and_unknown(r)
        # With b = a + z, ln(1 + exp(-2 a b)) = ln 2 cosh(a b) - a b, and the mean of a b is that of a^2, r.
        folded = float(np.sum(weight * np.logaddexp(0.0, -2.0 * a * (a + z))))
        return folded - 0.5 * math.log(2.0 * math.pi * math.e) + 0.5 * math.log1p(r)

    def errors(self, r: float) -> Errors:
        """See `Channel`."""
        u, weight = known(r)
        size = np.abs(u)
        # The posterior mean in units of sqrt(1 - m) is |u| + beyond.
        beyond = math.sqrt(2.0 / math.pi) * np.exp(-0.5 * u * u) - 2.0 * size * ndtr(-size)
        return Errors(math.nan, math.nan, float(weight @ (1.0 - beyond * (beyond + 2.0 * size))) / (1.0 + r))


@dataclass(frozen=True)
class Linear(Channel):
    """z itself, with Gaussian noise.

    Attributes:
        noise: its variance, in [0, 1e4].

    Example:
        >>> from localentropy.numerics.channels import Linear
        >>> Linear(noise=0.25).errors(r=3.0).label  # 1 − m, and the noise
        0.5
    """

    noise: float = 0.0
    allowed = "numbers"

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", NOISE_OF_LABELS.require(self.noise))

    @property
    def noisy(self) -> bool:  # type: ignore[override]
        """See `Channel`."""
        return self.noise > 0.0

    @property
    def limit(self) -> float:  # type: ignore[override]
        """See `Channel`."""
        return 0.0 if self.noisy else 1.0

    def labels(self, z: Array, stream: np.random.Generator) -> Array:
        """See `Channel`."""
        return z + math.sqrt(self.noise) * stream.standard_normal(z.shape) if self.noisy else z

    def possible(self, y: Array) -> Array:
        """See `Channel`."""
        return np.isfinite(y)

    def response(self, y: Array, omega: Array, V: float) -> tuple[Array, Array]:
        """See `Channel`."""
        return (y - omega) / (V + self.noise), np.full_like(omega, 1.0 / (V + self.noise))

    def log_probability(self, y: Array, omega: Array, V: float) -> Array:
        """See `Channel`."""
        spread = V + self.noise
        logarithm: Array = -0.5 * ((y - omega) ** 2 / spread + LOG_2PI + math.log(spread))
        return logarithm

    def information(self, r: float) -> float:
        """See `Channel`."""
        return 1.0 / (1.0 + self.noise * (1.0 + r))

    def entropy(self, r: float) -> float:
        """See `Channel`."""
        return -0.5 * (LOG_2PI + 1.0 + math.log(1.0 / (1.0 + r) + self.noise))

    def errors(self, r: float) -> Errors:
        """See `Channel`."""
        return Errors(math.nan, math.nan, 1.0 / (1.0 + r) + self.noise)


@dataclass(frozen=True)
class Relu(_NotNegative):
    """The larger of z and 0: half of the labels tell a sign, and half tell z.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.channels import Relu
        >>> Relu().labels(np.array([-2.0, 1.0]), np.random.default_rng(0)).tolist()
        [0.0, 1.0]
    """

    edges, limit = (0.0,), 0.5

    def labels(self, z: Array, stream: np.random.Generator) -> Array:
        """See `Channel`."""
        return np.maximum(z, 0.0)

    def response(self, y: Array, omega: Array, V: float) -> tuple[Array, Array]:
        """See `Channel`."""
        pull, slope = _tail(omega / math.sqrt(V))
        told = y > 0.0
        return np.where(told, (y - omega) / V, -pull / math.sqrt(V)), np.where(told, 1.0, slope) / V

    def log_probability(self, y: Array, omega: Array, V: float) -> Array:
        """See `Channel`."""
        told = -0.5 * ((y - omega) ** 2 / V + LOG_2PI + math.log(V))
        return np.where(y > 0.0, told, log_ndtr(-omega / math.sqrt(V)))

    def information(self, r: float) -> float:
        """See `Channel`."""
        return 0.5 * (1.0 + Sign().information(r))

    def entropy(self, r: float) -> float:
        """See `Channel`."""
        return 0.5 * (Sign().entropy(r) + Linear().entropy(r))

    def errors(self, r: float) -> Errors:
        """See `Channel`."""
        u, weight = known(r)
        density, positive, negative = INVERSE_SQRT_2PI * np.exp(-0.5 * u * u), ndtr(u), ndtr(-u)
        variance = positive + u * u * positive * negative + u * density * (negative - positive) - density**2
        return Errors(math.nan, math.nan, float(weight @ variance) / (1.0 + r))


@dataclass(frozen=True)
class Door(TwoLabels):
    """1 where |z| < κ, and -1 elsewhere.

    Attributes:
        width: κ, half of the door's width, in [0.01, 6].

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.channels import Door
        >>> Door(width=0.67).labels(np.array([-2.0, 0.5]), np.random.default_rng(0)).tolist()
        [-1.0, 1.0]
    """

    width: float
    even = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", WIDTH_OF_DOOR.require(self.width))

    @property
    def edges(self) -> tuple[float, ...]:  # type: ignore[override]
        """See `Channel`."""
        return (-self.width, self.width)

    @property
    def weak(self) -> float:  # type: ignore[override]
        """1 / Σ_y P(y) (E[z² | y] - 1)²."""
        moved = 2.0 * self.width * INVERSE_SQRT_2PI * math.exp(-0.5 * self.width**2)
        outside = 2.0 * float(ndtr(-self.width))
        return outside * (1.0 - outside) / moved**2

    def labels(self, z: Array, stream: np.random.Generator) -> Array:
        """See `Channel`."""
        return np.where(np.abs(z) < self.width, 1.0, -1.0)

    def _logs(self, b: Array, V: float) -> tuple[Array, Array, Array]:
        """ln P of 1 and of -1, at distances b of ω from the nearer edge into the door, and c from the other edge.

        Distances are in units of sqrt(V). ω is on the side of the nearer edge.
        """
        c = b - 2.0 * self.width / math.sqrt(V)
        near, far = log_ndtr(b), log_ndtr(c)
        outside = np.logaddexp(log_ndtr(-b), far)
        with np.errstate(divide="ignore", invalid="ignore"):
            # With ω in the door, the rest is the smaller part.
            inside = np.where(b > 0.0, np.log1p(-np.exp(outside)), near + np.log1p(-np.exp(far - near)))
        return inside, outside, c

    def response(self, y: Array, omega: Array, V: float) -> tuple[Array, Array]:
        """See `Channel`."""
        size = np.abs(omega)
        b = (self.width - size) / math.sqrt(V)
        inside, outside, c = self._logs(b, V)
        log = np.where(y > 0.0, inside, outside)
        near, far = (INVERSE_SQRT_2PI * np.exp(-0.5 * x * x - log) for x in (b, c))
        g = y * (far - near) / math.sqrt(V)
        return np.where(omega < 0.0, -g, g), g * g - y * (c * far - b * near) / V

    def log_probability(self, y: Array, omega: Array, V: float) -> Array:
        """See `Channel`."""
        inside, outside, _ = self._logs((self.width - np.abs(omega)) / math.sqrt(V), V)
        return np.where(y > 0.0, inside, outside)

    def information(self, r: float) -> float:
        """See `Channel`."""
        inside, outside, b, u, weight = self._known(r)
        # phi(b) - phi(c), without cancellation.
        edge = np.expm1(-2.0 * self.width * math.sqrt(1.0 + r) * u)
        return float(weight @ (edge**2 * np.exp(-b * b - inside - outside))) / (2.0 * math.pi)

    def entropy(self, r: float) -> float:
        """See `Channel`."""
        inside, outside, _, _, weight = self._known(r)
        return float(weight @ (np.exp(inside) * inside + np.exp(outside) * outside))

    def errors(self, r: float) -> Errors:
        """See `Channel`."""
        inside, outside, _, _, weight = self._known(r)
        gibbs = 2.0 * float(weight @ np.exp(inside + outside))
        return Errors(float(weight @ np.exp(np.minimum(inside, outside))), gibbs, 2.0 * gibbs)

    def _known(self, r: float) -> tuple[Array, Array, Array, Array, Array]:
        """Both ln P, b, |ω| in units of sqrt(1 - m), and the weights of its distribution: shapes (nodes,).

        Nodes are counted from the edge, if it is in the range of ω. A panel ends where both labels are equally
        probable: there the best guess changes.
        """
        from scipy.optimize import brentq

        root, edge = math.sqrt(r), self.width * math.sqrt(1.0 + r)
        start = edge / root if edge < RANGE * root else 0.0
        ends = {-start, RANGE - start, *around([0.0], 1.0 / max(root, 1.0)), *(end - start for end in COARSE)}
        if root > 0.0 and ndtr(edge) - ndtr(-edge) > 0.5:
            turn = brentq(lambda b: ndtr(b) - ndtr(b - 2.0 * edge) - 0.5, 0.0, edge, xtol=1e-15)
            ends.add(-turn / root if start else (edge - turn) / root)
        # The Gaussian is counted from 0 again.
        x, weight = panels(np.array(sorted(end for end in ends if -start <= end <= RANGE - start)), start)
        b = -root * x if start else edge - root * x
        inside, outside, _ = self._logs(b, 1.0 / (1.0 + r))
        return inside, outside, b, root * (start + x), 2.0 * weight


CHANNELS: dict[str, Channel] = {"sign": Sign(), "absolute": Absolute(), "relu": Relu()}
"""Channels without a parameter, by name."""


def as_channel(channel: str | Channel) -> Channel:
    """The channel of a name; a value stays as it is.

    Args:
        channel: a name or a value.

    Returns:
        The value.

    Raises:
        DomainError: neither a name in `CHANNELS` nor a `Channel` that is a frozen dataclass.

    Example:
        >>> from localentropy.numerics.channels import as_channel
        >>> as_channel("absolute")
        Absolute()
    """
    return require_named("channel", channel, CHANNELS, Channel, __name__)  # type: ignore[type-abstract]


def known(r: float) -> tuple[Array, Array]:
    """Nodes and weights of an average over the student's mean pre-activation, in units of sqrt(1 - m).

    Args:
        r: m / (1 - m).

    Returns:
        Nodes and weights, each of shape (nodes,).

    Example:
        >>> from localentropy.numerics.channels import known
        >>> mean, weight = known(3.0)
        >>> round(float(weight @ mean**2), 9)  # m / (1 - m)
        3.0
    """
    root = math.sqrt(r)
    v, weight = gaussian_nodes(max(root, 1.0))
    return root * v, weight


def around(places: list[float], width: float) -> set[float]:
    """Ends of panels that grow away from each of some places, in the range of a Gaussian.

    Args:
        places: the places.
        width: length of the panels next to a place.

    Returns:
        The ends.

    Example:
        >>> from localentropy.numerics.channels import around
        >>> sorted(around([0.0], width=1.0))
        [-3.0, -1.0, 0.0, 1.0, 3.0]
    """
    steps = width * PANEL_RATIO ** np.arange(math.ceil(math.log(2.0 * RANGE / width, PANEL_RATIO)) + 1)
    ends = {place + step for place in places for step in (0.0, *steps, *-steps)}
    return {float(end) for end in ends if abs(end) < RANGE}


def panels(ends: Array, start: float = 0.0) -> tuple[Array, Array]:
    """Nodes x and weights of int D(start + x) from the first to the last of the ends, by Gauss-Legendre.

    Args:
        ends: of neighbouring panels, ascending, [..., ends].
        start: added to each node before the Gaussian weight is taken.

    Returns:
        Nodes and weights, each [..., n].

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.channels import panels
        >>> x, weight = panels(np.array([-9.0, -3.0, 0.0]))
        >>> round(float(weight.sum()), 9)  # half of a Gaussian
        0.5
    """
    unit, unit_weight = unit_legendre(PANEL_NODES)
    lengths = np.diff(ends)[..., None]
    x = (ends[..., :-1, None] + lengths * unit).reshape(*ends.shape[:-1], -1)
    weight = (lengths * unit_weight).reshape(x.shape)
    return x, weight * INVERSE_SQRT_2PI * np.exp(-0.5 * (start + x) ** 2)


def _known_and_unknown(r: float) -> tuple[Array, Array, Array]:
    """Student's mean pre-activation a, the rest z, and their joint weights: shapes (nodes, 1), (n,), (nodes, n)."""
    a, weight = known(r)
    z = np.arange(-9.0, 9.0, NOISE_SPACING)
    noise = np.exp(-0.5 * z * z) * (NOISE_SPACING / math.sqrt(2.0 * math.pi))
    return a[:, None], z, weight[:, None] * noise


def _tail(x: Array) -> tuple[Array, Array]:
    """Hazard h = phi(x) / H(x) and its slope h (h - x)."""
    hazard = INVERSE_SQRT_2PI * np.exp(-0.5 * x * x - log_ndtr(-x))
    return hazard, hazard * (hazard - x)
