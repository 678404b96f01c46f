"""Covariance of features of real images, and their correlation with the labels (glm, slide on real data)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localentropy.experiments.parameters import Context, Task
from localentropy.experiments.real_images import ImageParameters, image_tasks

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ImageParameters):
    """Parameters of the covariances."""


def tasks(parameters: Parameters) -> list[Task]:
    """One dataset and kind of features each."""
    return image_tasks(parameters)


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One row for each eigenvector of the covariance, by falling eigenvalue.

    Returns:
        Columns dataset, features (random_features, pixels), images, variance (E y²), rank (eigenvectors that are kept),
        norm_spread, eigenvalue, coefficient, kurtosis (`image_features.Moments`).
    """
    import pandas as pd

    data = parameters.of_task(task, context)
    found = data.moments()
    context.report(
        f"{task['dataset']}, {task['features']}: {len(data.labels)} images, {len(found.eigenvalues)} directions"
    )
    same = task | {"images": len(data.labels), "variance": float((data.labels**2.0).mean())}
    same |= {"rank": len(found.eigenvalues), "norm_spread": found.norm_spread}
    each = {"eigenvalue": found.eigenvalues, "coefficient": found.coefficients, "kurtosis": found.kurtosis}
    return pd.DataFrame(same | each)
