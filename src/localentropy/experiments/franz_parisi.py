"""Franz–Parisi entropy around typical solutions of given margins (overparam, figures 3 and 4).

For each reference margin, the entropy (nats per weight) of solutions at normalised Hamming distance d from a
reference drawn uniformly among the solutions of that margin, with its slope dφ/dd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from localentropy.experiments.parameters import (
    SIZE,
    Context,
    Distance,
    ExperimentParameters,
    IncreasingOverparameterizations,
    IncreasingValues,
    Load,
    Margin,
    Overparameterization,
    Task,
)

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(ExperimentParameters):
    """Parameters of the Franz–Parisi curves."""

    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    inv_alpha: Overparameterization = Field(description="student weights per pattern, 1/α = N/P (C)")
    margin: Margin = Field(description="margin κ of the solutions that are counted")
    margins_ref: tuple[Margin | Literal["max"], ...] = Field(
        min_length=1, description="margins κ̃ of the reference solutions; `max` is the largest that exists (C)"
    )
    same_margins: IncreasingValues = Field(description="margins κ = κ̃ of the same-margin curves (C)")
    max_margin_inv_alphas: IncreasingOverparameterizations = Field(
        description="1/α of further curves around references of the largest margin (C)"
    )
    activation: Literal["sign", "tanh", "erf", "identity"] = Field(description="nonlinearity σ of the features")
    smallest_distance: Distance = Field(description="left end of the grid of distances d")
    largest_distance: Distance = Field(description="right end of the grid of distances d")
    points: int = Field(
        ge=2, le=1000, description="distances, spaced evenly in d and again in log d", json_schema_extra=SIZE
    )

    @model_validator(mode="after")
    def _ordered_distances(self) -> Parameters:
        if not self.smallest_distance < self.largest_distance:
            raise ValueError(
                f"smallest_distance = {self.smallest_distance} must lie below "
                f"largest_distance = {self.largest_distance}"
            )
        return self


def tasks(parameters: Parameters) -> list[Task]:
    """One curve each: no patterns at all, each reference margin, each same-margin pair, each further 1/α."""
    margin, here = parameters.margin, parameters.inv_alpha
    return [
        {"curve": "bound"},
        *({"curve": "reference", "margin_ref": m, "margin": margin, "inv_alpha": here} for m in parameters.margins_ref),
        *({"curve": "same_margin", "margin_ref": m, "margin": m, "inv_alpha": here} for m in parameters.same_margins),
        *(
            {"curve": "max_margin", "margin_ref": "max", "margin": margin, "inv_alpha": inv_alpha}
            for inv_alpha in parameters.max_margin_inv_alphas
        ),
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One curve over the grid of distances.

    Returns:
        Columns curve, inv_alpha, reference (the task's margin as written), margin_ref, margin, distance, entropy,
        slope, residual, distance_typical and entropy_typical (where and how high the curve's maximum is).
    """
    import numpy as np
    import pandas as pd
    import torch

    from localentropy.replica import random_features as rf

    torch.set_num_threads(parameters.threads)
    ends = parameters.smallest_distance, parameters.largest_distance
    half = parameters.points // 2
    distances = np.unique(np.concatenate([np.geomspace(*ends, parameters.points - half), np.linspace(*ends, half)]))
    if task["curve"] == "bound":
        return pd.DataFrame(
            {
                "curve": "bound",
                "reference": "bound",
                "distance": distances,
                "entropy": rf.binary_entropy(distances),
            }
        )
    model = parameters.alpha_T, task["inv_alpha"]
    activation = parameters.activation
    margin_ref = rf.kappa_max(*model, activation) if task["margin_ref"] == "max" else task["margin_ref"]
    table = rf.franz_parisi(distances, *model, margin_ref, task["margin"], activation, unsolved="nan")
    return table.assign(
        curve=task["curve"],
        inv_alpha=task["inv_alpha"],
        reference=str(task["margin_ref"]),
        margin_ref=margin_ref,
        margin=task["margin"],
        distance_typical=table.attrs["typical_distance"],
        entropy_typical=rf.typical(*model, task["margin"], activation).entropy,
    )
