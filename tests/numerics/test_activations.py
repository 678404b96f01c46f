"""Gaussian moments: closed forms against quadrature, jumps, and what must be refused."""

import math

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.numerics.activations import activation_function, activation_moments
from localentropy.numerics.gaussian_covariance import gaussian_covariance
from localentropy.numerics.jets import variables


@pytest.mark.parametrize(
    ("name", "function"),
    [("sign", np.sign), ("erf", math.erf), ("tanh", np.tanh), ("identity", lambda z: z), ("tanh", torch.tanh)],
)
def test_names_equal_callables(name, function):
    named, called = activation_moments(name), activation_moments(function)
    assert called.mu_1 == pytest.approx(named.mu_1, abs=1e-12)
    assert called.mu_star_squared == pytest.approx(named.mu_star_squared, abs=1e-12)


def test_closed_forms():
    sign = activation_moments("sign")
    assert sign.mu_1**2 == pytest.approx(2 / math.pi, abs=1e-15)
    assert sign.variance == pytest.approx(1, abs=1e-15)
    assert activation_moments("identity").mu_star_squared == 0.0


def test_jumps_away_from_the_origin():
    def staircase(z):
        return math.copysign(float(abs(z) > 0.7) + float(abs(z) > 1.3), z)

    density = [math.exp(-(a**2) / 2) / math.sqrt(2 * math.pi) for a in (0.7, 1.3)]
    moments = activation_moments(staircase)
    assert moments.mu_1 == pytest.approx(2 * sum(density), abs=1e-11)
    tails = [math.erfc(a / math.sqrt(2)) for a in (0.7, 1.3)]
    assert moments.variance == pytest.approx(tails[0] + 3 * tails[1], abs=1e-11)


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        ("sgn", "allowed are sign, erf, tanh, identity.*nearest is 'sign'"),
        ("relu", "allowed are"),
        (lambda z: max(z, 0.0), "mean 0.3989"),
        (lambda z: 0.0, "vanishes"),
        (lambda z: math.copysign(math.exp(z * z), z), "not finite|not computable"),
        (3, "not known"),
        (["sign"], "not known"),
    ],
)
def test_refused(activation, message):
    with pytest.raises(DomainError, match=message):
        activation_moments(activation)


def test_a_function_of_numbers_gets_numbers_of_python():
    def step(z):
        """Numpy's booleans have no difference."""
        return (z > 0.5) - (z < -0.5)

    assert activation_moments(step).mu_1 == pytest.approx(2 * math.exp(-0.125) / math.sqrt(2 * math.pi), abs=1e-11)
    np.testing.assert_array_equal(activation_function(step)(np.array([-0.7, 0.3, 0.6])), [-1, 0, 1])


def test_a_function_of_tensors_is_called_on_arrays():
    alone = []

    def relu(z):
        found = torch.relu(z)
        alone.append(found.ndim == 0)
        return found

    values = activation_function(relu)(np.array([[-1.0, 2.0], [0.5, -0.1]]))
    np.testing.assert_array_equal(values, [[0.0, 2.0], [0.5, 0.0]])
    (q,) = variables([0.3])
    assert gaussian_covariance(relu).covariance(q).value == pytest.approx(
        gaussian_covariance("relu").covariance(q).value, abs=1e-10
    )
    assert sum(alone) < 200
