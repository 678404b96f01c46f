"""Order of units that does not matter: permute one network's hidden units to match another's, and compare them.

Source: overparam, §III.
"""

from __future__ import annotations

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn.functional import normalize

from localentropy.networks.mlp import Ensemble


def permute(ensemble: Ensemble, permutations: list[Tensor]) -> Ensemble:
    """The same functions with hidden units in another order.

    Unit i of hidden layer l becomes the old unit `permutations[l][model, i]`; each tensor is [models, width].
    """
    weights, biases = list(ensemble.weights), list(ensemble.biases)
    for layer, order in enumerate(permutations):
        weights[layer] = weights[layer].take_along_dim(order[:, :, None], 1)
        biases[layer] = biases[layer].take_along_dim(order, 1)
        weights[layer + 1] = weights[layer + 1].take_along_dim(order[:, None, :], 2)
    return Ensemble(tuple(weights), tuple(biases))


def align(reference: Ensemble, other: Ensemble) -> tuple[Ensemble, list[Tensor]]:
    """Permute the hidden units of each network of `other` to match the network of `reference` with the same index.

    Layer by layer, starting at the inputs and with the permutation of the layer below applied, the matching maximises
    the sum of cosines between incoming weights; for normalised networks (see `normalise`) it is the one of least
    distance. Biases do not enter it.

    Returns:
        The permuted networks, and for each hidden layer the permutation [models, width] (see `permute`).
    """
    permutations: list[Tensor] = []
    for layer in range(len(other.weights) - 1):
        identity = torch.arange(other.shape.width, device=other.weights[0].device).expand(other.models, -1)
        permuted = permute(other, [*permutations, identity]).weights[layer]
        cosines = normalize(reference.weights[layer].double(), dim=2) @ normalize(permuted.double(), dim=2).mT
        matched = [linear_sum_assignment(matrix.cpu().numpy(), maximize=True)[1] for matrix in cosines]
        permutations.append(torch.stack([torch.from_numpy(columns) for columns in matched]).to(identity))
    return permute(other, permutations), permutations


def overlap(first: Ensemble, second: Ensemble) -> Tensor:
    """Cosine between the weights of networks with the same index, float64 [models].

    q = Σ w w' / (‖w‖ ‖w'‖) over the weights of all layers, biases excluded. For normalised networks every unit, the
    output included, counts the same: q is the mean over units of the cosine between incoming weights.
    """
    norms = _products(first, first).sum(1) * _products(second, second).sum(1)
    return _products(first, second).sum(1) / norms.sqrt()


def layer_overlaps(first: Ensemble, second: Ensemble) -> Tensor:
    """Cosine between the weights of each layer, from the inputs to the output, float64 [models, layers]."""
    norms = _products(first, first) * _products(second, second)
    return _products(first, second) / norms.sqrt()


def distance(first: Ensemble, second: Ensemble) -> Tensor:
    """Euclidean distance between all weights, biases excluded, over √(number of units), float64 [models].

    For normalised networks it is √(2 (1 − q)) with q their `overlap`.
    """
    difference = first.flat_weights().double() - second.flat_weights().double()
    return difference.norm(dim=1) / units(first) ** 0.5


def units(ensemble: Ensemble) -> int:
    """Number of units with incoming weights: all hidden ones and the output."""
    return sum(weight.shape[1] for weight in ensemble.weights)


def _products(first: Ensemble, second: Ensemble) -> Tensor:
    """Scalar products of the weights of each layer, [models, layers]."""
    pairs = zip(first.weights, second.weights, strict=True)
    return torch.stack([(a.double() * b.double()).sum((1, 2)) for a, b in pairs], 1)
