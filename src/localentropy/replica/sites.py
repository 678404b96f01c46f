"""Entropic terms: how many states a weight has in its random field, as functions of a few scalars."""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import kernel
from localentropy.numerics.gaussian_kernels import exp
from localentropy.numerics.jets import Jet, compose
from localentropy.numerics.quadrature import RANGE, crowded, gaussian_node

SPACING = 0.07
"""Of the nodes of a Gaussian integral, in widths of the sharpest feature of its integrand."""
PAIR_SPACING = 0.1
"""The same in each of two dimensions."""
# Spacings at which the trapezoid rule is exact to rounding: of a step or kink of width 1, and of a Gaussian.
_FEATURE_SPACING, _GAUSSIAN_SPACING = 0.25, 0.4


def binary(q_hat: Jet, q: Jet, v: Jet, spacing: float = SPACING) -> Jet:
    """-q_hat (1 - q) / 2 + int Dz ln 2 cosh(sqrt(q_hat) z), nats per weight (`margins`, eq. 14a; `overparam`, eqs. 50).

    Args:
        q_hat: conjugate of the overlap.
        q: overlap.
        v: 1 - q. Written through q where that is small and through v where that is, so that no digits cancel.
        spacing: of the integral's nodes.
    """
    value, free_slope, slope, curvature = _binary(q_hat.value, spacing)
    if q_hat.value > 1.0:
        return q_hat.map(value, free_slope, curvature) - 0.5 * q_hat * v
    return q_hat.map(value - 0.5 * q_hat.value, slope, curvature) + 0.5 * q_hat * q


@kernel
def _binary(q_hat: float, spacing: float):  # type: ignore[no-untyped-def]
    root = math.sqrt(q_hat)
    scale = max(root, 1.0)
    first, span = crowded(0.0, scale)
    nodes = int(span / spacing) + 2
    step = span / (nodes - 1)
    value = free_slope = slope = curvature = 0.0
    for i in range(nodes):
        z, weight = gaussian_node(0.0, scale, first + step * i, step)
        size = abs(root * z)
        small = exp(-2.0 * min(size, 300.0))
        square = 4.0 * small / (1.0 + small) ** 2
        tanh = (1.0 - small) / (1.0 + small)
        value += weight * (size + math.log1p(small))
        free_slope += 0.5 * weight * square
        slope -= 0.5 * weight * tanh * tanh
        curvature -= 0.5 * weight * square * tanh * abs(z) / root
    return value, free_slope, slope, curvature


def binary_pair(free: Jet, t_hat: Jet, field: Jet, q_hat_ref: float, spacing: float = PAIR_SPACING) -> Jet:
    """Mean of ln(1 + exp(-2 h)) for a weight in the field h of its reference's sign, nats per weight.

    h = sqrt(free) z + t_hat x / sqrt(q_hat_ref) + field, with z Gaussian and x of density [1 + tanh(sqrt(q_hat_ref) x)]
    times the Gaussian's: what ln 2 cosh h exceeds h by (`margins`, eq. 27a; `overparam`, eq. 91).

    Args:
        free: q_hat - t_hat^2 / q_hat_ref, conjugate of the overlap of two students beyond the references'.
        t_hat: conjugate of the overlap with another reference.
        field: S_hat - t_hat, the reference's own pull.
        q_hat_ref: conjugate of the references' overlap.
        spacing: of the nodes of the two integrals.
    """
    inside = max(free.value, 0.0)
    value, gradient, hessian = _binary_pair(inside, t_hat.value, field.value, q_hat_ref, spacing)
    if free.value < inside:
        # A variance is not negative, but steps towards a small one may be: the parabola leads them back.
        beyond = free.value - inside
        value += beyond * (gradient[0] + 0.5 * beyond * hessian[0, 0])
        gradient = gradient + beyond * hessian[0]
    return compose(value, gradient, hessian, [free, t_hat, field])


@kernel
def _binary_pair(free: float, t_hat: float, field: float, q_hat_ref: float, spacing: float):  # type: ignore[no-untyped-def]
    """Value, gradient and Hessian by free, t_hat, field.

    The part g = (h - field) / root of the field and x have correlation c: x = c g + sqrt(1 - c^2) x'. Only the weight
    1 + tanh depends on x', by its first three moments.
    """
    root_ref = math.sqrt(q_hat_ref)
    root = math.sqrt(free + t_hat * t_hat / q_hat_ref)
    c = min(max(t_hat / (root * root_ref), -1.0), 1.0) if root > 0.0 else 0.0
    rest = math.sqrt(free) / root if root > 0.0 else 1.0
    width = rest * root_ref
    slope = abs(c) * root_ref / math.sqrt(1.0 + width * width)
    kink = -field / root if root > 0.0 else math.inf
    # The integrand has a step at 0, of width 1 / slope, and a kink, of width 1 / root. Nodes crowd around the sharper
    # one, and are so many that the other one is resolved too.
    scale, other = max(root, slope, 1.0), max(min(root, slope), 1.0)
    centre = min(max(kink, -6.0), 6.0) if root > max(slope, 1.0) else 0.0
    inner_scale, inner_spacing = max(width, 1.0), spacing
    if abs(kink) < RANGE:
        spacing = min(spacing, _FEATURE_SPACING / (other * math.hypot(kink, 1.0 / scale)))
    first, span = crowded(centre, scale)
    nodes = int(span / spacing) + 2
    step = span / (nodes - 1)
    value = 0.0
    gradient, hessian = np.zeros(3), np.zeros((3, 3))
    for i in range(nodes):
        g, weight = gaussian_node(centre, scale, first + step * i, step)
        inner_centre = min(max(-c * g / rest, -6.0), 6.0) if width > 1.0 else 0.0
        inner_first, inner_span = crowded(inner_centre, inner_scale)
        inner_nodes = int(inner_span * max(1.0 / inner_spacing, abs(inner_centre) / _GAUSSIAN_SPACING)) + 2
        inner_step = inner_span / (inner_nodes - 1)
        m0 = m1 = m2 = 0.0
        for j in range(inner_nodes):
            other, w = gaussian_node(inner_centre, inner_scale, inner_first + inner_step * j, inner_step)
            x = c * g + rest * other
            w *= 2.0 / (1.0 + exp(min(max(-2.0 * root_ref * x, -700.0), 700.0)))
            m0 += w
            m1 += w * x
            m2 += w * x * x
        m0, m1, m2 = weight * m0, weight * m1 / root_ref, weight * m2 / q_hat_ref
        h = root * g + field
        small = exp(-2.0 * min(abs(h), 300.0))
        tanh = math.copysign((1.0 - small) / (1.0 + small), h)
        square = 4.0 * small / (1.0 + small) ** 2
        # The derivatives of ln(1 + exp(-2 h)): -(1 - tanh h) without cancellation, and so on.
        f = math.log1p(small) + (0.0 if h > 0.0 else -2.0 * h)
        f1 = -2.0 * small / (1.0 + small) if h > 0.0 else -2.0 / (1.0 + small)
        f2, f3 = square, -2.0 * tanh * square
        f4 = square * (4.0 - 6.0 * square)
        value += m0 * f
        gradient[0] += 0.5 * m0 * f2
        gradient[1] += m1 * f1
        gradient[2] += m0 * f1
        hessian[0, 0] += 0.25 * m0 * f4
        hessian[0, 1] += 0.5 * m1 * f3
        hessian[0, 2] += 0.5 * m0 * f3
        hessian[1, 1] += m2 * f2
        hessian[1, 2] += m1 * f2
        hessian[2, 2] += m0 * f2
    for i in range(3):
        for j in range(i):
            hessian[i, j] = hessian[j, i]
    return value, gradient, hessian
