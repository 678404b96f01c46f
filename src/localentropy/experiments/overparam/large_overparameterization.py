"""Typical solutions at large 1/α, beside the reduced problem of the limit 1/α → ∞ (overparam, appendix B.3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.ensembles import EnsembleParameters, RandomFeatures
from localentropy.experiments.parameters import Context, IncreasingOverparameterizations, IncreasingValues, Load, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(EnsembleParameters):
    """Parameters of the approach to the limit."""

    FUNCTIONS = ("typical", "overparameterized_limit")
    ensemble: RandomFeatures
    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    inv_alphas: IncreasingOverparameterizations = Field(description="student weights per pattern, 1/α = N/P (C)")
    margins: IncreasingValues = Field(description="margins κ (C)")


def tasks(parameters: Parameters) -> list[Task]:
    """One margin and 1/α each."""
    return [
        {"margin": margin, "inv_alpha": inv_alpha}
        for margin in parameters.margins
        for inv_alpha in parameters.inv_alphas
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One point.

    Returns:
        Columns margin, inv_alpha, q, r, error_typical, error_barycenter, limit_typical, limit_barycenter.
    """
    import pandas as pd

    theory = parameters.ensemble.theory
    s = theory("typical", parameters.alpha_T, task["inv_alpha"], task["margin"])
    limit = theory("overparameterized_limit", parameters.alpha_T, task["margin"])
    values = {"q": s.q, "r": s.r, "error_typical": s.error_typical, "error_barycenter": s.error_barycenter}
    limits = {"limit_typical": limit.error_typical, "limit_barycenter": limit.error_barycenter}
    return pd.DataFrame([task | values | limits])
