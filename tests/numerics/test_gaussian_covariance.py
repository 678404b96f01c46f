"""Covariances of activations: closed forms, other quadratures, digits near 1, derivatives, refusals."""

import math

import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.special import erf, ndtr
from scipy.stats import multivariate_normal, norm

from localentropy.errors import DomainError
from localentropy.numerics.gaussian_covariance import gaussian_covariance
from localentropy.numerics.jets import variables
from tests.finite_differences import slope_at, slopes_of_jet

OVERLAPS = (-0.97, -0.6, -0.5, -0.2, 0.0, 0.3, 0.5, 0.500001, 0.7, 0.99)


def rectified(x):
    return np.maximum(x, 0.0)


def clipped(x):
    return np.clip(x, -1.0, 1.0)


def step(x):
    return (x > 0.3) * 1.0


def jumping(x):
    """Two jumps of different heights, a kink, and a smooth part."""
    return np.tanh(x) + 0.5 * (x > -0.4) - 0.2 * (x > 1.1) + np.abs(x - 0.6)


def signed_square(x):
    return x * np.abs(x)


def covariance(activation, q):
    return gaussian_covariance(activation).covariance(variables([q])[0])


def lost(activation, v):
    return gaussian_covariance(activation).lost(variables([v])[0])


@pytest.mark.parametrize(("function", "name"), [(np.sign, "sign"), (rectified, "relu"), (erf, "erf")])
def test_quadrature_is_the_closed_form(function, name):
    for q in OVERLAPS:
        found, exact = covariance(function, q), covariance(name, q)
        assert found.value == pytest.approx(exact.value, abs=1e-14)
        assert found.gradient[0] == pytest.approx(exact.gradient[0], rel=1e-11, abs=1e-12)
        assert found.hessian[0, 0] == pytest.approx(exact.hessian[0, 0], rel=1e-8, abs=1e-9)
    for v in (1e-10, 1e-7, 1e-4, 0.02, 0.3, 0.49, 0.51, 1.2):
        found, exact = lost(function, v), lost(name, v)
        assert found.value == pytest.approx(exact.value, rel=1e-9 if v < 1e-5 else 1e-12)
        assert found.gradient[0] == pytest.approx(exact.gradient[0], rel=1e-9 if v < 1e-5 else 1e-11)


def on_a_grid(function, q):
    """Twin: E[g(u) g(v)] of a smooth function on a uniform grid."""
    z = np.linspace(-12, 12, 1001)
    u, v = z[:, None], q * z[:, None] + math.sqrt(1 - q * q) * z
    w = norm.pdf(z) * 24 / 1000
    mean, square = w @ function(z), w @ function(z) ** 2
    return (w @ (function(u) * function(v)) @ w - mean**2) / (square - mean**2)


@pytest.mark.parametrize("function", [np.tanh, np.exp, lambda x: x / (1 + np.exp(-x)), lambda x: x**3 + x * x])
@pytest.mark.parametrize("q", OVERLAPS)
def test_smooth_functions_against_a_uniform_grid(function, q):
    assert covariance(function, q).value == pytest.approx(on_a_grid(function, q), abs=2e-13)


@pytest.mark.parametrize("q", OVERLAPS)
def test_functions_with_jumps_and_kinks_against_other_formulas(q):
    spread = [[1.0, q], [q, 1.0]]
    both = multivariate_normal([0, 0], spread).cdf([-0.3, -0.3])
    p = ndtr(-0.3)
    assert covariance(step, q).value == pytest.approx((both - p * p) / (p - p * p), abs=1e-7)
    # The derivative of a covariance is the mean product of the derivatives: both arguments inside of the clips.
    variance = 2 * quad(lambda x: norm.pdf(x) * min(x, 1) ** 2, 0, 12, points=[1], epsabs=1e-14)[0]
    rest = math.sqrt(1 - q * q)
    inside = quad(lambda x: norm.pdf(x) * (ndtr((1 - q * x) / rest) - ndtr((-1 - q * x) / rest)), -1, 1, epsabs=1e-14)[
        0
    ]
    assert covariance(clipped, q).gradient[0] == pytest.approx(inside / variance, rel=1e-10)

    def mean_square(m):
        return (m * m + rest * rest) * (1 - 2 * ndtr(-m / rest)) + 2 * m * rest * norm.pdf(m / rest)

    cubic = quad(lambda x: 2 * norm.pdf(x) * x * x * mean_square(q * x), 0, 12, epsabs=1e-14)[0]
    assert covariance(signed_square, q).value == pytest.approx(cubic / 3, abs=1e-10)


@pytest.mark.parametrize("v", [1e-30, 1e-9, 1e-4, 0.1, 0.5, 1.0, 1.7])
def test_closed_form_of_erf_keeps_its_digits(v):
    with mp.workdps(80):
        exact = 1 - mp.asin(mp.mpf(2) / 3 * (1 - mp.mpf(v))) / mp.asin(mp.mpf(2) / 3)
        slope = mp.mpf(2) / 3 / mp.sqrt(1 - (mp.mpf(2) / 3 * (1 - mp.mpf(v))) ** 2) / mp.asin(mp.mpf(2) / 3)
    assert lost("erf", v).value == pytest.approx(float(exact), rel=1e-14)
    assert lost("erf", v).gradient[0] == pytest.approx(float(slope), rel=1e-13)


@pytest.mark.parametrize("function", ["sign", "relu", "erf", "tanh", clipped, step, jumping])
def test_derivatives_by_finite_differences(function):
    for q in (-0.8, -0.3, 0.2, 0.7, 0.95):
        here, length = covariance(function, q), 1e-3 * (1 - abs(q))
        slope, bends = slopes_of_jet(lambda q: covariance(function, q), q, length)
        assert here.gradient[0] == pytest.approx(slope, rel=1e-8, abs=1e-9)
        assert here.hessian[0, 0] == pytest.approx(bends[0], rel=1e-6, abs=1e-7)
    for v in (1e-8, 1e-3, 0.2, 0.8):
        here, length = lost(function, v), 1e-3 * v
        slope = slope_at(lambda v: lost(function, v).value, v, length)
        assert here.gradient[0] == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize("function", ["sign", "relu", "erf", "tanh", clipped, step, jumping])
def test_what_is_kept_and_what_is_lost_add_up_to_one_on_both_sides_of_each_border(function):
    for q in (0.499999, 0.500001, -0.499999, -0.500001, 0.3, 0.9):
        assert covariance(function, q).value + lost(function, 1 - q).value == pytest.approx(1, abs=1e-13)
    for border in (0.5, -0.5):
        below, above = covariance(function, border - 1e-9), covariance(function, border + 1e-9)
        assert above.value - below.value == pytest.approx(2e-9 * above.gradient[0], abs=1e-13)
    assert covariance(function, 0.0).value == 0.0


@pytest.mark.parametrize("function", [lambda x: 3 * x + 1, "identity"])
def test_a_linear_activation_keeps_the_overlap(function):
    for q in OVERLAPS:
        assert covariance(function, q).value == pytest.approx(q, abs=1e-14)
    assert lost(function, 1e-9).value == pytest.approx(1e-9, rel=1e-9)


def test_a_function_of_one_number():
    def scalar(x):
        return math.tanh(x) if x < 0.5 else math.tanh(0.5)

    def vector(x):
        return np.tanh(np.minimum(x, 0.5))

    for q in (0.2, 0.9):
        assert covariance(scalar, q).value == pytest.approx(covariance(vector, q).value, abs=1e-13)


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        (
            "tanhh",
            "activation = 'tanhh' .* sign, relu, erf, identity, tanh, and a function of one number; nearest is 'tanh'",
        ),
        (3, "activation = 3 is not known"),
        (lambda x: x * x, "no linear part"),
        (lambda x: 0 * x + 1, "is constant: its variance must be positive"),
        (lambda x: np.exp(x * x / 3), "grows too fast"),
        (lambda x: np.where(x > 2, np.nan, x), "gives nan at .*: it must give a finite number"),
        (lambda x: np.where(x > 9, np.nan, x), "is not finite on all of"),
        (lambda x: np.floor(20 * x), "not smooth between at most 16 jumps or kinks"),
        (lambda x: "large", "fails"),
    ],
)
def test_refusals_are_one_line(activation, message):
    with pytest.raises(DomainError, match=message) as refused:
        gaussian_covariance(activation)
    assert "\n" not in str(refused.value)
