"""MLPs on the parity of MNIST digits, from two kinds of initialization (overparam, figure 6).

A task trains all samples of one width and one initialization on one class-balanced part of the training set, then
normalises the networks, aligns every pair of them, and perturbs each with multiplicative noise: all of them, also where
training ended with errors.

Table: one row for each number, in column `value`; which number is said by

| column | |
|---|---|
| quantity | see below |
| initialization | `random_orthogonal` or `adversarial` |
| width, parameters | units of a hidden layer; weights and biases of the network |
| sample | random seed of the initial weights and of everything random in the training, from 0 |
| other | second sample of a pair, else missing |
| layer | 0 for the weights from the inputs, up to `hidden_layers` for the output's; missing for the whole network |
| sigma | level of noise, else missing |

| quantity | |
|---|---|
| train_error, test_error | fraction of patterns with label × output ≤ 0 after training |
| loss | mean square-hinge loss at the last gradient |
| zero_error_epoch | updates after which there was no train error for the first time; missing if there always was one |
| stop_epoch | updates made |
| random_label_error | of adversarial starts: error on the random labels at the end of their phase |
| dead_units | hidden units of a layer with no incoming weight after training |
| overlap, overlap_untrained | cosine of a pair, normalised and aligned: of trained networks, and of their starts |
| overlap_start | cosine of a trained network and its own starting point, normalised, not aligned |
| noise_distance, noise_distance_raw | distance to the perturbed network, per unit and not; mean over draws |
| noise_train_error | train error of the perturbed network; mean over draws |

The starting points of the adversarial initialization are the networks at the end of the phase on random labels.
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

    from localentropy.networks.mlp.network import Ensemble
    from localentropy.networks.mlp.training import Trained

DATASETS = ("mnist_parity",)

Initialization = Literal["random_orthogonal", "adversarial"]

INPUTS = 10  # principal components in `mnist_parity`

COLUMNS = {
    "quantity": "str",
    "initialization": "str",
    "width": "int64",
    "parameters": "int64",
    "sample": "int64",
    "other": "Int64",
    "layer": "Int64",
    "sigma": "float64",
    "value": "float64",
}


def _even(value: int) -> int:
    if value % 2:
        raise ValueError(f"must be even (half of each class); nearest: {value + 1}")
    return value


class Parameters(ExperimentParameters):
    """Parameters of the MLP experiment. (T): stated in the paper's text; (C): a choice, the text lost the number."""

    widths: IncreasingSizes = Field(description="units in each hidden layer (C)", json_schema_extra=SIZE)
    initializations: Distinct[tuple[Initialization, ...]] = Field(
        description="starting points: random orthogonal; adversarial, first trained on random labels (T)"
    )
    hidden_layers: int = Field(ge=1, le=20, description="hidden layers (C)")
    training_patterns: Annotated[int, AfterValidator(_even)] = Field(
        ge=2,
        le=58_000,
        description="training patterns, half of each parity: a reduced MNIST (T), how many (C)",
        json_schema_extra=SIZE,
    )
    samples: int = Field(
        ge=3, le=1000, description="networks for each width and starting point (C)", json_schema_extra=SIZE
    )
    margin: float = Field(gt=0, le=100, description="margin of the square-hinge loss, in units of the output (C)")
    learning_rate: float = Field(gt=0, le=1, description="step size of full-batch Adam (C)")
    epochs: int = Field(
        ge=1,
        le=10_000_000,
        description="most updates by full-batch Adam: fixed (T), how many (C)",
        json_schema_extra=SIZE,
    )
    random_label_epochs: int = Field(
        ge=1,
        le=1_000_000,
        description="epochs of SGD on random labels: fixed (T), how many (C)",
        json_schema_extra=SIZE,
    )
    random_label_learning_rate: float = Field(gt=0, le=1, description="step size of SGD on random labels (C)")
    random_label_batch: int = Field(ge=1, le=60_000, description="patterns in a mini-batch of SGD on random labels (C)")
    noise_levels: IncreasingValues = Field(description=NOISE_LEVELS)
    noise_draws: int = Field(
        ge=1, le=10_000, description="perturbations of each solution at each noise level (C)", json_schema_extra=SIZE
    )
    device: Literal["cpu", "cuda"] = Field(description="where the networks are trained", json_schema_extra=SIZE)


def tasks(parameters: Parameters) -> list[Task]:
    """One task for each initialization and width."""
    return [
        {"initialization": initialization, "width": width}
        for initialization in parameters.initializations
        for width in parameters.widths
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one width and initialization, in the columns described above.

    Training saves its state every five minutes beside `context.checkpoint`, where there is one, and goes on from
    there after an interruption.

    Raises:
        DataError: the dataset is damaged or too small.
        DomainError: there is no GPU for device `cuda`.
        ConvergenceError: training diverged.
    """
    import torch

    from localentropy.networks.align import layer_overlaps, overlap
    from localentropy.networks.normalise import normalise

    torch.set_num_threads(parameters.threads)
    inputs, labels, test_inputs, test_labels = _patterns(parameters, context)
    width, initialization, samples = task["width"], task["initialization"], range(parameters.samples)
    run = _Run(parameters, width, initialization, context)
    table = NetworkTable(COLUMNS, initialization=initialization, width=width, parameters=run.shape.parameters)

    start = run.start(inputs, table)
    trained = run.train(start, inputs, labels)
    train_error = trained.ensemble.errors(inputs, labels)
    test_error = trained.ensemble.errors(test_inputs, test_labels)
    first = trained.zero_error_epoch.double()
    for quantity, values in {
        "train_error": train_error,
        "test_error": test_error,
        "loss": trained.loss,
        "zero_error_epoch": first.masked_fill(first < 0, float("nan")),
        "stop_epoch": trained.stop_epoch,
    }.items():
        table.samples(quantity, samples, values)

    solutions, dead = normalise(trained.ensemble)
    untrained, _ = normalise(start)
    table.layers("dead_units", samples, dead)
    table.samples("overlap_start", samples, overlap(untrained, solutions))
    table.layers("overlap_start", samples, layer_overlaps(untrained, solutions))
    table.compare("overlap", solutions)
    table.compare("overlap_untrained", untrained)
    table.perturb(
        samples,
        solutions,
        lambda networks: networks.errors(inputs, labels),
        sigmas=parameters.noise_levels,
        draws=parameters.noise_draws,
        generators=run.streams("noise", width=width),
    )
    run.finish()
    context.report(
        f"{initialization} width {width}: train error {train_error.mean():.4f}, "
        f"test error {test_error.mean():.4f}, {int((train_error == 0).sum())} of {parameters.samples} solved"
    )
    return table.frame()


def _patterns(parameters: Parameters, context: Context) -> list[torch.Tensor]:
    """Training inputs and labels, test inputs and labels, on the device."""
    import torch

    from localentropy.data import prepared
    from localentropy.data.selection import class_balanced
    from localentropy.device import torch_device

    device = torch_device(parameters.device)
    dataset = prepared.load(context.data["mnist_parity"])
    dataset.require(train=parameters.training_patterns, test=1)
    chosen = class_balanced(
        dataset.train.labels, parameters.training_patterns // 2, f"overparam/mlp/train/{context.seed}"
    )
    train, test = dataset.train.take(chosen), dataset.test
    return [
        torch.from_numpy(array).to(device, torch.float32)
        for array in (train.inputs, train.labels, test.inputs, test.labels)
    ]


class _Run:
    """Training of one task: its random streams and checkpoints."""

    def __init__(self, parameters: Parameters, width: int, initialization: Initialization, context: Context) -> None:
        from localentropy.networks.checkpoint import Checkpoint
        from localentropy.networks.mlp.network import Shape

        self.parameters = parameters
        self.initialization = initialization
        self.shape = Shape(INPUTS, width, parameters.hidden_layers)
        self.seed = context.seed
        self.report = context.report
        path = context.checkpoint
        key = f"{context.identity} {parameters.model_dump_json()} {initialization} {width} {context.seed}"
        self.checkpoints = {
            phase: Checkpoint(path.with_name(f"{path.name}.{phase}"), key, report=context.report)
            for phase in ("random_labels", "adam")
            if path is not None
        }

    def streams(self, name: str, **values: int) -> list[np.random.Generator]:
        """One generator for each sample."""
        return [
            generator(self.seed, f"overparam/mlp/{name}", sample=sample, **values)
            for sample in range(self.parameters.samples)
        ]

    def start(self, inputs: torch.Tensor, table: NetworkTable) -> Ensemble:
        """Starting points. Both initializations use the same random orthogonal networks."""
        import numpy as np
        import torch

        from localentropy.networks.mlp.network import random_orthogonal
        from localentropy.networks.mlp.training import train_sgd

        width = self.shape.width
        networks = random_orthogonal(self.shape, self.streams("weights", width=width))
        networks = networks.to(self.parameters.device)
        if self.initialization == "random_orthogonal":
            return networks
        coins = [stream.choice([-1.0, 1.0], len(inputs)) for stream in self.streams("coins")]
        labels = torch.from_numpy(np.stack(coins)).to(inputs)
        networks = train_sgd(
            networks,
            inputs,
            labels,
            margin=self.parameters.margin,
            learning_rate=self.parameters.random_label_learning_rate,
            batch=self.parameters.random_label_batch,
            epochs=self.parameters.random_label_epochs,
            generators=self.streams("orders", width=width),
            checkpoint=self.checkpoints.get("random_labels"),
        )
        errors = networks.errors(inputs, labels)
        table.samples("random_label_error", range(self.parameters.samples), errors)
        self.report(f"{self.initialization} width {width}: random-label error {errors.mean():.3f}")
        return networks

    def train(self, start: Ensemble, inputs: torch.Tensor, labels: torch.Tensor) -> Trained:
        """Full-batch Adam on the true labels."""
        from localentropy.networks.mlp.training import train_adam

        return train_adam(
            start,
            inputs,
            labels,
            margin=self.parameters.margin,
            learning_rate=self.parameters.learning_rate,
            epochs=self.parameters.epochs,
            checkpoint=self.checkpoints.get("adam"),
            report=lambda line: self.report(f"{self.initialization} width {self.shape.width}: {line}"),
        )

    def finish(self) -> None:
        """Delete the checkpoints."""
        for checkpoint in self.checkpoints.values():
            checkpoint.remove()
