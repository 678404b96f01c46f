"""Runs of stochastic gradient descent on the tree committee machine (overparam, figure 5).

Several starts on each of the training sets that focusing belief propagation gets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy import seeds
from localentropy.experiments.committee_runs import CommitteeParameters, run_committees, tasks
from localentropy.experiments.parameters import SIZE, Context, Task

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.instances.committee import TreeCommittee
    from localentropy.solvers.solution import Solution

__all__ = ["DATASETS", "Parameters", "compute", "tasks"]

DATASETS: tuple[str, ...] = ()


class Parameters(CommitteeParameters):
    """Parameters of the runs."""

    learning_rate: float = Field(gt=0, le=10, description="step size η, of the gradient summed over a mini-batch (C)")
    batch: int = Field(ge=1, le=1_000_000, description="patterns in a mini-batch (C)")
    beta: float = Field(gt=0, le=1e3, description="β of the first epoch, the slope of the units tanh(βx) (C)")
    beta_growth: float = Field(ge=0, le=1, description="β is multiplied by 1 + this after each epoch (C)")
    gamma: float = Field(gt=0, le=1e3, description="γ of the first epoch, the scale of the cross-entropy (C)")
    gamma_growth: float = Field(ge=0, le=1, description="γ is multiplied by 1 + this after each epoch (C)")
    epochs: int = Field(ge=1, le=10_000_000, description="most epochs (C)")
    starts: int = Field(ge=2, le=1000, description="runs on each training set", json_schema_extra=SIZE)
    device: Literal["cpu", "cuda"] = Field(description="where the machines are trained", json_schema_extra=SIZE)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one overparameterization, in the columns of `localentropy.experiments.committee_runs`."""
    import torch

    from localentropy.solvers.committee.sgd import Schedule, committee_sgd_many

    torch.set_num_threads(parameters.threads)
    own = parameters.model_dump(exclude=set(CommitteeParameters.model_fields) | {"starts", "device"})
    starts = parameters.starts

    def solve(instances: list[TreeCommittee], numbers: list[int]) -> list[list[Solution]]:
        runs = committee_sgd_many(
            [instance for instance in instances for _ in range(starts)],
            seeds=[
                seeds.child(context.seed, "algorithm/committee_sgd", sample=sample, start=start)
                for sample in numbers
                for start in range(starts)
            ],
            schedule=Schedule(**own),
            device=parameters.device,
        )
        return [runs[first : first + starts] for first in range(0, len(runs), starts)]

    # An accelerator is filled by the runs on all training sets; a processor makes one run after the other anyhow.
    at_once = 1 if parameters.device == "cpu" else parameters.samples
    return run_committees(solve, parameters, task, context, at_once)
