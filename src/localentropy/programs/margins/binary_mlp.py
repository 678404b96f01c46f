"""Binary multilayer perceptrons on images, trained by BinaryNet (margins, supplement IV, figure 8).

A task trains all samples on one number of patterns, a class-balanced part of the training set. Then every pair of
networks is compared after its permutations and signs are matched. Where all networks solve, their weights are flipped
at random. So are those of a sharp control: networks with their initial weights, on the classes that they give the
images themselves. These weights are a solution that nothing has made flat.

Table: one row for each number, in column `value`. The other columns say which number it is:

| column | |
|---|---|
| quantity | see below |
| patterns | P, training images |
| parameters | weights of the network |
| sample | number of the initial weights, from 0 |
| other | second sample of a pair, else missing |
| layer | 0 for the weights from the inputs, up to `hidden_layers` for the outputs'; missing for the whole network |
| distance | probability of a flip, else missing |

| quantity | |
|---|---|
| train_error | fraction of the training images whose class does not have the largest output alone, at the end |
| overlap, overlap_untrained | of a pair after matching, Σ w w'/(number of weights): trained networks; their starts |
| flipped_train_error | train error after random flips, mean over draws; only where no network makes an error |
| flipped_control_error | the same of the control, on the images to which it gives one class |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.network_runs import ClassBalanced, Group, NetworkParameters, NetworkRun
from localentropy.programs.parts.parameters import SIZE, Context, Distance, Increasing, OddSize, Task, given

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from localentropy.networks.binary_mlp.network import BinaryNetworks
    from localentropy.networks.layers import Layers

COLUMNS = {
    "quantity": "str",
    **dict.fromkeys(("patterns", "parameters", "sample"), "int64"),
    **dict.fromkeys(("other", "layer"), "Int64"),
    **dict.fromkeys(("distance", "value"), "float64"),
}


class Parameters(NetworkParameters):
    """Parameters of binary networks. (T): stated in the paper's text; (C): chosen here."""

    dataset: Literal["mnist", "fashion_mnist", "cifar10"] = Field(description="the images (T)")
    labels: Literal["classes", "parity"] = Field(description="what is learnt: the ten classes, or odd against even (T)")
    hidden_layers: int = given(quantities.LAYERS, "hidden layers (T)")
    width: OddSize = Field(description="units of a hidden layer (C)", json_schema_extra=SIZE)
    patterns: Increasing[ClassBalanced] = Field(
        description="training images P, as many of each class (C)", json_schema_extra=SIZE
    )
    logit_scale: float = given(quantities.SCALE_OF_BINARY, "c of the logits c W h/√n (C)")
    learning_rate: float = given(quantities.RATE_OF_BINARY, "step size of SGD (C)")
    spread: float = given(quantities.SPREAD, "range of the initial real weights, which are clipped at 1 (C)")
    batch: int = given(quantities.BATCH, "images in a mini-batch of SGD (C)")
    epochs: int = given(quantities.EPOCHS, "passes over the patterns: fixed (T), how many (C)", size=True)
    distances: Increasing[Distance] = Field(description="probabilities of a flip of the local energy (C)")
    flip_draws: int = given(quantities.DRAWS, "random flips of each network at each distance (C)", size=True)

    def datasets(self) -> tuple[str, ...]:
        """The images."""
        return (self.dataset,)


def tasks(parameters: Parameters) -> list[Task]:
    """One task for each number of patterns."""
    return [{"patterns": patterns} for patterns in parameters.patterns]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the weights between the hidden layers of all networks."""
    return 4 * parameters.samples * (parameters.hidden_layers - 1) * parameters.width**2


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one number of patterns, in the columns above; see `NetworkRun.table`."""
    return _Run(parameters, task, context).table()


class _Run(NetworkRun[Parameters]):
    """The networks of one number of patterns."""

    stream, columns = "margins/binary_mlp", COLUMNS

    def __init__(self, parameters: Parameters, task: Task, context: Context) -> None:
        from localentropy.networks.binary_mlp.network import Shape

        inputs, labels, classes = _images(parameters, task["patterns"], context)
        self.shape = Shape(inputs.shape[1], parameters.width, parameters.hidden_layers, classes)
        super().__init__(parameters, task, context, size=self.shape.weights)
        self.inputs, self.labels = inputs.to(self.device), labels.to(self.device)

    def train(self, samples: list[int]) -> Group:
        """BinaryNet. Networks are perturbed if all of them are solutions."""
        from localentropy.networks.binary_mlp.network import BinaryNetworks, uniform_initialization
        from localentropy.networks.binary_mlp.training import train

        p, patterns = self.parameters, self.task["patterns"]
        start = uniform_initialization(self.shape, self.streams("weights", samples, patterns=patterns), p.spread)
        (orders,) = self.streams("orders", samples[:1], patterns=patterns)
        trained = train(
            start,
            self.inputs,
            self.labels,
            logit_scale=p.logit_scale,
            learning_rate=p.learning_rate,
            batch=p.batch,
            epochs=p.epochs,
            generator=orders,
            checkpoint=self.checkpoint("training"),
            report=self.report,
        )
        train_error = self.errors(trained.networks)
        self.rows.add({"train_error": train_error}, sample=samples)
        solved = int((train_error == 0).sum())
        self.report(f"train error {train_error.mean():.4f}, {solved} of {len(samples)} solved, epochs {trained.epochs}")
        self.untrained = BinaryNetworks.of(start).to(self.device)
        return Group(trained.networks, self.untrained, samples if solved == len(samples) else [])

    def errors(self, networks: BinaryNetworks) -> Tensor:
        return networks.errors(self.inputs, self.labels)

    def aligned(self, reference: Layers, other: Layers) -> Layers:
        from localentropy.networks.align import align_with_signs

        return align_with_signs(reference, other)[0]

    def perturb(self, solutions: Any, samples: list[int]) -> None:
        self._flip("flipped_train_error", solutions, self.inputs, self.labels, samples)
        for sample in samples:
            own = self.untrained.select([sample])
            outputs = own.outputs(self.inputs)[0]
            largest, labels = outputs.max(0)
            alone = (outputs == largest).sum(0) == 1
            self._flip("flipped_control_error", own, self.inputs[alone], labels[alone], [sample])

    def _flip(
        self, quantity: str, networks: BinaryNetworks, inputs: Tensor, labels: Tensor, samples: list[int]
    ) -> None:
        """Add the errors of networks after random flips."""
        from localentropy.landscape.random_flips import random_flips

        p = self.parameters
        energies = random_flips(
            networks.flat_weights(),
            lambda flipped: networks.with_weights(flipped).errors(inputs, labels),
            distances=p.distances,
            draws=p.flip_draws,
            generators=self.streams("flips", samples, patterns=self.task["patterns"]),
        )
        for distance, energy in zip(p.distances, energies.mean(2), strict=True):
            self.rows.add({quantity: energy}, distance=distance, sample=samples)


def _images(parameters: Parameters, patterns: int, context: Context) -> tuple[Tensor, Tensor, int]:
    """±1 inputs, labels and the number of classes.

    A value is +1 if it is above the median of its image. The last value, of a corner, is left out: an odd number of
    inputs has no sum of zero. A larger part of the training set contains the smaller ones. The embedded part of a
    dataset and the whole dataset give the same images.
    """
    import torch

    from localentropy.data import prepared
    from localentropy.data.binary_images import above_median
    from localentropy.data.selection import class_balanced

    name = parameters.dataset
    dataset = prepared.load(context.data[name])
    dataset.require(train=patterns)
    split = dataset.train
    chosen = class_balanced(split.labels, patterns // 10, f"embedded/{name}/train", split.source_indices)
    part = split.take(chosen)
    inputs = torch.from_numpy(above_median(part.inputs)[0][:, :-1].copy()).to(torch.float32)
    labels = torch.from_numpy(part.labels).to(torch.int64)
    return (inputs, labels % 2, 2) if parameters.labels == "parity" else (inputs, labels, 10)
