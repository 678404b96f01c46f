"""Binary weights of least cross-entropy loss: errors, loss and overlap against the load (shaping, figure 2)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.parameters import SIZE, Context, ExperimentParameters, Loads, Sharpness, Task

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    gammas: tuple[Sharpness, ...] = Field(min_length=1, description="sharpness γ of the loss, a line each (C)")
    alphas: Loads = Field(description="ends of the lines in α, patterns per weight (T)")
    points: int = Field(ge=2, le=1000, description="points of a line, even in α", json_schema_extra=SIZE)


def tasks(parameters: Parameters) -> list[Task]:
    """One line each."""
    return [{"gamma": gamma} for gamma in parameters.gammas]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One line.

    Returns:
        Columns alpha, gamma, beta (where the entropy vanishes), log_beta, q, q_hat, error (fraction of patterns),
        energy (loss per pattern), entropy, residual; alpha_c (up to which there are weights without errors).
    """
    import numpy as np
    import pandas as pd

    from localentropy.replica import cross_entropy, perceptron

    alphas = np.linspace(*parameters.alphas, parameters.points)
    rows = [asdict(cross_entropy.minimizers(float(alpha), task["gamma"])) for alpha in alphas]
    return pd.DataFrame(rows).assign(alpha_c=perceptron.alpha_c())
