"""Empirical risk minimisation by a linear student of the teacher's sign (`glm`).

n = alpha d samples of d Gaussian inputs of variance 1/d; a teacher with Gaussian weights of mean square 1 gives the
signs y. The student minimises the sum of the losses l(y, x.w) and lambda |w|^2 / 2. Derivation: docs/glm/theory.md.

    >>> from localentropy.theory import erm
    >>> round(erm.fit(3.0, "logistic", 0.01).generalization_error, 6)
    0.129914
    >>> round(erm.optimal_regularization(3.0, "square"), 6)  # pi / 2 - 1
    0.570796

The losses are (y - x)^2 / 2, ln(1 + exp(-y x)), max(0, 1 - y x), and Huber's: (y - x)^2 / 2 where this is at most 1/2,
and |y - x| - 1/2 beyond. `localentropy.theory.hidden_manifold` and `localentropy.theory.gaussian_covariate` have other
inputs. Every function raises DomainError for an argument out of range, and ConvergenceError, with the point and the
residual, for a solve that failed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from localentropy.arguments import require_choice
from localentropy.errors import ConvergenceError
from localentropy.numerics.gaussian_kernels import SQRT_TWO_OVER_PI
from localentropy.numerics.search import LARGEST_RESIDUAL, maximum
from localentropy.quantities import REGULARIZATION, SAMPLES
from localentropy.theory.losses import LOSSES, Loss, Square

SEARCHED = (2e-8, 1e4)
"""Range in which the optimal lambda is looked for."""
DIP = np.array([0.8, 1.0, 1.25])
"""Places of the range, over the variance of an input, between which a narrow dip of the error may lie."""
STEP = 0.02
"""Step in ln lambda of the differences at the smallest error."""
FIRST_DERIVATIVE = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * STEP)
SECOND_DERIVATIVE = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * STEP**2)
"""Coefficients of derivatives, for values at five places."""
ROUNDING = 1e-14
"""Errors that differ by less are equal."""
MILD, STRONG = 0.5, 10.0
"""Smallest lambda of the square loss from whose solution another loss starts; lambda from which a hard solve starts."""
LARGEST_LOGARITHM = 100.0
"""Largest logarithm of an order parameter in a solve."""


@dataclass(frozen=True)
class Fit:
    """A student's minimum of the risk, in the limit of many weights.

    Attributes:
        overlap: M, covariance of the outputs of student and teacher.
        norm: Q, variance of the student's output.
        susceptibility: V, by how much an output moves when its own pattern pulls at it with unit force.
        generalization_error: probability of a wrong sign on a new input.
        square_error: mean of (y - x)^2 on new inputs.
        training_loss: mean of the loss over the training set, without the regularization.
        residual: relative error of the order parameters.
    """

    overlap: float
    norm: float
    susceptibility: float
    generalization_error: float
    square_error: float
    training_loss: float
    residual: float


class OrderParameters(NamedTuple):
    """What a pattern sees: susceptibility V, own variance N = Q - M^2, and covariance with the teacher M."""

    V: float
    N: float
    M: float


class Features(Protocol):
    """The inputs of a linear student: what its weights answer to the patterns' pull, at a regularization.

    Where the inputs have nothing to do with the teacher, M is 0: labels are random.

    Example:
        >>> from localentropy.theory.erm import Features, IndependentInputs
        >>> inputs: Features = IndependentInputs(3.0)
        >>> inputs.answer(bend=0.5, noise=0.2, pull=0.3, regularization=1.0)._fields
        ('V', 'N', 'M')
    """

    def answer(self, bend: float, noise: float, pull: float, regularization: float) -> OrderParameters:
        """The order parameters at the averages over patterns (`losses.Averages`).

        Args:
            bend: A.
            noise: B.
            pull: C.
            regularization: lambda.

        Returns:
            V, N and M of the output on a new input.
        """
        ...


@dataclass(frozen=True)
class IndependentInputs:
    """Independent Gaussian inputs, seen by the teacher too (docs/glm/theory.md eq. 26).

    Attributes:
        alpha: samples per weight.

    Example:
        >>> from localentropy.theory.erm import IndependentInputs, minimum
        >>> round(minimum(IndependentInputs(3.0), "square", 1.0, {"alpha": 3.0}).generalization_error, 6)
        0.150964
    """

    alpha: float

    def answer(self, bend: float, noise: float, pull: float, regularization: float) -> OrderParameters:
        """V = 1 / (lambda + alpha A), N = alpha B V^2, M = alpha C V."""
        V = 1.0 / (regularization + self.alpha * bend)
        return OrderParameters(V, self.alpha * noise * V * V, self.alpha * pull * V)


def fit(alpha: float, loss: str = "square", regularization: float = 1.0) -> Fit:
    """The minimum of the risk.

    Source: `glm`, slides on Bayes against risk minimisation; docs/glm/theory.md eqs. 23-30.

    Args:
        alpha: samples per weight, in [1e-3, 1e3].
        loss: "square", "logistic", "hinge" or "huber".
        regularization: lambda, in [1e-14, 1e6].

    Returns:
        Errors, losses and order parameters of the student.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: the minimum was not found.

    Example:
        >>> from localentropy.theory import erm
        >>> round(erm.fit(3.0, "logistic", 0.01).generalization_error, 6)
        0.129914
    """
    features = IndependentInputs(SAMPLES.require(alpha))
    return minimum(features, loss, regularization, {"alpha": features.alpha})


def optimal_regularization(alpha: float, loss: str = "square") -> float:
    """Lambda of the smallest generalization error, in [2e-8, 1e4]; for the square loss it is pi / 2 - 1.

    Args:
        alpha: samples per weight, in [1e-3, 1e3].
        loss: "square", "logistic", "hinge" or "huber".

    Returns:
        lambda.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: a minimum of the risk was not found.

    Example:
        >>> from localentropy.theory import erm
        >>> round(erm.optimal_regularization(3.0, "square"), 6)  # pi / 2 - 1
        0.570796
    """
    return smallest_error(lambda regularization: fit(alpha, loss, regularization), 1.0)


def smallest_error(fit_at: Callable[[float], Fit], variance: float) -> float:
    """The regularization in [2e-8, 1e4] at which a student's probability of a wrong sign is smallest.

    An answer next to an end of the range means that the error may fall beyond it.

    Args:
        fit_at: lambda -> the fit.
        variance: of an input. At this lambda V is 1 without patterns. With few samples the error of the hinge loss has
            a narrow dip there, below a plateau.

    Returns:
        lambda.

    Raises:
        ConvergenceError: a fit was not found.

    Example:
        >>> from localentropy.theory import erm
        >>> round(erm.smallest_error(lambda regularization: erm.fit(3.0, "square", regularization), 1.0), 4)
        0.5708
    """

    def success(log_regularization: float) -> float:
        return -fit_at(math.exp(log_regularization)).generalization_error

    grid = sorted(np.log([*np.geomspace(*SEARCHED, 24), *(DIP * variance)]).tolist())
    best = int(np.argmax([success(y) for y in grid]))
    place, _ = maximum(success, grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    # The function is flat near its maximum, so rounding moves this by 1e-6. The last step is one of Newton's method.
    around = np.array([success(place + step * STEP) for step in range(-2, 3)])
    slope, curvature = around @ FIRST_DERIVATIVE, around @ SECOND_DERIVATIVE
    if curvature < 0.0 and abs(slope) < -curvature * STEP:
        refined = place - float(slope / curvature)
        if success(refined) >= success(place) - ROUNDING:  # in a narrow dip the step may be too long
            place = refined
    return math.exp(place)


def minimum(features: Features, loss: str, regularization: float, point: dict[str, float]) -> Fit:
    """The minimum of the risk over students on some features; `point` names them in the message of a failed solve.

    Args:
        features: the inputs.
        loss: as in `fit`.
        regularization: lambda, in [1e-14, 1e6].
        point: names and values of the parameters.

    Returns:
        The fit.

    Raises:
        DomainError: an unknown loss, or a regularization out of range.
        ConvergenceError: the minimum was not found.

    Example:
        >>> from localentropy.theory.erm import IndependentInputs, minimum
        >>> round(minimum(IndependentInputs(2.0), "logistic", 0.1, {"alpha": 2.0}).generalization_error, 6)
        0.179662
    """
    law = LOSSES[require_choice("loss", loss, LOSSES)]
    regularization = REGULARIZATION.require(regularization)
    x = _square(features, law, regularization) if isinstance(law, Square) else _convex(features, law, regularization)
    residual = float(np.max(np.abs(_mismatch(_logs(x), features, law, regularization))))
    if not residual < LARGEST_RESIDUAL:
        raise ConvergenceError(loss, {**point, "regularization": regularization, **x._asdict()}, residual)
    V, N, M = x
    return Fit(
        M, N + M * M, V, math.atan2(math.sqrt(N), M) / math.pi, Square.test_error(N, M), law.averages(V, N, M).loss,
        residual,
    )  # fmt: skip


def _mismatch(y: np.ndarray, features: Features, law: Loss, regularization: float) -> np.ndarray:
    """Logs of the ratios of the two sides of the saddle-point equations at y = ln V, ln N, ln M; no third if M is 0."""
    bend, noise, pull, _ = law.averages(*_order_parameters(y))
    difference: np.ndarray = np.log(features.answer(bend, noise, pull, regularization)[: len(y)]) - y
    return difference


def _logs(x: OrderParameters) -> np.ndarray:
    logs: np.ndarray = np.log(x if x.M > 0.0 else x[:2])
    return logs


def _order_parameters(y: np.ndarray) -> OrderParameters:
    V, N, *M = np.exp(y).tolist()
    return OrderParameters(V, N, M[0] if M else 0.0)


def _square(features: Features, law: Square, regularization: float) -> OrderParameters:
    """V from its own equation; then M follows, and N from a linear equation (docs/glm/theory.md eq. 28)."""
    from scipy.optimize import brentq

    def mismatch(y: float) -> float:
        return math.log(features.answer(1.0 / (1.0 + math.exp(y)), 0.0, 0.0, regularization).V) - y

    low, high = (math.log(features.answer(bend, 0.0, 0.0, regularization).V) for bend in (1.0, 0.0))
    V = math.exp(brentq(mismatch, low - 1e-9, high + 1e-9, xtol=1e-14, rtol=1e-15))
    bend = 1.0 / (1.0 + V)
    _, of_signal, M = features.answer(bend, 0.0, SQRT_TWO_OVER_PI * bend, regularization)
    gain = features.answer(bend, 1.0, 0.0, regularization).N * bend * bend
    return OrderParameters(V, (of_signal + gain * law.test_error(0.0, M)) / (1.0 - gain), M)


def _convex(features: Features, law: Loss, regularization: float) -> OrderParameters:
    """Directly from a solution of the square loss. Where that fails, from a strong regularization, step by step."""
    from scipy.optimize import root

    def safe(y: np.ndarray, strength: float) -> np.ndarray:
        inside = np.all(np.abs(y) < LARGEST_LOGARITHM)
        return _mismatch(y, features, law, strength) if inside else np.full(len(y), LARGEST_LOGARITHM)

    def solve(start: np.ndarray, strength: float) -> tuple[np.ndarray, float]:
        found = root(safe, start, args=(strength,), tol=1e-13)
        return found.x, float(np.max(np.abs(found.fun)))

    # Without much regularization the square loss has a peak of its own.
    y, residual = solve(_logs(_square(features, Square(), max(regularization, MILD))), regularization)
    if not residual < LARGEST_RESIDUAL:
        strongest, slope = max(STRONG, regularization), np.zeros(len(y))
        steps = 2 + math.ceil(math.log(strongest / regularization) / math.log(4.0))
        y = _logs(_square(features, Square(), strongest))
        for position, strength in enumerate(np.geomspace(strongest, regularization, steps)):
            before = y
            y, residual = solve(y + slope, strength)
            slope = y - before if position else slope
    return _order_parameters(y)
