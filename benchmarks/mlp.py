"""Speed of the MLP trainer: python benchmarks/mlp.py (about a minute, one thread).

For each width it prints networks × epochs per second of CPU time of full-batch Adam on 10⁴ patterns: the ensemble
trainer; torch.nn with torch.optim.Adam, one network after the other; and the limit of plain multiplication, the
library's product of square matrices (1536 × 1536), where it is fastest, for as many multiplications as an epoch has.
Medians of rounds in which the three take turns, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import numpy as np
import torch
from timing import rate

from localentropy.networks.mlp.network import Shape, random_orthogonal
from localentropy.networks.mlp.training import train_adam

PATTERNS, INPUTS, LAYERS, MODELS, ROUNDS = 10_000, 10, 5, 10, 5
SQUARE, PRODUCTS = 1536, 20
EPOCHS = {10: 20, 30: 10, 100: 3}


def sequential(width: int, inputs: torch.Tensor, labels: torch.Tensor, epochs: int) -> None:
    layers: list[torch.nn.Module] = [torch.nn.Linear(INPUTS, width), torch.nn.ReLU()]
    for _ in range(LAYERS - 1):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = 0.5 * (1 - labels * network(inputs)[:, 0]).clamp_min(0).square().mean()
        loss.backward()
        optimizer.step()


def batched(width: int, inputs: torch.Tensor, labels: torch.Tensor, epochs: int) -> None:
    generators = [np.random.default_rng(seed) for seed in range(MODELS)]
    start = random_orthogonal(Shape(INPUTS, width, LAYERS), generators)
    train_adam(start, inputs, labels, margin=1.0, learning_rate=1e-3, epochs=epochs, smallest_loss=1e-4)


def products(repeats: int) -> None:
    left, right, out = torch.randn(SQUARE, SQUARE), torch.randn(SQUARE, SQUARE), torch.empty(SQUARE, SQUARE)
    for _ in range(repeats):
        torch.mm(left, right, out=out)


def main() -> None:
    torch.set_num_threads(1)
    random = np.random.default_rng(0)
    inputs = torch.from_numpy(random.standard_normal((PATTERNS, INPUTS))).float()
    labels = torch.from_numpy(random.choice([-1.0, 1.0], PATTERNS)).float()
    print(f"{MODELS} networks, {LAYERS} hidden layers, {PATTERNS} patterns; networks x epochs per second of one core")
    print(f"{'width':>5} {'batched':>9} {'sequential':>11} {'ratio':>6} {'limit':>9} {'of it':>6}")
    for width, epochs in EPOCHS.items():
        # A multiplication and addition per weight and pattern forward, backward (not to the inputs), for the gradient.
        weights = 2 * INPUTS * width + 3 * ((LAYERS - 1) * width**2 + width)
        per_product = SQUARE**3 / (weights * PATTERNS)
        batched(width, inputs, labels, 1)  # compiles
        rounds = np.array(
            [
                (
                    rate(MODELS * epochs, batched, width, inputs, labels, epochs),
                    rate(epochs, sequential, width, inputs, labels, epochs),
                    rate(PRODUCTS * per_product, products, PRODUCTS),
                )
                for _ in range(ROUNDS)
            ]
        )
        ours, theirs, limit = np.median(rounds, 0)
        ratio, share = np.median(rounds[:, :1] / rounds[:, 1:], 0)
        print(f"{width:5} {ours:9.1f} {theirs:11.1f} {ratio:6.2f} {limit:9.1f} {share:6.2f}")


if __name__ == "__main__":
    main()
