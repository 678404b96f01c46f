"""Whether the teacher is the only zero of the loss, for as many quadratic units as inputs (glm, theorem 3.1).

Table: one row for each training set.

| column | |
|---|---|
| d, n, alpha | sizes; alpha = n/d of these sizes |
| sample | number of the training set |
| unique | 1 if the teacher is the only zero of the loss, else 0; each has a certificate |
| bound | on the largest smallest eigenvalue of the certificate's matrix, whose mean is 1; positive if unique |
| steps | Newton steps |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from localentropy import quantities, seeds
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    Increasing,
    LoadOfRuns,
    Section,
    Task,
    given,
    number_of_samples,
    require_no_repetition,
)

if TYPE_CHECKING:
    import pandas as pd


class Grid(Section):
    """Training sets of one number of inputs."""

    d: int = given(quantities.SIZE.within(low=2), "inputs (C)")
    alphas: Increasing[LoadOfRuns] = Field(description="training inputs per weight of the teacher, α = n/d (C)")
    samples: int = given(quantities.RUNS, "training sets at each α")


class Parameters(ExperimentParameters):
    """Parameters of the training sets. None is in them twice."""

    grids: tuple[Grid, ...] = Field(min_length=1, description="sizes and samples", json_schema_extra=SIZE)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        cells = [
            (k, grid, alpha, number_of_samples(alpha, grid.d))
            for k, grid in enumerate(self.grids)
            for alpha in grid.alphas
        ]
        require_no_repetition(
            (f"grids[{k}] d = {at.d}, α = {alpha}", (at.d, n), f"sets, n = {n}") for k, at, alpha, n in cells
        )
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """All training sets of one size and load each."""
    return [{"grid": number, "alpha": alpha} for number, grid in enumerate(parameters.grids) for alpha in grid.alphas]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the matrices of one training set."""
    from localentropy.landscape.unique_minimum import bytes_of

    d = parameters.grids[task["grid"]].d
    return bytes_of(number_of_samples(task["alpha"], d), d)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """A row for each training set, in the columns above."""
    import pandas as pd

    from localentropy.instances.generalized_linear import generalized_linear
    from localentropy.landscape.unique_minimum import unique_minimum

    grid = parameters.grids[task["grid"]]
    d, n = grid.d, number_of_samples(task["alpha"], grid.d)
    rows = []
    for sample in range(grid.samples):
        root = seeds.child(context.seed, "instance", sample=sample)
        found = unique_minimum(generalized_linear(n, d, root, channel="absolute"))
        row = {"d": d, "n": n, "alpha": n / d, "sample": sample, "unique": float(found.unique)}
        rows.append(row | {"bound": found.margin, "steps": found.steps})
    table = pd.DataFrame(rows)
    context.report(f"d = {d}, α = {n / d:g}: unique in {table['unique'].sum():.0f} of {grid.samples}")
    return table
