"""Typical solutions at the very sizes and effective margins of the simulations (overparam, figures 2, 10, 11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy.experiments.parameters import SIZE, Context, ExperimentParameters, Load, Task
from localentropy.experiments.perceptron_runs import Grid, distinct_points, sizes

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(ExperimentParameters):
    """Parameters of the theory at the simulated points."""

    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    activation: Literal["sign"] = Field(description="nonlinearity σ of the features")
    grids: tuple[Grid, ...] = Field(
        min_length=1, description="sizes and margins of the simulations; samples are ignored", json_schema_extra=SIZE
    )

    @model_validator(mode="after")
    def _sizes_exist(self) -> Parameters:
        tasks(self)
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One size and margin each; the grids of several solvers overlap."""
    return distinct_points(parameters.alpha_T, parameters.grids)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Theory at one point.

    Returns:
        Columns D, N, inv_alpha (N/P), margin, margin_effective, error_typical, error_barycenter, p_d, r; no row where
        the theory has no solutions.
    """
    import pandas as pd
    import torch

    from localentropy.errors import DomainError
    from localentropy.instances.perceptron import effective_margin
    from localentropy.replica import random_features as rf

    torch.set_num_threads(parameters.threads)
    P, N = sizes(parameters.alpha_T, task["D"], task["inv_alpha"])
    effective = effective_margin(task["margin"], N)
    try:
        s = rf.typical(parameters.alpha_T, N / P, effective, parameters.activation)
    except DomainError:
        return pd.DataFrame()
    row = {"D": task["D"], "N": N, "inv_alpha": N / P, "margin": task["margin"], "margin_effective": effective}
    errors = {"error_typical": s.error_typical, "error_barycenter": s.error_barycenter, "p_d": s.p_d, "r": s.r}
    return pd.DataFrame([row | errors])
