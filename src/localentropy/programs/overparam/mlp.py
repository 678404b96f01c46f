"""MLPs on the parity of MNIST digits, from two kinds of initialization (overparam, figure 6).

A task trains all samples of one width and one initialization on one class-balanced part of the training set. The
networks are then normalised, every pair of them is aligned, and each is perturbed with multiplicative noise, also those
whose training ended with errors.

Table: one row for each number, in column `value`. The other columns say which number it is:

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
| zero_error_epoch | updates after which there was no train error for the first time; missing if this never happened |
| stop_epoch | updates made |
| random_label_error | of adversarial starts: error on the random labels at the end of their phase |
| dead_units | hidden units of a layer with no incoming weight after training |
| silent_units | hidden units of a layer that no training pattern activates after training |
| activation_change | of a hidden layer: `Ensemble.activation_change` from the network before any training |
| overlap, overlap_untrained | cosine of a pair, normalised and aligned: after training, and before any training |
| overlap_start | cosine of a network after training and before any training, normalised, not aligned |
| random_label_overlap_start | of adversarial starts: the same after their phase instead |
| noise_distance, noise_distance_raw | distance to the perturbed network, per unit and not; mean over draws |
| noise_train_error | train error of the perturbed network; mean over draws |
| hessian_trace, hessian_largest | see `ReluRun.hessian`; the trace also of each layer |
| random_label_noise_… | the same three after the phase on random labels, with errors on these labels |

Before any training the networks of both initializations are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from localentropy import quantities
from localentropy.programs.parts.network_runs import Group, NoiseParameters, ReluRun, columns
from localentropy.programs.parts.parameters import SIZE, Context, Distinct, Increasing, Size, Task, given

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

    from localentropy.networks.mlp.network import Ensemble


Initialization = Literal["random_orthogonal", "adversarial"]
Preparation = Literal["scaled", "whitened"]

INPUTS = 10  # principal components in `mnist_parity`

COLUMNS = columns("initialization")


def _even(value: int) -> int:
    if value % 2:
        raise ValueError(f"must be even (half of each class); nearest: {value + 1}")
    return value


class Parameters(NoiseParameters):
    """Parameters of the MLP experiment. (T): stated in the paper's text; (C): chosen here."""

    DATASETS = ("mnist_parity",)

    widths: Increasing[Size] = Field(description="units in each hidden layer (C)", json_schema_extra=SIZE)
    wide: int = given(quantities.WIDTH, "the width from which on there are `wide_samples` (C)", size=True)
    wide_samples: int = given(quantities.RUNS.within(low=3), "networks of each larger width (C)", size=True)
    initializations: Distinct[tuple[Initialization, ...]] = Field(
        description="starting points: random orthogonal; adversarial, first trained on random labels (T)"
    )
    hidden_layers: int = given(quantities.LAYERS, "hidden layers (C)")
    gain: float = given(quantities.GAIN, "factor of the orthogonal weights of hidden layers (C)")
    preparation: Preparation = Field(
        description="of the principal components: one common scale, or whitened, each pattern with mean square 1 (C)"
    )
    training_patterns: Annotated[int, AfterValidator(_even)] = given(
        quantities.SIZE.within(low=2, high=58_000),
        "training patterns, half of each parity: a reduced MNIST (T), how many (C)",
        size=True,
    )
    margin: float = given(quantities.MARGIN_OF_NETWORKS, "margin of the square-hinge loss, in units of the output (C)")
    learning_rate: float = given(quantities.RATE_OF_NETWORKS, "step size of full-batch Adam up to `narrow` (C)")
    narrow: int = given(quantities.WIDTH, "the width beyond which Adam's step size falls as its power −3/2 (C)")
    epochs: int = given(quantities.EPOCHS, "most updates by full-batch Adam: fixed (T), how many (C)", size=True)
    smallest_loss: float = given(
        quantities.SMALLEST_LOSS, "loss over margin² at which a network without errors stops training (C)"
    )
    random_label_epochs: int = given(
        quantities.EPOCHS, "most epochs of SGD on random labels: fixed (T), how many (C)", size=True
    )
    random_label_learning_rate: float = given(quantities.RATE_OF_NETWORKS, "step size of SGD on random labels (C)")
    random_label_batch: int = given(quantities.BATCH, "patterns in a mini-batch of SGD on random labels (C)")

    def samples_of(self, width: int) -> int:
        """Number of networks of one width."""
        return self.samples if width < self.wide else self.wide_samples

    def rate_of(self, width: int) -> float:
        """Step size of Adam for one width. Its first steps change all weights alike, and wide networks have more."""
        return self.learning_rate * min(1.0, self.narrow / width) ** 1.5


def tasks(parameters: Parameters) -> list[Task]:
    """One task for each initialization and width."""
    return [
        {"initialization": initialization, "width": width}
        for initialization in parameters.initializations
        for width in parameters.widths
    ]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the weights between the hidden layers of all networks."""
    return 4 * parameters.samples_of(task["width"]) * (parameters.hidden_layers - 1) * task["width"] ** 2


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one width and initialization, in the columns above; see `NetworkRun.table`."""
    return _Run(parameters, task, context).table()


class _Run(ReluRun[Parameters]):
    """The networks of one width and initialization."""

    stream, columns, dead = "overparam/mlp", COLUMNS, "dead_units"

    def __init__(self, parameters: Parameters, task: Task, context: Context) -> None:
        from localentropy.networks.mlp.network import Shape

        self.shape = Shape(INPUTS, task["width"], parameters.hidden_layers)
        super().__init__(parameters, task, context, size=self.shape.parameters)
        self.inputs, self.labels, self.test_inputs, self.test_labels = self._patterns()

    def groups(self) -> list[list[int]]:
        """All networks side by side."""
        return [list(range(self.parameters.samples_of(self.task["width"])))]

    def train(self, samples: list[int]) -> Group:
        """Full-batch Adam on the true labels. All networks are perturbed, also those with errors."""
        from localentropy.networks.align import layer_overlaps, overlap
        from localentropy.networks.mlp.network import random_orthogonal
        from localentropy.networks.mlp.training import train_adam

        streams = self.streams("weights", samples, width=self.task["width"])
        initial = random_orthogonal(self.shape, streams, self.parameters.gain).to(self.device)
        trained = train_adam(
            initial if self.task["initialization"] == "random_orthogonal" else self._misled(initial, samples),
            self.inputs,
            self.labels,
            margin=self.parameters.margin,
            learning_rate=self.parameters.rate_of(self.task["width"]),
            epochs=self.parameters.epochs,
            smallest_loss=self.parameters.smallest_loss,
            checkpoint=self.checkpoint("adam"),
            report=self.report,
        )
        train_error = self.errors(trained.ensemble)
        test_error = trained.ensemble.errors(self.test_inputs, self.test_labels)
        first = trained.zero_error_epoch.double()
        numbers = {
            "train_error": train_error,
            "test_error": test_error,
            "loss": trained.loss,
            "zero_error_epoch": first.masked_fill(first < 0, float("nan")),
            "stop_epoch": trained.stop_epoch,
        }
        self.rows.add(numbers, sample=samples)
        self.rows.layers("silent_units", trained.ensemble.silent_units(self.inputs), sample=samples)
        self.rows.layers("activation_change", trained.ensemble.activation_change(initial, self.inputs), sample=samples)
        untrained, solutions = self.normalised(samples, initial, trained.ensemble)
        self.rows.add({"overlap_start": overlap(untrained, solutions)}, sample=samples)
        self.rows.layers("overlap_start", layer_overlaps(untrained, solutions), sample=samples)
        self.report(
            f"train error {train_error.mean():.4f}, test error {test_error.mean():.4f}, "
            f"{int((train_error == 0).sum())} of {len(samples)} solved"
        )
        return Group(solutions, untrained, samples)

    def errors(self, networks: Ensemble) -> Tensor:
        return networks.errors(self.inputs, self.labels)

    def outputs(self, networks: Ensemble, part: Tensor) -> Tensor:
        return networks(self.inputs[part])

    def cross_entropy(self, outputs: Tensor, part: Tensor) -> Tensor:
        from torch.nn import functional

        return functional.softplus(-outputs[0] * self.labels[part]).mean()

    def _patterns(self) -> list[Tensor]:
        """Training inputs and labels, test inputs and labels, on the device."""
        import torch

        from localentropy.data import prepared
        from localentropy.data.mnist_parity import whitened
        from localentropy.data.selection import class_balanced

        count = self.parameters.training_patterns
        dataset = prepared.load(self.context.data["mnist_parity"])
        dataset.require(train=count, test=1)
        chosen = class_balanced(dataset.train.labels, count // 2, f"overparam/mlp/train/{self.context.seed}")
        train, test = dataset.train.take(chosen), dataset.test
        inputs = [train.inputs, test.inputs]
        if self.parameters.preparation == "whitened":
            inputs = [whitened(part, train.inputs) for part in inputs]
        return [
            torch.from_numpy(array).to(self.device, torch.float32)
            for array in (inputs[0], train.labels, inputs[1], test.labels)
        ]

    def _misled(self, start: Ensemble, samples: list[int]) -> Ensemble:
        """The networks after training on random labels. Their local energy on these labels is that of sharp minima."""
        import numpy as np
        import torch

        from localentropy.networks.align import overlap
        from localentropy.networks.mlp.training import train_sgd
        from localentropy.networks.normalise import normalise

        coins = [stream.choice([-1.0, 1.0], len(self.inputs)) for stream in self.streams("coins", samples)]
        labels = torch.from_numpy(np.stack(coins)).to(self.inputs)
        networks = train_sgd(
            start,
            self.inputs,
            labels,
            margin=self.parameters.margin,
            learning_rate=self.parameters.random_label_learning_rate,
            batch=self.parameters.random_label_batch,
            epochs=self.parameters.random_label_epochs,
            generators=self.streams("orders", samples, width=self.task["width"]),
            checkpoint=self.checkpoint("random_labels"),
        )
        errors = networks.errors(self.inputs, labels)
        misled = normalise(networks)[0]
        own = overlap(normalise(start)[0], misled)
        self.rows.add({"random_label_error": errors, "random_label_overlap_start": own}, sample=samples)
        self.report(f"random-label error {errors.mean():.3f}")
        self.local_energy(
            "random_label_noise",
            misled,
            samples,
            lambda perturbed: perturbed.errors(self.inputs, labels),
        )
        return networks
