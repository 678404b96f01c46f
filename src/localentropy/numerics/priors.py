"""Priors: what is known of a teacher's weight before the labels (`glm`; docs/glm/theory.md section 1).

Theory, instances and message passing take the same values. Every prior here is even and has mean square 1. A weight w
is seen through a field B and a precision Λ: its distribution is the prior times exp(B w − Λ w²/2), normalised.

    >>> from localentropy.numerics.priors import GaussBernoulli
    >>> site = GaussBernoulli(0.1).site(4.0)
    >>> round(site.mse, 6), round(site.entropy, 6)
    (0.048086, -0.274974)

A prior of one's own is a frozen dataclass that derives from `Prior`, with `sample`, `moments` and `log_normalization`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from localentropy.arguments import require_named
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE, gaussian_nodes
from localentropy.numerics.search import positive_root
from localentropy.quantities import CENTRE, DENSITY

Array = np.ndarray

RATIOS = (1e-14, 1e24)
"""Range of m / (1 - m), and of the conjugate of m, that is searched."""
FIELD_SPACING = 0.02
"""Spacing of the nodes of the field, in t of B = sqrt(Λ) sinh(t), for a prior without a rule of its own."""
MIXTURE_SPACING = 0.05
"""Spacing of the nodes of the field of a mixture."""


class Site(NamedTuple):
    """A weight in the field of state evolution, at the conjugate m_hat of the overlap.

    Attributes:
        ratio: m / (1 - m).
        mse: 1 - m, the mean posterior variance.
        entropy: free entropy of the weight less m m_hat / 2 (docs/glm/theory.md eq. 4), nats.
    """

    ratio: float
    mse: float
    entropy: float


class Prior(ABC):
    """What is known of a weight. `Gaussian`, `Binary`, `GaussBernoulli` and `TwoGaussians` are priors.

    Attributes:
        largest: a size that a weight exceeds with a probability below 1e-18 only.
        strongest: the largest m_hat at which `site` is right. A prior without density has 1 - m below 1e-20 there.
        dimension: the probability that a weight comes from a density, and not from single values: the limit of
            m_hat (1 - m) at large m_hat.

    Example:
        >>> from localentropy.numerics.priors import Binary, Prior
        >>> isinstance(Binary(), Prior), Binary().dimension
        (True, 0.0)
    """

    largest: float = RANGE
    strongest: float = 1e6
    dimension: float = 1.0

    @abstractmethod
    def sample(self, stream: np.random.Generator, d: int) -> Array:
        """Weights, [d]."""

    @abstractmethod
    def moments(self, field: Array, precision: Array) -> tuple[Array, Array]:
        """Mean and variance of a weight, from B and Λ, of shapes that NumPy can broadcast."""

    @abstractmethod
    def log_normalization(self, field: Array, precision: Array) -> Array:
        """ln of the integral of the prior times exp(B w − Λ w²/2)."""

    def divergence(self, field: Array, precision: Array) -> Array:
        """Kullback-Leibler divergence of the weight's distribution in the field from the prior, nats."""
        means, variances = self.moments(field, precision)
        squares = np.square(means) + variances
        divergence: Array = field * means - 0.5 * precision * squares - self.log_normalization(field, precision)
        return divergence

    def site(self, m_hat: float) -> Site:
        """Averages over the field B = m_hat w + sqrt(m_hat) z, whose density is known from the normalization."""
        root = math.sqrt(m_hat)
        end = math.asinh(RANGE + root * self.largest)
        t = np.linspace(-end, end, 2 * int(end / FIELD_SPACING) + 3)
        u, precision = np.sinh(t), np.array(m_hat)
        density = np.exp(self.log_normalization(root * u, precision) - 0.5 * u * u)
        return self._mean(root * u, density * np.cosh(t) * (t[1] - t[0]) * INVERSE_SQRT_2PI, m_hat)

    def _mean(self, field: Array, weight: Array, m_hat: float) -> Site:
        precision = np.full_like(field, m_hat)
        means, variances = self.moments(field, precision)
        mse = float(weight @ variances)
        overlap = float(weight @ np.square(means)) if mse > 0.5 else 1.0 - mse
        return Site(overlap / mse, mse, 0.5 * m_hat * mse - float(weight @ self.divergence(field, precision)))

    def conjugate(self, ratio: float) -> float:
        """m_hat at an overlap m, given by m / (1 - m)."""
        if ratio <= 2.0 * RATIOS[0]:
            return 0.0  # to rounding
        return positive_root(lambda m_hat: self.site(m_hat).ratio - ratio, RATIOS[0], self.strongest)


@dataclass(frozen=True)
class Gaussian(Prior):
    """Gaussian weights of variance 1.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.priors import Gaussian
        >>> mean, variance = Gaussian().moments(field=np.array(2.0), precision=np.array(3.0))
        >>> float(mean), float(variance)
        (0.5, 0.25)
    """

    strongest = RATIOS[1]

    def sample(self, stream: np.random.Generator, d: int) -> Array:
        """See `Prior`."""
        return stream.standard_normal(d)

    def moments(self, field: Array, precision: Array) -> tuple[Array, Array]:
        """See `Prior`."""
        return field / (1.0 + precision), 1.0 / (1.0 + precision)

    def log_normalization(self, field: Array, precision: Array) -> Array:
        """See `Prior`."""
        normalization: Array = 0.5 * (field**2 / (1.0 + precision) - np.log1p(precision))
        return normalization

    def site(self, m_hat: float) -> Site:
        """In closed form."""
        return Site(m_hat, 1.0 / (1.0 + m_hat), 0.5 * (m_hat / (1.0 + m_hat) - math.log1p(m_hat)))

    def conjugate(self, ratio: float) -> float:
        """See `Prior`."""
        return ratio


@dataclass(frozen=True)
class Binary(Prior):
    """Weights +1 or -1 with probability 1/2.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.priors import Binary
        >>> mean, variance = Binary().moments(field=np.array(2.0), precision=np.array(3.0))
        >>> round(float(mean), 6)  # tanh 2
        0.964028
    """

    largest, strongest, dimension = 1.0, 100.0, 0.0

    def sample(self, stream: np.random.Generator, d: int) -> Array:
        """See `Prior`."""
        return stream.choice(np.array([-1.0, 1.0]), d)

    def moments(self, field: Array, precision: Array) -> tuple[Array, Array]:
        """The precision says nothing: w² = 1 for both weights."""
        means = np.tanh(field)
        # Means close to 1 are exact to 1e-16. The smallest variance is far larger.
        return means, (1.0 - means) * (1.0 + means)

    def log_normalization(self, field: Array, precision: Array) -> Array:
        """See `Prior`."""
        normalization: Array = np.logaddexp(field, -field) - math.log(2.0) - 0.5 * precision
        return normalization

    def site(self, m_hat: float) -> Site:
        """As in `Prior`, without cancellation: the field is sqrt(m_hat) u, with the weight exp(-m_hat/2) cosh of it."""
        root = math.sqrt(m_hat)
        u, weight = gaussian_nodes(max(root, 1.0))
        x = np.abs(root * u)
        small = np.exp(-2.0 * x)
        weight = weight * np.exp(x - 0.5 * m_hat)
        v = float(2.0 * weight @ (small / (1.0 + small)))  # 1 / cosh
        # sinh^2 / cosh: in a strong field beyond the range of the nodes.
        m = float(0.5 * weight @ ((1.0 - small) ** 2 / (1.0 + small))) if v > 0.5 else 1.0 - v
        entropy = np.log1p(small) + 2.0 * x * small / (1.0 + small)  # ln 2 cosh h - h tanh h
        # The mean of h tanh h is m_hat.
        return Site(m / v, v, float(0.5 * weight @ ((1.0 + small) * entropy)) - math.log(2.0) + 0.5 * m_hat * v)


class Mixture(Prior):
    """A mixture of Gaussians, some of which may have variance 0. `GaussBernoulli` and `TwoGaussians` are mixtures.

    Attributes:
        components: share, centre and variance of each.

    Example:
        >>> from localentropy.numerics.priors import GaussBernoulli
        >>> GaussBernoulli(0.25).components  # share, centre, variance
        ((0.25, 0.0, 4.0), (0.75, 0.0, 0.0))
    """

    components: tuple[tuple[float, float, float], ...]
    strongest = 1e18

    @property
    def largest(self) -> float:  # type: ignore[override]
        """See `Prior`."""
        return max(abs(centre) + RANGE * math.sqrt(variance) for _, centre, variance in self.components)

    @property
    def dimension(self) -> float:  # type: ignore[override]
        """See `Prior`."""
        return math.fsum(share for share, _, variance in self.components if variance > 0.0)

    def sample(self, stream: np.random.Generator, d: int) -> Array:
        """See `Prior`."""
        share, centre, variance = np.array(self.components).T
        of = stream.choice(len(share), d, p=share)
        weights: Array = centre[of] + np.sqrt(variance[of]) * stream.standard_normal(d)
        return weights

    def moments(self, field: Array, precision: Array) -> tuple[Array, Array]:
        """See `Prior`."""
        share = np.exp(self._log_shares(field, precision)[0])
        widened = [(centre, variance, 1.0 + precision * variance) for _, centre, variance in self.components]
        parts = [((centre + variance * field) / wide, variance / wide) for centre, variance, wide in widened]
        mean = sum(p * mu for p, (mu, _) in zip(share, parts, strict=True))
        return mean, sum(p * (s + (mu - mean) ** 2) for p, (mu, s) in zip(share, parts, strict=True))

    def log_normalization(self, field: Array, precision: Array) -> Array:
        """See `Prior`."""
        _, centre, variance = self.components[0]
        wide = 1.0 + precision * variance
        exponent = (centre * field + 0.5 * variance * field**2 - 0.5 * precision * centre**2) / wide
        normalization: Array = exponent - 0.5 * np.log(wide) + self._log_shares(field, precision)[1]
        return normalization

    def divergence(self, field: Array, precision: Array) -> Array:
        """A sum of positive terms: between the shares, and between each Gaussian before and after."""
        log_share = self._log_shares(field, precision)[0]
        total: Array = np.zeros(np.shape(field))
        for log_p, (share, centre, variance) in zip(log_share, self.components, strict=True):
            wide = 1.0 + precision * variance
            moved = variance * ((field - precision * centre) / wide) ** 2
            total = total + np.exp(log_p) * (
                log_p - math.log(share) + 0.5 * (np.log(wide) - precision * variance / wide + moved)
            )
        return total

    def site(self, m_hat: float) -> Site:
        """The field of each component is Gaussian. Nodes crowd around the field 0, where components take turns."""
        fields, weights = [], []
        for share, centre, variance in self.components:
            wide = math.sqrt(1.0 + m_hat * variance)
            middle = max(-RANGE, min(RANGE, -math.sqrt(m_hat) * centre / wide))
            z, weight = gaussian_nodes(wide, MIXTURE_SPACING, middle)
            fields.append(m_hat * centre + math.sqrt(m_hat) * wide * z)
            weights.append(share * weight)
        return self._mean(np.concatenate(fields), np.concatenate(weights), m_hat)

    def _log_shares(self, field: Array, precision: Array) -> tuple[Array, Array]:
        """ln of the shares in the field; ln of the sum of what they are normalized by, in units of the first term.

        Exponents are subtracted power by power of the field, so that nothing cancels in strong fields.
        """
        _, centre_0, variance_0 = self.components[0]
        wide_0 = 1.0 + precision * variance_0
        logs = []
        for share, centre, variance in self.components:
            wide = 1.0 + precision * variance
            square = 0.5 * (variance - variance_0) / (wide * wide_0)
            slope = (centre * wide_0 - centre_0 * wide) / (wide * wide_0)
            constant = -0.5 * precision * (centre**2 * wide_0 - centre_0**2 * wide) / (wide * wide_0)
            size = math.log(share) - 0.5 * np.log(wide / wide_0)
            logs.append(size + constant + field * (slope + field * square))
        log = np.stack(np.broadcast_arrays(*logs))
        total: Array = np.logaddexp.reduce(log, axis=0)
        return log - total, total


@dataclass(frozen=True)
class GaussBernoulli(Mixture):
    """Sparse weights: zero but for a share of them, which are Gaussian of variance 1 / density.

    Attributes:
        density: probability that a weight is not 0, in [1e-3, 1].

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.priors import GaussBernoulli
        >>> weights = GaussBernoulli(density=0.1).sample(np.random.default_rng(0), 10_000)
        >>> round(float(np.mean(weights != 0)), 2), round(float(np.mean(weights**2)), 1)
        (0.1, 1.1)
    """

    density: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "density", DENSITY.require(self.density))

    @property
    def components(self) -> tuple[tuple[float, float, float], ...]:  # type: ignore[override]
        """See `Mixture`."""
        slab = (self.density, 0.0, 1.0 / self.density)
        return (slab, (1.0 - self.density, 0.0, 0.0)) if self.density < 1.0 else (slab,)


@dataclass(frozen=True)
class TwoGaussians(Mixture):
    """An equal mixture of two Gaussians around centre and -centre, of variance 1 - centre².

    Attributes:
        centre: in [0, 0.999]. At 0 weights are Gaussian; towards 1 they become binary.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.priors import TwoGaussians
        >>> mean, variance = TwoGaussians(centre=0.999).moments(np.array(2.0), np.array(0.0))
        >>> round(float(mean), 2)  # nearly tanh 2, as of binary weights
        0.97
    """

    centre: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", CENTRE.require(self.centre))

    @property
    def components(self) -> tuple[tuple[float, float, float], ...]:  # type: ignore[override]
        """See `Mixture`."""
        variance = (1.0 - self.centre) * (1.0 + self.centre)
        return ((0.5, self.centre, variance), (0.5, -self.centre, variance))


PRIORS: dict[str, Prior] = {"gaussian": Gaussian(), "binary": Binary()}
"""Priors without a parameter, by name."""


def as_prior(prior: str | Prior) -> Prior:
    """The prior of a name; a value stays as it is.

    Args:
        prior: a name or a value.

    Returns:
        The value.

    Raises:
        DomainError: neither a name in `PRIORS` nor a `Prior` that is a frozen dataclass.

    Example:
        >>> from localentropy.numerics.priors import as_prior
        >>> as_prior("binary")
        Binary()
    """
    return require_named("prior", prior, PRIORS, Prior, __name__)  # type: ignore[type-abstract]
