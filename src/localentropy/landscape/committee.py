"""Overlap and local energy of solutions of the tree committee machine.

Every unit has its own inputs and a vote of weight +1. So any permutation or sign change of units changes the machine,
and weights are compared without alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from localentropy.arguments import require_reals
from localentropy.errors import DomainError
from localentropy.instances.committee import Committee, check_committee
from localentropy.solvers.committee.kernels import count_errors

if TYPE_CHECKING:
    from localentropy.device import Tensor
    from localentropy.landscape.local_energy import LocalEnergy

ROUNDING = 1e-5
"""How far a norm may be from 1: weights may come from single precision."""


def committee_overlap(first: np.ndarray, second: np.ndarray) -> Any:
    """Cosine of the weights of each unit, averaged over units.

    Args:
        first: weights, [K, inputs_per_unit] or [students, K, inputs_per_unit].
        second: of the same shape, or one machine for all, [K, inputs_per_unit].

    Returns:
        One number, or an array of the leading shape.

    Raises:
        DomainError: weights of two shapes, of one dimension, not finite or with a unit of zeros.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> weights = committee_least_action(machine, seed=0).weights
        >>> from localentropy.landscape.committee import committee_overlap
        >>> round(committee_overlap(weights, weights), 6)
        1.0
    """
    first = require_reals("first", first, ("K", "inputs_per_unit"), ("students", "K", "inputs_per_unit"))
    second = require_reals("second", second, first.shape, first.shape[-2:])
    if not (first.any(-1).all() and second.any(-1).all()):
        raise DomainError("first, second: a unit is all zeros, which has no direction")
    first, second = _of_order_one(first), _of_order_one(second)
    norms = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    overlap = ((first * second).sum(-1) / norms).mean(-1)
    return overlap if np.ndim(overlap) else float(overlap)


def committee_local_energy(
    instance: Committee,
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
        weights: solutions with units of norm 1, [solutions, K, inputs_per_unit].
        sigmas: levels of noise, not negative.
        draws: perturbations of each solution.
        generators: one for each solution; equal generators give equal noise.

    Returns:
        Distances and train errors of all draws.

    Raises:
        DomainError: not a committee with ±1 patterns, weights of another machine or with units of another norm than 1,
            or see `local_energy`.
        MissingPackageError: PyTorch is not installed.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.landscape.committee import committee_local_energy
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> machine, streams = random_tree_committee(N=99, P=40, K=3, seed=0), [np.random.default_rng(0)]
        >>> weights = committee_least_action(machine, seed=0).weights[None]
        >>> around = committee_local_energy(machine, weights, sigmas=[0.0, 0.5], draws=20, generators=streams)
        >>> around.train_error.mean((1, 2)).round(2).tolist()
        [0.0, 0.33]
    """
    from localentropy.device import functional, torch
    from localentropy.landscape.local_energy import local_energy

    check_committee(instance)
    weights = require_reals("weights", weights, ("solutions", instance.units, instance.inputs_per_unit))
    largest = np.abs(weights).max()
    if largest > 1.0 + ROUNDING:
        raise DomainError(f"weights: {largest:.6g} is among them, allowed are units with the norm 1")
    norms = np.linalg.norm(weights, axis=-1)
    if np.abs(norms - 1.0).max() > ROUNDING:
        farthest = norms.flat[np.abs(norms - 1.0).argmax()]
        raise DomainError(f"weights: a unit has the norm {farthest:.6g}, allowed is 1")
    shape = weights.shape

    def evaluate(perturbed: Tensor) -> tuple[Tensor, Tensor]:
        units = functional.normalize(perturbed.view(shape), dim=2)
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


def _of_order_one(weights: np.ndarray) -> np.ndarray:
    """The weights of each unit in units of a power of two, which rounds nothing: no square overflows or vanishes."""
    return np.ldexp(weights, -np.frexp(np.abs(weights).max(-1, keepdims=True))[1])
