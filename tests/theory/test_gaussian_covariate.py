"""Linear students on Gaussian features: simulation, cases with closed forms, iteration, another program, refusals."""

import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.numerics.activations import activation_moments
from localentropy.theory import erm, gaussian_covariate, hidden_manifold
from tests.theory.test_erm import student, value, written_averages_coarse


def problem(p=400):
    rng = np.random.default_rng(1)
    eigenvalues = np.exp(-np.arange(p) / 80)
    slope = rng.normal(size=p) / math.sqrt(p)
    return eigenvalues, slope


@pytest.mark.parametrize(
    ("samples", "strength"), [(130, 0.05), (400, 4.0), (1200, 1.0), (200, 0.0), (900, 0.0), (380, 1.5)]
)
def test_simulation(samples, strength):
    eigenvalues, slope = problem()
    p, runs, noise, rng = len(slope), 40, 0.5, np.random.default_rng(samples)
    found = gaussian_covariate.ridge(
        eigenvalues, eigenvalues * slope, noise + eigenvalues @ slope**2, samples, strength
    )
    rows = []
    for _ in range(runs):
        X = rng.normal(size=(samples, p)) * np.sqrt(eigenvalues)
        y = X @ slope + math.sqrt(noise) * rng.normal(size=samples)
        if strength:
            w = np.linalg.solve(X.T @ X + strength * np.eye(p), X.T @ y)
        else:
            w = np.linalg.lstsq(X, y, rcond=None)[0]
        rows.append((eigenvalues @ (w - slope) ** 2 + noise, np.mean((y - X @ w) ** 2)))
    expected = np.array([found.square_error, found.training_error])
    error = np.std(rows, 0, ddof=1) / math.sqrt(runs)
    assert (np.abs(np.mean(rows, 0) - expected) < 3.5 * error + 5 / p * expected + 1e-20).all()
    assert found.noise == pytest.approx(noise)


@pytest.mark.parametrize(("alpha", "strength"), [(0.4, 0.01), (1.7, 0.3), (20.0, 5.0)])
def test_independent_features_are_those_of_risk_minimisation(alpha, strength):
    """Another program, for the sign's labels: E[y x] = sqrt(2 / pi) w / d."""
    d = 50
    found = gaussian_covariate.ridge(np.ones(d) / d, math.sqrt(2 / math.pi) / d * np.ones(d), 1.0, alpha * d, strength)
    other = erm.fit(alpha, "square", strength)
    assert found.square_error == pytest.approx(other.square_error, rel=1e-10)
    assert found.training_error == pytest.approx(2 * other.training_loss, rel=1e-10)
    assert found.noise == pytest.approx(1 - 2 / math.pi)


def test_effective_regularization():
    eigenvalues, slope = problem()
    found = gaussian_covariate.ridge(eigenvalues, eigenvalues * slope, 2.0, 300, 0.7)
    kappa = found.effective_regularization
    assert np.sum(eigenvalues / (eigenvalues + kappa)) + 0.7 / kappa == pytest.approx(300, rel=1e-12)
    assert found.degrees_of_freedom == pytest.approx(300 - 0.7 / kappa, rel=1e-10)
    assert found.residual < 1e-12
    # Eq. 39 as it stands.
    lost = eigenvalues / (eigenvalues + kappa)
    bias = kappa**2 * np.sum(slope**2 * eigenvalues / (eigenvalues + kappa) ** 2)
    assert found.square_error == pytest.approx((bias + found.noise) / (1 - np.sum(lost**2) / 300), rel=1e-12)


def test_limits():
    eigenvalues, slope = problem()
    variance = 0.5 + eigenvalues @ slope**2
    arguments = (eigenvalues, eigenvalues * slope, variance)
    assert gaussian_covariate.ridge(*arguments, 1e11, 1.0).square_error == pytest.approx(0.5, rel=1e-6)
    assert gaussian_covariate.ridge(*arguments, 10, 1e12).square_error == pytest.approx(variance, rel=1e-6)
    # Without regularization, more samples than directions: noise / (1 - p / n) (least squares).
    free = gaussian_covariate.ridge(*arguments, 1000, 0.0)
    assert (free.square_error, free.training_error) == pytest.approx((0.5 / 0.6, 0.5 * 0.6))
    near = gaussian_covariate.ridge(*arguments, 1000, 1e-9)
    assert near.square_error == pytest.approx(free.square_error, rel=1e-8)
    assert near.training_error == pytest.approx(free.training_error, rel=1e-8)
    few = gaussian_covariate.ridge(*arguments, 100, 0.0)
    assert few.square_error == pytest.approx(gaussian_covariate.ridge(*arguments, 100, 1e-9).square_error, rel=1e-6)
    assert few.training_error == 0


def test_directions_without_variance_are_left_out():
    eigenvalues, slope = problem()
    some = gaussian_covariate.ridge(eigenvalues, eigenvalues * slope, 2.0, 300, 0.0 + 0.1)
    padded = np.append(eigenvalues, [0.0, 1e-17, -1e-17])
    more = gaussian_covariate.ridge(padded, np.append(eigenvalues * slope, [0.0, 1e-10, 1e-10]), 2.0, 300, 0.1)
    assert more.square_error == pytest.approx(some.square_error, rel=1e-12)


@pytest.mark.parametrize(("samples", "strength"), [(300, 0.0), (40, 0.3), (200, 0.3)])
def test_moments_of_a_finite_set(samples, strength):
    """Over sets of images the mean error is that of the exact moments; as it stands it is too small."""
    p, images, sets, noise, rng = 60, 600, 100, 0.5, np.random.default_rng(7)
    eigenvalues, slope = np.exp(-np.arange(p) / 20), rng.normal(size=p) / math.sqrt(p)
    exact = gaussian_covariate.ridge(
        eigenvalues, eigenvalues * slope, noise + float(eigenvalues @ slope**2), samples, strength
    ).square_error
    corrected, plain = [], []
    for _ in range(sets):
        v = rng.normal(size=(images, p)) * np.sqrt(eigenvalues)
        y = v @ slope + math.sqrt(noise) * rng.normal(size=images)
        spectrum, vectors = np.linalg.eigh(v.T @ v / images)
        moments = spectrum, vectors.T @ (v.T @ y / images), float(np.mean(y**2))
        found = gaussian_covariate.ridge(*moments, samples, strength, images=images)
        corrected.append(found.square_error)
        plain.append(gaussian_covariate.ridge(*moments, samples, strength).square_error)
        assert plain[-1] == pytest.approx(found.square_error - found.finite_set, rel=1e-12)
    error = np.std(corrected, ddof=1) / math.sqrt(sets)
    # The eigenvalues of a set are spread: an error of the order (p / images)^2 that is not corrected.
    assert abs(np.mean(corrected) - exact) < 3.5 * error + 5e-3 * exact * bool(strength)
    assert np.mean(plain) < exact - 5 * error


ONES = np.ones(4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gaussian_covariate.ridge(ONES, np.ones(3), 1.0, 2, 0.1), "both must be"),
        (lambda: gaussian_covariate.ridge(-ONES, ONES, 1.0, 2, 0.1), "none may be negative"),
        (lambda: gaussian_covariate.ridge(ONES, ONES, 1.0, 2, 0.1), "variance = 1 is below 4"),
        (lambda: gaussian_covariate.ridge(ONES, 0.1 * ONES, 1.0, 0, 0.1), "samples = 0 is out of range"),
        (lambda: gaussian_covariate.ridge(ONES, 0.1 * ONES, 1.0, 4, 0.0), "samples = 4 is the number"),
        (lambda: gaussian_covariate.ridge(ONES, 0.1 * ONES, 1.0, 4, -1.0), "regularization = -1 is out of range"),
        (lambda: gaussian_covariate.ridge(ONES, 0.1 * ONES, 1.0, 4, 1.0, images=4), "images = 4 is out of range"),
        (lambda: gaussian_covariate.ridge([], [], 1.0, 4, 1.0), "no eigenvalue given"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"eigenvalues": [1.0, 0.0]}, "coefficient = 0.2 belongs to an eigenvalue that is 0"),
        ({"eigenvalues": [1e300, 1.0]}, "eigenvalue = 1e.300 is out of range: allowed are"),
        ({"eigenvalues": [1e-300, 1e-300]}, "the largest must be at least"),
        ({"eigenvalues": {1.0, 2.0}}, "a set given"),
        ({"coefficients": [1e200, 1.0]}, "coefficient = 1e.200 is out of range: allowed are"),
        ({"regularization": 5e-324}, "regularization = 4.9.*e-324 is out of range"),
        ({"images": 2}, "images = 2 is out of range: allowed are .3, 1e.12."),
    ],
)
def test_magnitudes_of_ridge_regression(changes, words):
    arguments = {"eigenvalues": [1.0, 2.0], "coefficients": [0.1, 0.2], "variance": 1.0, "samples": 5.0}
    with pytest.raises(DomainError, match=words):
        gaussian_covariate.ridge(**{**arguments, "regularization": 0.1, **changes})


def correlated(d, k, rng):
    """Covariances of k Gaussian inputs of a teacher and of d features that are mixed from them and from noise."""
    mixing = rng.normal(size=(d, k)) / math.sqrt(k)
    inner = np.diag(np.linspace(0.2, 2.0, k))
    noise = np.diag(np.geomspace(0.05, 1.0, d))
    return mixing @ inner @ mixing.T + noise, inner @ mixing.T, inner, mixing, noise


def iterated(x, projected, variance, alpha, loss, strength):
    """The paper's equations, V, q, m and their conjugates, iterated from a small start."""
    V, q, m, d = 1.0, 0.5, 0.1, len(x)
    for _ in range(120):
        A, B, C, _ = written_averages_coarse(loss, V, q - m**2, m)
        ridge = strength + alpha * A * x
        V = 0.5 * V + 0.5 * np.mean(x / ridge)
        pull = alpha * C * math.sqrt(d) / math.sqrt(variance)
        signal = pull * projected
        q = 0.5 * q + 0.5 * np.mean(x * (alpha * B * x + signal**2) / ridge**2)
        m = 0.5 * m + 0.5 * np.mean(signal * projected / ridge) * math.sqrt(d) / math.sqrt(variance)
    return V, q, m


@pytest.mark.parametrize(("loss", "strength"), [("logistic", 0.05), ("logistic", 1.0)])
def test_another_covariance_by_iteration(loss, strength):
    d, k = 40, 25
    rng = np.random.default_rng(2)
    Omega, Phi, Psi, _, _ = correlated(d, k, rng)
    teacher = rng.normal(size=k)
    x, vectors = np.linalg.eigh(Omega)
    projected = vectors.T @ (Phi.T @ teacher) / math.sqrt(k)
    V, q, m = iterated(x, projected, teacher @ Psi @ teacher / k, 1.7, loss, strength)
    found = gaussian_covariate.fit(Omega, Phi, Psi, loss, strength, 1.7, teacher)
    assert (found.susceptibility, found.norm, found.overlap) == pytest.approx((V, q, m), rel=1e-4)


@pytest.mark.parametrize(("loss", "strength"), [("square", 0.1), ("logistic", 0.05), ("hinge", 0.2), ("huber", 0.1)])
@pytest.mark.parametrize("random", [False, True])
def test_simulated_students(loss, strength, random):
    """Minimizers by a library's optimizer, on features of one covariance; labels of a teacher, or random ones."""
    d, k, alpha, runs = 160, 80, 1.5, 16
    rng = np.random.default_rng(4)
    Omega, Phi, Psi, mixing, noise = correlated(d, k, rng)
    teacher = rng.normal(size=k)
    rows = []
    for _ in range(runs):
        u = rng.normal(size=(round(alpha * d), k)) @ np.sqrt(Psi)
        v = u @ mixing.T + rng.normal(size=(len(u), d)) @ np.sqrt(noise)
        y = rng.choice([-1.0, 1.0], len(u)) if random else np.sign(u @ teacher)
        w = student(loss, v / math.sqrt(d), y, strength)
        Q = w @ Omega @ w / d
        M = 0.0 if random else w @ Phi.T @ teacher / math.sqrt(d * (teacher @ Psi @ teacher))
        rows.append((Q, math.acos(M / math.sqrt(Q)) / math.pi, value(loss, y * (v @ w) / math.sqrt(d)).mean()))
    found = gaussian_covariate.fit(Omega, 0.0 * Phi if random else Phi, Psi, loss, strength, alpha, teacher)
    mean, error = np.mean(rows, 0), np.std(rows, 0, ddof=1) / math.sqrt(runs)
    expected = np.array([found.norm, found.generalization_error, found.training_loss])
    assert (np.abs(mean - expected) < 3.5 * error + 3 / d * expected).all()


@pytest.mark.parametrize("loss", ["square", "logistic", "hinge", "huber"])
def test_independent_inputs_are_a_case(loss):
    one = np.eye(6)
    for alpha, strength in ((0.3, 1e-6), (3.0, 0.01), (20.0, 2.0)):
        found, expected = gaussian_covariate.fit(one, one, one, loss, strength, alpha), erm.fit(alpha, loss, strength)
        for name in ("overlap", "norm", "susceptibility", "generalization_error", "training_loss"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("loss", ["square", "logistic", "hinge", "huber"])
@pytest.mark.parametrize("gamma", [0.3, 2.0])
def test_the_hidden_manifold_is_a_case(loss, gamma):
    """The spectrum of Marchenko and Pastur on nodes, in the place of its closed forms."""
    mu, star = activation_moments("erf").mu_1, activation_moments("erf").mu_star_squared
    angle, weight = np.polynomial.legendre.leggauss(400)
    angle, weight = 0.5 * math.pi * (angle + 1), 0.5 * math.pi * weight
    low, high = (1 - math.sqrt(gamma)) ** 2, (1 + math.sqrt(gamma)) ** 2
    x = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(angle)
    # Of the p eigenvalues of F^T F / p; the others are zero.
    density = weight * (0.5 * (high - low) * np.sin(angle)) ** 2 / (2 * math.pi * x)
    eigenvalues = np.append(mu**2 * x / gamma + star, star)
    weights = np.append(density, max(1 - gamma, 0.0))
    shares = np.append(mu**2 * x / gamma * density / (gamma * eigenvalues[:-1]), 0.0)
    features = gaussian_covariate.GaussianFeatures(1.3, eigenvalues, weights, shares)
    found, expected = erm.minimum(features, loss, 0.02, {}), hidden_manifold.fit(1.3, gamma, loss, 0.02)
    for name in ("overlap", "norm", "susceptibility", "generalization_error", "training_loss"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-9)


@pytest.mark.parametrize("samples", [30, 150])
def test_ridge_regression_is_the_square_loss(samples):
    d, k = 60, 40
    Omega, Phi, Psi, _, _ = correlated(d, k, np.random.default_rng(6))
    teacher = np.random.default_rng(7).normal(size=k)
    found = gaussian_covariate.fit(Omega, Phi, Psi, "square", 0.4, samples / d, teacher)
    x, vectors = np.linalg.eigh(Omega / d)
    signal = vectors.T @ (Phi.T @ teacher) / math.sqrt(d * (teacher @ Psi @ teacher))
    expected = gaussian_covariate.ridge(x, math.sqrt(2 / math.pi) * signal, 1.0, samples, 0.4)
    assert found.square_error == pytest.approx(expected.square_error, rel=1e-10)
    assert 2 * found.training_loss == pytest.approx(expected.training_error, rel=1e-10)


def test_random_labels():
    """Square loss: 1/2 (1 - 1/alpha) without a ridge. Hinge loss: none up to the capacity 2."""
    one, none = np.eye(3), np.zeros((3, 3))

    def loss(kind, alpha, strength=1e-9):
        found = gaussian_covariate.fit(one, none, one, kind, strength, alpha)
        assert (found.generalization_error, found.overlap) == (0.5, 0.0)
        return found.training_loss

    for alpha in (1.2, 2.0, 7.0):
        assert loss("square", alpha) == pytest.approx(0.5 * (1 - 1 / alpha), abs=1e-7)
    assert loss("square", 0.8) < 1e-12
    assert max(loss("hinge", alpha) for alpha in (0.5, 1.5, 1.95)) < 1e-9
    assert 0.02 < loss("hinge", 2.0005, 1e-12) < loss("hinge", 2.05, 1e-12)


def test_the_mean_over_teachers():
    d, k = 80, 60
    rng = np.random.default_rng(8)
    Omega, Phi, Psi, _, _ = correlated(d, k, rng)
    single = [
        gaussian_covariate.fit(Omega, Phi, Psi, "logistic", 0.01, 0.5, rng.normal(size=k)).generalization_error
        for _ in range(20)
    ]
    whole = gaussian_covariate.fit(Omega, Phi, Psi, "logistic", 0.01, 0.5).generalization_error
    assert abs(np.mean(single) - whole) < 3 * np.std(single, ddof=1) / math.sqrt(20) + 1e-2 * whole


def test_a_printed_number():
    """Example 1 of the programs of Loureiro et al. prints 0.3816, of one teacher and two projections at D = 1000.

    At this size teachers scatter by 0.0032 (12 teachers at half of the size). Here D = 200, and the mean over teachers.
    """
    D, d, k = 200, 400, 200
    rng = np.random.default_rng(0)
    inner, outer = rng.normal(size=(k, D)) / math.sqrt(D), rng.normal(size=(d, D)) / math.sqrt(D)
    sign, erf = activation_moments("sign"), activation_moments("erf")
    Psi = sign.mu_1**2 * inner @ inner.T + sign.mu_star_squared * np.eye(k)
    Omega = erf.mu_1**2 * outer @ outer.T + erf.mu_star_squared * np.eye(d)
    found = gaussian_covariate.fit(Omega, sign.mu_1 * erf.mu_1 * inner @ outer.T, Psi, "logistic", 0.01, 0.5)
    assert found.generalization_error == pytest.approx(0.3816, abs=0.0096)


SMALL = np.diag([1.0, 2.0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gaussian_covariate.fit(-SMALL, SMALL, SMALL), "Omega: allowed is a covariance"),
        (lambda: gaussian_covariate.fit(SMALL, SMALL, [[1, 1], [0, 2]]), "Psi of shape .*: allowed is a symm"),
        (lambda: gaussian_covariate.fit(SMALL, np.ones((3, 2)), SMALL), r"Phi of shape \(3, 2\): allowed is \(2, 2\)"),
        (lambda: gaussian_covariate.fit(SMALL, 3 * SMALL, SMALL), "Phi: the features explain 9 of the teacher's"),
        (lambda: gaussian_covariate.fit(SMALL, SMALL, SMALL, "hubr"), "nearest is 'huber'"),
        (
            lambda: gaussian_covariate.fit(SMALL, SMALL, SMALL, teacher=[0.0, 0.0]),
            "teacher: the variance of its sum",
        ),
    ],
)
def test_refusals_of_covariances(call, words):
    with pytest.raises(DomainError, match=words):
        call()
