"""The two thresholds of the phase diagram against α_T (overparam, figure 1).

1/α_c, where solutions begin to exist, and 1/α_LE, where those of the largest margin stop being isolated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.ensembles import Ensemble
from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    IncreasingLoads,
    Load,
    Loads,
    Task,
)

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(ExperimentParameters):
    """Parameters of the thresholds."""

    ensemble: Ensemble
    alphas_T: Loads = Field(description="ends of the grid in α_T (C)")
    alpha_T_storage: Load = Field(description="the α_T that stands for the storage limit α_T → 0 (C)")
    alphas_T_marked: IncreasingLoads = Field(description="further values of α_T, the figures' own (C)")
    points: int = Field(ge=2, le=1000, description="points of the grid in log α_T", json_schema_extra=SIZE)

    def modules(self) -> list[str]:
        """The theory of the ensemble."""
        return self.ensemble.modules("alpha_c", "inv_alpha_le", "kappa_max")


def tasks(parameters: Parameters) -> list[Task]:
    """One α_T each."""
    import numpy as np

    grid = np.geomspace(parameters.alphas_T[0], parameters.alphas_T[1], parameters.points).tolist()
    return [{"alpha_T": value} for value in sorted({parameters.alpha_T_storage, *parameters.alphas_T_marked, *grid})]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Both thresholds at one α_T.

    Returns:
        Columns alpha_T, inv_alpha_c, inv_alpha_le, kappa_max_le (the largest margin at 1/α_LE).
    """
    import pandas as pd

    theory = parameters.ensemble.theory
    alpha_T = task["alpha_T"]
    inv_alpha_le = theory("inv_alpha_le", alpha_T)
    return pd.DataFrame(
        {
            "alpha_T": [alpha_T],
            "inv_alpha_c": [1.0 / theory("alpha_c", alpha_T)],
            "inv_alpha_le": [inv_alpha_le],
            "kappa_max_le": [theory("kappa_max", alpha_T, inv_alpha_le)],
        }
    )
