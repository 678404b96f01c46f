"""Extrapolation in the inverse size: exact on lines, weighted, and with the error that repeated draws show."""

from __future__ import annotations

import math

import numpy as np
import pytest

from localentropy.analysis.agreement import to_infinite_size
from localentropy.errors import DomainError

SIZES = np.array([25.0, 50.0, 100.0, 200.0])
ERRORS = np.array([0.004, 0.003, 0.002, 0.001])


def test_a_line_in_the_inverse_size_is_found_exactly() -> None:
    fit = to_infinite_size(SIZES, 0.3 - 1.5 / SIZES, ERRORS)
    assert (fit.value, fit.slope) == pytest.approx((0.3, -1.5), rel=1e-12)
    assert fit.chi_squared == pytest.approx(0.0, abs=1e-18) and fit.freedom == 2


def test_weights_and_error_are_those_of_numpys_polynomial_fit() -> None:
    means = 0.3 - 1.5 / SIZES + ERRORS * np.array([1.0, -0.5, 2.0, 0.3])
    (slope, value), covariance = np.polyfit(1.0 / SIZES, means, 1, w=1.0 / ERRORS, cov="unscaled")
    fit = to_infinite_size(SIZES, means, ERRORS)
    assert (fit.value, fit.slope) == pytest.approx((value, slope), rel=1e-10)
    assert fit.error == pytest.approx(np.sqrt(covariance[1, 1]), rel=1e-10)
    rest = (means - value - slope / SIZES) / ERRORS
    assert fit.chi_squared == pytest.approx(float(rest @ rest), rel=1e-9)


def test_the_error_is_the_scatter_of_repeated_draws() -> None:
    stream = np.random.default_rng(3)
    draws = 0.3 - 1.5 / SIZES + ERRORS * stream.standard_normal((4000, len(SIZES)))
    fits = [to_infinite_size(SIZES, draw, ERRORS) for draw in draws]
    values = np.array([fit.value for fit in fits])
    # The standard deviation of 4000 draws is known to 1.1 %.
    assert values.std() == pytest.approx(fits[0].error, rel=0.05)
    assert values.mean() == pytest.approx(0.3, abs=4.0 * fits[0].error / np.sqrt(len(fits)))
    assert np.mean([fit.chi_squared for fit in fits]) == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize(
    ("sizes", "errors", "part"),
    [
        ([50.0, 50.0], [0.1, 0.1], "two different ones"),
        ([50.0, 100.0], [0.1, 0.0], "error = 0 is out of range: allowed are"),
        ([50.0, 100.0], [0.1, 1e-30], "errors = .*: one point outweighs all others"),
        ([50.0, 100.0, 200.0], [0.1, 0.2, 0.3], "means of shape"),
        ([50.0, 100.0], [0.1, math.nan], "error = nan is out of range"),
    ],
)
def test_what_cannot_be_fitted_is_refused(sizes: list[float], errors: list[float], part: str) -> None:
    with pytest.raises(DomainError, match=part):
        to_infinite_size(sizes, [0.1, 0.2], errors)
