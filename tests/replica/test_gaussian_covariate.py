"""Ridge regression on Gaussian features: simulation, the independent case, closed forms, refusals."""

import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.replica import erm, gaussian_covariate


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
        ({"eigenvalues": [1e300, 1.0]}, "eigenvalue = 1e.300 is outside"),
        ({"eigenvalues": [1e-300, 1e-300]}, "the largest must be at least"),
        ({"eigenvalues": {1.0, 2.0}}, "a set given"),
        ({"coefficients": [1e200, 1.0]}, "coefficient = 1e.200 is outside"),
        ({"regularization": 5e-324}, "regularization = 4.9.*e-324 is out of range"),
        ({"images": 2}, "images = 2 is out of range: allowed are .3, 1e.12."),
    ],
)
def test_magnitudes_of_ridge_regression(changes, words):
    arguments = {"eigenvalues": [1.0, 2.0], "coefficients": [0.1, 0.2], "variance": 1.0, "samples": 5.0}
    with pytest.raises(DomainError, match=words):
        gaussian_covariate.ridge(**{**arguments, "regularization": 0.1, **changes})
