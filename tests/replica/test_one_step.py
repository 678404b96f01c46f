"""The replicon and one step of replica-symmetry breaking: the paper's free entropy on grids, limits, other models."""

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import norm

from localentropy.numerics.jets import variables
from localentropy.replica import perceptron, teacher_student, tree_committee
from localentropy.replica import random_features as rf
from localentropy.replica.franz_parisi import curve_around
from localentropy.replica.pair_energy import Reference
from localentropy.replica.sites import binary_pair_softness


def gaussian(nodes, reach=9.0):
    """Nodes and weights of a Gaussian average."""
    t, weight = np.polynomial.legendre.leggauss(nodes)
    return reach * t, reach * weight * norm.pdf(reach * t)


HERMITE, HERMITE_WEIGHT = np.polynomial.hermite_e.hermegauss(24)
HERMITE_WEIGHT = HERMITE_WEIGHT / math.sqrt(2 * math.pi)


def site_term(q_hat_ref, t_hat, field, q1_hat, q0_hat, block):
    """Twin: G_S of `margins`, SM II.2, as it is written; field is p_hat - t_hat."""
    (x, w_x), (y, w_y) = gaussian(200), gaussian(200)
    w_x = w_x * (1 + np.tanh(math.sqrt(q_hat_ref) * x))
    h = t_hat / math.sqrt(q_hat_ref) * x[:, None] + math.sqrt(q0_hat - t_hat**2 / q_hat_ref) * y + field
    h = h[..., None] + math.sqrt(q1_hat - q0_hat) * HERMITE
    return w_x @ logsumexp(block * np.logaddexp(h, -h), axis=-1, b=HERMITE_WEIGHT) @ w_y / block


def pattern_term(ref: Reference, margin, S, T, Q1, Q0, block):
    """Twin: G_E of `margins`, SM II.2, as it is written, with the covariances of the pre-activations."""
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
    student = tree_committee._ensemble(alpha, margin, model) if committee else perceptron._ensemble(alpha, margin)
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
        return q if point[0] == "perceptron" else student.covariance(variables([q])[0]).value

    def weights(step):
        split = (q_hat + block * step, q_hat - (1 - block) * step)
        return site_term(reference.x.q_hat, t_hat, x.field.value, *split, block)

    def patterns(step):
        split = (covariance(1 - v + block * step), covariance(1 - v - (1 - block) * step))
        return pattern_term(reference.fields, student.margin, covariance(S), covariance(T), *split, block)

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
    curve = curve_around(rf._ensemble(alpha_T, inv_alpha, 0.0, activation), margin_ref)
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
    bent = student.alpha * curve.energy.pulls(student.margin, student.pair_fields(x, ref))[1]
    by_q, by_p, both = by_q + bent * noise**2, by_p + bent * square**2, both + bent * noise * square
    assert by_p < 0
    softness = binary_pair_softness(x.free, x.t_hat, x.field, 0.0, ref.q_hat)
    assert replicon == pytest.approx(softness * (by_q - both**2 / by_p), rel=1e-5)


def test_replicon_of_random_features_without_latent_space_is_that_of_a_perceptron():
    """alpha_T -> 0: the labels tell nothing, and differences are of the first order in alpha_T."""
    distances = [0.02, 0.1, 0.25]
    storing = perceptron.franz_parisi(distances, 0.5, 0.1).replicon
    far, near = (rf.franz_parisi(distances, alpha_T, 2.0, 0.1).replicon - storing for alpha_T in (1e-2, 1e-3))
    np.testing.assert_allclose(near, 0.1 * far, rtol=0.1)
    np.testing.assert_allclose(near, 0.0, atol=1e-3)


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_replicon_at_the_typical_distance_is_that_of_typical_solutions(margin):
    """Students of the reference's margin that do not feel it (`margins`, SM I: the line of de Almeida and Thouless)."""
    typical = perceptron.typical(0.5, margin)
    z, weight = gaussian(400)
    h = (margin - math.sqrt(typical.q) * z) / math.sqrt(1 - typical.q)
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    bent = 0.5 * weight @ (hazard * (hazard - h)) ** 2 / (1 - typical.q) ** 2
    expected = bent * (weight @ np.cosh(math.sqrt(typical.q_hat) * z) ** -4.0)
    found = perceptron.franz_parisi((1 - typical.q) / 2, 0.5, margin, margin).replicon[0]
    assert found == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("margin_ref", "margin"), [(0.1, 0.1), (0.2, 0.0)])
def test_replicon_of_a_planted_perceptron_at_the_typical_distance(margin_ref, margin):
    """The same with a teacher: the measure of docs/margins/theory.md eq. 36."""
    typical = teacher_student.typical(0.6, margin)
    z, weight = gaussian(400)
    h = (margin - math.sqrt(typical.q) * z) / math.sqrt(1 - typical.q)
    agree = 2 * ndtr(typical.r * z / math.sqrt(typical.q - typical.r**2))
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    bent = 0.6 * weight @ (agree * (hazard * (hazard - h)) ** 2) / (1 - typical.q) ** 2
    expected = bent * (weight @ np.cosh(math.sqrt(typical.q_hat) * z + typical.r_hat) ** -4.0)
    distance = teacher_student.franz_parisi(0.1, 0.6, margin_ref, margin).attrs["typical_distance"]
    found = teacher_student.franz_parisi(distance, 0.6, margin_ref, margin).replicon[0]
    assert found == pytest.approx(expected, rel=1e-6)


def test_stability_along_the_curves_around_largest_margins():
    """`margins`, SM II: stable up to alpha = 0.75; at 0.8 not at small distances, where the entropy is negative."""
    distances = np.geomspace(1e-4, 0.3, 20)
    for alpha in (0.5, 0.71, 0.75):
        assert perceptron.franz_parisi(distances, alpha).replicon.max() < 1
    beyond = perceptron.franz_parisi([1e-3, 5e-3, 0.0095, 0.0105, 0.05], 0.8)
    assert (beyond.replicon > 1).tolist() == [True, True, True, False, False]
    assert (beyond.entropy[:3] < 0).all()


def test_replicon_keeps_its_digits_at_small_distances():
    """Next to random flips of a reference of the same margin, lambda = alpha P(0+) 2 sqrt(d) int_{h < 0} G'(h)^2."""
    typical = perceptron.typical(0.5)
    z, weight = gaussian(400)
    h = -math.sqrt(typical.q / (1 - typical.q)) * z
    edge = weight @ np.exp(norm.logpdf(h) - log_ndtr(-h)) / math.sqrt(1 - typical.q)
    t, w = np.polynomial.legendre.leggauss(100)
    h = -5 * (t + 1)
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    law = 0.5 * edge * 2 * 5 * w @ (hazard * (hazard - h)) ** 2
    curve = curve_around(perceptron._ensemble(0.5, 0.0), 0.0)
    for distance in (1e-8, 1e-12):
        flips = curve.problem(math.log(distance)).replicon(np.zeros(5))
        assert flips == pytest.approx(law * math.sqrt(distance), rel=2 * math.sqrt(distance))
