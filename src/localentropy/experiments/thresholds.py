"""Thresholds in 1/α against α_T (overparam, figure 1).

Solutions begin to exist at 1/α_c. Those of the largest margin stop being isolated at 1/α_LE. From a third value on, a
positive margin is best for the barycentre.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy.experiments.ensembles import EnsembleParameters, RandomFeatures
from localentropy.experiments.parameters import SIZE, Context, IncreasingLoads, Load, Loads, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(EnsembleParameters):
    """Parameters of both kinds of thresholds."""

    CHOICE = "onset_of"
    ensemble: RandomFeatures
    onset_of: Literal["solutions", "optimal margin"] = Field(
        description="α_c and α_LE, or the onset of a positive optimal margin"
    )


class Solutions(Parameters):
    """1/α_c and 1/α_LE along a line in α_T."""

    FUNCTIONS = ("alpha_c", "inv_alpha_le", "kappa_max")

    alphas_T: Loads = Field(description="ends of the grid in α_T (C)")
    alpha_T_storage: Load = Field(description="the α_T that stands for the storage limit α_T → 0 (C)")
    alphas_T_marked: IncreasingLoads = Field(description="further values of α_T, the figures' own (C)")
    points: int = Field(ge=2, le=1000, description="points of the grid in log α_T", json_schema_extra=SIZE)


class OptimalMargin(Parameters):
    """The onset of a positive optimal margin."""

    FUNCTIONS = ("optimal_margin_onset",)

    alphas_T: IncreasingLoads = Field(description="patterns per latent dimension, α_T = P/D (C)")


Parameters.MODELS = {"solutions": Solutions, "optimal margin": OptimalMargin}


def tasks(parameters: Solutions | OptimalMargin) -> list[Task]:
    """One α_T each."""
    import numpy as np

    values = set(parameters.alphas_T)
    if isinstance(parameters, Solutions):
        grid = np.geomspace(parameters.alphas_T[0], parameters.alphas_T[1], parameters.points).tolist()
        values = {parameters.alpha_T_storage, *parameters.alphas_T_marked, *grid}
    return [{"alpha_T": value} for value in sorted(values)]


def compute(parameters: Solutions | OptimalMargin, task: Task, context: Context) -> pd.DataFrame:
    """The thresholds at one α_T.

    Returns:
        Columns alpha_T, inv_alpha_c, inv_alpha_le, kappa_max_le (the largest margin at 1/α_LE), or alpha_T, onset
        (1/α).
    """
    import pandas as pd

    theory, alpha_T = parameters.ensemble.theory, task["alpha_T"]
    if isinstance(parameters, OptimalMargin):
        return pd.DataFrame([{"alpha_T": alpha_T, "onset": theory("optimal_margin_onset", alpha_T)}])
    inv_alpha_le = theory("inv_alpha_le", alpha_T)
    row = {"alpha_T": alpha_T, "inv_alpha_c": 1.0 / theory("alpha_c", alpha_T), "inv_alpha_le": inv_alpha_le}
    return pd.DataFrame([row | {"kappa_max_le": theory("kappa_max", alpha_T, inv_alpha_le)}])
