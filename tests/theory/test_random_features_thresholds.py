"""Optimal margin, monotonicity thresholds: quoted numbers, definitions, node doubling, refusals."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from localentropy.errors import DomainError
from localentropy.theory import (
    RandomFeatures,
    alpha_c,
    alpha_le,
    alpha_min,
    franz_parisi,
    kappa_max,
    kappa_min,
    kappa_opt,
    kappa_u,
    monotonicity,
    optimal_margin_onset,
    typical,
    typical_distance,
)
from localentropy.theory.pair_energy import NODES


def test_onset_of_the_optimal_margin():
    onsets = [optimal_margin_onset(RandomFeatures(alpha_T)) for alpha_T in (1.0, 2.0, 3.0, 5.0)]
    np.testing.assert_allclose(onsets, [4.68, 3.53, 3.3721, 3.63], atol=5e-3)
    assert onsets[2] == pytest.approx(3.3721, abs=5e-5)
    assert kappa_opt(RandomFeatures(3.0, onsets[2] - 0.01)) == 0.0
    assert 0 < kappa_opt(RandomFeatures(3.0, onsets[2] + 0.01)) < 0.01


def test_an_onset_beyond_the_range_that_is_searched_is_said_to_be_there():
    assert optimal_margin_onset(RandomFeatures(5e-4)) == pytest.approx(5560, abs=1)
    with pytest.raises(
        DomainError, match=r"^alpha_T = 0\.0001: the onset of the optimal margin is above 1/alpha = 10000$"
    ):
        optimal_margin_onset(RandomFeatures(1e-4))


@pytest.mark.parametrize("activation", ["tanh", "erf", lambda x: 0.1 * x])
def test_margins_reach_five_standard_deviations_below_zero(activation):
    """There patterns hardly pull: the solutions are nearly all weights."""
    lowest = RandomFeatures(1.0, activation=activation).lowest_margin
    solutions = typical(RandomFeatures(1.0, 2.0, lowest, activation))
    assert solutions.entropy == pytest.approx(math.log(2), abs=1e-6) and solutions.residual < 1e-6
    assert alpha_c(RandomFeatures(1.0, margin=lowest, activation=activation)) > 1e5
    with pytest.raises(DomainError, match=r"^margin = -\S* is out of range: allowed are \[-\S*, 1000\]$"):
        RandomFeatures(1.0, 2.0, lowest - 0.01, activation)


@pytest.mark.parametrize("activation", ["sign", "tanh"])
@pytest.mark.parametrize("alpha_T", [1.0, 100.0])
def test_the_threshold_is_found_at_the_smallest_margin_of_its_range(alpha_T, activation):
    model = RandomFeatures(alpha_T, activation=activation)
    (margin, _) = model.tried
    lowest = RandomFeatures(alpha_T, margin=margin.low, activation=activation)
    assert 1000 < alpha_le(lowest) < alpha_c(lowest)
    with pytest.raises(DomainError, match="margin = "):
        alpha_le(RandomFeatures(alpha_T, margin=margin.low - 0.01, activation=activation))


@pytest.mark.parametrize(("alpha_T", "inv_alpha", "activation"), [(3.0, 6.0, "sign"), (1.0, 20.0, "erf")])
def test_optimal_margin_minimises_the_error(alpha_T, inv_alpha, activation):
    def error(margin):
        return typical(RandomFeatures(alpha_T, inv_alpha, margin, activation)).error_barycenter

    best = kappa_opt(RandomFeatures(alpha_T, inv_alpha, activation=activation))
    found = minimize_scalar(
        error,
        bounds=(0, kappa_max(RandomFeatures(alpha_T, inv_alpha, activation=activation))),
        method="bounded",
        options={"xatol": 1e-6},
    )
    assert best == pytest.approx(found.x, abs=1e-4)
    assert error(best) <= found.fun + 1e-12
    assert error(best) < error(0.0)


@pytest.mark.parametrize(
    ("alpha_T", "inv_alpha", "margin"),
    [
        (1e-3, 1e6, 21.986164),
        (1e-2, 1e6, 23.140592),
        (1e-3, 3e3, 0.08516528),
        (1e-2, 1e3, 1.67785552),
        (1e-3, 1e4, 1.7496042),
        (1e-3, 1e5, 7.7545324),
        (1e-4, 1e6, 8.0577623),
    ],
)
def test_optimal_margin_of_patterns_that_hardly_see_the_teacher(alpha_T, inv_alpha, margin):
    """Margins by another iteration, with 40 digits, from differences of the error at small steps."""
    assert kappa_opt(RandomFeatures(alpha_T, inv_alpha)) == pytest.approx(margin, rel=2e-7)


def test_local_entropy_threshold():
    assert (1 / alpha_le(RandomFeatures(3.0))) == pytest.approx(1.01612, abs=1e-5)
    assert 1 / (1 / alpha_le(RandomFeatures(1e-4))) == pytest.approx(0.729033, abs=2e-5)


@pytest.mark.parametrize("alpha_T", [pytest.param(0.3, marks=pytest.mark.slow), 3.0])
def test_monotonic_above_the_threshold_and_not_below(alpha_T):
    threshold = 1 / alpha_le(RandomFeatures(alpha_T))
    assert threshold > 1.1 / alpha_c(RandomFeatures(alpha_T))
    for factor, monotonic in ((0.995, False), (1.005, True)):
        reach = 0.95 * typical_distance(RandomFeatures(alpha_T, factor * threshold), "max")
        table = franz_parisi(RandomFeatures(alpha_T, factor * threshold), np.geomspace(1e-4, reach, 45), "max")
        assert (table.slope > 0).all() == monotonic


def test_smallest_monotonic_margin():
    margin = kappa_u(RandomFeatures(3.0, 1.2))
    assert margin == pytest.approx(0.0617, abs=5e-5)
    for factor, monotonic in ((0.995, False), (1.005, True)):
        table = franz_parisi(RandomFeatures(3.0, 1.2), np.geomspace(1e-4, 0.25, 60), factor * margin)
        assert (table.slope > 0).all() == monotonic


def test_at_the_threshold_the_smallest_margin_is_the_largest():
    inv_alpha = (1 / alpha_le(RandomFeatures(3.0))) + 1e-6
    assert kappa_u(RandomFeatures(3.0, inv_alpha)) == pytest.approx(kappa_max(RandomFeatures(3.0, inv_alpha)), abs=1e-4)
    with pytest.raises(DomainError, match=r"inv_alpha = 1.00.* is below 1/alpha_LE = 1.0161.*: no margin of"):
        kappa_u(RandomFeatures(3.0, inv_alpha - 0.01))


def test_at_its_threshold_the_smallest_positive_margin_is_the_largest():
    threshold = 1 / alpha_min(RandomFeatures(3.0))
    assert 1 / alpha_c(RandomFeatures(3.0)) < threshold < (1 / alpha_le(RandomFeatures(3.0)))
    assert kappa_min(RandomFeatures(3.0, threshold + 1e-6)) == pytest.approx(
        kappa_max(RandomFeatures(3.0, threshold + 1e-6)), abs=1e-4
    )
    with pytest.raises(DomainError, match=r"inv_alpha = 0.9.* is below 1/alpha_min = 0.988.*: no margin of"):
        kappa_min(RandomFeatures(3.0, threshold - 0.01))
    # Without a latent space, the perceptron.
    assert alpha_min(RandomFeatures(1e-4)) == pytest.approx(0.747736, abs=2e-5)


@pytest.mark.parametrize("activation", ["tanh", "erf"])
@pytest.mark.parametrize(("threshold", "column", "size"), [(alpha_min, "entropy", 1e-3), (alpha_le, "slope", 1.0)])
def test_thresholds_at_the_largest_load_that_was_tried_touch_zero(activation, threshold, column, size):
    model = RandomFeatures(100.0, activation=activation)
    around = model.at(alpha=threshold(model))
    found = franz_parisi(around, np.geomspace(1e-3, 2e-2, 60), margin_ref="max")[column].to_numpy()
    # A parabola through the smallest point and those beside it.
    middle = int(found.argmin())
    assert 0 < middle < 59
    values = np.polynomial.Polynomial.fit([-1, 0, 1], found[middle - 1 : middle + 2], 2)
    assert abs(values(values.deriv().roots()[0])) < 1e-3 * size and found[0] > 0.1 * size


def test_smallest_positive_margin():
    margin = kappa_min(RandomFeatures(3.0, 1.2))
    assert margin < kappa_u(RandomFeatures(3.0, 1.2))
    for factor, positive in ((0.995, False), (1.005, True)):
        table = franz_parisi(RandomFeatures(3.0, 1.2), np.geomspace(1e-4, 0.25, 60), factor * margin)
        assert (table.entropy > 0).all() == positive


def test_smallest_monotonic_margin_falls_to_zero_with_over_parameterization():
    margins = [kappa_u(RandomFeatures(3.0, inv_alpha)) for inv_alpha in (1.2, 2.0, 5.0, 20.0)]
    assert (np.diff(margins) < 0).all()
    np.testing.assert_allclose(margins[1:], [0.022454, 0.006045, 0.001102], atol=1e-5)


@pytest.mark.slow
def test_thresholds_are_stable_under_node_doubling():
    fine = (2 * NODES[0], 2 * NODES[1], 2 * NODES[2])
    model, criterion = RandomFeatures(2.0, 1.5), monotonicity.MONOTONIC
    load, _ = monotonicity.threshold_load(model.at(alpha=1.0), criterion, fine)
    assert 1 / load == pytest.approx(1 / alpha_le(model), abs=1e-9)
    assert monotonicity.threshold_margin(model, criterion, fine) == pytest.approx(kappa_u(model), abs=1e-9)


@pytest.mark.parametrize("function", [alpha_le, optimal_margin_onset])
def test_an_activation_that_does_not_see_the_teacher_has_no_threshold(function):
    with pytest.raises(DomainError, match="without linear part"):
        function(RandomFeatures(3.0, activation=lambda z: z * z - 1))


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.3, 0.2, 0.01])
def test_the_scale_of_the_activation_is_the_unit_of_the_margin(scale):
    def scaled(z):
        return scale * np.tanh(z)

    assert alpha_c(RandomFeatures(3.0, margin=scale, activation=scaled)) == pytest.approx(
        alpha_c(RandomFeatures(3.0, margin=1.0, activation="tanh")), rel=1e-9
    )
    assert kappa_max(RandomFeatures(3.0, 5.0, activation=scaled)) == pytest.approx(
        scale * kappa_max(RandomFeatures(3.0, 5.0, activation="tanh")), rel=1e-9
    )


@pytest.mark.parametrize(
    ("function", "said"),
    [(kappa_opt, r"below 1/alpha_c = 0\.877"), (kappa_u, r"kappa_max = -0\.0667\d* .* is not above margin = 0")],
)
def test_no_solutions(function, said):
    with pytest.raises(DomainError, match=said):
        function(RandomFeatures(3.0, 0.8))


@pytest.mark.parametrize("alpha_T", [0.0, -3.0, np.nan, "3x"])
def test_alpha_T_is_checked(alpha_T):
    with pytest.raises(DomainError, match="alpha_T"):
        RandomFeatures(alpha_T)


@pytest.mark.parametrize("alpha_T", [9e-5, 101.0])
def test_thresholds_are_refused_where_their_search_was_not_tried(alpha_T):
    with pytest.raises(DomainError, match=r"alpha_T = .* is out of range"):
        alpha_le(RandomFeatures(alpha_T))
