"""Norms that do not matter: scale every unit's incoming weights to norm 1 without changing what a network answers.

ReLU(n z) = n ReLU(z) for n > 0, so the norm of a hidden unit can be moved to the weights that leave it, layer by layer
up to the output, whose own norm does not change the sign of f. Source: overparam, §III.
"""

from __future__ import annotations

import torch
from torch import Tensor

from localentropy.networks.mlp import Ensemble


def normalise(ensemble: Ensemble) -> tuple[Ensemble, Tensor]:
    """Networks with unit-norm rows in every layer, and the number of dead units in each hidden layer.

    For each hidden unit, from the first layer on, n is the norm of its incoming weights, without the bias; weights and
    bias are divided by n and the weights to the next layer are multiplied by n. The output's weights and bias are
    divided by the norm of its weights. The output f is divided by a positive number, so its sign stays.

    A dead unit has n = 0, sends on a constant, and is left as it is.

    Returns:
        The networks, in the floating-point type of the given ones, and dead units [models, hidden layers].
    """
    dtype = ensemble.weights[0].dtype
    weights = [weight.double() for weight in ensemble.weights]  # norms multiply up: keep their rounding out
    biases = [bias.double() for bias in ensemble.biases]
    dead = []
    for layer in range(len(weights)):
        norm = weights[layer].norm(dim=2)
        dead.append((norm == 0).sum(1))
        norm = torch.where(norm == 0, 1.0, norm)
        weights[layer] = weights[layer] / norm[:, :, None]
        biases[layer] = biases[layer] / norm
        if layer + 1 < len(weights):
            weights[layer + 1] = weights[layer + 1] * norm[:, None, :]
    normalised = Ensemble(tuple(w.to(dtype) for w in weights), tuple(b.to(dtype) for b in biases))
    return normalised, torch.stack(dead[:-1], 1)
