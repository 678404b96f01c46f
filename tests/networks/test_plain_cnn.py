"""A network of PyTorch's own modules and optimizer, written apart: the order in which its layers leave their start."""

from __future__ import annotations

import torch
from torch import nn

from localentropy.data.embedded import read_embedded
from localentropy.data.registry import DATA_DIR

K, IMAGES, EPOCHS, BATCH, RATE = 4, 320, 40, 32, 1e-3


def five_layers(k: int) -> nn.Sequential:
    blocks: list[nn.Module] = []
    for inputs, outputs, pool in ((3, k, 1), (k, 2 * k, 2), (2 * k, 4 * k, 2), (4 * k, 8 * k, 8)):
        convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        blocks += [convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(pool)]
    return nn.Sequential(*blocks, nn.Flatten(), nn.Linear(8 * k, 10))


def weights(network: nn.Sequential) -> list[torch.Tensor]:
    layers = [layer for layer in network if isinstance(layer, nn.Conv2d | nn.Linear)]
    return [layer.weight.detach().flatten().clone() for layer in layers]


def test_the_linear_layer_moves_less_than_the_convolution_before_it() -> None:
    """So the layers are not in the order that the text names (claim O54): they are, but for the last one.

    The seeds 1 to 7 were tried too: the linear layer's overlap is larger by 0.19 or more with each, and 0.1 is asked.
    """
    torch.manual_seed(0)
    images = read_embedded("cifar10", DATA_DIR).train
    inputs = torch.as_tensor(images.inputs[:IMAGES], dtype=torch.float32).reshape(IMAGES, 3, 32, 32)
    inputs = (inputs - inputs.mean((0, 2, 3), keepdim=True)) / inputs.std((0, 2, 3), keepdim=True)
    labels = torch.as_tensor(images.labels[:IMAGES], dtype=torch.long)
    network = five_layers(K)
    before = weights(network)
    adam = torch.optim.Adam(network.parameters(), RATE)
    for _ in range(EPOCHS):
        for batch in torch.randperm(IMAGES).split(BATCH):
            adam.zero_grad()
            nn.functional.cross_entropy(network(inputs[batch]), labels[batch]).backward()
            adam.step()
    assert (network(inputs).argmax(1) == labels).float().mean() > 0.95
    after = weights(network)
    *convolutions, linear = (
        float(nn.functional.cosine_similarity(a, b, dim=0)) for a, b in zip(before, after, strict=True)
    )
    assert convolutions == sorted(convolutions, reverse=True)
    assert linear > convolutions[-1] + 0.1
