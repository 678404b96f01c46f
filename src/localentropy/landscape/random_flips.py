"""Local energy of binary networks: the train error after each weight is flipped with probability d.

Source: margins, supplement IV, figure 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from localentropy.arguments import (
    require_function,
    require_generators,
    require_labels,
    require_shape,
)
from localentropy.device import Tensor, torch
from localentropy.errors import DomainError
from localentropy.numerics.waiting import counted
from localentropy.quantities import DRAWS, FLIPS


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
        DomainError: weights that are no tensor of ±1, a distance outside [0, 1], no draws, or not one generator for
            each network; `errors` that is no function, or returns another shape.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.landscape.random_flips import random_flips
        >>> def minuses(weights):
        ...     return (weights < 0).double().mean(1)
        >>> weights, streams = torch.ones(1, 1000), [np.random.default_rng(0)]
        >>> found = random_flips(weights, minuses, distances=[0.0, 0.1], draws=5, generators=streams)
        >>> found.mean((1, 2)).round(1).tolist()
        [0.0, 0.1]
    """
    weights = require_labels("weights", weights, (-1, 1), ("networks", "weights"))
    require_function("errors", errors)
    distances = FLIPS.require_all(distances).ravel().tolist()
    draws = DRAWS.require(draws)
    generators = require_generators(generators, len(weights))
    found = np.empty((len(distances), len(weights), draws))
    for draw in counted(range(draws), "random_flips"):
        uniform = torch.from_numpy(np.stack([stream.random(weights.shape[1]) for stream in generators]))
        uniform = uniform.to(weights.device)
        for place, distance in enumerate(distances):
            wrong = errors(torch.where(uniform < distance, -weights, weights))
            if not isinstance(wrong, Tensor):
                raise DomainError(f"errors returned a {type(wrong).__name__}, allowed is a tensor")
            require_shape("errors: what it returned", wrong.shape, (len(weights),))
            found[place, :, draw] = wrong.cpu().numpy()
    return found
