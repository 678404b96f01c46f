"""Alignment of networks, and their overlaps.

The order of the hidden units does not change what a network computes. So the units of one network are permuted to match
those of the other before the weights are compared. Units are those of a perceptron, or the channels of a convolution.
Source: overparam, §III.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn.functional import normalize

from localentropy.networks.layers import Layers, Networks


def permute(networks: Networks, permutations: Sequence[Tensor]) -> Networks:
    """The same functions with hidden units in another order.

    Unit i of hidden layer l becomes the old unit `permutations[l][network, i]`; each tensor is [networks, units].
    """
    weights, biases = list(networks.weights), list(networks.biases)
    for layer, order in enumerate(permutations):
        weights[layer] = _reordered(weights[layer], order, 1)
        biases[layer] = _reordered(biases[layer], order, 1)
        weights[layer + 1] = _reordered(weights[layer + 1], order, 2)
    return replace(networks, weights=tuple(weights), biases=tuple(biases))


def align(reference: Networks, other: Networks) -> tuple[Networks, list[Tensor]]:
    """Permute the hidden units of each network of `other` to match the network of `reference` with the same index.

    The layers are matched one by one, from the inputs on. The permutation of the layer below is applied first. The
    matching maximises the sum of the cosines between incoming weights. For normalised networks (see `normalise`) this
    gives the smallest distance. Biases and the weights of the outputs are not used.

    Returns:
        The permuted networks, and for each hidden layer the permutation [networks, units] (see `permute`).
    """
    permutations: list[Tensor] = []
    permuted = other
    for layer in range(len(other.weights) - 1):
        own, others = (normalize(n.weights[layer].double().flatten(2), dim=2) for n in (reference, permuted))
        cosines = own @ others.mT
        matched = [linear_sum_assignment(matrix.cpu().numpy(), maximize=True)[1] for matrix in cosines]
        permutations.append(torch.stack([torch.from_numpy(columns) for columns in matched]).to(cosines.device))
        permuted = permute(other, permutations)
    return permuted, permutations


def overlap(first: Layers, second: Layers) -> Tensor:
    """Cosine between the weights of networks with the same index, float64 [networks].

    q = Σ w w' / (‖w‖ ‖w'‖) over the weights of all layers, without biases. In normalised networks all units, also the
    outputs, have the same weight in this sum.
    """
    norms = _products(first, first).sum(1) * _products(second, second).sum(1)
    return _products(first, second).sum(1) / norms.sqrt()


def layer_overlaps(first: Layers, second: Layers) -> Tensor:
    """Cosine between the weights of each layer, from the inputs to the outputs, float64 [networks, layers]."""
    norms = _products(first, first) * _products(second, second)
    return _products(first, second) / norms.sqrt()


def distance(first: Layers, second: Layers) -> Tensor:
    """Euclidean distance between all weights, without biases, divided by √(number of units), float64 [networks].

    For normalised networks of overlap q the distance is √(2 (1 − q)).
    """
    difference = first.flat_weights().double() - second.flat_weights().double()
    return difference.norm(dim=1) / first.units**0.5


def _products(first: Layers, second: Layers) -> Tensor:
    """Scalar products of the weights of each layer, [networks, layers]."""
    pairs = zip(first.weights, second.weights, strict=True)
    return torch.stack([(a.double() * b.double()).flatten(1).sum(1) for a, b in pairs], 1)


def _reordered(tensor: Tensor, order: Tensor, dimension: int) -> Tensor:
    """The tensor with one dimension reordered, for each network by its own row of `order` [networks, units]."""
    shape = [len(order)] + [1] * (tensor.ndim - 1)
    shape[dimension] = -1
    return tensor.take_along_dim(order.reshape(shape), dimension)
