"""The label of a committee of two units, seen by a Bayes-optimal student: the terms of a pattern.

The teacher's pre-activations z_1, z_2 have variance 1. The student knows their means omega_1, omega_2. Sums and
differences over sqrt(2) have the overlaps q_+ and q_-, and do not see each other: omega has the variances q_+, q_-, and
the rest 1 - q_+, 1 - q_-. The label is 1 where both are positive, -1 where both are negative, and 0 otherwise. Overlaps
come as ratios r = q / (1 - q), in which no digits cancel. Source: docs/glm/theory.md eqs. 16-19.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, owens_t

from localentropy.numerics.quadrature import RANGE, gaussian_nodes, unit_legendre

Array = np.ndarray

SPACING = 0.1
"""Spacing of the nodes in each direction."""
CENTRE = 3.0
"""How far from the middle, in standard deviations, nodes crowd at most."""
EMPTY = 1e-13
"""Smallest probability. A smaller one is a difference of larger numbers, and divides what is as small."""
HALVINGS = 26
"""Steps of the search for the place where two labels are equally probable. The error counts by its square only."""
LEAD_NODES = 64
"""Number of nodes from that place on."""
TINY = 1e-150
"""A number in place of 0, where a quotient has a limit."""


@dataclass(frozen=True)
class Labels:
    """Probabilities of the labels 1, -1, 0, and derivatives, on a grid of means.

    Attributes:
        weight: of the nodes, shape (n, n').
        probability: Z_y, shape (3, n, n').
        gradient: by omega_+ and omega_-, shape (2, 3, n, n').
        bend: second derivative by omega_-, shape (3, n, n').
    """

    weight: Array
    probability: Array
    gradient: Array
    bend: Array

    def information(self) -> tuple[float, float]:
        """Fisher information of the label on omega_+ and omega_-, alpha times which is r_+ and r_-."""
        plus, minus = self._mean(self.gradient**2 / self.probability).tolist()
        return plus, minus

    def stiffness(self) -> float:
        """Ratio of the information on omega_- and q_-, at q_- = 0; alpha times it is 1 at the specialization."""
        return float(self._mean(self.bend**2 / self.probability))

    def entropy(self) -> float:
        """Minus the mean conditional entropy of the label, nats."""
        return float(self._mean(self.probability * np.log(self.probability)))

    def gibbs_error(self) -> float:
        """Probability that a sample of the posterior gives another label than the teacher."""
        return float(self._mean(self.probability * (1.0 - self.probability)))

    def label_error(self) -> float:
        """Mean squared error of the posterior mean of the label."""
        plus, minus, _ = self.probability
        return float(np.sum(self.weight * (plus + minus - (plus - minus) ** 2)))

    def _mean(self, values: Array) -> Array:
        """Over the nodes, of the sum over labels."""
        mean: Array = np.sum(self.weight * values, axis=(-3, -2, -1))
        return mean


def labels(r_plus: float, r_minus: float) -> Labels:
    """The label's probabilities where omega is distributed as in learning, at q_+ > 0 and q_- >= 0.

    Args:
        r_plus: q_+ / (1 - q_+), positive.
        r_minus: q_- / (1 - q_-), not negative.

    Returns:
        The probabilities, their derivatives and the weights of the nodes.

    Example:
        >>> from localentropy.theory.committee_channel import labels
        >>> found = labels(0.5, 0.3)
        >>> round(float((found.weight * found.probability.sum(0)).sum()), 6)
        1.0
    """
    q_plus, q_minus = r_plus / (1.0 + r_plus), r_minus / (1.0 + r_minus)
    width, correlation = _unknown(r_plus, r_minus)
    own = math.sqrt(0.5 * (q_plus + q_minus))
    # omega_1, and omega_2 given it: what is sharp is where either vanishes.
    slope = (q_plus - q_minus) / (q_plus + q_minus)
    spread = math.sqrt(2.0 * q_plus * q_minus / (q_plus + q_minus))
    first, weight = gaussian_nodes(max(own / width, 1.0), SPACING)
    first = own * first
    scale, centre = 1.0, np.zeros_like(first)
    if spread > width:
        scale, centre = spread / width, np.clip(-slope * first / spread, -CENTRE, CENTRE)
    second, beside = gaussian_nodes(scale, SPACING, centre)
    second = slope * first[:, None] + spread * second
    return _labels(
        np.broadcast_to(first[:, None], second.shape) / width,
        second / width,
        correlation,
        width,
        weight[:, None] * beside,
    )


def bayes_error(r_plus: float, r_minus: float) -> float:
    """Probability that the best guess of the label is wrong.

    Without knowledge the best guess is the label 0, which has the probability 1/2. At large |omega_+| the label 1 or -1
    is more probable. The integral over the gain starts where this begins, at an omega_+ that depends smoothly on
    omega_-.

    Args:
        r_plus: as for `labels`.
        r_minus: as for `labels`.

    Returns:
        The probability.

    Example:
        >>> from localentropy.theory.committee_channel import bayes_error
        >>> round(bayes_error(0.5, 0.3), 6)
        0.450426
    """
    width, correlation = _unknown(r_plus, r_minus)
    root_plus, root_minus = math.sqrt(r_plus / (1.0 + r_plus)), math.sqrt(r_minus / (1.0 + r_minus))
    v, weight = gaussian_nodes(max(root_minus / width, 1.0), SPACING)
    across = root_minus * v

    def lead(along: Array, across: Array) -> Array:
        """By how much the label 1 is more probable than 0."""
        h, k = (along + across) / math.sqrt(2.0), (along - across) / math.sqrt(2.0)
        both, _, one = _probabilities(h / width, k / width, correlation)
        return both - one

    low, high = np.zeros_like(across), np.abs(across) + RANGE * width
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        ahead = lead(middle, across) > 0.0
        low, high = np.where(ahead, low, middle), np.where(ahead, middle, high)
    start = np.minimum(high / root_plus, RANGE)[:, None]
    scale = max(root_plus / width, 1.0)
    unit, unit_weight = unit_legendre(LEAD_NODES)
    reach = np.arcsinh((RANGE - start) * scale)
    z = start + np.sinh(reach * unit) / scale
    density = _density(z) * np.cosh(reach * unit) * reach * unit_weight / scale
    gained = weight[:, None] * density * lead(root_plus * z, across[:, None])
    return 0.5 - 2.0 * float(np.sum(gained))


def _unknown(r_plus: float, r_minus: float) -> tuple[float, float]:
    """Standard deviation and correlation of what the student does not know of z_1 and z_2."""
    rest_plus, rest_minus = 1.0 / (1.0 + r_plus), 1.0 / (1.0 + r_minus)
    return math.sqrt(0.5 * (rest_plus + rest_minus)), (rest_plus - rest_minus) / (rest_plus + rest_minus)


def _probabilities(h: Array, k: Array, rho: float) -> Array:
    """Probabilities of the labels 1, -1, 0 of h + x and k + x', with x and x' of variance 1 and correlation rho.

    By Owen's function (Owen 1956), which is the same for all four pairs of signs.
    """
    root = math.sqrt((1.0 - rho) * (1.0 + rho))
    h, k = np.where(h == 0.0, TINY, h), np.where(k == 0.0, TINY, k)
    apart = (h < 0.0) != (k < 0.0)
    one = apart + 2.0 * (owens_t(h, (k - rho * h) / (h * root)) + owens_t(k, (h - rho * k) / (k * root)))
    both, none = 0.5 * (ndtr(h) + ndtr(k) - one), 0.5 * (ndtr(-h) + ndtr(-k) - one)
    return np.maximum(np.stack([both, none, one]), EMPTY)


def _labels(h: Array, k: Array, rho: float, width: float, weight: Array) -> Labels:
    """The probabilities and their derivatives at omega = width (h, k)."""
    root = math.sqrt((1.0 - rho) * (1.0 + rho))
    density_h, density_k = _density(h), _density(k)
    along_h, along_k = (k - rho * h) / root, (h - rho * k) / root
    # Derivatives of the first two by h and k; the third takes what they lose.
    by_h = density_h * np.stack([ndtr(along_h), -ndtr(-along_h)])
    by_k = density_k * np.stack([ndtr(along_k), -ndtr(-along_k)])
    mixed = density_h * _density(along_h) / root
    gradient = np.stack([by_h + by_k, by_h - by_k]) / (math.sqrt(2.0) * width)
    bend = -(h * by_h + k * by_k + 2.0 * (1.0 + rho) * mixed) / (2.0 * width * width)
    return Labels(
        weight, _probabilities(h, k, rho),
        np.concatenate([gradient, -gradient.sum(axis=1, keepdims=True)], axis=1),
        np.concatenate([bend, -bend.sum(axis=0, keepdims=True)]),
    )  # fmt: skip


def _density(x: Array) -> Array:
    density: Array = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    return density
