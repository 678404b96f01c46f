"""Convolutional networks on CIFAR-10, trained by SGD with momentum and by Adam (overparam, figures 7 and 14).

A task trains all samples of one width by one optimizer on one class-balanced part of the training set. Batch norm is
then folded into the convolutions, with its statistics over the training set; the folded networks are normalised, every
pair of them is aligned and compared, and the solutions among them are perturbed with multiplicative noise.

Table: one row for each number, in column `value`; which number is said by

| column | |
|---|---|
| quantity | see below |
| optimizer | `sgd` or `adam` |
| width, parameters | k, the filters of the first convolution; trainable parameters of the network |
| sample | random seed of the initial weights and of the orders of the training set, from 0 |
| other | second sample of a pair, else missing |
| layer | 0 to 3 for the convolutions, 4 for the linear layer; missing for the whole network |
| epoch | of `overlap_start`: passes over the training set after which it is taken, else missing |
| sigma | level of noise, else missing |

| quantity | |
|---|---|
| train_error, test_error | fraction of images misclassified after training |
| solved | 1 if at most `solution_errors` training images are misclassified, else 0 |
| loss | mean cross-entropy (nats) over the batches of the last epoch |
| dead_channels | channels of a convolution with no weight after training |
| overlap_start | cosine of a layer's weights with their initial values: neither folded nor aligned |
| overlap, overlap_untrained | cosine of a pair, normalised and aligned: of trained networks, and of the initial ones |
| noise_distance, noise_distance_raw | of solutions: distance to the perturbed one, per unit and not; mean over draws |
| noise_train_error | of solutions: train error of the perturbed one; mean over draws |

All errors are those of evaluation mode, on all images. Both optimizers start from the same networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from localentropy.experiments.network_runs import NOISE_LEVELS, Distinct, NetworkTable
from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    IncreasingSizes,
    IncreasingValues,
    Task,
)
from localentropy.seeds import generator

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import torch

    from localentropy.networks.cnn.folding import Folded
    from localentropy.networks.cnn.network import CNN
    from localentropy.networks.cnn.training import Trained

DATASETS = ("cifar10",)

Optimizer = Literal["sgd", "adam"]

COLUMNS = {
    "quantity": "str",
    "optimizer": "str",
    "width": "int64",
    "parameters": "int64",
    "sample": "int64",
    "other": "Int64",
    "layer": "Int64",
    "epoch": "Int64",
    "sigma": "float64",
    "value": "float64",
}


def _balanced(value: int) -> int:
    if value % 10:
        raise ValueError(f"must be a multiple of 10 (as many of each class); nearest: {round(value / 10) * 10 or 10}")
    return value


ClassBalanced = Annotated[int, Field(ge=10), AfterValidator(_balanced)]


class Parameters(ExperimentParameters):
    """Parameters of the CNN experiment. (T): stated in the paper's text; (C): a choice, the text lost the number."""

    widths: IncreasingSizes = Field(
        description="k, the filters of the first of four convolutions (C)", json_schema_extra=SIZE
    )
    optimizers: Distinct[tuple[Optimizer, ...]] = Field(description="training algorithms: SGD with momentum, Adam (T)")
    training_patterns: ClassBalanced = Field(
        le=50_000, description="training images, as many of each class; all 50,000 (T)", json_schema_extra=SIZE
    )
    test_patterns: ClassBalanced = Field(
        le=10_000, description="test images, as many of each class", json_schema_extra=SIZE
    )
    samples: int = Field(ge=3, le=1000, description="networks for each width; 5 (T)", json_schema_extra=SIZE)
    epochs: int = Field(ge=1, le=100_000, description="passes over the training set; 200 (T)", json_schema_extra=SIZE)
    batch: int = Field(ge=1, le=50_000, description="images in a mini-batch (C)")
    sgd_learning_rate: float = Field(gt=0, le=10, description="step size of SGD (C)")
    sgd_momentum: float = Field(ge=0, lt=1, description="momentum of SGD (C)")
    adam_learning_rate: float = Field(gt=0, le=10, description="step size of Adam (C)")
    solution_errors: int = Field(ge=0, description="most misclassified training images of a solution; 1 (T)")
    noise_levels: IncreasingValues = Field(description=NOISE_LEVELS)
    noise_draws: int = Field(
        ge=1, le=10_000, description="perturbations of each solution at each noise level (C)", json_schema_extra=SIZE
    )
    networks_at_once: int = Field(
        ge=1,
        le=1000,
        description="networks trained side by side by one program: for GPUs, which one small network does not fill "
        "(sums round differently)",
        json_schema_extra=SIZE,
    )
    precision: Literal["float32", "bfloat16"] = Field(
        description="floating-point type of activations in training", json_schema_extra=SIZE
    )
    device: Literal["cpu", "cuda"] = Field(description="where the networks are trained", json_schema_extra=SIZE)


def tasks(parameters: Parameters) -> list[Task]:
    """One task for each optimizer and width."""
    return [
        {"optimizer": optimizer, "width": width} for optimizer in parameters.optimizers for width in parameters.widths
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one width and optimizer, in the columns described above.

    Training saves its state every five minutes beside `context.checkpoint`, where there is one, and goes on from
    there after an interruption.

    Raises:
        DataError: the dataset is damaged or too small.
        DomainError: there is no GPU for device `cuda`.
        ConvergenceError: training diverged.
    """
    import torch

    from localentropy.networks.cnn.folding import fold
    from localentropy.networks.cnn.network import parameter_count, statistics
    from localentropy.networks.normalise import normalise

    torch.set_num_threads(parameters.threads)
    # On a GPU: float32 is not rounded to TF32, and a run that goes on from a checkpoint ends with the same bits.
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.deterministic = True
    images, labels, test_images, test_labels = _patterns(parameters, context)
    optimizer, width = task["optimizer"], task["width"]
    table = NetworkTable(COLUMNS, optimizer=optimizer, width=width, parameters=parameter_count(width))
    run = _Run(parameters, width, optimizer, context)

    networks: list[Folded] = []
    untrained: list[Folded] = []
    solutions: list[int] = []
    for samples in run.groups():
        start = run.start(samples)
        trained = run.train(start, images, labels, samples)
        folded = fold(trained.cnn, statistics(trained.cnn, images))
        train_error = folded.errors(images, labels)
        # A fraction of the patterns in floating point: half an error of slack decides nothing else.
        solved = train_error * len(labels) < parameters.solution_errors + 0.5
        for quantity, values in {
            "train_error": train_error,
            "test_error": folded.errors(test_images, test_labels),
            "solved": solved,
            "loss": trained.loss[-1],
        }.items():
            table.samples(quantity, samples, values)
        for epoch, overlaps in enumerate(trained.start_overlaps.cpu()):
            table.layers("overlap_start", samples, overlaps, epoch=epoch)
        normalised, dead = normalise(folded)
        table.layers("dead_channels", samples, dead)
        networks.append(normalised)
        untrained.append(normalise(fold(start, statistics(start, images)))[0])
        solutions += [sample for sample, found in zip(samples, solved, strict=True) if found]
        context.report(
            f"{optimizer} width {width} sample {', '.join(map(str, samples))}: "
            f"train error {train_error.mean():.5f}, {int(solved.sum())} of {len(samples)} solved"
        )
    every = _joined(networks)
    table.compare("overlap", every)
    table.compare("overlap_untrained", _joined(untrained))
    if solutions:
        # The same noise for both optimizers.
        table.perturb(
            solutions,
            every.select(solutions),
            lambda folded: folded.errors(images, labels),
            sigmas=parameters.noise_levels,
            draws=parameters.noise_draws,
            generators=run.streams("noise", solutions),
        )
    run.finish()
    return table.frame()


def _patterns(parameters: Parameters, context: Context) -> list[torch.Tensor]:
    """Training images and labels, test images and labels, on the device.

    Each colour is centred and scaled to unit variance over the training images. The embedded part of the dataset and
    the whole one give the same images.
    """
    import torch

    from localentropy.data import prepared
    from localentropy.data.selection import class_balanced
    from localentropy.device import torch_device

    device = torch_device(parameters.device)
    dataset = prepared.load(context.data["cifar10"])
    dataset.require(train=parameters.training_patterns, test=parameters.test_patterns)
    found: list[torch.Tensor] = []
    for name, split, count in (
        ("train", dataset.train, parameters.training_patterns),
        ("test", dataset.test, parameters.test_patterns),
    ):
        chosen = class_balanced(split.labels, count // 10, f"embedded/cifar10/{name}", split.source_indices)
        part = split.take(chosen)
        images = torch.from_numpy(part.inputs).to(device, torch.float32)
        if name == "train":
            mean, deviation = images.mean((0, 2, 3), keepdim=True), images.std((0, 2, 3), keepdim=True)
        standard = ((images - mean) / deviation).contiguous(memory_format=torch.channels_last)
        found += [standard, torch.from_numpy(part.labels).to(device, torch.int64)]
    return found


class _Run:
    """Training of one task: its random streams and checkpoints."""

    def __init__(self, parameters: Parameters, width: int, optimizer: Optimizer, context: Context) -> None:
        from localentropy.networks.checkpoint import Checkpoint

        self.parameters = parameters
        self.width = width
        self.optimizer = optimizer
        self.seed = context.seed
        self.report = context.report
        path = context.checkpoint
        key = f"{context.identity} {parameters.model_dump_json()} {optimizer} {width} {context.seed}"
        self.checkpoints = {
            samples[0]: Checkpoint(path.with_name(f"{path.name}.sample{samples[0]}"), key, report=context.report)
            for samples in self.groups()
            if path is not None
        }

    def groups(self) -> list[list[int]]:
        """Samples that are trained side by side."""
        samples, together = list(range(self.parameters.samples)), self.parameters.networks_at_once
        return [samples[first : first + together] for first in range(0, len(samples), together)]

    def streams(self, name: str, samples: list[int]) -> list[np.random.Generator]:
        """One generator for each sample."""
        return [generator(self.seed, f"overparam/cnn/{name}", sample=sample, width=self.width) for sample in samples]

    def start(self, samples: list[int]) -> CNN:
        """Initial networks, the same for both optimizers."""
        from localentropy.networks.cnn.network import standard_initialization

        return standard_initialization(self.width, self.streams("weights", samples)).to(self.parameters.device)

    def train(self, start: CNN, images: torch.Tensor, labels: torch.Tensor, samples: list[int]) -> Trained:
        """The optimizer on the cross-entropy; the orders of the training set are the same for both."""
        from localentropy.networks.cnn.training import train

        p = self.parameters
        return train(
            start,
            images,
            labels,
            optimizer=self.optimizer,
            learning_rate=p.sgd_learning_rate if self.optimizer == "sgd" else p.adam_learning_rate,
            momentum=p.sgd_momentum,
            batch=p.batch,
            epochs=p.epochs,
            generators=self.streams("orders", samples),
            precision=p.precision,
            checkpoint=self.checkpoints.get(samples[0]),
            report=lambda line: self.report(f"{self.optimizer} width {self.width} sample {samples[0]}: {line}"),
        )

    def finish(self) -> None:
        """Delete the checkpoints."""
        for checkpoint in self.checkpoints.values():
            checkpoint.remove()


def _joined(parts: list[Folded]) -> Folded:
    """All networks of several ensembles as one."""
    import torch

    from localentropy.networks.cnn.folding import Folded

    weights, biases = (
        tuple(torch.cat(layer) for layer in zip(*tensors, strict=True))
        for tensors in ([part.weights for part in parts], [part.biases for part in parts])
    )
    return Folded(weights, biases)
