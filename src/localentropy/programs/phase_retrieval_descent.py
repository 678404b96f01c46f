"""Gradient descent on phase retrieval, one unit or as many as inputs (glm, the slides on gradient descent).

Table: one row for each training set.

| column | |
|---|---|
| student | "plain", one unit on the sphere of the teacher; "wide", d units that move freely |
| units, d, n, alpha | sizes; alpha = n/d of these sizes |
| sample | number of the training set |
| overlap | with the teacher, up to the sign; for many units that of the matrix A (docs/solvers/descent.md) |
| loss, test_error | mean squared error of the squared labels, on the training set and on new inputs |
| loss_midway | loss after half of the steps made |
| iterations | steps made |
| converged | 1 if the loss is below its tolerance, else 0 |
| success | 1 if the overlap is above that of a success, else 0 |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

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
    """Runs of one kind of student at one number of inputs."""

    student: Literal["plain", "wide"] = Field(description="one unit on a sphere, or d free units (T)")
    d: int = given(quantities.SIZE.within(low=2), "inputs (C)")
    alphas: Increasing[LoadOfRuns] = Field(description="training inputs per weight of the teacher, α = n/d (C)")
    samples: int = given(quantities.RUNS, "training sets at each α, with one run each")
    step: float = given(quantities.STEP_OF_FLOW, "η of Euler's rule, in the time of the flow (C)")
    iterations: int = given(quantities.ITERATIONS, "most steps (C)")


class Parameters(ExperimentParameters):
    """Parameters of the runs. No run is in them twice."""

    loss_tolerance: float = given(quantities.LOSS, "loss below which a run ends (C)")
    speed_tolerance: float = given(
        quantities.SPEED, "a run ends where the weights move by less, root mean square per unit of time (C)"
    )
    success_overlap: float = given(quantities.SUCCESS, "overlap above which a run is a success (C)")
    grids: tuple[Grid, ...] = Field(min_length=1, description="students, sizes and samples", json_schema_extra=SIZE)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        cells = [
            (k, grid, alpha, number_of_samples(alpha, grid.d))
            for k, grid in enumerate(self.grids)
            for alpha in grid.alphas
        ]
        require_no_repetition(
            (f"grids[{k}] {at.student}, d = {at.d}, α = {alpha}", (at.student, at.d, n), f"runs, n = {n}")
            for k, at, alpha, n in cells
        )
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """All runs of one student, size and load each: they are made at once."""
    return [{"grid": number, "alpha": alpha} for number, grid in enumerate(parameters.grids) for alpha in grid.alphas]


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the inputs of all runs."""
    grid = parameters.grids[task["grid"]]
    return 8 * grid.samples * number_of_samples(task["alpha"], grid.d) * grid.d


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """A row for each run, in the columns above."""
    import pandas as pd
    import torch

    from localentropy.instances.generalized_linear import generalized_linear
    from localentropy.solvers.descent import Descent, descend_phase_retrieval

    torch.set_num_threads(parameters.threads)
    grid = parameters.grids[task["grid"]]
    d, n = grid.d, number_of_samples(task["alpha"], grid.d)
    units = 1 if grid.student == "plain" else d
    roots = [seeds.child(context.seed, "instance", sample=sample) for sample in range(grid.samples)]
    runs = descend_phase_retrieval(
        [generalized_linear(n, d, root, channel="absolute") for root in roots],
        units=units,
        seeds=[seeds.child(context.seed, "algorithm/descent", sample=sample) for sample in range(grid.samples)],
        descent=Descent(
            step=grid.step,
            iterations=grid.iterations,
            loss_tolerance=parameters.loss_tolerance,
            speed_tolerance=parameters.speed_tolerance,
            success_overlap=parameters.success_overlap,
        ),
    )
    successes = sum(run.success for run in runs)
    context.report(f"{grid.student}, d = {d}, α = {n / d:g}: {successes} successes of {len(runs)}")
    return pd.DataFrame(
        {
            "student": grid.student,
            "units": units,
            "d": d,
            "n": n,
            "alpha": n / d,
            "sample": sample,
            "overlap": run.overlap,
            "loss": run.loss,
            "test_error": run.test_error,
            "iterations": run.iterations,
            "loss_midway": run.loss_midway,
            "converged": float(run.converged),
            "success": float(run.success),
        }
        for sample, run in enumerate(runs)
    )
