"""What every solver returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from localentropy.arguments import require_list
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance
from localentropy.quantities import SEED


@dataclass(frozen=True, eq=False)
class Solution:
    """The weights that a solver ended with, and how it got there.

    Attributes:
        weights: the final weights, float64, so that no product of them wraps: of the binary perceptron ±1, [N]; of a
            committee [K, inputs_per_unit], with norm 1 for each unit, or ±1 (`solvers.binary`).
        solved: whether these weights have no training error (at the margin asked for), recomputed from the patterns.
        iterations: number of steps in the solver's own unit (sweeps, passes over the patterns, updates of all
            messages, epochs). Success may have cut the last one short.
        train_errors: fraction of patterns in error, at the start and after every iteration, [iterations + 1]; of
            `committee_focusing_bp` after every step of its protocol, of `committee_belief_propagation` at the end. A
            run that goes on from `start` has those of its own call.
        cpu_seconds: processor time. Runs that are made at once share it equally.
        converged: whether the run reached the tolerance of its stop rule: messages, a loss, or the distance of
            replicas. None of solvers that do not report it.
        entropy: Bethe entropy, nats per weight. Only of message passing, as the next one.
        magnetizations: the means of the weights, in [-1, 1], [N].
        first_weights: of a run that goes on after its first solution, the first weights without errors, as `weights`;
            None if there were none.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> found = solvers.mct0(random_patterns(N=201, P=40, seed=0), seed=0)
        >>> found.solved, found.iterations + 1 == len(found.train_errors), found.best_train_error
        (True, True, 0.0)
    """

    weights: np.ndarray
    solved: bool
    iterations: int
    train_errors: np.ndarray
    cpu_seconds: float
    converged: bool | None = None
    entropy: float | None = None
    magnetizations: np.ndarray | None = None
    first_weights: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", self.weights.astype(np.float64))
        if self.first_weights is not None:
            object.__setattr__(self, "first_weights", self.first_weights.astype(np.float64))

    @property
    def best_train_error(self) -> float:
        """The smallest train error of the run. In a failed run it is often well below the last one."""
        return float(self.train_errors.min())


@dataclass(frozen=True, eq=False)
class FocusingRecord:
    """What each step of a focusing protocol ended with; all arrays are [steps made].

    Attributes:
        coupling: γ of binary weights, λ of continuous ones.
        replicas: y.
        iterations: updates of all messages.
        train_error: fraction of errors of the signs of the fields, or of the sign machine with the means as weights.
        residual: largest change of a mean in the last update (of continuous weights before damping).
        damping: share of the old messages kept in the last update.
        overlap: q = Σ_i m_i²/N of the means; 1 when the replicas are one configuration.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> steps = solvers.focusing_bp(random_patterns(N=201, P=40, seed=0), seed=0, steps=3).steps
        >>> steps.coupling.round(2).tolist(), bool(steps.overlap[-1] > steps.overlap[0])
        ([0.66, 1.15, 4.95], True)
    """

    coupling: np.ndarray
    replicas: np.ndarray
    iterations: np.ndarray
    train_error: np.ndarray
    residual: np.ndarray
    damping: np.ndarray
    overlap: np.ndarray

    @classmethod
    def of(cls, steps: Sequence[Sequence[float]]) -> Self:
        """The record of steps that have these seven numbers each. A run that starts without errors makes none."""
        coupling, replicas, iterations, *others = np.array(steps, dtype=np.float64).reshape(-1, 7).T
        return cls(coupling, replicas, iterations.astype(np.int64), *others)


STOPS = ("end", "first")
"""Where a focusing protocol ends: after all its steps, or at the first solution."""


def check_instance(instance: object) -> None:
    """Refuse what is not an instance.

    Args:
        instance: what was passed.

    Raises:
        DomainError: says what it is.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.solution import check_instance
        >>> check_instance(random_patterns(N=101, P=30, seed=0))
        >>> check_instance("random patterns")
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: instance = str object: allowed is an Instance, as hidden_manifold and
            random_patterns of localentropy.instances make it
    """
    if not isinstance(instance, Instance):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is an Instance, as hidden_manifold and "
            "random_patterns of localentropy.instances make it"
        )


def require_runs(function: str, instances: object, seeds: object) -> tuple[list[Any], list[int]]:
    """Instances and seeds of many runs, as lists.

    Args:
        function: its name, for the message.
        instances: what was passed.
        seeds: what was passed.

    Returns:
        The instances, and a seed for each.

    Raises:
        DomainError: no lists, not one seed for each instance, or a seed that is not an integer.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.solution import require_runs
        >>> require_runs("solve_many", [random_patterns(N=101, P=30, seed=0)], seeds=[0, 1])
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: solve_many needs one seed for each instance, got 2 seeds for 1
    """
    listed, roots = require_list("instances", instances), require_list("seeds", seeds)
    if len(roots) != len(listed):
        raise DomainError(f"{function} needs one seed for each instance, got {len(roots)} seeds for {len(listed)}")
    return listed, [SEED.require(seed) for seed in roots]
