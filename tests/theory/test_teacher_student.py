"""The planted perceptron: Bayes line, written equations, enumeration with a teacher, limits, refusals."""

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.theory import (
    Perceptron,
    TeacherStudent,
    alpha_c,
    franz_parisi,
    generalization_errors,
    kappa_max,
    kappa_opt,
    typical,
)
from localentropy.theory.franz_parisi_entropy import FranzParisiCurve, curve_around
from localentropy.theory.pair_energy import PairEnergy
from localentropy.theory.patterns import pull
from localentropy.theory.typical_solutions import typical_point
from tests.enumeration import all_signs
from tests.finite_differences import five_point_slope, five_points, slope_at

Z, WEIGHT = np.polynomial.legendre.leggauss(400)
Z, WEIGHT = 10 * Z, 10 * WEIGHT * norm.pdf(10 * Z)
POINTS = [(0.1, 0.0), (1.0, 0.0), (1.2, 0.0), (0.5, 0.3), (1.0, 0.1), (0.01, 3.0), (0.3, 0.9), (1e-3, 0.0)]


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 0.5, 1.0, 1.2, 1.244])
def test_bayes_line(alpha):
    """Students of margin 0 and their teacher are exchangeable."""
    solution = typical(TeacherStudent(alpha))
    assert (solution.r, solution.r_hat) == pytest.approx((solution.q, solution.q_hat), rel=1e-9)
    assert 0 <= solution.residual < 1e-9


def test_overlap_solves_the_one_equation_that_the_bayes_line_leaves():
    solution = typical(TeacherStudent(1.0))
    ratio = math.sqrt(solution.q / (1 - solution.q))
    hazard = np.exp(norm.logpdf(ratio * Z) - log_ndtr(ratio * Z))
    q_hat = 2 / (1 - solution.q) * WEIGHT @ (ndtr(ratio * Z) * hazard**2)
    assert solution.q_hat == pytest.approx(q_hat, rel=1e-11)
    assert solution.q == pytest.approx(WEIGHT @ np.tanh(math.sqrt(solution.q_hat) * Z + solution.q_hat), rel=1e-11)


def test_typical_solutions_end_in_the_teacher():
    """alpha_IT: the one equation of the Bayes line has zero entropy there."""
    found = alpha_c(TeacherStudent())
    assert found == pytest.approx(1.2447, abs=5e-5)
    q_hat = typical(TeacherStudent(found)).q_hat
    for _ in range(200):
        h = math.sqrt(q_hat) * Z + q_hat
        q = WEIGHT @ np.tanh(h)
        ratio = math.sqrt(q / (1 - q))
        log_fraction = log_ndtr(ratio * Z)
        agree = 2 * WEIGHT * ndtr(ratio * Z)
        q_hat = found / (1 - q) * agree @ np.exp(2 * norm.logpdf(ratio * Z) - 2 * log_fraction)
    entropy = -0.5 * q_hat * (1 + q) + WEIGHT @ np.logaddexp(h, -h) + found * agree @ log_fraction
    assert entropy == pytest.approx(0, abs=1e-9)
    with pytest.raises(DomainError, match=r"alpha = 1.3 is above alpha_c = 1.24468\d+: .* but the teacher"):
        typical(TeacherStudent(1.3))


def by_iteration(alpha, margin):
    """Twin: q, r, q_hat, r_hat from few patterns by damped iteration of the saddle-point equations."""
    q, r = 1e-3, 1e-3
    q_hat = r_hat = 0.0
    for _ in range(20000):
        before = (q, r)
        h = (margin - math.sqrt(q) * Z) / math.sqrt(1 - q)
        hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
        q_hat = 2 * alpha / (1 - q) * WEIGHT @ (ndtr(r * Z / math.sqrt(q - r * r)) * hazard**2)
        # The teacher's field at zero leaves the common part the variance q - r^2.
        h = (margin - math.sqrt(q - r * r) * Z) / math.sqrt(1 - q)
        hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
        r_hat = alpha * math.sqrt(2 / math.pi / (1 - q)) * WEIGHT @ hazard
        field = np.tanh(math.sqrt(q_hat) * Z + r_hat)
        q, r = 0.5 * (q + WEIGHT @ field**2), 0.5 * (r + WEIGHT @ field)
        if abs(q - before[0]) + abs(r - before[1]) < 1e-14:
            break
    return q, r, q_hat, r_hat


@pytest.mark.parametrize(("alpha", "margin"), [(0.1, 0.05), (0.5, 0.3), (1.0, 0.1), (0.01, 3.0), (0.3, 0.9)])
def test_order_parameters_are_those_of_plain_iteration(alpha, margin):
    solution = typical(TeacherStudent(alpha, margin))
    found = (solution.q, solution.r, solution.q_hat, solution.r_hat)
    assert found == pytest.approx(by_iteration(alpha, margin), rel=1e-8)


@pytest.mark.parametrize(("alpha", "margin"), POINTS)
def test_entropy_is_the_written_one_and_stationary(alpha, margin):
    solution = typical(TeacherStudent(alpha, margin))

    def entropy(q, r, q_hat, r_hat):
        h = math.sqrt(q_hat) * Z + r_hat
        fraction = log_ndtr((math.sqrt(q) * Z - margin) / math.sqrt(1 - q))
        patterns = 2 * WEIGHT @ (ndtr(r * Z / math.sqrt(q - r * r)) * fraction)
        return -0.5 * q_hat * (1 - q) - r_hat * r + WEIGHT @ np.logaddexp(h, -h) + alpha * patterns

    x = np.array([solution.q, solution.r, solution.q_hat, solution.r_hat])
    assert solution.entropy == pytest.approx(entropy(*x), abs=1e-13)
    for index in range(4):
        step = 1e-3 * min(x[index], x[0] - x[1] ** 2, 1 - x[0])
        assert abs(slope_at(lambda x: entropy(*x), x, step, index)) < 1e-8 + 1e-15 / step


def test_without_labels_that_tell_anything_it_is_the_perceptron():
    """A few patterns of large margin: the teacher's sign hardly matters to them."""
    planted, storing = typical(TeacherStudent(1e-6, 8.0)), typical(Perceptron(1e-6, 8.0))
    assert planted.entropy == pytest.approx(storing.entropy, abs=1e-8)
    assert planted.r**2 < 1e-3 * planted.q


def test_a_very_negative_margin_leaves_nearly_all_weights():
    """At first order in the pull g of the patterns: r = sqrt(2 / pi) g and q = g^2 + r^2."""
    x = TeacherStudent(1.0, -3.5)
    point, g = typical_point(x), pull(-3.5, 1.0)
    found = x.values(point.coordinates)
    assert point.value == pytest.approx(math.log(2) + log_ndtr(3.5), abs=1e-6)
    assert found.r == pytest.approx(math.sqrt(2 / math.pi) * g, rel=1e-5)
    assert found.q == pytest.approx((1 + 2 / math.pi) * g**2, rel=5e-3)


CURVES = [
    # alpha, margin_ref, margin, distances
    (0.8, "max", 0.0, (0.01, 0.1, 0.3)),
    (0.8, 0.0, 0.0, (0.01, 0.15, 0.4)),
    (0.4, 0.5, 0.2, (0.005, 0.2)),
    (1.15, "max", 0.0, (0.03, 0.2)),
]


@lru_cache
def curve_of(alpha, margin_ref, margin) -> FranzParisiCurve:
    return curve_around(TeacherStudent(alpha, margin), margin_ref)


def parameters(curve, distance):
    """q, t, r, q_hat, t_hat, r_hat, S_hat at a point of a curve."""
    y, ref = curve.point(math.log(distance)).coordinates, curve.reference.x
    S, spread = 1 - 2 * distance, 4 * distance * (1 - distance)
    return np.array([
        1 - spread * math.exp(y[3]), S * ref.q + spread * y[4], S * ref.r + spread * y[6],
        math.expm1(y[0]) + y[1] ** 2 / ref.q_hat, y[1], y[5], y[1] + y[2] + math.atanh(S),
    ])  # fmt: skip


def written(curve, distance, parameters, energy):
    """phi_FP in all parameters: sites with the teacher all +1, the reference of either sign."""
    q, t, r, q_hat, t_hat, r_hat, S_hat = parameters
    S, ref = 1 - 2 * distance, curve.reference.x
    x = Z[:, None]
    h_ref = math.sqrt(ref.q_hat) * x + ref.r_hat
    common = t_hat / math.sqrt(ref.q_hat) * x + math.sqrt(q_hat - t_hat**2 / ref.q_hat) * Z + r_hat
    site = 0.0
    for sign in (1, -1):
        h = common + (S_hat - t_hat) * sign
        site += WEIGHT @ (np.logaddexp(h, -h) / (1 + np.exp(-2 * sign * h_ref))) @ WEIGHT
    # Covariances of u = w - S w_ref.
    fields = np.array([S, q - S * S, 1 - q, 0.0, t - S * ref.q, r - S * ref.r])
    patterns = energy.reference.pair_energy(curve.student.margin, fields, energy.nodes).value
    return -0.5 * q_hat * (1 - q) - S_hat * S + t_hat * t - r_hat * r + site + curve.student.alpha * patterns


@pytest.mark.parametrize("case", CURVES)
def test_curve_is_the_written_free_entropy_and_stationary(case):
    curve = curve_of(*case[:3])
    energy = PairEnergy(curve.reference.covariances, (72, 96, 44))
    for distance in case[3]:
        x, ref = parameters(curve, distance), curve.reference.x
        assert written(curve, distance, x, energy) == pytest.approx(curve.at(distance).entropy, abs=1e-9)
        q, t = x[:2]
        room = min(1 - q, q - t * t / ref.q - (1 - 2 * distance - t) ** 2 / ref.v, x[3] - x[4] ** 2 / ref.q_hat)
        for index in range(7):
            moved = five_points(x, 1e-2 * room, index)
            change = five_point_slope([written(curve, distance, place, energy) for place in moved], 1.0)
            assert abs(change) < 1e-6 * 1e-2 * room + 1e-14


@pytest.mark.parametrize("case", CURVES)
def test_slope_is_the_derivative_and_the_maximum_counts_all_solutions(case):
    curve = curve_of(*case[:3])
    for distance in case[3]:
        slope = slope_at(lambda distance: curve.at(distance).entropy, distance, 1e-3 * distance)
        assert curve.at(distance).slope == pytest.approx(slope, abs=1e-6)
    top = curve.at(curve.typical_distance)
    assert top.entropy == pytest.approx(typical_point(curve.student).value, abs=1e-8)
    assert top.slope == pytest.approx(0, abs=1e-7)


def test_largest_margin_and_largest_load_are_inverse_functions():
    for alpha in (0.01, 0.3, 1.0, 1.24):
        margin = kappa_max(TeacherStudent(alpha))
        assert alpha_c(TeacherStudent(margin=margin)) == pytest.approx(alpha, rel=1e-10)
        assert typical(TeacherStudent(alpha, margin)).entropy == pytest.approx(0, abs=1e-12)


def planted_samples(N, alpha, margin_ref, count, seed):
    """ln Z / N, and ln of the fraction of configurations at d = 1/4 from a reference that are solutions."""
    configurations, P = all_signs(N), round(alpha * N)
    code = (1 << np.arange(N))[::-1]
    at_quarter = configurations[configurations.sum(axis=1) == N // 2]
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        patterns = rng.normal(size=(P, N))
        # The teacher is +1 everywhere.
        patterns *= np.sign(patterns.sum(axis=1))[:, None]
        allowed = (configurations @ (patterns / math.sqrt(N)).T).min(axis=1)
        references = configurations[allowed >= margin_ref]
        near: float = math.nan
        if len(references):
            chosen = references[rng.integers(len(references))] * at_quarter
            near = np.mean(allowed[(chosen > 0) @ code] >= 0) or math.nan
        rows.append((np.count_nonzero(allowed >= 0), near))
    return np.log(np.array(rows)) / N


@pytest.mark.parametrize(
    ("N", "margin_ref", "count"),
    [(12, 0.0, 1500), pytest.param(16, 0.1, 600, marks=pytest.mark.slow)],
)
def test_equals_exact_enumeration_with_a_planted_teacher(N, margin_ref, count):
    samples = planted_samples(N, 0.5, margin_ref, count, 13)
    found = np.isfinite(samples).sum(axis=0)
    assert (found > 0.99 * count).all()
    beside = franz_parisi(TeacherStudent(0.5), 0.25, margin_ref).entropy[0]
    expected = (typical(TeacherStudent(0.5)).entropy, beside + 0.25 * math.log(0.25) + 0.75 * math.log(0.75))
    z = (np.nanmean(samples, axis=0) - expected) / (np.nanstd(samples, axis=0) / np.sqrt(found))
    assert (np.abs(z) < 3).all(), z


@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_no_margin_helps_who_sees_the_inputs_of_the_teacher(alpha):
    """The barycentre of all solutions is the best guess: the error rises with the square of the margin."""
    errors = [generalization_errors(TeacherStudent(alpha, margin)).barycenter for margin in (0.0, 0.005, 0.01)]
    assert errors[0] < errors[1] and (errors[2] - errors[0]) / (errors[1] - errors[0]) == pytest.approx(4.0, rel=0.02)
    with pytest.raises(DomainError, match="kappa_opt is not computed for TeacherStudent; allowed are RandomFeatures"):
        kappa_opt(TeacherStudent(alpha))
