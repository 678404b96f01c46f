"""Distribution of the stabilities of typical solutions (overparam, figure 12), and their local energy (figure 13)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from localentropy.experiments.ensembles import Ensemble
from localentropy.experiments.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    IncreasingOverparameterizations,
    Load,
    Margin,
    Task,
)

if TYPE_CHECKING:
    import pandas as pd

DATASETS: tuple[str, ...] = ()


class Parameters(ExperimentParameters):
    """Parameters of the stabilities of typical solutions."""

    ensemble: Ensemble
    alpha_T: Load = Field(description="patterns per latent dimension, α_T = P/D (C)")
    inv_alphas: IncreasingOverparameterizations = Field(description="student weights per pattern, 1/α = N/P (C)")
    margin: Margin = Field(description="margin κ of the solutions")
    largest_stability: float = Field(gt=0, le=20, description="right end of the grid of stabilities")
    largest_distance: float = Field(gt=0, lt=1, description="right end of the grid of distances of the local energy")
    points: int = Field(ge=2, le=10000, description="points of each grid", json_schema_extra=SIZE)

    def modules(self) -> list[str]:
        """The theory of the ensemble."""
        return self.ensemble.modules("stability_density", "local_energy")


def tasks(parameters: Parameters) -> list[Task]:
    """One 1/α each."""
    return [{"inv_alpha": inv_alpha} for inv_alpha in parameters.inv_alphas]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """Density and local energy at one 1/α.

    Returns:
        Columns quantity (`density`, `local_energy`), inv_alpha, margin, x (stability, or distance), value.
    """
    import numpy as np
    import pandas as pd

    theory = parameters.ensemble.theory
    model = parameters.alpha_T, task["inv_alpha"], parameters.margin
    stabilities = np.linspace(parameters.margin, parameters.largest_stability, parameters.points)
    distances = np.linspace(0.0, parameters.largest_distance, parameters.points)
    common = {"inv_alpha": task["inv_alpha"], "margin": parameters.margin}
    density = theory("stability_density", stabilities, *model)
    energy = theory("local_energy", distances, *model)
    return pd.concat(
        [
            pd.DataFrame(common | {"quantity": "density", "x": stabilities, "value": density}),
            pd.DataFrame(common | {"quantity": "local_energy", "x": distances, "value": energy}),
        ],
        ignore_index=True,
    )
