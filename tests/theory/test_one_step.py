"""The replicon and one step of replica-symmetry breaking: the paper's free entropy on grids, limits, other models."""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import norm

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.jets import variables
from localentropy.numerics.saddle_point import evaluate, solve
from localentropy.theory import (
    Perceptron,
    RandomFeatures,
    TeacherStudent,
    TreeCommittee,
    franz_parisi,
    franz_parisi_one_step,
    one_step,
    replicon,
    typical,
)
from localentropy.theory.franz_parisi_entropy import curve_around
from localentropy.theory.one_step import BLOCK, SPACING, OneStep
from localentropy.theory.pair_energy import Reference
from localentropy.theory.sites import binary_pair_softness
from tests.finite_differences import slope_at, slopes_of_jet


def gaussian(nodes, reach=9.0):
    """Nodes and weights of a Gaussian average."""
    t, weight = np.polynomial.legendre.leggauss(nodes)
    return reach * t, reach * weight * norm.pdf(reach * t)


HERMITE, HERMITE_WEIGHT = np.polynomial.hermite_e.hermegauss(24)
HERMITE_WEIGHT = HERMITE_WEIGHT / math.sqrt(2 * math.pi)


def site_term(q_hat_ref, t_hat, field, q1_hat, q0_hat, block):
    """Twin: G_S of `margins`, supplement II.2, as it is written; field is p_hat - t_hat."""
    (x, w_x), (y, w_y) = gaussian(200), gaussian(200)
    w_x = w_x * (1 + np.tanh(math.sqrt(q_hat_ref) * x))
    h = t_hat / math.sqrt(q_hat_ref) * x[:, None] + math.sqrt(q0_hat - t_hat**2 / q_hat_ref) * y + field
    h = h[..., None] + math.sqrt(q1_hat - q0_hat) * HERMITE
    return w_x @ logsumexp(block * np.logaddexp(h, -h), axis=-1, b=HERMITE_WEIGHT) @ w_y / block


def pattern_term(ref: Reference, margin, S, T, Q1, Q0, block):
    """Twin: G_E of `margins`, supplement II.2, as it is written, with the covariances of the pre-activations."""
    (x, w_x), (y, w_y) = gaussian(70), gaussian(30, 7.0)
    bound = (ref.margin - math.sqrt(ref.common) * x) / math.sqrt(ref.free)
    t, weight = np.polynomial.legendre.leggauss(70)
    start = np.maximum(bound, -9.0)
    length = np.sqrt(np.maximum(start, 0.0) ** 2 + 81.0) - start
    eta = start[:, None] + length[:, None] * 0.5 * (t + 1)
    w_eta = np.exp(norm.logpdf(eta) - log_ndtr(-bound)[:, None]) * length[:, None] * 0.5 * weight
    c_1 = (S - T) / math.sqrt(ref.free)
    c_2 = math.sqrt(Q0 - T * T / ref.common - c_1 * c_1)
    h = (margin - T / math.sqrt(ref.common) * x[:, None] - c_1 * eta)[..., None] - c_2 * y
    inner = 0.0
    for z, w_z in zip(HERMITE, HERMITE_WEIGHT, strict=True):
        inner = inner + w_z * np.exp(block * log_ndtr((math.sqrt(Q1 - Q0) * z - h) / math.sqrt(1 - Q1)))
    return np.einsum("x,xe,xey,y->", w_x, w_eta, np.log(inner), w_y) / block


def second_derivative_at_the_edge(function, step):
    """Of a function that exists on one side of 0 only."""
    values = [function(n * step) for n in range(6)]
    return float(np.dot([15 / 4, -77 / 6, 107 / 6, -13, 61 / 12, -5 / 6], values)) / step**2


@lru_cache
def symmetric_point(model, alpha, margin_ref, margin, distance):
    """The student, the reference, the order parameters of the replica-symmetric solution, and its replicon."""
    committee = model != "perceptron"
    student = TreeCommittee(alpha, margin, model) if committee else Perceptron(alpha, margin)
    return order_parameters(curve_around(student, margin_ref), distance)


def order_parameters(curve, distance):
    log_distance = math.log(distance)
    jets = variables(np.append(curve.point(log_distance).coordinates, log_distance))
    x = curve.problem(log_distance).pair(jets[:-1], jets[-1:])
    return curve.student, curve.reference, x, curve.at(distance).replicon


@pytest.mark.parametrize(
    ("point", "block"),
    [
        (("perceptron", 0.5, 0.2, 0.0, 0.05), 0.4),
        (("perceptron", 0.5, 0.3, 0.1, 0.15), 0.9),
        (("perceptron", 0.8, "max", 0.0, 0.005), 0.7),
        (("relu", 0.7, 0.1, 0.0, 0.1), 0.4),
        (("sign", 0.5, 0.3, 0.0, 0.1), 0.8),
    ],
)
def test_replicon_is_where_blocks_split_off(point, block):
    """The 1RSB free entropy next to q1 = q0: its Hessian by a splitting of overlaps and of conjugates is singular at 1.

    Overlaps move by m in a block and by m - 1 between blocks: no replica's sum over the others changes.
    """
    student, reference, x, replicon = symmetric_point(*point)
    v, t_hat = x.v.value, x.t_hat.value
    q_hat = x.free.value + t_hat**2 / reference.x.q_hat
    S, T = x.s.value, x.tau.value + x.s.value * reference.x.q

    def covariance(q):
        return q if point[0] == "perceptron" else student.units.covariance(variables([q])[0]).value

    def weights(step):
        split = (q_hat + block * step, q_hat - (1 - block) * step)
        return site_term(reference.x.q_hat, t_hat, x.field.value, *split, block)

    def patterns(step):
        split = (covariance(1 - v + block * step), covariance(1 - v - (1 - block) * step))
        return pattern_term(reference.covariances, student.margin, covariance(S), covariance(T), *split, block)

    by_conjugates = second_derivative_at_the_edge(weights, 0.02 * q_hat)
    by_overlaps = student.alpha * second_derivative_at_the_edge(patterns, 0.02 * min(v, x.chi.value))
    # Of ((1 - m) q1 q1_hat + m q0 q0_hat) / 2.
    mixed = 0.5 * block * (1 - block)
    assert replicon == pytest.approx(by_conjugates * by_overlaps / mixed**2, rel=1e-3)


@pytest.mark.parametrize(
    ("alpha_T", "inv_alpha", "margin_ref", "distance", "activation"),
    [(3.0, 1.2, 0.1, 0.05, "sign"), (8.0, 2.0, 0.2, 0.3, "tanh"), (0.5, 3.0, 0.3, 0.1, "erf")],
)
def test_replicon_of_random_features_by_matrices_of_overlaps(alpha_T, inv_alpha, margin_ref, distance, activation):
    """Six students in three blocks and two references: the projections' overlaps split together with the weights'."""
    curve = curve_around(RandomFeatures(alpha_T, inv_alpha, 0.0, activation), margin_ref)
    student, reference, x, replicon = order_parameters(curve, distance)
    ref, u, S = reference.x, x.latent, x.s.value
    v, p_r = x.v.value, ref.c + ref.r**2
    delta, delta_r = v * math.exp(u.log_narrowing.value), ref.delta
    P_S, P_t, r = (part.value + S * own for part, own in ((u.sigma, p_r + delta_r), (u.tau, p_r), (u.rho, ref.r)))
    p = u.c.value + 2 * S * P_S - S * S * (p_r + delta_r)
    ones, zeros = np.ones((6, 6)), np.zeros((9, 9))

    def overlaps(q, own, S, t, q_r, own_r, r, r_r):
        """Of six students, the reference of all, another reference, and the teacher."""
        matrix = zeros.copy()
        matrix[:6, :6] = q * ones + own * np.eye(6)
        matrix[6:, :6] = np.array([S, t, r])[:, None]
        matrix[6:, 6:] = [[q_r + own_r, q_r, r_r], [q_r, q_r + own_r, r_r], [r_r, r_r, 1.0]]
        return np.tril(matrix) + np.tril(matrix, -1).T

    Q = overlaps(1 - v, v, S, x.tau.value + S * ref.q, ref.q, ref.v, 0.0, 0.0)
    P = overlaps(p, delta, P_S, P_t, p_r, delta_r, r, ref.r)
    split = zeros.copy()
    split[:6, :6] = np.kron(np.eye(3), 4 * np.array([[0, 1], [1, 0]])) - (ones - np.kron(np.eye(3), np.ones((2, 2))))
    assert np.all(split.sum(axis=0) == 0)

    def latent(a, b):
        """Minus the relative entropy of Gaussians with these covariances, per weight."""
        A, B = Q + a * split, P + b * split
        gap = np.linalg.slogdet(B)[1] - np.linalg.slogdet(A)[1] - np.trace(np.linalg.solve(A, B)) + 9
        return 0.5 * student.alpha / student.alpha_T * gap

    h, norm_of_split = 1e-3 * min(v, delta) / 4, np.sum(split**2) / 4
    grid = np.array([[latent(a * h, b * h) for b in (-1, 0, 1)] for a in (-1, 0, 1)]) / (norm_of_split * h * h)
    # Halves of second derivatives, in the unit in which an energetic term has its mean square.
    by_q, by_p = 0.5 * (grid[0, 1] + grid[2, 1]) - grid[1, 1], 0.5 * (grid[1, 0] + grid[1, 2]) - grid[1, 1]
    both = (grid[0, 0] + grid[2, 2] - grid[0, 2] - grid[2, 0]) / 8
    square, noise = student.moments.mu_1**2, student.moments.mu_star_squared
    bent = student.alpha * curve.energy.pulls(student.margin, student.pair_covariances(x, ref))[1]
    by_q, by_p, both = by_q + bent * noise**2, by_p + bent * square**2, both + bent * noise * square
    assert by_p < 0
    softness = binary_pair_softness(x.free, x.t_hat, x.field, 0.0, ref.q_hat)
    assert replicon == pytest.approx(softness * (by_q - both**2 / by_p), rel=1e-5)


def test_replicon_of_random_features_without_latent_space_is_that_of_a_perceptron():
    """alpha_T -> 0: the labels tell nothing, and differences are of the first order in alpha_T."""
    distances = [0.02, 0.1, 0.25]
    storing = franz_parisi(Perceptron(0.5), distances, 0.1).replicon
    far, near = (
        franz_parisi(RandomFeatures(alpha_T, 2.0), distances, 0.1).replicon - storing for alpha_T in (1e-2, 1e-3)
    )
    np.testing.assert_allclose(near, 0.1 * far, rtol=0.1)
    np.testing.assert_allclose(near, 0.0, atol=1e-3)


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_replicon_at_the_typical_distance_is_that_of_typical_solutions(margin):
    """Students of the reference's margin that do not feel it (`margins`, supplement I: de Almeida–Thouless line)."""
    around = typical(Perceptron(0.5, margin))
    z, weight = gaussian(400)
    h = (margin - math.sqrt(around.q) * z) / math.sqrt(1 - around.q)
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    bent = 0.5 * weight @ (hazard * (hazard - h)) ** 2 / (1 - around.q) ** 2
    expected = bent * (weight @ np.cosh(math.sqrt(around.q_hat) * z) ** -4.0)
    found = franz_parisi(Perceptron(0.5, margin), (1 - around.q) / 2, margin).replicon[0]
    assert found == pytest.approx(expected, rel=1e-7)
    assert replicon(Perceptron(0.5, margin)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("margin_ref", "margin"), [(0.1, 0.1), (0.2, 0.0)])
def test_replicon_of_a_planted_perceptron_at_the_typical_distance(margin_ref, margin):
    """The same with a teacher: the measure of docs/margins/theory.md eq. 36."""
    around = typical(TeacherStudent(0.6, margin))
    z, weight = gaussian(400)
    h = (margin - math.sqrt(around.q) * z) / math.sqrt(1 - around.q)
    agree = 2 * ndtr(around.r * z / math.sqrt(around.q - around.r**2))
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    bent = 0.6 * weight @ (agree * (hazard * (hazard - h)) ** 2) / (1 - around.q) ** 2
    expected = bent * (weight @ np.cosh(math.sqrt(around.q_hat) * z + around.r_hat) ** -4.0)
    distance = franz_parisi(TeacherStudent(0.6, margin), 0.1, margin_ref).attrs["typical_distance"]
    found = franz_parisi(TeacherStudent(0.6, margin), distance, margin_ref).replicon[0]
    assert (found, replicon(TeacherStudent(0.6, margin))) == pytest.approx((expected, expected), rel=1e-6)


@pytest.mark.parametrize("case", [(3.0, 2.0, 0.1), (1.0, 1.2, 0.0)])
def test_replicon_of_typical_random_features_is_the_written_one(case):
    """docs/overparam/theory.md eq. 35, with the measure of a typical solution's stabilities."""
    alpha_T, inv_alpha, margin = case
    around, linear, noise = typical(RandomFeatures(*case)), 2 / math.pi, 1 - 2 / math.pi
    v, delta = 1 - around.q, around.p_d - around.p
    common, free, taught = (
        linear * around.p + noise * around.q,
        linear * delta + noise * v,
        math.sqrt(linear) * around.r,
    )
    z, weight = gaussian(400)
    h = (margin - math.sqrt(common) * z) / math.sqrt(free)
    agree = 2 * ndtr(taught * z / math.sqrt(common - taught**2))
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    bent = weight @ (agree * (hazard * (hazard - h)) ** 2) / free**2
    narrow = delta / v
    stiffness = (narrow - 1) ** 2 / (alpha_T * v**2)
    stiffness += bent * (noise + linear * narrow**2) ** 2 / (1 - alpha_T * bent * (linear * delta) ** 2)
    softness = weight @ np.cosh(math.sqrt(around.q_hat) * z) ** -4.0
    assert replicon(RandomFeatures(*case)) == pytest.approx(softness * stiffness / inv_alpha, rel=1e-6)


def test_stability_along_the_curves_around_largest_margins():
    """`margins`, supplement II: stable up to α = 0.75; at 0.8 not at small distances, where the entropy is negative."""
    distances = np.geomspace(1e-4, 0.3, 20)
    for alpha in (0.5, 0.71, 0.75):
        assert franz_parisi(Perceptron(alpha), distances).replicon.max() < 1
    beyond = franz_parisi(Perceptron(0.8), [1e-3, 5e-3, 0.0095, 0.0105, 0.05])
    assert (beyond.replicon > 1).tolist() == [True, True, True, False, False]
    assert (beyond.entropy[:3] < 0).all()


def test_replicon_keeps_its_digits_at_small_distances():
    """Next to random flips of a reference of the same margin, lambda = alpha P(0+) 2 sqrt(d) int_{h < 0} G'(h)^2."""
    around = typical(Perceptron(0.5))
    z, weight = gaussian(400)
    h = -math.sqrt(around.q / (1 - around.q)) * z
    edge = weight @ np.exp(norm.logpdf(h) - log_ndtr(-h)) / math.sqrt(1 - around.q)
    t, w = np.polynomial.legendre.leggauss(100)
    h = -5 * (t + 1)
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    law = 0.5 * edge * 2 * 5 * w @ (hazard * (hazard - h)) ** 2
    curve = curve_around(Perceptron(0.5, 0.0), 0.0)
    for distance in (1e-8, 1e-12):
        flips = curve.problem(math.log(distance)).replicon(np.zeros(5))
        assert flips == pytest.approx(law * math.sqrt(distance), rel=2 * math.sqrt(distance))


@lru_cache
def broken(model, alpha, margin_ref, distance, block):
    """The 1RSB free entropy of a model at a distance, with coordinates near its replica-symmetric solution."""
    student = Perceptron(alpha) if model == "perceptron" else TreeCommittee(alpha, 0.0, model)
    curve = curve_around(student, margin_ref)
    log_distance = math.log(distance)
    y = np.append(curve.point(log_distance).coordinates, [math.log(0.3), -0.5, math.log(block)])
    return curve, OneStep(student, curve.reference, log_distance), y, curve.point(log_distance).value


def free_entropy(problem, y):
    """With its derivatives by coordinates and controls."""
    free = evaluate(problem, y, problem.controls())
    assert free is not None
    return free


def twin(curve, problem, y):
    """Twin: phi_FP of docs/margins/theory.md eqs. 25-27, in the order parameters of the paper."""
    d, ref = math.exp(problem.log_distance), curve.reference
    S, spread = 1 - 2 * d, 4 * d * (1 - d)
    t_hat, field = y[1], y[2] + math.atanh(S)
    q0_hat = math.expm1(y[0]) + t_hat**2 / ref.x.q_hat
    q1_hat, block = q0_hat + math.exp(y[5]), math.exp(y[7])
    w = spread * math.exp(y[3])
    q0, q1, t = 1 - w, 1 - w / (1 + math.exp(y[6])), spread * y[4] + S * ref.x.q
    S_hat = field + t_hat

    def covariance(q):
        return q if isinstance(curve.student, Perceptron) else curve.student.units.covariance(variables([q])[0]).value

    S_Q, T_Q, Q1, Q0 = (covariance(q) for q in (S, t, q1, q0))
    patterns = pattern_term(ref.covariances, 0.0, S_Q, T_Q, Q1, Q0, block)
    weights = site_term(ref.x.q_hat, t_hat, field, q1_hat, q0_hat, block)
    linear = -0.5 * q1_hat * (1 - (1 - block) * q1) + 0.5 * block * q0_hat * q0 - S * S_hat + t * t_hat
    return linear + weights + curve.student.alpha * patterns


@pytest.mark.parametrize(
    ("model", "alpha", "margin_ref", "distance", "block"),
    [("perceptron", 0.8, "max", 0.02, 0.4), ("perceptron", 0.5, 0.1, 0.1, 0.8), ("relu", 0.7, 0.1, 0.1, 0.6),
     ("sign", 0.5, 0.3, 0.05, 0.3)],
)  # fmt: skip
def test_free_entropy_of_blocks_is_that_of_the_paper(model, alpha, margin_ref, distance, block):
    curve, problem, y, _ = broken(model, alpha, margin_ref, distance, block)
    y = y.copy()
    y[6] = math.log(0.2 * min(1.0, math.exp(-y[3]) - 1.0))
    assert free_entropy(problem, y).value == pytest.approx(twin(curve, problem, y), abs=1e-9)


@pytest.mark.parametrize("model", ["perceptron", "relu", "sign"])
def test_gradient_of_blocks_by_finite_differences(model):
    """The saddle-point equations; second derivatives, which steer the solver, to what differences give."""
    _, problem, y, _ = broken(model, 0.6, 0.15, 0.1, 0.5)
    here = free_entropy(problem, y)
    for index in range(8):
        slope, rows = slopes_of_jet(lambda y: free_entropy(problem, y), y, 1e-3, index)
        assert here.gradient[index] == pytest.approx(slope, rel=1e-6, abs=1e-9)
        np.testing.assert_allclose(here.hessian[index], rows, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("model", ["perceptron", "relu", "sign"])
@pytest.mark.parametrize("block", [0.05, 0.6, 1.0])
def test_without_splitting_the_size_of_blocks_does_not_count(model, block):
    _, problem, y, symmetric = broken(model, 0.6, 0.15, 0.1, 0.5)
    y = y.copy()
    y[5:] = -60.0, -60.0, math.log(block)
    free = free_entropy(problem, y)
    assert free.value == pytest.approx(symmetric, abs=1e-11)
    np.testing.assert_allclose(free.gradient[:8], 0.0, atol=1e-9)


@pytest.mark.parametrize("model", ["perceptron", "relu", "sign"])
@pytest.mark.parametrize(("log_split_hat", "log_split"), [(-1.0, 0.5), (1.5, -1.0)])
def test_in_blocks_of_one_replica_the_overlap_does_not_count(model, log_split_hat, log_split):
    """m = 1: phi_FP depends on q0 alone, whatever q1 and its conjugate are."""
    _, problem, y, symmetric = broken(model, 0.6, 0.15, 0.1, 0.5)
    y = y.copy()
    y[5:] = log_split_hat, log_split, 0.0
    free = free_entropy(problem, y)
    assert free.value == pytest.approx(symmetric, abs=1e-11)
    np.testing.assert_allclose(free.gradient[:7], 0.0, atol=1e-9)


@pytest.mark.parametrize("split", [-2.0, 1.0])
def test_finer_nodes_change_nothing(split):
    _, problem, y, _ = broken("perceptron", 0.8, "max", 0.005, 0.3)
    y = y.copy()
    y[6] = split
    fine = replace(problem, spacing=SPACING / 2)
    one, two = (free_entropy(each, y) for each in (problem, fine))
    assert one.value == pytest.approx(two.value, abs=1e-11)
    np.testing.assert_allclose(one.gradient, two.gradient, atol=1e-10)


def test_students_split_where_the_replicon_is_above_one():
    """alpha = 0.8, largest margin: solutions with q1 > q0 for small blocks, below the replica-symmetric entropy."""
    found = franz_parisi_one_step(Perceptron(0.8), [0.002, 0.005, 0.0095, 0.0105, 0.05], block=0.2)
    assert (found.q1 > found.q0).tolist() == (found.replicon > 1).tolist() == [True, True, True, False, False]
    assert (found.entropy < found.entropy_rs).tolist() == [True, True, True, False, False]
    assert (found.residual < 1e-9).all()
    np.testing.assert_allclose(found.entropy_rs, franz_parisi(Perceptron(0.8), found.distance).entropy, atol=1e-11)
    # The splitting begins at a replicon of 1.
    splits = (found.q1 - found.q0) / (1 - found.q1)
    assert splits[2] < 0.1 < splits[1] < splits[0]


def test_a_solution_with_blocks_solves_the_papers_equations_from_several_starts():
    """docs/margins/theory.md eq. 28 as differences of eq. 25; Newton's method goes there from other splittings."""
    curve, problem, y, _ = broken("perceptron", 0.8, "max", 0.005, 0.3)
    row = franz_parisi_one_step(Perceptron(0.8), 0.005, block=0.3).iloc[0]
    held = replace(problem, held={BLOCK: math.log(0.3)})
    w = 4 * 0.005 * 0.995 * np.exp(y[3])
    starts = []
    for log_split, log_split_hat in ((-0.3, 0.0), (-0.8, 0.0), (-0.8, -0.3)):
        start = np.concatenate([y[:5], [log_split_hat, log_split]])
        start[3] += math.log((1 - row.q0) / w)
        starts.append(solve(held, start).coordinates)
    for found in starts:
        w = 4 * 0.005 * 0.995 * math.exp(found[3])
        assert (1 - w, 1 - w / (1 + math.exp(found[6]))) == pytest.approx((row.q0, row.q1), abs=1e-9)
    solution = np.append(starts[0], math.log(0.3))
    for index in range(7):
        assert slope_at(lambda y: twin(curve, problem, y), solution, 1e-2, index) == pytest.approx(0, abs=2e-6)


@pytest.mark.parametrize("block", [0.3, 0.8, None])
def test_students_come_back_together_where_the_replicon_is_below_one(block):
    """`margins`, supplement II.2: q1 = q0 wherever it was searched; here at more loads, margins and distances."""
    for alpha, margin_ref, distances in ((0.5, 0.2, [0.05]), (0.72, "max", [1e-4, 1e-3, 0.01, 0.1])):
        found = franz_parisi_one_step(Perceptron(alpha), distances, margin_ref, block=block)
        assert (found.replicon < 1).all()
        assert found.q1.tolist() == found.q0.tolist()
        assert found.entropy.tolist() == found.entropy_rs.tolist()


def test_no_size_of_blocks_is_stationary_where_the_entropy_is_negative():
    """alpha = 0.8, d = 0.005: the entropy falls with m, up to the largest m that has a solution, 0.3127."""
    rows = [franz_parisi_one_step(Perceptron(0.8), 0.005, block=block).iloc[0] for block in (0.05, 0.1, 0.2, 0.3, 0.35)]
    entropies = [row.entropy for row in rows]
    assert entropies[:4] == sorted(entropies[:4], reverse=True)
    assert [row.q1 > row.q0 for row in rows] == [True] * 4 + [False]
    free = franz_parisi_one_step(Perceptron(0.8), 0.005).iloc[0]
    assert math.isnan(free.block)
    assert free.q1 == free.q0
    assert free.entropy < 0


@pytest.mark.parametrize("block", [0.0, -0.1, 1.1, math.nan, "half"])
def test_a_size_of_blocks_that_is_none_is_refused(block):
    with pytest.raises(DomainError, match="block"):
        franz_parisi_one_step(Perceptron(0.5), 0.1, block=block)


def test_committees_have_blocks_too():
    found = franz_parisi_one_step(TreeCommittee(0.5, activation="sign"), [0.01, 0.1], 0.3, block=0.5)
    assert found.q1.tolist() == found.q0.tolist()
    expected = franz_parisi(TreeCommittee(0.5, activation="sign"), [0.01, 0.1], 0.3).entropy
    assert found.entropy.tolist() == pytest.approx(expected.tolist(), abs=1e-11)


def test_distances_without_a_solution_may_be_left_open(monkeypatch):
    solved = one_step.broken_point

    def near_only(curve, distance, block):
        if distance > 0.1:
            raise ConvergenceError("saddle point", {"distance": distance}, 0.5)
        return solved(curve, distance, block)

    monkeypatch.setattr(one_step, "broken_point", near_only)
    with pytest.raises(ConvergenceError):
        franz_parisi_one_step(Perceptron(0.5), [0.2, 0.05], block=0.5)
    found = franz_parisi_one_step(Perceptron(0.5), [0.2, 0.05], block=0.5, unsolved="nan")
    assert found.distance.tolist() == [0.2, 0.05]
    assert found.entropy.isna().tolist() == [True, False]
    assert found.residual[0] == 0.5
