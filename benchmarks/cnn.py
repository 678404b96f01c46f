"""Speed of the CNN trainer: python benchmarks/cnn.py (about two minutes, one thread).

For each width it prints training images per second of CPU time in batches of 128: the trainer, in float32 and with
activations in bfloat16; the same network of torch.nn modules with torch.optim.SGD, with channels before rows and
columns (NCHW), as PyTorch lays tensors out by default, and with channels last (NHWC), as the trainer has them; and the
limit of plain multiplication, the library's product of square matrices (1536 × 1536) for as many multiplications as the
convolutions have. A library that saves some of them in wide 3×3 convolutions (Winograd) goes beyond it. Medians of
rounds in which they take turns, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import numpy as np
import torch
from timing import rate

from localentropy.networks.cnn.network import COLOURS, POOLS, TAPS, channels, random_cnn
from localentropy.networks.cnn.training import Precision, train

BATCH, ROUNDS, SQUARE = 128, 5, 1536
BATCHES = {8: 6, 16: 3, 32: 2, 64: 1}


def ours(width: int, images: torch.Tensor, labels: torch.Tensor, precision: Precision) -> None:
    start = random_cnn(width, [np.random.default_rng(0)])
    train(
        start,
        images,
        labels,
        optimizer="sgd",
        learning_rate=0.01,
        momentum=0.9,
        batch=BATCH,
        epochs=1,
        generators=[np.random.default_rng(1)],
        precision=precision,
    )


def modules(width: int, images: torch.Tensor, labels: torch.Tensor) -> None:
    layers: list[torch.nn.Module] = []
    for (after, before), pool in zip(channels(width)[:-1], POOLS, strict=True):
        layers += [torch.nn.Conv2d(before, after, 3, padding=1, bias=False), torch.nn.BatchNorm2d(after)]
        layers += [torch.nn.ReLU(), torch.nn.MaxPool2d(pool)] if pool > 1 else [torch.nn.ReLU()]
    network = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(8 * width, 10))
    if images.is_contiguous(memory_format=torch.channels_last):
        network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.SGD(network.parameters(), 0.01, 0.9)
    for part, of_part in zip(images.split(BATCH), labels.split(BATCH), strict=True):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(part), of_part).backward()
        optimizer.step()


def multiplications(width: int) -> float:
    """Of the convolutions, for one training image: forward, to the filters, and to the inputs where those need it."""
    total, side = 0.0, 32
    for (after, before), pool in zip(channels(width)[:-1], POOLS, strict=True):
        total += (2 if before == COLOURS else 3) * TAPS * after * before * side**2
        side //= pool
    return total


def products(repeats: int) -> None:
    left, right, out = torch.randn(SQUARE, SQUARE), torch.randn(SQUARE, SQUARE), torch.empty(SQUARE, SQUARE)
    for _ in range(repeats):
        torch.mm(left, right, out=out)


def main() -> None:
    torch.set_num_threads(1)
    random = torch.Generator().manual_seed(0)
    print(f"one network, batches of {BATCH}; training images per second of one core")
    print(
        f"{'k':>3} {'ours':>7} {'bf16':>7} {'NCHW':>7} {'ratio':>6} {'NHWC':>7} {'ratio':>6} {'limit':>7} {'of it':>6}"
    )
    for width, batches in BATCHES.items():
        count = BATCH * batches
        images = torch.randn(count, COLOURS, 32, 32, generator=random)
        last = images.contiguous(memory_format=torch.channels_last)
        labels = torch.randint(0, 10, (count,), generator=random)
        ours(width, last, labels, "float32")  # the library chooses its kernels
        per_second = SQUARE**3 / multiplications(width)
        rounds = np.array(
            [
                (
                    rate(count, ours, width, last, labels, "float32"),
                    rate(count, ours, width, last, labels, "bfloat16"),
                    rate(count, modules, width, images, labels),
                    rate(count, modules, width, last, labels),
                    rate(20 * per_second, products, 20),
                )
                for _ in range(ROUNDS)
            ]
        )
        full, half, *others = np.median(rounds, 0)
        compared = zip(others, np.median(rounds[:, :1] / rounds[:, 2:], 0), strict=True)
        shown = " ".join(f"{other:7.0f} {ratio:6.2f}" for other, ratio in compared)
        print(f"{width:3} {full:7.0f} {half:7.0f} {shown}", flush=True)


if __name__ == "__main__":
    main()
