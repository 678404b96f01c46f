"""Rules for Gaussian integrals whose integrands vary on a known, possibly short, scale."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from localentropy.numerics.compiled import subroutine
from localentropy.numerics.gaussian_kernels import exp

RANGE = 9.0
"""A Gaussian beyond so many standard deviations weighs 1e-19."""
INVERSE_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)


@subroutine
def sinh_range(centre: float, scale: float) -> tuple[float, float]:
    """Where t starts, and how far it goes, in z = centre + sinh(t) / scale over the range of a Gaussian.

    The trapezoid rule in t spreads nodes evenly on the scale 1 / scale near the centre and geometrically beyond: its
    error falls exponentially with their number, at a rate that depends on the scale through a logarithm only.

    Args:
        centre: where nodes crowd.
        scale: inverse width of the crowd.

    Returns:
        The first t, and the length of the range of t.

    Example:
        >>> import math
        >>> from localentropy.numerics.quadrature import sinh_range
        >>> first, length = sinh_range(0.0, 100.0)
        >>> round(math.sinh(first) / 100, 6) == -round(math.sinh(first + length) / 100, 6)
        True
    """
    first = math.asinh(-(RANGE + centre) * scale)
    return first, math.asinh((RANGE - centre) * scale) - first


@subroutine
def gaussian_node(centre: float, scale: float, t: float, step: float) -> tuple[float, float]:
    """A node z = centre + sinh(t) / scale and its weight in int Dz f(z).

    Args:
        centre: where nodes crowd.
        scale: inverse width of the crowd.
        t: place of the node.
        step: distance of the nodes in t.

    Returns:
        z and its weight.

    Example:
        >>> from localentropy.numerics.quadrature import sinh_range, gaussian_node
        >>> first, length = sinh_range(0.5, 100.0)
        >>> nodes = [gaussian_node(0.5, 100.0, first + length * k / 300, length / 300) for k in range(301)]
        >>> round(sum(weight * z**2 for z, weight in nodes), 9)  # of a Gaussian
        1.0
    """
    z = centre + math.sinh(t) / scale
    return z, exp(-0.5 * z * z) * INVERSE_SQRT_2PI * math.cosh(t) * step / scale


@subroutine
def asinh_sum(z: float, a: float, scale_a: float, b: float, scale_b: float) -> float:
    """t at z, for nodes that crowd around two places, a and b.

    Args:
        z: a node.
        a: the first place.
        scale_a: inverse width of its crowd.
        b: the second place.
        scale_b: inverse width of its crowd.

    Returns:
        asinh((z - a) scale_a) + asinh((z - b) scale_b).

    Example:
        >>> from localentropy.numerics.quadrature import asinh_sum
        >>> asinh_sum(0.0, -1.0, 50.0, 1.0, 50.0)  # half-way
        0.0
    """
    return math.asinh((z - a) * scale_a) + math.asinh((z - b) * scale_b)


@subroutine
def next_node(  # type: ignore[no-untyped-def]
    before: float, t: float, step: float, a: float, scale_a: float, b: float, scale_b: float
):
    """The next node of a rule whose nodes crowd around two places, a and b: Newton's method, which a bracket keeps.

    Args:
        before: the node before.
        t: place of the node, see `asinh_sum`.
        step: distance of the nodes in t.
        a: the first place.
        scale_a: inverse width of its crowd.
        b: the second place.
        scale_b: inverse width of its crowd.

    Returns:
        z, and its weight in int Dz f(z).

    Example:
        >>> from localentropy.numerics.quadrature import next_node
        >>> z, weight = next_node(-1.0, 0.0, 0.1, -1.0, 50.0, 1.0, 50.0)
        >>> abs(z) < 1e-9, weight > 0.0
        (True, True)
    """
    low, high, z = before, RANGE, before
    for _ in range(200):
        slope = scale_a / math.hypot(1.0, (z - a) * scale_a) + scale_b / math.hypot(1.0, (z - b) * scale_b)
        missing = t - asinh_sum(z, a, scale_a, b, scale_b)
        if abs(missing) < 1e-13 * (1.0 + abs(t)):
            break
        low, high = (z, high) if missing > 0.0 else (low, z)
        z += missing / slope
        if not low <= z <= high:
            z = 0.5 * (low + high)
    return z, exp(-0.5 * z * z) * INVERSE_SQRT_2PI * step / slope


@lru_cache(maxsize=64)
def unit_legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [0, 1].

    Args:
        nodes: their number.

    Returns:
        Nodes and weights, each of shape (nodes,).

    Example:
        >>> from localentropy.numerics.quadrature import unit_legendre
        >>> x, weight = unit_legendre(3)
        >>> round(float(weight @ x**5), 12)  # exact up to the power 5: 1/6
        0.166666666667
    """
    x, weight = np.polynomial.legendre.leggauss(nodes)
    return 0.5 * (x + 1.0), 0.5 * weight


def gaussian_nodes(
    scale: float = 1.0, spacing: float = 0.1, centre: float | np.ndarray = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes z = centre + sinh(t) / scale and weights of int Dz f(z), as arrays of shape centre.shape + (nodes,).

    Args:
        scale: inverse width of the sharpest feature of f, which is at the centre; at least 1.
        spacing: of the nodes in t. The Gaussian itself needs 0.4 / hypot(centre, 1 / scale).
        centre: where nodes crowd; an array gives a rule for each element.

    Returns:
        Nodes and weights.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.quadrature import gaussian_nodes
        >>> z, weight = gaussian_nodes(scale=1000.0)
        >>> round(float(weight @ np.tanh(1000 * z) ** 2), 9)
        0.999202116
    """
    centre = np.asarray(centre, dtype=float)[..., None]
    first = np.arcsinh(-(RANGE + centre) * scale)
    span = np.arcsinh((RANGE - centre) * scale) - first
    step = span / int(np.max(span) / spacing + 1.0)
    t = first + step * np.arange(int(np.max(span) / spacing) + 2)
    z = centre + np.sinh(t) / scale
    return z, np.exp(-0.5 * z * z) * INVERSE_SQRT_2PI * np.cosh(t) * step / scale
