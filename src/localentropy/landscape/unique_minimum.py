"""Whether the teacher is the only zero of the loss of d quadratic units, each of d weights, with a certificate.

m units w_a give the output x^T A x with A = sum_a w_a w_a^T / m, and m = d units reach every positive semidefinite A.
The zeros of the loss are the A with x^T A x = y^2 on every input. They are a convex set, which has the teacher's A* =
w* w*^T. Source: `glm`, slide on the over-parametrised landscape, theorem 3.1; the certificate is derived here
(docs/glm/theory.md section 10).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, null_space

from localentropy.arguments import require_memory
from localentropy.errors import ConvergenceError, DomainError
from localentropy.instances.generalized_linear import GeneralizedLinear, check_problem
from localentropy.numerics.channels import Absolute
from localentropy.numerics.waiting import counted

SHARPER = 4.0
"""Factor of the barrier from one centre to the next."""
CENTRED = 0.3
"""Largest Newton decrement at a centre."""
STEPS = 400
"""Most Newton steps."""
SHORTEST = 1e-12
"""Shortest step, of a Newton step."""
EXACT = 1e-9
"""Rounding of the linear conditions, relative."""
SINGULAR = 1e-10
"""A ridge on singular Newton equations, of their mean diagonal: many multipliers give the same matrix at small d."""


@dataclass(frozen=True, eq=False)
class Uniqueness:
    """Whether the teacher is the only zero, and why.

    Attributes:
        unique: whether it is.
        margin: bound on the largest possible smallest eigenvalue of sum_mu lambda_mu v_mu v_mu^T, whose mean eigenvalue
            is 1: from below, and positive, if the minimum is unique; from above, and negative, if it is not. Minus
            infinity if no multipliers fulfil the linear conditions, as for n <= d.
        multipliers: lambda, [n], if the minimum is unique; else empty.
        other: another positive semidefinite A with x^T A x = y^2, [d, d], if it is not unique; else empty.
        steps: Newton steps.
    """

    unique: bool
    margin: float
    multipliers: np.ndarray
    other: np.ndarray
    steps: int


def bytes_of(n: int, d: int) -> int:
    """Bytes of the matrices of a Newton step of `unique_minimum`.

    Args:
        n: number of inputs.
        d: number of weights.

    Returns:
        Bytes.

    Example:
        >>> from localentropy.landscape.unique_minimum import bytes_of
        >>> bytes_of(n=2000, d=500) / 1e6  # megabytes
        288.0
    """
    return 8 * (8 * n * n + 2 * n * d + 8 * d * d)


def unique_minimum(instance: GeneralizedLinear) -> Uniqueness:
    """Decide whether the loss of d quadratic units, each of d weights, has no zero but the teacher.

    Let u = x.w*/|w*| and v the part of x that is orthogonal to w*. The minimum is unique if and only if there are
    lambda_mu with sum lambda u v = 0, sum lambda u^2 = 0 and sum lambda v v^T positive definite (docs/glm/theory.md
    section 10). The largest possible smallest eigenvalue of this matrix, at trace d - 1, is bounded from both sides
    along the path of a logarithmic barrier until its sign is known.

    Args:
        instance: n samples of d inputs, with absolute values as labels; d >= 2. A step takes memory and time of
            matrices n by n and d by d: for alpha = 2.5 all steps take .1 s at d = 50 and half a second at d = 100.

    Returns:
        Whether the teacher is the only zero, with the multipliers or the other zero that prove it.

    Raises:
        DomainError: no generalized linear problem, signs as labels, a single weight, or more memory than a process may
            have.
        ConvergenceError: the sign is not known after 400 steps.

    Example:
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> problems = [generalized_linear(n, 20, seed=1, channel="absolute") for n in (30, 80)]
        >>> [unique_minimum(problem).unique for problem in problems]
        [False, True]
    """
    check_problem(instance, Absolute())
    if instance.d < 2:
        raise DomainError(f"d = {instance.d} is out of range: allowed are integers from 2 on")
    n, d = instance.n, instance.d
    require_memory(bytes_of(n, d), n=n, d=d)
    # The teacher is the first axis of an orthonormal frame. The scale of the inputs does not matter.
    axis = instance.teacher / np.linalg.norm(instance.teacher)
    frame = np.concatenate([axis[:, None], null_space(axis[None, :])], axis=1)
    x = np.sqrt(d) * (instance.inputs @ frame)
    path = _Path(x)
    for _ in counted(range(STEPS), "unique_minimum"):
        path.step()
        if path.t > 0.0:
            return Uniqueness(True, path.t, path.multipliers, np.empty((0, 0)), path.steps)
        if path.change is not None:
            other = _other(path.change, instance, frame)
            return Uniqueness(False, path.bound, np.empty(0), other, path.steps)
    raise ConvergenceError("minimum", {"n": n, "d": d}, -path.t)


class _Path:
    """The path of centres of maximal t with M - t 1 positive definite, M = sum lambda v v^T of trace d - 1.

    Attributes:
        x: inputs in the teacher's frame, u first, [n, d].
        multipliers: lambda, [n]; they fulfil the linear conditions.
        t: a lower bound on the largest smallest eigenvalue.
        bound: an upper bound on it.
        change: a symmetric matrix, [d, d], with x^T change x = 0 on every input, and positive definite on the v, once
            there is one.
        steps: Newton steps made.
    """

    def __init__(self, x: np.ndarray) -> None:
        n, d = x.shape
        self.x, self.v = x, x[:, 1:]
        self.change: np.ndarray | None = None
        self.bound, self.steps = np.inf, 0
        # Rows: sum lambda u^2, sum lambda u v, and the trace of M.
        conditions = np.concatenate([(x[:, :1] * x).T, (self.v**2).sum(axis=1)[None, :]])
        wanted = np.zeros(d + 1)
        wanted[-1] = d - 1
        self.multipliers, *_ = np.linalg.lstsq(conditions, wanted, rcond=None)
        self.conditions = conditions
        if np.abs(conditions @ self.multipliers - wanted).max() > 1e-8 * (d - 1):
            # No multipliers at all: then x^T A x = 0 has a solution that is the identity on the v.
            self.feasible, self.t = False, -np.inf
            self._try_change(np.eye(d - 1))
            if self.change is None:
                raise ConvergenceError("minimum", {"n": n, "d": d}, float(np.abs(conditions @ self.multipliers)[0]))
            return
        self.feasible = True
        self.free = null_space(conditions)
        lowest = float(np.linalg.eigvalsh(self._matrix(self.multipliers))[0])
        self.t = lowest - 0.1 * (1.0 + abs(lowest))
        self.tau = (d - 1) / (1.0 + abs(lowest))

    def _matrix(self, multipliers: np.ndarray) -> np.ndarray:
        matrix: np.ndarray = (self.v * multipliers[:, None]).T @ self.v
        return matrix

    def step(self) -> None:
        """One Newton step, towards the centre of this barrier or, at the centre, of the next."""
        if self.change is not None:
            return
        self.steps += 1
        m = self.v.shape[1]
        slack = np.linalg.inv(self._matrix(self.multipliers) - self.t * np.eye(m))
        slack = 0.5 * (slack + slack.T)
        w = self.v @ slack
        # Minus tau t - log det: its gradient and Hessian in the free multipliers and t.
        gradient = np.append(-(self.free.T @ (w * self.v).sum(axis=1)), np.trace(slack) - self.tau)
        inner = (w @ self.v.T) ** 2 @ self.free
        mixed = -(self.free.T @ (w**2).sum(axis=1))
        size = self.free.shape[1]
        hessian = np.empty((size + 1, size + 1))
        hessian[:size, :size] = self.free.T @ inner
        hessian[:size, size] = hessian[size, :size] = mixed
        hessian[size, size] = np.sum(slack**2)
        newton = _solve(hessian, -gradient)
        decrement = float(np.sqrt(max(0.0, -(gradient @ newton))))
        move, rise = self.free @ newton[:size], float(newton[size])
        moved = self._matrix(move) - rise * np.eye(m)
        if decrement < 1.0:
            # The slack after a Newton step fulfils the dual conditions, and is positive definite.
            self._try_change((slack - slack @ moved @ slack) / self.tau)
        length = 1.0 if decrement < 0.25 else 1.0 / (1.0 + decrement)
        while not _is_positive(self._matrix(self.multipliers + length * move) - (self.t + length * rise) * np.eye(m)):
            length *= 0.5
            if length < SHORTEST:
                raise ConvergenceError("minimum", {"n": len(self.x), "d": self.x.shape[1]}, decrement)
        self.multipliers = self.multipliers + length * move
        self.t = self.t + length * rise
        # Between the centres the smallest eigenvalue itself may already be positive.
        lowest = float(np.linalg.eigvalsh(self._matrix(self.multipliers))[0])
        if lowest > 0.0:
            self.t = lowest
        if decrement < CENTRED:
            self.tau *= SHARPER

    def _try_change(self, dual: np.ndarray) -> None:
        """Take a matrix on the v, with a multiple of 1, as the change of A, if that is positive definite.

        By duality v^T Z v + 2 b.v u + a u^2 + c |v|^2 = 0, where Z is proportional to the matrix. C = Z + c 1. If its
        smallest eigenvalue is e > 0, then that of no M is above -(d - 1) e / trace(C - e 1).
        """
        m = len(dual)
        quadratic = np.einsum("ij,jk,ik->i", self.v, dual, self.v)
        rows = self.conditions if self.feasible else self.conditions[:-1]
        found, *_ = np.linalg.lstsq(rows.T, -quadratic, rcond=None)
        a, b, c = found[0], 0.5 * found[1 : m + 1], found[-1] if self.feasible else 0.0
        block = dual + c * np.eye(m)
        if not _is_positive(block):
            return
        change = np.zeros((m + 1, m + 1))
        change[0, 0], change[0, 1:], change[1:, 0], change[1:, 1:] = a, b, b, block
        # What rounding left of the conditions, by the smallest change of the matrix.
        left = np.einsum("ij,jk,ik->i", self.x, change, self.x)
        fix, *_ = np.linalg.lstsq((self.x @ self.x.T) ** 2, left, rcond=None)
        change -= (self.x * fix[:, None]).T @ self.x
        left_over = np.abs(np.einsum("ij,jk,ik->i", self.x, change, self.x)).max()
        if not (_is_positive(change[1:, 1:]) and left_over < EXACT * np.linalg.norm(change) * (m + 1)):
            return
        eigenvalues = np.linalg.eigvalsh(change[1:, 1:])
        rest = float(np.sum(eigenvalues - eigenvalues[0]))
        self.bound = -m * float(eigenvalues[0]) / rest if rest > EXACT * eigenvalues[-1] else -np.inf
        self.change = change


def _other(change: np.ndarray, instance: GeneralizedLinear, frame: np.ndarray) -> np.ndarray:
    """The teacher's matrix and a multiple of a change: as far as it stays positive semidefinite, or half of it."""
    square = float(instance.teacher @ instance.teacher)
    change = change / np.linalg.norm(change)
    # The Schur complement of the teacher's axis: |w*|^2 + t a - t b^T C^-1 b is 0 at the end.
    b = change[0, 1:]
    slope = float(b @ np.linalg.solve(change[1:, 1:], b)) - change[0, 0]
    length = square if slope <= 0.5 else 0.5 * square / slope
    other = length * change
    other[0, 0] += square
    turned: np.ndarray = frame @ other @ frame.T
    return 0.5 * (turned + turned.T)


def _is_positive(matrix: np.ndarray) -> bool:
    """Whether a symmetric matrix is positive definite."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _solve(hessian: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Newton's equations; with a small ridge if they are singular."""
    ridge = SINGULAR * float(np.trace(hessian)) / len(hessian)
    for matrix in (hessian, hessian + ridge * np.eye(len(hessian))):
        try:
            step: np.ndarray = cho_solve(cho_factor(matrix), right)
        except LinAlgError:
            continue
        return step
    found, *_ = np.linalg.lstsq(hessian, right, rcond=None)
    solution: np.ndarray = found
    return solution
