"""Runs of focusing belief propagation (overparam, figures 1 and 2)."""

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

    steps: int = Field(ge=1, le=10_000, description="values of the coupling (C)")
    replicas: float = Field(gt=1, le=1000, description="virtual replicas y (C)")
    damping: float = Field(ge=0, lt=1, description="weight of the old fields in an update (C)")
    max_iterations: int = Field(ge=1, le=1_000_000, description="most updates at each coupling (C)")
    tolerance: float = Field(gt=0, lt=1, description="largest change of a magnetization at convergence (C)")
    epsilon: float = Field(ge=0, lt=1, description="range of the random initial magnetizations (C)")


def tasks(parameters: Parameters) -> list[Task]:
    """One size, margin and sample each."""
    return grid_tasks(parameters.grids)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one run, in the columns of `localentropy.experiments.perceptron_runs`."""
    from localentropy.solvers.binary.focusing_bp import focusing_bp

    return run_solver("focusing_bp", focusing_bp, parameters, task, context)
