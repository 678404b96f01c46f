"""Energetic term of the Franz-Parisi entropy: a pattern seen by a reference and by a student beside it.

The only costly piece of the theory: a three-dimensional integral with a teacher, a two-dimensional one without. Its
derivatives are integrals on the same nodes. Beside references whose energy has steps the second ones are approximate,
as they only steer Newton's method: they start as differences of the first ones, and each new point then corrects them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from localentropy.numerics.compiled import REORDERED, kernel, subroutine
from localentropy.numerics.curvature import Curvature
from localentropy.numerics.gaussian_kernels import SQRT_HALF, SQRT_TWO_OVER_PI, erfcx, exp, hazard, log_tail
from localentropy.numerics.jets import Array, Jet, Number, compose, plain
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE, gaussian_node, sinh_range, unit_legendre
from localentropy.theory.patterns import (
    FAR,
    LARGEST_EXCESS,
    SMALLEST_SHARE,
    boltzmann,
    excess,
    onset_grid,
    pair_gradient,
    soft_cut,
    soft_mode,
)
from localentropy.theory.step_patterns import PANEL_NODES, step_pair_term

NODES = (40, 56, 28)
"""Numbers of nodes: in z (for a blunt reference), and in nu and tau, the student's own direction in the plane of x and
y and its orthogonal."""

SOFT_SPACING = 0.14
"""Spacing of the nodes in z beside a soft reference."""
# How far a student's direction is integrated beyond its mode. Spacings in t of its nodes: at a kink of width 1, of a
# Gaussian, and of the table of the reference's weight.
_SOFT_RANGE, _FEATURE_SPACING, _GAUSSIAN_SPACING, _TABLE_SPACING = 10.0, 0.14, 0.36, 0.05


class PairTerm(NamedTuple):
    """The energetic term of a student beside a reference, and its derivatives.

    Attributes:
        value: nats; NaN outside of the domain.
        gradient: by s, X, V, Y, Z, R, shape (6,).
        pulls: mean squares of the first two derivatives of ln H by a student's field.
        hessian: by a, b, e, r, V (`PairEnergy._parts`), shape (5, 5); None if it is not known.
    """

    value: float
    gradient: Array
    pulls: Array
    hessian: Array | None = None


class Reference(NamedTuple):
    """The covariances of typical solutions: C, V, R of `patterns.hard_margin`, and its margin.

    Example:
        >>> from localentropy.theory.pair_energy import Reference
        >>> Reference(common=0.3, free=0.7, teacher=0.0, margin=0.0).margin
        0.0
    """

    common: float
    free: float
    teacher: float
    margin: float

    def pair_energy(self, margin: float, point: Array, nodes: tuple[int, int, int]) -> PairTerm:
        """Of a student at s, X, V, Y, Z, R."""
        unit, weight = unit_legendre(nodes[2])
        return PairTerm(*_pair_energy(point, np.array([*self, margin]), np.array(nodes), unit, weight))


class SoftReference(NamedTuple):
    """The covariances of weights drawn with the probability exp(-beta E) of their cross-entropy.

    Example:
        >>> from localentropy.theory.pair_energy import SoftReference
        >>> SoftReference(common=0.3, free=0.7, log_beta=1.0, gamma=2.0).margin
        0.0
    """

    common: float
    free: float
    log_beta: float
    gamma: float

    @property
    def teacher(self) -> float:
        """There is none."""
        return 0.0

    @property
    def margin(self) -> float:
        """The stability from which the loss hardly counts, in the place of a margin.

        At most 1: a blunt loss counts even where references hardly have stabilities any more.
        """
        return min(max(self.log_beta - math.log(2.0 * self.gamma), 0.0) / (2.0 * self.gamma), 1.0)

    def pair_energy(self, margin: float, point: Array, nodes: tuple[int, int, int]) -> PairTerm:
        """As `Reference.pair_energy`; the number of nodes follows from the reference, times the first of `nodes`."""
        spacing = SOFT_SPACING * NODES[0] / nodes[0]
        return PairTerm(*_soft_pair_energy(point, np.array(self), margin, spacing))


class StepReference(NamedTuple):
    """The covariances of weights drawn by an energy that is constant between edges, and the energy of the students.

    Example:
        >>> from localentropy.theory import GibbsLoss
        >>> from localentropy.theory.model import Covariances
        >>> reference = GibbsLoss(temperature=0.4).reference(Covariances(0.3, 0.7, 0.0))
        >>> type(reference).__name__, reference.edges.tolist()
        ('StepReference', [0.0])
    """

    common: float
    free: float
    edges: Array
    energies: Array
    student_energies: Array

    @property
    def teacher(self) -> float:
        """There is none."""
        return 0.0

    @property
    def margin(self) -> float:
        """How much the energy leaves to what is none of the students', in the place of a margin: 0 if it is hard."""
        wrong = self.energies[(self.student_energies > 0.0) & (self.energies < math.inf)]
        return float(np.exp(-wrong).max(initial=0.0))

    def pair_energy(self, margin: float, point: Array, nodes: tuple[int, int, int]) -> PairTerm:
        """As `Reference.pair_energy`; the panels of the integrals follow from the edges."""
        return PairTerm(*step_pair_term(point, *self, *unit_legendre(PANEL_NODES)))


class PairEnergy:
    """G_E of a student beside a reference (`overparam`, eqs. 92-93; `margins`, eq. 27b).

    The student's pre-activation is s times the reference's plus a rest u. The term depends on

        s; X, the covariance of the rests of two students; V, the variance of a student's own part;
        Y, the covariance of u and the reference; Z, that of u and another reference; R, that of u and the teacher.

    Args:
        reference: its covariances.
        nodes: of the integral.
        curved: whether second derivatives are wanted; without, they are zero.

    Example:
        >>> from localentropy.theory.pair_energy import PairEnergy, Reference
        >>> from localentropy.numerics.jets import variables
        >>> energy = PairEnergy(Reference(0.3, 0.7, 0.0, 0.0))
        >>> round(energy(0.0, variables([0.9, 0.05, 0.1, 0.0, 0.0, 0.0])).value, 6)
        -0.213752
    """

    def __init__(
        self,
        reference: Reference | SoftReference | StepReference,
        nodes: tuple[int, int, int] = NODES,
        *,
        curved: bool = True,
    ) -> None:
        self.reference = reference
        self.nodes = nodes
        self._curved = curved
        self._curvature = Curvature() if isinstance(reference, StepReference) else None

    def __call__(self, margin: float, covariances: Sequence[Number]) -> Jet:
        """G_E of a student of a margin, at its covariances s, X, V, Y, Z, R, nats.

        Raises:
            ValueError: outside of the domain.
        """
        parts = self._parts(covariances)
        point = _numbers(parts)
        value, gradient, hessian = self._by_parts(margin, point)
        if not self._curved:
            hessian = np.zeros((5, 5))
        elif self._curvature is not None:
            hessian = self._curvature.at(
                lambda moved: self._by_parts(margin, moved)[1], point, gradient, _units(point), (0, 1, 3, 4)
            )
        assert hessian is not None
        return compose(value, gradient, hessian, parts)

    def forget(self) -> bool:
        """Take differences again at the next point. False if there are none: second derivatives are integrals, too."""
        if self._curvature is not None:
            self._curvature.forget()
        return self._curvature is not None

    def pulls(self, margin: float, covariances: Sequence[Number]) -> tuple[float, float]:
        """Mean squares of the first two derivatives of ln H by a student's field, at s, X, V, Y, Z, R.

        Raises:
            ValueError: outside of the domain.
        """
        pulled, bent = self._evaluate(margin, _numbers(covariances)).pulls
        return float(pulled), float(bent)

    def _evaluate(self, margin: float, point: Array) -> PairTerm:
        found = self.reference.pair_energy(margin, point, self.nodes)
        if math.isnan(found.value):
            raise ValueError("covariances outside of the domain")
        return found

    def _parts(self, covariances: Sequence[Number]) -> tuple[Number, ...]:
        """a, b, e, r, V of a student's pre-activation a z + b x + e u + sqrt(r) y plus its own part, from s, ..., R.

        Of the reference's pre-activation, z is what references share, and x the rest; u is the rest of the teacher's.
        G_E changes smoothly with these. In the covariances it does not: where r is small, they are next to the ends of
        their domain.
        """
        s, X, V, Y, Z, R = covariances
        at = self.reference
        root_Q, root_V, rest = self._roots
        by_z, b = Z * (1.0 / root_Q), (Y - Z) * (1.0 / root_V)
        e = (R - by_z * (at.teacher / root_Q)) * (1.0 / rest)
        return s * root_Q + by_z, s * root_V + b, e, X - by_z * by_z - b * b - e * e, V

    @property
    def _roots(self) -> tuple[float, float, float]:
        """Deviations of z and x, and that of u in units of the teacher's."""
        at = self.reference
        Q = at.common + at.teacher**2
        return math.sqrt(Q), math.sqrt(at.free), math.sqrt(at.common / Q)

    def _by_parts(self, margin: float, point: Array) -> tuple[float, Array, Array | None]:
        """G_E and its derivatives, shapes (5,) and (5, 5), at a, b, e, r, V.

        Raises:
            ValueError: outside of the domain.
        """
        a, b, e, r, V = point
        root_Q, root_V, rest = self._roots
        taught = self.reference.teacher / root_Q
        Z = a * root_Q
        covariances = np.array([0.0, a * a + b * b + e * e + r, V, Z + b * root_V, Z, e * rest + a * taught])
        value, (_, by_X, by_V, by_Y, by_Z, by_R), _, hessian = self._evaluate(margin, covariances)
        by_a = 2.0 * a * by_X + root_Q * (by_Y + by_Z) + taught * by_R
        gradient = [by_a, 2.0 * b * by_X + root_V * by_Y, 2.0 * e * by_X + rest * by_R, by_X, by_V]
        return value, np.array(gradient), hessian


def _units(point: Array) -> Array:
    """The sizes at which a, b, e, r, V matter: those of the student's own part."""
    V = point[4]
    return np.array([math.sqrt(V), math.sqrt(V), math.sqrt(V), V, V])


def _numbers(covariances: Sequence[Number]) -> Array:
    return np.array([*map(plain, covariances)])


@kernel
def _pair_energy(point, reference, nodes, unit, unit_weight):  # type: ignore[no-untyped-def]
    """Value (NaN outside of the domain), gradient by s, X, V, Y, Z, R, pulls, and second derivatives by a, b, e, r, V.

    Source: docs/overparam/theory.md eqs. 21, 22, 29, 38.
    """
    s, X, V, Y, Z, R = point
    C_ref, V_ref, R_ref, margin_ref, margin = reference
    Q_ref = C_ref + R_ref * R_ref
    gradient, pulls, hessian = np.zeros(6), np.zeros(2), np.zeros((5, 5))
    # gamma^2: what two students share beyond both references; eta: the part of it that the teacher sees.
    gamma_squared = X - Z * Z / Q_ref - (Y - Z) ** 2 / V_ref
    left = C_ref / Q_ref  # 1 - rho^2
    eta = R - R_ref * Z / Q_ref
    least = eta * eta / left + SMALLEST_SHARE * V
    below = min(gamma_squared - least, 0.0)
    if not (V > 0.0 and below > -LARGEST_EXCESS * V):
        return np.nan, gradient, pulls, hessian
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
    first, span = sinh_range(centre, scale)
    # The Gaussian itself must be resolved where nodes crowd far from its mode.
    nodes_z = max(nodes_z, int(span * math.hypot(centre, 1.0 / scale) / _GAUSSIAN_SPACING) + 2)
    step = span / (nodes_z - 1)
    value = by_Q = by_V = by_R = by_overlap = by_a = 0.0
    # Means of derivatives of the hazard: of all patterns; where the teacher, the reference or both are at their margin.
    all_zz = all_z3 = all_4 = all_zV = all_2V = all_VV = 0.0
    teacher_z2 = teacher_3 = teacher_1V = edge_b2 = edge_z2 = edge_3 = edge_1V = both_2 = 0.0
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
            p, at_teacher = weight_z * weight_nu * agree, weight_z * weight_nu * density
            bend, third, fourth = _bends(h, g)
            value += p * log_tail(h)
            by_Q -= 0.5 * p * bend
            by_V += 0.5 * p * g * h
            by_R += at_teacher * g
            by_a += p * g * z
            pulls[0] += p * g * g
            pulls[1] += p * bend * bend
            all_zz += p * z * z * bend
            all_z3 += p * z * third
            all_4 += p * fourth
            all_zV += p * z * (bend * h + g)
            all_2V += p * (third * h + 2.0 * bend)
            all_VV += p * (3.0 * g + bend * h) * h
            teacher_z2 += at_teacher * z * bend
            teacher_3 += at_teacher * third
            teacher_1V += at_teacher * (bend * h + g)
        # Where the reference is exactly at its margin.
        base, sharpness = (margin - a * z - b * bound) / deviation, gamma / deviation
        scale_y = max(sharpness, abs(slope_y), 1.0)
        centre_y = min(max(base / sharpness, -6.0), 6.0)
        first_y, span_y = sinh_range(centre_y, scale_y)
        step_y = span_y / (nodes_nu - 1)
        for j in range(nodes_nu):
            y, weight_y = gaussian_node(centre_y, scale_y, first_y + step_y * j, step_y)
            U, h = slope_z * z + slope_y * y, base - sharpness * y
            agree = math.erfc(-SQRT_HALF * U) if taught else 1.0
            g = hazard(h)
            p = weight_z * pull * weight_y
            bend, third, fourth = _bends(h, g)
            both_2 += p * bend * SQRT_TWO_OVER_PI * exp(-min(0.5 * U * U, 700.0)) if taught else 0.0
            p *= agree
            by_overlap += p * g
            edge_b2 += p * bound * bend
            edge_z2 += p * z * bend
            edge_3 += p * third
            edge_1V += p * (bend * h + g)
    by_Q, by_V = by_Q / V, by_V / V
    value += below * by_Q
    by_R, by_overlap, by_a = by_R / (noise * deviation), by_overlap / deviation, by_a / deviation
    # By parts this is the mean of -g g_ref. The sum of that and by_overlap loses digits beside sharp references.
    by_T = (by_a - 2.0 * a * by_Q - R_ref / root_Q * by_R) / root_Q - by_overlap
    gradient[0], gradient[1], gradient[3], gradient[4] = pair_gradient(s, Y, Q_ref, V_ref, by_Q, by_overlap, by_T)
    gradient[0] += R_ref * by_R
    gradient[2] = by_V
    gradient[5] = by_R
    pulls[0] /= V
    pulls[1] /= V * V
    # From derivatives of the hazard to those of ln H by the pre-activation and V, and from margins to x and u (eq. 38).
    e, cube = epsilon * gamma, V * deviation
    along_u = rest / noise
    bent, mean_4, mean_z3, mean_2V = 2.0 * by_Q, -all_4 / (V * V), all_z3 / cube, 0.5 * all_2V / (V * V)
    teacher_z2, teacher_3 = -along_u * teacher_z2 / V, along_u * teacher_3 / cube
    edge_3 *= root_V / cube
    hessian = _second_derivatives(
        b, bent, -all_zz / V, mean_z3, mean_4, -0.5 * all_zV / cube, mean_2V, -0.25 * all_VV / (V * V),
        -root_V * edge_b2 / V, -root_V * edge_z2 / V, edge_3, -0.5 * root_V * edge_1V / cube,
    )  # fmt: skip
    hessian[2, 0] = e * mean_z3 + teacher_z2
    hessian[2, 1] = b * (e * mean_4 + teacher_3) + e * edge_3 - along_u * root_V * both_2 / V
    hessian[2, 2] = bent + e * (e * mean_4 + teacher_3) - rho / rest * teacher_z2
    hessian[2, 3] = 0.5 * (e * mean_4 + teacher_3)
    hessian[2, 4] = e * mean_2V - 0.5 * along_u * teacher_1V / cube
    hessian[:, 2] = hessian[2]
    return value, gradient, pulls, hessian


@subroutine
def _second_derivatives(  # type: ignore[no-untyped-def]
    b, bent, mean_zz, mean_z3, mean_4, mean_zV, mean_2V, mean_VV, edge_x2, edge_z2, edge_3, edge_1V
):
    """Second derivatives by a, b, e, r, V without those by e, from means of (38) over all patterns and at margins."""
    hessian = np.zeros((5, 5))
    hessian[0, 0] = mean_zz
    hessian[0, 1] = b * mean_z3 + edge_z2
    hessian[0, 3] = 0.5 * mean_z3
    hessian[0, 4] = mean_zV
    hessian[1, 1] = bent + b * (b * mean_4 + edge_3) + edge_x2
    hessian[1, 3] = 0.5 * (b * mean_4 + edge_3)
    hessian[1, 4] = b * mean_2V + edge_1V
    hessian[3, 3] = 0.25 * mean_4
    hessian[3, 4] = 0.5 * mean_2V
    hessian[4, 4] = mean_VV
    for i in range(5):
        for j in range(i):
            hessian[i, j] = hessian[j, i]
    return hessian


@subroutine
def _bends(h, g):  # type: ignore[no-untyped-def]
    """First three derivatives of the hazard g at h. The last two only steer Newton's method: far out, to a per cent."""
    over = excess(h, g)
    bend = g * over
    if h < FAR:
        third = bend * (g + over) - g
        return bend, third, third * (g + over) + 2.0 * bend * (bend - 1.0)
    small = 1.0 / (h * h)
    return bend, (2.0 - 24.0 * small) * small / h, (120.0 * small - 6.0) * small * small


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


@kernel
def _soft_pair_energy(point, reference, margin, spacing):  # type: ignore[no-untyped-def]
    """As `_pair_energy`, for a reference without a teacher whose patterns weigh exp(-beta f_gamma).

    Source: docs/shaping/theory.md eqs. C.13 to C.15. The direction orthogonal to nu changes only W, the mean of the
    reference's weight, which is tabulated first: it is a function of one number.
    """
    s, X, V, Y, Z, _ = point
    Q_ref, V_ref, log_beta, gamma_ref = reference
    gradient, pulls, hessian = np.zeros(6), np.zeros(2), np.zeros((5, 5))
    shared = X - Z * Z / Q_ref - (Y - Z) ** 2 / V_ref
    below = min(shared - SMALLEST_SHARE * V, 0.0)
    if not (V > 0.0 and below > -LARGEST_EXCESS * V):
        return np.nan, gradient, pulls, hessian
    shared -= below
    root_Q, root_V = math.sqrt(Q_ref), math.sqrt(V_ref)
    a, b = s * root_Q + Z / root_Q, s * root_V + (Y - Z) / root_V
    deviation, radius = math.sqrt(V), math.sqrt(b * b + shared)
    cosine = b / radius
    blur, along = math.sqrt(shared) / radius * root_V, root_V * cosine
    cut = soft_cut(log_beta, gamma_ref)
    centre, scale, first, step, nodes = onset_grid(root_Q, root_V, log_beta, gamma_ref, spacing)
    size_ref = max(math.hypot(blur, 0.5 / gamma_ref), 1e-3 * deviation)
    z, weight_z = np.empty(nodes), np.empty(nodes)
    L_z, pull_z, mode_z, spread_z = np.empty(nodes), np.empty(nodes), np.empty(nodes), np.empty(nodes)
    low, high = math.inf, -math.inf
    for i in range(nodes):
        z[i], weight_z[i] = gaussian_node(centre, scale, first + step * i, step)
        found = boltzmann(root_Q * z[i], root_V, log_beta, gamma_ref, spacing / SOFT_SPACING)
        L_z[i], pull_z[i] = found[0], found[1]
        # The variance of x is 1 + V L''. That of nu follows.
        spread_z[i] = math.sqrt(1.0 + cosine * cosine * V_ref * found[2])
        mode_z[i] = cosine * soft_mode(root_Q * z[i], root_V, log_beta, gamma_ref)
        for end in (mode_z[i] - _SOFT_RANGE, mode_z[i] + _SOFT_RANGE):
            low, high = min(low, root_Q * z[i] + along * end), max(high, root_Q * z[i] + along * end)
    # The table: ln W, and its first two derivatives by t, at omega = cut + size_ref sinh t.
    first_t = math.asinh((low - cut) / size_ref) - 0.01
    span_t = math.asinh((high - cut) / size_ref) + 0.01 - first_t
    # Its error is of the sixth order, and proportional to beta, which is about gamma^-2 for blunt losses.
    rows = int(span_t / (_TABLE_SPACING * min(gamma_ref, 1.0) ** (1.0 / 3.0))) + 2
    step_t = span_t / (rows - 1)
    table = np.empty((rows, 3))
    for k in range(rows):
        t = first_t + step_t * k
        stretch, bent = size_ref * math.cosh(t) * step_t, size_ref * math.sinh(t) * step_t * step_t
        L, L1, L2, _, _, _, _, _, _ = boltzmann(
            cut + size_ref * math.sinh(t), blur, log_beta, gamma_ref, spacing / SOFT_SPACING
        )
        table[k, 0], table[k, 1], table[k, 2] = L, L1 * stretch, L2 * stretch * stretch + L1 * bent
    value = by_Q = by_V = by_overlap = by_T = 0.0
    all_zz = all_z3 = all_4 = all_zV = all_2V = all_VV = slope_2 = slope_z2 = slope_3 = slope_1V = 0.0
    width = deviation / radius
    for i in range(nodes):
        omega_0 = root_Q * z[i]
        start, end = mode_z[i] - _SOFT_RANGE, mode_z[i] + _SOFT_RANGE
        # Two features: the student's margin, and where the reference's loss sets in.
        kink, onset, width_ref = (margin - a * z[i]) / radius, (cut - omega_0) / along, size_ref / abs(along)
        # Beyond nine widths ln H is below 1e-18.
        end = max(min(end, kink + RANGE * width), start + 1e-3 * min(width, 1.0))
        middle, size, other, blunt = (
            (kink, width, onset, width_ref) if width < width_ref else (onset, width_ref, kink, width)
        )
        middle, size = min(max(middle, start - 10.0), end + 10.0), min(size, 10.0)
        gap = min(abs(other - middle), 2.0 * _SOFT_RANGE)
        step_nu = min(
            _FEATURE_SPACING,
            _FEATURE_SPACING * blunt / math.hypot(size, gap),
            _GAUSSIAN_SPACING * spread_z[i] / math.hypot(size, mode_z[i] - middle),
        )
        t_low = math.asinh((start - middle) / size)
        span = math.asinh((end - middle) / size) - t_low
        nodes_nu = int(span / step_nu) + 2
        step_nu = span / (nodes_nu - 1)
        for j in range(nodes_nu):
            grown = exp(t_low + step_nu * j)
            nu = middle + 0.5 * size * (grown - 1.0 / grown)
            omega = omega_0 + along * nu
            t = (math.asinh((omega - cut) / size_ref) - first_t) / step_t
            k = min(max(int(t), 0), rows - 2)
            L, slope, curved = quintic(t - k, table[k], table[k + 1])
            exponent = L - L_z[i] - 0.5 * nu * nu
            if not exponent > -700.0:
                continue
            p = weight_z[i] * 0.5 * size * step_nu * (grown + 1.0 / grown) * exp(exponent) * INVERSE_SQRT_2PI
            h = (margin - a * z[i] - radius * nu) / deviation
            g = hazard(h)
            bend, third, fourth = _bends(h, g)
            value += p * log_tail(h)
            by_Q -= 0.5 * p * bend
            by_V += 0.5 * p * g * h
            all_zz += p * z[i] * z[i] * bend
            all_z3 += p * z[i] * third
            all_4 += p * fourth
            all_zV += p * z[i] * (bend * h + g)
            all_2V += p * (third * h + 2.0 * bend)
            all_VV += p * (3.0 * g + bend * h) * h
            # W' / W and W'' / W.
            stretch = step_t * math.hypot(size_ref, omega - cut)
            slope /= stretch
            curved = curved / (stretch * stretch) + slope * slope - slope * (omega - cut) * (step_t / stretch) ** 2
            slope_2 += p * curved * bend
            slope_z2 += p * slope * z[i] * bend
            slope_3 += p * slope * third
            slope_1V += p * slope * (bend * h + g)
            by_overlap += p * g * slope
            by_T -= p * g * pull_z[i]
            pulls[0] += p * g * g
            pulls[1] += p * bend * bend
    by_Q, by_V, by_overlap, by_T = by_Q / V, by_V / V, by_overlap / deviation, by_T / deviation
    value += below * by_Q
    gradient[0], gradient[1], gradient[3], gradient[4] = pair_gradient(s, Y, Q_ref, V_ref, by_Q, by_overlap, by_T)
    gradient[2] = by_V
    pulls[0] /= V
    pulls[1] /= V * V
    cube = V * deviation
    edge_3 = root_V * slope_3 / cube
    hessian = _second_derivatives(
        b, 2.0 * by_Q, -all_zz / V, all_z3 / cube, -all_4 / (V * V), -0.5 * all_zV / cube, 0.5 * all_2V / (V * V),
        -0.25 * all_VV / (V * V), b * edge_3 - V_ref * slope_2 / V, -root_V * slope_z2 / V, edge_3,
        -0.5 * root_V * slope_1V / cube,
    )  # fmt: skip
    return value, gradient, pulls, hessian


@subroutine
def quintic(x, left, right):  # type: ignore[no-untyped-def]
    """The polynomial with given value, slope and second derivative at both ends of [0, 1], and its first derivatives.

    Args:
        x: in [0, 1].
        left: value, slope and second derivative at 0.
        right: the same at 1.

    Returns:
        Value, slope and second derivative.
    """
    f, f1, f2 = left[0], left[1], 0.5 * left[2]
    rise = right[0] - f - f1 - f2
    slope = right[1] - f1 - 2.0 * f2
    bend = right[2] - 2.0 * f2
    c3 = 10.0 * rise - 4.0 * slope + 0.5 * bend
    c4 = -15.0 * rise + 7.0 * slope - bend
    c5 = 6.0 * rise - 3.0 * slope + 0.5 * bend
    value = f + x * (f1 + x * (f2 + x * (c3 + x * (c4 + x * c5))))
    slope = f1 + x * (2.0 * f2 + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))
    return value, slope, 2.0 * f2 + x * (6.0 * c3 + x * (12.0 * c4 + x * 20.0 * c5))
