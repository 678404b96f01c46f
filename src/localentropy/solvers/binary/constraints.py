"""What a hard constraint on a stability allows on the lattice of sums, and annealing under any such constraint.

A constraint is a `Steps` of `localentropy.theory` whose energies are 0 or infinite: a band for the symmetric
perceptron, a square wave, or a user's own. With ±1 patterns and N odd the sum s = Σ_i w_i y ξ_i is an odd integer. It
is allowed if the stability s/√N has energy 0. At an edge it is allowed if it is on one side of the edge.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from localentropy.arguments import require_choice, require_signs
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, require_odd
from localentropy.quantities import BETA_START, BETA_STEP, SWEEPS
from localentropy.solvers.binary.anneal import Sweeps, run_chain
from localentropy.solvers.binary.constraint_kernels import table_sweeps
from localentropy.solvers.solution import Solution, check_instance
from localentropy.theory.energies import Steps, step_levels

ENERGIES = ("errors", "linear")
_ROUNDING = 1e-9
"""An edge that was computed as (integer)/√N must not move to the next sum."""


def allowed_sums(constraint: Steps, N: int) -> np.ndarray:
    """Whether each sum s = −N, −N + 2, …, N is allowed: bool, [N + 1].

    Args:
        constraint: hard, such as `Band(1.0)`.
        N: number of weights, odd.

    Returns:
        For each sum.

    Raises:
        DomainError: no `Steps` of energies 0 and inf, edges that do not increase, energies that are not one more than
            edges, N even or below 1, a constraint that allows no sum.

    Example:
        >>> from localentropy.solvers.binary.constraints import allowed_sums
        >>> from localentropy.theory.symmetric_perceptron import Band
        >>> allowed_sums(Band(1.0), 5).tolist()
        [False, False, True, True, False, False]
    """
    if not isinstance(constraint, Steps) or not constraint.hard:
        raise DomainError(
            f"constraint = {type(constraint).__name__} object: allowed is a Steps with energies 0 and inf"
        )
    require_odd(N)
    sums = np.arange(-N, N + 1, 2)
    edges, energies = step_levels(constraint.edges, constraint.energies)
    below, above = (np.searchsorted(edges * math.sqrt(N), sums + shift) for shift in (-_ROUNDING, _ROUNDING))
    allowed: np.ndarray = (energies[below] == 0) | (energies[above] == 0)
    if not allowed.any():
        raise DomainError(f"constraint: it allows no sum of N = {N} weights")
    return allowed


def constraint_error(instance: Instance, constraint: Steps, weights: np.ndarray) -> float:
    """Fraction of training patterns that a constraint does not allow.

    Args:
        instance: ±1 patterns, N odd.
        constraint: see `allowed_sums`.
        weights: ±1, [N].

    Returns:
        One number.

    Raises:
        DomainError: see `allowed_sums`; real patterns, weights other than ±1 or of another length.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.constraints import constraint_error
        >>> from localentropy.theory.symmetric_perceptron import Band
        >>> constraint_error(random_patterns(N=201, P=100, seed=0), Band(1.0), np.ones(201))
        0.27
    """
    require_lattice(instance)
    weights = require_signs("weights", weights, (instance.N,))
    places = (instance.sums(weights).astype(np.int64) + instance.N) // 2
    return float((~allowed_sums(constraint, instance.N)[places]).mean())


def anneal_constrained(
    instance: Instance,
    constraint: Steps,
    *,
    seed: int,
    beta_start: float = 1.0,
    beta_step: float = 0.005,
    sweeps: int = 4000,
    energy: str = "errors",
) -> Solution:
    """Simulated annealing under any constraint, until the first solution.

    The chain is that of `anneal`, with the same random words. So a margin as a constraint gives the weights of `anneal`
    with this margin.

    Args:
        instance: ±1 patterns, N odd.
        constraint: see `allowed_sums`.
        seed: root seed of the initial weights and of the moves.
        beta_start: inverse temperature of the first sweep, per error.
        beta_step: its increase from one sweep to the next.
        sweeps: most sweeps. A sweep is N attempted flips.
        energy: "errors", the number of patterns that are not allowed; "linear", the number of flips from each pattern
            to the nearest allowed sum.

    Returns:
        Iterations are sweeps; errors and `solved` are those of the constraint.

    Raises:
        DomainError: see `allowed_sums`; real patterns, a negative β or step, sweeps < 1, an unknown energy.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.constraints import anneal_constrained
        >>> from localentropy.theory.symmetric_perceptron import Band
        >>> anneal_constrained(random_patterns(N=201, P=100, seed=0), Band(1.0), seed=0).solved
        True
    """
    check_instance(instance)
    require_lattice(instance)
    betas = BETA_START.require(beta_start) + np.arange(SWEEPS.require(sweeps)) * BETA_STEP.require(beta_step)
    allowed = allowed_sums(constraint, instance.N)
    places = np.arange(instance.N + 1)
    if require_choice("energy", energy, ENERGIES) == "errors":
        table = (~allowed).astype(np.int64)
    else:
        table = np.abs(places[:, None] - np.flatnonzero(allowed)).min(1)

    def dynamics(weights: np.ndarray, stream: np.ndarray) -> Sweeps:
        patterns = np.ascontiguousarray(instance.signed_patterns.T)
        here = (instance.sums(weights).astype(np.int64) + instance.N) // 2

        def run(betas: np.ndarray, stop: bool, errors: np.ndarray) -> int:
            return table_sweeps(patterns, table, ~allowed, here, weights, stream, betas, errors)  # type: ignore[no-any-return]

        return run

    error = partial(constraint_error, instance, constraint)
    return run_chain("anneal_constrained", "anneal", instance, seed, betas, dynamics, error, len(betas))


def require_lattice(instance: Instance) -> None:
    """Refuse what is no instance with ±1 patterns and N odd.

    Args:
        instance: what was passed.

    Raises:
        DomainError: says which.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.constraints import require_lattice
        >>> require_lattice(random_patterns(N=101, P=30, seed=0))
        >>> require_lattice(random_patterns(N=100, P=30, seed=0))
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: N = 100 is even: a sum of N terms ±1 can be 0, a tie; nearest allowed are
            99, 101
    """
    if not isinstance(instance, Instance) or not instance.binary:
        raise DomainError("instance: allowed is an Instance with patterns of ±1, such as those of activation 'sign'")
    require_odd(instance.N)
