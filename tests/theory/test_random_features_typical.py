"""Typical solutions: stationarity, an independent solver, limits, thresholds, quoted numbers."""

import functools

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.numerics.activations import activation_moments
from localentropy.numerics.saddle_point import solve
from localentropy.theory import RandomFeatures, alpha_c, energies, kappa_max, patterns, sites, typical
from localentropy.theory.model import Typical
from localentropy.theory.typical_solutions import typical_point
from tests.finite_differences import slope_at

POINTS = [
    # alpha_T, 1/alpha, margin, activation
    (3.0, 2.0, 0.0, "sign"),
    (3.0, 1.2, 0.2, "sign"),
    (0.05, 1.3, 0.05, "sign"),
    (10.0, 0.7, 0.0, "tanh"),
    (1.0, 20.0, 2.0, "erf"),
    (3.0, 5.0, 0.5, "identity"),
    (5.0, 1000.0, 0.0, "sign"),
]
UNKNOWNS = ("q", "p", "p_d", "r", "q_hat", "p_hat", "p_d_hat", "r_hat")


Z, WEIGHT = np.polynomial.legendre.leggauss(1500)
Z, WEIGHT = 10 * Z, 10 * WEIGHT * norm.pdf(10 * Z)


def vector(solution):
    return np.array([getattr(solution, name) for name in UNKNOWNS])


def fixed_point(alpha_T, inv_alpha, margin, activation):
    """Twin: the explicit saddle-point equations, iterated; own quadrature (Gauss-Legendre), scipy's tails."""
    alpha, alpha_D = 1 / inv_alpha, 1 / inv_alpha / alpha_T
    moments = activation_moments(activation)
    mu_1, noise = moments.mu_1, moments.mu_star_squared
    q, p, p_d, r = 0.3, 0.3, 1.0, 0.1
    for _ in range(4000):
        Q, Q_d, R = noise * q + mu_1**2 * p, noise + mu_1**2 * p_d, mu_1 * r
        V = Q_d - Q

        def hazard(h):
            return np.exp(norm.logpdf(h) - log_ndtr(-h))

        h = (margin - np.sqrt(Q) * Z) / np.sqrt(V)
        g = hazard(h)
        teacher = 2 * WEIGHT * ndtr(R * Z / np.sqrt(Q - R * R))
        g_squared, minus_slope = teacher @ g**2 / V, teacher @ (g * (g - h)) / V
        at_zero = 2 / np.sqrt(2 * np.pi * V) * WEIGHT @ hazard((margin - np.sqrt(Q - R * R) * Z) / np.sqrt(V))
        A, p_hat, r_hat = alpha_T * mu_1**2 * minus_slope, alpha_T * mu_1**2 * g_squared, alpha_T * mu_1 * at_zero
        M = 1 + A * (1 - q)
        q_hat = alpha_D * (p_hat + r_hat**2 + A**2 * q) / M**2 + alpha * noise * g_squared
        new_q = WEIGHT @ np.tanh(np.sqrt(q_hat) * Z) ** 2
        M = 1 + A * (1 - new_q)
        new_p = (new_q + (p_hat + r_hat**2) * (1 - new_q) ** 2) / M**2
        new = np.array([new_q, new_p, new_p + (1 - new_q) / M, r_hat * (1 - new_q) / M])
        old = np.array([q, p, p_d, r])
        change = np.max(np.abs(new - old))
        q, p, p_d, r = 0.5 * (new + old)
        if change < 1e-13:
            break
    return np.array([q, p, p_d, r, q_hat, p_hat, A - p_hat, r_hat])


@pytest.mark.parametrize("point", POINTS)
def test_equals_the_fixed_point_of_the_explicit_equations(point):
    np.testing.assert_allclose(vector(typical(RandomFeatures(*point))), fixed_point(*point), rtol=1e-9, atol=1e-9)


def free_entropy(x, alpha_T, inv_alpha, margin, activation):
    """Twin: docs/overparam/theory.md eq. 4 with all its conjugates, by Gauss-Legendre quadrature."""
    q, p, p_d, r, q_hat, p_hat, p_d_hat, r_hat = x
    alpha, alpha_D = 1 / inv_alpha, 1 / inv_alpha / alpha_T
    moments = activation_moments(activation)
    mu_1, noise = moments.mu_1, moments.mu_star_squared
    Q, Q_d, R = noise * q + mu_1**2 * p, noise + mu_1**2 * p_d, mu_1 * r
    A, v = p_hat + p_d_hat, 1 - q
    student = WEIGHT @ np.logaddexp(np.sqrt(q_hat) * Z, -np.sqrt(q_hat) * Z)
    latent = -0.5 * np.log(1 + A * v) + ((p_hat + r_hat**2) * v - A * q) / (2 * (1 + A * v))
    pattern = 2 * WEIGHT @ (ndtr(R * Z / np.sqrt(Q - R * R)) * log_ndtr((np.sqrt(Q) * Z - margin) / np.sqrt(Q_d - Q)))
    conjugates = 0.5 * (p_hat * p + p_d_hat * p_d) - r_hat * r
    return -0.5 * q_hat * v + alpha_D * conjugates + student + alpha_D * latent + alpha * pattern


@pytest.mark.parametrize("point", POINTS)
def test_entropy_is_the_free_entropy_of_the_paper(point):
    solution = typical(RandomFeatures(*point))
    # As the paper writes it, terms of size alpha_D p_hat p_d cancel.
    assert solution.entropy == pytest.approx(free_entropy(vector(solution), *point), abs=1e-12)


@pytest.mark.parametrize("point", POINTS)
def test_stationary_by_finite_differences_of_the_free_entropy(point):
    x = vector(typical(RandomFeatures(*point)))
    q, p, p_d, r, q_hat, p_hat, p_d_hat, _ = x
    mu_1 = activation_moments(point[3]).mu_1
    # What must stay positive: the step is limited by the distance to the border of the domain.
    positive = min(q, 1 - q, q_hat, q + p - (mu_1 * r) ** 2, p_d - p, 1 + (p_hat + p_d_hat) * (1 - q))
    latent = 1 / (point[0] * point[1]) * np.array([0.5, 0.5, 1.0])
    for index, scale in enumerate(np.concatenate([[0.5], latent, [0.5], latent])):
        step = 1e-4 * min(1.0, abs(x[index]), positive)
        slope = slope_at(lambda x: free_entropy(x, *point), x, step, index)
        assert abs(slope) / scale < 1e-6 + 1e-15 / step / scale


@pytest.mark.parametrize("point", [*POINTS, (3.0, 20.0, "max", "sign"), (1.0, 100.0, "max", "sign")])
def test_doubling_the_nodes_changes_nothing(point, monkeypatch):
    alpha_T, inv_alpha, margin, activation = point
    if margin == "max":
        margin = kappa_max(RandomFeatures(alpha_T, inv_alpha, activation=activation))
    student = RandomFeatures(alpha_T, inv_alpha, margin, activation)
    coarse = typical_point(student)
    monkeypatch.setattr(energies, "hard_margin", functools.partial(patterns.hard_margin, spacing=patterns.SPACING / 2))
    monkeypatch.setattr(sites, "binary", functools.partial(sites.binary, spacing=sites.SPACING / 2))
    fine = solve(Typical(student), coarse.coordinates)
    assert coarse.value == pytest.approx(fine.value, abs=1e-12)
    np.testing.assert_allclose(coarse.coordinates, fine.coordinates, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("activation", ["sign", "tanh", "erf", "identity"])
def test_storage_limit(activation):
    assert alpha_c(RandomFeatures(1e-7, activation=activation)) == pytest.approx(0.8330786, abs=2e-7)
    assert alpha_c(RandomFeatures(1e-4)) == pytest.approx(0.833089, abs=2e-6)


def test_quoted_numbers():
    assert 1 / alpha_c(RandomFeatures(3.0)) == pytest.approx(0.87748, abs=1e-5)
    assert 1 / alpha_c(RandomFeatures(3.0, margin=0.5)) == pytest.approx(1.678, abs=1e-3)
    assert kappa_max(RandomFeatures(3.0, 1.2)) == pytest.approx(0.234, abs=5e-4)
    at_maximum = typical(RandomFeatures(3.0, 1.2, kappa_max(RandomFeatures(3.0, 1.2))))
    assert at_maximum.q == pytest.approx(0.60, abs=5e-3)
    assert at_maximum.entropy == pytest.approx(0, abs=1e-12)
    assert typical(RandomFeatures(3.0, 1 / alpha_c(RandomFeatures(3.0)))).q == pytest.approx(0.5624, abs=1e-4)
    solution = typical(RandomFeatures(3.0, 2.0))
    assert solution.error_typical == pytest.approx(0.3022, abs=1e-4)
    assert solution.error_barycenter == pytest.approx(0.2105, abs=1e-4)
    assert (solution.q, solution.p, solution.r) == pytest.approx((0.2321, 0.7788, 0.7534), abs=1e-4)
    enumerated = typical(RandomFeatures(1.0, 3.0))
    assert enumerated.entropy == pytest.approx(0.4785, abs=1e-4)
    assert (enumerated.error_typical, enumerated.error_barycenter) == pytest.approx((0.4031, 0.3265), abs=1e-4)


def test_warm_threshold_equals_cold():
    inv_alpha = 1 / alpha_c(RandomFeatures(2.0, margin=0.3))
    assert kappa_max(RandomFeatures(2.0, inv_alpha)) == pytest.approx(0.3, abs=1e-12)


def test_a_callable_equals_its_name():
    named, called = typical(RandomFeatures(3.0, 2.0)), typical(RandomFeatures(3.0, 2.0, activation=np.sign))
    np.testing.assert_allclose(vector(called), vector(named), atol=1e-9)


def test_residual_is_reported():
    assert 0 <= typical(RandomFeatures(3.0, 2.0)).residual < 1e-9
