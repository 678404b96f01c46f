"""Energetic terms of typical solutions: how many students satisfy a pattern, seen through covariances only."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx as scipy_erfcx

from localentropy.numerics.compiled import kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, SQRT_TWO_OVER_PI, erfcx, exp, hazard, log_tail
from localentropy.numerics.jets import Jet, Number, compose
from localentropy.numerics.quadrature import RANGE, crowded, gaussian_node

SPACING = 0.07
"""Of the nodes of a Gaussian integral, in widths of the sharpest feature of its integrand."""

# Spacings at which the trapezoid rule is exact to rounding, in widths: of the step H(x), and of the kink of ln H, whose
# nearest singularities are at a distance of 2.4.
_STEP_SPACING, _KINK_SPACING = 0.4, 0.2
# From here on a continued fraction of 14 levels is exact to rounding.
_FAR = 12.0


def hard_margin(common: Jet, free: Jet, teacher: Number, margin: Number, spacing: float = SPACING) -> Jet:
    """G_E: log fraction of students whose stability on a pattern is at least the margin, nats.

    Source: `overparam`, eqs. 50; `margins`, eq. 14b (no teacher).

    Args:
        common: variance that two students' pre-activations share beyond the teacher's, C = Q - R^2.
        free: variance of one student's own part, V = Q_d - Q.
        teacher: covariance R of a student's and the teacher's pre-activations; 0 where there is no teacher.
        margin: kappa.
        spacing: of the integral's nodes.
    """
    arguments = (common, free, teacher, margin)
    values = [argument.value if isinstance(argument, Jet) else float(argument) for argument in arguments]
    value, gradient, hessian = _hard_margin(*values, spacing)
    jets = [index for index, argument in enumerate(arguments) if isinstance(argument, Jet)]
    return compose(value, gradient[jets], hessian[np.ix_(jets, jets)], [arguments[index] for index in jets])  # type: ignore[misc]


@subroutine
def excess(h: float, hazard_h: float) -> float:
    """hazard(h) - h > 0, by a continued fraction where the difference would cancel."""
    if h < _FAR:
        return hazard_h - h
    fraction = h
    for k in range(14, 1, -1):
        fraction = h + k / fraction
    return 1.0 / fraction


@subroutine
def hazard_derivatives(h: float, g: float) -> tuple[float, float, float]:
    """The first three derivatives of the hazard, from its value g.

    Far beyond the margin they are small differences. There the derivatives of the continued fraction of `excess` are
    taken level by level.
    """
    if h < _FAR:
        over = g - h
        d1 = g * over
        d2 = d1 * (g + over) - g
        return d1, d2, d2 * (g + over) + 2.0 * d1 * (d1 - 1.0)
    f, f1, f2, f3 = h, 1.0, 0.0, 0.0
    for k in range(14, 0, -1):
        # Of k / f.
        r, slope = 1.0 / f, f1 / f
        f, f1, f2, f3 = (
            k * r,
            -k * r * slope,
            k * r * (2.0 * slope * slope - f2 * r),
            k * r * (6.0 * slope * (f2 * r - slope * slope) - f3 * r),
        )
        if k > 1:
            f, f1 = f + h, f1 + 1.0
    return 1.0 + f1, f2, f3


@kernel
def _hard_margin(C: float, V: float, R: float, margin: float, spacing: float):  # type: ignore[no-untyped-def]
    """Value, gradient (4,) and Hessian (4, 4) by C, V, R, margin.

    With u the teacher's pre-activation and omega the common part of the students', of variance Q = C + R^2,
    G = E[f(omega) | u > 0], f = ln H((margin - omega) / sqrt(V)). Derivatives move onto f by Gaussian integration by
    parts: C halves the second derivative of f, R brings a factor u, and V acts on f by the heat equation.
    """
    Q = C + R * R
    root_V, root_Q, T = math.sqrt(V), math.sqrt(Q), R / math.sqrt(C)
    # Of u given omega = sqrt(Q) z: mean = slope z.
    slope, deviation = R / root_Q, math.sqrt(C / Q)
    # The integrand is sharp at the margin, on the scale root_V, and at omega = 0, on the scale that the teacher leaves.
    # Nodes crowd around the sharper place. Their number is large enough to resolve the other place too.
    kink, ratio, step_width = margin / root_Q, max(root_Q / root_V, 1.0), 1.0 / max(abs(T), 1.0)
    if ratio * step_width >= 1.0:
        scale, centre, other = ratio, kink, _STEP_SPACING * step_width
    else:
        scale, centre, other = 1.0 / step_width, 0.0, _KINK_SPACING / ratio
    centre = min(max(centre, -6.0), 6.0)
    first, span = crowded(centre, scale)
    if abs(kink) < RANGE:
        spacing = min(spacing, other / math.hypot(kink, 1.0 / scale))
    nodes = int(span / spacing) + 2
    step = span / (nodes - 1)
    value = 0.0
    gradient, hessian = np.zeros(4), np.zeros((4, 4))
    for i in range(nodes):
        z, weight = gaussian_node(centre, scale, first + step * i, step)
        # Twice the moments of u > 0, of order 0, 1, 2.
        x, mean = T * z, slope * z
        bell = exp(-min(0.5 * x * x, 700.0))
        half = erfcx(abs(x) * SQRT_HALF) * bell
        agree = weight * (half if x < 0.0 else 2.0 - half)
        edge = weight * deviation * SQRT_TWO_OVER_PI * bell
        first_moment = mean * agree + edge
        second_moment = mean * first_moment + deviation * deviation * agree
        h = (margin - root_Q * z) / root_V
        g = hazard(h)
        # f and its derivatives by omega, in units of sqrt(V).
        d1, d2, d3 = hazard_derivatives(h, g)
        value += agree * log_tail(h)
        gradient[0] -= 0.5 * agree * d1
        gradient[1] += 0.5 * agree * g * h
        gradient[2] += first_moment * g
        gradient[3] -= agree * g
        hessian[0, 0] -= 0.25 * agree * d3
        hessian[0, 1] += 0.25 * agree * (d2 * h + 2.0 * d1)
        hessian[0, 2] += 0.5 * first_moment * d2
        hessian[0, 3] -= 0.5 * agree * d2
        hessian[1, 1] -= 0.25 * agree * h * (3.0 * g + d1 * h)
        hessian[1, 2] -= 0.5 * first_moment * (d1 * h + g)
        hessian[1, 3] += 0.5 * agree * (d1 * h + g)
        hessian[2, 2] -= second_moment * d1
        hessian[2, 3] += first_moment * d1
        hessian[3, 3] -= agree * d1
    units = np.array([1.0 / V, 1.0 / V, 1.0 / root_V, 1.0 / root_V])
    for i in range(4):
        gradient[i] *= units[i]
        for j in range(i, 4):
            hessian[i, j] *= units[i] * units[j]
            hessian[j, i] = hessian[i, j]
    return value, gradient, hessian


def pull(margin: float, variance: float) -> float:
    """Derivative by the pre-activation of ln of the fraction of random students that satisfy a pattern."""
    # A compiled function called from Python would take half a second to compile, in each process.
    return float(SQRT_TWO_OVER_PI / scipy_erfcx(margin * math.sqrt(0.5 / variance)) / math.sqrt(variance))
