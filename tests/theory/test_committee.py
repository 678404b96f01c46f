"""The Bayes-optimal committee machine: thresholds, probabilities, written integrals, sampling, refusals."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal, norm

from localentropy.errors import ConvergenceError, DomainError
from localentropy.theory import committee, committee_channel, committee_units
from tests.finite_differences import slope_at
from tests.written_integrals import ratio, written

INF = math.inf


@pytest.mark.parametrize(
    ("units", "spinodal", "information_theoretic", "algorithmic"),
    [(2, 2.052382, 2.052382, 2.052382), (INF, 7.169239, 7.680221, INF)],
)
def test_transitions(units, spinodal, information_theoretic, algorithmic):
    found = committee.transitions(units)
    assert (found.weak, found.spinodal) == pytest.approx((0, spinodal), abs=6e-7)
    assert found.information_theoretic == pytest.approx(information_theoretic, abs=6e-7)
    assert found.algorithmic == pytest.approx(algorithmic, abs=6e-7)


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
        plus = slope_at(lambda plus: probabilities(plus, 0.0), 0.0, step)
        minus = slope_at(lambda minus: probabilities(0.0, minus), 0.0, step)
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
    found = committee.learning(alpha)

    def free_entropy(plus, minus):
        sites = 0.5 * (plus + math.log(1 - plus) + minus + math.log(1 - minus))
        return sites + alpha * committee_channel.labels(ratio(plus), ratio(minus)).entropy()

    plus, minus = found.mean_overlap, found.specialization
    assert free_entropy(plus, minus) == pytest.approx(found.free_entropy, abs=1e-12)
    step = 1e-3 * (1 - plus)
    slope = slope_at(lambda plus: free_entropy(plus, minus), plus, step)
    assert slope * (1 - plus) == pytest.approx(0, abs=1e-8)
    step = 1e-3 * min(1 - minus, minus) if minus else 0.01
    if minus:
        slope = slope_at(lambda minus: free_entropy(plus, minus), minus, step)
        assert slope * (1 - minus) == pytest.approx(0, abs=1e-8)
    else:
        assert free_entropy(plus, step) < free_entropy(plus, 0.0)
    assert (minus > 0) == (alpha > committee.transitions(2).algorithmic)


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
    found = committee.learning(alpha)
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
    branch = committee._specialized_branch()
    assert (np.diff(branch, axis=0) > 0).all()
    threshold = committee.transitions(2).algorithmic
    near = [committee.learning(threshold + distance).specialization / distance for distance in (1e-7, 1e-5, 1e-4)]
    assert near == pytest.approx([near[1]] * 3, rel=1e-3)
    assert committee.learning(2.06).specialization == pytest.approx(0.00336, abs=5e-6)
    assert committee.learning(2.1).specialization == pytest.approx(0.0216, abs=5e-6)


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
    found = committee.learning(alpha, INF, "informed")
    q = found.specialization
    assert found.free_entropy == pytest.approx(many_units(q, alpha), abs=1e-10)
    step = 1e-3 * (1 - q)
    slope = slope_at(lambda q: many_units(q, alpha), q, step)
    assert slope * (1 - q) == pytest.approx(0, abs=1e-8)
    assert many_units(q + 3 * step, alpha) < found.free_entropy > many_units(q - 3 * step, alpha)
    plain = committee.learning(alpha, INF)
    assert plain.specialization == 0
    assert plain.bayes_error == pytest.approx(math.acos(math.sqrt(2 / math.pi)) / math.pi)
    assert (found.free_entropy > plain.free_entropy) == (alpha > 7.680221)
    assert plain.free_entropy == pytest.approx(many_units(0.0, alpha), abs=1e-11)
    assert many_units(0.01, alpha) < plain.free_entropy


def test_many_units_at_the_transition_and_beyond():
    transition = committee.transitions(INF).information_theoretic
    assert committee.learning(transition, INF, "informed").specialization == pytest.approx(0.936364, abs=1e-6)
    assert committee.learning(transition, INF, "informed").bayes_error == pytest.approx(0.142682, abs=1e-6)
    assert committee.learning(7.16, INF, "informed").specialization == 0
    assert committee.learning(1e9, INF, "informed").bayes_error < 1e-9


@pytest.mark.parametrize(("alpha", "start"), [(7.0, 0.9), (8.0, 0.3), (8.0, 0.95), (30.0, 0.01), (100.0, 0.01)])
def test_state_evolution_of_many_units(alpha, start):
    m = committee.state_evolution(alpha, 500, start)
    slope = slope_at(lambda q: many_units(q, alpha), start, 1e-3)
    conjugate = ratio(start) + 2 * slope
    assert m[0] == pytest.approx(conjugate / (1 + conjugate), rel=1e-5)
    # From a small specialization units do not specialize at any load.
    assert m[-1] == pytest.approx(
        committee.learning(alpha, INF, "informed" if start > 0.9 else "uninformed").specialization
    )


def test_linear_regression_finds_the_mean_weights():
    """Its overlap in simulations, and Bayes' as a bound."""
    rng, d, found = np.random.default_rng(1), 300, []
    for _ in range(10):
        inputs, teacher = rng.normal(size=(2 * d, d)) / math.sqrt(d), rng.normal(size=(d, 2))
        labels = np.sign(np.sign(inputs @ teacher).sum(1))
        weights = np.linalg.solve(inputs.T @ inputs + (0.5 * math.pi - 1.0) * np.eye(d), inputs.T @ labels)
        mean = teacher.sum(1)
        found.append((weights @ mean) ** 2 / (weights @ weights) / (mean @ mean))
    linear, best = committee.least_squares(2.0), committee.learning(2.0)
    assert abs(np.mean(found) - linear.overlap) < 3 * np.std(found) / 3 + 1 / d
    assert linear.overlap < best.mean_overlap and best.bayes_error < linear.error < 1.01 * best.bayes_error


def test_three_units_specialize_where_samples_say():
    """Probabilities of the labels and their bend across, from drawn teachers, give the averages of the threshold."""
    rng, units, c, bins = np.random.default_rng(2), 3, 0.9, 40
    z = rng.normal(size=(1_500_000, units))
    s = z.sum(1) / math.sqrt(units)
    across = (np.sum(z**2, 1) - s**2) / (units - 1) - 1.0
    # What is known of s: omega has the variance c, and its covariance with s is c, too.
    omega = c * s + math.sqrt(c * (1.0 - c)) * rng.normal(size=s.size)
    place = np.clip(((omega / math.sqrt(c) + 3.0) / 6.0 * bins).astype(int), 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    stiffness = 0.0
    for label in (1, -1):
        own = np.sign(np.sign(z).sum(1)) == label
        z_y, bend = (np.bincount(place, w, bins) / counts for w in (own.astype(float), own * across))
        stiffness += np.sum(counts * bend**2 / np.maximum(z_y, 1e-9)) / counts.sum()
    assert committee_units._averages(units, c)[1] == pytest.approx(stiffness, rel=0.03)


def test_the_load_of_two_units_is_that_of_their_own_theory_and_many_need_the_square():
    assert committee_units.specialization(2) == pytest.approx(committee.transitions(2).algorithmic, rel=1e-9)
    loads = [committee_units.specialization(units) for units in (65, 129)]
    assert math.log2(loads[1] / loads[0]) == pytest.approx(2.0, abs=0.03)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: committee_units.specialization(1), "units = 1 is out of range"),
        (lambda: committee.least_squares(1000.0), "alpha = 1000 is out of range"),
        (lambda: committee.learning(1.0, 3), "units = 3 is out of range: allowed are 2, math.inf"),
        (lambda: committee.learning(1000.0), "alpha = 1000 is out of range"),
        (lambda: committee.learning(1.0, start="cold"), "start = 'cold' is not known"),
        (lambda: committee.transitions(True), "units = True is out of range"),
        (lambda: committee.state_evolution(1.0, 0), "updates = 0 is out of range"),
        (lambda: committee.state_evolution(1.0, 5, 1.0), "specialization = 1 is out of range"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()


def test_a_failed_search_says_where():
    with pytest.raises(ConvergenceError, match="alpha=5, position=2"):
        committee._place(lambda r: r, 5.0, (1.0, 2.0))
    assert committee._place(lambda r: r, 1.5, (1.0, 2.0)) == pytest.approx(brentq(lambda r: r - 1.5, 1, 2))
