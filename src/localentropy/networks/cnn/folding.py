"""Convolutional networks without batch norm.

In evaluation batch norm is an affine map of each channel. It is folded into the convolution before it:

    w_eff = γ w / √(σ² + ε),   b_eff = β − γ μ / √(σ² + ε).

Convolutions, biases, ReLU and max-pooling remain. A positive factor passes through all of them, so the networks can be
normalised and aligned (`normalise`, `align`) before they are compared. Source: overparam, §III.
"""

from __future__ import annotations

from dataclasses import dataclass

from localentropy.arguments import require_labels, require_tensor
from localentropy.device import Tensor, functional, torch
from localentropy.networks.cnn.network import (
    CNN,
    EPSILON,
    PIXELS,
    POOLS,
    Statistics,
    pooled,
    require_statistics,
)
from localentropy.networks.cnn.sizes import CLASSES, COLOURS
from localentropy.networks.layers import Layers, require_networks
from localentropy.quantities import BLOCK_OF_PATTERNS


@dataclass(frozen=True)
class Folded(Layers):
    """Networks of one width without batch norm.

    The weights of the four convolutions are [networks, outputs, inputs, 9], those of the linear layer
    [networks, 10, inputs, 1]. All five layers have biases, [networks, outputs].
    """

    def scores(self, images: Tensor, block: int = 50) -> Tensor:
        """Class scores [networks, patterns, 10] of images [patterns, 3, 32, 32].

        The images are processed in blocks, and the networks one by one: plain convolutions are the fastest. Blocks
        whose activations exceed 32 MB are slower: each time, the system gives their memory anew, page by page.

        Raises:
            DomainError: images of another shape or type, or not finite; block < 1.
        """
        require_tensor("images", images, ("patterns", COLOURS, *PIXELS), like=self.weights[0])
        block = BLOCK_OF_PATTERNS.require(block)
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
        """Fraction of images [patterns, 3, 32, 32] that are misclassified, float64 [networks].

        An image with a score that is no number is an error.

        Raises:
            DomainError: images or labels of another shape or type, images not finite, labels outside 0 to 9.
        """
        scores = self.scores(images)
        labels = require_labels("labels", labels, range(CLASSES), (len(images),), like=images)
        wrong = (scores.argmax(2) != labels) | ~scores.isfinite().all(2)
        return wrong.double().mean(1)


def fold(cnn: CNN, over: Statistics) -> Folded:
    """The networks in evaluation mode. Batch norm has the statistics `over` a set of images.

    Args:
        cnn: the networks.
        over: statistics of the inputs of their batch norms.

    Returns:
        Networks without batch norm.

    Raises:
        DomainError: `cnn` is not a `CNN` object; `over` is not a `Statistics` object, or that of other networks.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.networks.cnn.folding import fold
        >>> from localentropy.networks.cnn.network import random_cnn, statistics
        >>> cnn, images = random_cnn(2, [np.random.default_rng(0)]), torch.rand(5, 3, 32, 32)
        >>> fold(cnn, statistics(cnn, images)).scores(images).shape  # networks, patterns, classes
        torch.Size([1, 5, 10])
    """
    require_networks("cnn", cnn, CNN)
    require_statistics(over, cnn)
    weights, biases = [], []
    for filters, scale, shift, mean, variance in zip(
        cnn.convolutions, cnn.scales, cnn.shifts, over.means, over.variances, strict=True
    ):
        factor = scale.double() / (variance + EPSILON).sqrt()
        weights.append((filters.double() * factor[:, :, None, None, None]).flatten(3).to(filters))
        biases.append((shift - factor * mean).to(filters))
    return Folded((*weights, cnn.linear[..., None]), (*biases, cnn.bias))
