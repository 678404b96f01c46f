"""What one pattern does to a group of solutions of a tree machine, averaged over patterns.

A machine of K units sees a pattern through K pre-activations. Those of the middle of a group are x_l = sqrt(r) v_l,
v_l standard Gaussian. Each solution adds unit noise, and the machine is right with probability F(x). The group may
move its middle from x to t, at a price that the stiffness 1 / delta sets. It goes where

    ln F(t) - |t - x|^2 / (2 delta)

is largest (docs/shaping/theory.md eqs. S.6-S.9). For delta <= 0 it goes to the only stationary point of this. The
functions here return the mean of the value there, of |g|^2, g = grad ln F(t), and of |grad grad ln F(t)|^2.
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, erfcx, exp, hazard, log_tail
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, unit_legendre

RANGE_THREE, RANGE_STILL, RANGE_ONE = 6.0, 7.5, 8.5
"""Ends of the Gaussians: 4e-9, 1e-13 and 4e-17 are left. The second is for a group that does not move."""
NEGLIGIBLE, NEGLIGIBLE_STILL = 1e-12, 1e-15
"""A node of smaller weight is skipped; the second for a group that does not move."""
CONVERGED = 1e-5
"""Last step of Newton's method, relative to 1 + |t|. What is returned is right to its square."""
MOST_STEPS = 1000

Averages = tuple[float, float, float]


def one_unit(ratio: float, delta: float) -> Averages:
    """Means for F(t) = Phi(t).

    Args:
        ratio: r, variance of x.
        delta: above -1.

    Returns:
        Means of ln F - delta |g|^2 / 2, of |g|^2 and of |grad grad ln F|^2 at t; NaN where t was not found.

    Example:
        >>> from localentropy.theory.tree_patterns import one_unit
        >>> [round(mean, 6) for mean in one_unit(ratio=1.0, delta=0.0)]
        [-1.0, 1.191271, 0.39709]
    """
    nodes, weights = unit_legendre(40 + math.ceil(20.0 * _reach(ratio, RANGE_ONE)))
    return _one_unit(ratio, delta, nodes, weights)  # type: ignore[no-any-return]


def three_units(parity: bool, ratio: float, delta: float) -> Averages:
    """Means as in `one_unit`, for the majority of three units or for the sign of their product.

    Args:
        parity: whether the machine is the parity machine.
        ratio: r, variance of each component of x.
        delta: above -1.

    Returns:
        Means as in `one_unit`.

    Example:
        >>> from localentropy.theory.tree_patterns import three_units
        >>> [round(mean, 6) for mean in three_units(parity=False, ratio=1.0, delta=0.0)]
        [-0.8964, 0.733131, 0.489162]
    """
    widest, density = (RANGE_THREE, 8.0) if delta != 0.0 else (RANGE_STILL, 12.0)
    nodes, weights = unit_legendre(3 + math.ceil(density * _reach(ratio, widest)))
    return _three_units(parity, ratio, delta, nodes, weights)  # type: ignore[no-any-return]


def _reach(ratio: float, widest: float) -> float:
    """Range of t in v = sinh(t) / sqrt(1 + r): nodes are even on the scale of ln F near 0 and sparser beyond."""
    return math.asinh(widest * math.sqrt(1.0 + ratio))


@subroutine
def _mean(t: float) -> float:
    """t + g(t), g(t) = N(t) / Phi(t): the mean of t + z where it is positive, z the noise; without cancellation."""
    if t > -200.0:
        return t + hazard(-t)
    w = 1.0 / (t * t)
    return -(1.0 - w * (2.0 - 10.0 * w)) / t


@subroutine
def single(x: float, delta: float) -> float:
    """The t of one unit: t = x + delta g(t), g(t) = N(t) / Phi(t). NaN where Newton's method does not settle.

    For delta > 0 the logarithm of the equation is solved: with it Newton's method does not creep where g is tiny.

    Args:
        x: any number.
        delta: above -1.

    Returns:
        t.
    """
    t = x if delta <= 0.0 else max(x, math.sqrt(2.0 * math.log1p(delta)))
    for _ in range(MOST_STEPS):
        mean = _mean(t)
        g = mean - t if t < 0.0 else hazard(-t)
        if t > x and delta > 0.0 and g > 0.0:
            step = math.log((t - x) / (delta * g)) / (1.0 / (t - x) + mean)
        else:
            rest = t - x - delta * g if delta > 0.0 else (1.0 + delta) * t - x - delta * mean
            step = rest / (1.0 + delta * g * mean)
        following = t - step
        if delta > 0.0 and following <= x and t > x:
            following = 0.5 * (t + x)
        if abs(following - t) <= 1e-8 * (1.0 + abs(t)):
            return following
        t = following
    return np.nan


@kernel
def _one_unit(ratio: float, delta: float, nodes: np.ndarray, weights: np.ndarray) -> tuple[float, float, float]:
    scale = 1.0 / math.sqrt(1.0 + ratio)
    reach = math.asinh(RANGE_ONE / scale)
    value, force, stiffness = 0.0, 0.0, 0.0
    for node, share in zip(nodes, weights):  # noqa: B905
        y = (2.0 * node - 1.0) * reach
        v = scale * math.sinh(y)
        weight = share * 2.0 * reach * scale * math.cosh(y) * INVERSE_SQRT_2PI * exp(-0.5 * v * v)
        t = single(math.sqrt(ratio) * v, delta)
        mean = _mean(t)
        g = mean - t if t < 0.0 else hazard(-t)
        bend = g * mean
        if t < 0.0:  # squares of t cancel
            height = -0.5 * (1.0 + delta) * t * t + delta * mean * (t - 0.5 * mean) - math.log(g / INVERSE_SQRT_2PI)
        else:
            height = log_tail(-t) - 0.5 * delta * g * g
        value += weight * height
        force += weight * g * g
        stiffness += weight * bend * bend
    return value, force, stiffness


@subroutine
def majority(t: np.ndarray, g: np.ndarray, bend: np.ndarray) -> float:
    """ln F of the majority of three units, F the probability that at least two of them are positive.

    Sums of positive terms only, in units of their largest exponential: nothing cancels and nothing vanishes.

    Args:
        t: (3,).
        g: (3,), overwritten by the gradient.
        bend: (3, 3), overwritten by the second derivatives.

    Returns:
        ln F.
    """
    right, wrong, cost = np.empty(3), np.empty(3), np.empty(3)
    for unit in range(3):
        tail, square = 0.5 * erfcx(abs(t[unit]) * SQRT_HALF), 0.5 * t[unit] * t[unit]
        small = tail * exp(-min(square, 700.0))
        if t[unit] > 0.0:
            right[unit], wrong[unit], cost[unit] = 1.0 - small, small, 0.0
            bend[unit, unit] = INVERSE_SQRT_2PI * exp(-min(square, 700.0)) / right[unit]
        else:
            right[unit], wrong[unit], cost[unit] = tail, 1.0 - small, square
            bend[unit, unit] = INVERSE_SQRT_2PI / right[unit]
    # Unit 0 alone wrong, unit 1 alone, unit 2 alone, none.
    total, largest = cost[0] + cost[1] + cost[2], max(cost[0], cost[1], cost[2])
    base = total - largest
    none = right[0] * right[1] * right[2] * exp(-min(largest, 700.0))
    sum_, alone = none, np.empty(3)
    for unit in range(3):
        a, b = (unit + 1) % 3, (unit + 2) % 3
        alone[unit] = wrong[unit] * right[a] * right[b] * exp(-min(total - cost[unit] - base, 700.0))
        sum_ += alone[unit]
    for unit in range(3):
        a, b = (unit + 1) % 3, (unit + 2) % 3
        g[unit] = bend[unit, unit] * (alone[a] + alone[b]) / sum_
    for unit in range(3):
        a, b = (unit + 1) % 3, (unit + 2) % 3
        bend[unit, a] = bend[unit, unit] * bend[a, a] * (alone[b] - none) / sum_ - g[unit] * g[a]
        bend[a, unit] = bend[unit, a]
    for unit in range(3):
        bend[unit, unit] = -g[unit] * (t[unit] + g[unit])
    either = wrong[0] * (1.0 - wrong[1]) + wrong[1] * (1.0 - wrong[0])
    failure = wrong[0] * wrong[1] + wrong[2] * either
    return math.log1p(-failure) if failure < 0.5 else math.log(sum_) - base


@subroutine
def product(t: np.ndarray, g: np.ndarray, bend: np.ndarray) -> float:
    """Terms as in `majority`, for the parity machine: F is the probability that the product of units is positive.

    Args:
        t: (3,).
        g: (3,), overwritten by the gradient.
        bend: (3, 3), overwritten by the second derivatives.

    Returns:
        ln F.
    """
    chance, cost, excess = np.empty((3, 2)), np.empty((3, 2)), np.empty(3)
    flipped, sign = 0.0, 1.0
    for unit in range(3):
        tail, square = 0.5 * erfcx(abs(t[unit]) * SQRT_HALF), 0.5 * t[unit] * t[unit]
        small = tail * exp(-min(square, 700.0))
        likely = 0 if t[unit] > 0.0 else 1
        chance[unit, likely], cost[unit, likely] = 1.0 - small, 0.0
        chance[unit, 1 - likely], cost[unit, 1 - likely] = tail, square
        excess[unit] = (1.0 - 2.0 * small) * (1.0 if t[unit] > 0.0 else -1.0)
        flipped, sign = flipped + small * (1.0 - 2.0 * flipped), math.copysign(sign, sign * excess[unit])
    # Only unit 0 positive, only unit 1, only unit 2, all.
    base = cost[0, 0] + cost[1, 0] + cost[2, 0]
    for unit in range(3):
        base = min(base, cost[unit, 0] + cost[(unit + 1) % 3, 1] + cost[(unit + 2) % 3, 1])
    sum_ = chance[0, 0] * chance[1, 0] * chance[2, 0] * exp(-min(cost[0, 0] + cost[1, 0] + cost[2, 0] - base, 700.0))
    for unit in range(3):
        a, b = (unit + 1) % 3, (unit + 2) % 3
        sum_ += (
            chance[unit, 0]
            * chance[a, 1]
            * chance[b, 1]
            * exp(-min(cost[unit, 0] + cost[a, 1] + cost[b, 1] - base, 700.0))
        )
    density = np.empty(3)
    for unit in range(3):
        density[unit] = INVERSE_SQRT_2PI * exp(max(base - 0.5 * t[unit] * t[unit], -700.0)) / sum_
        g[unit] = density[unit] * excess[(unit + 1) % 3] * excess[(unit + 2) % 3]
    for unit in range(3):
        a, b = (unit + 1) % 3, (unit + 2) % 3
        pair = 2.0 * INVERSE_SQRT_2PI * exp(-min(0.5 * t[a] * t[a], 700.0)) * density[unit]
        bend[unit, a] = pair * excess[b] - g[unit] * g[a]
        bend[a, unit] = bend[unit, a]
        bend[unit, unit] = -g[unit] * (t[unit] + g[unit])
    return math.log1p(-flipped) if sign > 0.0 else math.log(sum_) - base


@subroutine
def climb(
    parity: bool, x: np.ndarray, delta: float, t: np.ndarray, g: np.ndarray, bend: np.ndarray, trial: np.ndarray
) -> float:
    """A local maximum over t of delta ln F(t) - |t - x|^2 / 2, by Newton's method with a line search.

    For -1 < delta <= 0 this function is concave (docs/shaping/theory.md eq. S.9) and t is its only stationary point.

    Args:
        parity: whether F is that of the product.
        x: (3,).
        delta: above -1.
        t: (3,), the start, overwritten by the maximum.
        g: (3,), overwritten by the gradient of ln F there.
        bend: (3, 3), overwritten by the second derivatives.
        trial: (3,), overwritten.

    Returns:
        ln F - delta |g|^2 / 2 at the maximum; NaN where it was not found.
    """
    step = np.zeros(3)
    height, gain, length = -np.inf, 0.0, 1.0
    trial[:] = t
    for _ in range(MOST_STEPS):
        log_f = product(trial, g, bend) if parity else majority(trial, g, bend)
        price = 0.5 * ((trial[0] - x[0]) ** 2 + (trial[1] - x[1]) ** 2 + (trial[2] - x[2]) ** 2)
        reached = delta * log_f - price
        rounding = 1e-13 * (abs(delta * log_f) + price)
        if reached < height + 1e-4 * length * gain - rounding:
            length *= 0.25
        else:
            t[:] = trial
            height, length, excess = reached, 1.0, 0.0
            r0, r1, r2 = delta * g[0] + x[0] - t[0], delta * g[1] + x[1] - t[1], delta * g[2] + x[2] - t[2]
            while True:  # the pivots, with more damping until the matrix is positive
                damping = 1.0 + excess
                c00, c10, c20 = damping - delta * bend[0, 0], -delta * bend[1, 0], -delta * bend[2, 0]
                c11 = damping - delta * bend[1, 1] - c10 * c10 / c00
                c21 = -delta * bend[2, 1] - c10 * c20 / c00
                c22 = damping - delta * bend[2, 2] - c20 * c20 / c00 - c21 * c21 / c11
                if (c00 > 0.0 and c11 > 0.0 and c22 > 0.0) or not excess < 1e300:
                    break
                excess = max(0.03, 3.0 * excess)  # little at first: a step from a saddle point shall be long
            y1 = r1 - c10 * r0 / c00
            step[2] = (r2 - c20 * r0 / c00 - c21 * y1 / c11) / c22
            step[1] = (y1 - c21 * step[2]) / c11
            step[0] = (r0 - c10 * step[1] - c20 * step[2]) / c00
            gain = r0 * step[0] + r1 * step[1] + r2 * step[2]
            size = abs(step[0]) + abs(step[1]) + abs(step[2])
            if excess == 0.0 and size <= CONVERGED * (1.0 + abs(t[0]) + abs(t[1]) + abs(t[2])):
                value = log_f - 0.5 * delta * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
                rest = (r0, r1, r2)
                for unit in range(3):  # what is left of the maximum, to second order, and of g
                    change = bend[unit, 0] * step[0] + bend[unit, 1] * step[1] + bend[unit, 2] * step[2]
                    value += rest[unit] * (g[unit] + 0.5 * change)
                    g[unit] += change
                return value
        trial[0], trial[1], trial[2] = t[0] + length * step[0], t[1] + length * step[1], t[2] + length * step[2]
    return np.nan


@subroutine
def highest(parity: bool, x: np.ndarray, delta: float, work: np.ndarray) -> tuple[float, float, float]:
    """The highest of the maxima that several starts lead to, for x in the ordered domain.

    The starts: no unit moves; the units move that need it least to make the output right; all move. A unit moves as
    if it were alone.

    Args:
        parity: whether F is that of the product.
        x: (3,), x_0 >= x_1 >= x_2, and x_1 >= |x_2| for the product.
        delta: above -1.
        work: (7, 3), overwritten.

    Returns:
        ln F - delta |g|^2 / 2, |g|^2 and |grad grad ln F|^2.
    """
    moved, t, trial, g, bend = work[0], work[1], work[2], work[3], work[4:7]
    best, force, stiffness = -np.inf, 0.0, 0.0
    for start in range(3 if delta > 0.0 else 1):
        if start == 1:
            for unit in range(3):
                moved[unit] = single(x[unit], delta)
        for unit in range(3):
            moves = start == 2 or (start == 1 and (unit == 2) == parity)
            t[unit] = moved[unit] if moves else x[unit]
        value = climb(parity, x, delta, t, g, bend, trial)
        if math.isnan(value):
            return value, value, value
        if value > best:
            best, force, stiffness = value, 0.0, 0.0
            for unit in range(3):
                force += g[unit] * g[unit]
                for other in range(3):
                    stiffness += bend[unit, other] * bend[unit, other]
    return best, force, stiffness


@subroutine
def still(parity: bool, x: np.ndarray, work: np.ndarray) -> tuple[float, float, float]:
    """Terms of three units for a group that does not move: delta = 0, as for typical solutions.

    Args:
        parity: whether F is that of the product.
        x: (3,).
        work: (7, 3), overwritten.

    Returns:
        The three terms of `highest`.
    """
    g, bend = work[3], work[4:7]
    value = product(x, g, bend) if parity else majority(x, g, bend)
    force = g[0] * g[0] + g[1] * g[1] + g[2] * g[2]
    stiffness = bend[0, 0] ** 2 + bend[1, 1] ** 2 + bend[2, 2] ** 2
    return value, force, stiffness + 2.0 * (bend[0, 1] ** 2 + bend[0, 2] ** 2 + bend[1, 2] ** 2)


@kernel
def _three_units(
    parity: bool, ratio: float, delta: float, nodes: np.ndarray, weights: np.ndarray
) -> tuple[float, float, float]:
    """Over v_0 >= v_1 >= v_2, or v_0 >= v_1 >= |v_2| for the product: the kinks lie on the borders of these domains."""
    scale, copies = 1.0 / math.sqrt(1.0 + ratio), 24.0 if parity else 6.0
    widest, negligible = (RANGE_THREE, NEGLIGIBLE) if delta != 0.0 else (RANGE_STILL, NEGLIGIBLE_STILL)
    reach = math.asinh(widest / scale)
    first = 0.0 if parity else -reach
    x, work = np.empty(3), np.empty((7, 3))
    value, force, stiffness = 0.0, 0.0, 0.0
    for node_1, share_1 in zip(nodes, weights):  # noqa: B905
        y_1 = first + (reach - first) * node_1
        lowest = -y_1 if parity else -reach
        v_1, weight_1 = _coordinate(y_1, share_1 * (reach - first), scale)
        for node_0, share_0 in zip(nodes, weights):  # noqa: B905
            v_0, weight_0 = _coordinate(y_1 + (reach - y_1) * node_0, share_0 * (reach - y_1), scale)
            for node_2, share_2 in zip(nodes, weights):  # noqa: B905
                v_2, weight_2 = _coordinate(lowest + (y_1 - lowest) * node_2, share_2 * (y_1 - lowest), scale)
                weight = copies * weight_0 * weight_1 * weight_2
                if weight > negligible:
                    x[0], x[1], x[2] = math.sqrt(ratio) * v_0, math.sqrt(ratio) * v_1, math.sqrt(ratio) * v_2
                    v, f, s = highest(parity, x, delta, work) if delta != 0.0 else still(parity, x, work)
                    value += weight * v
                    force += weight * f
                    stiffness += weight * s
    return value, force, stiffness


@subroutine
def _coordinate(y: float, share: float, scale: float) -> tuple[float, float]:
    """v = scale sinh(y) and its weight in int Dv."""
    v = scale * math.sinh(y)
    return v, share * scale * math.cosh(y) * INVERSE_SQRT_2PI * exp(-0.5 * v * v)
