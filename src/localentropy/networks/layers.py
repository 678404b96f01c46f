"""Ensembles of ReLU networks as the weights and biases of their layers: the form in which they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import torch
from torch import Tensor


@dataclass(frozen=True)
class Layers:
    """Networks of one shape: perceptrons, or convolutional networks without batch norm.

    A unit has incoming weights and a bias of its own. It is a hidden unit, a channel or an output.

    Attributes:
        weights: for each layer a tensor [networks, outputs, inputs, …]; a filter's taps are its last dimension.
        biases: for each layer a tensor [networks, outputs]; empty where units have none.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]

    @property
    def networks(self) -> int:
        """Number of networks."""
        return len(self.weights[0])

    @property
    def units(self) -> int:
        """Number of units of one network, its outputs included."""
        return sum(weight.shape[1] for weight in self.weights)

    def select(self, networks: Sequence[int]) -> Self:
        """Copy of the networks with these indices, in this order; an index may repeat."""
        index = torch.as_tensor(networks, device=self.weights[0].device)
        return replace(self, weights=tuple(w[index] for w in self.weights), biases=tuple(b[index] for b in self.biases))

    def to(self, device: str | torch.device, dtype: torch.dtype | None = None) -> Self:
        """The same networks on a device, in a floating-point type."""
        weights, biases = (tuple(t.to(device, dtype) for t in tensors) for tensors in (self.weights, self.biases))
        return replace(self, weights=weights, biases=biases)

    def flat_weights(self) -> Tensor:
        """All weights of each network, without the biases, [networks, weights]."""
        return torch.cat([weight.flatten(1) for weight in self.weights], 1)

    def with_weights(self, flat: Tensor) -> Self:
        """Networks with the weights given in the order of `flat_weights` and these biases."""
        parts = flat.split([weight[0].numel() for weight in self.weights], 1)
        weights = tuple(part.view_as(weight) for part, weight in zip(parts, self.weights, strict=True))
        return replace(self, weights=weights)


Networks = TypeVar("Networks", bound=Layers)


def joined(parts: Sequence[Networks]) -> Networks:
    """All networks of several ensembles as one ensemble."""
    weights, biases = (
        tuple(torch.cat(layer) for layer in zip(*tensors, strict=True))
        for tensors in ([part.weights for part in parts], [part.biases for part in parts])
    )
    return replace(parts[0], weights=weights, biases=biases)
