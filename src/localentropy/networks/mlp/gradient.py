"""Loss and gradient of an ensemble of MLPs: parameters in one flat vector, patterns in blocks that fit the cache.

On the CPU a compiled kernel (`kernels`) does the work. On a GPU autograd does, on batched matrix products. The tests
compare the kernel with autograd.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from localentropy.device import Tensor, torch
from localentropy.networks.mlp.kernels import square_hinge
from localentropy.networks.mlp.network import Ensemble

BLOCK = 512
"""Most patterns in a block on the CPU. The kernel works on eight rows at once, which fit a first-level cache."""


def _multiple_of_4(size: int) -> int:
    return -(-size // 4) * 4


class Packed:
    """Parameters of an ensemble in one flat vector.

    Each layer has one more unit, which is constantly 1: a bias is the weight from it. Units without weights fill the
    matrices up to multiples of 4: a hidden layer has `units` ≥ width + 1 rows, the output layer 4. So the forward and
    the backward pass consist of matrix products and ReLUs only.

    Attributes:
        flat: all parameters, [size].
        trainable: 1 where `flat` holds a parameter of the networks, 0 at the fixed entries.

    Args:
        ensemble: the networks.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.mlp.gradient import Packed
        >>> from localentropy.networks.mlp.network import Shape, random_orthogonal
        >>> shape = Shape(10, 8, 2)
        >>> packed = Packed(random_orthogonal(shape, [np.random.default_rng(0)]))
        >>> int(packed.trainable.sum()) == shape.parameters
        True
    """

    def __init__(self, ensemble: Ensemble) -> None:
        self.shape = shape = ensemble.shape
        self.networks = ensemble.networks
        units, columns = _multiple_of_4(shape.width + 1), _multiple_of_4(shape.inputs + 1)
        self._sizes = (
            torch.Size((self.networks, units, columns)),
            torch.Size((self.networks, shape.hidden_layers - 1, units, units)),
            torch.Size((self.networks, 4, units)),
        )
        self.flat = ensemble.weights[0].new_zeros(sum(size.numel() for size in self._sizes))
        self.trainable = torch.zeros_like(self.flat)
        for layer, free, weight, bias in zip(
            self._layers(self.flat),
            self._layers(self.trainable),
            ensemble.weights,
            ensemble.biases,
            strict=True,
        ):
            rows, inner = weight.shape[1:]
            layer[:, :rows, :inner] = weight
            layer[:, :rows, inner] = bias
            free[:, :rows, : inner + 1] = 1
        first, hidden, _ = self.parts(self.flat)
        first[:, shape.width, shape.inputs] = 1
        hidden[:, :, shape.width, shape.width] = 1

    def parts(self, flat: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Views of a vector laid out like `flat`, as the matrices of the first layer, the hidden layers, the output.

        Their shapes are [networks, units, inputs + 1 filled up], [networks, hidden layers − 1, units, units] and
        [networks, 4, units].
        """
        first, hidden, output = torch.split(flat, [size.numel() for size in self._sizes])
        return first.view(self._sizes[0]), hidden.view(self._sizes[1]), output.view(self._sizes[2])

    def arrays(self, flat: Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same views as numpy arrays, of a vector on the CPU."""
        first, hidden, output = self.parts(flat)
        return first.numpy(), hidden.numpy(), output.numpy()

    def _layers(self, flat: Tensor) -> list[Tensor]:
        first, hidden, output = self.parts(flat)
        return [first, *hidden.unbind(1), output]

    def outputs(self, flat: Tensor, inputs: Tensor) -> Tensor:
        """Outputs f [networks, patterns] of parameters laid out like `flat` at one block of `Patterns.inputs`."""
        *below, last = self._layers(flat)
        activations = inputs.expand(self.networks, -1, -1)
        for layer in below:
            activations = torch.bmm(layer, activations).relu()
        return torch.bmm(last[:, :1], activations)[:, 0]

    def ensemble(self) -> Ensemble:
        """Copy of the networks as weights and biases."""
        weights, biases = [], []
        for layer, (rows, inner) in zip(self._layers(self.flat), self.shape.layers, strict=True):
            weights.append(layer[:, :rows, :inner].clone())
            biases.append(layer[:, :rows, inner].clone())
        return Ensemble(tuple(weights), tuple(biases))


@dataclass(frozen=True)
class Patterns:
    """A training set in blocks of equal length.

    Attributes:
        inputs: [blocks, 1 or networks, columns, length]. A column has the inputs, a 1, and zeros up to a multiple of 4.
        labels: ±1, [blocks, 1 or networks, length]; 0 at places of the last block without a pattern.
        count: number of patterns.

    Example:
        >>> import torch
        >>> from localentropy.networks.mlp.gradient import Patterns
        >>> patterns = Patterns.blocked(torch.ones(70, 10), torch.ones(70), length=32)
        >>> patterns.inputs.shape, patterns.batch(2).count  # 10 inputs and a 1 fill 12 columns
        (torch.Size([3, 1, 12, 32]), 6)
    """

    inputs: Tensor
    labels: Tensor
    count: int

    @staticmethod
    def blocked(inputs: Tensor, labels: Tensor, length: int | None = None) -> Patterns:
        """Blocks of `length` patterns from inputs [patterns, inputs] and labels ±1 [patterns].

        Both may have a leading dimension [networks] if each network has its own. Without a length, a CPU gets blocks
        that fit its cache, and a GPU one block.
        """
        inputs = inputs if inputs.dim() == 3 else inputs[None]
        labels = labels if labels.dim() == 2 else labels[None]
        own, count, size = inputs.shape
        if length is None:
            length = count
            if inputs.device.type == "cpu":
                shortest = -(-count // -(-count // BLOCK))
                length = -(-shortest // 16) * 16  # rows then start at cache lines, where vectors load fastest
        blocks = -(-count // length)
        rows = inputs.new_zeros(own, blocks * length, _multiple_of_4(size + 1))
        rows[:, :count, :size] = inputs
        rows[:, :, size] = 1
        signs = inputs.new_zeros(len(labels), blocks * length)
        signs[:, :count] = labels
        return Patterns(
            rows.view(own, blocks, length, -1).permute(1, 0, 3, 2).contiguous(),
            signs.view(len(labels), blocks, length).transpose(0, 1).contiguous(),
            count,
        )

    def batch(self, index: int) -> Patterns:
        """One block as a training set of its own."""
        part = slice(index, index + 1)
        length = self.labels.shape[2]
        return Patterns(self.inputs[part], self.labels[part], min(length, self.count - index * length))


class SquareHinge:
    """Mean square-hinge loss ½ max(0, margin − y f)² over patterns, for every network of a packed ensemble.

    The margin is in units of the output f. Source: overparam, "Material and Methods".

    Attributes:
        gradient: gradient of the mean loss, laid out like `packed.flat`. Entries that are not trainable mean nothing.
        loss: mean loss [networks], float64.
        wrong: number of patterns with y f ≤ 0 [networks].
        active: whether the network is worked on, [networks]. The user sets it to False where the loss stays 0.

    Args:
        packed: the networks.
        margin: of the loss, positive.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.networks.mlp.gradient import Packed, Patterns, SquareHinge
        >>> from localentropy.networks.mlp.network import Shape, random_orthogonal
        >>> networks = random_orthogonal(Shape(10, 8, 2), [np.random.default_rng(0)])
        >>> inputs, labels, loss = torch.eye(10), torch.ones(10), SquareHinge(Packed(networks), margin=1.0)
        >>> loss(Patterns.blocked(inputs, labels))
        >>> loss.wrong.item() / 10 == networks.errors(inputs, labels).item()
        True
    """

    def __init__(self, packed: Packed, margin: float) -> None:
        self.packed = packed
        self.margin = margin
        device = packed.flat.device
        self.gradient = torch.zeros_like(packed.flat)
        self.loss = torch.zeros(packed.networks, dtype=torch.float64, device=device)
        self.wrong = torch.zeros(packed.networks, dtype=torch.int64, device=device)
        self.active = torch.ones(packed.networks, dtype=torch.bool, device=device)
        if device.type == "cpu":
            threads = min(torch.get_num_threads(), packed.networks)
            edges = [packed.networks * thread // threads for thread in range(threads + 1)]
            self._shares = list(pairwise(edges))
            self._pool = ThreadPoolExecutor(threads)
            self._parameters = packed.arrays(packed.flat)
            self._gradients = packed.arrays(self.gradient)

    def __call__(self, patterns: Patterns) -> None:
        """Set loss, errors and gradient to those of the current `packed.flat`."""
        self.gradient.zero_()
        self.loss.zero_()
        self.wrong.zero_()
        if self.gradient.device.type == "cpu":
            self._kernel(patterns)
        else:
            self._autograd(patterns)

    def _kernel(self, patterns: Patterns) -> None:
        def run(share: tuple[int, int]) -> None:
            begin, end = share
            square_hinge(
                self._parameters,
                patterns.inputs.numpy(),
                patterns.labels.numpy(),
                self.margin,
                patterns.count,
                begin,
                end,
                self.active.numpy(),
                self._gradients,
                self.loss.numpy(),
                self.wrong.numpy(),
            )

        # Each network belongs to one thread. So the number of threads changes no bit of the result.
        if len(self._shares) == 1:
            run(self._shares[0])
        else:
            list(self._pool.map(run, self._shares))

    def _autograd(self, patterns: Patterns) -> None:
        flat = self.packed.flat.requires_grad_()
        for inputs, labels in zip(patterns.inputs, patterns.labels, strict=True):
            stability = labels * self.packed.outputs(flat, inputs)
            slack = (self.margin - stability).clamp_min(0) * (labels != 0)
            loss = 0.5 * slack.square().sum(1) / patterns.count
            self.gradient += torch.autograd.grad(loss.sum(), flat)[0]
            self.loss += loss.detach()
            self.wrong += ((stability <= 0) & (labels != 0)).sum(1)
        flat.requires_grad_(False)
