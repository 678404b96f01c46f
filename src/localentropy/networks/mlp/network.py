"""Ensembles of fully connected ReLU networks of one shape, stacked so that one program serves all of them.

A network has `inputs` inputs, `hidden_layers` layers of `width` ReLU units and one linear output f. The sign of f is
the class. Source: overparam, §III "Multi-layer neural network", which does not give the number of hidden layers:
`hidden_layers` in config/overparam/physics.yaml is chosen here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from localentropy.arguments import (
    require_generators,
    require_labels,
    require_memory,
    require_tensor,
    shown,
)
from localentropy.device import Tensor, torch
from localentropy.errors import DomainError
from localentropy.networks.layers import Layers, require_networks
from localentropy.quantities import BLOCK_OF_PATTERNS, GAIN, INPUTS, LAYERS, WIDTH


@dataclass(frozen=True)
class Shape:
    """Layer sizes of a network.

    Attributes:
        inputs: number of inputs.
        width: units of a hidden layer.
        hidden_layers: their number.

    Raises:
        DomainError: a size that is no integer or below 1, or too many hidden layers.

    Example:
        >>> from localentropy.networks.mlp.network import Shape
        >>> Shape(inputs=10, width=8, hidden_layers=2).parameters  # 8·11 + 8·9 + 9
        169
    """

    inputs: int
    width: int
    hidden_layers: int

    def __post_init__(self) -> None:
        for quantity in (INPUTS, WIDTH, LAYERS):
            object.__setattr__(self, quantity.name, quantity.require(getattr(self, quantity.name)))

    @property
    def layers(self) -> list[tuple[int, int]]:
        """(outputs, inputs) of every layer, from the first to the output."""
        sizes = [self.inputs] + [self.width] * self.hidden_layers + [1]
        return [(after, before) for before, after in pairwise(sizes)]

    @property
    def parameters(self) -> int:
        """Number of weights and biases."""
        return sum(after * (before + 1) for after, before in self.layers)


@dataclass(frozen=True)
class Ensemble(Layers):
    """Networks of one shape: weights [networks, outputs, inputs] and biases [networks, outputs] of each layer.

    Attributes:
        weights: [networks, outputs, inputs] of each layer.
        biases: [networks, outputs] of each layer.

    Raises:
        DomainError: see `Layers`; no biases, several outputs, hidden layers of several widths.

    Example:
        >>> import torch
        >>> from localentropy.networks.mlp.network import Ensemble
        >>> networks = Ensemble((torch.ones(1, 4, 3), torch.ones(1, 1, 4)), (torch.zeros(1, 4), torch.zeros(1, 1)))
        >>> networks(torch.ones(2, 3)).tolist()  # networks, patterns
        [[12.0, 12.0]]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        first, *hidden, last = (tuple(weight.shape[1:]) for weight in (*self.weights, self.weights[-1]))
        widths = {first[0], *(size for shape in hidden[:-1] for size in shape)}
        if not self.biases or len(self.weights) < 2 or last != (1, *widths):
            shapes = ", ".join(str(tuple(weight.shape)) for weight in self.weights)
            raise DomainError(
                f"weights of shapes {shapes}, {len(self.biases)} biases: allowed are hidden layers of one width, one "
                "output, and biases"
            )

    @property
    def shape(self) -> Shape:
        """Layer sizes of each network."""
        width, inputs = self.weights[0].shape[1:]
        return Shape(inputs, width, len(self.weights) - 1)

    def __call__(self, inputs: Tensor) -> Tensor:
        """Outputs f [networks, patterns] at inputs [patterns, inputs].

        Raises:
            DomainError: inputs of another shape or type, or not finite.
        """
        return self._outputs(self._checked(inputs))

    def _checked(self, inputs: object) -> Tensor:
        return require_tensor("inputs", inputs, ("patterns", self.shape.inputs), like=self.weights[0])

    def _outputs(self, inputs: Tensor) -> Tensor:
        last = deque(self._activations(inputs), maxlen=1).pop()
        return torch.baddbmm(self.biases[-1][:, :, None], self.weights[-1], last)[:, 0]

    def errors(self, inputs: Tensor, labels: Tensor, block: int = 2000) -> Tensor:
        """Fraction of patterns without label × f > 0, float64 [networks]. An f that is NaN is an error.

        Inputs are [patterns, inputs]; labels ±1 are [patterns], or [networks, patterns] if each network has its own.
        Patterns are evaluated in blocks. This bounds the memory and keeps the activations in the cache.

        Raises:
            DomainError: inputs or labels of another shape or type, labels other than ±1, block < 1.
        """
        inputs, count = self._checked(inputs), len(inputs)
        labels = require_labels("labels", labels, (-1, 1), (count,), (self.networks, count), like=inputs)
        block = BLOCK_OF_PATTERNS.require(block)
        wrong = torch.zeros(self.networks, dtype=torch.float64, device=inputs.device)
        for start in range(0, len(inputs), block):
            part = slice(start, start + block)
            wrong += (~(self._outputs(inputs[part]) * labels[..., part] > 0)).sum(1)
        return wrong / len(inputs)

    def silent_units(self, inputs: Tensor, block: int = 2000) -> Tensor:
        """Number of hidden units that none of the patterns activates, int64 [networks, hidden layers].

        Inputs are [patterns, inputs], evaluated in blocks as by `errors`.

        Raises:
            DomainError: inputs of another shape or type, block < 1.
        """
        inputs, shape = self._checked(inputs), self.shape
        block = BLOCK_OF_PATTERNS.require(block)
        active = torch.zeros((self.networks, shape.hidden_layers, shape.width), dtype=torch.bool, device=inputs.device)
        for part in inputs.split(block):
            for layer, activations in enumerate(self._activations(part)):
                active[:, layer] |= (activations > 0).any(2)
        return (~active).sum(2)

    def activation_change(self, start: Ensemble, inputs: Tensor, block: int = 2000) -> Tensor:
        """How far the activations h of each hidden layer are from those of `start`, float64 [networks, hidden layers].

        √(Σ |h − h_start|² / Σ |h_start|²), with sums over the patterns. In lazy training of wide networks it goes to 0
        (Chizat, Oyallon, Bach 2019).

        Args:
            start: networks of the same number and shape, such as these before training.
            inputs: [patterns, inputs].
            block: patterns at a time.

        Raises:
            DomainError: inputs of another shape or type, networks of another number or shape, block < 1.

        Example:
            >>> import torch
            >>> from localentropy.networks.mlp.network import Ensemble
            >>> networks = Ensemble((torch.ones(1, 4, 3), torch.ones(1, 1, 4)), (torch.zeros(1, 4), torch.zeros(1, 1)))
            >>> twice = Ensemble((2 * networks.weights[0], networks.weights[1]), networks.biases)
            >>> twice.activation_change(networks, torch.ones(2, 3)).tolist()
            [[1.0]]
        """
        inputs = self._checked(inputs)
        require_networks("start", start, Ensemble)
        if (start.networks, start.shape) != (self.networks, self.shape):
            raise DomainError(
                f"start: {start.networks} networks of {start.shape}: allowed are {self.networks} of {self.shape}"
            )
        sums = torch.zeros((2, self.networks, self.shape.hidden_layers), dtype=torch.float64, device=inputs.device)
        for part in inputs.split(BLOCK_OF_PATTERNS.require(block)):
            for layer, (own, before) in enumerate(zip(self._activations(part), start._activations(part), strict=True)):
                sums[0, :, layer] += (own - before).double().square().sum((1, 2))
                sums[1, :, layer] += before.double().square().sum((1, 2))
        return (sums[0] / sums[1]).sqrt()

    def _activations(self, inputs: Tensor) -> Iterator[Tensor]:
        """Of the hidden layers in turn: [networks, units, patterns]."""
        activations = inputs.T.expand(self.networks, -1, -1)
        for weight, bias in zip(self.weights[:-1], self.biases, strict=False):
            activations = torch.baddbmm(bias[:, :, None], weight, activations).relu()
            yield activations


def random_orthogonal(shape: Shape, generators: Sequence[np.random.Generator], gain: float = np.sqrt(2)) -> Ensemble:
    """Random orthogonal networks, one from each generator, float32 on the CPU.

    Weight matrices are uniform among the (semi-)orthogonal ones: Q of the QR decomposition of a Gaussian matrix, with
    signs fixed by the diagonal of R. In hidden layers they are multiplied by the gain. Biases are 0. Source: overparam,
    §III; Saxe et al. 2013.

    Args:
        shape: sizes of the layers.
        generators: one for each network.
        gain: of hidden layers. √2 keeps the size of the signal through ReLU units; 1 is that of Geiger et al. (2020).

    Returns:
        The networks.

    Raises:
        DomainError: no shape, no generators, a gain out of range, or more memory than a process may have.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.mlp.network import Shape, random_orthogonal
        >>> (first,) = random_orthogonal(Shape(10, 8, 2), [np.random.default_rng(0)]).weights[0]
        >>> bool(np.allclose(first @ first.T, 2 * np.eye(8), atol=1e-5))  # rows of squared norm 2
        True
    """
    if not isinstance(shape, Shape):
        raise DomainError(f"shape = {shown(shape)}: allowed is a Shape of {__name__}")
    generators = require_generators(generators)
    require_memory(8.0 * shape.parameters * len(generators), inputs=shape.inputs, width=shape.width)
    drawn = [[_orthogonal(after, before, generator) for after, before in shape.layers] for generator in generators]
    gains = [GAIN.require(gain)] * shape.hidden_layers + [1.0]
    weights = tuple(
        torch.from_numpy((gain * np.stack(layer)).astype(np.float32))
        for gain, layer in zip(gains, zip(*drawn, strict=True), strict=True)
    )
    return Ensemble(weights, tuple(torch.zeros(w.shape[:2]) for w in weights))


def _orthogonal(rows: int, columns: int, generator: np.random.Generator) -> np.ndarray:
    gaussian = generator.standard_normal((max(rows, columns), min(rows, columns)))
    q, r = np.linalg.qr(gaussian)
    q *= np.where(np.diag(r) < 0, -1.0, 1.0)  # else the sign convention of QR makes Q non-uniform
    return q if rows >= columns else q.T
