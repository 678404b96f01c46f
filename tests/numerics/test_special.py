"""Gaussian tails against scipy, and their derivatives against what they must be."""

import numpy as np
import pytest
import torch
from scipy.special import erfcx, log_ndtr

from localentropy.numerics.special import binary_entropy, hazard, log_tail, log_two_cosh

ARGUMENTS = np.concatenate([np.linspace(-37.0, 37.0, 371), [-300.0, -1e-9, 0.0, 1e-9, 1e3, 1e6]])


def derivatives(function, h):
    """Values, first and second derivatives by automatic differentiation."""
    h = torch.tensor(h, dtype=torch.float64, requires_grad=True)
    value = function(h)
    (first,) = torch.autograd.grad(value.sum(), h, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), h)
    return value.detach().numpy(), first.detach().numpy(), second.numpy()


def exact_hazard(h):
    with np.errstate(over="ignore"):
        return np.sqrt(2 / np.pi) / erfcx(h / np.sqrt(2))


def test_log_tail_and_its_first_derivative():
    value, first, _ = derivatives(log_tail, ARGUMENTS)
    np.testing.assert_allclose(value, log_ndtr(-ARGUMENTS), rtol=5e-13, atol=0)
    np.testing.assert_allclose(first, -exact_hazard(ARGUMENTS), rtol=5e-13, atol=0)


def test_second_derivatives_follow_from_the_hazard():
    h = ARGUMENTS[np.abs(ARGUMENTS) < 40]
    g = exact_hazard(h)
    np.testing.assert_allclose(derivatives(log_tail, h)[2], -g * (g - h), rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(derivatives(hazard, h)[2], g * ((2 * g - h) * (g - h) - 1), rtol=1e-9, atol=1e-10)


def test_second_derivative_of_log_tail_by_differences():
    h = np.linspace(-8.0, 30.0, 50)
    step = 1e-5
    slope = [derivatives(log_tail, h + s)[1] for s in (step, -step)]
    np.testing.assert_allclose(derivatives(log_tail, h)[2], (slope[0] - slope[1]) / (2 * step), atol=1e-9)


def test_log_two_cosh_is_accurate_and_smooth_everywhere():
    h = np.array([-800.0, -20.0, -1e-8, 0.0, 0.3, 20.0, 800.0])
    value, first, second = derivatives(log_two_cosh, h)
    np.testing.assert_allclose(value, np.logaddexp(h, -h), rtol=1e-15)
    np.testing.assert_allclose(first, np.tanh(h), rtol=1e-15)
    np.testing.assert_allclose(second, 1 - np.tanh(h) ** 2, atol=1e-15)


@pytest.mark.parametrize(("distance", "expected"), [(0.0, 0.0), (0.5, np.log(2)), (1.0, 0.0)])
def test_binary_entropy(distance, expected):
    assert binary_entropy(distance) == pytest.approx(expected, abs=1e-15)
