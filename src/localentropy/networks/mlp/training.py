"""Training of an ensemble of MLPs, all networks at once: full-batch Adam, and SGD on random labels.

The networks of an ensemble are independent. Training them together or one by one gives the same result, up to the
rounding of sums. Source: overparam, §III and "Material and Methods".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from localentropy.arguments import (
    require_function,
    require_generators,
    require_labels,
    require_tensor,
)
from localentropy.device import Tensor, torch
from localentropy.networks.checkpoint import Checkpoint
from localentropy.networks.layers import require_networks
from localentropy.networks.mlp.gradient import Packed, Patterns, SquareHinge
from localentropy.networks.mlp.network import Ensemble
from localentropy.networks.training import Resumed, require_finite
from localentropy.numerics.adam import Adam
from localentropy.quantities import BATCH, EPOCHS, MARGIN_OF_NETWORKS, RATE_OF_NETWORKS, SMALLEST_LOSS

_LOOK_EVERY = 100  # epochs between two looks at the whole ensemble: each one waits for the GPU


@dataclass(frozen=True)
class Trained:
    """Result of `train_adam`.

    Attributes:
        ensemble: the trained networks.
        loss: mean loss [networks] at the last gradient.
        zero_error_epoch: number of updates after which a network made no training error for the first time, [networks];
            −1 if it made one before every update.
        stop_epoch: number of updates made, [networks].
    """

    ensemble: Ensemble
    loss: Tensor
    zero_error_epoch: Tensor
    stop_epoch: Tensor


def train_adam(
    ensemble: Ensemble,
    inputs: Tensor,
    labels: Tensor,
    *,
    margin: float,
    learning_rate: float,
    epochs: int,
    smallest_loss: float,
    checkpoint: Checkpoint | None = None,
    report: Callable[[str], None] | None = None,
) -> Trained:
    """Minimise the mean square-hinge loss by full-batch Adam, on the device that the ensemble is on.

    A network has finished when it makes no error and its loss is small. From then on it stays as it is. So the result
    does not depend on the other networks of the ensemble. Training ends after `epochs` updates, or when all have
    finished.

    Args:
        ensemble: initial networks; not modified.
        inputs: [patterns, inputs].
        labels: ±1, [patterns].
        margin: margin of the loss, in units of the output.
        learning_rate: Adam's step size.
        epochs: most updates.
        smallest_loss: a small loss is at most this, in units of the square of the margin. 0: until no pattern is inside
            the margin.
        checkpoint: where the state is saved, and from where the training goes on.
        report: receives lines of progress.

    Returns:
        The networks, with their losses and the numbers of their updates.

    Raises:
        DomainError: `ensemble` is not an `Ensemble` object; inputs or labels of another shape or type, labels other
            than ±1, a number out of range.
        ConvergenceError: the loss is not finite.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.networks.mlp.network import Shape, random_orthogonal
        >>> from localentropy.networks.mlp.training import train_adam
        >>> networks = random_orthogonal(Shape(10, 8, 2), [np.random.default_rng(0)])
        >>> inputs = torch.from_numpy(np.random.default_rng(1).standard_normal((40, 10)).astype(np.float32))
        >>> how = {"margin": 1.0, "learning_rate": 0.01, "epochs": 200, "smallest_loss": 1e-4}
        >>> trained = train_adam(networks, inputs, inputs[:, 0].sign(), **how)
        >>> trained.ensemble.errors(inputs, inputs[:, 0].sign()).tolist()
        [0.0]
    """
    require_networks("ensemble", ensemble, Ensemble)
    inputs = require_tensor("inputs", inputs, ("patterns", ensemble.shape.inputs), like=ensemble.weights[0]).detach()
    labels = require_labels("labels", labels, (-1, 1), (len(inputs),), like=inputs).detach()
    margin, learning_rate = MARGIN_OF_NETWORKS.require(margin), RATE_OF_NETWORKS.require(learning_rate)
    epochs, small = EPOCHS.require(epochs), SMALLEST_LOSS.require(smallest_loss) * margin**2
    if report is not None:
        require_function("report", report)
    packed = Packed(ensemble)
    loss = SquareHinge(packed, margin)
    patterns = Patterns.blocked(inputs, labels)
    device = packed.flat.device
    # The step of each entry. It is 0 for entries that are not trainable, and for networks that have finished.
    rate = learning_rate * packed.trainable
    rates = packed.parts(rate)
    adam = Adam(packed.flat)
    state = {
        "flat": packed.flat,
        "rate": rate,
        "mean": adam.mean,
        "square": adam.square,
        "zero_error_epoch": torch.full((packed.networks,), -1, device=device),
        "stop_epoch": torch.zeros(packed.networks, dtype=torch.int64, device=device),
        "active": loss.active,
        "loss": torch.zeros_like(loss.loss),
    }
    resumed = Resumed(checkpoint, state)
    zero_error_epoch, stop_epoch, last = state["zero_error_epoch"], state["stop_epoch"], state["loss"]

    for epoch in range(resumed.first, epochs):
        resumed.save_if_due(epoch)
        loss(patterns)
        zero_error_epoch.masked_fill_((zero_error_epoch < 0) & (loss.wrong == 0), epoch)
        last.copy_(torch.where(loss.active, loss.loss, last))
        _rest(loss.active, (loss.wrong == 0) & (loss.loss <= small), rates)
        if epoch % _LOOK_EVERY == 0:
            require_finite("MLP", loss.loss, epoch)
            if not loss.active.any():
                break
            if report is not None and epoch % (10 * _LOOK_EVERY) == 0:
                report(
                    f"epoch {epoch}: loss {loss.loss.mean():.2e}, {int((loss.wrong > 0).sum())} networks with errors"
                )
        stop_epoch += loss.active
        denominator, factor = adam.update(loss.gradient, epoch + 1)
        packed.flat.sub_((adam.mean * rate).div_(denominator), alpha=factor)
    require_finite("MLP", loss.loss, epochs)
    return Trained(packed.ensemble(), last, zero_error_epoch, stop_epoch)


def train_sgd(
    ensemble: Ensemble,
    inputs: Tensor,
    labels: Tensor,
    *,
    margin: float,
    learning_rate: float,
    batch: int,
    epochs: int,
    generators: Sequence[np.random.Generator],
    checkpoint: Checkpoint | None = None,
) -> Ensemble:
    """Mini-batch SGD on the square-hinge loss for a fixed number of epochs.

    A network has finished when it made no error on any mini-batch of an epoch, and makes none after it. From then on it
    stays as it is.

    Args:
        ensemble: initial networks; not modified.
        inputs: [patterns, inputs].
        labels: ±1, [networks, patterns]: each network has its own.
        margin: margin of the loss, in units of the output.
        learning_rate: step size; the loss is a mean over the mini-batch.
        batch: patterns in a mini-batch; the last one of an epoch may be shorter.
        epochs: passes over the patterns, each in a fresh random order.
        generators: one for each network, for its orders.
        checkpoint: where the state is saved, also after the last epoch, and from where the training goes on.

    Returns:
        The networks reached.

    Raises:
        DomainError: `ensemble` is not an `Ensemble` object; inputs or labels of another shape or type, labels other
            than ±1, a number out of range, not one generator for each network.
        ConvergenceError: the loss is not finite, because the learning rate is too large.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.networks.mlp.network import Shape, random_orthogonal
        >>> from localentropy.networks.mlp.training import train_sgd
        >>> streams = [np.random.default_rng(0)]
        >>> networks = random_orthogonal(Shape(10, 8, 2), streams)
        >>> inputs = torch.from_numpy(np.random.default_rng(1).standard_normal((40, 10)).astype(np.float32))
        >>> labels, how = inputs[None, :, 0].sign(), {"margin": 1.0, "learning_rate": 0.1, "batch": 10, "epochs": 100}
        >>> train_sgd(networks, inputs, labels, **how, generators=streams).errors(inputs, labels).tolist()
        [0.0]
    """
    require_networks("ensemble", ensemble, Ensemble)
    inputs = require_tensor("inputs", inputs, ("patterns", ensemble.shape.inputs), like=ensemble.weights[0]).detach()
    labels = require_labels("labels", labels, (-1, 1), (ensemble.networks, len(inputs)), like=inputs).detach()
    margin, learning_rate = MARGIN_OF_NETWORKS.require(margin), RATE_OF_NETWORKS.require(learning_rate)
    batch, epochs = BATCH.require(batch), EPOCHS.require(epochs)
    generators = require_generators(generators, ensemble.networks)
    packed = Packed(ensemble)
    loss = SquareHinge(packed, margin)
    rate = learning_rate * packed.trainable
    rates = packed.parts(rate)
    wrong = torch.zeros_like(loss.wrong)
    state = {"flat": packed.flat, "rate": rate, "active": loss.active}
    resumed = Resumed(checkpoint, state, generators)
    for epoch in range(resumed.first, epochs):
        resumed.save_if_due(epoch)
        orders = np.stack([generator.permutation(len(inputs)) for generator in generators])
        order = torch.from_numpy(orders).to(inputs.device)
        patterns = Patterns.blocked(inputs[order], labels.gather(1, order), batch)
        wrong.zero_()
        for index in range(len(patterns.inputs)):
            loss(patterns.batch(index))
            packed.flat.addcmul_(rate, loss.gradient, value=-1)
            wrong += loss.wrong
        if (loss.active & (wrong == 0)).any():
            require_finite("MLP", loss.loss, epoch)  # without numbers nothing is wrong
            _rest(loss.active, (wrong == 0) & (packed.ensemble().errors(inputs, labels) == 0), rates)
        if epoch % _LOOK_EVERY == 0:
            require_finite("MLP", loss.loss, epoch)
            if not loss.active.any():
                break
    require_finite("MLP", loss.loss, epochs)
    resumed.save_finished(epochs)
    return packed.ensemble()


def _rest(active: Tensor, finished: Tensor, rates: Sequence[Tensor]) -> None:
    """Let the networks that have finished stay as they are: no longer active, with steps of 0."""
    active &= ~finished
    for rate in rates:
        rate.mul_(active.view(-1, *[1] * (rate.dim() - 1)))
