"""The functions that kernels are made of, against scipy and against what a derivative must be."""

import math

import numpy as np
import pytest
from scipy.special import erfcx, log_ndtr

from localentropy.numerics import gaussian_kernels

X = np.concatenate([np.linspace(-37, 37, 1481), np.geomspace(1e-8, 1, 50), [-300.0, -1e-9, 0.0, 300.0, 1e3, 1e6]])


def test_log_tail():
    value, exact = np.array([gaussian_kernels.log_tail(x) for x in X]), log_ndtr(-X)
    np.testing.assert_allclose(value[X > 0], exact[X > 0], rtol=1e-13)
    np.testing.assert_allclose(value[X <= 0], exact[X <= 0], rtol=0, atol=2e-15)


def test_hazard():
    x = X[X > -37]
    reference = np.where(x > 30, math.sqrt(2 / math.pi) / erfcx(np.abs(x) / math.sqrt(2)), 0)
    reference[x <= 30] = np.exp(-0.5 * x**2 - log_ndtr(-x))[x <= 30] / math.sqrt(2 * math.pi)
    np.testing.assert_allclose([gaussian_kernels.hazard(v) for v in x], reference, rtol=3e-13)


def test_hazard_is_minus_the_derivative_of_log_tail():
    step = 1e-5
    for x in np.linspace(-8.0, 30.0, 50):
        high, low = gaussian_kernels.log_tail(x + step), gaussian_kernels.log_tail(x - step)
        assert gaussian_kernels.hazard(x) == pytest.approx((low - high) / (2 * step), rel=1e-9, abs=1e-9)


def test_exp_log_and_erfcx():
    positive = np.abs(X)
    np.testing.assert_allclose([gaussian_kernels.erfcx(v) for v in positive], erfcx(positive), rtol=2e-15)
    y = np.linspace(-700, 700, 2001)
    np.testing.assert_allclose([gaussian_kernels.exp(v) for v in y], np.exp(y), rtol=4e-16)
    np.testing.assert_allclose([gaussian_kernels.log(v) for v in np.exp(y)], y, rtol=4e-16, atol=1e-16)
