"""Training of an ensemble of convolutional networks by SGD with momentum or by Adam on the cross-entropy.

The networks of an ensemble are independent. Training them together or one by one gives the same result, up to the
rounding of sums. Images, parameters and the optimizer's state stay on the device. Nothing waits for it within an epoch.
Source: overparam, appendix F "Numerical Experiments on CNNs".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from localentropy.arguments import (
    require_choice,
    require_function,
    require_generators,
    require_labels,
    require_tensor,
)
from localentropy.device import Tensor, functional, torch
from localentropy.networks.checkpoint import Checkpoint
from localentropy.networks.cnn.network import CNN, PIXELS
from localentropy.networks.cnn.sizes import CLASSES, COLOURS
from localentropy.networks.layers import require_networks
from localentropy.networks.training import Resumed, require_finite
from localentropy.quantities import BATCH, EPOCHS_OF_CNN, MOMENTUM, RATE_OF_NETWORKS

Optimizer = Literal["sgd", "adam"]
Precision = Literal["float32", "bfloat16"]

_REPORT_EVERY = 10  # epochs between two looks at the loss: each one waits for the GPU


@dataclass(frozen=True)
class Trained:
    """Result of `train`.

    Attributes:
        cnn: the trained networks.
        loss: mean cross-entropy (nats) over the batches of each epoch, float64, [epochs, networks].
        start_overlaps: cosine of each layer's weights (of convolutions before batch norm) with their initial values,
            after 0, 1, … epochs, float64, [epochs + 1, networks, 5].
    """

    cnn: CNN
    loss: Tensor
    start_overlaps: Tensor


def train(
    start: CNN,
    images: Tensor,
    labels: Tensor,
    *,
    optimizer: Optimizer,
    learning_rate: float,
    momentum: float,
    batch: int,
    epochs: int,
    generators: Sequence[np.random.Generator],
    precision: Precision = "float32",
    checkpoint: Checkpoint | None = None,
    report: Callable[[str], None] | None = None,
) -> Trained:
    """Minimise the mean cross-entropy for a fixed number of epochs, on the device that the images are on.

    Args:
        start: initial networks; not modified.
        images: [patterns, 3, 32, 32], float.
        labels: classes from 0 to 9, int64, [patterns].
        optimizer: SGD with momentum, or Adam with PyTorch's other constants.
        learning_rate: step size.
        momentum: of SGD; Adam does not use it.
        batch: patterns in a mini-batch; the last one of an epoch may be shorter.
        epochs: passes over the patterns, each in a fresh random order.
        generators: one for each network, for its orders.
        precision: floating-point type of activations and their gradients; parameters and statistics are float32.
        checkpoint: where the state is saved, also after the last epoch, and from where the training goes on.
        report: receives lines of progress.

    Returns:
        The networks, with the loss and the overlaps of each epoch.

    Raises:
        DomainError: `start` is not a `CNN` object; images or labels of another shape or type, an unknown optimizer or
            precision, a number out of range, not one generator for each network.
        ConvergenceError: the loss is not finite, because the learning rate is too large.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.networks.cnn.network import random_cnn
        >>> from localentropy.networks.cnn.training import train
        >>> images = torch.from_numpy(np.random.default_rng(0).random((20, 3, 32, 32), np.float32))
        >>> start = random_cnn(2, [np.random.default_rng(0)])
        >>> how = {"optimizer": "sgd", "learning_rate": 0.01, "momentum": 0.9, "batch": 10, "epochs": 2}
        >>> trained = train(start, images, torch.arange(20) % 10, **how, generators=[np.random.default_rng(1)])
        >>> trained.loss.shape, bool(trained.loss[1] < trained.loss[0])
        (torch.Size([2, 1]), True)
    """
    require_networks("start", start, CNN)
    images = require_tensor("images", images, ("patterns", COLOURS, *PIXELS), like=start.linear).detach()
    labels = require_labels("labels", labels, range(CLASSES), (len(images),), like=images).long()
    require_choice("optimizer", optimizer, get_args(Optimizer))
    require_choice("precision", precision, get_args(Precision))
    learning_rate, momentum = RATE_OF_NETWORKS.require(learning_rate), MOMENTUM.require(momentum)
    batch, epochs = BATCH.require(batch), EPOCHS_OF_CNN.require(epochs)
    generators = require_generators(generators, start.networks)
    if report is not None:
        require_function("report", report)
    networks, device = start.networks, images.device
    # Clones keep the channels-last memory, in which convolutions are fastest.
    cnn = CNN.of_tensors([tensor.clone().requires_grad_() for tensor in start.tensors])
    stepper = _optimizer(optimizer, cnn, learning_rate, momentum)
    losses = torch.zeros(epochs, networks, dtype=torch.float64, device=device)
    overlaps = torch.ones(epochs + 1, networks, len(start.layer_weights()), dtype=torch.float64, device=device)
    parameters = {f"parameter {index}": tensor.detach() for index, tensor in enumerate(cnn.tensors)}
    state = {"losses": losses, "overlaps": overlaps, **parameters}
    pixels = images.permute(0, 2, 3, 1).contiguous()  # channels last, so that a batch is gathered image by image
    resumed = Resumed(checkpoint, state, generators, stepper)
    for epoch in range(resumed.first, epochs):
        resumed.save_if_due(epoch)
        orders = np.stack([generator.permutation(len(images)) for generator in generators], 1)
        for chosen in torch.from_numpy(orders).to(device).split(batch):
            stepper.zero_grad()
            with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
                scores = cnn.scores(_gather(pixels, chosen))
            loss = functional.cross_entropy(
                scores.float().reshape(-1, CLASSES), labels[chosen.T].flatten(), reduction="none"
            )
            loss = loss.view(networks, -1).mean(1)
            loss.sum().backward()
            stepper.step()
            losses[epoch] += loss.detach() * len(chosen) / len(images)
        overlaps[epoch + 1] = _cosines(cnn, start)
        if epoch % _REPORT_EVERY == 0:
            require_finite("CNN", losses[epoch], epoch)
            if report is not None:
                report(f"epoch {epoch}: mean loss {losses[epoch].mean():.4f}")
    require_finite("CNN", losses[-1], epochs)
    resumed.save_finished(epochs)
    return Trained(CNN.of_tensors([tensor.detach() for tensor in cnn.tensors]), losses, overlaps)


def _optimizer(name: Optimizer, cnn: CNN, learning_rate: float, momentum: float) -> torch.optim.Optimizer:
    # Fused: one kernel for all parameters, and its step counters live on the device.
    if name == "sgd":
        return torch.optim.SGD(cnn.tensors, learning_rate, momentum, fused=True)
    return torch.optim.Adam(cnn.tensors, learning_rate, fused=True)


def _gather(pixels: Tensor, chosen: Tensor) -> Tensor:
    """Images [patterns, networks × 3, 32, 32] in channels-last memory, for network m the images `chosen[:, m]`."""
    side_by_side = pixels[chosen].permute(0, 2, 3, 1, 4).flatten(3)
    return side_by_side.permute(0, 3, 1, 2)


@torch.no_grad()
def _cosines(cnn: CNN, start: CNN) -> Tensor:
    pairs = zip(cnn.layer_weights(), start.layer_weights(), strict=True)
    return torch.stack([functional.cosine_similarity(a.double(), b.double()) for a, b in pairs], 1)
