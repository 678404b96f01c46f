"""Grids of sizes of phase retrieval, as parameters. No training set is counted twice."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    SIZE,
    ExperimentParameters,
    Increasing,
    LoadOfRuns,
    Section,
    Task,
    given,
    number_of_samples,
    require_no_repetition,
)


class Grid(Section):
    """Training sets of one number of inputs."""

    d: int = given(quantities.SIZE.within(low=2), "inputs (C)")
    alphas: Increasing[LoadOfRuns] = Field(description="training inputs per weight of the teacher, α = n/d (C)")
    samples: int = given(quantities.RUNS, "training sets at each α")

    def n(self, alpha: float) -> int:
        """Number of training inputs at a load."""
        return number_of_samples(alpha, self.d)

    @property
    def words(self) -> str:
        """All that tells two grids apart but their loads."""
        return f"d = {self.d}"


class GridParameters(ExperimentParameters):
    """Parameters of a program on training sets of several sizes. None is in them twice."""

    grids: tuple[Grid, ...] = Field(min_length=1, description="sizes and samples", json_schema_extra=SIZE)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        cells = [(k, grid, alpha, grid.n(alpha)) for k, grid in enumerate(self.grids) for alpha in grid.alphas]
        require_no_repetition(
            (f"grids[{k}] {grid.words}, α = {alpha}", (grid.words, n), f"runs, n = {n}") for k, grid, alpha, n in cells
        )
        return self


def sizes_and_loads(parameters: GridParameters) -> list[Task]:
    """All training sets of one size and load each."""
    return [{"grid": number, "alpha": alpha} for number, grid in enumerate(parameters.grids) for alpha in grid.alphas]
