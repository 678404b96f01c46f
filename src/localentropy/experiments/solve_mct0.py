"""Runs of Monte Carlo at zero temperature (overparam, figures 11, 12 and 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.parameters import Context, Task
from localentropy.experiments.perceptron_runs import PerceptronParameters, grid_tasks, run_solver

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(PerceptronParameters):
    """Parameters of the runs."""

    sweeps: int = Field(ge=1, le=10_000_000, description="most sweeps (C)")


def tasks(parameters: Parameters) -> list[Task]:
    """One size, margin and sample each."""
    return grid_tasks(parameters.grids)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one run, in the columns of `localentropy.experiments.perceptron_runs`."""
    from localentropy.solvers.binary.anneal import mct0

    return run_solver("mct0", mct0, parameters, task, context)
