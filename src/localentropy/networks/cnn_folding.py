"""Convolutional networks without batch norm: folded, normalised, aligned, compared.

In evaluation batch norm is an affine map of each channel, so it can be folded into the convolution before it,

    w_eff = γ w / √(σ² + ε),   b_eff = β − γ μ / √(σ² + ε).

What is left is convolution, bias, ReLU, max-pooling, which all let a positive factor pass: the norm of a filter can be
moved to the weights that leave its channel, and channels can be permuted, without changing what a network answers.
Source: overparam, §III (weights normalised and aligned before they are compared).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional

from localentropy.networks.cnn import CLASSES, CNN, EPSILON, POOLS, Statistics, pooled


@dataclass(frozen=True)
class Folded:
    """Networks of one width without batch norm.

    Attributes:
        weights: of the four convolutions [networks, outputs, inputs, 9], of the linear layer [networks, 10, inputs, 1].
        biases: of each layer, [networks, outputs].
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]

    @property
    def networks(self) -> int:
        """Number of networks."""
        return len(self.weights[0])

    @property
    def units(self) -> int:
        """Number of channels and outputs of one network: units with weights of their own."""
        return sum(weight.shape[1] for weight in self.weights)

    def select(self, networks: Sequence[int]) -> Folded:
        """Copy of the networks with these indices, in this order; an index may repeat."""
        index = torch.as_tensor(networks, device=self.weights[0].device)
        return Folded(tuple(weight[index] for weight in self.weights), tuple(bias[index] for bias in self.biases))

    def flat_weights(self) -> Tensor:
        """All weights of each network, without the biases, [networks, weights]."""
        return torch.cat([weight.flatten(1) for weight in self.weights], 1)

    def with_weights(self, flat: Tensor) -> Folded:
        """Networks with the weights given in the order of `flat_weights` and these biases."""
        parts = flat.split([weight[0].numel() for weight in self.weights], 1)
        weights = tuple(part.view_as(weight) for part, weight in zip(parts, self.weights, strict=True))
        return Folded(weights, self.biases)

    @torch.no_grad()
    def scores(self, images: Tensor, block: int = 250) -> Tensor:
        """Class scores [networks, patterns, 10] at images [patterns, 3, 32, 32], worked on in blocks.

        One network after the other: evaluation is a small part of the work, and plain convolutions are the fastest.
        """
        scores = []
        for network in range(self.networks):
            filters = [
                weight[network].unflatten(-1, (3, 3)).contiguous(memory_format=torch.channels_last)
                for weight in self.weights[:-1]
            ]
            linear = self.weights[-1][network, :, :, 0]
            for part in images.split(block):
                activations = part
                for layer, pool in enumerate(POOLS):
                    before = functional.conv2d(activations, filters[layer], self.biases[layer][network], padding=1)
                    activations = pooled(before, pool).relu()
                scores.append(functional.linear(activations.flatten(1), linear, self.biases[-1][network]))
        return torch.cat(scores).view(self.networks, len(images), CLASSES)

    def errors(self, images: Tensor, labels: Tensor) -> Tensor:
        """Fraction of images [patterns, 3, 32, 32] whose largest score is not their label's, float64 [networks]."""
        return (self.scores(images).argmax(2) != labels).double().mean(1)


def fold(cnn: CNN, over: Statistics) -> Folded:
    """The networks in evaluation mode, with the statistics `over` a set of images, in their floating-point type."""
    weights, biases = [], []
    for filters, scale, shift, mean, variance in zip(
        cnn.convolutions, cnn.scales, cnn.shifts, over.means, over.variances, strict=True
    ):
        factor = scale.double() / (variance + EPSILON).sqrt()
        weights.append((filters.double() * factor[:, :, None, None, None]).flatten(3).to(filters))
        biases.append((shift - factor * mean).to(filters))
    return Folded((*weights, cnn.linear[..., None]), (*biases, cnn.bias))


def normalise(folded: Folded) -> tuple[Folded, Tensor]:
    """Networks with filters of norm 1, and the number of dead channels of each convolution.

    For each channel, from the first layer on, n is the norm of its filter, without the bias; filter and bias are
    divided by n and the weights that leave the channel are multiplied by n. The linear layer's weights and biases are
    divided by one number, which makes the mean square norm of its ten rows 1: the order of the scores stays.

    A dead channel has n = 0 and is left as it is.

    Returns:
        The networks, in the floating-point type of the given ones, and dead channels [networks, 4].
    """
    dtype = folded.weights[0].dtype
    weights = [weight.double() for weight in folded.weights]  # norms multiply up: keep their rounding out
    biases = [bias.double() for bias in folded.biases]
    dead = []
    for layer in range(len(POOLS)):
        norm = weights[layer].flatten(2).norm(dim=2)
        dead.append((norm == 0).sum(1))
        norm = torch.where(norm == 0, 1.0, norm)
        weights[layer] = weights[layer] / norm[:, :, None, None]
        biases[layer] = biases[layer] / norm
        weights[layer + 1] = weights[layer + 1] * norm[:, None, :, None]
    norm = weights[-1].flatten(1).norm(dim=1) / CLASSES**0.5
    weights[-1] = weights[-1] / norm[:, None, None, None]
    biases[-1] = biases[-1] / norm[:, None]
    normalised = Folded(tuple(w.to(dtype) for w in weights), tuple(b.to(dtype) for b in biases))
    return normalised, torch.stack(dead, 1)


def permute(folded: Folded, permutations: Sequence[Tensor]) -> Folded:
    """The same functions with channels in another order.

    Channel i of convolution l becomes the old channel `permutations[l][network, i]`; each tensor is
    [networks, channels].
    """
    weights, biases = list(folded.weights), list(folded.biases)
    for layer, order in enumerate(permutations):
        weights[layer] = weights[layer].take_along_dim(order[:, :, None, None], 1)
        biases[layer] = biases[layer].take_along_dim(order, 1)
        weights[layer + 1] = weights[layer + 1].take_along_dim(order[:, None, :, None], 2)
    return Folded(tuple(weights), tuple(biases))


def align(reference: Folded, other: Folded) -> tuple[Folded, list[Tensor]]:
    """Permute the channels of each network of `other` to match the network of `reference` with the same index.

    Layer by layer, starting at the images and with the permutation of the layer below applied, the matching maximises
    the sum of scalar products between filters; for normalised networks it is the one of least distance. Biases and
    the linear layer's weights do not enter it.

    Returns:
        The permuted networks, and for each convolution the permutation [networks, channels] (see `permute`).
    """
    permutations: list[Tensor] = []
    permuted = other
    for layer in range(len(POOLS)):
        filters = permuted.weights[layer].double().flatten(2)
        products = reference.weights[layer].double().flatten(2) @ filters.mT
        matched = [linear_sum_assignment(matrix.cpu().numpy(), maximize=True)[1] for matrix in products]
        order = torch.stack([torch.from_numpy(columns) for columns in matched]).to(filters.device)
        permutations.append(order)
        permuted = permute(other, permutations)
    return permuted, permutations


def overlap(first: Folded, second: Folded) -> Tensor:
    """Cosine between the weights of networks with the same index, float64 [networks].

    q = Σ w w' / (‖w‖ ‖w'‖) over the weights of all layers, biases excluded. For normalised networks every channel
    counts the same, and the ten outputs as ten channels.
    """
    return functional.cosine_similarity(first.flat_weights().double(), second.flat_weights().double())


def layer_overlaps(first: Folded, second: Folded) -> Tensor:
    """Cosine between the weights of each layer, from the images to the scores, float64 [networks, 5]."""
    pairs = zip(first.weights, second.weights, strict=True)
    return torch.stack(
        [functional.cosine_similarity(a.double().flatten(1), b.double().flatten(1)) for a, b in pairs], 1
    )


def distance(first: Folded, second: Folded) -> Tensor:
    """Euclidean distance between all weights, biases excluded, over √(number of units), float64 [networks].

    For normalised networks it is √(2 (1 − q)) with q their `overlap`.
    """
    difference = first.flat_weights().double() - second.flat_weights().double()
    return difference.norm(dim=1) / first.units**0.5
