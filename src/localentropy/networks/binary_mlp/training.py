"""BinaryNet for ensembles of binary multilayer perceptrons: SGD on real weights whose signs are the network.

The derivative of a sign is replaced: by 1 for weights; for activations by 1 where |W h|/√n ≤ 1 and by 0 elsewhere, with
n the number of terms (straight-through estimator). Real weights are clipped to [−1, 1]. Source: margins,
supplement IV; Hubara et al. 2016. What supplement IV does not say is chosen here: docs/networks.md.

A wrong last bit would soon turn a weight's sign, and then the network ends elsewhere. So the training is written in
integers, which float32 adds without rounding in any order. The back-propagated errors are rounded to multiples of 2 to
the power of minus `ERROR_BITS`. Real weights are multiples of their smallest possible step. Then the result has the
same bits on every processor and GPU, alone or beside other networks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localentropy.arguments import (
    require_function,
    require_labels,
    shown,
)
from localentropy.device import Tensor, functional, torch
from localentropy.errors import DomainError
from localentropy.networks.binary_mlp.network import BinaryNetworks, first_sums
from localentropy.networks.checkpoint import Checkpoint
from localentropy.networks.layers import Layers, require_networks
from localentropy.networks.training import Resumed
from localentropy.quantities import BATCH, EPOCHS, RATE_OF_BINARY, SCALE_OF_BINARY

ERROR_BITS = 10
"""Errors are multiples of 2^−10: an output whose probability is right to 2^−11 counts as right."""
_EXACT = 2.0**23
"""Halves of integers are added exactly in float32 below this number."""
_LOOK_EVERY = 10  # epochs between two looks at whether anything still moves: each look waits for the GPU


@dataclass(frozen=True)
class Trained:
    """Result of `train`.

    Attributes:
        networks: the signs of the real weights after the last epoch.
        epochs: epochs made. It is less than asked for where no error was left in any network: nothing moves any more.
    """

    networks: BinaryNetworks
    epochs: int


def train(
    start: Layers,
    inputs: Tensor,
    labels: Tensor,
    *,
    logit_scale: float,
    learning_rate: float,
    batch: int,
    epochs: int,
    generator: np.random.Generator,
    checkpoint: Checkpoint | None = None,
    report: Callable[[str], None] | None = None,
) -> Trained:
    """Minimise the cross-entropy by SGD in mini-batches, all networks at once, on the device that the inputs are on.

    The logits are c W h/√n with c the logit scale. All networks meet the patterns in the same orders: they differ by
    their starts.

    Args:
        start: real weights in [−1, 1], [networks, outputs, inputs] of each layer; not modified.
        inputs: ±1, float32 [patterns, inputs].
        labels: classes, int64 [patterns].
        logit_scale: c.
        learning_rate: step size. The loss is a sum over the mini-batch, divided by `batch`.
        batch: patterns in a mini-batch; the last one of an epoch may be shorter.
        epochs: most passes over the patterns, each in a fresh random order.
        generator: of the orders.
        checkpoint: where the state is saved, and from where the training goes on.
        report: receives lines of progress.

    Returns:
        The networks, and the number of epochs.

    Raises:
        DomainError: `start` is not a `Layers` object, or has biases or a weight outside [−1, 1]; inputs or labels of
            another shape or on another device, inputs other than ±1, other classes; a parameter that is out of range,
            or for which sums would not be exact; no random generator of NumPy; a `report` that is no function.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> from localentropy.networks.binary_mlp.network import Shape, uniform_initialization
        >>> from localentropy.networks.binary_mlp.training import train
        >>> inputs = torch.from_numpy(np.random.default_rng(0).choice(np.array([-1, 1], np.float32), (60, 51)))
        >>> labels, stream = inputs[:, 0].gt(0).long(), np.random.default_rng(1)
        >>> start = uniform_initialization(Shape(51, 51, 1, 2), [stream], 0.1)
        >>> how = {"logit_scale": 1.0, "learning_rate": 0.1, "batch": 20, "epochs": 50, "generator": stream}
        >>> train(start, inputs, labels, **how).networks.errors(inputs, labels).tolist()
        [0.0]
    """
    require_networks("start", start)
    if start.biases:
        raise DomainError("start: these networks have biases, which binary ones have not")
    if any(bool((weight.abs() > 1).any()) for weight in start.weights):
        raise DomainError("start: a weight is larger than 1, where weights are clipped")
    like = start.weights[0].to(inputs.device) if isinstance(inputs, Tensor) else start.weights[0]
    inputs = require_labels("inputs", inputs, (-1, 1), ("patterns", like.shape[2]), like=like).detach()
    labels = require_labels("labels", labels, range(start.weights[-1].shape[1]), (len(inputs),), like=inputs).long()
    logit_scale, learning_rate = SCALE_OF_BINARY.require(logit_scale), RATE_OF_BINARY.require(learning_rate)
    batch, epochs = BATCH.require(batch), EPOCHS.require(epochs)
    if not isinstance(generator, np.random.Generator):
        raise DomainError(f"generator = {shown(generator)}: allowed is a random generator of numpy")
    if report is not None:
        require_function("report", report)
    state = StraightThrough(start.to(inputs.device), logit_scale=logit_scale, learning_rate=learning_rate, batch=batch)
    saved = {f"layer{layer}": real for layer, real in enumerate(state.real)}
    resumed = Resumed(checkpoint, saved, [generator])
    state.take_signs()
    targets = functional.one_hot(labels, start.weights[-1].shape[1]).T.double()
    made = resumed.first
    for epoch in range(resumed.first, epochs):
        resumed.save_if_due(epoch)
        order = torch.from_numpy(generator.permutation(len(inputs))).to(inputs.device)
        look = epoch % _LOOK_EVERY == 0
        moving = torch.zeros((), dtype=torch.bool, device=inputs.device)
        for patterns, wanted in zip(inputs[order].split(batch), targets[:, order].split(batch, 1), strict=True):
            activations, errors = state.signals(patterns, wanted)
            state.update(activations, errors)
            if look:
                moving |= errors[-1].any()
        made = epoch + 1
        if look and not moving:
            break
        if look and report is not None and epoch % (10 * _LOOK_EVERY) == 0:
            wrong = state.networks().errors(inputs, labels)
            report(f"epoch {made}: train error {wrong.mean():.4f}, {int((wrong > 0).sum())} networks with errors")
    return Trained(state.networks(), made)


class StraightThrough:
    """The state of an ensemble between two mini-batches.

    The unit of an error is 2 to the power of minus `ERROR_BITS`. The unit of a layer's real weights is the step that
    one error makes.

    Attributes:
        real: real weights of each layer in its units, [networks, outputs, inputs]. They are integers plus ½, so none is
            zero.
        signs: the ±1 weights, of the same shapes.
        limits: the value of a real weight 1 in each layer's units; real weights are clipped there.
        scales: factors of the sums of each layer, 1/√n; at the output c/√n.

    Args:
        start: real weights in [−1, 1].
        logit_scale: c.
        learning_rate: step size.
        batch: patterns in a mini-batch.

    Raises:
        DomainError: sums could reach numbers that float32 rounds.

    Example:
        >>> import numpy as np
        >>> from localentropy.networks.binary_mlp.network import Shape, uniform_initialization
        >>> from localentropy.networks.binary_mlp.training import StraightThrough
        >>> start = uniform_initialization(Shape(51, 21, 1, 3), [np.random.default_rng(0)], 1.0)
        >>> state = StraightThrough(start, logit_scale=1.0, learning_rate=0.1, batch=20)
        >>> bool((state.networks().weights[0] == start.weights[0].sign()).all())
        True
    """

    def __init__(self, start: Layers, *, logit_scale: float, learning_rate: float, batch: int) -> None:
        *hidden, last = (1 / math.sqrt(weight.shape[2]) for weight in start.weights)
        self.scales = [*hidden, logit_scale * last]
        self.limits = [_half_integer(batch * 2.0**ERROR_BITS / (learning_rate * scale)) for scale in self.scales]
        self._require_exact([weight.shape[1] for weight in start.weights], batch)
        self.real = [
            (weight * limit).floor_().add_(0.5).clamp_(-limit, limit)
            for weight, limit in zip(start.weights, self.limits, strict=True)
        ]
        self.signs = [torch.empty_like(real) for real in self.real]
        self.take_signs()

    def take_signs(self) -> None:
        """Set the ±1 weights to the signs of the real ones."""
        for signs, real in zip(self.signs, self.real, strict=True):
            torch.sign(real, out=signs)

    def networks(self) -> BinaryNetworks:
        """Copy of the ±1 weights."""
        return BinaryNetworks(tuple(signs.clone() for signs in self.signs), ())

    def signals(self, inputs: Tensor, targets: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Forward and backward pass of a mini-batch.

        The gradient of the summed loss with respect to the weights of layer l is 2 to the power of minus `ERROR_BITS`,
        times errors[l] activations[l]ᵀ, times `scales[l]`.

        Args:
            inputs: ±1, [patterns, inputs].
            targets: 1 at the class of each pattern and 0 elsewhere, float64 [classes, patterns].

        Returns:
            What enters each layer: the inputs, [inputs, patterns], and hidden activations ±1, [networks, width,
            patterns]. The errors at what leaves each layer, [networks, outputs, patterns], integers in units of 2 to
            the power of minus `ERROR_BITS`.
        """
        below, *above = self.signs
        activations = [inputs.T]
        sums = first_sums(below, inputs)
        passing = []
        for signs in above:
            passing.append(sums.abs() <= math.isqrt(below.shape[2]))
            activations.append(sums.sign_())
            sums = torch.bmm(signs, sums)
            below = signs
        wrong = torch.softmax(sums.double().mul_(self.scales[-1]), 1).sub_(targets)
        errors = [wrong.mul_(2.0**ERROR_BITS).round_().to(inputs.dtype)]
        for signs, scale, window in zip(above[::-1], self.scales[::-1], passing[::-1], strict=False):
            errors.append(torch.bmm(signs.mT, errors[-1]).mul_(scale).round_().mul_(window))
        return activations, errors[::-1]

    def update(self, activations: list[Tensor], errors: list[Tensor]) -> None:
        """A step of SGD from the results of `signals`, the clip, and the new signs."""
        self.real[0].flatten(0, 1).addmm_(errors[0].flatten(0, 1), activations[0].T, alpha=-1)
        for real, error, activation in zip(self.real[1:], errors[1:], activations[1:], strict=True):
            real.baddbmm_(error, activation.mT, alpha=-1)
        for real, limit in zip(self.real, self.limits, strict=True):
            real.clamp_(-limit, limit)
        self.take_signs()

    def _require_exact(self, outputs: list[int], batch: int) -> None:
        """Bound every sum by the sizes of its terms: errors of a softmax sum to 2 at most."""
        most = 2.0**ERROR_BITS
        summed = 2 * most + outputs[-1] / 2
        for layer in range(len(outputs) - 1, -1, -1):
            if max(self.limits[layer] + batch * most, summed if layer else 0) > _EXACT:
                raise DomainError(
                    f"a batch of {batch} and real weights of {self.limits[layer]:.3g} steps in layer {layer} need sums "
                    f"beyond {_EXACT:.0f}, which float32 rounds; take smaller batches, a larger learning rate, a "
                    "smaller logit scale or fewer units"
                )
            most = summed * self.scales[layer] + 0.5
            summed = outputs[layer - 1] * most


def _half_integer(value: float) -> float:
    return math.floor(value) + 0.5
