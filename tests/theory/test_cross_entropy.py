"""Minimizers of the cross-entropy loss and what surrounds them: against plain integrals, limits and enumeration."""

import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr
from scipy.stats import norm

from localentropy import seeds
from localentropy.errors import DomainError
from localentropy.instances.perceptron import random_patterns
from localentropy.numerics.curvature import differences
from localentropy.numerics.jets import variables
from localentropy.solvers.binary.anneal import energy_sweeper
from localentropy.theory import CrossEntropy, Perceptron, alpha_c, franz_parisi, kappa_max, typical
from localentropy.theory import cross_entropy as ce
from localentropy.theory.franz_parisi_entropy import FranzParisiCurve, binary_entropy
from localentropy.theory.model import Typical
from localentropy.theory.pair_energy import NODES, Reference, SoftReference
from localentropy.theory.patterns import SPACING, cross_entropy, cross_entropy_error
from tests.enumeration import all_signs
from tests.finite_differences import slope_at, slopes_of_jet
from tests.random_streams import start

TERMS = [
    # C, V, ln beta, gamma
    (0.6, 0.4, 1.0, 1.0),
    (0.8, 0.2, 3.0, 2.0),
    (0.95, 0.05, 4.0, 0.5),
    (0.5, 0.5, 8.0, 10.0),
    (0.3, 0.7, 2.5, 10.0),
    (0.01, 0.99, -2.0, 1.0),
    (0.65, 0.35, 60.0, 50.0),
]
PAIRS = [
    # s, X, V, Y, Z, R; C, V, ln beta, gamma of the reference
    ((0.9, 0.02, 0.17, 0.0, 0.01, 0.0), (0.8, 0.2, 3.0, 2.0)),
    ((0.99, 0.0005, 0.019, 0.0, 0.0002, 0.0), (0.9, 0.1, 3.9, 1.0)),
    ((0.6, 0.1, 0.54, 0.0, 0.05, 0.0), (0.96, 0.04, 4.4, 0.5)),
    ((0.3, 0.3, 0.6, 0.0, 0.1, 0.0), (0.65, 0.35, 8.8, 10.0)),
    ((-0.2, 0.3, 0.6, 0.0, 0.1, 0.0), (0.75, 0.25, 4.5, 3.0)),
    ((0.7, 0.1, 0.4, 0.05, 0.1, 0.0), (0.75, 0.25, 4.5, 3.0)),
]
POINTS = [(0.6, 0.5), (0.6, 2.0), (0.9, 1.0), (0.9, 10.0), (0.1, 1.0)]
"""alpha, gamma."""


def trapezoid(low, high, nodes):
    x = np.linspace(low, high, nodes)
    return x, np.full(nodes, x[1] - x[0])


def loss(x, gamma):
    return np.logaddexp(0, -2 * gamma * x) / (2 * gamma)


class Twin:
    """The Boltzmann measure at a temperature on plain grids: z, and for each z own grids of x with p < 0 and p > 0."""

    def __init__(self, q, log_beta, gamma, nodes_z=301, nodes_x=250):
        self.z, weight = trapezoid(-8.5, 8.5, nodes_z)
        self.weight = weight * norm.pdf(self.z)
        unit, unit_weight = np.polynomial.legendre.leggauss(nodes_x)
        # x = 0 is a mode of the prior; errors pull x up, to the end of the linear part at most.
        bound = np.clip(-math.sqrt(q / (1 - q)) * self.z, -9.0, 30.0)[:, None]
        below = -9.0 + (bound + 9.0) * (unit + 1) / 2
        above = bound + (30.0 - bound) * (unit + 1) / 2
        self.x = np.hstack([below, above])
        lengths = np.hstack([(bound + 9.0) / 2 * unit_weight, (30.0 - bound) / 2 * unit_weight])
        self.p = math.sqrt(q) * self.z[:, None] + math.sqrt(1 - q) * self.x
        self.loss = loss(self.p, gamma)
        with np.errstate(divide="ignore"):
            exponent = np.log(lengths / math.sqrt(2 * math.pi)) - self.x**2 / 2
        if log_beta < 700:
            exponent = exponent - math.exp(log_beta) * self.loss
        top = exponent.max(1, keepdims=True)
        share = np.exp(exponent - top)
        self.log_mean = top[:, 0] + np.log(share.sum(1))
        self.share = share / share.sum(1, keepdims=True)
        self.nodes = nodes_x

    def mean(self, values):
        return float(self.weight @ (self.share * values).sum(1))


def energetic_term(point, *spacing):
    C, V, log_beta, gamma = point
    c, v, b = variables([C, V, log_beta])
    return cross_entropy(c, v, b, gamma, *spacing)


@pytest.mark.parametrize("point", [term for term in TERMS if term[2] < 10])
def test_energetic_term_is_its_integral(point):
    C, _, log_beta, gamma = point
    twin = Twin(C, log_beta, gamma)
    value = energetic_term(point).value
    assert value == pytest.approx(twin.weight @ twin.log_mean, abs=1e-9)


@pytest.mark.parametrize("point", TERMS)
def test_derivatives_of_the_energetic_term_by_finite_differences(point):
    jet = energetic_term(point)
    for index, value in enumerate(point[:3]):
        step = 5e-3 * (min(value, 1.0 - value) if index < 2 else 1.0)
        slope, rows = slopes_of_jet(energetic_term, point, step, index)
        assert jet.gradient[index] == pytest.approx(slope, rel=1e-7, abs=1e-8)
        np.testing.assert_allclose(jet.hessian[index], rows, rtol=1e-5, atol=1e-6 * np.abs(jet.hessian).max())


@pytest.mark.parametrize("point", TERMS)
def test_finer_nodes_change_nothing(point):
    coarse, fine = (energetic_term(point, spacing) for spacing in (SPACING, 0.5 * SPACING))
    assert coarse.value == pytest.approx(fine.value, abs=1e-11)
    np.testing.assert_allclose(coarse.gradient, fine.gradient, rtol=1e-9)


@lru_cache
def twin_minimum(alpha, gamma):
    """Twin: damped iteration of the saddle-point equations on plain grids; beta where the entropy vanishes."""
    z, weight = trapezoid(-8.5, 8.5, 4001)
    weight = weight * norm.pdf(z)

    def at(log_beta, q):
        for _ in range(500):
            twin = Twin(q, log_beta, gamma, 201, 160)
            q_hat = alpha * twin.weight @ (twin.share * twin.x).sum(1) ** 2 / (1 - q)
            new = weight @ np.tanh(math.sqrt(q_hat) * z) ** 2
            if abs(new - q) < 1e-11:
                break
            q = 0.3 * q + 0.7 * new
        field = np.abs(math.sqrt(q_hat) * z)
        phi = -q_hat / 2 * (1 - q) + weight @ (field + np.log1p(np.exp(-2 * field)))
        energy = twin.mean(twin.loss)
        entropy = phi + alpha * (twin.weight @ twin.log_mean) + math.exp(log_beta) * alpha * energy
        return entropy, q, energy, twin.mean(twin.p < 0)

    found = ce.minimizers(alpha, gamma)
    root = brentq(lambda b: at(b, found.q)[0], found.log_beta - 0.01, found.log_beta + 0.01, xtol=1e-8)
    return math.exp(root), *at(root, found.q)[1:]


@pytest.mark.parametrize(("alpha", "gamma"), [(0.6, 2.0), (0.9, 10.0)])
def test_minimizers_solve_the_written_equations(alpha, gamma):
    found = ce.minimizers(alpha, gamma)
    beta, q, energy, error = twin_minimum(alpha, gamma)
    assert found.beta == pytest.approx(beta, rel=1e-6)
    assert found.q == pytest.approx(q, abs=1e-7)
    assert found.energy == pytest.approx(energy, abs=1e-9)
    assert found.error == pytest.approx(error, abs=1e-8)


@pytest.mark.parametrize(("alpha", "gamma"), POINTS)
def test_minimizers_are_stationary_and_have_no_entropy(alpha, gamma):
    found = ce.minimizers(alpha, gamma)
    y = np.array([math.log(found.q_hat), math.log(found.q / (1 - found.q)), found.log_beta])
    assert abs(found.entropy) < 1e-9
    assert found.residual < 1e-9

    def per_beta(y):
        jets = variables(y)
        drawn = Typical(Perceptron(alpha, energy=CrossEntropy(gamma, y[2])))
        log_alpha, _, log_load = variables(drawn.controls())
        return drawn.value(jets[:2], [log_alpha, jets[2], log_load]).value / math.exp(y[2])

    for index in range(3):
        assert abs(slope_at(per_beta, y, 1e-2, index)) < 1e-6 * abs(per_beta(y))
    # phi / beta is the energy's negative, per weight.
    assert found.energy == pytest.approx(-per_beta(y) / alpha, rel=1e-9)


def test_errors_of_an_independent_calculation():
    """Of other code, to its digits, where its quadrature is fine enough (gamma of at least 2)."""
    for alpha, gamma, error, digit in [
        (0.6, 2.0, 6.4e-4, 1e-5), (0.6, 3.0, 1.6e-5, 1e-6), (0.6, 5.0, 0.0, 1e-9),
        (0.9, 2.0, 0.0552, 1e-4), (0.9, 3.0, 0.0452, 1e-4), (0.9, 5.0, 0.0379, 1e-4), (0.9, 10.0, 0.0341, 1e-4),
    ]:  # fmt: skip
        assert ce.minimizers(alpha, gamma).error == pytest.approx(error, abs=0.7 * digit)


def test_sharp_losses_below_capacity_lead_to_the_largest_margin():
    """For gamma to infinity ln beta = 2 gamma kappa_max, and q is that of typical solutions of this margin."""
    largest = kappa_max(Perceptron(0.4))
    q = typical(Perceptron(0.4, largest)).q
    found = [ce.minimizers(0.4, gamma) for gamma in (25.0, 50.0, 100.0)]
    margins = np.array([(m.log_beta - math.log(2 * m.gamma)) / (2 * m.gamma) - largest for m in found])
    overlaps = np.array([m.q - q for m in found])
    for distances in (margins, overlaps):
        assert np.all(np.abs(distances[1:]) < 0.7 * np.abs(distances[:-1]))
    assert abs(overlaps[-1]) < 0.01
    assert all(m.error < 1e-9 for m in found)


def test_errors_start_at_capacity_for_sharp_losses():
    capacity = alpha_c(Perceptron())
    assert ce.minimizers(capacity - 0.03, 100.0).error < 1e-7
    assert ce.minimizers(capacity + 0.03, 100.0).error > 0.01


def test_infinitely_sharp_loss_is_the_perceptron():
    found, sharp = ce.minimizers(0.5, math.inf), typical(Perceptron(0.5))
    assert (found.q, found.q_hat, found.entropy) == (sharp.q, sharp.q_hat, sharp.entropy)
    assert (found.error, found.energy, found.beta) == (0.0, 0.0, math.inf)
    curve = ce.franz_parisi([0.05, 0.2], 0.5, math.inf)
    np.testing.assert_array_equal(curve.entropy, franz_parisi(Perceptron(0.5), [0.05, 0.2], margin_ref=0.0).entropy)


def pair_twin(point, reference):
    """Twin: docs/shaping/theory.md eq. C.13 as it is written, on plain grids."""
    s, X, V, Y, Z, _ = point
    Q, V_ref, log_beta, gamma = reference
    a, b = s * math.sqrt(Q) + Z / math.sqrt(Q), s * math.sqrt(V_ref) + (Y - Z) / math.sqrt(V_ref)
    common = X - Z * Z / Q - (Y - Z) ** 2 / V_ref
    y, weight = np.polynomial.hermite_e.hermegauss(30)
    twin = Twin(Q, log_beta, gamma, 241, 160)
    u = a * twin.z[:, None] + b * twin.x
    smoothed = sum(w * log_ndtr((u + math.sqrt(common) * k) / math.sqrt(V)) for k, w in zip(y, weight, strict=True))
    return twin.mean(smoothed / weight.sum())


@pytest.mark.parametrize(("point", "reference"), PAIRS)
def test_pair_energy_is_its_integral(point, reference):
    value = SoftReference(*reference).pair_energy(0.0, np.array(point), NODES).value
    assert value == pytest.approx(pair_twin(point, reference), rel=3e-8)


@pytest.mark.parametrize(("point", "reference"), PAIRS)
def test_gradient_of_the_pair_energy_by_finite_differences(point, reference):
    soft, here = SoftReference(*reference), np.array(point)
    gradient = soft.pair_energy(0.1, here, NODES).gradient
    for index in range(5):
        slope = slope_at(lambda place: soft.pair_energy(0.1, place, NODES)[0], here, 1e-3 * here[2], index)
        assert gradient[index] == pytest.approx(slope, rel=1e-5, abs=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize(("point", "reference"), PAIRS)
def test_second_derivatives_of_the_pair_energy_are_differences_of_the_first(point, reference):
    soft = SoftReference(*reference)
    root_C, root_V = math.sqrt(soft.common), math.sqrt(soft.free)
    s, X, V, Y, Z, _ = point
    a, b = s * root_C + Z / root_C, s * root_V + (Y - Z) / root_V
    at, units = np.array([a, b, X - (Z / root_C) ** 2 - ((Y - Z) / root_V) ** 2, V]), np.sqrt([V, V, V**2, V**2])

    def term(place):
        a, b, r, V = place
        covariances = np.array([0, a * a + b * b + r, V, a * root_C + b * root_V, a * root_C, 0])
        return soft.pair_energy(0.1, covariances, NODES)

    def gradient(place):
        _, by_X, by_V, by_Y, by_Z, _ = term(place).gradient
        a, b, _, _ = place
        return np.array([2 * a * by_X + root_C * (by_Y + by_Z), 2 * b * by_X + root_V * by_Y, by_X, by_V])

    moved = [0, 1, 3, 4]
    expected = differences(gradient, at, units, range(4)) * np.outer(units, units)
    found = term(at).hessian[np.ix_(moved, moved)] * np.outer(units, units)
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-6 * np.abs(expected).max())


def test_pair_energy_beside_a_sharp_reference_is_that_of_the_hard_one():
    """exp(-beta f_gamma) becomes a step at ln(beta / 2 gamma) / (2 gamma), moved by its width 1 / (2 gamma)."""
    point, margin_ref = np.array([0.7, 0.1, 0.4, 0.0, 0.1, 0.0]), 0.1
    hard = Reference(0.6, 0.4, 0.0, margin_ref).pair_energy(0.0, point, NODES)
    gaps = []
    for gamma in (200.0, 400.0, 800.0):
        # The mean place of the step exp(-e^-x) is x = 0.5772.
        log_beta = math.log(2 * gamma) + 2 * gamma * margin_ref - np.euler_gamma
        soft = SoftReference(0.6, 0.4, log_beta, gamma).pair_energy(0.0, point, NODES)
        gaps.append(max(abs(soft[0] - hard[0]), np.max(np.abs(soft[1] - hard[1]))))
    assert gaps[-1] < 1e-4
    assert gaps[1] < 0.4 * gaps[0]
    assert gaps[2] < 0.4 * gaps[1]


@lru_cache
def curve_of(alpha, gamma):
    return FranzParisiCurve(Perceptron(alpha, 0.0), ce._reference(alpha, gamma))


def free_entropy_at(problem, coordinates):
    jets = variables(np.append(coordinates, problem.log_distance))
    return problem.value(jets[:5], jets[5:]).value


@pytest.mark.parametrize(("alpha", "gamma", "distance"), [(0.6, 1.0, 0.02), (0.6, 3.0, 0.05), (0.4, 2.0, 0.1)])
def test_the_five_order_parameters_are_stationary(alpha, gamma, distance):
    curve = curve_of(alpha, gamma)
    problem, point = curve.problem(math.log(distance)), curve.point(math.log(distance))
    for index in range(5):
        assert abs(slope_at(lambda x: free_entropy_at(problem, x), point.coordinates, 1e-3, index)) < 1e-7


def explicit_equations(alpha, gamma, distance):
    """Twin: docs/shaping/theory.md eqs. C.10 to C.12 in the variables q, t, S, iterated on plain grids.

    Returns:
        the entropy, and what two students share beyond both references.
    """
    m, S = ce.minimizers(alpha, gamma), 1 - 2 * distance
    ref = Twin(m.q, m.log_beta, gamma, 121, 120)
    g_ref = (ref.share * ref.x).sum(1) / math.sqrt(1 - m.q)
    y, weight_y = trapezoid(-7.5, 7.5, 31)
    weight_y = weight_y * norm.pdf(y)
    z, weight_z = trapezoid(-8, 8, 801)
    agree = weight_z * norm.pdf(z) * (1 + np.tanh(math.sqrt(m.q_hat) * z))
    x, weight_x = trapezoid(-7.5, 7.5, 61)
    weight_x = weight_x * norm.pdf(x)
    q, t = S * S + 0.02 * (1 - S * S), S * m.q
    for _ in range(300):
        common = q - t * t / m.q - (S - t) ** 2 / (1 - m.q)
        mean = t / math.sqrt(m.q) * ref.z[:, None] + (S - t) / math.sqrt(1 - m.q) * ref.x
        log_share = g = square = 0.0
        for k, w in zip(y, weight_y, strict=True):
            u = (mean + math.sqrt(common) * k) / math.sqrt(1 - q)
            tail = log_ndtr(u)
            pull = np.exp(norm.logpdf(u) - tail) / math.sqrt(1 - q)
            log_share, g, square = log_share + w * tail, g + w * pull, square + w * pull**2
        q_hat = alpha * ref.mean(square)
        t_hat = alpha * float(ref.weight @ (g_ref * (ref.share * g).sum(1)))
        spread = t_hat / math.sqrt(m.q_hat) * z[:, None] + math.sqrt(max(q_hat - t_hat**2 / m.q_hat, 0.0)) * x
        S_hat = brentq(lambda s, h=spread - t_hat: agree @ (np.tanh(h + s) @ weight_x) - S, -50, 50, xtol=1e-12)
        field = spread + S_hat - t_hat
        new_q = agree @ (np.tanh(field) ** 2 @ weight_x)
        new_t = (agree * np.tanh(math.sqrt(m.q_hat) * z)) @ (np.tanh(field) @ weight_x)
        moved = abs(new_q - q) + abs(new_t - t)
        q, t = 0.5 * (q + new_q), 0.5 * (t + new_t)
        if moved < 1e-10:
            break
    sites = -q_hat / 2 * (1 - q) - S_hat * S + t_hat * t + agree @ (np.logaddexp(field, -field) @ weight_x)
    return sites + alpha * ref.mean(log_share), common


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "gamma", "distance"), [(0.6, 1.0, 0.02), (0.6, 3.0, 0.05), (0.4, 1.0, 0.005)])
def test_curve_solves_the_written_equations(alpha, gamma, distance):
    entropy, common = explicit_equations(alpha, gamma, distance)
    assert ce.franz_parisi(distance, alpha, gamma).entropy[0] == pytest.approx(entropy, abs=1e-7)
    assert common > 0.0


def test_slope_is_the_derivative_and_the_maximum_is_the_typical_entropy():
    curve = curve_of(0.6, 2.0)
    slope = slope_at(lambda distance: curve.at(distance).entropy, 0.05, 2e-4)
    assert curve.at(0.05).slope == pytest.approx(slope, rel=1e-6)
    assert curve.at(curve.typical_distance).entropy == pytest.approx(typical(Perceptron(0.6)).entropy, abs=1e-9)


@pytest.mark.parametrize(("alpha", "gamma"), [(0.3, 0.2), (0.2, 0.5), (0.1, 100.0), (0.8, 30.0)])
def test_curves_of_blunt_and_sharp_losses_have_their_maximum(alpha, gamma):
    curve = curve_of(alpha, gamma)
    assert curve.at(curve.typical_distance).entropy == pytest.approx(typical(Perceptron(alpha)).entropy, abs=1e-8)


def test_surroundings_of_minimizers():
    """What `shaping`, figure 3, says: a loss of moderate sharpness leads to solutions with many others around."""
    near = [0.001, 0.005, 0.01]
    bound = binary_entropy(np.array(near))
    soft, sharper = (ce.franz_parisi(near, 0.4, gamma).entropy for gamma in (1.0, 2.0))
    assert np.all(soft > 0.98 * bound)
    assert np.all(sharper > soft)
    assert np.all(sharper <= bound)
    far = [0.1, 0.2]
    assert np.all(ce.franz_parisi(far, 0.4, 1.0).entropy > ce.franz_parisi(far, 0.4, 2.0).entropy)
    assert ce.franz_parisi(0.0025, 0.4, math.inf).entropy[0] < 0
    assert ce.franz_parisi(0.0035, 0.6, 1.0).entropy[0] < 0 < ce.franz_parisi(0.005, 0.6, 1.0).entropy[0]
    assert np.all(ce.franz_parisi([0.0005, 0.0035], 0.6, 3.0).entropy > 0)


def test_students_share_more_than_their_references():
    """Bessel's inequality: the covariance of two students' own parts is not negative, however small the distance."""
    for alpha, gamma, distance in [(0.4, 1.0, 1e-3), (0.4, 0.5, 5e-3), (0.4, 2.0, 1e-4), (0.6, 1.0, 0.004)]:
        curve = curve_of(alpha, gamma)
        y = curve.point(math.log(distance)).coordinates
        *coordinates, control = variables([*y, math.log(distance)])
        x = curve.problem(math.log(distance)).pair(coordinates, [control])
        ref = curve.reference.x
        assert x.chi.value - x.tau.value**2 / (ref.q * ref.v) > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ce.minimizers(0.6, 0.01), r"gamma = 0.01 is out of range: allowed are \[0.1, 100\]"),
        (lambda: ce.minimizers(0.001, 1.0), r"alpha = 0.001 is out of range: allowed are \[0.01, 100\]"),
        (lambda: ce.minimizers(0.9, math.inf), "alpha = 0.9 is above alpha_c"),
        (lambda: ce.franz_parisi(0.1, 0.9, 1.0), "alpha = 0.9 is above alpha_c"),
        (lambda: ce.franz_parisi(0.0, 0.6, 1.0), "distance = 0 is out of range: allowed are"),
        (lambda: ce.franz_parisi(0.1, 0.6, 1.0, unsolved="skip"), "unsolved = 'skip' is not known"),
        (lambda: ce.minimizers(0.6, "2"), "gamma = '2' is not a number"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(DomainError, match=message):
        call()


@pytest.mark.slow
def test_minimizers_of_few_weights():
    """Means over samples of the least loss and of its errors, among all 2^N weights, come down towards the theory.

    Corrections fall more slowly than 1/N, so a line in 1/N ends above it.
    """
    alpha, gamma = 1.0, 2.0
    theory, stream = ce.minimizers(alpha, gamma), np.random.default_rng(1905)
    sizes, means, errors = np.array([5, 10, 15]), [], []
    for N, samples in zip(sizes.tolist(), (20000, 8000, 2000), strict=True):
        P, signs = round(alpha * N), all_signs(N, np.float32)
        found = np.empty((samples, 2))
        for sample in found:
            patterns = stream.standard_normal((P, N)).astype(np.float32)
            stabilities = signs @ patterns.T / math.sqrt(N)
            # The sum of ln(1 + exp(-2 gamma x)) as the logarithm of a product.
            losses = np.log(np.prod(1 + np.exp(-2 * gamma * stabilities), axis=1)) / (2 * gamma)
            least = int(np.argmin(losses))
            sample[:] = losses[least] / P, np.mean(stabilities[least] < 0)
        means.append(found.mean(0))
        errors.append(found.std(0) / math.sqrt(samples))
    for column, expected in enumerate((theory.energy, theory.error)):
        mean, error = np.array(means)[:, column], np.array(errors)[:, column]
        assert mean[0] - mean[-1] > 5 * math.hypot(error[0], error[-1])
        limit = np.polyfit(1 / sizes, mean, 1, w=1 / error)[1]
        assert expected < limit < mean[-1]
        assert limit - expected < 0.6 * (mean[0] - expected)


@pytest.mark.slow
def test_annealed_weights_have_the_loss_and_the_errors_of_the_theory():
    """Metropolis dynamics at two temperatures, well above the frozen one."""
    alpha, gamma, betas, samples, N = 0.45, 1.6, (3.0, 8.0), 20, 2001
    P = round(alpha * N)
    measured = np.empty((samples, len(betas), 2))
    for sample in range(samples):
        instance = random_patterns(N, P, seed=seeds.child(5, "instance", sample=sample))
        weights, stream = start(N, sample)
        run = energy_sweeper(instance, 0.0, weights, stream, "cross_entropy", gamma)
        errors, hotter = np.zeros(400, np.int64), 0.5
        for place, beta in enumerate(betas):
            run(np.linspace(hotter, beta, 400), False, errors)
            run(np.full(200, beta), False, errors)
            taken = []
            for _ in range(40):
                run(np.full(10, beta), False, errors)
                stabilities = instance.stabilities(weights)
                taken.append((loss(stabilities, gamma).mean(), (stabilities < 0).mean()))
            measured[sample, place], hotter = np.mean(taken, axis=0), beta
    for place, beta in enumerate(betas):
        drawn = typical(Perceptron(P / N, energy=CrossEntropy(gamma, math.log(beta))))
        error = cross_entropy_error(drawn.q, 1.0 - drawn.q, math.log(beta), gamma)
        theory = drawn.mean_energy * N / P, error
        here = measured[:, place]
        error = here.std(axis=0, ddof=1) / math.sqrt(samples)
        assert (np.abs(here.mean(axis=0) - theory) < 3.5 * error).all()
        # The test is sharp: a temperature a tenth away changes both numbers by more than this.
        assert (error < 0.02 * np.array(theory)).all()


@pytest.mark.parametrize(
    ("alpha", "gamma", "error"),
    [(0.3, 0.1, 0.045378451), (0.1, 0.12, 2.07163894e-4), (0.8, 40, 1.42956607e-9), (0.833, 100, 8.49780813e-4)],
)
def test_the_error_where_it_sets_in_far_from_the_loss(alpha, gamma, error):
    """Numbers of another program, and panels on both sides of stability 0 at each of many z."""
    m = ce.minimizers(alpha, gamma)
    assert m.error == pytest.approx(error, rel=1e-8)
    unit, unit_weight = np.polynomial.legendre.leggauss(24)

    def panels(ends):
        lengths = np.diff(ends)[:, None]
        return (ends[:-1, None] + lengths * (unit + 1) / 2).ravel(), (lengths / 2 * unit_weight).ravel()

    distances = np.concatenate([[0.0], np.geomspace(1e-6, 60.0, 50)])
    step = -math.exp(m.log_beta) * (1 - m.q) / (2 * math.sqrt(m.q))
    z, weight = panels(np.unique(np.clip(np.append(np.linspace(-9, 9, 19), step + np.linspace(-0.5, 0.5, 21)), -9, 9)))
    total = 0.0
    for place, share in zip(z, weight * norm.pdf(z), strict=True):
        bound = -math.sqrt(m.q / (1 - m.q)) * place
        x, measure = panels(bound + np.concatenate([-distances[:0:-1], distances]))
        exponent = -(x**2) / 2 - m.beta * loss(math.sqrt(m.q) * place + math.sqrt(1 - m.q) * x, gamma)
        density = measure * np.exp(exponent - exponent.max())
        total += share * density[x < bound].sum() / density.sum()
    assert m.error == pytest.approx(total, rel=1e-8)


@pytest.mark.parametrize(("alpha", "gamma"), POINTS)
def test_error_is_a_probability_that_nodes_do_not_change(alpha, gamma):
    m = ce.minimizers(alpha, gamma)
    assert 0 <= m.error < 0.5
    fine = cross_entropy_error(m.q, 1 - m.q, m.log_beta, gamma, 0.5 * SPACING)
    assert fine == pytest.approx(m.error, rel=1e-9)
