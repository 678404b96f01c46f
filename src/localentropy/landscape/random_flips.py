"""Local energy of binary networks: the train error after each weight is flipped with probability d.

Source: margins, SM IV, figure 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from localentropy.errors import DomainError


def random_flips(
    weights: Tensor,
    errors: Callable[[Tensor], Tensor],
    *,
    distances: Sequence[float],
    draws: int,
    generators: Sequence[np.random.Generator],
) -> np.ndarray:
    """Train errors after random flips, `draws` times for each network at every distance.

    A draw gives every weight a number u, uniform in [0, 1). At distance d the weights with u < d are flipped. So all
    distances use the same numbers, and the weights that are flipped at one distance are flipped at all larger ones.

    Args:
        weights: ±1, [networks, weights].
        errors: takes flipped weights like `weights`; returns their train error [networks].
        distances: probabilities d of a flip, in [0, 1].
        draws: draws for each network.
        generators: one for each network.

    Returns:
        Train errors, [distances, networks, draws].

    Raises:
        DomainError: a distance outside [0, 1], no draws, or not one generator for each network.
    """
    if not all(0 <= d <= 1 for d in distances) or draws < 1 or len(generators) != len(weights):
        raise DomainError(
            f"random flips need distances from 0 to 1, draws >= 1 and one generator per network, got "
            f"distances={list(distances)}, draws={draws}, {len(generators)} generators for {len(weights)} networks"
        )
    found = np.empty((len(distances), len(weights), draws))
    for draw in range(draws):
        uniform = torch.from_numpy(np.stack([stream.random(weights.shape[1]) for stream in generators]))
        uniform = uniform.to(weights.device)
        for place, distance in enumerate(distances):
            found[place, :, draw] = errors(torch.where(uniform < distance, -weights, weights)).cpu()
    return found
