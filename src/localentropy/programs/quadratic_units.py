"""The load above which the minimum of quadratic units is unique, by a heuristic calculation (glm, theorem 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localentropy.programs.parts.parameters import Context, ExperimentParameters, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """There are none."""


def tasks(parameters: Parameters) -> list[Task]:
    """One."""
    return [{}]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One row: alpha, epsilon, kappa, variance and residual, as `UniqueMinimum`."""
    import pandas as pd

    from localentropy.theory.quadratic_units import unique_minimum

    return pd.DataFrame([unique_minimum()._asdict()])
