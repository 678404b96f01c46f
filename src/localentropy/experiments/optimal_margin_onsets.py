"""Overparameterization from which a positive margin is best for the barycentre (overparam, section II)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.ensembles import Ensemble
from localentropy.experiments.parameters import (
    Context,
    ExperimentParameters,
    IncreasingLoads,
    Task,
)

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(ExperimentParameters):
    """Parameters of the onsets."""

    ensemble: Ensemble
    alphas_T: IncreasingLoads = Field(description="patterns per latent dimension, α_T = P/D (C)")

    def modules(self) -> list[str]:
        """The theory of the ensemble."""
        return self.ensemble.modules("optimal_margin_onset")


def tasks(parameters: Parameters) -> list[Task]:
    """One α_T each."""
    return [{"alpha_T": alpha_T} for alpha_T in parameters.alphas_T]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The onset at one α_T.

    Returns:
        Columns alpha_T, onset (1/α).
    """
    import pandas as pd

    theory = parameters.ensemble.theory
    return pd.DataFrame([task | {"onset": theory("optimal_margin_onset", task["alpha_T"])}])
