"""Generalization errors in the limit of infinitely many features, 1/α → ∞, against α_T (overparam, figure 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.ensembles import EnsembleParameters, RandomFeatures
from localentropy.experiments.parameters import SIZE, Context, IncreasingValues, Loads, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(EnsembleParameters):
    """Parameters of the limit of infinite overparameterization."""

    FUNCTIONS = ("overparameterized_limit",)
    ensemble: RandomFeatures
    alphas_T: Loads = Field(description="ends of the grid in α_T (C)")
    margins: IncreasingValues = Field(description="margins κ (C)")
    points: int = Field(ge=2, le=1000, description="points of the grid in log α_T", json_schema_extra=SIZE)


def tasks(parameters: Parameters) -> list[Task]:
    """One margin each."""
    return [{"margin": margin} for margin in parameters.margins]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One margin over the grid of α_T.

    Returns:
        Columns alpha_T, margin, error_typical, error_barycenter.
    """
    import numpy as np
    import pandas as pd

    theory = parameters.ensemble.theory
    rows = []
    for alpha_T in np.geomspace(parameters.alphas_T[0], parameters.alphas_T[1], parameters.points):
        limit = theory("overparameterized_limit", alpha_T, task["margin"])
        rows.append((alpha_T, task["margin"], limit.error_typical, limit.error_barycenter))
    return pd.DataFrame(rows, columns=["alpha_T", "margin", "error_typical", "error_barycenter"])
