"""What the solvers of the tree committee machine return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localentropy.errors import DomainError
from localentropy.instances.committee import TreeCommittee


@dataclass(frozen=True, eq=False)
class CommitteeSolution:
    """The weights that a solver ended with, and how it got there.

    Attributes:
        weights: float64, [K, N/K], of norm 1 for each unit.
        solved: whether these weights make no error on the training set, recomputed from the patterns.
        iterations: steps made, in the solver's own unit (epochs, updates of all messages).
        train_errors: fraction of errors of the sign machine at the start and after every epoch, or after every step of
            the protocol, [epochs or steps made + 1].
        cpu_seconds: processor time; runs that are made at once share it equally.
    """

    weights: np.ndarray
    solved: bool
    iterations: int
    train_errors: np.ndarray
    cpu_seconds: float


def check_committee(instance: object) -> None:
    """Refuse what is not a tree committee with ±1 patterns.

    Raises:
        DomainError: naming which.
    """
    if not isinstance(instance, TreeCommittee):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is a TreeCommittee, as tree_committee and "
            "random_tree_committee of localentropy.instances.committee make it"
        )
    if not instance.data.binary:
        raise DomainError("the solvers of the committee need ±1 patterns: activation 'sign'")


def unit_norm(weights: np.ndarray) -> np.ndarray:
    """Weights [..., K, N/K] with every unit divided by its norm; a unit of zeros is left."""
    norm = np.linalg.norm(weights, axis=-1, keepdims=True)
    return weights / np.where(norm > 0, norm, 1.0)
