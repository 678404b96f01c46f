"""The margin at which the barycentre of solutions generalizes best, against 1/α (overparam, inset of figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    Load,
    Overparameterization,
    Task,
)

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(ExperimentParameters):
    """Parameters of the optimal margin."""

    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    largest_inv_alpha: Overparameterization = Field(description="right end of the grid in 1/α (C)")
    activation: Literal["sign", "tanh", "erf", "identity"] = Field(description="nonlinearity σ of the features")
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
    import torch

    from localentropy.replica import random_features as rf

    torch.set_num_threads(parameters.threads)
    alpha_T, activation = parameters.alpha_T, parameters.activation
    threshold = 1.0 / rf.alpha_c(alpha_T, activation=activation)
    rows = []
    # The threshold itself carries the rounding of its root: step over it.
    for inv_alpha in np.geomspace(threshold * (1.0 + 1e-9), parameters.largest_inv_alpha, parameters.points):
        optimum = rf.kappa_opt(alpha_T, inv_alpha, activation)
        error = rf.typical(alpha_T, inv_alpha, optimum, activation).error_barycenter
        rows.append((inv_alpha, optimum, rf.kappa_max(alpha_T, inv_alpha, activation), error))
    return pd.DataFrame(rows, columns=["inv_alpha", "kappa_opt", "kappa_max", "error_barycenter"])
