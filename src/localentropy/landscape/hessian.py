"""Hessian of the mean square error of a committee with tanh units, at unit-norm weights: its spectrum.

A steep tanh(βx) is a sign. So the flatness of this loss depends on β, and a solution of the sign machine is one of the
tanh machine from some β on. The loss is (1/P) Σ_μ (1 − tanh S_μ)² with S = Σ_l tanh(β x_l) / √K, where x_l is the
pre-activation of unit l times the label. Derivatives are by the weights of norm 1 themselves. Source: `shaping`,
figures 5 and 6; docs/shaping/theory.md eqs. H.1 to H.4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.special import expit

from localentropy.instances.committee import Committee, normalised_units
from localentropy.quantities import BETA

_SMALL = 20  # weights; Lanczos' method would keep as many vectors


def hessian_eigenvalues(instance: Committee, weights: np.ndarray, beta: float) -> np.ndarray:
    """All eigenvalues of the Hessian at given weights.

    Memory and time are those of a matrix of all weights: 20 MB and a second for a tree with N = 999; 1.2 GB and minutes
    for the fully connected machine with 9 × 784.

    Args:
        instance: ±1 patterns.
        weights: [K, inputs_per_unit]; units are normalised first, and may have any norm but 0.
        beta: β of the units tanh(βx), positive, at most 1e100.

    Returns:
        In ascending order, [weights_count].

    Raises:
        DomainError: not a committee with ±1 patterns, weights of another shape, not finite or with a unit of zeros, or
            β not positive.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> weights = committee_least_action(machine, seed=0).weights
        >>> from localentropy.landscape.hessian import hessian_eigenvalues
        >>> hessian_eigenvalues(machine, weights, beta=5.0).shape
        (99,)
    """
    terms = _Terms(instance, weights, beta)
    P, size = terms.inputs.shape[1:]
    rows = np.einsum("bpn,bpk->pbkn", terms.inputs, terms.slopes).reshape(P, -1)
    matrix = rows.T @ (terms.shared[:, None] * rows)
    for unit, (block, place) in enumerate(np.ndindex(terms.own.shape[0], terms.own.shape[2])):
        here, inputs = slice(unit * size, (unit + 1) * size), terms.inputs[block]
        matrix[here, here] += inputs.T @ (terms.own[block, :, place, None] * inputs)
    eigenvalues: np.ndarray = np.linalg.eigvalsh(matrix)
    return eigenvalues


def largest_eigenvalue(instance: Committee, weights: np.ndarray, beta: float) -> float:
    """The largest eigenvalue, by Lanczos' method from a fixed start: the matrix is never made.

    Args:
        instance: see `hessian_eigenvalues`.
        weights: see `hessian_eigenvalues`.
        beta: see `hessian_eigenvalues`.

    Returns:
        The largest eigenvalue.

    Raises:
        DomainError: see `hessian_eigenvalues`.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> weights = committee_least_action(machine, seed=0).weights
        >>> from localentropy.landscape.hessian import largest_eigenvalue
        >>> round(largest_eigenvalue(machine, weights, beta=5.0), 4)
        47.1457
    """
    terms = _Terms(instance, weights, beta)
    size = instance.weights_count
    if size <= _SMALL:
        return float(hessian_eigenvalues(instance, weights, beta)[-1])
    start = np.random.default_rng(0).standard_normal(size)
    if not terms.product(start).any():
        # Every tanh is so far out that nothing is left of the matrix.
        return 0.0
    operator = LinearOperator((size, size), matvec=terms.product, dtype=np.float64)
    return float(eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0])


def smallest_valid_beta(instance: Committee, weights: np.ndarray, betas: Sequence[float] | np.ndarray) -> float:
    """The smallest β of a grid from which on the machine with tanh units makes no error.

    Source: docs/shaping/theory.md eq. H.4. The text wants an error-free machine; that it must stay so at all larger β
    of the grid is chosen here.

    Args:
        instance: see `hessian_eigenvalues`.
        weights: see `hessian_eigenvalues`.
        betas: the grid, positive, in any order.

    Returns:
        The smallest such β; NaN if there is an error at the largest one.

    Raises:
        DomainError: see `hessian_eigenvalues`; no β given.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> weights = committee_least_action(machine, seed=0).weights
        >>> from localentropy.landscape.hessian import smallest_valid_beta
        >>> smallest_valid_beta(machine, weights, betas=[0.1, 1.0, 10.0, 1000.0])
        1000.0
    """
    grid = np.sort(BETA.require_all(betas).ravel())
    unit_weights = normalised_units(instance, weights)
    fields = instance.preactivations(unit_weights)
    least = math.nan
    for beta in grid[::-1]:
        if not np.all(np.tanh(beta * fields).sum(1) > 0.0):
            break
        least = float(beta)
    return least


class _Terms:
    """What the Hessian is made of (docs/shaping/theory.md eqs. H.2, H.3). Units that see the same inputs share a block.

    Attributes:
        inputs: patterns times labels, [blocks, P, inputs_per_unit].
        slopes: S_l, [blocks, P, units of a block].
        own: the part of unit l alone, of the same shape.
        shared: the factor of S_l S_m, [P].
    """

    def __init__(self, instance: Committee, weights: np.ndarray, beta: float) -> None:
        beta = BETA.require(beta)
        unit_weights = normalised_units(instance, weights)
        fields = beta * instance.preactivations(unit_weights)
        P, K = fields.shape
        blocks = instance.data.N // instance.inputs_per_unit
        self.inputs = instance.unit_inputs[:blocks].astype(np.float64)
        # 1 − tanh² and 1 − ψ by exponentials: a difference would lose all digits where they are small.
        far = np.exp(-2.0 * np.abs(fields))
        bell = 4.0 * far / (1.0 + far) ** 2
        votes, root = np.tanh(fields), math.sqrt(K)
        twice = 2.0 * votes.sum(1) / root
        above, below = 2.0 * expit(twice), 2.0 * expit(-twice)
        scale = 2.0 / P * above * below**2
        self.shared = scale * (3.0 * above - 2.0)
        self.slopes = self._by_block(beta / root * bell)
        # In this order no product overflows before it meets a bell of zero.
        self.own = self._by_block(scale[:, None] * (2.0 * beta / root) * (votes * (beta * bell)))

    def product(self, vector: np.ndarray) -> np.ndarray:
        """The Hessian times a vector, [weights_count]."""
        blocks, _, size = self.inputs.shape
        fields = self.inputs @ vector.reshape(blocks, -1, size).swapaxes(1, 2)
        total = self.shared * (self.slopes * fields).sum((0, 2))
        back = self.slopes * total[:, None] + self.own * fields
        return (back.swapaxes(1, 2) @ self.inputs).ravel()

    def _by_block(self, values: np.ndarray) -> np.ndarray:
        """From [P, K]."""
        return np.ascontiguousarray(values.reshape(len(values), len(self.inputs), -1).swapaxes(0, 1))
