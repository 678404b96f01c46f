"""Energetic terms of an energy that is constant between a few stabilities, for labels of any teacher of this kind.

A pattern gives a stability x the weight exp(-E(x)). E is constant between neighbouring edges, and may be infinite. All
means over a student's own part are then sums of Gaussian tails.
"""

from __future__ import annotations

import math

import numpy as np

from localentropy.numerics.compiled import kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, erfcx, exp, hazard, log_tail
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE
from localentropy.theory.patterns import FAR, LARGEST_EXCESS, SMALLEST_SHARE, excess, hazard_derivatives, pair_gradient

PANEL_NODES = 16
"""Gauss-Legendre nodes of a panel of the outer integrals."""
# Longest panel, in standard deviations, and shortest, in widths of a feature. A panel that does not touch a feature is
# twice as long as its distance from it.
_LONGEST, _SHORTEST = 2.0, 3.0
# Size of the negative exponent of what is left of a change of a mean weight where this counts as constant. Away from an
# edge what is left falls like a Gaussian, and like an exponential where another energy takes over. The logarithm of the
# weight does not become constant.
_SETTLED = 40.0
# Slope below which what it multiplies is as good as constant.
_FLAT = 1e-3
# Width below which a feature is a jump.
_NARROWEST = 1e-9
# Below this a variance has derivatives beyond the range of numbers, and a mass is 0.
_SMALLEST = 1e-60
# Largest exponent of what is not 0.
_LARGEST = 700.0
# Size of a negative exponent from which on what it multiplies does not count.
_NEGLIGIBLE = 60.0
# Rounding of a hazard that is computed as a ratio, in units of its squared argument.
_ALONE = 1e-15


@kernel
def step_term(C, V, R, edges, energies, label_edges, label_weights, unit, unit_weight):  # type: ignore[no-untyped-def]
    """Value, gradient (4,) and Hessian (4, 4) by C, V, R, and ln of a factor on the energies; mean squares of f', f''.

    The value is NaN outside of the domain. With u the teacher's pre-activation and omega the common part of the
    students', of variance Q = C + R^2, the term is the mean of f(omega) with the weight of the label at u, f = ln of
    the mean weight of omega + sqrt(V) x. Derivatives move onto f as in `patterns.hard_margin`.

    Args:
        C: variance that two students share beyond the teacher's.
        V: variance of a student's own part.
        R: covariance with the teacher.
        edges: where the energy changes.
        energies: one more than edges, on the scale of the temperature.
        label_edges: where the weight of the label changes.
        label_weights: one more than `label_edges`.
        unit: nodes of a panel in [0, 1].
        unit_weight: their weights.

    Returns:
        The value; the gradient, shape (4,); the Hessian, shape (4, 4); the mean squares of f' and f'', shape (2,).
    """
    gradient, hessian, pulls = np.zeros(4), np.zeros((4, 4)), np.zeros(2)
    if not (V > _SMALLEST and C >= 0.0):
        return np.nan, gradient, hessian, pulls
    Q = C + R * R
    root_V, root_Q = math.sqrt(V), math.sqrt(Q)
    slope, deviation = (R / root_Q, math.sqrt(C / Q)) if R != 0.0 else (0.0, 1.0)
    sharp, wide = features(edges, energies, V)
    n = len(sharp)
    places, widths = np.full(n + len(label_edges), math.inf), np.ones(n + len(label_edges))
    reaches = np.full(n + len(label_edges), math.inf)
    for k in range(n if root_Q > 0.0 else 0):
        places[k], widths[k] = sharp[k] / root_Q, wide[k] / root_Q
    # Where the mean of u is at a label's edge.
    for k in range(len(label_edges) if abs(slope) > _FLAT else 0):
        places[n + k], widths[n + k] = label_edges[k] / slope, deviation / abs(slope)
    chance, first, second = label_moments(0.0, 1.0, label_edges, label_weights)
    value = 0.0
    start = -RANGE
    while start < RANGE:
        length = min(panel(start, places, widths, reaches), RANGE - start)
        for i in range(len(unit)):
            z = start + length * unit[i]
            weight = unit_weight[i] * length * exp(-0.5 * z * z) * INVERSE_SQRT_2PI
            m0, m1, m2 = chance, first, second
            if R != 0.0:
                m0, m1, m2 = label_moments(slope * z, deviation, label_edges, label_weights)
            m0, m1, m2 = weight * m0 / chance, weight * m1 / chance, weight * m2 / chance
            L, L1, L2, L3, L4, L_b, L1_b, L2_b, L_bb = step_means(root_Q * z, root_V, edges, energies)
            value += m0 * L
            pulls[0] += m0 * L1 * L1
            pulls[1] += m0 * L2 * L2
            gradient[0] += 0.5 * m0 * L2
            gradient[1] += 0.5 * m0 * (L2 + L1 * L1)
            gradient[2] += m1 * L1
            gradient[3] += m0 * L_b
            hessian[0, 0] += 0.25 * m0 * L4
            hessian[0, 1] += 0.25 * m0 * (L4 + 2.0 * L2 * L2 + 2.0 * L1 * L3)
            hessian[0, 2] += 0.5 * m1 * L3
            hessian[0, 3] += 0.5 * m0 * L2_b
            hessian[1, 1] += 0.25 * m0 * (L4 + 2.0 * L2 * L2 + 4.0 * L1 * L3 + 4.0 * L1 * L1 * L2)
            hessian[1, 2] += 0.5 * m1 * (L3 + 2.0 * L1 * L2)
            hessian[1, 3] += 0.5 * m0 * (L2_b + 2.0 * L1 * L1_b)
            hessian[2, 2] += m2 * L2
            hessian[2, 3] += m1 * L1_b
            hessian[3, 3] += m0 * L_bb
        start += length
    for i in range(4):
        for j in range(i):
            hessian[i, j] = hessian[j, i]
    return value, gradient, hessian, pulls


@kernel
def step_pair_term(point, common, free, edges, ref_energies, energies, unit, unit_weight):  # type: ignore[no-untyped-def]
    """Value (NaN outside of the domain), gradient by s, X, V, Y, Z, R, and pulls of a student beside a reference.

    Source: docs/margins/theory.md section 12; derivatives: docs/overparam/theory.md eq. 22, without a teacher. As in
    `pair_energy`, the direction orthogonal to nu changes only the mean weight of the reference, which is a sum of
    Gaussian tails here.

    Args:
        point: s, X, V, Y, Z, R of `pair_energy`.
        common: C of the reference.
        free: V of the reference.
        edges: where the energies of reference and students change.
        ref_energies: the reference's, one more than edges, on the scale of the temperature.
        energies: the students'.
        unit: nodes of a panel in [0, 1].
        unit_weight: their weights.

    Returns:
        The three results.
    """
    s, X, V, Y, Z, _ = point
    gradient, pulls = np.zeros(6), np.zeros(2)
    shared = X - Z * Z / common - (Y - Z) ** 2 / free
    below = min(shared - SMALLEST_SHARE * V, 0.0)
    if not (V > _SMALLEST and below > -LARGEST_EXCESS * V):
        return np.nan, gradient, pulls
    root_Q, root_V, gamma = math.sqrt(common), math.sqrt(free), math.sqrt(shared - below)
    a, b = s * root_Q + Z / root_Q, s * root_V + (Y - Z) / root_V
    deviation, radius = math.sqrt(V), math.hypot(b, gamma)
    along, blur = root_V * b / radius, gamma / radius * root_V
    sharp_z, wide_z = features(edges, ref_energies, free)
    sharp_ref, wide_ref = features(edges, ref_energies, blur * blur)
    sharp, wide = features(edges, energies, V)
    n, total = len(sharp_ref), len(sharp_ref) + len(sharp)
    places_z, widths_z = np.full(total, math.inf), np.ones(total)
    places, widths = np.full(total, math.inf), np.ones(total)
    endless, reaches = np.full(total, math.inf), np.full(total, math.inf)
    for k in range(n):
        places_z[k], widths_z[k] = sharp_z[k] / root_Q, wide_z[k] / root_Q
    for k in range(len(sharp) if abs(a) > _FLAT else 0):
        places_z[n + k], widths_z[n + k] = sharp[k] / a, math.hypot(radius, wide[k]) / abs(a)
    # Where the reference is at an edge, the student's mean moves with z by so much.
    tilt = abs(a - b * root_Q / root_V) / math.hypot(deviation, gamma)
    most = -min(ref_energies)
    value = by_Q = by_V = by_overlap = by_T = 0.0
    start = -RANGE
    while start < RANGE:
        length = min(panel(start, places_z, widths_z, endless), RANGE - start, _SHORTEST / max(tilt, 1e-3))
        for i in range(len(unit)):
            z = start + length * unit[i]
            weight_z = unit_weight[i] * length * exp(-0.5 * z * z) * INVERSE_SQRT_2PI
            log_reference, pull, _ = step_slopes(root_Q * z, root_V, edges, ref_energies)
            # Beyond this nu nothing counts, nor farther than so much from an energy that is not infinite.
            farthest = math.sqrt(2.0 * (_NEGLIGIBLE + most - log_reference - 0.5 * z * z))
            settled = _SETTLED + most - log_reference
            for k in range(n if along != 0.0 else 0):
                places[k], widths[k] = (sharp_ref[k] - root_Q * z) / along, wide_ref[k] / abs(along)
                reaches[k] = (math.sqrt(2.0 * settled) if k < len(edges) else settled) * max(widths[k], _NARROWEST)
            for k in range(len(sharp)):
                places[n + k], widths[n + k] = (sharp[k] - a * z) / radius, wide[k] / radius
            at = -farthest
            while at < farthest:
                way = _blocked(root_Q * z + along * at, along, farthest * blur, edges, ref_energies)
                if way > _NARROWEST:
                    at += way
                    continue
                part = min(panel(at, places, widths, reaches), farthest - at)
                for j in range(len(unit)):
                    nu = at + part * unit[j]
                    W, W1, _ = step_slopes(root_Q * z + along * nu, blur, edges, ref_energies)
                    exponent = W - log_reference - 0.5 * nu * nu
                    if exponent - 0.5 * z * z < -_NEGLIGIBLE:
                        continue
                    p = weight_z * unit_weight[j] * part * math.exp(exponent) * INVERSE_SQRT_2PI
                    L, L1, L2 = step_slopes(a * z + radius * nu, deviation, edges, energies)
                    value += p * L
                    by_Q += 0.5 * p * L2
                    by_V += 0.5 * p * (L2 + L1 * L1)
                    by_overlap += p * L1 * W1
                    by_T -= p * L1 * pull
                    pulls[0] += p * L1 * L1
                    pulls[1] += p * L2 * L2
                at += part
        start += length
    value += below * by_Q
    gradient[0], gradient[1], gradient[3], gradient[4] = pair_gradient(s, Y, common, free, by_Q, by_overlap, by_T)
    gradient[2] = by_V
    return value, gradient, pulls


@subroutine
def features(edges, energies, V):  # type: ignore[no-untyped-def]
    """Where f changes quickly, as a function of omega, and the widths.

    This is at the edges; where a lower energy next to an edge takes over from the higher one; and, inside a barrier,
    where the energy on its other side takes over.

    Args:
        edges: where the energy changes.
        energies: one more than edges, on the scale of the temperature.
        V: variance of a student's own part.

    Returns:
        Places and widths.
    """
    K = len(edges)
    places, widths = np.full(3 * K, math.inf), np.ones(3 * K)
    root = math.sqrt(V)
    for k in range(K):
        places[k], widths[k] = edges[k], root
        fall = energies[k] - energies[k + 1]
        if 0.0 < abs(fall) < math.inf:
            reach = root * math.sqrt(2.0 * abs(fall))
            places[K + k], widths[K + k] = edges[k] - math.copysign(reach, fall), V / max(reach, root)
        if k + 1 < K and energies[k + 1] > max(energies[k], energies[k + 2]):
            gap = edges[k + 1] - edges[k]
            shift = V * (energies[k + 2] - energies[k]) / gap
            places[2 * K + k], widths[2 * K + k] = 0.5 * (edges[k] + edges[k + 1]) + shift, V / max(gap, root)
    return places, widths


@subroutine
def _blocked(x, slope, reach, edges, energies):  # type: ignore[no-untyped-def]
    """Way from x, which moves with a slope, to where an energy that is not infinite is within reach; 0 where one is."""
    if slope == 0.0:
        return 0.0
    way = math.inf
    for k in range(len(energies)):
        if energies[k] < math.inf:
            first = edges[k - 1] - reach if k > 0 else -math.inf
            last = edges[k] + reach if k < len(edges) else math.inf
            if first <= x <= last:
                return 0.0
            ahead = first - x if slope > 0.0 else x - last
            if ahead > 0.0:
                way = min(way, ahead / abs(slope))
    return way


@subroutine
def panel(start, places, widths, reaches):  # type: ignore[no-untyped-def]
    """Length of the panel from a point: short next to a feature, and geometrically longer away from it, up to its end.

    Args:
        start: where the panel begins.
        places: of the features.
        widths: of the features.
        reaches: distance from a feature beyond which the integrand does not know of it.

    Returns:
        The length.
    """
    length = _LONGEST
    for k in range(len(places)):
        gap = start - places[k]
        if gap >= reaches[k]:
            continue
        away = 2.0 * gap if gap > 0.0 else max(-2.0 / 3.0 * gap, -gap - reaches[k])
        length = min(length, max(away, _SHORTEST * max(widths[k], _NARROWEST)))
    return length


@subroutine
def label_moments(mean, deviation, edges, weights):  # type: ignore[no-untyped-def]
    """Moments of order 0, 1, 2 of a Gaussian u, with the weight of the label.

    Args:
        mean: of u.
        deviation: of u.
        edges: where the weight of the label changes.
        weights: one more than edges.

    Returns:
        The three moments.
    """
    m0 = m1 = m2 = 0.0
    before_bell = before_pull = 0.0
    before_tail = 1.0
    for k in range(len(weights)):
        bell = pull = tail = 0.0
        if k < len(edges):
            a = (edges[k] - mean) / deviation
            bell = exp(-min(0.5 * a * a, _LARGEST)) * INVERSE_SQRT_2PI
            pull, tail = a * bell, 0.5 * math.erfc(a * math.sqrt(0.5))
        inside, first, second = before_tail - tail, before_bell - bell, before_pull - pull
        m0 += weights[k] * inside
        m1 += weights[k] * (mean * inside + deviation * first)
        m2 += weights[k] * ((mean * mean + deviation * deviation) * inside + deviation * (2.0 * mean * first))
        m2 += weights[k] * deviation * deviation * second
        before_bell, before_pull, before_tail = bell, pull, tail
    return m0, m1, m2


@subroutine
def log_mass(low, high):  # type: ignore[no-untyped-def]
    """ln of the Gaussian measure between two numbers, by the tail in which it is the larger part.

    Args:
        low: the lower number.
        high: the higher one.

    Returns:
        The logarithm.
    """
    if low + high < 0.0:
        low, high = -high, -low
    if high == math.inf:
        return log_tail(low) if low > -math.inf else 0.0
    near, far = log_tail(max(low, -40.0)), log_tail(high)
    return near + math.log(-math.expm1(min(far - near, -1e-300)))


@subroutine
def log_mean(omega, root, edges, energies):  # type: ignore[no-untyped-def]
    """ln of the mean of exp(-E(omega + root x)) over a Gaussian x.

    Args:
        omega: the common part.
        root: deviation of a student's own part.
        edges: where the energy changes.
        energies: one more than edges, on the scale of the temperature.

    Returns:
        The logarithm.
    """
    top, total = -math.inf, 0.0
    low = -math.inf
    for k in range(len(energies)):
        high = (edges[k] - omega) / root if k < len(edges) else math.inf
        if energies[k] < math.inf and high > low:
            part = log_mass(low, high) - energies[k]
            if part > top:
                total = total * math.exp(top - part) + 1.0 if total > 0.0 else 1.0
                top = part
            else:
                total += math.exp(part - top)
        low = high
    return top + math.log(total)


@subroutine
def step_slopes(omega, root, edges, energies):  # type: ignore[no-untyped-def]
    """f = ln of the mean weight at omega, and its first two derivatives by omega.

    Args:
        omega: the common part.
        root: deviation of a student's own part.
        edges: where the energy changes.
        energies: one more than edges, on the scale of the temperature.

    Returns:
        The three numbers.
    """
    # All weights are in units of exp(largest), which bounds that of the likeliest bin.
    largest, low = -math.inf, -math.inf
    for k in range(len(energies)):
        high = (edges[k] - omega) / root if k < len(edges) else math.inf
        nearest = max(low, -high, 0.0)
        largest = max(largest, -0.5 * nearest * nearest - energies[k])
        low = high
    total = z1 = z2 = most = sharpest = before = 0.0
    low = -math.inf
    for k in range(len(energies)):
        high = (edges[k] - omega) / root if k < len(edges) else math.inf
        scale = energies[k] + largest
        first = exp(-0.5 * low * low - scale) if 0.5 * low * low + scale < _NEGLIGIBLE else 0.0
        last = exp(-0.5 * high * high - scale) if 0.5 * high * high + scale < _NEGLIGIBLE else 0.0
        mass = exp(-scale) if low < 0.0 < high and scale < _NEGLIGIBLE else 0.0
        if first > 0.0:
            tail = 0.5 * erfcx(abs(low) * SQRT_HALF) * first
            mass += tail if low > 0.0 else -tail
        if last > 0.0:
            tail = 0.5 * erfcx(abs(high) * SQRT_HALF) * last
            mass += tail if high < 0.0 else -tail
        total += mass
        jump = first - before
        if abs(jump) > most:
            most, sharpest = abs(jump), low
        if jump != 0.0:
            z1 += jump
            z2 += jump * low
        low, before = high, last
    total = max(total, _SMALLEST)
    L = largest + math.log(total)
    z1, z2 = z1 * INVERSE_SQRT_2PI / total, z2 * INVERSE_SQRT_2PI / total
    side = math.copysign(1.0, z1)
    h = side * sharpest
    if h > FAR and abs(side * z1 / hazard(h) - 1.0) < _ALONE * h * h:
        # Far from the only edge that counts, where the difference below would cancel.
        g = hazard(h)
        return L, side * g / root, -g * excess(h, g) / root**2
    return L, z1 / root, (z2 - z1 * z1) / root**2


@subroutine
def step_means(omega, root, edges, energies):  # type: ignore[no-untyped-def]
    """f = ln of the mean weight at omega, its four derivatives by omega, and those by b, ln of a factor on E.

    The latter are of f, f', f'', and the second one of f. The derivatives of the mean itself are sums over the edges.

    Args:
        omega: the common part.
        root: deviation of a student's own part.
        edges: where the energy changes.
        energies: one more than edges, on the scale of the temperature.

    Returns:
        The derivatives.
    """
    L = log_mean(omega, root, edges, energies)
    z1 = z2 = z3 = z4 = z_b = z1_b = z2_b = z_bb = most = sharpest = 0.0
    low = -math.inf
    for k in range(len(energies)):
        high = (edges[k] - omega) / root if k < len(edges) else math.inf
        E = energies[k]
        if 0.0 < E < math.inf and high > low:
            share = math.exp(log_mass(low, high) - E - L)
            z_b -= E * share
            z_bb += (E * E - E) * share
        if k < len(edges):
            jump = jump_b = 0.0
            for side in range(2):
                E = energies[k + side]
                if math.inf > E:
                    part = (2.0 * side - 1.0) * math.exp(min(-0.5 * high * high - E - L, _LARGEST)) * INVERSE_SQRT_2PI
                    jump += part
                    jump_b -= E * part
            if abs(jump) > most:
                most, sharpest = abs(jump), high
            z1 += jump
            z2 += jump * high
            z3 += jump * (high * high - 1.0)
            z4 += jump * high * (high * high - 3.0)
            z1_b += jump_b
            z2_b += jump_b * high
        low = high
    sign = math.copysign(1.0, z1)
    h = sign * sharpest
    if h > FAR and abs(sign * z1 / hazard(h) - 1.0) < _ALONE * h * h:
        # Far from the only edge that counts, where the differences below would cancel.
        g = hazard(h)
        d1, d2, d3 = hazard_derivatives(h, g)
        L1, L2, L3, L4 = sign * g / root, -d1 / root**2, sign * d2 / root**3, -d3 / root**4
        return L, L1, L2, L3, L4, z_b, 0.0, 0.0, z_bb - z_b * z_b
    square = z1 * z1
    L1, L2 = z1 / root, (z2 - square) / root**2
    L3 = (z3 - 3.0 * z1 * z2 + 2.0 * z1 * square) / root**3
    L4 = (z4 - 4.0 * z1 * z3 - 3.0 * z2 * z2 + 12.0 * square * z2 - 6.0 * square * square) / root**4
    L1_b = (z1_b - z1 * z_b) / root
    L2_b = (z2_b - 2.0 * z1 * z1_b - z_b * z2 + 2.0 * square * z_b) / root**2
    return L, L1, L2, L3, L4, z_b, L1_b, L2_b, z_bb - z_b * z_b
