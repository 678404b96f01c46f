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
def crowded(centre: float, scale: float) -> tuple[float, float]:
    """Where t starts, and how far it goes, in z = centre + sinh(t) / scale over the range of a Gaussian.

    The trapezoid rule in t spreads nodes evenly on the scale 1 / scale near the centre and geometrically beyond: its
    error falls exponentially with their number, at a rate that depends on the scale through a logarithm only.
    """
    first = math.asinh(-(RANGE + centre) * scale)
    return first, math.asinh((RANGE - centre) * scale) - first


@subroutine
def gaussian_node(centre: float, scale: float, t: float, step: float) -> tuple[float, float]:
    """z and its weight in int Dz f(z), for nodes `step` apart in t."""
    z = centre + math.sinh(t) / scale
    return z, exp(-0.5 * z * z) * INVERSE_SQRT_2PI * math.cosh(t) * step / scale


@subroutine
def doubly_crowded(z: float, a: float, scale_a: float, b: float, scale_b: float) -> float:
    """t at z: as for `crowded`, around two places a and b."""
    return math.asinh((z - a) * scale_a) + math.asinh((z - b) * scale_b)


@subroutine
def next_node(  # type: ignore[no-untyped-def]
    before: float, t: float, step: float, a: float, scale_a: float, b: float, scale_b: float
):
    """z at t, from the node before, and its weight in int Dz f(z): by Newton's method, which a bracket keeps."""
    low, high, z = before, RANGE, before
    for _ in range(200):
        slope = scale_a / math.hypot(1.0, (z - a) * scale_a) + scale_b / math.hypot(1.0, (z - b) * scale_b)
        missing = t - doubly_crowded(z, a, scale_a, b, scale_b)
        if abs(missing) < 1e-13 * (1.0 + abs(t)):
            break
        low, high = (z, high) if missing > 0.0 else (low, z)
        z += missing / slope
        if not low <= z <= high:
            z = 0.5 * (low + high)
    return z, exp(-0.5 * z * z) * INVERSE_SQRT_2PI * step / slope


@lru_cache(maxsize=64)
def unit_legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [0, 1], each of shape (nodes,)."""
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
    """
    centre = np.asarray(centre, dtype=float)[..., None]
    first = np.arcsinh(-(RANGE + centre) * scale)
    span = np.arcsinh((RANGE - centre) * scale) - first
    step = span / int(np.max(span) / spacing + 1.0)
    t = first + step * np.arange(int(np.max(span) / spacing) + 2)
    z = centre + np.sinh(t) / scale
    return z, np.exp(-0.5 * z * z) * INVERSE_SQRT_2PI * np.cosh(t) * step / scale
