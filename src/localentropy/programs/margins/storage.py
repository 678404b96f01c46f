"""Which random patterns a solver of the binary perceptron can store (margins, on the bound of algorithms).

Table: one row for each run.

| column | |
|---|---|
| N, P, alpha | sizes; alpha = P/N of these sizes |
| sample | number of the instance |
| solved | 1 if the final weights have the margin asked for on every pattern, else 0 |
| train_error | fraction of patterns without it |
| iterations | in the solver's unit |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from localentropy import quantities, seeds
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    Increasing,
    LoadOfRuns,
    Margin,
    OddSize,
    Section,
    Task,
    given,
    number_of_samples,
    require_no_repetition,
)
from localentropy.programs.parts.perceptron_sizes import require_margin
from localentropy.programs.parts.perceptron_solvers import SolverParameters, with_options

if TYPE_CHECKING:
    import pandas as pd


class Grid(Section):
    """Instances of one number of weights."""

    N: OddSize = Field(description="weights (C)")
    alphas: Increasing[LoadOfRuns] = Field(description="patterns per weight, α = P/N (C)")
    samples: int = given(quantities.RUNS, "instances at each α")

    def patterns(self, alpha: float) -> int:
        """P, at least 1."""
        return number_of_samples(alpha, self.N)


class Parameters(SolverParameters):
    """Parameters of the runs. No instance is in them twice."""

    margin: Margin = Field(description="margin κ asked of the solver")
    grids: tuple[Grid, ...] = Field(min_length=1, description="sizes and samples", json_schema_extra=SIZE)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        require_no_repetition(
            (f"grids[{k}] N = {grid.N}, α = {alpha}", (grid.N, grid.patterns(alpha)), f"P = {grid.patterns(alpha)}")
            for k, grid in enumerate(self.grids)
            for alpha in grid.alphas
        )
        for grid in self.grids:
            require_margin("margin", self.margin, grid.N)
        return self


Parameters.MODELS = with_options(Parameters)


def tasks(parameters: Parameters) -> list[Task]:
    """One run each."""
    return [
        {"N": grid.N, "P": grid.patterns(alpha), "sample": sample}
        for grid in parameters.grids
        for alpha in grid.alphas
        for sample in range(grid.samples)
    ]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the patterns, of their products with the labels, and of messages."""
    return 14 * task["N"] * task["P"]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One row, in the columns above."""
    import pandas as pd

    from localentropy.instances.perceptron import random_patterns

    p, N, P, sample = parameters, task["N"], task["P"], task["sample"]
    instance = random_patterns(N, P, seed=seeds.child(context.seed, "instance", sample=sample))
    seed = seeds.child(context.seed, f"algorithm/{p.solver}", P=P, N=N, margin=p.margin, sample=sample)
    solution = p.solve(instance, margin=p.margin, seed=seed)
    outcome = "solved" if solution.solved else "not solved"
    context.report(f"N = {N}, α = {P / N:.4f}, sample {sample}: {outcome}, {solution.iterations} iterations")
    row = {"N": N, "P": P, "alpha": P / N, "sample": sample, "solved": float(solution.solved)}
    error = instance.train_error(solution.weights, p.margin)
    return pd.DataFrame([row | {"train_error": error, "iterations": solution.iterations}])
