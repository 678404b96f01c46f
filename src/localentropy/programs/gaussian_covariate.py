"""Ridge regression on Gaussian features with the covariance of real ones (glm, slide on real data)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    Ends,
    ExperimentParameters,
    Increasing,
    Size,
    TableOf,
    Task,
    given,
)
from localentropy.programs.parts.real_images import Regularizations

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the lines."""

    covariances: Annotated[str, TableOf("feature_covariance")] = Field(
        description="the experiment whose covariances are taken"
    )
    regularizations: Regularizations = Field(description="values of r, a line each (C)")
    samples: Ends[Size] = Field(description="ends of the lines in the number of training images n (C)")
    marked: Increasing[Size] = Field(
        description="further values of n, those of simulations and around peaks", json_schema_extra=SIZE
    )
    points: int = given(quantities.POINTS, "points of a line, even in log n", size=True)

    def grid(self) -> list[int]:
        """Values of n."""
        import numpy as np

        return sorted({*np.geomspace(*self.samples, self.points).round().astype(int).tolist(), *self.marked})


def tasks(parameters: Parameters) -> list[Task]:
    """All lines of one regularization."""
    return [{"regularization": strength} for strength in parameters.regularizations]


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """The lines of all features at one regularization.

    Returns:
        Columns dataset, features, regularization, n, square_error (of images that are not in the set), finite_set,
        training_error, noise, degrees_of_freedom, residual (`localentropy.theory.gaussian_covariate.Ridge`).
    """
    import pandas as pd

    from localentropy.theory.gaussian_covariate import ridge

    rows = []
    table = context.tables[parameters.covariances]
    for (dataset, features), of in table.groupby(["dataset", "features"], sort=False):
        moments = of["eigenvalue"].to_numpy(), of["coefficient"].to_numpy(), of["variance"].iloc[0]
        images = of["images"].iloc[0]
        for n in parameters.grid():
            found = ridge(*moments, n, task["regularization"], images)
            rows.append(
                {
                    "dataset": dataset,
                    "features": features,
                    "regularization": task["regularization"],
                    "n": n,
                    "square_error": found.square_error,
                    "finite_set": found.finite_set,
                    "training_error": found.training_error,
                    "noise": found.noise,
                    "degrees_of_freedom": found.degrees_of_freedom,
                    "residual": found.residual,
                }
            )
    return pd.DataFrame(rows)
