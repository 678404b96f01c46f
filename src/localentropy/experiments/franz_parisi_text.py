"""Franz–Parisi curves that the text of `overparam` speaks of and no figure shows (section II, appendix C).

Curves: `isolated`, around typical solutions without margin at further 1/α; `same_margin`, around and of solutions of
most of the largest margin; `threshold`, around solutions of the largest margin on both sides of 1/α_LE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy.experiments.parameters import (
    SIZE,
    Context,
    Distance,
    ExperimentParameters,
    IncreasingOverparameterizations,
    Load,
    Overparameterization,
    Task,
)

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(ExperimentParameters):
    """Parameters of the curves."""

    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    isolated_inv_alphas: IncreasingOverparameterizations = Field(
        description="1/α of the curves around solutions without margin (C)"
    )
    same_margin_inv_alpha: Overparameterization = Field(description="1/α of the same-margin curve (C)")
    same_margin_fraction: float = Field(gt=0, lt=1, description="its margin in units of the largest (C)")
    threshold_offset: float = Field(
        gt=0, lt=0.5, description="relative distance from 1/α_LE of the two curves there (C)"
    )
    activation: Literal["sign", "tanh", "erf", "identity"] = Field(description="nonlinearity σ of the features")
    smallest_distance: Distance = Field(description="left end of the grid of distances d; its right end is d_typ")
    points: int = Field(ge=2, le=1000, description="distances, spaced evenly in log d", json_schema_extra=SIZE)


def tasks(parameters: Parameters) -> list[Task]:
    """One curve each."""
    sides = (1.0 - parameters.threshold_offset, 1.0 + parameters.threshold_offset)
    return [
        *({"curve": "isolated", "inv_alpha": inv_alpha} for inv_alpha in parameters.isolated_inv_alphas),
        {"curve": "same_margin", "inv_alpha": parameters.same_margin_inv_alpha},
        *({"curve": "threshold", "of_threshold": side} for side in sides),
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One curve.

    Returns:
        Columns curve, inv_alpha, margin_ref, margin, distance, entropy, slope, residual, distance_typical; entropy and
        slope are missing where the replica-symmetric solution has ended.
    """
    import numpy as np
    import torch

    from localentropy.replica import random_features as rf

    torch.set_num_threads(parameters.threads)
    alpha_T, activation, curve = parameters.alpha_T, parameters.activation, task["curve"]
    at_threshold = curve == "threshold"
    inv_alpha = task["of_threshold"] * rf.inv_alpha_le(alpha_T, activation) if at_threshold else task["inv_alpha"]
    largest = rf.kappa_max(alpha_T, inv_alpha, activation)
    margin_ref = {"isolated": 0.0, "same_margin": parameters.same_margin_fraction * largest, "threshold": largest}[
        curve
    ]
    margin = margin_ref if curve == "same_margin" else 0.0
    d_typ = rf.typical_distance(alpha_T, inv_alpha, margin_ref, margin, activation)
    distances = np.geomspace(parameters.smallest_distance, d_typ, parameters.points)
    table = rf.franz_parisi(distances, alpha_T, inv_alpha, margin_ref, margin, activation, unsolved="nan")
    return table.assign(curve=curve, inv_alpha=inv_alpha, margin_ref=margin_ref, margin=margin, distance_typical=d_typ)
