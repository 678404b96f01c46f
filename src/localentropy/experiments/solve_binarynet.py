"""Runs of BinaryNet (overparam, figures 1 and 2)."""

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

    logit_scale: float = Field(gt=0, le=1e6, description="c√N, the scale of the pre-activation in the loss (C)")
    learning_rate: float = Field(gt=0, le=1, description="step size of Adam (C)")
    epochs: int = Field(ge=1, le=10_000_000, description="full-batch updates (C)")
    spread: float = Field(gt=0, le=1, description="range of the initial real weights (C)")


def tasks(parameters: Parameters) -> list[Task]:
    """One size, margin and sample each."""
    return grid_tasks(parameters.grids)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one run, in the columns of `localentropy.experiments.perceptron_runs`."""
    import torch

    from localentropy.solvers.binary.binarynet import binarynet

    torch.set_num_threads(parameters.threads)
    return run_solver("binarynet", binarynet, parameters, task, context)
