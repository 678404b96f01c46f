"""Normalisation: hidden units get incoming weights of norm 1, and the network classifies as before.

For n > 0, ReLU(n z) = n ReLU(z), and max-pooling keeps a positive factor too. So the norm of a unit or filter can be
moved to the weights that leave it, layer by layer up to the outputs. A common factor of the outputs changes neither the
sign of one output nor the order of several. Their norms get the mean square 1. Source: overparam, §III.
"""

from __future__ import annotations

from dataclasses import replace

from localentropy.device import Tensor, torch
from localentropy.networks.layers import Networks, require_networks


def normalise(networks: Networks) -> tuple[Networks, Tensor]:
    """Networks whose hidden units have incoming weights of norm 1, and the number of dead units.

    The hidden units are treated layer by layer, from the inputs on. Let n be the norm of a unit's incoming weights,
    without the bias. Weights and bias are divided by n, and the weights that leave the unit are multiplied by n. The
    outputs are divided by one number, which makes the mean square norm of their incoming weights 1.

    A dead unit has n = 0. Its output is a constant, and it stays as it is.

    Args:
        networks: networks of ReLU units.

    Returns:
        The networks, in the same floating-point type, and the number of dead units [networks, hidden layers].

    Raises:
        DomainError: `networks` is not a `Layers` object.

    Example:
        >>> import torch
        >>> from localentropy.networks.layers import Layers
        >>> from localentropy.networks.normalise import normalise
        >>> networks = Layers((torch.tensor([[[3.0, 4.0], [0.0, 0.0]]]), torch.ones(1, 1, 2)), ())
        >>> scaled, dead = normalise(networks)
        >>> scaled.weights[0].double().numpy().round(6).tolist(), dead.tolist()  # the second unit is dead
        ([[[0.6, 0.8], [0.0, 0.0]]], [[1]])
    """
    require_networks("networks", networks)
    dtype = networks.weights[0].dtype
    weights = [weight.double() for weight in networks.weights]  # the norms of many layers multiply: no rounding here
    biases = [bias.double() for bias in networks.biases]
    dead = []
    for layer in range(len(weights) - 1):
        norm = weights[layer].flatten(2).norm(dim=2)
        dead.append((norm == 0).sum(1))
        norm = torch.where(norm == 0, 1.0, norm)
        weights[layer] = weights[layer] / _spread(norm[:, :, None], weights[layer])
        if biases:
            biases[layer] = biases[layer] / norm
        weights[layer + 1] = weights[layer + 1] * _spread(norm[:, None, :], weights[layer + 1])
    norm = weights[-1].flatten(1).norm(dim=1) / weights[-1].shape[1] ** 0.5
    norm = torch.where(norm == 0, 1.0, norm)
    weights[-1] = weights[-1] / _spread(norm[:, None, None], weights[-1])
    if biases:
        biases[-1] = biases[-1] / norm[:, None]
    scaled = replace(networks, weights=tuple(w.to(dtype) for w in weights), biases=tuple(b.to(dtype) for b in biases))
    return scaled, torch.stack(dead, 1)


def _spread(factors: Tensor, weights: Tensor) -> Tensor:
    """Factors [networks, outputs, inputs] with one more dimension where the weights have taps."""
    return factors.reshape(*factors.shape, *[1] * (weights.ndim - 3))
