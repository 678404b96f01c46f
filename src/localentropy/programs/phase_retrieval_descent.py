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

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy import quantities, seeds
from localentropy.programs.parts.parameters import SIZE, Context, Task, given
from localentropy.programs.parts.phase_retrieval_sizes import Grid, GridParameters, sizes_and_loads

if TYPE_CHECKING:
    import pandas as pd


class StudentGrid(Grid):
    """Runs of one kind of student at one number of inputs, one on each training set."""

    student: Literal["plain", "wide"] = Field(description="one unit on a sphere, or d free units (T)")
    step: float = given(quantities.STEP_OF_FLOW, "η of Euler's rule, in the time of the flow (C)")
    iterations: int = given(quantities.ITERATIONS, "most steps (C)")

    @property
    def words(self) -> str:
        """The student, too."""
        return f"{self.student}, {super().words}"


class Parameters(GridParameters):
    """Parameters of the runs. No run is in them twice."""

    grids: tuple[StudentGrid, ...] = Field(
        min_length=1, description="students, sizes and samples", json_schema_extra=SIZE
    )
    loss_tolerance: float = given(quantities.LOSS, "loss below which a run ends (C)")
    speed_tolerance: float = given(
        quantities.SPEED, "a run ends where the weights move by less, root mean square per unit of time (C)"
    )
    success_overlap: float = given(quantities.SUCCESS, "overlap above which a run is a success (C)")


tasks = sizes_and_loads


def memory(parameters: Parameters, task: Task) -> int:
    """Bytes of the inputs of all runs."""
    grid = parameters.grids[task["grid"]]
    return 8 * grid.samples * grid.n(task["alpha"]) * grid.d


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """A row for each run, in the columns above."""
    import pandas as pd
    import torch

    from localentropy.instances.generalized_linear import generalized_linear
    from localentropy.solvers.descent import Descent, descend_phase_retrieval

    torch.set_num_threads(parameters.threads)
    grid = parameters.grids[task["grid"]]
    d, n = grid.d, grid.n(task["alpha"])
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
    context.report(f"{grid.words}, α = {n / d:g}: {successes} successes of {len(runs)}")
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
