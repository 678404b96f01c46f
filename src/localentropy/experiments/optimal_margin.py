"""The margin at which the barycentre of solutions generalizes best, against 1/α (overparam, inset of figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.ensembles import EnsembleParameters, RandomFeatures
from localentropy.experiments.parameters import SIZE, Context, Load, Overparameterization, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(EnsembleParameters):
    """Parameters of the optimal margin."""

    FUNCTIONS = ("alpha_c", "kappa_opt", "kappa_max", "typical")
    ensemble: RandomFeatures
    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    largest_inv_alpha: Overparameterization = Field(description="right end of the grid in 1/α (C)")
    points: int = Field(ge=2, le=1000, description="points of the grid in log 1/α", json_schema_extra=SIZE)


def tasks(parameters: Parameters) -> list[Task]:
    """One line."""
    return [{"line": "inv_alpha"}]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The optimal margin from the interpolation threshold on.

    Returns:
        Columns inv_alpha, kappa_opt, kappa_max, error_barycenter (at kappa_opt).
    """
    import numpy as np
    import pandas as pd

    theory = parameters.ensemble.theory
    alpha_T = parameters.alpha_T
    threshold = 1.0 / theory("alpha_c", alpha_T)
    rows = []
    # The threshold has the rounding of its root: start a little above it.
    for inv_alpha in np.geomspace(threshold * (1.0 + 1e-9), parameters.largest_inv_alpha, parameters.points):
        optimum = theory("kappa_opt", alpha_T, inv_alpha)
        error = theory("typical", alpha_T, inv_alpha, optimum).error_barycenter
        rows.append((inv_alpha, optimum, theory("kappa_max", alpha_T, inv_alpha), error))
    return pd.DataFrame(rows, columns=["inv_alpha", "kappa_opt", "kappa_max", "error_barycenter"])
