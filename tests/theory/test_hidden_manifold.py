"""The hidden manifold: spectral means, the slide's equations, closed form, simulation, refusals."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf, sqrt
from scipy.integrate import quad
from scipy.special import erf

from localentropy.errors import DomainError
from localentropy.numerics.activations import activation_moments
from localentropy.theory import erm, hidden_manifold
from localentropy.theory.losses import LOSSES

MU, STAR = activation_moments("erf").mu_1, activation_moments("erf").mu_star_squared


@pytest.mark.parametrize("gamma", [0.05, 0.6, 1.0, 2.5])
@pytest.mark.parametrize("s", [1e-3, 0.7, 60.0])
def test_spectral_means(gamma, s):
    """Against the density of Marchenko and Pastur; p eigenvalues are d ones and p - d zeros."""
    low, high = (1 - math.sqrt(gamma)) ** 2, (1 + math.sqrt(gamma)) ** 2

    def mean_d(function):
        def along(t):  # x = middle + half cos t makes the density smooth
            x = 0.5 * (low + high) + 0.5 * (high - low) * math.cos(t)
            return function(x) * (0.5 * (high - low) * math.sin(t)) ** 2 / (2 * math.pi * gamma * x)

        return quad(along, 0, math.pi, epsabs=1e-13, limit=400)[0] + max(1 - 1 / gamma, 0) * function(0.0)

    def mean_p(function):
        return gamma * mean_d(function) + (1 - gamma) * function(0.0)

    first = mean_d(lambda x: x / (1 + s * x))
    written = [
        first, mean_d(lambda x: (x / (1 + s * x) - first) ** 2), mean_p(lambda x: 1 / (1 + s * x)),
        mean_p(lambda x: 1 / (1 + s * x) ** 2), mean_d(lambda x: x / (1 + s * x) ** 2),
    ]  # fmt: skip
    assert hidden_manifold._spectral_means(s, gamma) == pytest.approx(written, rel=1e-8)


@pytest.mark.parametrize("gamma", [1e-4, 0.03, 1.0, 1.001, 50.0, 1e4])
def test_spectral_means_lose_no_digits(gamma):
    """The closed forms with 60 digits, where differences of nearly equal numbers do no harm."""
    mp.dps = 60
    for s in (1e-8, 1e-3, 1.0, 1e4, 1e12):
        x, g = mpf(s), mpf(gamma)
        root = sqrt(1 + 2 * (1 + g) * x + ((1 - g) * x) ** 2)
        e, h = 2 / (root + 1 + (1 - g) * x), 2 / (root + 1 - (1 - g) * x)
        square = e * h * (2 * (1 + g) + (1 - g) ** 2 * x) / (root * (root + 1))
        exact = [e * h, square - (e * h) ** 2, h, h / (e * root), e * h / root]
        assert hidden_manifold._spectral_means(s, gamma) == pytest.approx([float(value) for value in exact], rel=1e-11)


def slide(alpha, gamma, strength, A, B, C):
    """V, Q, M from A, B, C by the slide's formulas with the Stieltjes transform, corrected (docs/glm/theory.md, 7)."""
    V_s, q_s, m_s = alpha / gamma * MU**2 * A, alpha / gamma * MU**2 * B, alpha / gamma * MU * C
    V_w, q_w = alpha * STAR * A, alpha * STAR * B
    z = (strength + V_w) / V_s
    b = 1 - gamma + z
    root = math.sqrt(b * b + 4 * gamma * z)
    g = 2 / (b + root)
    slope = 2 * (1 + (b + 2 * gamma) / root) / (b + root) ** 2
    ridge, force = strength + V_w, m_s**2 + q_s
    V = MU**2 * (1 - z * g) / V_s + STAR * gamma / ridge * (1 / gamma - 1 + z * g)
    M = MU * m_s / V_s * (1 - z * g)
    latent = force / V_s**2 * (1 - 2 * z * g + z**2 * slope) + q_w / (ridge * V_s) * (z * g - z**2 * slope)
    own = gamma * q_w / ridge**2 * (1 / gamma - 1 + z**2 * slope)
    own += gamma * force / (ridge * V_s) * (z * g - z**2 * slope)
    return V, MU**2 * latent + STAR * own, M


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize(("alpha", "gamma", "strength"), [(0.5, 0.1, 0.1), (3.0, 0.4, 0.01), (0.7, 2.0, 0.5)])
def test_solves_the_equations_of_the_slide(loss, alpha, gamma, strength):
    found = hidden_manifold.fit(alpha, gamma, loss, strength)
    averages = LOSSES[loss].averages(found.susceptibility, found.norm - found.overlap**2, found.overlap)
    expected = slide(alpha, gamma, strength, *averages[:3])
    assert (found.susceptibility, found.norm, found.overlap) == pytest.approx(expected, rel=1e-8)
    assert found.training_loss == pytest.approx(averages.loss, rel=1e-12)


def test_numbers_of_another_program():
    assert hidden_manifold.fit(0.5, 0.1, "square", 0.1).generalization_error == pytest.approx(0.12735, abs=6e-6)
    assert hidden_manifold.fit(3.0, 0.1, "square", 0.1).generalization_error == pytest.approx(0.08918, abs=6e-6)


@pytest.mark.parametrize("alpha", [1.3, 2.0, 8.0])
@pytest.mark.parametrize("gamma", [0.1, 0.5])
def test_closed_form_without_regularization(alpha, gamma):
    z = gamma * STAR / MU**2
    b = 1 - gamma + z
    g = 2 / (b + math.sqrt(b * b + 4 * gamma * z))
    noise = 1 - 2 / math.pi * (1 - z * g)
    found = hidden_manifold.fit(alpha, gamma, "square", 1e-8)
    assert found.square_error == pytest.approx(noise * alpha / (alpha - 1), rel=1e-5)
    if (alpha, gamma) == (2.0, 0.1):
        assert found.square_error == pytest.approx(0.739988, abs=1e-6)


def test_peak_where_samples_are_as_many_as_features():
    errors = [hidden_manifold.fit(alpha, 0.1, "square", 1e-8).generalization_error for alpha in (0.3, 1.0, 4.0)]
    assert errors[1] > 0.48
    assert max(errors[0], errors[2]) < 0.21


def test_the_best_regularization_has_no_peak():
    errors = []
    for alpha in (0.3, 0.7, 1.0, 1.5, 4.0):
        best = hidden_manifold.optimal_regularization(alpha, 0.1)
        around = [
            hidden_manifold.fit(alpha, 0.1, "square", factor * best).generalization_error for factor in (0.9, 1.0, 1.1)
        ]
        assert around[1] < min(around[0], around[2])
        errors.append(around[1])
    assert (np.diff(errors) < 0).all()


def test_many_inputs_are_independent_features():
    """Linear features of far more inputs than features are independent, and tell next to nothing of the teacher."""
    alpha, strength = 1.5, 0.4
    found = hidden_manifold.fit(alpha, 1e4, "square", strength, "identity")
    V = erm.fit(alpha, "square", strength).susceptibility
    assert found.susceptibility == pytest.approx(V, rel=1e-3)
    gain = alpha * (V / (1 + V)) ** 2
    assert found.norm == pytest.approx(gain / (1 - gain), rel=1e-3)
    assert found.generalization_error == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("loss", "alpha", "strength"), [("square", 0.6, 0.05), ("square", 2.0, 0.1), ("logistic", 1.5, 0.02)]
)
def test_simulation_of_the_gaussian_surrogate(loss, alpha, strength):
    from tests.theory.test_erm import student, value

    rng, p, gamma, runs = np.random.default_rng(11), 500, 0.3, 12
    d, n, rows = round(gamma * p), round(alpha * p), []
    for _ in range(runs):
        F, theta = rng.normal(size=(d, p)), rng.normal(size=d)
        theta *= math.sqrt(d) / np.linalg.norm(theta)

        def draw(number, F=F, theta=theta):
            c = rng.normal(size=(number, d))
            u = MU * c @ F / math.sqrt(d) + math.sqrt(STAR) * rng.normal(size=(number, p))
            return u / math.sqrt(p), np.sign(c @ theta)

        X, y = draw(n)
        w = student(loss, X, y, strength)
        new, labels = draw(8000)
        rows.append(
            (np.mean(labels * (new @ w) < 0), value(loss, y * (X @ w)).mean(), np.mean((labels - new @ w) ** 2))
        )
    found = hidden_manifold.fit(alpha, gamma, loss, strength)
    expected = np.array([found.generalization_error, found.training_loss, found.square_error])
    mean, error = np.mean(rows, 0), np.std(rows, 0, ddof=1) / math.sqrt(runs)
    assert (np.abs(mean - expected) < 3.5 * error + 3 / d * expected).all()


def test_simulation_of_the_features_themselves():
    """erf features of a finite number of inputs have smaller errors: by 2 to 6 % at d = 100 to 200."""
    rng, p, d, runs, errors = np.random.default_rng(12), 600, 200, 10, []
    for _ in range(runs):
        F, theta = rng.normal(size=(d, p)), rng.normal(size=d)
        c = rng.normal(size=(1200 + 6000, d))
        u, y = erf(c @ F / math.sqrt(d)) / math.sqrt(p), np.sign(c @ theta)
        # erf's argument has variance 1: F is drawn again for each run, so its columns' lengths average out.
        X, train = u[:1200], y[:1200]
        w = np.linalg.solve(X.T @ X + 0.1 * np.eye(p), X.T @ train)
        errors.append(np.mean(y[1200:] * (u[1200:] @ w) < 0))
    expected = hidden_manifold.fit(2.0, d / p, "square", 0.1).generalization_error
    low = np.mean(errors) / expected - 1
    assert -0.06 < low < 3 * np.std(errors, ddof=1) / math.sqrt(runs) / expected


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hidden_manifold.fit(0.0, 0.1), "samples_per_feature = 0 is out of range"),
        (lambda: hidden_manifold.fit(1.0, -1.0), "inputs_per_feature = -1 is out of range"),
        (lambda: hidden_manifold.fit(1.0, 0.1, activation="erff"), "nearest is 'erf'"),
        (lambda: hidden_manifold.fit(1.0, 0.1, activation=lambda z: z * z - 1), "nothing can be learned"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()
