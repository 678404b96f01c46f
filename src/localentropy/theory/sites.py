"""Entropic terms: how many states a weight has in its random field, as functions of a few scalars."""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import kernel, subroutine
from localentropy.numerics.gaussian_kernels import exp
from localentropy.numerics.jets import Jet, Number, compose, plain
from localentropy.numerics.quadrature import RANGE, gaussian_node, sinh_range

SPACING = 0.07
"""Spacing of the nodes of a Gaussian integral, in widths of the sharpest feature of its integrand."""
PAIR_SPACING = 0.1
"""Spacing of the nodes in each of two dimensions."""
# Spacings at which the trapezoid rule is exact to rounding: of a step or kink of width 1, and of a Gaussian.
_FEATURE_SPACING, _GAUSSIAN_SPACING = 0.25, 0.4


def binary(q_hat: Jet, q: Jet, v: Jet, r_hat: Number = 0.0, r: Number = 0.0, spacing: float = SPACING) -> Jet:
    """-q_hat (1 - q) / 2 - r_hat r + int Dz ln 2 cosh(sqrt(q_hat) z + r_hat), nats per weight.

    Source: `margins`, eq. 14a; `overparam`, eqs. 50; with a teacher docs/margins/theory.md eq. 35.

    Args:
        q_hat: conjugate of the overlap.
        q: overlap.
        v: 1 - q. The term is written through q at q_hat up to 1 and through v beyond, so that no digits cancel.
        r_hat: conjugate of the overlap with a teacher, as a jet; the number 0 where there is no teacher.
        r: overlap with the teacher.
        spacing: of the integral's nodes.

    Returns:
        The term, as a jet.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.sites import binary
        >>> q_hat, q = variables([1.0, 0.5])
        >>> round(binary(q_hat, q, 1.0 - q).value, 6)
        0.817714
    """
    value, free_slope, gradient, hessian = _binary(q_hat.value, plain(r_hat), spacing)
    strong = q_hat.value > 1.0
    if strong:
        gradient[0] = free_slope
    else:
        value -= 0.5 * q_hat.value
    site = compose(value, gradient, hessian, [q_hat, r_hat])
    if isinstance(r_hat, Jet):
        site = site - r_hat * r
    return site - 0.5 * q_hat * v if strong else site + 0.5 * q_hat * q


@kernel
def _binary(q_hat: float, r_hat: float, spacing: float):  # type: ignore[no-untyped-def]
    """Value, its slope by q_hat, and gradient and Hessian by q_hat, r_hat of the value less q_hat / 2."""
    root = math.sqrt(q_hat)
    scale = max(root, 1.0)
    centre = min(max(-r_hat / root, -6.0), 6.0) if root > 1.0 else 0.0
    first, span = sinh_range(centre, scale)
    spacing = min(spacing, _GAUSSIAN_SPACING / math.hypot(centre, 1.0 / scale))
    nodes = int(span / spacing) + 2
    step = span / (nodes - 1)
    value = free_slope = 0.0
    gradient, hessian = np.zeros(2), np.zeros((2, 2))
    for i in range(nodes):
        z, weight = gaussian_node(centre, scale, first + step * i, step)
        h = root * z + r_hat
        size = abs(h)
        small = exp(-2.0 * min(size, 300.0))
        square = 4.0 * small / (1.0 + small) ** 2
        tanh = math.copysign((1.0 - small) / (1.0 + small), h)
        value += weight * (size + math.log1p(small))
        free_slope += 0.5 * weight * square
        gradient[0] -= 0.5 * weight * tanh * tanh
        gradient[1] += weight * tanh
        # By parts where the field is weak; where it is strong, that cancels.
        bend = 0.25 * square * (4.0 - 6.0 * square) if root < 1.0 else -0.5 * square * tanh * z / root
        hessian[0, 0] += weight * bend
        hessian[0, 1] -= weight * square * tanh
        hessian[1, 1] += weight * square
    hessian[1, 0] = hessian[0, 1]
    return value, free_slope, gradient, hessian


def binary_pair(
    free: Jet,
    t_hat: Jet,
    field: Jet,
    r_hat: Number,
    q_hat_ref: float,
    r_hat_ref: float = 0.0,
    spacing: float = PAIR_SPACING,
) -> Jet:
    """Mean of ln(1 + exp(-2 h)) for a weight in the field h along its reference, nats per weight.

    It is the mean of ln 2 cosh h less that of h (`margins`, eq. 27a; `overparam`, eq. 91). The field is
    h = sqrt(free) z + t_hat x / sqrt(q_hat_ref) + field. z is Gaussian. x has the Gaussian's density times
    1 + tanh(sqrt(q_hat_ref) x). A teacher agrees with the reference or not. It adds r_hat to h and r_hat_ref to the
    argument of the tanh, or subtracts both. The mean is over both cases (docs/margins/theory.md eqs. 39, 40).

    Args:
        free: q_hat - t_hat^2 / q_hat_ref, conjugate of the overlap of two students beyond the references'.
        t_hat: conjugate of the overlap with another reference.
        field: S_hat - t_hat, the reference's own pull.
        r_hat: conjugate of the students' overlap with the teacher, as a jet; the number 0 where there is no teacher.
        q_hat_ref: conjugate of the references' overlap.
        r_hat_ref: conjugate of the references' overlap with the teacher.
        spacing: of the nodes of the two integrals.

    Returns:
        The mean, as a jet.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.sites import binary_pair
        >>> free, t_hat, field = variables([0.5, 0.2, 0.8])
        >>> round(binary_pair(free, t_hat, field, 0.0, q_hat_ref=1.0).value, 6)
        0.277959
    """
    inside = max(free.value, 0.0)
    value, gradient, hessian, _ = _binary_pair(
        inside, t_hat.value, field.value, plain(r_hat), q_hat_ref, r_hat_ref, isinstance(r_hat, Jet), spacing
    )
    if free.value < inside:
        # A variance is not negative, but steps towards a small one may be: the parabola leads them back.
        beyond = free.value - inside
        value += beyond * (gradient[0] + 0.5 * beyond * hessian[0, 0])
        gradient = gradient + beyond * hessian[0]
    return compose(value, gradient, hessian, [free, t_hat, field, r_hat])


def binary_pair_softness(
    free: Jet, t_hat: Jet, field: Jet, r_hat: Number, q_hat_ref: float, r_hat_ref: float = 0.0
) -> float:
    """Mean of (1 - tanh^2 h)^2, the squared response of a weight to its field; h and arguments of `binary_pair`.

    Args:
        free: as for `binary_pair`.
        t_hat: as for `binary_pair`.
        field: as for `binary_pair`.
        r_hat: as for `binary_pair`.
        q_hat_ref: as for `binary_pair`.
        r_hat_ref: as for `binary_pair`.

    Returns:
        The mean.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.sites import binary_pair_softness
        >>> free, t_hat, field = variables([0.5, 0.2, 0.8])
        >>> round(binary_pair_softness(free, t_hat, field, 0.0, q_hat_ref=1.0), 6)
        0.348246
    """
    inside, taught = max(free.value, 0.0), isinstance(r_hat, Jet)
    numbers = inside, t_hat.value, field.value, plain(r_hat), q_hat_ref, r_hat_ref
    found = _binary_pair(*numbers, taught, PAIR_SPACING)
    return float(found[3])


@subroutine
def field_grid(root, slope, kink, edge, spacing):  # type: ignore[no-untyped-def]
    """Nodes of a field in units of root, which crowd on the scale 1 / max(root, slope, 1), by t as in `sinh_range`.

    The integrand has a step at `edge`, of width 1 / slope, and a kink, of width 1 / root. Nodes crowd around the
    sharper one, and are so many that the other one is resolved too.

    Args:
        root: unit of the field.
        slope: inverse width of the step.
        kink: where the kink is.
        edge: where the step is.
        spacing: of the nodes.

    Returns:
        Where nodes crowd; the first t; the step in t; the number of nodes.
    """
    scale, blunt = max(root, slope, 1.0), max(min(root, slope), 1.0)
    centre = min(max(kink if root > max(slope, 1.0) else edge, -6.0), 6.0)
    gap = max(abs(kink - centre), abs(edge - centre))
    spacing = min(spacing, _GAUSSIAN_SPACING / math.hypot(centre, 1.0 / scale))
    if abs(kink) < RANGE:
        spacing = min(spacing, _FEATURE_SPACING / (blunt * math.hypot(gap, 1.0 / scale)))
    first, span = sinh_range(centre, scale)
    nodes = int(span / spacing) + 2
    return centre, first, span / (nodes - 1), nodes


@subroutine
def beside_reference(free, t_hat, q_hat_ref):  # type: ignore[no-untyped-def]
    """Parts of the Gaussian field of a weight, root g, beside the field root_ref x of its reference.

    Args:
        free: variance of the field beyond what it shares with x.
        t_hat: covariance of the two fields.
        q_hat_ref: variance of the reference's field.

    Returns:
        root_ref; root; the correlation c of g and x; deviation of x beyond c g, in its own units.
    """
    root_ref = math.sqrt(q_hat_ref)
    root = math.sqrt(free + t_hat * t_hat / q_hat_ref)
    c = min(max(t_hat / (root * root_ref), -1.0), 1.0) if root > 0.0 else 0.0
    rest = math.sqrt(free) / root if root > 0.0 else 1.0
    return root_ref, root, c, rest


@subroutine
def reference_moments(g, c, rest, root_ref, shift, spacing):  # type: ignore[no-untyped-def]
    """Moments 0, 1, 2 of x = c g + rest x' with the weight 1 + tanh(root_ref x + shift), over x'.

    Args:
        g: the shared part.
        c: its coefficient.
        rest: deviation of x beyond it.
        root_ref: root of q_hat_ref.
        shift: added to the argument of the tanh.
        spacing: of the nodes.

    Returns:
        The three moments.
    """
    width = rest * root_ref
    scale = max(width, 1.0)
    centre = min(max(-(c * g + shift / root_ref) / rest, -6.0), 6.0) if width > 1.0 else 0.0
    first, span = sinh_range(centre, scale)
    nodes = int(span * max(1.0 / spacing, abs(centre) / _GAUSSIAN_SPACING)) + 2
    step = span / (nodes - 1)
    m0 = m1 = m2 = 0.0
    for j in range(nodes):
        other, w = gaussian_node(centre, scale, first + step * j, step)
        x = c * g + rest * other
        w *= 2.0 / (1.0 + exp(min(max(-2.0 * (root_ref * x + shift), -700.0), 700.0)))
        m0 += w
        m1 += w * x
        m2 += w * x * x
    return m0, m1, m2


@kernel
def _binary_pair(free, t_hat, field, r_hat, q_hat_ref, r_hat_ref, taught, spacing):  # type: ignore[no-untyped-def]
    """Value, gradient and Hessian by free, t_hat, field, r_hat; mean of (1 - tanh^2 h)^2.

    The part g of the field that varies, in units of root, and x have correlation c: x = c g + sqrt(1 - c^2) x'. Only
    the weight 1 + tanh depends on x', by its first three moments.
    """
    root_ref, root, c, rest = beside_reference(free, t_hat, q_hat_ref)
    width = rest * root_ref
    slope = abs(c) * root_ref / math.sqrt(1.0 + width * width)
    scale = max(root, slope, 1.0)
    value = softness = 0.0
    gradient, hessian = np.zeros(4), np.zeros((4, 4))
    for side in range(2 if taught else 1):
        sign = 1.0 - 2.0 * side
        shift, h_0 = sign * r_hat_ref, field + sign * r_hat
        kink = -h_0 / root if root > 0.0 else math.inf
        edge = -shift / (c * root_ref) if slope > 1.0 else 0.0
        centre, first, step, nodes = field_grid(root, slope, kink, edge, spacing)
        for i in range(nodes):
            g, weight = gaussian_node(centre, scale, first + step * i, step)
            m0, m1, m2 = reference_moments(g, c, rest, root_ref, shift, spacing)
            if taught:
                weight *= 0.5
            m0, m1, m2 = weight * m0, weight * m1 / root_ref, weight * m2 / q_hat_ref
            h = root * g + h_0
            small = exp(-2.0 * min(abs(h), 300.0))
            tanh = math.copysign((1.0 - small) / (1.0 + small), h)
            square = 4.0 * small / (1.0 + small) ** 2
            # The derivatives of ln(1 + exp(-2 h)): -(1 - tanh h) without cancellation, and so on.
            f = math.log1p(small) + (0.0 if h > 0.0 else -2.0 * h)
            f1 = -2.0 * small / (1.0 + small) if h > 0.0 else -2.0 / (1.0 + small)
            f2, f3 = square, -2.0 * tanh * square
            f4 = square * (4.0 - 6.0 * square)
            value += m0 * f
            softness += m0 * square * square
            gradient[0] += 0.5 * m0 * f2
            gradient[1] += m1 * f1
            gradient[2] += m0 * f1
            gradient[3] += sign * m0 * f1
            hessian[0, 0] += 0.25 * m0 * f4
            hessian[0, 1] += 0.5 * m1 * f3
            hessian[0, 2] += 0.5 * m0 * f3
            hessian[0, 3] += 0.5 * sign * m0 * f3
            hessian[1, 1] += m2 * f2
            hessian[1, 2] += m1 * f2
            hessian[1, 3] += sign * m1 * f2
            hessian[2, 2] += m0 * f2
            hessian[2, 3] += sign * m0 * f2
    hessian[3, 3] = hessian[2, 2]
    for i in range(4):
        for j in range(i):
            hessian[i, j] = hessian[j, i]
    return value, gradient, hessian, softness
