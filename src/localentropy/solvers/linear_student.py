"""Empirical risk minimisation by a linear student, by the optimizers of scipy (`glm`).

The student's output on an input x is w·x. With labels y = ±1 its weights minimise (docs/glm/theory.md eq. 23)

    risk(w) = Σ_μ ℓ(y_μ w·x_μ) + λ |w|² / 2,    ℓ(m) = (1 − m)² / 2,  ln(1 + exp(−m))  or  max(0, 1 − m) .

The distance of a risk from its minimum can be bounded without knowing the minimum. Any vector a with one number for
each pattern gives a lower bound of the risk. The risk less this bound is the duality gap, a sum of terms that are not
negative,

    gap = Σ_μ [ℓ(m_μ) + ℓ*(−a_μ) + a_μ m_μ] + |λ w − Σ_μ a_μ y_μ x_μ|² / 2λ .

For the smooth losses a = −ℓ'(m). Then the first term vanishes, and the second is the squared gradient over 2λ. For the
hinge loss a in [0, 1] is the unknown, and w follows from it. Then the second term vanishes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import expit, xlog1py, xlogy

from localentropy.arguments import (
    require_choice,
    require_reals,
    require_signs,
)
from localentropy.numerics.waiting import counted
from localentropy.quantities import REGULARIZATION_OF_RUN, STEPS, TOLERANCE

Array = np.ndarray
LARGEST_INPUT = 1e60
"""Beyond them numbers overflow."""
Trained = tuple[Array, Array | None, int]
"""Weights, the numbers of the lower bound if they are known, iterations."""


@dataclass(frozen=True, eq=False)
class LinearStudent:
    """The weights of a student that was trained.

    Attributes:
        weights: w, float64, [p].
        training_loss: mean of the loss over the training set, without the regularization.
        gap: duality gap over the risk of w = 0: the risk is above its minimum by at most this part.
        converged: whether the gap is below the tolerance.
        iterations: of the optimizer; 0 for the square loss.
        cpu_seconds: processor time.
    """

    weights: np.ndarray
    training_loss: float
    gap: float
    converged: bool
    iterations: int
    cpu_seconds: float


def train_linear_student(
    inputs: np.ndarray,
    labels: np.ndarray,
    *,
    loss: str,
    regularization: float,
    tolerance: float = 1e-6,
    max_iterations: int = 20_000,
) -> LinearStudent:
    """The minimum of the risk.

    Source: `glm`, slides on Bayes against risk minimisation and on the hidden manifold; docs/glm/theory.md eqs. 23, 31.
    The square loss has a closed form: a Cholesky factor of the smaller of X^T X + λ and X X^T + λ. The logistic loss is
    minimised by L-BFGS, and the hinge loss in its dual by L-BFGS-B.

    Args:
        inputs: X, [n, p], such that the output is w·x: `LinearProblem.inputs` are already divided by √p. Numbers up to
            1e60.
        labels: y, ±1, [n].
        loss: "square", "logistic" or "hinge".
        regularization: λ, in [1e-60, 1e60].
        tolerance: of the gap.
        max_iterations: most iterations of the optimizer.

    Returns:
        The weights, and the gap to the minimum that bounds their error.

    Raises:
        DomainError: arrays of other shapes or with other values, an unknown loss, an argument out of range.

    Example:
        >>> from localentropy.instances.linear_features import linear_problem
        >>> from localentropy.solvers.linear_student import train_linear_student
        >>> problem = linear_problem("independent", n=100, d=20, seed=0)
        >>> train_linear_student(problem.inputs, problem.labels, loss="hinge", regularization=0.1).weights.shape
        (20,)
    """
    require_choice("loss", loss, _TRAIN)
    regularization = REGULARIZATION_OF_RUN.require(regularization)
    max_iterations, tolerance = STEPS.require(max_iterations), TOLERANCE.require(tolerance)
    inputs = require_reals("inputs", inputs, ("n", "p"), most=LARGEST_INPUT)
    labels = require_signs("labels", labels, inputs.shape[:1])
    start = time.thread_time()
    patterns = labels[:, None] * inputs
    weights, dual, iterations = _TRAIN[loss](patterns, regularization, 0.1 * tolerance, max_iterations)
    margins, law = patterns @ weights, _LOSSES[loss]
    losses = law.value(margins)
    if dual is None:
        dual = law.pull(margins)
    pulled = regularization * weights - dual @ patterns
    excess = np.sum(losses + law.conjugate(dual) + dual * margins) + pulled @ pulled / (2.0 * regularization)
    gap = float(excess / np.sum(law.value(np.zeros_like(margins))))
    seconds = time.thread_time() - start
    return LinearStudent(weights, float(losses.mean()), gap, gap < tolerance, iterations, seconds)


def _square(patterns: Array, regularization: float, tolerance: float, max_iterations: int) -> Trained:
    """Closed form, by a Cholesky factor of the size n or p, whichever is smaller."""
    n, p = patterns.shape
    few = n < p
    gram = patterns @ patterns.T if few else patterns.T @ patterns
    gram[np.diag_indices_from(gram)] += regularization
    try:
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        # The regularization is lost to rounding. The gap tells whether the solution of least norm is the minimum.
        return np.linalg.lstsq(patterns, np.ones(n), rcond=None)[0], None, 0
    if few:
        return cho_solve(factor, np.ones(n)) @ patterns, None, 0
    return cho_solve(factor, patterns.sum(0)), None, 0


def _logistic(patterns: Array, regularization: float, tolerance: float, max_iterations: int) -> Trained:
    """L-BFGS from w = 0."""

    def risk(w: Array) -> tuple[float, Array]:
        margins = patterns @ w
        value = np.logaddexp(0.0, -margins).sum() + 0.5 * regularization * w @ w
        return float(value), regularization * w - expit(-margins) @ patterns

    found = _lbfgs(risk, np.zeros(patterns.shape[1]), tolerance, max_iterations)
    return found.x, None, int(found.nit)


def _hinge(patterns: Array, regularization: float, tolerance: float, max_iterations: int) -> Trained:
    """L-BFGS-B in the dual: w = Σ a y x / λ with a in [0, 1]."""

    def negative_bound(a: Array) -> tuple[float, Array]:
        w = a @ patterns / regularization
        return float(0.5 * regularization * w @ w - a.sum()), patterns @ w - 1.0

    n = len(patterns)
    found = _lbfgs(negative_bound, np.full(n, 0.5), tolerance, max_iterations, bounds=[(0.0, 1.0)] * n)
    return found.x @ patterns / regularization, found.x, int(found.nit)


def _lbfgs(
    function: Callable[[Array], tuple[float, Array]], start: Array, tolerance: float, most: int, **how: Any
) -> Any:
    """The end of L-BFGS-B: at a largest (projected) derivative of the tolerance, or where rounding stops it."""
    options = {"gtol": tolerance, "ftol": 0.0, "maxiter": most, "maxfun": 10 * most}
    iterations = counted(range(most), "train_linear_student")
    how["callback"] = lambda _: next(iterations, None)
    return minimize(function, start, jac=True, method="L-BFGS-B", options=options, **how)


class _Loss(NamedTuple):
    """A loss of margins, minus its derivative, and its conjugate at minus its argument."""

    value: Callable[[Array], Array]
    pull: Callable[[Array], Array]
    conjugate: Callable[[Array], Array]


_LOSSES = {
    "square": _Loss(lambda m: 0.5 * (1.0 - m) ** 2, lambda m: 1.0 - m, lambda a: 0.5 * a * a - a),
    "logistic": _Loss(
        lambda m: np.logaddexp(0.0, -m), lambda m: expit(-m), lambda a: xlogy(a, a) + xlog1py(1.0 - a, -a)
    ),
    "hinge": _Loss(lambda m: np.maximum(0.0, 1.0 - m), lambda m: np.where(m < 1.0, 1.0, 0.0), np.negative),
}
_TRAIN: dict[str, Callable[[Array, float, float, int], Trained]] = {
    "square": _square,
    "logistic": _logistic,
    "hinge": _hinge,
}
