"""The common part of the programs that train networks: parameters, random streams, checkpoints, measurements.

A program derives from `NetworkRun`, or from `ReluRun` if its networks have ReLU units. It defines the initial networks,
their training and their error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import AfterValidator, Field

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    Increasing,
    Noise,
    Task,
    bounds,
    given,
)
from localentropy.programs.parts.rows import Rows
from localentropy.seeds import child, generator

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import torch
    from torch import Tensor

    from localentropy.networks.checkpoint import Checkpoint
    from localentropy.networks.layers import Layers


def _balanced(value: int) -> int:
    if value % 10:
        raise ValueError(f"must be a multiple of 10 (as many of each class); nearest: {round(value / 10) * 10 or 10}")
    return value


ClassBalanced = Annotated[int, bounds(quantities.SIZE.within(low=10)), AfterValidator(_balanced)]
"""A number of images, as many of each of ten classes."""


def columns(kind: str, *more: str) -> dict[str, str]:
    """Columns of a table of networks and their types.

    Args:
        kind: the column that tells apart the ways of training.
        more: further columns of integers, which may be missing.
    """
    whole = dict.fromkeys(("width", "parameters", "sample"), "int64")
    missing = dict.fromkeys(("other", "layer", *more), "Int64")
    return {"quantity": "str", kind: "str", **whole, **missing, "sigma": "float64", "value": "float64"}


class NetworkParameters(ExperimentParameters):
    """Parameters of every program that trains networks. (T): stated in the paper's text; (C): a choice."""

    samples: int = given(quantities.RUNS.within(low=3), "networks at each point of the grid (C)", size=True)
    device: Literal["cpu", "cuda"] = Field(description="where the networks are trained", json_schema_extra=SIZE)


class NoiseParameters(NetworkParameters):
    """Parameters of the programs whose networks have real weights."""

    noise_levels: Increasing[Noise] = Field(
        description="standard deviations of the relative noise on the weights of solutions (C)"
    )
    noise_draws: int = given(quantities.DRAWS, "perturbations of each solution at each noise level (C)", size=True)
    hessian_patterns: ClassBalanced = given(
        quantities.SIZE.within(low=10),
        "most training patterns of the Hessian's loss, as many of each class (C)",
        size=True,
    )
    hessian_draws: int = given(quantities.DRAWS, "random vectors for the trace of the Hessian (C)", size=True)


HESSIAN_TOLERANCE = 1e-3
"""Relative error of the largest eigenvalue. It differs more between networks."""

Parameters = TypeVar("Parameters", bound=NetworkParameters)
Noisy = TypeVar("Noisy", bound=NoiseParameters)


@dataclass(frozen=True)
class Group:
    """Networks that were trained side by side, in the form in which they are compared.

    Attributes:
        trained: the networks after training.
        untrained: the same networks before training.
        perturbed: the samples whose local energy is measured.
    """

    trained: Layers
    untrained: Layers
    perturbed: Sequence[int]


class NetworkRun(ABC, Generic[Parameters]):
    """All networks of one task: they have one shape and are trained in one way.

    Attributes:
        stream: first part of the names of the random streams.
        columns: columns of the table and their types.
    """

    stream: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]

    def __init__(self, parameters: Parameters, task: Task, context: Context, *, size: int) -> None:
        import torch

        from localentropy.device import torch_device

        torch.set_num_threads(parameters.threads)
        # On a GPU: float32 is not rounded to TF32, and a run that goes on from a checkpoint ends with the same bits.
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.deterministic = True
        self.parameters, self.task, self.context = parameters, task, context
        self.device: torch.device = torch_device(parameters.device)
        self.rows = Rows(self.columns, **task, parameters=size)
        self._checkpoints: list[Checkpoint] = []

    @abstractmethod
    def train(self, samples: list[int]) -> Group:
        """Train the networks of these samples, and add the rows of each network."""

    @abstractmethod
    def errors(self, networks: Any) -> Tensor:
        """Train error of networks in the form in which they are compared, float64 [networks]."""

    @abstractmethod
    def aligned(self, reference: Layers, other: Layers) -> Layers:
        """The networks `other`, their symmetries used to match the networks of `reference` with the same index."""

    @abstractmethod
    def perturb(self, solutions: Any, samples: list[int]) -> None:
        """Add the rows of the local energy of these samples. All ways of training meet the same noise."""

    def groups(self) -> list[list[int]]:
        """Samples that are trained side by side: all of them, unless a program says otherwise."""
        return [list(range(self.parameters.samples))]

    def streams(self, name: str, samples: Iterable[int], **values: int) -> list[np.random.Generator]:
        """One random generator for each sample."""
        return [generator(self.context.seed, f"{self.stream}/{name}", sample=sample, **values) for sample in samples]

    def checkpoint(self, part: str) -> Checkpoint | None:
        """Side file for the state of one part of the training."""
        from localentropy.networks.checkpoint import Checkpoint

        path, context = self.context.checkpoint, self.context
        if path is None:
            return None
        key = f"{context.identity} {self.parameters.model_dump_json()} {self.task} {context.seed}"
        self._checkpoints.append(Checkpoint(path.with_name(f"{path.name}.{part}"), key, report=context.report))
        return self._checkpoints[-1]

    def report(self, line: str) -> None:
        """Log a line of progress that names the task."""
        self.context.report(f"{', '.join(f'{name} {value}' for name, value in self.task.items())}: {line}")

    def table(self) -> pd.DataFrame:
        """Train all networks, compare every pair of them and measure local energies.

        The state of the training is saved every five minutes beside `context.checkpoint`, if there is one. An
        interrupted run continues from there.

        Raises:
            DataError: the dataset is damaged or too small.
            DomainError: there is no GPU for device `cuda`.
            ConvergenceError: training diverged.
        """
        from localentropy.networks.layers import joined

        groups = [self.train(samples) for samples in self.groups()]
        trained = joined([group.trained for group in groups])
        self._compare("overlap", trained)
        self._compare("overlap_untrained", joined([group.untrained for group in groups]))
        perturbed = [sample for group in groups for sample in group.perturbed]
        if perturbed:
            self.perturb(trained.select(perturbed), perturbed)
        for checkpoint in self._checkpoints:
            checkpoint.remove()
        return self.rows.frame()

    def _compare(self, quantity: str, networks: Layers) -> None:
        """Overlaps of all pairs of networks after alignment, of the whole and of each layer."""
        from localentropy.networks.align import layer_overlaps, overlap

        first, second = (list(sample) for sample in zip(*combinations(range(networks.networks), 2), strict=True))
        reference = networks.select(first)
        aligned = self.aligned(reference, networks.select(second))
        self.rows.add({quantity: overlap(reference, aligned)}, sample=first, other=second)
        self.rows.layers(quantity, layer_overlaps(reference, aligned), sample=first, other=second)


class ReluRun(NetworkRun[Noisy]):
    """Networks of ReLU units: they are normalised, and noise and Hessian are by relative changes of the weights.

    Attributes:
        dead: name of the quantity that counts units without weights.
        labels: of the training patterns, [patterns].
    """

    dead: ClassVar[str]
    labels: Tensor

    @abstractmethod
    def outputs(self, networks: Any, part: Tensor) -> Tensor:
        """Outputs of networks at a part of the training patterns, [networks, patterns], or with classes as well."""

    @abstractmethod
    def cross_entropy(self, outputs: Tensor, part: Tensor) -> Tensor:
        """Mean cross-entropy (nats) of the outputs of one network at a part of the training patterns, a number."""

    def normalised(self, samples: Sequence[int], start: Layers, trained: Layers) -> tuple[Layers, Layers]:
        """Networks before and after training, normalised; adds the number of dead units after training."""
        from localentropy.networks.normalise import normalise

        solutions, dead = normalise(trained)
        self.rows.layers(self.dead, dead, sample=samples)
        return normalise(start)[0], solutions

    def aligned(self, reference: Layers, other: Layers) -> Layers:
        """Matched by permutations."""
        from localentropy.networks.align import align

        return align(reference, other)[0]

    def perturb(self, solutions: Any, samples: list[int]) -> None:
        """Train errors under multiplicative noise, and the Hessian that belongs to this noise."""
        self.local_energy("noise", solutions, samples, self.errors)
        self.hessian(solutions, samples)

    def hessian(self, solutions: Any, samples: list[int]) -> None:
        """Add the trace, also of each layer, and the largest eigenvalue of the Hessian by relative changes.

        Its loss is the cross-entropy of the outputs over their root mean square. So neither the norms of the units nor
        that of the outputs, which goes on growing in training, decide how flat it is. Networks without outputs have no
        such rows.
        """
        import torch

        from localentropy.landscape.spectra import Hessian, largest_eigenvalues, trace
        from localentropy.networks.relative_changes import RelativeChanges

        part = _first_of_each_class(self.labels, self.parameters.hessian_patterns)
        for place, sample in enumerate(samples):
            self.report(f"Hessian of network {place + 1} of {len(samples)}")
            model = RelativeChanges(solutions.select([place]))
            size = self.outputs(model.network, part).square().mean().sqrt()
            if not size > 0:
                continue

            def loss(model: torch.nn.Module, size: Tensor = size) -> Tensor:
                return self.cross_entropy(self.outputs(model(), part) / size, part)

            hessian = Hessian(loss, model)
            seed = child(self.context.seed, f"{self.stream}/hessian", width=self.task["width"], sample=sample)
            found = trace(hessian, draws=self.parameters.hessian_draws, seed=seed)
            largest = largest_eigenvalues(hessian, tolerance=HESSIAN_TOLERANCE)
            self.rows.add({"hessian_trace": [found.mean], "hessian_largest": largest}, sample=sample)
            layers = torch.tensor([[block.mean for block in found.parts.values()]])
            self.rows.layers("hessian_trace", layers, sample=sample)

    def local_energy(self, name: str, solutions: Any, samples: list[int], errors: Callable[[Any], Tensor]) -> None:
        """Add the rows of errors under multiplicative noise; `name` begins their quantities."""
        from localentropy.landscape.local_energy import local_energy
        from localentropy.networks.normalise import normalise

        def evaluate(weights: Tensor) -> tuple[Tensor, Tensor]:
            perturbed, _ = normalise(solutions.with_weights(weights))
            return perturbed.flat_weights(), errors(perturbed)

        sigmas = self.parameters.noise_levels
        energy = local_energy(
            solutions.flat_weights(),
            evaluate,
            units=solutions.units,
            sigmas=sigmas,
            draws=self.parameters.noise_draws,
            generators=self.streams("noise", samples, width=self.task["width"]),
        )
        draws = {
            f"{name}_distance": energy.distance_per_unit,
            f"{name}_distance_raw": energy.distance,
            f"{name}_train_error": energy.train_error,
        }
        self.rows.noise(sigmas, draws, sample=samples)


def _first_of_each_class(labels: Tensor, count: int) -> Tensor:
    """Positions of `count` patterns, as many of each class; all if there are no more."""
    import torch

    classes = labels.unique()
    return torch.cat([(labels == one).nonzero()[: count // len(classes), 0] for one in classes])
