"""Solutions of committee machines by several algorithms (shaping, figures 4 to 6): the weights, for other programs.

Table: one row for each run.

| column | |
|---|---|
| algorithm | its name in the configuration |
| sample | number of the training set |
| units, P, N, alpha | K, patterns, weights of all units; alpha = P/N of these sizes |
| solved | 1 if the weights make no error on the training set, else 0 |
| train_error, test_error | of the weights; random patterns and shuffled images have no test error |
| iterations | epochs to stop; updates of all messages of focusing BP |
| weights | float32 [K × inputs of a unit], norm 1 for each unit; errors are those of these numbers |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from localentropy import quantities, seeds
from localentropy.programs.parts.committee_problems import Images, RandomPatterns
from localentropy.programs.parts.committee_solvers import AnySolver, Focusing
from localentropy.programs.parts.parameters import Context, ExperimentParameters, Task, given

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the runs. The data decide what else there is."""

    CHOICE = "data"
    data: Literal["random", "dress_coat", "dress_coat_shuffled"] = Field(description="the training set")
    algorithms: dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], AnySolver] = Field(
        min_length=1, description="name in the table → solver and options"
    )
    samples: int = given(quantities.RUNS, "training sets", size=True)

    def modules(self) -> list[str]:
        """The solvers of the configuration. A table does not depend on the others."""
        return sorted({algorithm.function for algorithm in self.algorithms.values()})


class Storage(Parameters, RandomPatterns):
    """Runs on random patterns."""

    data: Literal["random"] = Field(description="the training set")

    @model_validator(mode="after")
    def _weights_can_move(self) -> Storage:
        moved = [name for name, at in self.algorithms.items() if not isinstance(at, Focusing)]
        if moved and self.N // self.units < 2:
            raise ValueError(
                f"N = {self.N} leaves a unit one weight, which has norm 1 and cannot move by {moved[0]}; "
                f"allowed: at least {2 * self.units}"
            )
        return self


class Dresses(Parameters, Images):
    """Runs on images, with their pixels in place or shuffled."""

    DATASETS = ("dress_coat",)
    data: Literal["dress_coat", "dress_coat_shuffled"] = Field(description="the training set")


Program = Storage | Dresses
Parameters.MODELS = {"random": Storage, "dress_coat": Dresses, "dress_coat_shuffled": Dresses}


def tasks(parameters: Program) -> list[Task]:
    """One run each."""
    return [
        {"algorithm": algorithm, "P": P, "sample": sample}
        for algorithm in parameters.algorithms
        for P in parameters.patterns()
        for sample in range(parameters.samples)
    ]


def memory(parameters: Program, task: Task) -> int:
    """Bytes of the patterns, where they are random: images are few."""
    return task["P"] * getattr(parameters, "N", 0)


def compute(parameters: Program, task: Task, context: Context) -> pd.DataFrame:
    """The row of one run, in the columns above."""
    import math

    import numpy as np
    import pandas as pd

    algorithm, P, sample = task["algorithm"], task["P"], task["sample"]
    instance = parameters.instance(P, sample, context.seed, context.data)
    seed = seeds.child(context.seed, f"algorithm/{algorithm}", sample=sample)
    solution = parameters.algorithms[algorithm].solve(instance, seed)
    weights = solution.weights.astype(np.float32)
    train_error = instance.train_error(weights)
    context.report(
        f"{algorithm}, P = {P}, sample {sample}: train error {train_error:g}, {solution.iterations} iterations"
    )
    return pd.DataFrame(
        {
            "algorithm": algorithm,
            "sample": sample,
            "units": instance.units,
            "P": instance.P,
            "N": instance.weights_count,
            "alpha": instance.P / instance.weights_count,
            "solved": float(train_error == 0.0),
            "train_error": train_error,
            "test_error": instance.test_error(weights) if parameters.data == "dress_coat" else math.nan,
            "iterations": solution.iterations,
            "weights": [weights.ravel()],
        }
    )
