"""Energetic term of the Franz-Parisi entropy: a pattern seen by a reference and by a student beside it.

The only costly piece of the theory: a three-dimensional integral with a teacher, a two-dimensional one without. Its
first derivatives are integrals on the same nodes. Its second derivatives are approximate, because they only steer
Newton's method. They start as differences of the first derivatives, and each new point then corrects them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from localentropy.numerics.compiled import REORDERED, kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, SQRT_TWO_OVER_PI, erfcx, exp, hazard, log_tail
from localentropy.numerics.jets import Array, Jet, Number, compose
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE, crowded, gaussian_node, unit_legendre
from localentropy.replica.patterns import excess

NODES = (40, 56, 28)
"""In z (for a blunt reference), nu and tau, the student's own direction in the plane of x and y, and its orthogonal."""

NEAR, FAR = 1e-6, 0.1
"""Changes of the covariances, in the variance of the student's own part: below the first, rounding decides what the
gradient shows of the second derivatives; beyond the second, differences are taken again."""

# What two students share beyond their references and the teacher is not negative, but may come out so where it vanishes
# up to the solver's tolerance. Below the first number, relative to the variance of a student's own part, the term is
# continued linearly, by at most the second.
_SMALLEST_SHARE, _LARGEST_EXCESS = 1e-9, 1e-3


class Reference(NamedTuple):
    """The fields of a typical solution: C, V, R of `patterns.hard_margin`, and its margin."""

    common: float
    free: float
    teacher: float
    margin: float


class PairEnergy:
    """G_E of a student beside a reference (`overparam`, eqs. 92-93; `margins`, eq. 27b).

    The student's pre-activation is s times the reference's plus a rest u. The term depends on

        s; X, the covariance of the rests of two students; V, the variance of a student's own part;
        Y, the covariance of u and the reference; Z, that of u and another reference; R, that of u and the teacher.

    Args:
        reference: its fields.
        nodes: of the integral.
        curved: whether second derivatives are wanted; without, they are zero.
    """

    def __init__(self, reference: Reference, nodes: tuple[int, int, int] = NODES, *, curved: bool = True) -> None:
        self.reference = reference
        self.nodes = nodes
        self._curved = curved
        self._hessian: Array | None = None
        self._last: tuple[Array, Array] | None = None

    def __call__(self, margin: float, fields: Sequence[Number]) -> Jet:
        """G_E of a student of a margin, at its fields s, X, V, Y, Z, R, nats.

        Raises:
            ValueError: outside of the domain.
        """
        point = _numbers(fields)
        value, gradient = self.value_and_gradient(margin, point)
        self._steer(margin, point, gradient)
        jets = [index for index, part in enumerate(fields) if isinstance(part, Jet)]
        assert self._hessian is not None
        return compose(value, gradient[jets], self._hessian[np.ix_(jets, jets)], [fields[i] for i in jets])  # type: ignore[misc]

    def forget(self) -> None:
        """Take differences again at the next point."""
        self._hessian = None

    def value_and_gradient(self, margin: float, point: Array) -> tuple[float, Array]:
        """G_E and its derivatives, shape (6,), at s, X, V, Y, Z, R.

        Raises:
            ValueError: outside of the domain.
        """
        value, gradient, _ = self._evaluate(margin, point)
        return value, gradient

    def pulls(self, margin: float, fields: Sequence[Number]) -> tuple[float, float]:
        """Mean squares of the first two derivatives of ln H by a student's field, at s, X, V, Y, Z, R.

        Raises:
            ValueError: outside of the domain.
        """
        pulled, bent = self._evaluate(margin, _numbers(fields))[2]
        return float(pulled), float(bent)

    def _evaluate(self, margin: float, point: Array) -> tuple[float, Array, Array]:
        unit, weight = unit_legendre(self.nodes[2])
        found = _pair_energy(point, np.array([*self.reference, margin]), np.array(self.nodes), unit, weight)
        if math.isnan(found[0]):
            raise ValueError("covariances outside of the domain")
        return found  # type: ignore[no-any-return]

    def _steer(self, margin: float, point: Array, gradient: Array) -> None:
        """Second derivatives: differences, or the least symmetric change that explains the last step."""
        if not self._curved:
            self._hessian = np.zeros((6, 6))
            return
        step = None if self._last is None else point - self._last[0]
        if self._hessian is None or step is None or np.max(np.abs(step)) > FAR * point[2]:
            self._hessian = self._differences(margin, point, gradient)
        elif self._last is not None:
            length = float(step @ step)
            if length > (NEAR * point[2]) ** 2:
                missing = (gradient - self._last[1] - self._hessian @ step) / length
                outer = np.outer(missing, step)
                self._hessian = self._hessian + outer + outer.T - (missing @ step / length) * np.outer(step, step)
        self._last = (point, gradient)

    def _differences(self, margin: float, point: Array, gradient: Array) -> Array:
        V = point[2]
        matrix = np.zeros((6, 6))
        moved = range(6) if self.reference.teacher else range(5)
        for index in moved:
            for length in (1e-5 * V, -1e-5 * V):
                shifted = point.copy()
                shifted[index] += length
                try:
                    matrix[index] = (self.value_and_gradient(margin, shifted)[1] - gradient) / length
                    break
                except ValueError:
                    continue
        symmetric: Array = 0.5 * (matrix + matrix.T)
        return symmetric


def _numbers(fields: Sequence[Number]) -> Array:
    return np.array([part.value if isinstance(part, Jet) else part for part in fields], dtype=np.float64)


@kernel
def _pair_energy(point, reference, nodes, unit, unit_weight):  # type: ignore[no-untyped-def]
    """Value (NaN outside of the domain), gradient by s, X, V, Y, Z, R, and pulls.

    Source: docs/overparam/theory.md eqs. 21, 22, 29.
    """
    s, X, V, Y, Z, R = point
    C_ref, V_ref, R_ref, margin_ref, margin = reference
    Q_ref = C_ref + R_ref * R_ref
    gradient, pulls = np.zeros(6), np.zeros(2)
    # gamma^2: what two students share beyond both references; eta: the part of it that the teacher sees.
    gamma_squared = X - Z * Z / Q_ref - (Y - Z) ** 2 / V_ref
    left = C_ref / Q_ref  # 1 - rho^2
    eta = R - R_ref * Z / Q_ref
    least = eta * eta / left + _SMALLEST_SHARE * V
    below = min(gamma_squared - least, 0.0)
    if not (V > 0.0 and below > -_LARGEST_EXCESS * V):
        return np.nan, gradient, pulls
    taught = R_ref != 0.0 or R != 0.0
    gamma = math.sqrt(gamma_squared - below)
    epsilon = eta / (gamma * math.sqrt(left))
    rho, rest = R_ref / math.sqrt(Q_ref), math.sqrt(left)
    noise = rest * math.sqrt(1.0 - epsilon * epsilon)
    slope_z, slope_y = rho / noise, rest * epsilon / noise
    root_Q, root_V = math.sqrt(Q_ref), math.sqrt(V_ref)
    a, b = s * root_Q + Z / root_Q, s * root_V + (Y - Z) / root_V
    deviation, radius = math.sqrt(V), math.hypot(b, gamma)
    sharp_ref = max(root_Q / root_V, 1.0)
    # The reference's measure varies in z on the scale sqrt(V_ref / Q_ref).
    nodes_z, nodes_nu = int(nodes[0] * (1.0 + 0.3 * math.log(sharp_ref))), nodes[1]
    tilt = abs(a - b * root_Q / root_V) / math.hypot(deviation, gamma)
    scale = max(sharp_ref, abs(slope_z), tilt)
    centre = min(max(margin_ref / root_Q, -6.0), 6.0)
    first, span = crowded(centre, scale)
    step = span / (nodes_z - 1)
    value = by_Q = by_V = by_R = by_overlap = by_T = 0.0
    for i in range(nodes_z):
        z, weight_z = gaussian_node(centre, scale, first + step * i, step)
        bound = (margin_ref - root_Q * z) / root_V
        log_reference = log_tail(bound)
        pull = hazard(bound) / root_V
        start_x = max(bound, -RANGE)
        end_x = math.sqrt(max(bound, 0.0) ** 2 + RANGE * RANGE)
        # Nodes in nu = (b x + gamma y) / radius. Two features may be sharp: the student's margin at the kink, of the
        # width of its own part, and the reference's at cosine * bound, of width sine.
        cosine, sine, width, kink = b / radius, gamma / radius, deviation / radius, (margin - a * z) / radius
        low = min(cosine * start_x, cosine * end_x) - RANGE * sine
        high = max(cosine * start_x, cosine * end_x) + RANGE * sine
        # Beyond nine widths ln H is below 1e-18.
        high = max(min(high, kink + RANGE * width), low + 1e-3 * min(sine, width))
        middle, size = (kink, width) if width < sine else (cosine * bound, sine)
        middle, size = min(max(middle, low - 10.0), high + 10.0), min(size, 10.0)
        t_low = math.asinh((low - middle) / size)
        t_step = (math.asinh((high - middle) / size) - t_low) / (nodes_nu - 1)
        for j in range(nodes_nu):
            t_nu = t_low + t_step * j
            nu = middle + size * math.sinh(t_nu)
            weight_nu = size * t_step * math.cosh(t_nu)
            limit = (b * nu - radius * bound) / gamma
            log_weight = -0.5 * nu * nu - log_reference
            if taught:
                agree, density = _agreement(
                    limit, slope_z * z + slope_y * sine * nu, slope_y * cosine, log_weight, unit, unit_weight
                )
            else:
                agree, density = exp(max(log_weight + log_tail(-limit), -700.0)) * INVERSE_SQRT_2PI, 0.0
            h = (margin - a * z - radius * nu) / deviation
            g = hazard(h)
            p = weight_z * weight_nu * agree
            bend = g * excess(h, g)
            value += p * log_tail(h)
            by_Q -= 0.5 * p * bend
            by_V += 0.5 * p * g * h
            by_R += weight_z * weight_nu * density * g
            by_T -= p * g * pull
            pulls[0] += p * g * g
            pulls[1] += p * bend * bend
        # Where the reference is exactly at its margin.
        base, sharpness = (margin - a * z - b * bound) / deviation, gamma / deviation
        scale_y = max(sharpness, abs(slope_y), 1.0)
        centre_y = min(max(base / sharpness, -6.0), 6.0)
        first_y, span_y = crowded(centre_y, scale_y)
        step_y = span_y / (nodes_nu - 1)
        for j in range(nodes_nu):
            y, weight_y = gaussian_node(centre_y, scale_y, first_y + step_y * j, step_y)
            agree = math.erfc(-SQRT_HALF * (slope_z * z + slope_y * y)) if taught else 1.0
            by_overlap += weight_z * pull * weight_y * agree * hazard(base - sharpness * y)
    by_Q, by_V = by_Q / V, by_V / V
    value += below * by_Q
    by_R, by_overlap, by_T = by_R / (noise * deviation), by_overlap / deviation, by_T / deviation
    gradient[0] = 2.0 * (s * (Q_ref + V_ref) + Y) * by_Q + (Q_ref + V_ref) * by_overlap + Q_ref * by_T + R_ref * by_R
    gradient[1] = by_Q
    gradient[2] = by_V
    gradient[3] = 2.0 * s * by_Q + by_overlap
    gradient[4] = by_T
    gradient[5] = by_R
    pulls[0] /= V
    pulls[1] /= V * V
    return value, gradient, pulls


@subroutine(fastmath=REORDERED)
def _agreement(limit, U, slope, log_weight, unit, unit_weight):  # type: ignore[no-untyped-def]
    """Probability that teacher and reference agree with a pattern, given z and nu (eq. 29), and its density.

    Two integrals over tau above -limit, with U falling by `slope` tau: of 2 H(-U), and of 2 N(U).
    """
    start = max(-limit, -RANGE)
    length = math.sqrt(max(start, 0.0) ** 2 + RANGE * RANGE) - start
    agree = density = 0.0
    for k in range(len(unit)):
        tau = start + length * unit[k]
        u = U - slope * tau
        weight = unit_weight[k] * exp(max(log_weight - 0.5 * tau * tau, -700.0))
        bell = exp(-min(0.5 * u * u, 700.0))
        half = erfcx(abs(u) * SQRT_HALF) * bell
        agree += weight * (half if u < 0.0 else 2.0 - half)
        density += weight * bell
    scale = length * INVERSE_SQRT_2PI * INVERSE_SQRT_2PI
    return agree * scale, density * scale * SQRT_TWO_OVER_PI
