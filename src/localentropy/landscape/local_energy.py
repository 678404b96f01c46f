"""Local energy: the mean train error of a solution whose weights are perturbed by multiplicative noise.

Source: overparam, SI "Local energy curves" (§E.2). We read "multiplicative Gaussian noise that
acts on the network weights" as w' = w (1 + σ z).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from localentropy.arguments import (
    require_function,
    require_generators,
    require_integer,
    require_shape,
    require_tensor,
)
from localentropy.device import Tensor, torch
from localentropy.errors import DomainError
from localentropy.numerics.waiting import counted
from localentropy.quantities import DRAWS, NOISE


@dataclass(frozen=True)
class LocalEnergy:
    """Distances and train errors of perturbed solutions.

    Attributes:
        sigmas: levels of noise σ, [sigmas].
        distance: Euclidean distance ‖w' − w‖ after renormalisation, [sigmas, solutions, draws].
        distance_per_unit: the distance divided by √(number of units); at most √2 on average if units have norm 1.
        train_error: fraction of training patterns in error, [sigmas, solutions, draws].
    """

    sigmas: np.ndarray
    distance: np.ndarray
    distance_per_unit: np.ndarray
    train_error: np.ndarray

    def curve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean distance per unit, mean train error and its standard error over solutions, each [sigmas].

        The mean over the draws around a solution is one observation, because these draws are not independent. With one
        solution the standard error is NaN.
        """
        by_solution = self.train_error.mean(2)
        solutions = by_solution.shape[1]
        deviation = by_solution.std(1, ddof=1) if solutions > 1 else np.full(len(self.sigmas), np.nan)
        return self.distance_per_unit.mean((1, 2)), by_solution.mean(1), deviation / np.sqrt(solutions)


def local_energy(
    weights: Tensor,
    evaluate: Callable[[Tensor], tuple[Tensor, Tensor]],
    *,
    units: int,
    sigmas: Sequence[float],
    draws: int,
    generators: Sequence[np.random.Generator],
) -> LocalEnergy:
    """Perturb each solution `draws` times at every level of noise.

    All levels of noise use the same z, so differences along a curve have small errors. Generators of the same stream
    give the same z to different algorithms. What is not in `weights` (biases) is not perturbed.

    Args:
        weights: normalised solutions, [solutions, weights].
        evaluate: takes perturbed weights like `weights`; returns them normalised like the solutions, and their train
            error [solutions].
        units: number of units of one network.
        sigmas: levels of noise, not negative.
        draws: perturbations of each solution.
        generators: one for each solution.

    Returns:
        Distances and train errors of all draws.

    Raises:
        DomainError: weights that are no tensor, a negative level of noise, no draws, no units, or not one generator for
            each solution; an `evaluate` that is no function, or returns other shapes.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.landscape.local_energy import local_energy
        >>> weights = torch.nn.functional.normalize(torch.ones(1, 100), dim=1)
        >>> def evaluate(new):  # an error where the weights have moved by more than 0.5
        ...     new = torch.nn.functional.normalize(new, dim=1)
        ...     return new, ((new - weights).norm(dim=1) > 0.5).double()
        >>> streams = [np.random.default_rng(0)]
        >>> around = local_energy(weights, evaluate, units=1, sigmas=[0.1, 1.0], draws=9, generators=streams)
        >>> around.train_error.mean((1, 2)).tolist()
        [0.0, 1.0]
    """
    weights = require_tensor("weights", weights, ("solutions", "weights")).detach()
    require_function("evaluate", evaluate)
    units = require_integer("units", units, 1, weights.shape[1])
    noises = NOISE.require_all(sigmas).ravel()
    draws = DRAWS.require(draws)
    generators = require_generators(generators, len(weights))
    sigmas = noises.tolist()
    distance = np.empty((len(sigmas), len(weights), draws))
    error = np.empty_like(distance)
    for draw in counted(range(draws), "local_energy"):
        normal = np.stack([generator.standard_normal(weights.shape[1]) for generator in generators])
        noise = torch.from_numpy(normal).to(weights)
        for level, sigma in enumerate(sigmas):
            perturbed, wrong = _shaped(weights, evaluate(weights * (1 + sigma * noise)))
            distance[level, :, draw] = (perturbed - weights).double().norm(dim=1).cpu().numpy()
            error[level, :, draw] = wrong.cpu().numpy()
    return LocalEnergy(noises, distance, distance / np.sqrt(units), error)


def _shaped(weights: Tensor, found: object) -> tuple[Tensor, Tensor]:
    """What `evaluate` has returned for weights, or DomainError."""
    if not (isinstance(found, tuple) and len(found) == 2 and all(isinstance(one, Tensor) for one in found)):
        raise DomainError(f"evaluate returned a {type(found).__name__}, allowed are two tensors, weights and errors")
    perturbed, wrong = found
    require_shape("evaluate: weights", perturbed.shape, tuple(weights.shape))
    require_shape("evaluate: errors", wrong.shape, (len(weights),))
    return perturbed, wrong
