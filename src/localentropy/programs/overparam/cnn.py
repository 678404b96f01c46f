"""Convolutional networks on CIFAR-10, trained by SGD with momentum and by Adam (overparam, figures 7 and 14).

A task trains all samples of one width by one optimizer on one class-balanced part of the training set. Batch norm,
with its statistics over the training set, is then folded into the convolutions. The folded networks are normalised,
every pair of them is aligned and compared, and the solutions are perturbed with multiplicative noise.

Table: one row for each number, in column `value`. The other columns say which number it is:

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
| hessian_trace, hessian_largest | of solutions, see `ReluRun.hessian`; the trace also of each layer |

The whole network's `overlap_start` is the cosine of the weights of its five layers together, after the last epoch.
All errors are those of evaluation mode, on all images. Both optimizers start from the same networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.network_runs import ClassBalanced, Group, NoiseParameters, ReluRun, columns
from localentropy.programs.parts.parameters import SIZE, Context, Distinct, Increasing, Size, Task, given

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from localentropy.networks.cnn.folding import Folded
    from localentropy.networks.cnn.network import CNN

Optimizer = Literal["sgd", "adam"]
Initialization = Literal["pytorch", "he"]

COLUMNS = columns("optimizer", "epoch")


class Parameters(NoiseParameters):
    """Parameters of the CNN experiment. (T): stated in the paper's text; (C): chosen here."""

    DATASETS = ("cifar10",)

    widths: Increasing[Size] = Field(
        description="k, the filters of the first of four convolutions (C)", json_schema_extra=SIZE
    )
    optimizers: Distinct[tuple[Optimizer, ...]] = Field(description="training algorithms: SGD with momentum, Adam (T)")
    training_patterns: ClassBalanced = given(
        quantities.SIZE.within(high=50_000), "training images, as many of each class; all 50,000 (T)", size=True
    )
    test_patterns: ClassBalanced = given(
        quantities.PATTERNS.within(high=10_000), "test images, as many of each class", size=True
    )
    samples: int = given(quantities.RUNS.within(low=3), "networks for each width; 5 (T)", size=True)
    epochs: int = given(quantities.EPOCHS_OF_CNN, "passes over the training set; 200 (T)", size=True)
    batch: int = given(quantities.BATCH, "images in a mini-batch (C)")
    initialization: Initialization = Field(
        description='of the filters: nn.Conv2d\'s default, "standard PyTorch initialization" (T), or He et al. for ReLU'
    )
    sgd_learning_rate: float = given(quantities.RATE_OF_NETWORKS, "step size of SGD (C)")
    adam_learning_rate: float = given(quantities.RATE_OF_NETWORKS, "step size of Adam (C)", size=True)
    sgd_momentum: float = given(quantities.MOMENTUM, "momentum of SGD (C)")
    solution_errors: int = given(
        quantities.SIZE.within(low=0), "most misclassified training images of a solution; 1 (T)"
    )
    networks_at_once: int = given(
        quantities.RUNS,
        "networks trained side by side by one program, which one small network does not fill (sums round differently)",
        size=True,
    )
    precision: Literal["float32", "bfloat16"] = Field(
        description="floating-point type of activations in training", json_schema_extra=SIZE
    )


def tasks(parameters: Parameters) -> list[Task]:
    """One task for each optimizer and width."""
    return [
        {"optimizer": optimizer, "width": width} for optimizer in parameters.optimizers for width in parameters.widths
    ]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the weights of the networks that are trained at once."""
    from localentropy.networks.cnn.sizes import parameter_count

    return 4 * min(parameters.networks_at_once, parameters.samples) * parameter_count(task["width"])


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one width and optimizer, in the columns above; see `NetworkRun.table`."""
    return _Run(parameters, task, context).table()


class _Run(ReluRun[Parameters]):
    """The networks of one width and optimizer."""

    stream, columns, dead = "overparam/cnn", COLUMNS, "dead_channels"

    def __init__(self, parameters: Parameters, task: Task, context: Context) -> None:
        from localentropy.networks.cnn.sizes import parameter_count

        super().__init__(parameters, task, context, size=parameter_count(task["width"]))
        self.images, self.labels, self.test_images, self.test_labels = self._patterns()

    def groups(self) -> list[list[int]]:
        samples, together = list(range(self.parameters.samples)), self.parameters.networks_at_once
        return [samples[first : first + together] for first in range(0, len(samples), together)]

    def train(self, samples: list[int]) -> Group:
        """The optimizer on the cross-entropy. Initial networks and orders of the images are the same for both."""
        import torch

        from localentropy.networks.cnn.network import random_cnn
        from localentropy.networks.cnn.training import train

        p, optimizer, width = self.parameters, self.task["optimizer"], self.task["width"]
        named = f"sample {', '.join(map(str, samples))}"
        start = random_cnn(width, self.streams("weights", samples, width=width), p.initialization).to(p.device)
        trained = train(
            start,
            self.images,
            self.labels,
            optimizer=optimizer,
            learning_rate=p.sgd_learning_rate if optimizer == "sgd" else p.adam_learning_rate,
            momentum=p.sgd_momentum,
            batch=p.batch,
            epochs=p.epochs,
            generators=self.streams("orders", samples, width=width),
            precision=p.precision,
            checkpoint=self.checkpoint(f"sample{samples[0]}"),
            report=lambda line: self.report(f"{named}, {line}"),
        )
        folded = self._folded(trained.cnn)
        train_error = self.errors(folded)
        # The error is a fraction in floating point: half an image of slack changes no decision.
        solved = train_error * len(self.labels) < p.solution_errors + 0.5
        numbers = {
            "train_error": train_error,
            "test_error": folded.errors(self.test_images, self.test_labels),
            "solved": solved,
            "loss": trained.loss[-1],
        }
        self.rows.add(numbers, sample=samples)
        for epoch, overlaps in enumerate(trained.start_overlaps.cpu()):
            self.rows.layers("overlap_start", overlaps, sample=samples, epoch=epoch)
        before, after = (torch.cat(cnn.layer_weights(), 1).double() for cnn in (start, trained.cnn))
        self.rows.add({"overlap_start": torch.cosine_similarity(before, after)}, sample=samples, epoch=p.epochs)
        untrained, normalised = self.normalised(samples, self._folded(start), folded)
        self.report(f"{named}, train error {train_error.mean():.5f}, {int(solved.sum())} of {len(samples)} solved")
        return Group(normalised, untrained, [sample for sample, found in zip(samples, solved, strict=True) if found])

    def errors(self, networks: Folded) -> Tensor:
        return networks.errors(self.images, self.labels)

    def outputs(self, networks: Folded, part: Tensor) -> Tensor:
        return networks.scores(self.images[part])

    def cross_entropy(self, outputs: Tensor, part: Tensor) -> Tensor:
        from torch.nn import functional

        return functional.cross_entropy(outputs[0], self.labels[part])

    def _folded(self, cnn: CNN) -> Folded:
        """The networks without batch norm, whose statistics are those over the training set."""
        from localentropy.networks.cnn.folding import fold
        from localentropy.networks.cnn.network import statistics

        return fold(cnn, statistics(cnn, self.images))

    def _patterns(self) -> list[Tensor]:
        """Training images and labels, test images and labels, on the device.

        Each colour is centred and scaled to unit variance over the training images. The embedded part of the dataset
        and the whole dataset give the same images.
        """
        import torch

        from localentropy.data import prepared
        from localentropy.data.selection import class_balanced

        counts = {"train": self.parameters.training_patterns, "test": self.parameters.test_patterns}
        dataset = prepared.load(self.context.data["cifar10"])
        dataset.require(**counts)
        found: list[Tensor] = []
        for (name, count), split in zip(counts.items(), (dataset.train, dataset.test), strict=True):
            chosen = class_balanced(split.labels, count // 10, f"embedded/cifar10/{name}", split.source_indices)
            part = split.take(chosen)
            images = torch.from_numpy(part.inputs).to(self.device, torch.float32)
            if name == "train":
                mean, deviation = images.mean((0, 2, 3), keepdim=True), images.std((0, 2, 3), keepdim=True)
            standard = ((images - mean) / deviation).contiguous(memory_format=torch.channels_last)
            found += [standard, torch.from_numpy(part.labels).to(self.device, torch.int64)]
        return found
