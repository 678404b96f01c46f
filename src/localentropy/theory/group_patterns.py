"""Energetic terms of groups of y students around a reference, from the fraction of students that satisfy a pattern.

The terms are those of docs/margins/theory.md section 11. They are divided by y, so that y may be infinite. Patterns see
the students through covariances only.
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import REORDERED, kernel, subroutine
from localentropy.numerics.curvature import Curvature
from localentropy.numerics.gaussian_kernels import SQRT_HALF, SQRT_TWO_OVER_PI, erfcx, exp, hazard, log_tail
from localentropy.numerics.jets import Jet, Number, compose, plain
from localentropy.numerics.quadrature import RANGE, asinh_sum, next_node
from localentropy.theory.one_step import differentiated, tilted_means
from localentropy.theory.patterns import excess, hazard_derivatives

SPACING = 0.07
"""Spacing of the nodes of the outer integral, in widths of its sharpest feature."""
# Spacings at which the trapezoid rule is exact to rounding: of a Gaussian, and of the kink of ln H in its widths.
_GAUSSIAN_SPACING, _KINK_SPACING = 0.37, 0.16
# Where the kink of the best student's ln H sits, in widths before the margin.
_SHIFT = 1.2


def grouped(
    common: Jet, free: Jet, delta: Jet, teacher: Number, epsilon: Jet, margin: float, finer: int = 1,
    central: bool = False, curvature: Curvature | None = None,
) -> Jet:  # fmt: skip
    """Log fraction of students of a group whose stability on a pattern is at least the margin, nats.

    At y = 1 / epsilon it is epsilon times the mean over m of ln int Dz H((margin - omega) / sqrt(free))^y with
    omega = m + sqrt(epsilon delta) z. At epsilon = 0 it is the mean of the largest
    -(omega - m)^2 / (2 delta) + ln H((margin - omega) / sqrt(free)) over omega. There, second derivatives by epsilon
    are left out. m is what all students share: a Gaussian of variance `common`, and R |u| of a teacher.

    Args:
        common: variance C that students of two groups share beyond the teacher's.
        free: variance V of one student's own part.
        delta: y times the variance that students of a group share beyond that of two groups.
        teacher: covariance R of a student's and the teacher's pre-activations; 0 where there is no teacher.
        epsilon: 1 / y.
        margin: kappa, of either sign.
        finer: how many times more nodes all integrals have.
        central: whether second derivatives are central differences, where they are differences.
        curvature: second derivatives at the points before, which are corrected.

    Returns:
        The term.

    Raises:
        ValueError: outside of the domain.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.group_patterns import grouped
        >>> common, free, delta, epsilon = variables([0.3, 0.5, 0.2, 0.5])
        >>> round(grouped(common, free, delta, 0.0, epsilon, margin=0.0).value, 6)
        -0.778192
    """
    arguments = (common, free, delta, teacher, epsilon)
    if epsilon.value > 0.0:
        return differentiated(
            lambda point: _grouped(point, margin, SPACING / finer, finer), arguments, central, curvature
        )
    value, gradient, hessian = _limit(np.array([*map(plain, arguments)]), margin, SPACING / finer)
    if math.isnan(value):
        raise ValueError("outside of the domain")
    return compose(value, gradient, hessian, arguments)


@subroutine
def grid(C, V, R, margin, spacing):  # type: ignore[no-untyped-def]
    """Nodes of the common part sqrt(C + R^2) z: they crowd around the margin, and around 0 if there is a teacher.

    Args:
        C: variance that all students share beyond the teacher's.
        V: variance of a student's own part.
        R: covariance with the teacher; 0 where there is none.
        margin: kappa.
        spacing: of the nodes.

    Returns:
        place and sharpness of the margin; sharpness of the teacher's step; first t of `asinh_sum`, step, number.
    """
    root_Q = math.sqrt(C + R * R)
    place = min(max((margin + _SHIFT * math.sqrt(V)) / root_Q, -6.0), 6.0)
    sharp, step_sharp = max(root_Q / math.sqrt(V), 1.0), max(abs(R) / math.sqrt(C), 1.0)
    if R == 0.0:
        step_sharp = 1e-3
    first = asinh_sum(-RANGE, place, sharp, 0.0, step_sharp)
    span = asinh_sum(RANGE, place, sharp, 0.0, step_sharp) - first
    nodes = int(span / min(spacing, _GAUSSIAN_SPACING / max(abs(place), 1.0))) + 2
    return place, sharp, step_sharp, first, span / (nodes - 1), nodes


@subroutine
def taught(z, C, R):  # type: ignore[no-untyped-def]
    """Twice the moments of a teacher's u > 0, of order 0, 1, 2, where the common part is sqrt(C + R^2) z.

    Args:
        z: the common part, in units of its deviation.
        C: as for `grid`.
        R: as for `grid`.

    Returns:
        The three moments.
    """
    root_Q = math.sqrt(C + R * R)
    slope, deviation = R / root_Q, math.sqrt(C) / root_Q
    x, mean = R / math.sqrt(C) * z, slope * z
    bell = exp(-min(0.5 * x * x, 700.0))
    half = erfcx(abs(x) * SQRT_HALF) * bell
    agree = half if x < 0.0 else 2.0 - half
    first = mean * agree + deviation * SQRT_TWO_OVER_PI * bell
    return agree, first, mean * first + deviation * deviation * agree


@subroutine
def best_argument(c: float, a: float) -> float:
    """The u with the largest ln H(u) - (u - c)^2 / (2 a), of the best student of a group.

    It solves u + a hazard(u) = c, by Newton's method from above: the left side is convex and grows.

    Args:
        c: u of what all students share.
        a: y times the variance in the group, over that of a student's own part.

    Returns:
        u.
    """
    u = c
    for _ in range(100):
        g = hazard(u)
        move = (u + a * g - c) / (1.0 + a * g * excess(u, g))
        u -= move
        if abs(move) < 1e-14 * (1.0 + abs(u)):
            break
    return u


@kernel
def _limit(point, margin, spacing):  # type: ignore[no-untyped-def]
    """Value, gradient (5,) and Hessian (5, 5) of `grouped` at epsilon = 0 by C, V, delta, R, epsilon.

    M(m) is the largest value over omega, of which f = ln H takes the place at delta = 0. C halves M's second
    derivative, R brings a factor u, delta acts by M_delta = M_m^2 / 2 and V by f_V = (f'' + f'^2) / 2.
    """
    C, V, D, R, _ = point
    gradient, hessian = np.zeros(5), np.zeros((5, 5))
    if not (C > 0.0 and V > 0.0 and D > 0.0):
        return np.nan, gradient, hessian
    root_V, root_Q, a = math.sqrt(V), math.sqrt(C + R * R), D / V
    place, sharp, step_sharp, first, step, nodes = grid(C, V, R, margin, spacing)
    value = 0.0
    z = -RANGE
    for i in range(nodes):
        z, weight = next_node(z, first + step * i, step, place, sharp, 0.0, step_sharp)
        m0, m1, m2 = taught(z, C, R)
        m0, m1, m2 = weight * m0, weight * m1, weight * m2
        u = best_argument((margin - root_Q * z) / root_V, a)
        # f and its derivatives by omega, in units of sqrt(V).
        f1 = hazard(u)
        d1, d2, d3 = hazard_derivatives(u, f1)
        f2, f3, f4 = -d1, d2, -d3
        w = 1.0 / (1.0 + a * d1)
        f_V = 0.5 * f1 * u
        f_Vm = 0.5 * (f3 + 2.0 * f1 * f2)
        f_Vmm = 0.5 * (f4 + 2.0 * f2 * f2 + 2.0 * f1 * f3)
        f_VV = 0.5 * (f_Vmm + 2.0 * f1 * f_Vm)
        M2, M3 = f2 * w, f3 * w * w * w
        M4 = (f4 + 3.0 * a * f3 * f3 * w) * w * w * w * w
        M2_V = f_Vmm * w * w + f_Vm * a * f3 * w * w * w
        value += m0 * (log_tail(u) - 0.5 * a * f1 * f1)
        gradient[0] += 0.5 * m0 * M2
        gradient[1] += m0 * f_V
        gradient[2] += 0.5 * m0 * f1 * f1
        gradient[3] += m1 * f1
        gradient[4] += 0.5 * m0 * math.log(w)
        hessian[0, 0] += 0.25 * m0 * M4
        hessian[0, 1] += 0.5 * m0 * M2_V
        hessian[0, 2] += 0.5 * m0 * (M2 * M2 + f1 * M3)
        hessian[0, 3] += 0.5 * m1 * M3
        hessian[1, 1] += m0 * (f_VV + a * f_Vm * f_Vm * w)
        hessian[1, 2] += m0 * f1 * f_Vm * w
        hessian[1, 3] += m1 * f_Vm * w
        hessian[2, 2] += m0 * f1 * f1 * M2
        hessian[2, 3] += m1 * f1 * M2
        hessian[3, 3] += m2 * M2
    units = np.array([1.0 / V, 1.0 / V, 1.0 / V, 1.0 / root_V, 1.0])
    for i in range(5):
        gradient[i] *= units[i]
        for j in range(i, 5):
            hessian[i, j] *= units[i] * units[j]
            hessian[j, i] = hessian[i, j]
    return value, gradient, hessian


@subroutine(fastmath=REORDERED)
def _students(c, a, epsilon, finer):  # type: ignore[no-untyped-def]
    """Means over the students of a group with weights H(h)^y, h = (margin - omega) / sqrt(V), which is c at m.

    Returns:
        epsilon ln of the mean of H^y; the means of ln H, of its first derivative g by omega, in units of sqrt(V), of
        g^2 and of g h.
    """
    y, ratio = 1.0 / epsilon, math.sqrt(epsilon * a)
    u = best_argument(c, a)
    g = hazard(u)
    mode = (c - u) / ratio
    top = y * log_tail(u) - 0.5 * mode * mode
    # Nodes crowd around the mode, or around the kink of ln H where that is sharper, and resolve the other one.
    sharp, kink = math.sqrt(1.0 + a * g * excess(u, g)), c / ratio - mode
    near = abs(kink) < RANGE
    if ratio > sharp and near:
        centre, scale, blunt = kink, ratio, _GAUSSIAN_SPACING / sharp
    else:
        centre, scale, blunt = 0.0, sharp, _KINK_SPACING / ratio
    spacing = min(_KINK_SPACING, _GAUSSIAN_SPACING / math.hypot(centre, 1.0 / scale))
    if near:
        spacing = min(spacing, blunt / math.hypot(kink, 1.0 / scale))
    first = math.asinh((-RANGE - centre) * scale)
    span = math.asinh((RANGE - centre) * scale) - first
    nodes = int(span / spacing * finer) + 2
    step = span / (nodes - 1)
    place = mode + centre
    log_sum, logs, slope, square, slope_h = tilted_means(c, ratio, y, place, scale, first, step, nodes, top)
    return epsilon * log_sum, logs, slope, square, slope_h


@kernel
def _grouped(point, margin, spacing, finer):  # type: ignore[no-untyped-def]
    """Value and gradient (5,) of `grouped` at epsilon > 0, by C, V, delta, R, epsilon."""
    C, V, D, R, epsilon = point
    gradient = np.zeros(5)
    if not (C > 0.0 and V > 0.0 and D > 0.0 and epsilon > 0.0):
        return np.nan, gradient
    root_V, root_Q, a = math.sqrt(V), math.sqrt(C + R * R), D / V
    place, sharp, step_sharp, first, step, nodes = grid(C, V, R, margin, spacing)
    value = 0.0
    z = -RANGE
    for i in range(nodes):
        z, weight = next_node(z, first + step * i, step, place, sharp, 0.0, step_sharp)
        m0, m1, _ = taught(z, C, R)
        m0, m1 = weight * m0, weight * m1
        psi, logs, slope, square, slope_h = _students((margin - root_Q * z) / root_V, a, epsilon, finer)
        # The mean of the second derivative of ln H is that of g (h - g).
        second = slope_h - square
        value += m0 * psi
        gradient[0] += 0.5 * m0 * (second + (square - slope * slope) / epsilon)
        gradient[1] += 0.5 * m0 * slope_h
        gradient[2] += 0.5 * m0 * (epsilon * second + square)
        gradient[3] += m1 * slope
        gradient[4] += m0 * ((psi - logs + 0.5 * a * square) / epsilon + 0.5 * a * second)
    gradient[0] /= V
    gradient[1] /= V
    gradient[2] /= V
    gradient[3] /= root_V
    return value, gradient
