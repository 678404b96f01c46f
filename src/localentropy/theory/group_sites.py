"""Entropic terms of groups of y students around a reference: how many states their weights have in a random field.

The terms are those of docs/margins/theory.md section 11. They are divided by y, so that y may be infinite.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from localentropy.numerics.compiled import REORDERED, kernel, subroutine
from localentropy.numerics.curvature import Curvature
from localentropy.numerics.gaussian_kernels import exp
from localentropy.numerics.jets import Jet, Number, compose, plain
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE, gaussian_node, sinh_range, unit_legendre
from localentropy.theory.one_step import block_of_weights, deficits_in_field, differentiated, states_in_field

SPACING = 0.08
"""Spacing of the nodes of the outer integral, in widths of its sharpest feature."""
LIMIT_NODES = 160
"""Number of nodes of the integral over fields at y = infinity."""
FREE_FIELDS = (-12.0, 5.0)
"""Range of ln delta_hat without patterns, for overlaps from 1e-3 to 0.9999."""
# Spacings at which the trapezoid rule is exact to rounding: of a Gaussian, and of ln cosh in units of its field.
_GAUSSIAN_SPACING, _COSH_SPACING = 0.4, 0.2
# Size of negative exponents from which on they do not count.
_NEGLIGIBLE = 45.0
# Spacing of the nodes of the inner integral where nodes crowd, see `one_step`.
_BLOCK_SPACING = 0.08


def grouped(
    q_hat: Jet, delta_hat: Jet, field: Jet | None, r_hat: Number, epsilon: Jet, finer: int = 1, central: bool = False,
    curvature: Curvature | None = None,
) -> Jet:  # fmt: skip
    """T - delta_hat / 2 - field, nats per weight. T is the log number of states of a student's weights in a group.

    At y = 1 / epsilon T is epsilon times the mean over x of ln of the sum over the reference's weight s = +-1 of

        int Dz [2 cosh(sqrt(q_hat) x + r_hat + sqrt(epsilon delta_hat) z + s field)]^y.

    At epsilon = 0 T is the mean of the largest -(h - b)^2 / (2 delta_hat) + ln 2 cosh h over h, with
    b = |sqrt(q_hat) x + r_hat| + field. There, second derivatives by epsilon are left out.

    Without a reference there is neither the sum nor the field.

    Args:
        q_hat: conjugate of the overlap between groups.
        delta_hat: y times the conjugate of the overlap in a group less that between groups.
        field: conjugate of the overlap with the reference; None where there is no reference.
        r_hat: conjugate of the overlap with a teacher; 0 where there is no teacher.
        epsilon: 1 / y.
        finer: how many times more nodes all integrals have.
        central: whether second derivatives are central differences, where they are differences.
        curvature: second derivatives at the points before, which are corrected.

    Returns:
        The term.

    Raises:
        ValueError: outside of the domain.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.group_sites import grouped
        >>> q_hat, delta_hat, field, epsilon = variables([0.3, 0.5, 0.2, 0.5])
        >>> round(grouped(q_hat, delta_hat, field, 0.0, epsilon).value, 6)
        0.914358
    """
    arguments = (q_hat, delta_hat, 0.0 if field is None else field, r_hat, epsilon)
    if epsilon.value > 0.0:
        signs = 1 if field is None else 2
        return differentiated(
            lambda point: _grouped(point, signs, SPACING / finer, finer), arguments, central, curvature
        )
    rule = unit_legendre(finer * LIMIT_NODES)
    value, gradient, hessian = _limit(*map(plain, arguments[:4]), *rule)
    if math.isnan(value):
        raise ValueError("outside of the domain")
    return compose(value, gradient, hessian, arguments)


@subroutine
def pulled_field(b: float, delta_hat: float) -> float:
    """The largest solution h of h = b + delta_hat tanh(h); NaN where that is negative and not the only one.

    By Newton's method from above: where h > 0 the difference is a convex function of h.

    Args:
        b: the field without a pull.
        delta_hat: the pull.

    Returns:
        h.
    """
    h = b + delta_hat
    for _ in range(100):
        tanh = math.tanh(h)
        slope = 1.0 - delta_hat * (1.0 - tanh * tanh)
        if not slope > 0.0:
            return math.nan
        move = (h - b - delta_hat * tanh) / slope
        h -= move
        if abs(move) < 1e-15 * (1.0 + abs(h)):
            break
    return h


@kernel
def _limit(q_hat, delta_hat, field, r_hat, unit, unit_weight):  # type: ignore[no-untyped-def]
    """Value, gradient (5,) and Hessian (5, 5) of `grouped` at epsilon = 0, by its arguments.

    The integral is over h, of which the random field |sqrt(q_hat) x + r_hat| is an explicit function.
    """
    gradient, hessian = np.zeros(5), np.zeros((5, 5))
    lowest = pulled_field(field, delta_hat)
    root = math.sqrt(q_hat)
    if not (math.isfinite(lowest) and root > 0.0 and delta_hat > 0.0):
        return np.nan, gradient, hessian
    far = abs(r_hat) + RANGE * root
    # Nodes crowd at the lowest h, on the scale of the Gaussian or of tanh, whichever is finer.
    scale = 1.0 / min(root, 1.0)
    top = math.asinh((far + field + delta_hat - lowest) * scale)
    value = 0.0
    for i in range(len(unit)):
        t = top * unit[i]
        h = lowest + math.sinh(t) / scale
        small = math.exp(-2.0 * min(abs(h), 300.0))
        lacking = 2.0 * (small if h > 0.0 else 1.0) / (1.0 + small)
        tanh = 1.0 - lacking
        s = lacking * (1.0 + tanh)
        slope = 1.0 - delta_hat * s
        size = h - field - delta_hat * tanh
        measure = slope * unit_weight[i] * top * math.cosh(t) / scale * INVERSE_SQRT_2PI / root
        states = size + math.log1p(small) + (0.0 if h > 0.0 else -2.0 * h) - 0.5 * delta_hat * lacking * lacking
        loop = 0.5 * math.log(slope)
        for side in range(2):
            sign = 1.0 - 2.0 * side
            x = (sign * size - r_hat) / root
            w = measure * math.exp(-0.5 * x * x)
            by_q = 0.5 * sign * x / root
            value += w * states
            gradient[0] += w * tanh * by_q
            gradient[1] -= 0.5 * w * s
            gradient[2] -= w * lacking
            gradient[3] += w * tanh * sign
            gradient[4] -= w * loop
            bend = w * s / slope
            hessian[0, 0] += bend * by_q * by_q - 0.5 * w * tanh * by_q / q_hat
            hessian[0, 1] += bend * tanh * by_q
            hessian[0, 2] += bend * by_q
            hessian[0, 3] += bend * by_q * sign
            hessian[1, 1] += bend * tanh * tanh
            hessian[1, 2] += bend * tanh
            hessian[1, 3] += bend * tanh * sign
            hessian[2, 2] += bend
            hessian[2, 3] += bend * sign
            hessian[3, 3] += bend
    # The kink of |sqrt(q_hat) x + r_hat|, which moves with q_hat and r_hat.
    kink = 2.0 * math.tanh(lowest) * math.exp(-0.5 * r_hat * r_hat / q_hat) * INVERSE_SQRT_2PI / root
    by_q = -0.5 * r_hat / q_hat
    hessian[0, 0] += kink * by_q * by_q
    hessian[0, 3] += kink * by_q
    hessian[3, 3] += kink
    for i in range(5):
        for j in range(i):
            hessian[i, j] = hessian[j, i]
    return value, gradient, hessian


@subroutine(fastmath=REORDERED)
def _states(b, delta_hat, epsilon, finer):  # type: ignore[no-untyped-def]
    """Means over the states of a weight in a field b >= 0, which its group shares up to sqrt(epsilon delta_hat) z.

    Returns:
        epsilon ln of the group's mean of exp(y ln(1 + exp(-2 h))); the means of ln(1 + exp(-2 h)), of 1 - tanh h, of
        its square, and of 1 - tanh(h)^2.
    """
    split = epsilon * delta_hat
    root = math.sqrt(split)
    y = 1.0 / epsilon
    if root > 1.0:
        return block_of_weights(b, split, y, _BLOCK_SPACING / finer)
    centre = b + delta_hat
    # The mode, and the other one, if there is one: it counts where b is small.
    h = other = math.nan
    for side in range(2):
        h, other = other, pulled_field(b if side == 0 else -b, delta_hat)
    mode = (h - centre) / root if root > 0.0 else 0.0
    top = y * math.log1p(math.exp(-2.0 * h)) - 0.5 * mode * mode
    step = min(_GAUSSIAN_SPACING, _COSH_SPACING / max(root, 1e-9)) / finer
    lowest = -2.0 * y * root - RANGE
    bump = -math.inf
    if other > 0.0 and root > 0.0:
        place = -(other + centre) / root
        bump = y * (math.log1p(math.exp(-2.0 * other)) + 2.0 * other) - 0.5 * place * place - top
    total = logs = less = square = deficit = 0.0
    for direction in range(2):
        sign = 1.0 - 2.0 * direction
        i = direction
        while True:
            z = mode + sign * i * step
            if z < lowest or z > RANGE + 1.0:
                break
            field = centre + root * z
            states, small = states_in_field(field)
            exponent = y * states - 0.5 * z * z - top
            if exponent < -_NEGLIGIBLE and (direction == 0 or bump < -_NEGLIGIBLE):
                break
            lacking, of_square = deficits_in_field(field, small)
            w = exp(max(exponent, -700.0))
            total += w
            logs += w * states
            less += w * lacking
            square += w * lacking * lacking
            deficit += w * of_square
            i += 1
    log_sum = math.log(total * step * INVERSE_SQRT_2PI) + top
    return epsilon * log_sum, logs / total, less / total, square / total, deficit / total


@kernel
def _grouped(point, signs, spacing, finer):  # type: ignore[no-untyped-def]
    """Value and gradient (5,) of `grouped` by its arguments, at epsilon > 0. A reference's weight has two signs.

    Without a teacher x and -x give the same.
    """
    q_hat, delta_hat, field, r_hat, epsilon = point
    gradient = np.zeros(5)
    if not (q_hat > 0.0 and delta_hat > 0.0 and epsilon > 0.0):
        return np.nan, gradient
    root = math.sqrt(q_hat)
    # Where the random field vanishes, the reference's weight changes its sign.
    sharp = math.tanh(pulled_field(abs(field), delta_hat)) / epsilon
    scale = max(root * max(1.0, 2.0 * sharp), 1.0)
    centre = min(max(-r_hat / root, -6.0), 6.0) if scale > 1.0 else 0.0
    first, span = sinh_range(centre, scale)
    half = int(0.5 * span / min(spacing, _GAUSSIAN_SPACING / math.hypot(centre, 1.0 / scale))) + 1
    step = 0.5 * span / half
    value = 0.0
    for i in range(half if r_hat == 0.0 else 0, 2 * half + 1):
        x, weight = gaussian_node(centre, scale, first + step * i, step)
        if r_hat == 0.0 and i > half:
            weight *= 2.0
        random = root * x + r_hat
        # The sign of the reference's weight in whose field there are more states, then the other one.
        sign = 1.0 if random * field >= 0.0 else -1.0
        larger = gap = by_random = by_field = by_delta = by_epsilon = 0.0
        for turn in range(signs):
            b = random + sign * field
            psi, logs, less, square, deficit = _states(abs(b), delta_hat, epsilon, finer)
            states, tanh = abs(b) + psi, math.copysign(1.0 - less, b)
            one_delta = 0.5 * (epsilon - 1.0) * deficit
            one_epsilon = (0.5 * delta_hat * square - logs + psi) / epsilon + 0.5 * delta_hat * deficit
            if turn == 0:
                larger, by_random, by_field, by_delta, by_epsilon = states, tanh, sign * tanh, one_delta, one_epsilon
                other = abs(random - sign * field)
                if (abs(b) - other) * math.tanh(pulled_field(other, delta_hat)) > _NEGLIGIBLE * epsilon:
                    break
            else:
                gap = (larger - states) / epsilon
                odds = math.exp(-min(max(gap, -700.0), 700.0))
                share = odds / (1.0 + odds)
                larger += epsilon * math.log1p(odds)
                by_random += share * (tanh - by_random)
                by_field += share * (sign * tanh - by_field)
                by_delta += share * (one_delta - by_delta)
                # The last part is the entropy of the choice between the two signs.
                by_epsilon += share * (one_epsilon - by_epsilon) + math.log1p(odds) + share * gap
            sign = -sign
        value += weight * (larger - field)
        gradient[0] += 0.5 * weight * by_random * x / root
        gradient[1] += weight * by_delta
        gradient[2] += weight * (by_field - 1.0)
        gradient[3] += weight * by_random
        gradient[4] += weight * by_epsilon
    return value, gradient


class FreeGroups(NamedTuple):
    """Groups of y configurations at a mutual overlap, any configurations.

    Attributes:
        delta_hat: y times the conjugate of the overlap.
        entropy: the log number of groups, divided by y, nats per weight.
    """

    delta_hat: float
    entropy: float


def free_groups(v: float, epsilon: float) -> FreeGroups:
    """Groups without patterns, at an overlap 1 - v and 1 / y in [0, 1] (docs/margins/theory.md eq. 50).

    Args:
        v: 1 - q1, for overlaps q1 in [1e-3, 0.9999]; at y = infinity in (0, 1).
        epsilon: 1 / y.

    Returns:
        The groups.

    Example:
        >>> from localentropy.theory.group_sites import free_groups
        >>> round(free_groups(v=0.5, epsilon=0.5).entropy, 6)
        0.627741
    """
    from scipy.optimize import brentq

    if epsilon == 0.0:
        root = math.sqrt(1.0 - v)
        part = 0.5 * v / (1.0 + root)
        field = 0.5 * (math.log1p(-part) - math.log(part))
        return FreeGroups(field / root, -part * math.log(part) - (1.0 - part) * math.log1p(-part))
    position = brentq(lambda y: math.log(_free_states(math.exp(y), epsilon)[1] / v), *FREE_FIELDS, xtol=1e-12)
    delta_hat = math.exp(position)
    return FreeGroups(delta_hat, _free_states(delta_hat, epsilon)[0] + 0.5 * (1.0 - epsilon) * delta_hat * v)


@kernel
def _free_states(delta_hat: float, epsilon: float):  # type: ignore[no-untyped-def]
    """ln of the number of states in a group's field, over y, and 1 less their overlap."""
    states, _, _, _, deficit = _states(0.0, delta_hat, epsilon, 1.0)
    return states, deficit
