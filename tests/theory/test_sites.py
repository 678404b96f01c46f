"""The entropy of a weight, alone and beside its reference: against the written integrals, and by differences."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from localentropy.numerics.jets import exp, logistic, variables
from localentropy.theory.sites import PAIR_SPACING, SPACING, binary, binary_pair
from tests.finite_differences import slopes_of_jet


def average(function):
    """Over a standard Gaussian; `function` is even, and sharp at 0."""
    edges = (0, 1e-6, 1e-4, 1e-2, 0.1, 1, 9.5)
    parts = [
        quad(lambda z: 2 * norm.pdf(z) * function(z), *ends, epsabs=0, epsrel=1e-13, limit=200)[0]
        for ends in itertools.pairwise(edges)
    ]
    return sum(parts)


def weight(point, spacing=SPACING):
    """The entropy as a jet of ln q_hat and logit q."""
    log_q_hat, logit_q = variables(point)
    return binary(exp(log_q_hat), logistic(logit_q), logistic(-logit_q), spacing=spacing)


WEIGHTS = [
    (math.log(q_hat), logit) for q_hat in (1e-12, 1e-3, 0.3, 0.999, 1.001, 5.0, 1e3, 1e7) for logit in (-20, 0.3, 20)
]


@pytest.mark.parametrize("point", WEIGHTS)
def test_value_and_gradient_are_the_integrals_of_the_paper(point):
    """Twin: -q_hat (1 - q)/2 + int Dz ln 2 cosh(sqrt(q_hat) z), and its derivative by q_hat by parts."""
    q_hat, v = math.exp(point[0]), 1 / (1 + math.exp(point[1]))
    root = math.sqrt(q_hat)
    jet = weight(point)
    expected = average(lambda z: np.logaddexp(root * z, -root * z)) - 0.5 * q_hat * v
    assert jet.value == pytest.approx(expected, rel=1e-12)
    q = 1 / (1 + math.exp(-point[1]))
    by_q_hat = 0.5 * (q - average(lambda z: math.tanh(root * z) ** 2))
    if v < 0.5:
        by_q_hat = 0.5 * (average(lambda z: 1 / math.cosh(min(root * z, 300)) ** 2) - v)
    assert jet.gradient[0] == pytest.approx(q_hat * by_q_hat, rel=1e-10, abs=1e-14 * q_hat * min(q, v))
    assert jet.gradient[1] == pytest.approx(0.5 * q_hat * q * v, rel=1e-14)


@pytest.mark.parametrize("point", WEIGHTS)
def test_hessian_by_finite_differences(point):
    here, step = weight(point), 1e-3
    for index in range(2):
        _, rows = slopes_of_jet(weight, point, step, index)
        np.testing.assert_allclose(here.hessian[index], rows, rtol=1e-9, atol=1e-9 * np.abs(here.gradient).max())


@pytest.mark.parametrize("point", WEIGHTS)
def test_halving_the_spacing_changes_nothing(point):
    coarse, fine = weight(point), weight(point, SPACING / 2)
    np.testing.assert_allclose(coarse.value, fine.value, rtol=1e-12)
    size = np.abs(fine.hessian).max()
    np.testing.assert_allclose(coarse.gradient, fine.gradient, rtol=1e-12, atol=1e-12 * size)
    np.testing.assert_allclose(coarse.hessian, fine.hessian, rtol=1e-12, atol=1e-12 * size)


PAIRS = [
    # free, t_hat, field, q_hat_ref
    (0.5, 0.3, 0.4, 0.7),
    (0.5, -0.3, -0.4, 0.7),
    (2.0, 1.5, 1.0, 3.0),
    (1e-9, 0.3, 0.4, 0.7),
    (1e-9, 1e-4, 6.0, 1e-3),
    (4.0, 2.0, -5.0, 8.0),
    # A strong reference and a weak field: the reference's sign is sharp at 0, the kink elsewhere.
    (1e-6, 0.6, 0.7, 40.0),
    (1e-4, 12.0, 6.0, 200.0),
    (2e-3, -5.8, -1.7, 225.0),
]
EXTREME_PAIRS = [(1e3, 20.0, -30.0, 50.0), (1e-12, 1e-8, 20.0, 1e-6), (0.1, 200.0, 3.0, 400.0)]


def pair(point, q_hat_ref, spacing=PAIR_SPACING):
    """The mean as a jet of free, t_hat and field."""
    free, t_hat, field = variables(point)
    return binary_pair(free, t_hat, field, 0.0, q_hat_ref, spacing=spacing)


@pytest.mark.parametrize("point", PAIRS)
def test_pair_is_the_double_integral_of_the_paper(point):
    """Twin: docs/overparam/theory.md eq. 18 on a grid; ln 2 cosh h is h + ln(1 + exp(-2 h))."""
    free, t_hat, field, q_hat_ref = point
    grid = np.linspace(-10, 10, 1601)
    x, z = grid[:, None], grid
    h = math.sqrt(free) * z + t_hat * x / math.sqrt(q_hat_ref) + field
    density = norm.pdf(x) * norm.pdf(z) * 2 / (1 + np.exp(-2 * math.sqrt(q_hat_ref) * x)) * (grid[1] - grid[0]) ** 2
    jet = pair(point[:3], q_hat_ref)
    assert jet.value == pytest.approx(np.sum(density * np.logaddexp(0, -2 * h)), rel=1e-12)
    # The paper's term: the mean of h is t_hat <x> / sqrt(q_hat_ref) + field, <x> by parts.
    by_parts = t_hat * np.sum(density * (1 - np.tanh(math.sqrt(q_hat_ref) * x))) + field
    assert jet.value + by_parts == pytest.approx(np.sum(density * np.logaddexp(h, -h)), rel=1e-12)


@pytest.mark.parametrize("point", [*PAIRS, *EXTREME_PAIRS[:1]])
def test_pair_gradient_and_hessian_by_finite_differences(point):
    *place, q_hat_ref = point
    here = pair(place, q_hat_ref)
    for index, scale in enumerate((place[0], max(math.sqrt(q_hat_ref), abs(place[1])), 1.0)):
        step = 1e-3 * scale
        slope, rows = slopes_of_jet(lambda place: pair(place, q_hat_ref), place, step, index)
        assert here.gradient[index] == pytest.approx(slope, rel=1e-9, abs=1e-14 * here.value / step)
        np.testing.assert_array_less(
            np.abs(here.hessian[index] - rows), 1e-8 * np.abs(rows) + 1e-14 * np.abs(here.gradient) / step + 1e-300
        )


@pytest.mark.parametrize("point", [*PAIRS, *EXTREME_PAIRS])
def test_pair_halving_the_spacing_changes_nothing(point):
    *place, q_hat_ref = point
    coarse, fine = pair(place, q_hat_ref), pair(place, q_hat_ref, PAIR_SPACING / 2)
    assert coarse.value == pytest.approx(fine.value, rel=1e-12)
    np.testing.assert_allclose(coarse.gradient, fine.gradient, rtol=1e-12, atol=1e-14 * np.abs(fine.gradient).max())
    np.testing.assert_allclose(coarse.hessian, fine.hessian, rtol=1e-11, atol=1e-13 * np.abs(fine.hessian).max())


def test_a_weight_without_fields_is_free():
    free = pair((1e-14, 0.0, 0.0), 1e-14)
    assert free.value == pytest.approx(math.log(2), rel=1e-12)
    np.testing.assert_allclose(free.gradient, [0.5, -1.0, -1.0], atol=1e-6)


def test_a_student_tied_to_its_reference_flips_with_the_probability_of_the_field():
    """No other field: h = field, and d ln(1 + e^{-2h})/dh = -2 / (1 + e^{2h}): twice the flipped fraction."""
    field = 3.0
    jet = pair((1e-14, 0.0, field), 0.5)
    assert jet.value == pytest.approx(math.log1p(math.exp(-2 * field)), rel=1e-10)
    assert jet.gradient[2] == pytest.approx(-2 / (1 + math.exp(2 * field)), rel=1e-10)


TAUGHT = [
    # q_hat, r_hat
    (0.4, 0.4), (1e-6, 1e-6), (0.9, 3.0), (1.1, 0.05), (30.0, 12.0), (200.0, 1.0), (1e-3, 2.0), (1e4, 300.0),
]  # fmt: skip
TAUGHT_PAIRS = [
    # free, t_hat, field, r_hat, q_hat_ref, r_hat_ref
    (0.5, 0.3, 0.4, 0.3, 0.7, 0.6),
    (2.0, 1.5, 1.0, 1.2, 3.0, 2.5),
    (1e-9, 0.3, 0.4, -0.2, 0.7, 0.7),
    (0.2, -0.4, -2.0, 1.5, 1.5, 0.4),
    (1e-6, 0.6, 0.7, 0.1, 40.0, 9.0),
    (1e-4, 12.0, 6.0, 3.0, 200.0, 20.0),
    (60.0, 5.0, -3.0, 10.0, 2.0, 2.0),
]


def taught(point, spacing=SPACING):
    """The entropy of a weight that feels a teacher, as a jet of q_hat and r_hat, at q = 0.3 and r = 0.4."""
    q_hat, r_hat = variables(point)
    q, v = (variables([0.0, 0.0])[0] * 0.0 + number for number in (0.3, 0.7))
    return binary(q_hat, q, v, r_hat, 0.4, spacing=spacing)


def taught_pair(point, spacing=PAIR_SPACING):
    """The mean beside a reference, with a teacher, as a jet of free, t_hat, field and r_hat."""
    free, t_hat, field, r_hat = variables(point[:4])
    return binary_pair(free, t_hat, field, r_hat, point[4], point[5], spacing=spacing)


@pytest.mark.parametrize("point", TAUGHT)
def test_weight_with_a_teacher_is_the_written_integral(point):
    q_hat, r_hat = point
    z = np.linspace(-10, 10, 40001)
    w = norm.pdf(z) * 20 / 40000
    h = math.sqrt(q_hat) * z + r_hat
    expected = -0.5 * q_hat * 0.7 - 0.4 * r_hat + w @ np.logaddexp(h, -h)
    found = taught(point)
    assert found.value == pytest.approx(expected, rel=1e-12, abs=1e-14 * r_hat)
    assert found.gradient[1] == pytest.approx(w @ np.tanh(h) - 0.4, rel=1e-11)
    assert found.gradient[0] == pytest.approx(0.5 * (0.3 - w @ np.tanh(h) ** 2), rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("point", TAUGHT)
def test_weight_with_a_teacher_by_finite_differences_and_halved_spacing(point):
    here, fine = taught(point), taught(point, SPACING / 2)
    for index in range(2):
        step = 1e-3 * point[index]
        _, rows = slopes_of_jet(taught, point, step, index)
        rounding = 1e-14 * np.abs(here.gradient).max() / step
        np.testing.assert_allclose(here.hessian[index], rows, rtol=1e-8, atol=rounding)
    np.testing.assert_allclose(here.gradient, fine.gradient, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(here.hessian, fine.hessian, rtol=1e-10, atol=1e-12 * np.abs(fine.hessian).max())


@pytest.mark.parametrize("point", TAUGHT_PAIRS)
def test_pair_with_a_teacher_is_the_sum_over_the_references_signs(point):
    """Twin: a reference of sign +-1 in its field, the teacher all +1; ln 2 cosh h is h + ln(1 + exp(-2 h))."""
    free, t_hat, field, r_hat, q_hat_ref, r_hat_ref = point
    grid = np.linspace(-10, 10, 2001)
    x, z = grid[:, None], grid
    density = norm.pdf(x) * norm.pdf(z) * (grid[1] - grid[0]) ** 2
    h_ref = math.sqrt(q_hat_ref) * x + r_hat_ref
    expected = 0.0
    for sign in (1, -1):
        h = math.sqrt(free) * z + t_hat * x / math.sqrt(q_hat_ref) + r_hat + field * sign
        expected += np.sum(density / (1 + np.exp(-2 * sign * h_ref)) * np.logaddexp(0, -2 * sign * h))
    assert taught_pair(point).value == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("point", TAUGHT_PAIRS)
def test_pair_with_a_teacher_by_finite_differences_and_halved_spacing(point):
    here, fine = taught_pair(point), taught_pair(point, PAIR_SPACING / 2)
    for index, scale in enumerate((point[0], max(math.sqrt(point[4]), abs(point[1])), 1.0, 1.0)):
        step = 1e-3 * scale
        slope, rows = slopes_of_jet(taught_pair, point, step, index)
        assert here.gradient[index] == pytest.approx(slope, rel=1e-8, abs=1e-14 * here.value / step)
        np.testing.assert_array_less(
            np.abs(here.hessian[index] - rows), 1e-8 * np.abs(rows) + 1e-13 * np.abs(here.gradient) / step + 1e-12
        )
    np.testing.assert_allclose(here.gradient, fine.gradient, rtol=1e-11, atol=1e-13 * np.abs(fine.gradient).max())
    np.testing.assert_allclose(here.hessian, fine.hessian, rtol=1e-10, atol=1e-12 * np.abs(fine.hessian).max())
