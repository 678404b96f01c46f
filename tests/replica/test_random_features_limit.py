"""Infinite over-parameterization: the reduced problem, against the full solver and quoted plateaus."""

import numpy as np
import pytest

from localentropy.numerics.activations import activation_moments
from localentropy.numerics.saddle_point import solve, value_and_gradient
from localentropy.replica import random_features as rf
from localentropy.replica.random_features_limit import LimitFreeEntropy, overparameterized_point
from localentropy.replica.random_features_typical import NODES, Ensemble
from tests.helpers import FIVE_POINTS, five_point_slope

CASES = [(3.0, 0.0, "sign"), (0.1, 0.5, "tanh"), (10.0, 1.0, "erf"), (2.0, 0.3, "identity")]


@pytest.mark.parametrize(("alpha_T", "margin", "activation"), CASES)
def test_full_solver_tends_to_the_reduced_problem(alpha_T, margin, activation):
    limit = rf.overparameterized_limit(alpha_T, margin, activation)
    near, nearer = (rf.typical(alpha_T, inv_alpha, margin, activation) for inv_alpha in (1e4, 2e4))
    for name in ("p", "p_d", "r", "error_typical", "error_barycenter"):
        extrapolated = 2 * getattr(nearer, name) - getattr(near, name)
        assert extrapolated == pytest.approx(getattr(limit, name), abs=3e-7)
    slopes = [(solution.entropy - np.log(2)) * solution.inv_alpha for solution in (near, nearer)]
    assert 2 * slopes[1] - slopes[0] == pytest.approx(limit.entropy_per_pattern, abs=1e-6)
    assert nearer.q < 1e-3


@pytest.mark.parametrize(("alpha_T", "margin", "activation"), CASES)
def test_stationary_and_stable_under_node_doubling(alpha_T, margin, activation):
    ensemble = Ensemble(0.0, alpha_T, margin, activation_moments(activation))
    point = overparameterized_point(ensemble)
    problem = LimitFreeEntropy(ensemble)
    for index in range(3):
        step = 1e-4 * np.eye(3)[index]
        # Rounding of the values limits the difference to about 1e-11.
        values = [value_and_gradient(problem, point.parameters + n * step)[0] for n in FIVE_POINTS]
        slope = five_point_slope(values, 1e-4)
        assert abs(slope) / problem.scales[index] < 5e-8
    fine = solve(LimitFreeEntropy(ensemble, 2 * NODES), point.parameters)
    np.testing.assert_allclose(fine.parameters, point.parameters, rtol=1e-10)
    assert point.residual < 1e-7


def test_fixed_point_of_the_explicit_equations():
    """p = (p_hat + r_hat^2)/(1+A)^2, p_d = p + 1/(1+A), r = r_hat/(1+A), conjugates of the full model at q = 0."""
    limit = rf.overparameterized_limit(3.0, 0.2)
    far = rf.typical(3.0, 1e7, 0.2)
    A = far.p_hat + far.p_d_hat
    assert limit.p == pytest.approx((far.p_hat + far.r_hat**2) / (1 + A) ** 2, abs=1e-6)
    assert limit.p_d == pytest.approx(limit.p + 1 / (1 + A), abs=1e-6)
    assert limit.r == pytest.approx(far.r_hat / (1 + A), abs=1e-6)


def test_plateaus():
    assert rf.overparameterized_limit(3.0).error_typical == pytest.approx(0.2931, abs=5e-5)
    assert rf.overparameterized_limit(3.0, 0.25).error_typical == pytest.approx(0.267, abs=5e-4)
    assert rf.overparameterized_limit(3.0, 0.5).error_typical == pytest.approx(0.2450, abs=5e-5)
    errors = [rf.overparameterized_limit(alpha_T).error_typical for alpha_T in (1e-6, 0.1, 1.0, 3.0, 10.0)]
    assert errors[0] == pytest.approx(0.5, abs=1e-3)
    assert (np.diff(errors) < 0).all()
