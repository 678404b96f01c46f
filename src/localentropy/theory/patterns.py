"""Energetic terms of typical solutions: how many students satisfy a pattern, seen through covariances only."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx as scipy_erfcx

from localentropy.numerics.compiled import kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, SQRT_TWO_OVER_PI, erfcx, exp, hazard, log_tail
from localentropy.numerics.jets import Jet, Number, compose, plain
from localentropy.numerics.quadrature import (
    INVERSE_SQRT_2PI,
    RANGE,
    asinh_sum,
    gaussian_node,
    next_node,
    sinh_range,
)

SPACING = 0.07
"""Spacing of the nodes of a Gaussian integral, in widths of the sharpest feature of its integrand."""

# Spacings at which the trapezoid rule is exact to rounding, in widths: of the step H(x), and of the kink of ln H, whose
# nearest singularities are at a distance of 2.4.
_STEP_SPACING, _KINK_SPACING = 0.4, 0.2
FAR = 12.0
"""Argument of the hazard from which on a continued fraction of 14 levels is exact to rounding."""
SMALLEST_SHARE, LARGEST_EXCESS = 1e-9, 1e-3
"""What two students share beyond their references and the teacher is not negative, but may come out so where it
vanishes up to the solver's tolerance. Below the first number, relative to the variance of a student's own part, the
energetic term is continued linearly, by at most the second."""
# Number of nodes from which on it is cheaper to crowd them around two places than to resolve one with even nodes.
_MOST_NODES = 5_000
# How far from its mode, in standard deviations, a log-concave product with a Gaussian is integrated.
_REACH = 8.5
# Spacings at which the trapezoid rule is exact to rounding: of the onset of the cross-entropy loss, in units of
# 1 / (2 gamma), and of a Gaussian.
_ONSET_SPACING, _MODE_SPACING = 0.14, 0.37
# By how much, in the same units, nodes crowd below the place where the loss sets in. It is a wall, steeper than an
# exponential.
_ONSET_SHIFT = 1.5
# Size of negative exponents from which on they do not count.
_NEGLIGIBLE = 50.0
# Size of negative logarithms of a probability from which on it is 0.
_VANISHING = 600.0
# The same of the nodes between the bound and a tail's end, in t of part = 1 / (1 + exp(-pi sinh t)), and their range.
_TAIL_SPACING, _TAIL_REACH = 0.08, 3.2


def hard_margin(common: Jet, free: Jet, teacher: Number, margin: Number, spacing: float = SPACING) -> Jet:
    """G_E: log fraction of students whose stability on a pattern is at least the margin, nats.

    Source: `overparam`, eqs. 50; `margins`, eq. 14b (no teacher).

    Args:
        common: variance that two students' pre-activations share beyond the teacher's, C = Q - R^2.
        free: variance of one student's own part, V = Q_d - Q.
        teacher: covariance R of a student's and the teacher's pre-activations; 0 where there is no teacher.
        margin: kappa.
        spacing: of the integral's nodes.

    Returns:
        The term, as a jet.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.patterns import hard_margin
        >>> common, free = variables([0.3, 0.7])
        >>> round(hard_margin(common, free, 0.0, 0.0).value, 6)
        -0.827177
    """
    arguments = (common, free, teacher, margin)
    value, gradient, hessian = _hard_margin(*map(plain, arguments), spacing)
    return compose(value, gradient, hessian, arguments)


@subroutine
def excess(h: float, hazard_h: float) -> float:
    """hazard(h) - h > 0, by a continued fraction where the difference would cancel.

    Args:
        h: any number.
        hazard_h: hazard(h).

    Returns:
        The difference.
    """
    if h < FAR:
        return hazard_h - h
    fraction = h
    for k in range(14, 1, -1):
        fraction = h + k / fraction
    return 1.0 / fraction


@subroutine
def pair_gradient(s, Y, Q_ref, V_ref, by_Q, by_overlap, by_T):  # type: ignore[no-untyped-def]
    """Derivatives by s, X, Y and Z of the term of a student beside a reference, without a teacher.

    The student's pre-activation is s times the reference's plus a rest u. Source: docs/overparam/theory.md eq. 22.

    Args:
        s: share of the reference's pre-activation.
        Y: covariance of u and the reference.
        Q_ref: covariance of two references.
        V_ref: variance of a reference's own part.
        by_Q: derivative by the covariance of two students.
        by_overlap: by the covariance of a student and its reference.
        by_T: by that of a student and another reference.

    Returns:
        The four derivatives.
    """
    by_s = 2.0 * (s * (Q_ref + V_ref) + Y) * by_Q + (Q_ref + V_ref) * by_overlap + Q_ref * by_T
    return by_s, by_Q, 2.0 * s * by_Q + by_overlap, by_T


@subroutine
def hazard_derivatives(h: float, g: float) -> tuple[float, float, float]:
    """The first three derivatives of the hazard, from its value g.

    Far beyond the margin they are small differences. There the derivatives of the continued fraction of `excess` are
    taken level by level.

    Args:
        h: any number.
        g: hazard(h).

    Returns:
        The three derivatives.
    """
    if h < FAR:
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
    first, span = sinh_range(centre, scale)
    resolving = spacing if abs(kink) >= RANGE else min(spacing, other / math.hypot(kink, 1.0 / scale))
    nodes = int(span / resolving) + 2
    # Where both places are very sharp, nodes crowd around both.
    both = nodes > _MOST_NODES
    place, sharpness = min(max(kink, -6.0), 6.0), max(abs(T), 1.0)
    if both:
        first = asinh_sum(-RANGE, place, ratio, 0.0, sharpness)
        span = asinh_sum(RANGE, place, ratio, 0.0, sharpness) - first
        nodes = int(span / spacing) + 2
    step = span / (nodes - 1)
    z = -RANGE
    value = 0.0
    gradient, hessian = np.zeros(4), np.zeros((4, 4))
    for i in range(nodes):
        if both:
            z, weight = next_node(z, first + step * i, step, place, ratio, 0.0, sharpness)
        else:
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
    """Derivative by the pre-activation of ln of the fraction of random students that satisfy a pattern.

    Args:
        margin: kappa.
        variance: of the pre-activation.

    Returns:
        The derivative at pre-activation 0.

    Example:
        >>> from localentropy.theory.patterns import pull
        >>> round(pull(0.0, 1.0), 6)
        0.797885
    """
    # A compiled function called from Python would take half a second to compile, in each process.
    return float(SQRT_TWO_OVER_PI / scipy_erfcx(margin * math.sqrt(0.5 / variance)) / math.sqrt(variance))


def cross_entropy(common: Jet, free: Jet, log_beta: Number, gamma: float, spacing: float = SPACING) -> Jet:
    """G_E at an inverse temperature: ln of the mean of exp(-beta f_gamma) over a student's own part, nats.

    f_gamma(x) = ln(1 + exp(-2 gamma x)) / (2 gamma) is the cross-entropy loss of a stability x. Source:
    docs/shaping/theory.md eq. C.3.

    Args:
        common: variance that two students' pre-activations share, C = q.
        free: variance of one student's own part, V = 1 - q.
        log_beta: ln beta.
        gamma: sharpness of the loss.
        spacing: of the outer integral's nodes; that of the inner ones is proportional.

    Returns:
        The term, as a jet.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.patterns import cross_entropy
        >>> common, free = variables([0.3, 0.7])
        >>> round(cross_entropy(common, free, 0.0, gamma=2.0).value, 6)
        -0.339507
    """
    value, gradient, hessian = _cross_entropy(common.value, free.value, plain(log_beta), gamma, spacing)
    return compose(value, gradient, hessian, [common, free, log_beta])


@subroutine
def soft_cost(p: float, log_beta: float, gamma: float) -> tuple[float, float]:
    """beta f_gamma(p) and minus its derivative. Factors beyond e^700 are cut there.

    Args:
        p: the stability.
        log_beta: ln beta.
        gamma: sharpness of the loss.

    Returns:
        Both numbers.
    """
    small = exp(-min(2.0 * gamma * abs(p), 700.0))
    if p > 0.0:
        # beta small first: beta may be beyond the range of numbers where the product is not.
        scaled = exp(min(max(log_beta - 2.0 * gamma * p, -700.0), 700.0))
        return scaled * (math.log1p(small) / small if small > 1e-9 else 1.0) / (2.0 * gamma), scaled / (1.0 + small)
    scaled = exp(min(max(log_beta, -700.0), 700.0))
    return scaled * (math.log1p(small) / (2.0 * gamma) - p), scaled / (1.0 + small)


@subroutine
def soft_cut(log_beta: float, gamma: float) -> float:
    """The stability from which on beta times the loss is below 1; 0 where it is so at all positive stabilities.

    Args:
        log_beta: ln beta.
        gamma: sharpness of the loss.

    Returns:
        The stability.
    """
    return max(log_beta - math.log(2.0 * gamma), 0.0) / (2.0 * gamma)


@subroutine
def soft_mode(omega: float, root: float, log_beta: float, gamma: float) -> float:
    """The minimum x > 0 of x^2 / 2 + beta f_gamma(omega + root x).

    Newton's method in ln x, of an increasing convex function, from its positive side.

    Args:
        omega: the common part.
        root: deviation of a student's own part.
        log_beta: ln beta.
        gamma: sharpness of the loss.

    Returns:
        x.
    """
    top = log_beta + math.log(root)
    t = 0.0
    if _mode_equation(t, omega, root, top, gamma)[0] < 0.0:
        t = top
        reach = (top - 2.0 * gamma * omega) / (2.0 * gamma * root)
        if reach > 1.0:
            t = min(t, math.log(reach))
    for _ in range(60):
        value, slope = _mode_equation(t, omega, root, top, gamma)
        t -= value / slope
        if abs(value) < 1e-9 * slope:
            break
    return math.exp(max(t, -700.0))


@subroutine
def _mode_equation(t, omega, root, top, gamma):  # type: ignore[no-untyped-def]
    """t + ln(1 + exp(2 gamma p)) - top at p = omega + root e^t, and its derivative."""
    x = math.exp(max(t, -700.0))
    a = 2.0 * gamma * (omega + root * x)
    small = math.exp(-min(abs(a), 700.0))
    share = (1.0 if a > 0.0 else small) / (1.0 + small)
    return t + max(a, 0.0) + math.log1p(small) - top, 1.0 + 2.0 * gamma * root * share * x


@subroutine
def boltzmann(omega: float, root: float, log_beta: float, gamma: float, coarse: float):  # type: ignore[no-untyped-def]
    """L = ln int Dx exp(-E(omega + root x)) with E = beta f_gamma, and its derivatives.

    They are joint cumulants of x, E and -E', each written so that nothing cancels where root is small. `coarse` is the
    spacing of the nodes, in units of the one at which the rule is exact to rounding.

    Args:
        omega: the common part.
        root: deviation of a student's own part.
        log_beta: ln beta.
        gamma: sharpness of the loss.
        coarse: spacing of the nodes.

    Returns:
        L; its first four derivatives by omega; those by ln beta of L, of its first two derivatives, and the second one.
    """
    mode = soft_mode(omega, root, log_beta, gamma)
    p_0 = omega + root * mode
    cost_0, pull_0 = soft_cost(p_0, log_beta, gamma)
    # Two places are sharp: the mode, and where the loss sets in, between 0 and the cut. Nodes crowd around the second,
    # where it is near, on the scale of the first if that is there too.
    small = math.exp(-min(2.0 * gamma * abs(p_0), 700.0))
    bend = 2.0 * gamma * pull_0 * (1.0 if p_0 > 0.0 else small) / (1.0 + small)
    sharp = math.sqrt(1.0 + root * root * bend)
    centre = (min(max(p_0, 0.0), soft_cut(log_beta, gamma)) - p_0 - _ONSET_SHIFT / (2.0 * gamma)) / root
    scale = max(2.0 * gamma * root, sharp)
    if abs(centre) > _REACH:
        centre, scale = 0.0, sharp
    first = math.asinh((-_REACH - centre) * scale)
    span = math.asinh((_REACH - centre) * scale) - first
    resolving = min(_ONSET_SPACING, _MODE_SPACING / math.hypot(centre * sharp, sharp / scale))
    nodes = int(span / (coarse * resolving)) + 2
    step = span / (nodes - 1)
    m0 = d1 = d2 = d3 = p1 = pd = pdd = pddd = c1 = cd = cdd = cc = 0.0
    for j in range(nodes):
        grown = exp(first + step * j)
        d = centre + 0.5 * (grown - 1.0 / grown) / scale
        cost, pulled = soft_cost(p_0 + root * d, log_beta, gamma)
        c, p = cost - cost_0, pulled - pull_0
        exponent = d * (mode + 0.5 * d) + c
        if not exponent < _NEGLIGIBLE:
            continue
        w = exp(-exponent) * (grown + 1.0 / grown)
        m0 += w
        d1, d2, d3 = d1 + w * d, d2 + w * d * d, d3 + w * d * d * d
        p1, pd, pdd, pddd = p1 + w * p, pd + w * p * d, pdd + w * p * d * d, pddd + w * p * d * d * d
        c1, cd, cdd, cc = c1 + w * c, cd + w * c * d, cdd + w * c * d * d, cc + w * c * c
    L = math.log(0.5 * m0 * step / scale * INVERSE_SQRT_2PI) - 0.5 * mode * mode - cost_0
    m, p, c = d1 / m0, p1 / m0, c1 / m0
    d2, d3, pd, pdd, pddd = d2 / m0, d3 / m0, pd / m0, pdd / m0, pddd / m0
    # Cumulants of (x, -E'), (x, x, -E'), (x, x, x, -E'); the same with E.
    k2 = pd - m * p
    k3 = pdd - 2.0 * m * pd - p * (d2 - 2.0 * m * m)
    third = d3 - m * (3.0 * d2 - 2.0 * m * m)
    k4 = pddd - 3.0 * m * pdd + m * m * (3.0 * pd - m * p) - p * third - 3.0 * (d2 - m * m) * k2
    b2 = cd / m0 - m * c
    b3 = cdd / m0 - 2.0 * m * cd / m0 - c * (d2 - 2.0 * m * m)
    energy = cost_0 + c
    return (
        L, pull_0 + p, k2 / root, k3 / (root * root), k4 / (root * root * root),
        -energy, -b2 / root, -b3 / (root * root), cc / m0 - c * c - energy,
    )  # fmt: skip


@kernel
def _cross_entropy(C: float, V: float, log_beta: float, gamma: float, spacing: float):  # type: ignore[no-untyped-def]
    """Value, gradient (3,) and Hessian (3, 3) by C, V, ln beta.

    With L of `boltzmann` at omega = sqrt(C) z: C halves its second derivative, V acts by the heat equation of exp(L).
    """
    root, root_C = math.sqrt(V), math.sqrt(C)
    centre, scale, first, step, nodes = onset_grid(root_C, root, log_beta, gamma, spacing)
    value = 0.0
    gradient, hessian = np.zeros(3), np.zeros((3, 3))
    for i in range(nodes):
        z, weight = gaussian_node(centre, scale, first + step * i, step)
        L, L1, L2, L3, L4, L_b, L1_b, L2_b, L_bb = boltzmann(root_C * z, root, log_beta, gamma, spacing / SPACING)
        value += weight * L
        gradient[0] += 0.5 * weight * L2
        gradient[1] += 0.5 * weight * (L2 + L1 * L1)
        gradient[2] += weight * L_b
        hessian[0, 0] += 0.25 * weight * L4
        hessian[0, 1] += 0.25 * weight * (L4 + 2.0 * L2 * L2 + 2.0 * L1 * L3)
        hessian[0, 2] += 0.5 * weight * L2_b
        hessian[1, 1] += 0.25 * weight * (L4 + 2.0 * L2 * L2 + 4.0 * L1 * L3 + 4.0 * L1 * L1 * L2)
        hessian[1, 2] += 0.5 * weight * (L2_b + 2.0 * L1 * L1_b)
        hessian[2, 2] += weight * L_bb
    for i in range(3):
        for j in range(i):
            hessian[i, j] = hessian[j, i]
    return value, gradient, hessian


@subroutine
def onset_grid(root_C: float, root: float, log_beta: float, gamma: float, spacing: float):  # type: ignore[no-untyped-def]
    """Nodes of z, which crowd where root_C z + root x is at the cut: centre, scale, first t, step, number.

    Args:
        root_C: deviation of the common part.
        root: deviation of a student's own part.
        log_beta: ln beta.
        gamma: sharpness of the loss.
        spacing: of the nodes.

    Returns:
        The five numbers.
    """
    scale = max(root_C / math.hypot(root, 0.5 / gamma), 1.0)
    centre = min(soft_cut(log_beta, gamma) / root_C, 6.0)
    first, span = sinh_range(centre, scale)
    nodes = int(span / min(spacing, _KINK_SPACING / math.hypot(centre, 1.0 / scale))) + 2
    return centre, scale, first, span / (nodes - 1), nodes


def cross_entropy_error(common: float, free: float, log_beta: float, gamma: float, spacing: float = SPACING) -> float:
    """Fraction of patterns with a negative stability under the measure of `cross_entropy`.

    Args:
        common: as for `cross_entropy`, as a number.
        free: as for `cross_entropy`, as a number.
        log_beta: ln beta.
        gamma: sharpness of the loss.
        spacing: of the outer integral's nodes; that of the inner ones is proportional.

    Returns:
        The fraction.

    Example:
        >>> from localentropy.theory.patterns import cross_entropy_error
        >>> round(cross_entropy_error(0.3, 0.7, 0.0, gamma=2.0), 6)
        0.376404
    """
    return float(_cross_entropy_error(common, free, log_beta, gamma, spacing))


@kernel
def _cross_entropy_error(C: float, V: float, log_beta: float, gamma: float, spacing: float) -> float:
    """Mean over z of the probability of a negative stability.

    It is sharp where the loss sets in, and where the mode of the stability is 0. Nodes crowd around both.
    """
    root, root_C = math.sqrt(V), math.sqrt(C)
    onset, sharpness = onset_grid(root_C, root, log_beta, gamma, spacing)[:2]
    # Stability 0 is the mode where beta f pulls with beta / 2. There it is as wide as a Gaussian and the loss allow.
    step = max(-math.exp(min(log_beta, 700.0)) * V / (2.0 * root_C), -RANGE)
    bend = 0.5 * gamma * V * math.exp(min(log_beta, 600.0))
    steepness = max(root_C / (root * math.sqrt(1.0 + bend)), 1.0)
    first = asinh_sum(-RANGE, onset, sharpness, step, steepness)
    span = asinh_sum(RANGE, onset, sharpness, step, steepness) - first
    nodes = int(span / spacing) + 2
    apart = span / (nodes - 1)
    z, error = -RANGE, 0.0
    for i in range(nodes):
        z, weight = next_node(z, first + apart * i, apart, onset, sharpness, step, steepness)
        error += weight * _negative(root_C * z, root, log_beta, gamma, spacing / SPACING)
    return error


@subroutine
def _negative(omega: float, root: float, log_beta: float, gamma: float, coarse: float) -> float:
    """Probability of omega + root x < 0 at the density of exp(-x^2 / 2 - beta f_gamma(omega + root x)).

    The density falls on both sides of its mode. So it is integrated on that side of the bound where the mode is not.
    """
    bound, mode = -omega / root, soft_mode(omega, root, log_beta, gamma)
    side = -1.0 if mode > bound else 1.0
    at_bound = 0.5 * bound * bound + soft_cost(0.0, log_beta, gamma)[0]
    height = -at_bound - boltzmann(omega, root, log_beta, gamma, coarse)[0]
    if height < -_VANISHING:
        return 0.0 if side < 0.0 else 1.0
    # A Gaussian alone makes the density negligible beyond _NEGLIGIBLE^(1/2) * 2^(1/2) = 10.
    length = math.sqrt(2.0 * _NEGLIGIBLE)
    while _fallen(0.5 * length * side, bound, root, log_beta, gamma) > _NEGLIGIBLE:
        length *= 0.5
    # Nodes crowd doubly exponentially at the bound, where the loss is sharp.
    spacing, total = coarse * _TAIL_SPACING, 0.0
    for i in range(int(2.0 * _TAIL_REACH / spacing) + 1):
        t = spacing * i - _TAIL_REACH
        part = 1.0 / (1.0 + math.exp(-math.pi * math.sinh(t)))
        weight = math.pi * math.cosh(t) * part * (1.0 - part)
        total += weight * math.exp(-min(_fallen(part * length * side, bound, root, log_beta, gamma), 700.0))
    tail = math.exp(height) * INVERSE_SQRT_2PI * length * spacing * total
    return tail if side < 0.0 else 1.0 - tail


@subroutine
def _fallen(d: float, bound: float, root: float, log_beta: float, gamma: float) -> float:
    """By how much the logarithm of that density has fallen at a distance from the bound."""
    cost, _ = soft_cost(root * d, log_beta, gamma)
    return d * (bound + 0.5 * d) + cost - soft_cost(0.0, log_beta, gamma)[0]
