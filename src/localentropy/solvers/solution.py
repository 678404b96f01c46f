"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localentropy.arguments import require_integer
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance


@dataclass(frozen=True, eq=False)
class Solution:
    """The weights that a solver ended with, and how it got there.

    Attributes:
        weights: the final binary weights, int8 of ±1, [N].
        solved: whether these weights have no training error at the margin asked for, recomputed from the patterns.
        iterations: steps made, in the solver's own unit (sweeps, passes over the patterns, updates of all messages,
            epochs); the last one may have been cut short by success.
        train_errors: fraction of patterns below the margin, at the start and after every iteration, [iterations + 1].
        cpu_seconds: processor time, of this thread where the solver runs in one.
        converged: message passing: whether the messages reached their tolerance.
        entropy: message passing: Bethe entropy, nats per weight.
        magnetizations: message passing: the means of the weights, in [-1, 1], [N].
    """

    weights: np.ndarray
    solved: bool
    iterations: int
    train_errors: np.ndarray
    cpu_seconds: float
    converged: bool | None = None
    entropy: float | None = None
    magnetizations: np.ndarray | None = None

    @property
    def best_train_error(self) -> float:
        """The smallest train error met: 0 if solved, and for a failed run often well below the last one."""
        return float(self.train_errors.min())


def check_instance(instance: object) -> None:
    """Refuse what is not an instance.

    Raises:
        DomainError: naming what it is.
    """
    if not isinstance(instance, Instance):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is an Instance, as hidden_manifold and "
            "random_patterns of localentropy.instances make it"
        )


def check_run(instance: object, seed: object) -> None:
    """Refuse what is not an instance, or a seed that is not an integer.

    Raises:
        DomainError: naming which.
    """
    check_instance(instance)
    require_integer("seed", seed)
