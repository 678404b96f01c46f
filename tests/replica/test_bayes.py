"""Bayes-optimal learning: thresholds, written integrals, state evolution, other programs, Monte Carlo, refusals."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal, norm

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.quadrature import gaussian_nodes
from localentropy.replica import bayes, channels, committee_channel, teacher_student
from tests.finite_differences import FIVE_POINTS, five_point_slope

INF = math.inf
Z = np.linspace(-9, 9, 601)
WEIGHT = norm.pdf(Z) / norm.pdf(Z).sum()
RATIOS = [1e-3, 0.3, 2.0, 30.0]


def ratio(m):
    return m / (1 - m)


def written(function, points=()):
    """Int Dv f(v) by adaptive quadrature."""
    return quad(lambda v: norm.pdf(v) * function(v), -9, 9, points=points or None, limit=400, epsabs=1e-13)[0]


def sign_conjugate(m, alpha):
    x = math.sqrt(m / (1 - m))
    return alpha / (math.pi * (1 - m)) * written(lambda v: math.exp(-((x * v) ** 2) - log_ndtr(-x * v)), [0.0])


def absolute_conjugate(m, alpha):
    """The formula as it stands, on a plain grid."""
    V = 1 - m
    omega = math.sqrt(m) * Z[:, None]
    z = omega + math.sqrt(V) * Z
    mean = WEIGHT @ (z**2 * (1 - np.tanh(omega * z / V) ** 2)) @ WEIGHT
    return alpha * (1 / V - mean / V**2)


def absolute_potential(m):
    V = 1 - m
    omega = math.sqrt(m) * Z[:, None]
    z = omega + math.sqrt(V) * Z
    return -0.5 * math.log(2 * math.pi * math.e * V) + WEIGHT @ np.logaddexp(0, -2 * omega * z / V) @ WEIGHT


def gaussian_prior(m_hat):
    return m_hat / (1 + m_hat)


def binary_prior(m_hat):
    return written(lambda z: math.tanh(m_hat + math.sqrt(m_hat) * z), [0.0])


def state_evolution(prior, conjugate, alpha, m, steps=4000):
    for _ in range(steps):
        after = prior(conjugate(m, alpha))
        if abs(after - m) < 1e-12:
            return after
        m = after
    raise AssertionError("state evolution did not converge")


@pytest.mark.parametrize(
    ("model", "weak", "spinodal", "information_theoretic", "algorithmic"),
    [
        ("binary_perceptron", 0, 0, 1.244684, 1.492632),
        ("phase_retrieval", 0.5, 1, 1, 1.128471),
        ("committee_2", 0, 2.052382, 2.052382, 2.052382),
        ("committee_large", 0, 7.169239, 7.680221, INF),
    ],
)
def test_transitions(model, weak, spinodal, information_theoretic, algorithmic):
    found = bayes.transitions(model)
    assert (found.weak, found.spinodal) == pytest.approx((weak, spinodal), abs=6e-7)
    assert found.information_theoretic == pytest.approx(information_theoretic, abs=6e-7)
    assert found.algorithmic == pytest.approx(algorithmic, abs=6e-7)


@pytest.mark.parametrize("r", RATIOS)
def test_information_on_the_sign(r):
    m = r / (1 + r)
    assert channels.sign_information(r) == pytest.approx((1 - m) * sign_conjugate(m, 1.0), rel=1e-10)
    written_entropy = written(lambda v: 2 * ndtr(math.sqrt(r) * v) * log_ndtr(math.sqrt(r) * v), [0.0])
    assert channels.sign_entropy(r) == pytest.approx(written_entropy, rel=1e-10)


@pytest.mark.parametrize("r", [0.03, 0.3, 2.0])
def test_information_on_the_absolute_value(r):
    m = r / (1 + r)
    assert channels.absolute_information(r) == pytest.approx((1 - m) * absolute_conjugate(m, 1.0), rel=1e-8)
    assert channels.absolute_entropy(r) == pytest.approx(absolute_potential(m), rel=1e-8)
    known, rest = math.sqrt(m) * Z, math.sqrt(1 - m)
    mean = rest * math.sqrt(2 / math.pi) * np.exp(-0.5 * (known / rest) ** 2) + known * (1 - 2 * ndtr(-known / rest))
    assert channels.absolute_error(r) == pytest.approx(1 - WEIGHT @ mean**2, abs=1e-9)


@pytest.mark.parametrize("r", [*RATIOS, 1e4])
@pytest.mark.parametrize("label", ["sign", "absolute"])
def test_information_is_the_derivative_of_the_entropy(label, r):
    """I-MMSE: twice the derivative by m, in units of 1 - m."""
    information, entropy = getattr(channels, f"{label}_information"), getattr(channels, f"{label}_entropy")
    # d/dm = (1 + r)^2 d/dr.
    step = 1e-3 * r
    slope = five_point_slope([entropy(r + k * step) for k in FIVE_POINTS], step)
    # Rounding of the entropy, of order 1, limits the difference at small r.
    assert information(r) == pytest.approx(2 * (1 + r) * slope, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("r", [1e-6, 0.5, 7.0, 1e3, 1e9])
def test_twice_the_nodes(r, monkeypatch):
    functions = [getattr(channels, name) for name in dir(channels) if name.startswith(("sign_", "absolute_"))]
    before = [function(r) for function in functions]
    monkeypatch.setattr(channels, "gaussian_nodes", lambda scale: gaussian_nodes(scale, 0.05))
    monkeypatch.setattr(channels, "NOISE_SPACING", 0.07)
    assert [function(r) for function in functions] == pytest.approx(before, rel=2e-11)
    assert len(functions) == 5


@pytest.mark.parametrize("alpha", [0.37, 1.9, 4.2])
def test_gaussian_perceptron_is_a_fixed_point_of_state_evolution(alpha):
    found = bayes.perceptron(alpha)
    assert found.overlap == pytest.approx(state_evolution(gaussian_prior, sign_conjugate, alpha, 1e-3), abs=1e-9)
    assert found == bayes.perceptron(alpha, start="informed")
    # The three errors, from the overlap.
    m, x = found.overlap, math.sqrt(ratio(found.overlap))
    assert found.bayes_error == pytest.approx(written(lambda v: min(ndtr(x * v), ndtr(-x * v)), [0.0]), abs=1e-10)
    assert found.gibbs_error == pytest.approx(math.acos(m) / math.pi, abs=1e-10)
    assert found.label_error == pytest.approx(1 - written(lambda v: (1 - 2 * ndtr(x * v)) ** 2), abs=1e-10)
    free_entropy = 0.5 * m + 0.5 * math.log(1 - m) + alpha * written(lambda v: 2 * ndtr(x * v) * log_ndtr(x * v))
    assert found.free_entropy == pytest.approx(free_entropy, abs=1e-10)


@pytest.mark.parametrize("alpha", [0.2, 0.9, 1.31])
def test_binary_perceptron_is_a_fixed_point_of_state_evolution(alpha):
    found = bayes.perceptron(alpha, "binary")
    assert found.overlap == pytest.approx(state_evolution(binary_prior, sign_conjugate, alpha, 1e-3), abs=1e-9)


def test_binary_perceptron_beyond_the_branch():
    algorithmic = bayes.transitions("binary_perceptron").algorithmic
    for alpha, start in ((0.3, "informed"), (algorithmic + 1e-6, "uninformed")):
        found = bayes.perceptron(alpha, "binary", start)
        assert (found.overlap, found.bayes_error, found.mse) == (1, 0, 0)
        assert found.free_entropy == -math.log(2)
    assert bayes.perceptron(algorithmic - 1e-9, "binary").overlap == pytest.approx(0.89366, abs=1e-4)


@pytest.mark.parametrize("alpha", [0.05, 0.6, 1.1, 1.24])
def test_binary_perceptron_is_the_solution_of_the_teachers_labels(alpha):
    """Newton's method in four order parameters, another program: at margin 0 students and teacher are alike."""
    found, other = bayes.perceptron(alpha, "binary"), teacher_student.typical(alpha)
    assert (found.overlap, found.overlap) == pytest.approx((other.r, other.q), abs=1e-10)
    assert found.free_entropy == pytest.approx(other.entropy - math.log(2), abs=1e-11)
    assert bayes.transitions("binary_perceptron").information_theoretic == pytest.approx(teacher_student.alpha_c())


def test_law_of_large_loads():
    C = 2.263980
    for alpha, accuracy in ((1e3, 1e-3), (1e8, 1e-6)):
        found = bayes.perceptron(alpha)
        assert alpha * found.bayes_error == pytest.approx(1 / C, rel=accuracy)
        assert alpha * found.gibbs_error == pytest.approx(math.sqrt(2) / C, rel=accuracy)
        assert alpha**2 * found.mse == pytest.approx((math.pi / C) ** 2, rel=2 * accuracy)
    assert 1e-7 * bayes.perceptron(1e-7).overlap == pytest.approx(2 / math.pi * 1e-14, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.62, 0.95, 1.09])
def test_phase_retrieval_is_a_fixed_point_of_state_evolution(alpha):
    found = bayes.phase_retrieval(alpha)
    m = found.overlap
    assert m == pytest.approx(state_evolution(gaussian_prior, absolute_conjugate, alpha, 0.05), abs=1e-7)
    free_entropy = 0.5 * m + 0.5 * math.log(1 - m) + alpha * absolute_potential(m)
    assert found.free_entropy == pytest.approx(free_entropy, abs=1e-9)
    informed = bayes.phase_retrieval(alpha, "informed")
    assert informed == found if alpha <= 1 else informed.overlap == 1 and informed.free_entropy == INF


def test_phase_retrieval_at_both_ends():
    """Weak recovery at 1/2: the curve starts there. Full recovery at 1: it ends there (docs/glm/theory.md eq. 13)."""
    assert bayes._retrieval_load(1e-9) == pytest.approx(bayes.WEAK_RECOVERY, rel=1e-8)
    assert bayes._retrieval_load(1e12) == pytest.approx(1, rel=2e-6)
    assert bayes.phase_retrieval(0.5).overlap == 0
    assert bayes.phase_retrieval(0.1).label_error == pytest.approx(1 - 2 / math.pi)
    assert 0 < bayes.phase_retrieval(0.5 + 1e-6).overlap < 1e-5
    assert bayes.phase_retrieval(1.2).mse == 0


def output(z):
    return np.sign(np.sign(z[0]) + np.sign(z[1]))


@pytest.mark.parametrize("r", [(0.9, 0.0), (3.0, 0.5), (40.0, 25.0)])
def test_labels_of_two_units(r):
    """Probabilities against scipy's multivariate normal; derivatives by finite differences."""
    width, rho = committee_channel._unknown(*r)
    covariance = [[1, rho], [rho, 1]]
    rng = np.random.default_rng(1)
    for h, k in [*rng.normal(size=(6, 2)), np.array([0.0, 0.7]), np.array([0.0, 0.0])]:
        both, none, one = committee_channel._probabilities(np.array([h]), np.array([k]), rho)[:, 0]
        assert both == pytest.approx(multivariate_normal.cdf([h, k], cov=covariance), abs=1e-7)
        assert none == pytest.approx(multivariate_normal.cdf([-h, -k], cov=covariance), abs=1e-7)
        assert both + none + one == pytest.approx(1, abs=1e-14)

        def probabilities(plus, minus, h=h, k=k):
            d_h, d_k = np.array([plus + minus]) / math.sqrt(2), np.array([plus - minus]) / math.sqrt(2)
            return committee_channel._probabilities(h + d_h / width, k + d_k / width, rho)[:, 0]

        at = committee_channel._labels(np.array([[h]]), np.array([[k]]), rho, width, np.ones((1, 1)))
        step = 1e-3
        plus = five_point_slope([probabilities(n * step, 0.0) for n in FIVE_POINTS], step)
        minus = five_point_slope([probabilities(0.0, n * step) for n in FIVE_POINTS], step)
        bend = (probabilities(0.0, step) - 2 * probabilities(0.0, 0.0) + probabilities(0.0, -step)) / step**2
        assert at.gradient[:, :, 0, 0] == pytest.approx(np.stack([plus, minus]), abs=1e-9)
        assert at.bend[:, 0, 0] == pytest.approx(bend, abs=1e-5 * (1 + np.abs(bend).max()))


@pytest.mark.parametrize("r", [(0.9, 1e-9), (3.0, 0.5), (40.0, 25.0), (900.0, 850.0)])
def test_averages_of_two_units_by_sampling(r):
    """Teacher and posterior are drawn; the label's probabilities are not integrated over a grid."""
    found, rng, draws = committee_channel.labels(*r), np.random.default_rng(2), 400_000
    q = np.array([s / (1 + s) for s in r])[:, None]
    rotate = np.array([[1, 1], [1, -1]]) / math.sqrt(2)
    known = rotate @ (np.sqrt(q) * rng.normal(size=(2, draws)))
    teacher, sample, other = (output(known + rotate @ (np.sqrt(1 - q) * rng.normal(size=(2, draws)))) for _ in range(3))
    width, rho = committee_channel._unknown(*r)
    probability = committee_channel._probabilities(known[0] / width, known[1] / width, rho)
    best = np.array([1, -1, 0])[probability.argmax(0)]
    pairs = [
        (found.gibbs_error(), sample != teacher),
        (found.label_error(), (teacher - sample) * (teacher - other)),
        (committee_channel.bayes_error(*r), best != teacher),
        (found.entropy(), np.log(np.select([teacher == 1, teacher == -1], probability[:2], probability[2]))),
    ]
    for value, draws_of in pairs:
        score = (value - np.mean(draws_of)) / (np.std(draws_of) / math.sqrt(draws))
        assert abs(score) < 4


@pytest.mark.parametrize("alpha", [0.4, 1.7, 2.3, 4.4, 17.0])
def test_free_entropy_of_two_units_is_stationary(alpha):
    found = bayes.committee(alpha)

    def free_entropy(plus, minus):
        sites = 0.5 * (plus + math.log(1 - plus) + minus + math.log(1 - minus))
        return sites + alpha * committee_channel.labels(ratio(plus), ratio(minus)).entropy()

    plus, minus = found.mean_overlap, found.specialization
    assert free_entropy(plus, minus) == pytest.approx(found.free_entropy, abs=1e-12)
    step = 1e-3 * (1 - plus)
    slope = five_point_slope([free_entropy(plus + n * step, minus) for n in FIVE_POINTS], step)
    assert slope * (1 - plus) == pytest.approx(0, abs=1e-8)
    step = 1e-3 * min(1 - minus, minus) if minus else 0.01
    if minus:
        slope = five_point_slope([free_entropy(plus, minus + n * step) for n in FIVE_POINTS], step)
        assert slope * (1 - minus) == pytest.approx(0, abs=1e-8)
    else:
        assert free_entropy(plus, step) < free_entropy(plus, 0.0)
    assert (minus > 0) == (alpha > bayes.transitions("committee_2").algorithmic)


def test_two_units_without_specialization_in_one_dimension():
    """The formula of eq. 18, where z_- is integrated over: another way to the probabilities."""
    r_plus = 2.0
    q = r_plus / (1 + r_plus)
    x, weight = np.polynomial.legendre.leggauss(200)
    size, weight = 4.5 * (x + 1), 4.5 * weight
    density = 2 * weight * norm.pdf(size)

    def parts(omega):
        t = (size - np.array([[omega], [-omega]])) / math.sqrt(1 - q)
        Z = ndtr(-t) @ density
        slope = np.array([1, -1]) * (norm.pdf(t) @ density) / math.sqrt(1 - q)
        bend = ndtr(-t) @ (density * (size**2 - 1))
        return [np.append(v, total - v.sum()) for v, total in ((Z, 1), (slope, 0), (bend, 0))]

    def mean(function):
        return written(lambda v: float(np.sum(function(*parts(math.sqrt(q) * v)))))

    found = committee_channel.labels(r_plus, 0.0)
    assert found.information()[0] == pytest.approx((1 - q) * mean(lambda Z, d, b: d**2 / Z) * (1 + r_plus), rel=1e-8)
    assert found.stiffness() == pytest.approx(mean(lambda Z, d, b: b**2 / Z), rel=1e-8)
    assert found.entropy() == pytest.approx(mean(lambda Z, d, b: Z * np.log(Z)), rel=1e-9)


@pytest.mark.parametrize("alpha", [2.15, 2.7, 5.0])
def test_two_units_with_specialization_by_another_integral(alpha):
    """z_+ beats |z_-|: probabilities as integrals over |z_-|, on plain grids; gradients act on the Gaussians."""
    found = bayes.committee(alpha)
    q = np.array([found.mean_overlap, found.specialization])
    root, known = np.sqrt(1 - q), np.linspace(-7, 7, 141)
    weight = norm.pdf(known) * (known[1] - known[0])
    x, x_weight = np.polynomial.legendre.leggauss(160)
    size, size_weight = 4 * (x + 1), 4 * x_weight
    plus = math.sqrt(q[0]) * known[:, None]
    # [omega_-, |z_-|]: density of |z_-| and its derivative by omega_-.
    sides = [(sign * size - math.sqrt(q[1]) * known[:, None]) / root[1] for sign in (1, -1)]
    density = sum(norm.pdf(side) for side in sides) / root[1] * size_weight
    by_minus = sum(norm.pdf(side) * side for side in sides) / root[1] ** 2 * size_weight
    labels = []
    for sign in (1, -1):
        t = (size - sign * plus) / root[0]
        win, edge = ndtr(-t), sign * norm.pdf(t) / root[0]
        labels.append((win @ density.T, edge @ density.T, win @ by_minus.T))
    labels.append(tuple(total - a - b for total, a, b in zip((1, 0, 0), *labels, strict=True)))
    for index, overlap in enumerate(q):
        information = weight @ sum(parts[1 + index] ** 2 / np.maximum(parts[0], 1e-13) for parts in labels) @ weight
        assert overlap / (1 - overlap) == pytest.approx(alpha * information, rel=1e-7)


def test_specialization_is_continuous():
    branch = bayes._specialized_branch()
    assert (np.diff(branch, axis=0) > 0).all()
    threshold = bayes.transitions("committee_2").algorithmic
    near = [bayes.committee(threshold + distance).specialization / distance for distance in (1e-7, 1e-5, 1e-4)]
    assert near == pytest.approx([near[1]] * 3, rel=1e-3)
    assert bayes.committee(2.06).specialization == pytest.approx(0.00336, abs=5e-6)
    assert bayes.committee(2.1).specialization == pytest.approx(0.0216, abs=5e-6)


def test_information_of_two_units_at_twice_the_nodes(monkeypatch):
    pairs = [(0.5, 0.0), (2.0, 0.1), (15.0, 6.0), (20.0, 12.0), (2000.0, 1900.0)]
    before = [(*committee_channel.labels(*r).information(), committee_channel.bayes_error(*r)) for r in pairs]
    monkeypatch.setattr(committee_channel, "SPACING", 0.05)
    monkeypatch.setattr(committee_channel, "LEAD_NODES", 128)
    for r, values in zip(pairs, before, strict=True):
        after = (*committee_channel.labels(*r).information(), committee_channel.bayes_error(*r))
        assert after == pytest.approx(values, rel=1e-8)


def many_units(q, alpha):
    """Eq. 20 as it is written."""
    Q = 2 / math.pi * (1 - q + math.asin(q))
    x = math.sqrt(ratio(Q))
    entropy = written(lambda v: 2 * ndtr(x * v) * log_ndtr(x * v), [0.0])
    return 0.5 * (q + math.log(1 - q)) + alpha * entropy


@pytest.mark.parametrize("alpha", [7.3, 11.0, 60.0])
def test_many_units(alpha):
    found = bayes.committee(alpha, INF, "informed")
    q = found.specialization
    assert found.free_entropy == pytest.approx(many_units(q, alpha), abs=1e-10)
    step = 1e-3 * (1 - q)
    slope = five_point_slope([many_units(q + n * step, alpha) for n in FIVE_POINTS], step)
    assert slope * (1 - q) == pytest.approx(0, abs=1e-8)
    assert many_units(q + 3 * step, alpha) < found.free_entropy > many_units(q - 3 * step, alpha)
    plain = bayes.committee(alpha, INF)
    assert plain.specialization == 0
    assert plain.bayes_error == pytest.approx(math.acos(math.sqrt(2 / math.pi)) / math.pi)
    assert (found.free_entropy > plain.free_entropy) == (alpha > 7.680221)
    assert plain.free_entropy == pytest.approx(many_units(0.0, alpha), abs=1e-11)
    assert many_units(0.01, alpha) < plain.free_entropy


def test_many_units_at_the_transition_and_beyond():
    transition = bayes.transitions("committee_large").information_theoretic
    assert bayes.committee(transition, INF, "informed").specialization == pytest.approx(0.936364, abs=1e-6)
    assert bayes.committee(transition, INF, "informed").bayes_error == pytest.approx(0.142682, abs=1e-6)
    assert bayes.committee(7.16, INF, "informed").specialization == 0
    assert bayes.committee(1e9, INF, "informed").bayes_error < 1e-9


@pytest.mark.parametrize("prior", ["gaussian", "binary"])
def test_state_evolution_ends_on_the_curve(prior):
    m = bayes.state_evolution(1.2, 400, prior=prior)
    field = 1.2 * 2 / math.pi  # of labels about which nothing is known, 4 phi(0)^2 each
    first = written(lambda v: math.tanh(field + math.sqrt(field) * v))
    assert m[0] == pytest.approx(field / (1 + field) if prior == "gaussian" else first, rel=1e-9)
    assert m[-1] == pytest.approx(bayes.perceptron(1.2, prior).overlap, rel=1e-9)
    assert np.all(np.diff(m) > -1e-15)


@pytest.mark.parametrize(("alpha", "start"), [(0.4, 0.3), (0.9, 0.01), (1.05, 0.01), (1.05, 0.9999), (1.2, 0.01)])
def test_state_evolution_of_phase_retrieval(alpha, start):
    m = bayes.state_evolution(alpha, 2000, start, channel="absolute")
    expected = bayes.phase_retrieval(alpha, "informed" if start > 0.9 else "uninformed").overlap
    assert m[-1] == pytest.approx(expected, abs=1e-8)
    conjugate = absolute_conjugate(start, alpha)
    assert m[0] == pytest.approx(conjugate / (1 + conjugate), rel=1e-6)


@pytest.mark.parametrize("prior", ["gaussian", "binary"])
@pytest.mark.parametrize("overlap", [1e-6, 0.3, 0.9, 0.999999])
def test_free_entropy_is_the_smallest_value_over_the_conjugate(prior, overlap):
    alpha, r = 1.3, ratio(overlap)

    def value(log_field):
        m_hat = math.exp(log_field)
        if prior == "gaussian":
            site = 0.5 * (m_hat - math.log1p(m_hat))
        else:
            fields = [-math.sqrt(m_hat)] if m_hat < 70 else []
            site = -0.5 * m_hat + written(
                lambda z: np.logaddexp(h := m_hat + math.sqrt(m_hat) * z, -h) - math.log(2), fields
            )
        return site - 0.5 * overlap * m_hat

    bounds = (math.log(1e-7), math.log(r * 10 if prior == "gaussian" else 60))
    smallest = minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": 1e-9}).fun
    step = min(1 / math.sqrt(r), 1.0)
    pattern = 2 * written(lambda v: ndtr(x := math.sqrt(r) * v) * log_ndtr(x), [-6 * step, -step, 0.0, step, 6 * step])
    expected = smallest + alpha * pattern
    assert bayes.free_entropy(overlap, alpha, prior) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("prior", "channel", "alpha"),
    [("gaussian", "sign", 0.7), ("binary", "sign", 0.4), ("binary", "sign", 1.4), ("gaussian", "absolute", 1.1)],
)
def test_a_state_is_a_maximum_of_the_free_entropy(prior, channel, alpha):
    state = bayes.phase_retrieval(alpha) if channel == "absolute" else bayes.perceptron(alpha, prior)
    m = state.overlap
    below, at, above = bayes.free_entropy([m - 1e-3, m, m + 1e-3], alpha, prior, channel)
    assert at == pytest.approx(state.free_entropy, abs=1e-13)
    assert at > max(below, above)
    shifts = m + 1e-3 * np.array(FIVE_POINTS)
    assert five_point_slope(bayes.free_entropy(shifts, alpha, prior, channel), 1e-3) == pytest.approx(0, abs=1e-7)


def test_free_entropy_at_the_ends():
    none, almost_all = bayes.free_entropy(np.array([[0.0], [math.nextafter(1.0, 0.0)]]), 1.3, "binary")
    assert none == pytest.approx([-1.3 * math.log(2)], abs=1e-13)
    assert almost_all == pytest.approx([-math.log(2)], abs=1e-7)


@pytest.mark.parametrize("m_hat", [1e-9, 0.4, 6.0, 40.0, 100.0])
def test_a_binary_weight_in_weak_and_strong_fields(m_hat):
    _, v, _ = bayes._binary_means(m_hat)
    root, ends = math.sqrt(m_hat), (-30, -math.sqrt(m_hat) - 2, -math.sqrt(m_hat), -math.sqrt(m_hat) + 2, 30)

    def mean(function):
        def weighted(z):
            return norm.pdf(z) * function(m_hat + root * z)

        return sum(quad(weighted, *piece, epsabs=0, limit=400)[0] for piece in pairwise(ends))

    assert v == pytest.approx(mean(lambda h: math.exp(-h - np.logaddexp(h, -h) + math.log(2))), rel=1e-8)
    site = mean(lambda h: np.logaddexp(h, -h) - math.log(2)) - 0.5 * m_hat * (2 - v)
    assert bayes._binary_sites(m_hat) == pytest.approx(site, abs=1e-9)


@pytest.mark.parametrize(("alpha", "start"), [(7.0, 0.9), (8.0, 0.3), (8.0, 0.95), (30.0, 0.01), (100.0, 0.01)])
def test_state_evolution_of_many_units(alpha, start):
    m = bayes.state_evolution(alpha, 500, start, channel="committee")
    slope = five_point_slope([many_units(start + n * 1e-3, alpha) for n in FIVE_POINTS], 1e-3)
    conjugate = ratio(start) + 2 * slope
    assert m[0] == pytest.approx(conjugate / (1 + conjugate), rel=1e-5)
    # From a small specialization units do not specialize at any load.
    assert m[-1] == pytest.approx(
        bayes.committee(alpha, INF, "informed" if start > 0.9 else "uninformed").specialization
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bayes.perceptron(-1.0), "alpha = -1 is out of range"),
        (lambda: bayes.perceptron(1.0, "binry"), "nearest is 'binary'"),
        (lambda: bayes.perceptron(1.0, start="cold"), "start = 'cold' is not known"),
        (lambda: bayes.phase_retrieval(math.nan), "alpha = nan must be finite"),
        (lambda: bayes.state_evolution(1.0, 0), "updates = 0 is out of range"),
        (lambda: bayes.state_evolution(1.0, 5, 1.0), "overlap = 1.0 is out of range"),
        (lambda: bayes.state_evolution(1.0, 5, channel="abs"), "nearest is 'absolute'"),
        (lambda: bayes.free_entropy([0.2, 1.0], 1.0), "overlap = 1.0 is out of range"),
        (lambda: bayes.free_entropy(0.2, 1.0, "binry"), "nearest is 'binary'"),
        (lambda: bayes.state_evolution(1.0, 5, 0.1, "binary", "committee"), "allowed is 'gaussian'"),
        (lambda: bayes.committee(1.0, 3), "units = 3 is out of range: allowed are 2, math.inf"),
        (lambda: bayes.committee(1000.0), "alpha = 1000 is out of range"),
        (lambda: bayes.transitions("committee"), "nearest is 'committee_2'"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()


def test_a_failed_search_says_where():
    with pytest.raises(ConvergenceError, match="alpha=5, position=2"):
        bayes._place(lambda r: r, 5.0, (1.0, 2.0))
    assert bayes._place(lambda r: r, 1.5, (1.0, 2.0)) == pytest.approx(brentq(lambda r: r - 1.5, 1, 2))


def test_many_updates_are_refused():
    with pytest.raises(DomainError, match="allowed are integers from 1 to 100000"):
        bayes.state_evolution(1.0, 10**30)
