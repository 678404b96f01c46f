"""Stationary points of a free entropy, from its gradient alone.

A problem states its free entropy as a function of its unknowns and the quantities that must stay
positive. The stationarity conditions come from automatic differentiation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from localentropy.errors import ConvergenceError

Array = np.ndarray

# No violation of an equation above this is called a solution, however small the step it asks for, unless
# it is rounding.
LARGEST_RESIDUAL = 1e-6
# The last step |dx| / (|x| + 0.01) of a solve, in coordinates, where rounding does not end it earlier.
TOLERANCE = 1e-11
# Gradients that one solve may spend.
EVALUATIONS = 60


class FreeEntropy(ABC):
    """A free entropy at fixed control parameters.

    Its parameters are what the formulas are written in. A model may also name coordinates, functions of
    the parameters in which its solutions vary more gently (the logarithm of a positive variance): the
    solver then steps in these.
    """

    names: ClassVar[tuple[str, ...]]
    # A violation is rounding if that many units in the last place of the parameters make up for it. Near the
    # largest margins conjugates reach 1e7 and variances are small differences: the equations, stated in these
    # parameters, then cannot be met more closely, however well the solve did.
    rounding: ClassVar[float] = 16.0

    @property
    @abstractmethod
    def scales(self) -> Array:
        """Shape (n,): derivative i over scales[i] is the violation of the i-th equation "parameter = ..."."""

    @abstractmethod
    def value(self, parameters: Tensor) -> Tensor:
        """Free entropy (nats per weight) at parameters of shape (n,)."""

    @abstractmethod
    def positive(self, parameters: Array) -> Array:
        """Quantities that are positive exactly inside the domain of the free entropy."""

    def parameters(self, coordinates: Tensor) -> Tensor:
        """Parameters at given coordinates, shape (n,)."""
        return coordinates

    def coordinates(self, parameters: Array) -> Array:
        """Inverse of `parameters`."""
        return parameters


@dataclass(frozen=True)
class StationaryPoint:
    """A solution of the saddle-point equations.

    Attributes:
        parameters: shape (n,).
        value: the free entropy there.
        residual: largest violation of a saddle-point equation.
        inverse_hessian: shape (n, n), in coordinates, approximate: to start a neighbouring solve.
        evaluations: gradients spent.
    """

    parameters: Array
    value: float
    residual: float
    inverse_hessian: Array
    evaluations: int


@dataclass(frozen=True)
class _Iterate:
    """Coordinates, the parameters there, and the free entropy with its gradient by either."""

    coordinates: Array
    parameters: Array
    value: float
    gradient: Array
    gradient_by_parameters: Array
    residual: float


def value_and_gradient(problem: FreeEntropy, parameters: Array) -> tuple[float, Array]:
    """Free entropy and its gradient of shape (n,) by the parameters."""
    point = torch.tensor(parameters, dtype=torch.float64, requires_grad=True)
    value = problem.value(point)
    (gradient,) = torch.autograd.grad(value, point)
    return value.item(), gradient.numpy()


def residual_of(problem: FreeEntropy, gradient: Array) -> float:
    """Largest violation of a saddle-point equation, given the gradient by the parameters."""
    return float(np.max(np.abs(gradient) / problem.scales))


def hessian(function: Callable[[Tensor], Tensor], point: Array) -> Array:
    """Matrix of second derivatives of a scalar function of a vector, shape (n, n)."""
    x = torch.tensor(point, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(function(x), x, create_graph=True)
    rows = [torch.autograd.grad(component, x, retain_graph=True)[0] for component in gradient]
    matrix = torch.stack(rows).numpy()
    return 0.5 * (matrix + matrix.T)


def response(family: Callable[[float], FreeEntropy], control: float, parameters: Array, step: float) -> Array:
    """Derivative of a stationary point by a control parameter, -H^-1 d(gradient)/d(control), shape (n,).

    Args:
        family: control parameter -> free entropy.
        control: where `parameters` are stationary.
        parameters: shape (n,).
        step: of the fourth-order difference of the gradient at fixed parameters.
    """
    gradients = [value_and_gradient(family(control + n * step), parameters)[1] for n in (-2, -1, 1, 2)]
    by_control = (gradients[0] - 8.0 * gradients[1] + 8.0 * gradients[2] - gradients[3]) / (12.0 * step)
    solution: Array = -np.linalg.solve(hessian(family(control).value, parameters), by_control)
    return solution


def solve(
    problem: FreeEntropy,
    start: Array,
    inverse_hessian: Array | None = None,
    *,
    rounding_floor: float = 1e-7,
) -> StationaryPoint:
    """Stationary point next to `start`.

    Quasi-Newton: one inverse Hessian, updated by Broyden's rule, computed afresh only where the steps do
    not contract. No step brings a positive quantity below a sixth of its value, so an iterate cannot
    jump across the border of the domain into an unphysical branch.

    Args:
        problem: the free entropy.
        start: parameters, shape (n,), inside the domain.
        inverse_hessian: that of a neighbouring solution, shape (n, n); computed when absent.
        rounding_floor: steps below this that no longer shrink are taken for rounding, which large conjugates
            and nearly cancelling variances lift above the tolerance: the solve has converged.

    Raises:
        ConvergenceError: with the last point and its residual.
    """
    if not np.all(problem.positive(start) > 0.0):
        raise _failure(problem, start, np.inf)
    here = _evaluate(problem, problem.coordinates(start))
    spent = 1
    fresh = inverse_hessian is None
    inverse = _inverse(problem, here) if inverse_hessian is None else inverse_hessian
    best, best_size, stalled, renewed = here, np.inf, 0, False
    while True:
        step = -inverse @ here.gradient
        size = _relative(step, here.coordinates)
        stalled = 0 if size < 0.5 * best_size else stalled + 1
        if size < best_size:
            best, best_size = here, size
        still = stalled > 2 and best_size < rounding_floor
        if still and not renewed and spent < EVALUATIONS:
            # It may be the inverse, not rounding, that keeps the steps from shrinking.
            here, best_size, stalled = best, np.inf, 0
            inverse, fresh, renewed = _inverse(problem, here), True, True
            continue
        if size < TOLERANCE or still:
            if best.residual <= LARGEST_RESIDUAL or _is_rounding(problem, best):
                return StationaryPoint(best.parameters, best.value, best.residual, inverse, spent)
            raise _failure(problem, best.parameters, best.residual)
        if spent >= EVALUATIONS or not np.isfinite(size):
            raise _failure(problem, here.parameters, here.residual)
        step = _guarded(problem, here, step)
        trial = _evaluate(problem, here.coordinates + step)
        spent += 1
        contraction = _relative(inverse @ trial.gradient, here.coordinates) / size
        if size > rounding_floor:
            if contraction > 0.9 and not fresh:
                inverse, fresh = _inverse(problem, here), True
                continue
            if not contraction < 2.0:
                # A soft direction may turn rounding into steps above the floor.
                if _is_rounding(problem, here):
                    return StationaryPoint(here.parameters, here.value, here.residual, inverse, spent)
                raise _failure(problem, here.parameters, here.residual)
        if size > 1e-2 * rounding_floor:  # below, differences of gradients are mostly rounding
            inverse = _broyden(inverse, step, trial.gradient - here.gradient)
        here = trial
        fresh = fresh and contraction > 0.5


def _evaluate(problem: FreeEntropy, coordinates: Array) -> _Iterate:
    point = torch.tensor(coordinates, dtype=torch.float64, requires_grad=True)
    parameters = problem.parameters(point)
    value = problem.value(parameters)
    by_parameters, by_coordinates = torch.autograd.grad(value, [parameters, point])
    return _Iterate(
        coordinates,
        parameters.detach().numpy(),
        value.item(),
        by_coordinates.numpy(),
        by_parameters.numpy(),
        residual_of(problem, by_parameters.numpy()),
    )


def _is_rounding(problem: FreeEntropy, here: _Iterate) -> bool:
    """Whether rounding of the parameters is all that violates the equations."""
    if problem.rounding == 0.0:
        return False
    unit = np.finfo(np.float64).eps * np.abs(here.parameters)
    allowed = problem.rounding * (np.abs(hessian(problem.value, here.parameters)) @ unit)
    return bool(np.all(np.abs(here.gradient_by_parameters) <= allowed))


def _inverse(problem: FreeEntropy, here: _Iterate) -> Array:
    matrix = hessian(lambda y: problem.value(problem.parameters(y)), here.coordinates)
    # Parameters and their conjugates differ by orders of magnitude: equilibrate before inverting.
    scale = 1.0 / np.sqrt(np.maximum(np.abs(matrix).max(axis=1), 1e-300))
    try:
        return scale[:, None] * np.linalg.inv(scale[:, None] * matrix * scale) * scale
    except np.linalg.LinAlgError:
        raise _failure(problem, here.parameters, np.inf) from None


def _relative(step: Array, x: Array) -> float:
    return float(np.max(np.abs(step) / (np.abs(x) + 1e-2)))


def _guarded(problem: FreeEntropy, here: _Iterate, step: Array) -> Array:
    room = problem.positive(here.parameters)
    for _ in range(60):
        trial = problem.parameters(torch.from_numpy(here.coordinates + step)).numpy()
        with np.errstate(all="ignore"):  # a wild step may overflow: then it is not inside
            inside = bool(np.all(problem.positive(trial) > room / 6.0))
        if inside:
            return step
        step = 0.5 * step
    return step


def _broyden(inverse: Array, step: Array, change: Array) -> Array:
    mapped = inverse @ change
    denominator = step @ mapped
    if abs(denominator) < 1e-14 * np.linalg.norm(step) * np.linalg.norm(mapped):
        return inverse
    return inverse + np.outer(step - mapped, step @ inverse) / denominator


def _failure(problem: FreeEntropy, parameters: Array, residual: float) -> ConvergenceError:
    point = dict(zip(problem.names, parameters.tolist(), strict=True))
    return ConvergenceError("saddle point", point, residual)
