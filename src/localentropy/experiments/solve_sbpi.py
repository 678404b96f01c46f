"""Runs of stochastic BP-inspired learning (overparam, figures 1, 2 and 13)."""

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

    theta: int = Field(ge=1, le=1001, description="largest sum that is reinforced, a value of the lattice (C)")
    reinforcement: float = Field(ge=0, le=1, description="probability p_s of a reinforcement (C)")
    passes: int = Field(ge=1, le=10_000_000, description="most passes over the patterns (C)")


def tasks(parameters: Parameters) -> list[Task]:
    """One size, margin and sample each."""
    return grid_tasks(parameters.grids)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one run, in the columns of `localentropy.experiments.perceptron_runs`."""
    from localentropy.solvers.binary.sbpi import sbpi

    return run_solver("sbpi", sbpi, parameters, task, context)
