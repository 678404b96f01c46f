"""Runs of focusing belief propagation on the tree committee machine (overparam, figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy.experiments.committee_runs import CommitteeParameters, run_committees, tasks
from localentropy.experiments.parameters import Context, Task

if TYPE_CHECKING:
    import pandas as pd

    from localentropy.instances.committee import TreeCommittee
    from localentropy.solvers.solution import Solution

__all__ = ["DATASETS", "Parameters", "compute", "tasks"]

DATASETS: tuple[str, ...] = ()


class Parameters(CommitteeParameters):
    """Parameters of the runs."""

    coupling_start: float = Field(gt=0, le=1e6, description="first coupling λ (T)")
    coupling_end: float = Field(gt=0, le=1e6, description="last coupling λ; geometric between (T)")
    steps: int = Field(ge=1, le=10_000, description="values of the coupling (C)")
    replicas: float = Field(gt=1, le=1000, description="virtual replicas y (C)")
    damping: float = Field(ge=0, lt=1, description="weight of the old messages in an update (C)")
    max_iterations: int = Field(ge=1, le=1_000_000, description="most updates at each coupling (C)")
    tolerance: float = Field(gt=0, lt=1, description="largest change of a mean at convergence (C)")
    stop: Literal["end", "first"] = Field(
        description="end: after all couplings; first: after the first at which there is no train error (C)"
    )


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Rows of one overparameterization, in the columns of `localentropy.experiments.committee_runs`."""
    from localentropy.solvers.committee.focusing_bp import committee_focusing_bp

    options = parameters.model_dump(exclude=set(CommitteeParameters.model_fields))

    def solve(instances: list[TreeCommittee], _: list[int]) -> list[list[Solution]]:
        return [[committee_focusing_bp(instance, **options)] for instance in instances]

    return run_committees(solve, parameters, task, context)
