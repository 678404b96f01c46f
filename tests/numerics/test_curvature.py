"""Second derivatives that are differences at first and corrected by each new gradient."""

import numpy as np
import pytest

from localentropy.numerics.curvature import FAR, Curvature, differences

POINT, UNITS = np.array([0.3, 0.7, 0.5]), np.array([0.3, 0.7, 0.5])
STEPS = 0.02 * np.array([[1.0, -1.0, 0.5], [0.5, 1.0, 1.0], [-1.0, 0.5, 1.0]])


def gradient(point):
    x, y, z = point
    return np.array([3 * x**2 * y + z, x**3 + np.cos(y), x + 4 * z**3])


def hessian(point):
    x, y, z = point
    return np.array([[6 * x * y, 3 * x**2, 1.0], [3 * x**2, -np.sin(y), 0.0], [1.0, 0.0, 12 * z**2]])


def curved(curvature, point):
    return curvature.at(gradient, point, gradient(point), UNITS, range(3))


def test_differences_are_second_derivatives():
    np.testing.assert_allclose(differences(gradient, POINT, UNITS, range(3)), hessian(POINT), atol=1e-8)
    np.testing.assert_allclose(curved(Curvature(), POINT), hessian(POINT), atol=1e-4)
    assert not differences(gradient, POINT, UNITS, [0])[1:, 1:].any()


def test_corrected_ones_explain_each_step_and_take_no_gradient_of_their_own():
    curvature, here = Curvature(), POINT
    curved(curvature, here)

    def refuse(point):
        raise AssertionError

    for step in STEPS:
        there = here + UNITS * step
        found = curvature.at(refuse, there, gradient(there), UNITS, range(3))
        np.testing.assert_allclose(found @ (there - here), gradient(there) - gradient(here), rtol=1e-9)
        np.testing.assert_allclose(found, found.T)
        here = there


@pytest.mark.parametrize("forget", [False, True])
def test_differences_are_taken_again_far_away_and_when_asked(forget):
    curvature = Curvature()
    curved(curvature, POINT)
    there = POINT + UNITS * (0.5 if forget else 2.0) * FAR
    if forget:
        curvature.forget()
    np.testing.assert_allclose(curved(curvature, there), hessian(there), atol=1e-4)
