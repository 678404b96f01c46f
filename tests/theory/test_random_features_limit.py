"""Infinite over-parameterization: the reduced problem, against the full solver and quoted plateaus."""

import functools

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.numerics.activations import activation_moments
from localentropy.numerics.saddle_point import solve
from localentropy.theory import RandomFeatures, many_features_limit, overparameterized_limit, patterns, typical
from localentropy.theory.many_features_limit import Overparameterized, overparameterized_point
from tests.finite_differences import slope_at

CASES = [(3.0, 0.0, "sign"), (0.1, 0.5, "tanh"), (10.0, 1.0, "erf"), (2.0, 0.3, "identity")]


Z, WEIGHT = np.polynomial.legendre.leggauss(1500)
Z, WEIGHT = 10 * Z, 10 * WEIGHT * norm.pdf(10 * Z)


@pytest.mark.parametrize(("alpha_T", "margin", "activation"), CASES)
def test_full_solver_tends_to_the_reduced_problem(alpha_T, margin, activation):
    limit = overparameterized_limit(RandomFeatures(alpha_T, margin=margin, activation=activation))
    near, nearer = (typical(RandomFeatures(alpha_T, inv_alpha, margin, activation)) for inv_alpha in (1e4, 2e4))
    for name in ("p", "p_d", "r", "error_typical", "error_barycenter"):
        extrapolated = 2 * getattr(nearer, name) - getattr(near, name)
        assert extrapolated == pytest.approx(getattr(limit, name), abs=3e-7)
    slopes = [(solution.entropy - np.log(2)) * solution.inv_alpha for solution in (near, nearer)]
    assert 2 * slopes[1] - slopes[0] == pytest.approx(limit.entropy_per_pattern, abs=1e-6)
    assert nearer.q < 1e-3


def entropy_per_pattern(x, alpha_T, margin, activation):
    """Twin: docs/overparam/theory.md eq. 13 by Gauss-Legendre quadrature."""
    p, p_d, r = x
    moments = activation_moments(activation)
    Q, V, R = moments.mu_1**2 * p, moments.mu_star_squared + moments.mu_1**2 * (p_d - p), moments.mu_1 * r
    pattern = 2 * WEIGHT @ (ndtr(R * Z / np.sqrt(Q - R * R)) * log_ndtr((np.sqrt(Q) * Z - margin) / np.sqrt(V)))
    return (1 - p_d + np.log(p_d - p) + (p - r * r) / (p_d - p)) / (2 * alpha_T) + pattern


@pytest.mark.parametrize(("alpha_T", "margin", "activation"), CASES)
def test_stationary_by_finite_differences_of_the_entropy(alpha_T, margin, activation):
    limit = overparameterized_limit(RandomFeatures(alpha_T, margin=margin, activation=activation))
    x = np.array([limit.p, limit.p_d, limit.r])
    assert limit.entropy_per_pattern == pytest.approx(entropy_per_pattern(x, alpha_T, margin, activation), abs=1e-12)
    for index, scale in enumerate(np.array([0.5, 0.5, 1.0]) / alpha_T):
        # Rounding of the values limits the difference to about 1e-11.
        slope = slope_at(lambda x: entropy_per_pattern(x, alpha_T, margin, activation), x, 1e-4, index)
        assert abs(slope) / scale < 5e-8


@pytest.mark.parametrize(("alpha_T", "margin", "activation"), CASES)
def test_doubling_the_nodes_changes_nothing(alpha_T, margin, activation, monkeypatch):
    model = RandomFeatures(alpha_T, 1.0, margin, activation)
    point = overparameterized_point(model)
    finer = functools.partial(patterns.hard_margin, spacing=patterns.SPACING / 2)
    monkeypatch.setattr(many_features_limit, "hard_margin", finer)
    fine = solve(Overparameterized(model), point.coordinates)
    np.testing.assert_allclose(fine.coordinates, point.coordinates, rtol=1e-10)
    assert point.residual < 1e-9


def test_fixed_point_of_the_explicit_equations():
    """p = (p_hat + r_hat^2)/(1+A)^2, p_d = p + 1/(1+A), r = r_hat/(1+A), conjugates of the full model at q = 0."""
    limit = overparameterized_limit(RandomFeatures(3.0, margin=0.2))
    far = typical(RandomFeatures(3.0, 1e7, 0.2))
    A = far.p_hat + far.p_d_hat
    assert limit.p == pytest.approx((far.p_hat + far.r_hat**2) / (1 + A) ** 2, abs=1e-6)
    assert limit.p_d == pytest.approx(limit.p + 1 / (1 + A), abs=1e-6)
    assert limit.r == pytest.approx(far.r_hat / (1 + A), abs=1e-6)


def test_plateaus():
    assert overparameterized_limit(RandomFeatures(3.0)).error_typical == pytest.approx(0.2931, abs=5e-5)
    assert overparameterized_limit(RandomFeatures(3.0, margin=0.25)).error_typical == pytest.approx(0.267, abs=5e-4)
    assert overparameterized_limit(RandomFeatures(3.0, margin=0.5)).error_typical == pytest.approx(0.2450, abs=5e-5)
    errors = [overparameterized_limit(RandomFeatures(alpha_T)).error_typical for alpha_T in (1e-6, 0.1, 1.0, 3.0, 10.0)]
    assert errors[0] == pytest.approx(0.5, abs=1e-3)
    assert (np.diff(errors) < 0).all()
