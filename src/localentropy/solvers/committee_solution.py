"""What the solvers of the tree committee machine return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class CommitteeSolution:
    """The weights that a solver ended with, and how it got there.

    Attributes:
        weights: float64, [K, N/K], of norm 1 for each unit.
        solved: whether these weights make no error on the training set, recomputed from the patterns.
        iterations: steps made, in the solver's own unit (epochs, updates of all messages).
        train_errors: fraction of errors of the sign machine at the start and after every iteration, [iterations + 1].
        cpu_seconds: processor time; runs that are made at once share it equally.
    """

    weights: np.ndarray
    solved: bool
    iterations: int
    train_errors: np.ndarray
    cpu_seconds: float


def unit_norm(weights: np.ndarray) -> np.ndarray:
    """Weights [..., K, N/K] with every unit divided by its norm; a unit of zeros is left."""
    norm = np.linalg.norm(weights, axis=-1, keepdims=True)
    return weights / np.where(norm > 0, norm, 1.0)
