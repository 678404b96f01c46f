"""Runs of belief propagation (overparam, figure 13)."""

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

    damping: float = Field(ge=0, lt=1, description="weight of the old fields in an update (C)")
    max_iterations: int = Field(ge=1, le=1_000_000, description="most updates (C)")
    tolerance: float = Field(gt=0, lt=1, description="largest change of a magnetization at convergence (C)")
    epsilon: float = Field(ge=0, lt=1, description="range of the random initial magnetizations (C)")


def tasks(parameters: Parameters) -> list[Task]:
    """One size, margin and sample each."""
    return grid_tasks(parameters.grids)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one run, in the columns of `localentropy.experiments.perceptron_runs`."""
    from localentropy.solvers.binary.belief_propagation import belief_propagation

    return run_solver("belief_propagation", belief_propagation, parameters, task, context)
