"""Jets: gradient and Hessian of every operation and function against derivatives taken in 30 digits."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from localentropy.numerics import jets
from localentropy.numerics.jets import Jet, compose, variables

# Each is written once, and is given the functions of jets or of mpmath.
OPERATIONS = {
    "sum": lambda f, x, y, z: x + y + 2.0,
    "sum from the left": lambda f, x, y, z: 2.0 + x * y,
    "difference": lambda f, x, y, z: x * z - y - 0.5,
    "difference from the left": lambda f, x, y, z: 1.0 - x * x,
    "negative": lambda f, x, y, z: -(x * y),
    "product": lambda f, x, y, z: x * y * (z + x),
    "product with a number": lambda f, x, y, z: 3.0 * (x * y) * -0.5,
    "quotient": lambda f, x, y, z: x * z / (y * y),
    "quotient by a number": lambda f, x, y, z: (x * y) / 4.0,
    "reciprocal": lambda f, x, y, z: 3.0 / (x * y + z),
    "exp": lambda f, x, y, z: f.exp(x * y - z),
    "expm1": lambda f, x, y, z: f.expm1(x * y - z),
    "log": lambda f, x, y, z: f.log(x * y + z),
    "sqrt": lambda f, x, y, z: f.sqrt(x * y + z * z),
    "asin": lambda f, x, y, z: f.asin(x / (x + y)),
    "logistic": lambda f, x, y, z: f.logistic(x * y - z),
    "composed": lambda f, x, y, z: f.exp(-f.sqrt(x) * y) / (1.0 + z * f.log(x + y + 1.0)) - f.logistic(z) * x,
}
MPMATH = SimpleNamespace(
    exp=mp.exp, expm1=mp.expm1, log=mp.log, sqrt=mp.sqrt, asin=mp.asin, logistic=lambda x: 1 / (1 + mp.exp(-x))
)
COORDINATE = st.floats(0.05, 4.0)


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=12)
@given(point=st.tuples(COORDINATE, COORDINATE, COORDINATE))
def test_value_gradient_and_hessian(name, point):
    jet = OPERATIONS[name](jets, *variables(point))

    def partial(*indices: int) -> float:
        return float(mp.diff(lambda *at: OPERATIONS[name](MPMATH, *at), point, [indices.count(i) for i in range(3)]))

    with mp.workdps(30):
        gradient = [partial(i) for i in range(3)]
        hessian = [[partial(i, j) for j in range(3)] for i in range(3)]
        value = float(OPERATIONS[name](MPMATH, *map(mp.mpf, point)))
    close = {"rtol": 1e-12, "atol": 1e-13 * max(1.0, np.abs(gradient).max(), np.abs(hessian).max())}
    np.testing.assert_allclose(jet.value, value, **close)
    np.testing.assert_allclose(jet.gradient, gradient, **close)
    np.testing.assert_allclose(jet.hessian, hessian, **close)


def test_variables_have_unit_gradients_and_no_curvature():
    x, y = variables([2.0, 3.0])
    assert (x.value, y.value) == (2.0, 3.0)
    np.testing.assert_array_equal([x.gradient, y.gradient], np.eye(2))
    assert not (x.hessian.any() or (x + 2.0 * y).hessian.any())


def test_the_example_of_the_module():
    x, y = variables([2.0, 3.0])
    np.testing.assert_allclose((x * jets.log(y)).gradient, [math.log(3.0), 2.0 / 3.0], rtol=1e-15)


def test_numbers_of_numpy_leave_products_to_the_jets():
    x, y = variables([2.0, 3.0])
    product = np.float64(3.0) * (x * y)
    assert isinstance(product, Jet)
    np.testing.assert_array_equal(product.hessian, [[0.0, 3.0], [3.0, 0.0]])


@given(x=COORDINATE, y=COORDINATE)
def test_a_function_of_several_jets_follows_the_chain_rule(x, y):
    """u v^2 with u = x y and v = exp(x) - y, as one function of two jets and spelled out."""
    a, b = variables([x, y])
    u, v = a * b, jets.exp(a) - b
    together = compose(
        u.value * v.value**2,
        np.array([v.value**2, 2 * u.value * v.value]),
        np.array([[0.0, 2 * v.value], [2 * v.value, 2 * u.value]]),
        [u, v],
    )
    apart = u * v * v
    assert together.value == pytest.approx(apart.value, rel=1e-13)
    scale = np.abs(apart.hessian).max()
    np.testing.assert_allclose(together.gradient, apart.gradient, rtol=1e-12, atol=1e-13 * scale)
    np.testing.assert_allclose(together.hessian, apart.hessian, rtol=1e-12, atol=1e-13 * scale)


@pytest.mark.parametrize("x", [-700.0, -40.0, 40.0, 700.0])
def test_logistic_keeps_its_digits_where_it_is_nearly_zero(x):
    """At x and -x together: v = 1 - q without cancellation."""
    jet = jets.logistic(variables([x])[0])
    tail = math.exp(-abs(x))
    assert jet.value == pytest.approx(tail if x < 0 else 1.0, rel=1e-14)
    assert jet.gradient[0] == pytest.approx(tail, rel=1e-14)
    assert jet.hessian[0, 0] == pytest.approx(math.copysign(tail, -x), rel=1e-14)


def test_asin_keeps_its_digits_at_the_end_of_its_domain():
    x = 1.0 - 2.0**-40
    jet = jets.asin(variables([x])[0])
    with mp.workdps(50):
        slope = 1 / mp.sqrt(1 - mp.mpf(x) ** 2)
        curvature = mp.mpf(x) * slope**3
    assert jet.gradient[0] == pytest.approx(float(slope), rel=1e-15)
    assert jet.hessian[0, 0] == pytest.approx(float(curvature), rel=1e-15)


@pytest.mark.parametrize(
    ("function", "x", "error"),
    [
        (jets.log, -1.0, ValueError),
        (jets.sqrt, -1.0, ValueError),
        (jets.asin, 1.1, ValueError),
        (jets.exp, 1e3, OverflowError),
        (lambda x: 1.0 / x, 0.0, ZeroDivisionError),
    ],
)
def test_outside_of_its_domain_a_function_raises(function, x, error):
    with pytest.raises(error):
        function(variables([x])[0])
