"""The load above which the minimum of as many quadratic units as inputs is unique: a cavity calculation.

The calculation is heuristic. A sample x has u = x·w*/|w*|, the part v of x that is orthogonal to w*, and a multiplier
λ (docs/glm/theory.md section 10). At the load the largest possible smallest eigenvalue of M = Σ λ v vᵀ is 0. In high
dimension it is the edge of a spectrum. λ = ω − 1 of a sample depends on its u and on a Gaussian h of variance B, which
is b·v without the reaction of λ itself; b is the multiplier of Σ λ u v = 0. ε and κ follow from eq. 50:

    1/ω² = ε u² − 2 u h + 2 κ u² (ω − 1) .

Source: docs/glm/theory.md eqs. 49, 50.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from localentropy.errors import ConvergenceError
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE

Array = np.ndarray

START = (0.7, -1.7, -2.8)
"""Near the solution: ε, ln κ, ln B."""
SPACING = 0.15
"""Of the nodes in ln u."""
SMALLEST, LARGEST = -30.0, 2.2
"""Ends in ln u; the density is 1e-18 at the upper one."""
NODES = 81
"""In h on each side of 0."""
LARGEST_RESIDUAL = 1e-10
"""Of the three conditions, at the solution."""


class UniqueMinimum(NamedTuple):
    """Where the minimum of quadratic units becomes unique.

    Attributes:
        alpha: samples per input.
        epsilon, kappa, variance: ε and κ of eq. 49, and the variance B of h.
        residual: largest of the conditions' residuals.
    """

    alpha: float
    epsilon: float
    kappa: float
    variance: float
    residual: float


def unique_minimum() -> UniqueMinimum:
    """The load above which a training set of many inputs has a unique minimum, by a cavity calculation (heuristic).

    Source: derived here, docs/glm/theory.md eqs. 49, 50; the talk `glm` prints 2 (theorem 3.1).

    Returns:
        The load and the parameters there.

    Raises:
        ConvergenceError: the conditions are not fulfilled.

    Example:
        >>> from localentropy.theory.quadratic_units import unique_minimum
        >>> round(unique_minimum().alpha, 6)
        3.307699
    """
    from scipy.optimize import root

    found = root(lambda x: _conditions(x)[0], START, tol=1e-13)
    conditions, used = _conditions(found.x)
    epsilon, kappa, variance = float(found.x[0]), math.exp(found.x[1]), math.exp(found.x[2])
    residual = float(np.abs(conditions).max())
    if not residual < LARGEST_RESIDUAL:
        raise ConvergenceError("load", {"ε": epsilon, "κ": kappa, "B": variance}, residual)
    return UniqueMinimum(1.0 / used, epsilon, kappa, variance, residual)


def _conditions(x: Array) -> tuple[Array, float]:
    """The residuals of eq. 50 at ε, ln κ, ln B, and E (1 − 1/ω)."""
    epsilon, kappa, root = float(x[0]), math.exp(x[1]), math.exp(0.5 * x[2])
    u, xi, weight = _nodes(1.0 / root)
    h = root * xi
    omega = _omega(epsilon * u * u - 2.0 * u * h - 2.0 * kappa * u * u, 2.0 * kappa * u * u)
    multiplier, k = omega - 1.0, kappa * u * u * omega**3
    used = float(np.sum(weight * (1.0 - 1.0 / omega)))
    conditions = [
        np.sum(weight * multiplier * u * u),
        np.sum(weight * multiplier * u * (h - kappa * multiplier * u)),
        np.sum(weight * k / (1.0 + k)) - used,
    ]
    return np.array(conditions), used


def _nodes(width: float) -> tuple[Array, Array, Array]:
    """Nodes u > 0, [u, 1], and ξ, [u, ξ], and weights of a Gaussian average of what is even under both signs' change.

    For small u, ω has a crossover in h on the scale of u^(1/3). There the nodes in ξ crowd.
    """
    u = np.exp(np.arange(SMALLEST, LARGEST, SPACING))[:, None]
    density = 2.0 * SPACING * u * INVERSE_SQRT_2PI * np.exp(-0.5 * u * u)
    scale = width * np.minimum(1.0, np.cbrt(u))
    reach = np.arcsinh(RANGE / scale)
    step = reach / NODES
    t = step * np.arange(-NODES, NODES + 1)
    xi = scale * np.sinh(t)
    return u, xi, density * step * scale * np.cosh(t) * INVERSE_SQRT_2PI * np.exp(-0.5 * xi * xi)


def _omega(constant: Array, slope: Array) -> Array:
    """The root of 1/ω² = constant + slope ω, slope > 0: Newton's steps from below, which stay below."""
    slope = np.broadcast_to(slope, constant.shape)
    positive = np.maximum(constant, np.finfo(float).tiny)
    above = np.minimum((2.0 * positive) ** -0.5, (2.0 * slope) ** (-1.0 / 3.0))
    omega: Array = np.where(constant > 0.0, above, np.maximum(-constant / slope, slope ** (-1.0 / 3.0)))
    for _ in range(40):
        omega = omega + (omega**-2.0 - slope * omega - constant) / (2.0 * omega**-3.0 + slope)
    return omega
