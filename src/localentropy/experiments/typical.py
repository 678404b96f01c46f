"""Typical solutions along lines of the phase diagram (overparam, figures 2, 8, 9 and the theory of 10 and 11).

Lines in 1/α at fixed α_T and lines in α_T at fixed 1/α, each from the threshold of its margin on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    IncreasingValues,
    Load,
    Loads,
    Margin,
    Overparameterization,
    Task,
)

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()

BEYOND = 1.0 + 1e-9
"""A threshold carries the rounding of its root: lines begin this factor beyond it."""


class Parameters(ExperimentParameters):
    """Parameters of the typical solutions."""

    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D, of the lines in 1/α (C)")
    largest_inv_alpha: Overparameterization = Field(description="right end of the lines in 1/α (C)")
    margins: tuple[Margin | Literal["max"], ...] = Field(
        min_length=1, description="margins κ of the lines in 1/α; `max` follows the largest that exists (C)"
    )
    inv_alpha: Overparameterization = Field(description="1/α of the lines in α_T (C)")
    alphas_T: Loads = Field(description="ends of the lines in α_T (C)")
    margins_alpha_T: IncreasingValues = Field(description="margins κ of the lines in α_T (C)")
    activation: Literal["sign", "tanh", "erf", "identity"] = Field(description="nonlinearity σ of the features")
    points: int = Field(
        ge=2, le=1000, description="points of a line, spaced evenly in its logarithm", json_schema_extra=SIZE
    )


def tasks(parameters: Parameters) -> list[Task]:
    """One line each."""
    return [
        *({"line": "inv_alpha", "margin": margin} for margin in parameters.margins),
        *({"line": "alpha_T", "margin": margin} for margin in parameters.margins_alpha_T),
    ]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One line.

    Returns:
        Columns line, reference (the task's margin as written), alpha_T, inv_alpha, margin, entropy (nats per weight),
        q, p, p_d, r, error_typical, error_barycenter, residual. No row where a line in α_T has no solutions.

    Raises:
        DomainError: a line in 1/α that ends before the threshold of its margin.
    """
    from dataclasses import asdict

    import numpy as np
    import pandas as pd
    import torch
    from scipy.optimize import brentq

    from localentropy.errors import DomainError
    from localentropy.replica import random_features as rf

    torch.set_num_threads(parameters.threads)
    activation = parameters.activation
    fixed = 0.0 if task["margin"] == "max" else task["margin"]
    if task["line"] == "inv_alpha":
        threshold = 1.0 / rf.alpha_c(parameters.alpha_T, fixed, activation)
        if not threshold < parameters.largest_inv_alpha:
            raise DomainError(
                f"largest_inv_alpha = {parameters.largest_inv_alpha} leaves no line of margin {task['margin']}: "
                f"solutions exist from 1/α = {threshold:.6g} on"
            )
        inv_alphas = np.geomspace(threshold * BEYOND, parameters.largest_inv_alpha, parameters.points)
        line = [(parameters.alpha_T, inv_alpha) for inv_alpha in inv_alphas]
    else:

        def surplus(log_alpha_T: float) -> float:
            return parameters.inv_alpha * rf.alpha_c(float(np.exp(log_alpha_T)), fixed, activation) - 1.0

        logs = np.log(np.geomspace(parameters.alphas_T[0], parameters.alphas_T[1], parameters.points))
        solvable = np.array([surplus(log) for log in logs]) >= 0.0
        alphas_T = np.exp(logs[solvable])
        if solvable.any() and not solvable[0]:
            first = int(np.argmax(solvable))
            threshold = np.exp(brentq(surplus, logs[first - 1], logs[first], xtol=1e-12))
            alphas_T = np.append(threshold * BEYOND, alphas_T)
        line = [(alpha_T, parameters.inv_alpha) for alpha_T in alphas_T]
    rows = []
    for alpha_T, inv_alpha in line:
        margin = rf.kappa_max(alpha_T, inv_alpha, activation) if task["margin"] == "max" else fixed
        rows.append(asdict(rf.typical(alpha_T, inv_alpha, margin, activation)))
    return pd.DataFrame(rows).assign(line=task["line"], reference=str(task["margin"]))
