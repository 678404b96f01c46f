"""The solver on a free entropy whose saddle point is known: the Curie-Weiss magnet."""

import numpy as np
import pytest
import torch
from scipy.optimize import brentq

from localentropy.errors import ConvergenceError
from localentropy.numerics import saddle_point
from localentropy.numerics.continuation import Branch, bracket_root, find_root
from localentropy.numerics.saddle_point import FreeEntropy, hessian, response, solve


class Magnet(FreeEntropy):
    """phi(m, m_hat) = beta m^2/2 + h m - m m_hat + ln 2 cosh m_hat: a saddle, m = tanh(beta m + h)."""

    names = ("m", "m_hat")
    scales = np.array([1.0, 1.0])

    def __init__(self, beta, field=0.0):
        self.beta, self.field = beta, field

    def value(self, parameters):
        m, m_hat = parameters.unbind()
        return self.beta * m * m / 2 + self.field * m - m * m_hat + torch.logaddexp(m_hat, -m_hat)

    def positive(self, parameters):
        return np.array([1 - parameters[0], parameters[0]])


class LogMagnet(Magnet):
    """The same in the logarithm of m."""

    def parameters(self, coordinates):
        return torch.stack([torch.exp(coordinates[0]), coordinates[1]])

    def coordinates(self, parameters):
        return np.array([np.log(parameters[0]), parameters[1]])


def magnetization(beta, field=0.0):
    return brentq(lambda m: m - np.tanh(beta * m + field), 0.6 if field else 1e-3, 1, xtol=1e-15)


@pytest.mark.parametrize("model", [Magnet, LogMagnet])
@pytest.mark.parametrize("start", [0.65, 0.75, 0.8])
def test_finds_the_saddle_from_afar(model, start):
    point = solve(model(1.5), np.array([start, 1.0]))
    m = magnetization(1.5)
    np.testing.assert_allclose(point.parameters, [m, 1.5 * m], rtol=1e-10)
    assert point.residual < 1e-10
    assert point.value == pytest.approx(-0.75 * m * m + np.log(2 * np.cosh(1.5 * m)), abs=1e-14)


def test_a_known_inverse_hessian_saves_gradients():
    cold = solve(Magnet(1.5), np.array([0.8, 1.2]))
    warm = solve(Magnet(1.501), cold.parameters, cold.inverse_hessian)
    assert warm.evaluations <= 6
    assert warm.parameters[0] == pytest.approx(magnetization(1.501), abs=1e-11)


def test_hessian_is_symmetric_and_right():
    matrix = hessian(Magnet(1.5).value, np.array([0.7, 1.1]))
    np.testing.assert_allclose(matrix, [[1.5, -1.0], [-1.0, 1 - np.tanh(1.1) ** 2]], rtol=1e-13)


class NearlyCancelling(FreeEntropy):
    """phi = -(x - 1)^2 / 2 - s (y - x - 1e-7)^2 / 2 in x and ln(y - x): a stiff equation for a small difference."""

    names = ("x", "y")
    scales = np.array([1.0, 1.0])

    def value(self, parameters):
        x, y = parameters.unbind()
        return -0.5 * (x - 1) ** 2 - 0.5e16 * (y - x - 1e-7) ** 2

    def positive(self, parameters):
        return np.array([parameters[0], parameters[1] - parameters[0]])

    def parameters(self, coordinates):
        return torch.stack([coordinates[0], coordinates[0] + torch.exp(coordinates[1])])

    def coordinates(self, parameters):
        return np.array([parameters[0], np.log(parameters[1] - parameters[0])])


class NearlyCancellingExactly(NearlyCancelling):
    rounding = 0.0


def test_what_rounding_of_the_parameters_leaves_of_an_equation_is_no_violation():
    start = np.array([0.9, 0.9 + 1.1e-7])
    point = solve(NearlyCancelling(), start)
    assert 1e-3 < point.residual < 10  # a unit in the last place of y makes 2 of it
    np.testing.assert_allclose(point.parameters, 1.0, rtol=1e-6)
    with pytest.raises(ConvergenceError):
        solve(NearlyCancellingExactly(), start)


@pytest.mark.parametrize("units", [100, -1000])
def test_a_violation_beyond_rounding_of_the_parameters_is_one(units):
    problem = NearlyCancelling()
    x = solve(problem, np.array([0.9, 0.9 + 1.1e-7])).parameters
    beside = problem.coordinates(x + np.array([0.0, units * np.finfo(float).eps]))
    assert saddle_point._is_rounding(problem, saddle_point._evaluate(problem, problem.coordinates(x)))
    assert not saddle_point._is_rounding(problem, saddle_point._evaluate(problem, beside))


def test_response_is_the_susceptibility():
    m = magnetization(1.5)
    by_field = response(lambda field: Magnet(1.5, field), 0.0, np.array([m, 1.5 * m]), 1e-3)
    assert by_field[0] == pytest.approx((1 - m * m) / (1 - 1.5 * (1 - m * m)), rel=1e-10)


def test_no_solution_raises_with_point_and_residual():
    with pytest.raises(ConvergenceError) as failure:
        solve(Magnet(0.8, field=-0.5), np.array([0.5, 0.5]))  # its only solution has m < 0
    assert set(failure.value.point) == {"m", "m_hat"}
    assert failure.value.residual > 1e-6


def test_start_outside_the_domain_raises():
    with pytest.raises(ConvergenceError):
        solve(Magnet(1.5), np.array([1.5, 1.0]))


@pytest.mark.parametrize("target", [1.05, 3.0])
def test_a_branch_follows_the_saddle(target):
    start = solve(Magnet(1.5), np.array([0.8, 1.2])).parameters
    branch = Branch(Magnet, "beta", [(1.5, start)], step=0.05)
    point = branch.to(target)
    assert branch.position == target
    assert point.parameters[0] == pytest.approx(magnetization(target), abs=1e-9)


def test_a_lost_branch_raises_and_stays_where_it_was():
    start = solve(Magnet(1.5), np.array([0.8, 1.2])).parameters
    branch = Branch(lambda field: Magnet(1.5, field), "field", [(0.0, start)], step=0.05)
    branch.to(-0.1)
    spinodal = np.arctanh(np.sqrt(1 / 3)) - 1.5 * np.sqrt(1 / 3)
    with pytest.raises(ConvergenceError) as failure:
        branch.to(-0.3)
    assert failure.value.point["field"] == pytest.approx(spinodal, abs=0.01)
    assert branch.position == -0.1
    assert branch.to(-0.05).parameters[0] == pytest.approx(magnetization(1.5, -0.05), abs=1e-10)


def test_root_of_an_observable_along_a_branch():
    start = solve(Magnet(1.5), np.array([0.8, 1.2])).parameters
    branch = Branch(Magnet, "beta", [(1.5, start)], step=0.1)
    beta = find_root(branch, lambda point: 0.95 - point.parameters[0], np.inf)
    assert beta == pytest.approx(np.arctanh(0.95) / 0.95, abs=1e-10)


def test_bracket_stops_at_the_end_when_there_is_no_root():
    start = solve(Magnet(1.5), np.array([0.8, 1.2])).parameters
    branch = Branch(Magnet, "beta", [(1.5, start)], step=0.1)
    point, _, right = bracket_root(branch, lambda point: 2.0 - point.parameters[0], 1.7)
    assert right == 1.7
    assert point.parameters[0] == pytest.approx(magnetization(1.7), abs=1e-10)
    with pytest.raises(ConvergenceError):
        find_root(branch, lambda point: 2.0 - point.parameters[0], 1.8)
