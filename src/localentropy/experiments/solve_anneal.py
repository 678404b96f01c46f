"""Runs of simulated annealing on the number of errors (overparam, figures 1, 2 and 10)."""

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

    beta_start: float = Field(gt=0, le=1000, description="first inverse temperature: linear schedule (T), value (C)")
    beta_step: float = Field(ge=0, le=1000, description="increase of the inverse temperature in each sweep (C)")
    sweeps: int = Field(ge=1, le=10_000_000, description="most sweeps (C)")


def tasks(parameters: Parameters) -> list[Task]:
    """One size, margin and sample each."""
    return grid_tasks(parameters.grids)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one run, in the columns of `localentropy.experiments.perceptron_runs`."""
    from localentropy.solvers.binary.anneal import anneal

    return run_solver("anneal", anneal, parameters, task, context)
