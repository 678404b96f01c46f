"""Ensembles of five-layer convolutional networks of one width, stacked so that one program serves all of them.

A network has four blocks and a linear layer. A block is a 3×3 convolution with padding 1, batch norm, ReLU and
max-pooling. The convolutions have k, 2k, 4k and 8k filters, and no bias, because batch norm would undo it. The pools
are 1, 2, 2 and 8. Of a 32×32 image 8k channels remain, which the linear layer maps to the ten classes. Source:
overparam, §III "Convolutional networks". The paper takes the network of Nakkiran et al. 2021; the pools are theirs.

The networks are stacked along the channels. Network m has the channels from m c to (m + 1) c and is one group of the
convolutions. Images are [patterns, networks × 3, 32, 32], or [patterns, 3, 32, 32] if all networks see the same ones,
in channels-last memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from localentropy.arguments import (
    require_choice,
    require_generators,
    require_list,
    require_memory,
    require_shape,
    require_tensor,
)
from localentropy.device import Tensor, functional, torch
from localentropy.errors import DomainError
from localentropy.networks.cnn.sizes import CLASSES, COLOURS, TAPS, channels, parameter_count
from localentropy.networks.layers import require_indices, require_networks
from localentropy.quantities import BLOCK_OF_PATTERNS

POOLS = (1, 2, 2, 8)
PIXELS = (32, 32)
EPSILON = 1e-5  # batch norm's usual constant
Initialization = Literal["pytorch", "he"]


@dataclass(frozen=True)
class CNN:
    """Networks of one width k.

    Attributes:
        convolutions: filters of each convolution, [networks, outputs, inputs, 3, 3].
        scales: γ of each batch norm, [networks, channels].
        shifts: β of each batch norm, [networks, channels].
        linear: weights of the linear layer, [networks, classes, 8k].
        bias: its biases, [networks, classes].

    Raises:
        DomainError: a parameter that is not a tensor, not finite, or of another shape; tensors of several types.
    """

    convolutions: tuple[Tensor, ...]
    scales: tuple[Tensor, ...]
    shifts: tuple[Tensor, ...]
    linear: Tensor
    bias: Tensor

    def __post_init__(self) -> None:
        linear = require_tensor("linear", self.linear, ("networks", CLASSES, "8k"))
        *layers, (_, features) = channels(max(1, linear.shape[2] // 8))
        require_shape("linear", linear.shape, (len(linear), CLASSES, features))
        require_tensor("bias", self.bias, (len(linear), CLASSES), like=linear)
        for name in ("convolutions", "scales", "shifts"):
            tensors = require_list(name, getattr(self, name), Tensor, len(POOLS))
            for tensor, (outputs, inputs) in zip(tensors, layers, strict=True):
                shape = (len(linear), outputs) + ((inputs, 3, 3) if name == "convolutions" else ())
                require_tensor(name, tensor, shape, like=linear)
            object.__setattr__(self, name, tuple(tensors))

    @property
    def networks(self) -> int:
        """Number of networks."""
        return len(self.linear)

    @property
    def width(self) -> int:
        """Filters of the first convolution, k."""
        return self.convolutions[0].shape[1]

    @property
    def tensors(self) -> list[Tensor]:
        """All parameters, in the order of the attributes."""
        return [*self.convolutions, *self.scales, *self.shifts, self.linear, self.bias]

    @staticmethod
    def of_tensors(tensors: Sequence[Tensor]) -> CNN:
        """Networks from parameters in the order of `tensors`."""
        layers = len(POOLS)
        convolutions, scales, shifts = (tuple(tensors[layers * kind : layers * (kind + 1)]) for kind in range(3))
        linear, bias = tensors[3 * layers :]
        return CNN(convolutions, scales, shifts, linear, bias)

    def select(self, networks: Sequence[int]) -> CNN:
        """Copy of the networks with these indices, in this order; an index may repeat.

        Raises:
            DomainError: an index out of range, or no index at all.
        """
        index = torch.tensor(require_indices(networks, self.networks), device=self.linear.device)
        return CNN.of_tensors([tensor[index] for tensor in self.tensors])

    def to(self, device: str, dtype: torch.dtype | None = None) -> CNN:
        """The same networks on a device, in a floating-point type."""
        return CNN.of_tensors([tensor.to(device, dtype) for tensor in self.tensors])

    def layer_weights(self) -> list[Tensor]:
        """Weights of each layer, from the first convolution to the linear layer, [networks, weights] each."""
        return [weights.flatten(1) for weights in (*self.convolutions, self.linear)]

    def scores(self, images: Tensor, over: Statistics | None = None) -> Tensor:
        """Class scores [networks, patterns, 10] of images [patterns, 3, 32, 32], or [patterns, 3 networks, 32, 32].

        In the second form each network has its own images. Nothing is checked, because a check would wait for the GPU.
        Batch norm takes the statistics `over` a set of images; without them those of the batch, as in training.
        """
        activations = _side_by_side(images, self.networks)
        for layer in range(len(POOLS)):
            activations = self._above(self._before_norm(activations, layer), layer, over)
        features = activations.flatten(1).unflatten(1, (self.networks, -1)).transpose(0, 1)
        return torch.baddbmm(self.bias[:, None, :], features, self.linear.mT)

    def _before_norm(self, activations: Tensor, layer: int) -> Tensor:
        filters = self.convolutions[layer].flatten(0, 1)
        return functional.conv2d(activations, filters, padding=1, groups=self.networks)

    def _above(self, activations: Tensor, layer: int, over: Statistics | None) -> Tensor:
        """Batch norm, max-pooling and ReLU."""
        scale, shift = self.scales[layer].flatten(), self.shifts[layer].flatten()
        mean = variance = None
        if over is not None:
            mean, variance = (m[layer].flatten().to(self.linear) for m in (over.means, over.variances))
        normal = functional.batch_norm(activations, mean, variance, scale, shift, training=over is None, eps=EPSILON)
        # ReLU and maximum may be exchanged, also in the gradient. After pooling there is less to do.
        return pooled(normal, POOLS[layer]).relu_()


@dataclass(frozen=True)
class Statistics:
    """Mean and variance of each batch norm's inputs over a set of images, float64, [networks, channels] each.

    Raises:
        DomainError: no lists of tensors.
    """

    means: tuple[Tensor, ...]
    variances: tuple[Tensor, ...]

    def __post_init__(self) -> None:
        for name in ("means", "variances"):
            object.__setattr__(self, name, tuple(require_list(name, getattr(self, name), Tensor)))


def require_statistics(over: object, cnn: CNN) -> None:
    """Refuse what is not a `Statistics` object of these networks.

    Args:
        over: the argument.
        cnn: the networks.

    Raises:
        DomainError: says which argument.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.cnn.network import random_cnn, require_statistics
        >>> require_statistics([0.0, 1.0], random_cnn(2, [np.random.default_rng(0)]))
        Traceback (most recent call last):
            ...
        localentropy.errors.DomainError: over = list object: allowed are Statistics, as `statistics` makes them
    """
    if not isinstance(over, Statistics):
        raise DomainError(f"over = {type(over).__name__} object: allowed are Statistics, as `statistics` makes them")
    for name, tensors in (("over: means", over.means), ("over: variances", over.variances)):
        for tensor, scales in zip(require_list(name, tensors, Tensor, len(POOLS)), cnn.scales, strict=True):
            require_tensor(name, tensor, tuple(scales.shape))
            if name == "over: variances" and bool((tensor < 0).any()):
                raise DomainError(f"{name}: one is negative")


def pooled(activations: Tensor, pool: int) -> Tensor:
    """Max-pooling over squares of `pool` pixels.

    Args:
        activations: [patterns, channels, height, width].
        pool: side of a square; 1 changes nothing.

    Returns:
        [patterns, channels, height / pool, width / pool].

    Example:
        >>> import torch
        >>> from localentropy.networks.cnn.network import pooled
        >>> pooled(torch.arange(4.0).view(1, 1, 2, 2), 2).tolist()
        [[[[3.0]]]]
    """
    return functional.max_pool2d(activations, pool) if pool > 1 else activations


@torch.no_grad()
def statistics(cnn: CNN, images: Tensor, block: int = 50) -> Statistics:
    """Statistics of the inputs of each batch norm over all images, for use in evaluation.

    The layers below are in evaluation mode too. So the result is that of one batch of all images, whatever their order
    and the size of the blocks. Each layer takes one pass of all images through the layers below it.

    Args:
        cnn: the networks.
        images: [patterns, 3, 32, 32].
        block: images that are processed at once; it bounds the memory.

    Returns:
        Means and variances.

    Raises:
        DomainError: `cnn` is not a `CNN` object; images of another shape or type or not finite, block < 1.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.networks.cnn.network import random_cnn, statistics
        >>> found = statistics(random_cnn(2, [np.random.default_rng(0)]), torch.rand(5, 3, 32, 32))
        >>> [tuple(mean.shape) for mean in found.means]  # networks, channels of each batch norm
        [(1, 2), (1, 4), (1, 8), (1, 16)]
    """
    require_networks("cnn", cnn, CNN)
    require_tensor("images", images, ("patterns", COLOURS, *PIXELS), like=cnn.linear)
    block = BLOCK_OF_PATTERNS.require(block)
    found = Statistics((), ())
    for layer, outputs in enumerate(cnn.scales):
        total, squares = (torch.zeros(outputs.numel(), dtype=torch.float64, device=images.device) for _ in range(2))
        count = 0
        for part in images.split(block):
            activations = cnn._before_norm(_side_by_side(part, cnn.networks), 0)
            for below in range(layer):
                activations = cnn._before_norm(cnn._above(activations, below, found), below + 1)
            total += activations.sum((0, 2, 3), dtype=torch.float64)
            squares += activations.double().square().sum((0, 2, 3))
            count += activations[:, 0].numel()
        mean = (total / count).view_as(outputs)
        variance = ((squares / count).view_as(outputs) - mean.square()).clamp_min(0)
        found = Statistics((*found.means, mean), (*found.variances, variance))
    return found


def random_cnn(
    width: int, generators: Sequence[np.random.Generator], initialization: Initialization = "pytorch"
) -> CNN:
    """Untrained networks, one from each generator, float32 on the CPU.

    Weights and biases of the linear layer are uniform in ±1/√(fan-in), PyTorch's default. Batch norms start with γ = 1,
    β = 0. Source: overparam, appendix F ("standard PyTorch initialization (HE for ReLU activation function)").

    Args:
        width: filters of the first convolution, k.
        generators: of the weights.
        initialization: of the filters. "pytorch": uniform in ±1/√(fan-in), as `nn.Conv2d` draws them; "he": uniform in
            ±√(6/fan-in), the rule of He et al. for ReLU units. Equal generators give proportional filters.

    Returns:
        The networks.

    Raises:
        DomainError: width no integer or below 1, no generators, an unknown initialization, or more memory than a
            process may have.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.cnn.network import random_cnn
        >>> cnn = random_cnn(16, [np.random.default_rng(seed) for seed in (0, 1)])
        >>> cnn.networks, cnn.width
        (2, 16)
    """
    layers = channels(width)
    generators = require_generators(generators)
    scale = np.sqrt(6) if require_choice("initialization", initialization, get_args(Initialization)) == "he" else 1.0
    require_memory(8.0 * parameter_count(width) * len(generators), width=width)
    drawn: list[list[np.ndarray]] = []
    for generator in generators:
        weights = [
            generator.uniform(-1, 1, (after, before, 3, 3)) * scale / np.sqrt(before * TAPS)
            for after, before in layers[:-1]
        ]
        classes, features = layers[-1]
        last = [generator.uniform(-1, 1, shape) / np.sqrt(features) for shape in ((classes, features), (classes,))]
        drawn.append([*weights, *last])
    *convolutions, linear, bias = (
        torch.from_numpy(np.stack(tensor).astype(np.float32)) for tensor in zip(*drawn, strict=True)
    )
    ones = [torch.ones(len(generators), after) for after, _ in layers[:-1]]
    zeros = [torch.zeros_like(scale) for scale in ones]
    # Convolutions are fastest with channels last: the filters' inputs are contiguous in memory.
    filters = [tensor.permute(0, 1, 3, 4, 2).contiguous().permute(0, 1, 4, 2, 3) for tensor in convolutions]
    return CNN.of_tensors([*filters, *ones, *zeros, linear, bias])


def _side_by_side(images: Tensor, networks: int) -> Tensor:
    """Images [patterns, networks × 3, 32, 32] for all networks; shared images are repeated."""
    return images if images.shape[1] == networks * COLOURS else images.repeat(1, networks, 1, 1)
