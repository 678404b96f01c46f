"""Networks that are equal to the last bit."""

from __future__ import annotations

import torch

from localentropy.networks.cnn.network import CNN
from localentropy.networks.layers import Layers


def same_bits(first: Layers | CNN, second: Layers | CNN) -> bool:
    """Whether all their parameters are equal."""
    return all(torch.equal(one, two) for one, two in zip(parameters(first), parameters(second), strict=True))


def parameters(networks: Layers | CNN) -> list[torch.Tensor]:
    return networks.tensors if isinstance(networks, CNN) else [*networks.weights, *networks.biases]
