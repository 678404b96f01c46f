"""The energetic term of typical solutions: against the written integral, by finite differences, under finer nodes."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from localentropy.numerics.gaussian_kernels import hazard
from localentropy.numerics.jets import variables
from localentropy.theory.patterns import SPACING, excess, hard_margin, hazard_derivatives, pull
from tests.finite_differences import slopes_of_jet

POINTS = [
    # C, V, R, margin
    (0.3, 0.7, 0.0, 0.0),
    (0.3, 0.7, 0.4, 0.2),
    (0.9, 0.1, 0.0, -2.0),
    (1e-8, 0.9, 0.3, 0.1),
    (1e-8, 0.9, 0.0, 0.1),
    (1e-12, 1e-6, 0.5, 0.2),
    (0.5, 1e-6, 0.4, 0.3),
    (0.5, 1e-8, 0.0, 0.0),
    (1e-6, 1e-6, 0.5, 0.0),
    (1.0, 0.5, 30.0, 0.2),
    (100.0, 1.0, 200.0, 10.0),
    (1e-3, 1e-5, 10.0, 0.0),
    (0.5, 0.5, 0.3, 10.0),
    (1e-3, 1e-3, 0.0, 10.0),
    (1e-4, 1e-2, 3.0, 10.0),
    # Nodes crowd around two places.
    (1e-8, 1e-8, 3.0, 0.3),
    (0.37, 1e-4, 8e4, 133.0),
    (0.5, 1e-5, 4e5, 600.0),
]


def term(point, spacing=SPACING):
    """The term as a jet of C, V, R and the margin."""
    C, V, R, margin = variables(point)
    return hard_margin(C, V, R, margin, spacing)


def integral(C, V, R, margin):
    """Twin: docs/overparam/theory.md eq. 7 by adaptive quadrature between all places where the integrand is sharp."""
    root = math.sqrt(C + R * R)

    def integrand(z):
        return 2 * norm.pdf(z) * ndtr(R * z / math.sqrt(C)) * log_ndtr((root * z - margin) / math.sqrt(V))

    widths = {0.0: math.sqrt(C) / max(R, 1e-300), margin / root: min(math.sqrt(V) / root, 1.0)}
    marks = {place + n * width for place, width in widths.items() for n in (-40, -8, -3, -1, 0, 1, 3, 8, 40)}
    edges = sorted({-9.5, 9.5, *(mark for mark in marks if -9.5 < mark < 9.5)})
    return sum(quad(integrand, *ends, epsabs=0, epsrel=1e-13, limit=200)[0] for ends in itertools.pairwise(edges))


@pytest.mark.parametrize("point", POINTS)
def test_value_is_the_integral_of_the_paper(point):
    assert term(point).value == pytest.approx(integral(*point), rel=1e-12)


@pytest.mark.parametrize("point", POINTS)
def test_gradient_and_hessian_by_finite_differences(point):
    """The gradient from values, the Hessian from gradients; steps of a thousandth of the scale of each argument."""
    C, V, _, _ = point
    here = term(point)
    units = np.array([1 / V, 1 / V, V**-0.5, V**-0.5])
    for index, scale in enumerate((C, V, math.sqrt(min(C, V)), math.sqrt(V))):
        step = 1e-3 * scale
        slope, rows = slopes_of_jet(term, point, step, index)
        # What rounding of the values leaves of their difference, after the relative error.
        assert here.gradient[index] == pytest.approx(slope, rel=1e-9, abs=1e-14 * abs(here.value) / step)
        np.testing.assert_array_less(
            np.abs(here.hessian[index] - rows),
            1e-9 * np.abs(rows) + 1e-14 * np.abs(here.gradient) / step + 1e-15 * units[index] * units,
        )


@pytest.mark.parametrize("point", POINTS)
def test_halving_the_spacing_changes_nothing(point):
    coarse, fine = term(point), term(point, SPACING / 2)
    units = np.array([1 / point[1], 1 / point[1], point[1] ** -0.5, point[1] ** -0.5])
    assert coarse.value == pytest.approx(fine.value, rel=1e-12)
    for order in ("gradient", "hessian"):
        unit = units if order == "gradient" else np.outer(units, units)
        expected = getattr(fine, order) / unit
        np.testing.assert_allclose(
            getattr(coarse, order) / unit, expected, rtol=1e-12, atol=1e-14 * np.abs(expected).max()
        )


def test_hessian_is_symmetric():
    np.testing.assert_array_equal(term(POINTS[1]).hessian, term(POINTS[1]).hessian.T)


def test_arguments_may_be_numbers():
    C, V = variables([0.3, 0.7])
    alone, among = hard_margin(C, V, 0.4, 0.2), term((0.3, 0.7, 0.4, 0.2))
    assert alone.value == among.value
    np.testing.assert_array_equal(alone.gradient, among.gradient[:2])
    np.testing.assert_array_equal(alone.hessian, among.hessian[:2, :2])


def test_without_a_common_field_every_student_has_its_own_chance():
    """C -> 0 and no teacher: ln H(margin / sqrt(V))."""
    assert term((1e-14, 0.6, 0.0, 0.5)).value == pytest.approx(log_ndtr(-0.5 / math.sqrt(0.6)), abs=1e-13)


@pytest.mark.parametrize("h", [-30.0, -1.0, 0.0, 1.0, 8.0, 11.999, 12.0, 12.001, 30.0, 1e3, 1e6])
def test_excess_and_derivatives_of_the_hazard(h):
    def exact(x):
        return mp.sqrt(2 / mp.pi) * mp.exp(-x * x / 2) / mp.erfc(x / mp.sqrt(2))

    with mp.workdps(120):
        expected = [float(exact(mp.mpf(h)) - h), *(float(mp.diff(exact, h, n)) for n in (1, 2, 3))]
    # Below 12 the derivatives are small differences of numbers up to h^2.
    rounding = 1e-15 * max(h, 1.0) ** np.array([1, 2, 3, 4]) if h < 12 else 0.0
    found = np.array([excess(h, hazard(h)), *hazard_derivatives(h, hazard(h))])
    np.testing.assert_array_less(np.abs(found - expected), 1e-12 * np.abs(expected) + rounding + 1e-300)


@pytest.mark.parametrize(("margin", "variance"), [(0.0, 1.0), (0.5, 0.3), (10.0, 1.0), (1e3, 2.0)])
def test_pull_is_the_derivative_of_the_chance_of_a_random_student(margin, variance):
    with mp.workdps(40):
        exact = mp.diff(lambda k: -mp.log(mp.erfc(k / mp.sqrt(2 * variance)) / 2), margin)
    assert pull(margin, variance) == pytest.approx(float(exact), rel=1e-13)
