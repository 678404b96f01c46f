"""How many weights near solutions of the parity machine are solutions, too: direct Monte Carlo (shaping, figure s1).

The solutions are made by hand, from random internal representations. Table: one row for each solution and overlap.

| column | |
|---|---|
| N, alpha | weights of all units; load P/N of these sizes |
| sample | number of the training set and its solution |
| overlap | q₁ of two of the random weights; each has the overlap √q₁ with the solution, unit by unit |
| fraction | part of the random weights that are solutions |
| entropy | ln(fraction)/N, nats per weight; missing where none is a solution |
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
    Overlap,
    Section,
    Task,
    given,
    number_of_samples,
    require_no_repetition,
)

if TYPE_CHECKING:
    import pandas as pd

UNITS = 3
"""Units of the machine: the number whose theory is computed."""


class Grid(Section):
    """Overlaps at one size. Small machines have measurable fractions farther away."""

    inputs: int = given(quantities.SIZE.within(low=2, high=10_000), "weights of each of the three units, N/3 (C)")
    overlaps: Increasing[Overlap] = Field(description="overlaps q₁ of two random weights (C)")
    samples: int = given(quantities.RUNS, "training sets, each with one solution")


class Parameters(ExperimentParameters):
    """Parameters of the solutions and of the draws around them."""

    alpha: float = given(
        quantities.ALPHA.within(high=0.6), "patterns per weight; beyond 2/3 units have no such solutions (C)"
    )
    draws: int = given(quantities.PATTERNS.called("draws"), "random weights at each overlap", size=True)
    grids: tuple[Grid, ...] = Field(min_length=1, description="sizes and samples", json_schema_extra=SIZE)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        require_no_repetition(
            (f"grids[{k}]", grid.inputs, f"size, inputs = {grid.inputs}") for k, grid in enumerate(self.grids)
        )
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One solution each."""
    return [
        {"grid": number, "sample": sample}
        for number, grid in enumerate(parameters.grids)
        for sample in range(grid.samples)
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """A row for each overlap, in the columns above."""
    import math

    import pandas as pd

    from localentropy.instances.committee import random_tree_committee
    from localentropy.landscape.committee_local_entropy import committee_solution_fraction
    from localentropy.landscape.parity import parity_solution

    grid, sample = parameters.grids[task["grid"]], task["sample"]
    N = UNITS * grid.inputs
    P = number_of_samples(parameters.alpha, N)
    root = seeds.child(context.seed, "instance", sample=sample)
    instance = random_tree_committee(N=N, P=P, K=UNITS, seed=root)
    weights = parity_solution(instance, root)
    rows = []
    for overlap in grid.overlaps:
        distance = 0.5 * (1.0 - math.sqrt(overlap))
        found = committee_solution_fraction(
            instance, weights, distance=distance, draws=parameters.draws, seed=root, machine="parity"
        )
        entropy = found.entropy if found.fraction else math.nan
        row = {"N": N, "alpha": P / N, "sample": sample, "overlap": overlap}
        rows.append(row | {"fraction": found.fraction, "entropy": entropy})
    context.report(f"N = {N}, sample {sample}: {rows[0]['fraction']:.3g} of the draws solve at q₁ = {grid.overlaps[0]}")
    return pd.DataFrame(rows)
