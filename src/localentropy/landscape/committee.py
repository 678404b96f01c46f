"""Overlap and local energy of solutions of the tree committee machine.

Every unit has its own inputs and a vote of weight +1. So any permutation or sign change of units changes the machine,
and weights are compared without alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from localentropy.instances.committee import TreeCommittee
from localentropy.landscape.local_energy import LocalEnergy, local_energy
from localentropy.solvers.committee.kernels import count_errors


def committee_overlap(first: np.ndarray, second: np.ndarray) -> Any:
    """Cosine of the weights of each unit, averaged over units.

    Args:
        first: weights [..., K, N/K].
        second: of the same shape.

    Returns:
        One number, or an array of the leading shape.
    """
    norms = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    overlap = ((first * second).sum(-1) / norms).mean(-1)
    return overlap if np.ndim(overlap) else float(overlap)


def committee_local_energy(
    instance: TreeCommittee,
    weights: np.ndarray,
    *,
    sigmas: Sequence[float],
    draws: int,
    generators: Sequence[np.random.Generator],
) -> LocalEnergy:
    """Train error of solutions whose weights are multiplied by 1 + σz and normalised again, unit by unit.

    The squared distance per unit is 2 (1 − 1/√(1 + σ²)) for many inputs per unit.

    Args:
        instance: the training set of all solutions.
        weights: solutions with units of norm 1, [solutions, K, N/K].
        sigmas: levels of noise, not negative.
        draws: perturbations of each solution.
        generators: one for each solution; equal generators give equal noise.

    Raises:
        DomainError: see `local_energy`.
    """
    shape = weights.shape

    def evaluate(perturbed: Tensor) -> tuple[Tensor, Tensor]:
        units = torch.nn.functional.normalize(perturbed.view(shape), dim=2)
        errors = [count_errors(instance.data.signed_patterns, one) / instance.P for one in units.numpy()]
        return units.view(len(units), -1), torch.tensor(errors, dtype=torch.float64)

    return local_energy(
        torch.from_numpy(weights.reshape(len(weights), -1)),
        evaluate,
        units=instance.units,
        sigmas=sigmas,
        draws=draws,
        generators=generators,
    )
