"""Optimal margin, monotonicity thresholds: quoted numbers, definitions, node doubling, refusals."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from localentropy.errors import DomainError
from localentropy.numerics.activations import activation_moments
from localentropy.replica import monotonicity
from localentropy.replica import random_features as rf
from localentropy.replica.pair_energy import NODES
from localentropy.replica.random_features_ensemble import RandomFeatures


def test_onset_of_the_optimal_margin():
    onsets = [rf.optimal_margin_onset(alpha_T) for alpha_T in (1.0, 2.0, 3.0, 5.0)]
    np.testing.assert_allclose(onsets, [4.68, 3.53, 3.3721, 3.63], atol=5e-3)
    assert onsets[2] == pytest.approx(3.3721, abs=5e-5)
    assert rf.kappa_opt(3.0, onsets[2] - 0.01) == 0.0
    assert 0 < rf.kappa_opt(3.0, onsets[2] + 0.01) < 0.01


@pytest.mark.parametrize(("alpha_T", "inv_alpha", "activation"), [(3.0, 6.0, "sign"), (1.0, 20.0, "erf")])
def test_optimal_margin_minimises_the_error(alpha_T, inv_alpha, activation):
    def error(margin):
        return rf.typical(alpha_T, inv_alpha, margin, activation).error_barycenter

    best = rf.kappa_opt(alpha_T, inv_alpha, activation)
    found = minimize_scalar(
        error, bounds=(0, rf.kappa_max(alpha_T, inv_alpha, activation)), method="bounded", options={"xatol": 1e-6}
    )
    assert best == pytest.approx(found.x, abs=1e-4)
    assert error(best) <= found.fun + 1e-12
    assert error(best) < error(0.0)


def test_local_entropy_threshold():
    assert rf.inv_alpha_le(3.0) == pytest.approx(1.01612, abs=1e-5)
    assert 1 / rf.inv_alpha_le(1e-4) == pytest.approx(0.729033, abs=2e-5)


@pytest.mark.parametrize("alpha_T", [pytest.param(0.3, marks=pytest.mark.slow), 3.0])
def test_monotonic_above_the_threshold_and_not_below(alpha_T):
    threshold = rf.inv_alpha_le(alpha_T)
    assert threshold > 1.1 / rf.alpha_c(alpha_T)
    for factor, monotonic in ((0.995, False), (1.005, True)):
        reach = 0.95 * rf.typical_distance(alpha_T, factor * threshold, "max")
        table = rf.franz_parisi(np.geomspace(1e-4, reach, 45), alpha_T, factor * threshold, "max")
        assert (table.slope > 0).all() == monotonic


def test_smallest_monotonic_margin():
    margin = rf.kappa_u(3.0, 1.2)
    assert margin == pytest.approx(0.0617, abs=5e-5)
    for factor, monotonic in ((0.995, False), (1.005, True)):
        table = rf.franz_parisi(np.geomspace(1e-4, 0.25, 60), 3.0, 1.2, factor * margin)
        assert (table.slope > 0).all() == monotonic


def test_at_the_threshold_the_smallest_margin_is_the_largest():
    inv_alpha = rf.inv_alpha_le(3.0) + 1e-6
    assert rf.kappa_u(3.0, inv_alpha) == pytest.approx(rf.kappa_max(3.0, inv_alpha), abs=1e-4)
    with pytest.raises(DomainError, match=r"inv_alpha = 1.00.* is below 1/alpha_LE = 1.0161.*: no margin makes"):
        rf.kappa_u(3.0, inv_alpha - 0.01)


def test_at_its_threshold_the_smallest_positive_margin_is_the_largest():
    threshold = rf.inv_alpha_min(3.0)
    assert 1 / rf.alpha_c(3.0) < threshold < rf.inv_alpha_le(3.0)
    assert rf.kappa_min(3.0, threshold + 1e-6) == pytest.approx(rf.kappa_max(3.0, threshold + 1e-6), abs=1e-4)
    with pytest.raises(DomainError, match=r"inv_alpha = 0.9.* is below 1/alpha_min = 0.988.*: no margin makes"):
        rf.kappa_min(3.0, threshold - 0.01)
    # Without a latent space, the perceptron.
    assert 1 / rf.inv_alpha_min(1e-4) == pytest.approx(0.747736, abs=2e-5)


def test_smallest_positive_margin():
    margin = rf.kappa_min(3.0, 1.2)
    assert margin < rf.kappa_u(3.0, 1.2)
    for factor, positive in ((0.995, False), (1.005, True)):
        table = rf.franz_parisi(np.geomspace(1e-4, 0.25, 60), 3.0, 1.2, factor * margin)
        assert (table.entropy > 0).all() == positive


def test_smallest_monotonic_margin_falls_to_zero_with_over_parameterization():
    margins = [rf.kappa_u(3.0, inv_alpha) for inv_alpha in (1.2, 2.0, 5.0, 20.0)]
    assert (np.diff(margins) < 0).all()
    np.testing.assert_allclose(margins[1:], [0.022454, 0.006045, 0.001102], atol=1e-5)


@pytest.mark.slow
def test_thresholds_are_stable_under_node_doubling():
    fine = (2 * NODES[0], 2 * NODES[1], 2 * NODES[2])
    ensemble = RandomFeatures(1 / 1.5, 0.0, 2.0, activation_moments("sign"))
    assert 1 / monotonicity.local_entropy_threshold(ensemble, fine) == pytest.approx(rf.inv_alpha_le(2.0), abs=1e-9)
    assert monotonicity.smallest_monotonic_margin(ensemble, fine) == pytest.approx(rf.kappa_u(2.0, 1.5), abs=1e-9)


@pytest.mark.parametrize("function", [rf.inv_alpha_le, rf.optimal_margin_onset])
def test_an_activation_that_does_not_see_the_teacher_has_no_threshold(function):
    with pytest.raises(DomainError, match="without linear part"):
        function(3.0, lambda z: z * z - 1)


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.3, 0.2, 0.01])
def test_the_scale_of_the_activation_is_the_unit_of_the_margin(scale):
    def scaled(z):
        return scale * np.tanh(z)

    assert rf.alpha_c(3.0, scale, scaled) == pytest.approx(rf.alpha_c(3.0, 1.0, "tanh"), rel=1e-9)
    assert rf.kappa_max(3.0, 5.0, scaled) == pytest.approx(scale * rf.kappa_max(3.0, 5.0, "tanh"), rel=1e-9)


@pytest.mark.parametrize("function", [rf.kappa_opt, rf.kappa_u])
def test_no_solutions(function):
    with pytest.raises(DomainError, match=r"below 1/alpha_c = 0\.877"):
        function(3.0, 0.8)


@pytest.mark.parametrize("function", [rf.inv_alpha_le, rf.optimal_margin_onset, rf.overparameterized_limit])
@pytest.mark.parametrize("alpha_T", [0.0, -3.0, np.nan, "3x"])
def test_alpha_T_is_checked(function, alpha_T):
    with pytest.raises(DomainError, match="alpha_T"):
        function(alpha_T)
