"""Ensembles of binary multilayer perceptrons: weights and activations ±1, no bias, no batch normalisation.

The inputs h⁰ are ±1, and h^l = sign(W^l h^{l−1}). The class is that of the largest output W^L h^{L−1}. Inputs and
hidden layers have odd sizes, so no sum of a hidden unit is zero. So a unit can be turned: its incoming and outgoing
weights change sign, and the network computes the same. All sums are integers, exact in float32.
Source: margins, supplement IV.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from localentropy.arguments import (
    require_generators,
    require_labels,
    require_memory,
    shown,
)
from localentropy.device import Tensor, torch
from localentropy.errors import DomainError
from localentropy.networks.layers import Layers, require_networks
from localentropy.quantities import BLOCK_OF_PATTERNS, CLASSES, INPUTS, LAYERS, SPREAD, WIDTH


@dataclass(frozen=True)
class Shape:
    """Layer sizes of a network: `hidden_layers` layers of `width` units each.

    Attributes:
        inputs: number of inputs, odd.
        width: units of a hidden layer, odd.
        hidden_layers: their number.
        classes: number of outputs.

    Raises:
        DomainError: a size that is no integer; an even number of inputs or units, fewer than two classes, no hidden
            layer or too many.

    Example:
        >>> from localentropy.networks.binary_mlp.network import Shape
        >>> Shape(inputs=785, width=101, hidden_layers=2, classes=10).weights  # 785·101 + 101² + 101·10
        90496
    """

    inputs: int
    width: int
    hidden_layers: int
    classes: int

    def __post_init__(self) -> None:
        for quantity in (INPUTS, WIDTH, LAYERS, CLASSES):
            object.__setattr__(self, quantity.name, quantity.require(getattr(self, quantity.name)))
        for name, size in (("inputs", self.inputs), ("width", self.width)):
            if size % 2 == 0:
                raise DomainError(f"{name} = {size} must be odd, so that no sum of ±1 is zero; nearest: {size + 1}")

    @property
    def layers(self) -> list[tuple[int, int]]:
        """(outputs, inputs) of every layer, from the first to the output."""
        sizes = [self.inputs] + [self.width] * self.hidden_layers + [self.classes]
        return [(after, before) for before, after in pairwise(sizes)]

    @property
    def weights(self) -> int:
        """Number of weights."""
        return sum(after * before for after, before in self.layers)


@dataclass(frozen=True)
class BinaryNetworks(Layers):
    """Networks of one shape: weights ±1, float32 [networks, outputs, inputs] of each layer; no biases.

    Attributes:
        weights: ±1, float32 [networks, outputs, inputs] of each layer.
        biases: none.

    Raises:
        DomainError: see `Layers`; weights other than ±1, or biases.

    Example:
        >>> import torch
        >>> from localentropy.networks.binary_mlp.network import BinaryNetworks
        >>> network = BinaryNetworks((torch.ones(1, 3, 5), torch.tensor([[[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]])), ())
        >>> network.outputs(torch.ones(1, 5)).tolist()  # networks, classes, patterns
        [[[3.0], [-3.0]]]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.biases:
            raise DomainError(f"{len(self.biases)} biases given: binary networks have none")
        for layer, weight in enumerate(self.weights):
            require_labels(f"weights of layer {layer}", weight, (-1, 1), tuple(weight.shape))

    @classmethod
    def of(cls, real: Layers) -> Self:
        """The signs of real weights, none of which is zero.

        Raises:
            DomainError: `real` is not a `Layers` object, or its networks have biases.
        """
        require_networks("real", real)
        if real.biases:
            raise DomainError("real: these networks have biases, which binary ones have not")
        return cls(tuple(torch.copysign(torch.ones_like(weight), weight) for weight in real.weights), ())

    def outputs(self, inputs: Tensor) -> Tensor:
        """The sums W^L h^{L−1}, [networks, classes, patterns], at ±1 inputs [patterns, inputs].

        Raises:
            DomainError: inputs of another shape or type, or other than ±1.
        """
        return self._outputs(self.checked(inputs))

    def checked(self, inputs: object) -> Tensor:
        """The inputs, ±1.

        Raises:
            DomainError: inputs of another shape, other numbers than ±1, a tensor on another device.
        """
        first = self.weights[0]
        return require_labels("inputs", inputs, (-1, 1), ("patterns", first.shape[2]), like=first)

    def _outputs(self, inputs: Tensor) -> Tensor:
        first, *above = self.weights
        sums = first_sums(first, inputs)
        for weight in above:
            sums = torch.bmm(weight, sums.sign_())
        return sums

    def errors(self, inputs: Tensor, labels: Tensor, block: int = 2000) -> Tensor:
        """Fraction of patterns whose class does not have the largest output alone, float64 [networks].

        Inputs ±1 are [patterns, inputs], classes [patterns]. Patterns are evaluated in blocks to bound the memory.

        Raises:
            DomainError: inputs or labels of another shape or type, inputs other than ±1, other classes, block < 1.
        """
        inputs, classes = self.checked(inputs), self.weights[-1].shape[1]
        labels = require_labels("labels", labels, range(classes), (len(inputs),), like=inputs).long()
        block = BLOCK_OF_PATTERNS.require(block)
        wrong = torch.zeros(self.networks, dtype=torch.float64, device=inputs.device)
        for start in range(0, len(inputs), block):
            part = slice(start, start + block)
            sums = self._outputs(inputs[part])
            own = sums.gather(1, labels[part].expand(self.networks, 1, -1))
            # Its own output is among the largest, unless it is no number.
            wrong += ((sums >= own).sum(1) != 1).sum(1)
        return wrong / len(inputs)


def first_sums(weights: Tensor, inputs: Tensor) -> Tensor:
    """The sums W h of a layer.

    All networks are one matrix product; in this order its factors are fastest on a CPU.

    Args:
        weights: [networks, outputs, inputs].
        inputs: [patterns, inputs].

    Returns:
        [networks, outputs, patterns].

    Example:
        >>> import torch
        >>> from localentropy.networks.binary_mlp.network import first_sums
        >>> first_sums(torch.ones(2, 3, 5), torch.ones(7, 5)).shape
        torch.Size([2, 3, 7])
    """
    return (inputs @ weights.flatten(0, 1).T).T.unflatten(0, weights.shape[:2])


def uniform_initialization(shape: Shape, generators: Sequence[np.random.Generator], spread: float) -> Layers:
    """Real weights uniform in [−spread, spread], one network from each generator, float32 on the CPU.

    This distribution is chosen here.

    Args:
        shape: sizes of the layers.
        generators: one for each network.
        spread: half-width, in (0, 1].

    Returns:
        Real weights, without biases.

    Raises:
        DomainError: no shape, no generators, a spread outside (0, 1], or more memory than a process may have.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.binary_mlp.network import Shape, uniform_initialization
        >>> start = uniform_initialization(Shape(51, 21, 1, 3), [np.random.default_rng(0)], spread=0.5)
        >>> [tuple(weight.shape) for weight in start.weights]
        [(1, 21, 51), (1, 3, 21)]
    """
    if not isinstance(shape, Shape):
        raise DomainError(f"shape = {shown(shape)}: allowed is a Shape of {__name__}")
    generators = require_generators(generators)
    require_memory(8.0 * shape.weights * len(generators), inputs=shape.inputs, width=shape.width)
    spread = SPREAD.require(spread)
    drawn = [[stream.uniform(-spread, spread, layer) for layer in shape.layers] for stream in generators]
    return Layers(tuple(torch.from_numpy(np.stack(layer).astype(np.float32)) for layer in zip(*drawn, strict=True)), ())
