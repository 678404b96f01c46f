"""The solver and the branches on a free entropy whose saddle point is known: the Curie-Weiss magnet."""

import numpy as np
import pytest
from scipy.optimize import brentq

from localentropy.errors import ConvergenceError
from localentropy.numerics import jets
from localentropy.numerics.continuation import Branch, point_of_zero, zero_of_observable
from localentropy.numerics.saddle_point import FreeEntropy, solve, solve_equilibrated

BETA, FIELD = range(2)


class Magnet(FreeEntropy):
    """phi(m, m_hat) = beta m^2/2 + h m - m m_hat + ln 2 cosh m_hat - floor: a saddle, m = tanh(beta m + h)."""

    names = ("m", "m_hat")

    def __init__(self, beta, field=0.0, floor=0.0):
        self.beta, self.field, self.floor = beta, field, floor

    def controls(self):
        return np.array([self.beta, self.field])

    def magnetization(self, coordinate):
        if not 0 < coordinate.value < 1:
            raise ValueError("m")
        return coordinate

    def value(self, coordinates, controls):
        m, m_hat = self.magnetization(coordinates[0]), coordinates[1]
        tanh = np.tanh(m_hat.value)
        log_two_cosh = m_hat.map(np.logaddexp(m_hat.value, -m_hat.value), tanh, 1 - tanh**2)
        beta, field = controls
        return 0.5 * beta * m * m + field * m - m * m_hat + log_two_cosh - self.floor


class LogMagnet(Magnet):
    """The same in the logarithm of m."""

    names = ("ln m", "m_hat")

    def magnetization(self, coordinate):
        return super().magnetization(jets.exp(coordinate))


def magnetization(beta, field=0.0):
    return brentq(lambda m: m - np.tanh(beta * m + field), 0.6 if field else 1e-3, 1, xtol=1e-15)


def free_entropy(beta, field=0.0):
    m = magnetization(beta, field)
    return -0.5 * beta * m * m + np.log(2 * np.cosh(beta * m + field))


def start(model=Magnet):
    return np.array([0.8 if model is Magnet else np.log(0.8), 1.2])


@pytest.mark.parametrize("model", [Magnet, LogMagnet])
@pytest.mark.parametrize("first", [0.65, 0.75, 0.8])
def test_finds_the_saddle_from_afar(model, first):
    point = solve(model(1.5), np.array([first if model is Magnet else np.log(first), 1.0]))
    m = magnetization(1.5)
    found = point.coordinates[0] if model is Magnet else np.exp(point.coordinates[0])
    np.testing.assert_allclose([found, point.coordinates[1]], [m, 1.5 * m], rtol=1e-13)
    assert point.residual < 1e-10
    assert point.value == pytest.approx(-0.75 * m * m + np.log(2 * np.cosh(1.5 * m)), abs=1e-14)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-7])
def test_residual_is_the_last_correction_and_bounds_the_error(tolerance):
    point = solve(Magnet(1.5), start(), tolerance=tolerance)
    m, m_hat = start()
    step = np.array([np.inf, np.inf])
    while np.abs(step).max() >= tolerance:
        gradient = [1.5 * m - m_hat, np.tanh(m_hat) - m]
        step = -np.linalg.solve([[1.5, -1.0], [-1.0, 1 - np.tanh(m_hat) ** 2]], gradient)
        m, m_hat = np.array([m, m_hat]) + step
    assert point.residual == pytest.approx(np.abs(step).max(), rel=1e-6, abs=1e-15)
    exact = magnetization(1.5)
    assert np.abs(point.coordinates - [exact, 1.5 * exact]).max() <= point.residual + 1e-15


def test_gradient_and_hessian_are_by_coordinates_and_controls():
    point = solve(Magnet(1.5, 0.1), start())
    m, m_hat = point.coordinates
    np.testing.assert_allclose(point.gradient, [0, 0, m * m / 2, m], atol=1e-8)
    expected = [[1.5, -1, m, 1], [-1, 1 - np.tanh(m_hat) ** 2, 0, 0], [m, 0, 0, 0], [1, 0, 0, 0]]
    np.testing.assert_allclose(point.hessian, expected, atol=1e-8)


def test_response_slope_and_curvature_are_derivatives_along_the_solution():
    point = solve(Magnet(1.5, 0.1), start())
    m = magnetization(1.5, 0.1)
    susceptibility = (1 - m * m) / (1 - 1.5 * (1 - m * m))
    np.testing.assert_allclose(point.response[0], [m * susceptibility, susceptibility], rtol=1e-9)
    assert (point.slope(BETA), point.slope(FIELD)) == pytest.approx((m * m / 2, m), abs=1e-8)
    assert point.curvature(FIELD) == pytest.approx(susceptibility, rel=1e-8)
    assert point.curvature(BETA) == pytest.approx(m * m * susceptibility, rel=1e-8)
    beside = [solve(Magnet(1.5, 0.1 + h), start()) for h in (1e-5, -1e-5)]
    assert point.slope(FIELD) == pytest.approx((beside[0].value - beside[1].value) / 2e-5, abs=1e-8)
    by_field = (beside[0].coordinates - beside[1].coordinates) / 2e-5
    np.testing.assert_allclose(point.response[:, FIELD], by_field, rtol=1e-8)


@pytest.mark.parametrize("model", [Magnet, LogMagnet])
def test_a_control_parameter_is_found_where_the_free_entropy_vanishes(model):
    exact = brentq(lambda beta: free_entropy(beta) - 0.75, 1.1, 2.0, xtol=1e-15)
    point = solve(model(1.5, floor=0.75), start(model), vanishing=BETA)
    assert point.coordinates[-1] == pytest.approx(exact, rel=1e-12)
    assert len(point.coordinates) == 3
    exact = brentq(lambda field: free_entropy(1.5, field) - 1.0, 0.01, 1.0, xtol=1e-15)
    point = solve(model(1.5, 0.1, floor=1.0), start(model), vanishing=FIELD)
    assert point.coordinates[-1] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("model", [Magnet, LogMagnet])
def test_no_solution_raises_with_point_and_residual(model):
    with pytest.raises(ConvergenceError) as failure:
        solve(model(0.8, field=-0.5), start(model))  # its only solution has m < 0
    assert set(failure.value.point) == set(model.names)
    assert failure.value.residual > 1e-6


def test_start_outside_the_domain_raises():
    with pytest.raises(ConvergenceError) as failure:
        solve(Magnet(1.5), np.array([1.5, 1.0]))
    assert failure.value.point == {"m": 1.5, "m_hat": 1.0}


class StaleMagnet(Magnet):
    """Its second derivative by m is far from the right one until it is refreshed, and again at the next point."""

    def __init__(self, beta):
        super().__init__(beta)
        self.fresh, self.refreshed = False, 0

    def value(self, coordinates, controls):
        right = super().value(coordinates, controls)
        if not self.fresh:
            right.hessian[0, 0] -= 0.8
        self.fresh = False
        return right

    def refresh(self):
        self.fresh, self.refreshed = True, self.refreshed + 1
        return True


def test_second_derivatives_that_do_not_lead_on_are_made_exact():
    problem = StaleMagnet(1.5)
    point = solve(problem, np.array([0.8, 1.2]))
    assert problem.refreshed > 0
    assert point.coordinates[0] == pytest.approx(magnetization(1.5), abs=1e-9)


def test_linear_systems_whose_rows_differ_by_orders_of_magnitude():
    matrix = np.array([[2.0, -1.0, 0.3], [-1.0, 3.0, 0.5], [0.3, 0.5, -1.0]])
    units, solution = np.array([1e-60, 1.0, 1e60]), np.array([1.0, -2.0, 3.0])
    found = solve_equilibrated(units[:, None] * matrix * units, units * (matrix @ solution))
    np.testing.assert_allclose(found * units, solution, rtol=1e-13)
    assert np.isnan(solve_equilibrated(np.zeros((2, 2)), np.ones(2))).all()


def branch_in_beta(step=0.1, floor=0.0):
    return Branch(lambda beta: Magnet(beta, floor=floor), "beta", BETA, 1.5, start(), step)


@pytest.mark.parametrize("index", [BETA, None])
@pytest.mark.parametrize("target", [1.05, 3.0])
def test_a_branch_follows_the_saddle(target, index):
    branch = Branch(Magnet, "beta", index, 1.5, start(), step=0.05)
    point = branch.to(target)
    assert branch.position == target
    assert point.coordinates[0] == pytest.approx(magnetization(target), abs=1e-9)


def test_a_lost_branch_raises_and_stays_where_it_was():
    branch = Branch(lambda field: Magnet(1.5, field), "field", FIELD, 0.0, start(), step=0.05)
    branch.to(-0.1)
    spinodal = np.arctanh(np.sqrt(1 / 3)) - 1.5 * np.sqrt(1 / 3)
    with pytest.raises(ConvergenceError) as failure:
        branch.to(-0.3)
    assert failure.value.point["field"] == pytest.approx(spinodal, abs=0.01)
    assert branch.position == failure.value.point["field"]
    assert branch.point.coordinates[0] == pytest.approx(magnetization_beside_spinodal(branch.position), abs=1e-4)
    assert branch.to(-0.05).coordinates[0] == pytest.approx(magnetization(1.5, -0.05), abs=1e-10)


def magnetization_beside_spinodal(field):
    return brentq(lambda m: m - np.tanh(1.5 * m + field), np.sqrt(1 / 3), 1, xtol=1e-15)


def test_no_solution_where_a_branch_starts():
    with pytest.raises(ConvergenceError) as failure:
        Branch(lambda field: Magnet(0.8, field), "field", FIELD, -0.5, start(), step=0.05)
    assert set(failure.value.point) == {"m", "m_hat"}


@pytest.mark.parametrize(("floor", "ahead"), [(0.75, -1.0), (0.694, -1.0)])
def test_zero_of_the_free_entropy_along_a_branch(floor, ahead):
    exact = brentq(lambda beta: free_entropy(beta) - floor, 1.01, 2.0, xtol=1e-15)
    assert point_of_zero(branch_in_beta(floor=floor), ahead).coordinates[-1] == pytest.approx(exact, rel=1e-11)


def test_root_of_an_observable_along_a_branch():
    beta = zero_of_observable(branch_in_beta(), lambda point: 0.95 - point.coordinates[0], np.inf)
    assert beta == pytest.approx(np.arctanh(0.95) / 0.95, abs=1e-10)


def test_an_observable_that_is_not_positive_vanishes_at_once():
    assert zero_of_observable(branch_in_beta(), lambda point: 0.1 - point.coordinates[0], np.inf) == 1.5


def test_the_search_for_a_root_stops_at_the_end_of_the_interval():
    branch = branch_in_beta()
    assert zero_of_observable(branch, lambda point: 2.0 - point.coordinates[0], 1.7) is None
    assert branch.position == 1.7
    assert branch.point.coordinates[0] == pytest.approx(magnetization(1.7), abs=1e-10)
