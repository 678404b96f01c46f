"""The rules against integrals known in closed form or by adaptive quadrature."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr

from localentropy.numerics.quadrature import centred_gaussian_rule, gaussian_rule, unit_legendre


@pytest.mark.parametrize("centre", [0.0, 2.5, -4.0])
@pytest.mark.parametrize("sharpness", [0.1, 1.0, 30.0])
def test_moments_of_the_gaussian(sharpness, centre):
    z, weight = gaussian_rule(sharpness, 128, centre)
    moments = [(weight @ z**k).item() for k in range(5)]
    np.testing.assert_allclose(moments, [1, 0, 1, 0, 3], atol=1e-9)


@pytest.mark.parametrize("overlap", [0.01, 0.5, 0.9, 0.99, 0.999])
def test_teacher_student_integrand_with_56_nodes(overlap):
    a = math.sqrt(overlap / (1 - overlap))

    def integrand(z):
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * ndtr(a * z) * log_ndtr(a * z)

    exact = sum(quad(integrand, *limits, epsabs=1e-13, limit=400)[0] for limits in ((-9, 0), (0, 9)))
    z, weight = gaussian_rule(a, 56)
    value = (weight * torch.special.ndtr(a * z) * torch.special.log_ndtr(a * z)).sum().item()
    assert value == pytest.approx(exact, abs=1e-10)


def test_a_kink_far_from_the_origin_needs_its_centre():
    a, kink = 40.0, 1.7
    exact = quad(
        lambda z: math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * np.logaddexp(a * (z - kink), -a * (z - kink)),
        -9, 9, points=[kink], epsabs=1e-12, limit=400,
    )[0]  # fmt: skip
    z, weight = gaussian_rule(a, 96, kink)
    value = (weight * torch.logaddexp(a * (z - kink), -a * (z - kink))).sum().item()
    assert value == pytest.approx(exact, rel=1e-10)


def test_many_centres_at_once_equal_one_by_one():
    centres = torch.tensor([-1.0, 0.0, 3.0], dtype=torch.float64)
    z, weight = centred_gaussian_rule(centres, 5.0, 20)
    for row, centre in enumerate(centres.tolist()):
        alone = gaussian_rule(5.0, 20, centre)
        torch.testing.assert_close(z[row], alone[0], rtol=1e-14, atol=1e-15)
        torch.testing.assert_close(weight[row], alone[1], rtol=1e-14, atol=1e-15)


def test_legendre_on_the_unit_interval():
    x, weight = unit_legendre(6)
    np.testing.assert_allclose((weight @ x**11).item(), 1 / 12, rtol=1e-14)
