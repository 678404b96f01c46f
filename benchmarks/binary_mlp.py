"""Speed of BinaryNet for binary multilayer perceptrons: python benchmarks/binary_mlp.py (about a minute, one thread).

For each width it prints networks × epochs per second of CPU time, on random ±1 inputs as many as MNIST's pixels: the
ensemble trainer; and the usual way in PyTorch, one network after the other, with autograd, straight-through signs and
torch.optim.SGD. Medians of rounds in which the two take turns, so that a busy machine slows both alike.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch
from timing import rate
from torch.nn.functional import cross_entropy, linear

from localentropy.networks.binary_mlp.network import Shape, uniform_initialization
from localentropy.networks.binary_mlp.training import train

PATTERNS, INPUTS, LAYERS, CLASSES, NETWORKS, BATCH, ROUNDS = 1000, 783, 2, 10, 10, 20, 5
WIDTHS, EPOCHS = (17, 33, 63), 4


class Activation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1)


class Weight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # type: ignore[no-untyped-def]
        return x.sign()

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        return gradient


class BinaryLinear(torch.nn.Linear):
    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return linear(inputs, Weight.apply(self.weight)) / math.sqrt(self.in_features)


def sequential(width: int, inputs: torch.Tensor, labels: torch.Tensor, epochs: int) -> None:
    sizes = [INPUTS, *[width] * LAYERS, CLASSES]
    layers = [BinaryLinear(below, above, bias=False) for below, above in pairwise(sizes)]
    parameters = [layer.weight for layer in layers]
    optimizer = torch.optim.SGD(parameters, lr=1.0)
    for _ in range(epochs):
        for part in torch.randperm(len(inputs)).split(BATCH):
            hidden = inputs[part]
            for layer in layers[:-1]:
                hidden = Activation.apply(layer(hidden))
            optimizer.zero_grad()
            cross_entropy(4.0 * layers[-1](hidden), labels[part]).backward()
            optimizer.step()
            with torch.no_grad():
                for weight in parameters:
                    weight.clamp_(-1, 1)


def batched(width: int, inputs: torch.Tensor, labels: torch.Tensor, epochs: int) -> None:
    generators = [np.random.default_rng(seed) for seed in range(NETWORKS)]
    start = uniform_initialization(Shape(INPUTS, width, LAYERS, CLASSES), generators, 0.3)
    order = np.random.default_rng(0)
    train(start, inputs, labels, logit_scale=4.0, learning_rate=1.0, batch=BATCH, epochs=epochs, generator=order)


def main() -> None:
    torch.set_num_threads(1)
    random = np.random.default_rng(0)
    inputs = torch.from_numpy(random.choice([-1.0, 1.0], (PATTERNS, INPUTS))).float()
    labels = torch.from_numpy(random.integers(0, CLASSES, PATTERNS))
    print(f"{NETWORKS} networks, {LAYERS} hidden layers, {PATTERNS} patterns, mini-batches of {BATCH}")
    print("networks x epochs per second of one core")
    print(f"{'width':>5} {'batched':>9} {'sequential':>11} {'ratio':>6}")
    for width in WIDTHS:
        for run in (batched, sequential):
            run(width, inputs, labels, 1)
        rounds = np.array(
            [
                (
                    rate(NETWORKS * EPOCHS, batched, width, inputs, labels, EPOCHS),
                    rate(EPOCHS, sequential, width, inputs, labels, EPOCHS),
                )
                for _ in range(ROUNDS)
            ]
        )
        ours, theirs = np.median(rounds, 0)
        print(f"{width:5} {ours:9.1f} {theirs:11.1f} {np.median(rounds[:, 0] / rounds[:, 1]):6.2f}")


if __name__ == "__main__":
    main()
