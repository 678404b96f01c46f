"""The label of a committee of two units, sign(sign z_1 + sign z_2), for a student who knows z as a Gaussian.

The label is 1 or -1 where both units agree, and 0 where they do not (`glm`; docs/glm/theory.md eqs. 15, 16). With the
means ω and any covariance V of z, its probability Z_y(ω; V) is that of two correlated Gaussians to lie in a quadrant,
by Owen's function (Owen 1956). `localentropy.theory.committee_channel` has its averages, for V of equal variances.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, owens_t

from localentropy.numerics.quadrature import INVERSE_SQRT_2PI

Array = np.ndarray

EMPTY = 1e-13
"""Smallest probability. A smaller one is a difference of larger numbers."""
TINY = 1e-150
"""A number in place of 0, where a quotient has a limit."""


class TwoSigns:
    """What the label of two units tells of their pre-activations.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.two_signs import TwoSigns
        >>> channel = TwoSigns()
        >>> channel.labels(np.array([[0.3, 2.0], [-1.0, 1.0]])).tolist()
        [1.0, 0.0]
        >>> g, slope = channel.response(np.array([1.0]), np.zeros((1, 2)), np.eye(2))
        >>> g.round(4).tolist(), slope.round(4).tolist()  # both units are pulled up
        ([[0.7979, 0.7979]], [[[0.6366, 0.0], [0.0, 0.6366]]])
    """

    def labels(self, z: Array) -> Array:
        """Labels 1, -1 and 0 of pre-activations, [n, 2]."""
        return np.sign(np.sign(z).sum(axis=-1))

    def probabilities(self, omega: Array, covariance: Array) -> Array:
        """Z_y of the labels 1, -1 and 0, [3, n], at means, [n, 2], and a covariance, [2, 2]."""
        x, along, _ = _standardised(omega, covariance)
        apart = (x[:, 0] < 0.0) != (x[:, 1] < 0.0)
        zero = apart + 2.0 * owens_t(x, along / x).sum(axis=1)
        both, neither = (0.5 * (ndtr(sign * x).sum(axis=1) - zero) for sign in (1.0, -1.0))
        return np.maximum(np.stack([both, neither, zero]), EMPTY)

    def response(self, y: Array, omega: Array, covariance: Array) -> tuple[Array, Array]:
        """g = ∂_ω ln Z_y, [n, 2], and -∂g/∂ω, [n, 2, 2], of the labels y, [n]."""
        x, along, rho = _standardised(omega, covariance)
        index, rows = np.where(y == 0.0, 2, (1.0 - y) // 2).astype(int), np.arange(len(y))
        z = self.probabilities(omega, covariance)[index, rows, None]
        # Derivatives of Z_1 and Z_-1; Z_0 takes what they lose.
        by_x = _density(x) * np.stack([ndtr(along), -ndtr(-along)])
        first = np.concatenate([by_x, -by_x.sum(axis=0, keepdims=True)])[index, rows]
        mixed = _density(x[:, 0]) * _density(along[:, 0]) / math.sqrt((1.0 - rho) * (1.0 + rho))
        mixed = (np.array([1.0, 1.0, -2.0])[index] * mixed)[:, None]
        second = np.empty((len(y), 2, 2))
        second[:, 0, 1] = second[:, 1, 0] = mixed[:, 0]
        second[:, [0, 1], [0, 1]] = -x * first - rho * mixed
        sd = np.sqrt(np.diagonal(covariance))
        g = first / z / sd
        return g, g[:, :, None] * g[:, None, :] - second / z[:, :, None] / np.outer(sd, sd)


def _standardised(omega: Array, covariance: Array) -> tuple[Array, Array, float]:
    """Means in standard deviations, [n, 2]; of the other one given each, [n, 2]; the correlation."""
    sd = np.sqrt(np.diagonal(covariance))
    rho = float(covariance[0, 1] / (sd[0] * sd[1]))
    x = np.where(omega == 0.0, TINY, omega / sd)
    return x, (x[:, ::-1] - rho * x) / math.sqrt((1.0 - rho) * (1.0 + rho)), rho


def _density(x: Array) -> Array:
    density: Array = INVERSE_SQRT_2PI * np.exp(-0.5 * x * x)
    return density
