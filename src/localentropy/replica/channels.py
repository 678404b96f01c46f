"""What labels tell a Bayes-optimal student: the terms of a pattern for the teacher's sign and absolute value.

A student knows the teacher's pre-activation up to a variance 1 - m, m the overlap of its estimate with the teacher. All
functions take the ratio r = m / (1 - m), in which no digits cancel. Source: docs/glm/theory.md eqs. 6-9.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, ndtr

from localentropy.numerics.quadrature import gaussian_nodes

NOISE_SPACING = 0.15
"""Of the nodes of what the student does not know of a pre-activation, in its standard deviation."""


def sign_information(r: float) -> float:
    """Fisher information 2 (1 - m) Phi'(m) of the teacher's sign on the student's mean pre-activation."""
    u, weight = _known(r)
    return float(weight @ np.exp(-u * u - log_ndtr(-u))) / math.pi


def sign_entropy(r: float) -> float:
    """Phi(m): minus the mean conditional entropy of the sign, nats."""
    u, weight = _known(r)
    return float(2.0 * weight @ (ndtr(u) * log_ndtr(u)))


def absolute_information(r: float) -> float:
    """Fisher information 2 (1 - m) Phi'(m) of the teacher's absolute value."""
    a, b, weight = _known_and_true(r)
    return float(np.sum(weight * (b * np.tanh(a * b) - a) ** 2))


def absolute_entropy(r: float) -> float:
    """Phi(m): minus the mean conditional differential entropy of the absolute value, nats."""
    a, b, weight = _known_and_true(r)
    # ln(1 + exp(-2 a b)) = ln 2 cosh(a b) - a b, and the mean of a b is that of a^2, r.
    folded = float(np.sum(weight * np.logaddexp(0.0, -2.0 * a * b)))
    return folded - 0.5 * math.log(2.0 * math.pi * math.e) + 0.5 * math.log1p(r)


def absolute_error(r: float) -> float:
    """Mean squared error of the posterior mean of the absolute value, whose mean square is 1."""
    u, weight = _known(r)
    size = np.abs(u)
    # The posterior mean in units of sqrt(1 - m) is |u| + beyond.
    beyond = math.sqrt(2.0 / math.pi) * np.exp(-0.5 * u * u) - 2.0 * size * ndtr(-size)
    return float(weight @ (1.0 - beyond * (beyond + 2.0 * size))) / (1.0 + r)


def _known(r: float) -> tuple[np.ndarray, np.ndarray]:
    """The student's mean pre-activation in units of sqrt(1 - m), and its weights; each of shape (nodes,)."""
    root = math.sqrt(r)
    v, weight = gaussian_nodes(max(root, 1.0))
    return root * v, weight


def _known_and_true(r: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same, and the teacher's pre-activation, with their joint weights: shapes (nodes, 1), twice (nodes, n)."""
    a, weight = _known(r)
    z = np.arange(-9.0, 9.0, NOISE_SPACING)
    noise = np.exp(-0.5 * z * z) * (NOISE_SPACING / math.sqrt(2.0 * math.pi))
    return a[:, None], a[:, None] + z, weight[:, None] * noise
