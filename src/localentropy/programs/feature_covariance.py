"""Covariance of features of real images, and their correlation with the labels (glm, slide on real data)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localentropy import quantities
from localentropy.programs.parts.parameters import Context, ExperimentParameters, Task, given
from localentropy.programs.parts.real_images import DATASETS, features_of_task, image_tasks

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the covariances."""

    DATASETS = DATASETS

    random_features: int = given(quantities.RANDOM_FEATURES, "random features (C)", size=True)
    images: int = given(
        quantities.SIZE.within(low=10, high=60_000),
        "training images that a dataset must have at least; all its images are used, the test images too",
        size=True,
    )


tasks = image_tasks


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """One row for each eigenvector of the covariance, by falling eigenvalue.

    Returns:
        Columns dataset, features (random_features, pixels), images, variance (E y²), rank (eigenvectors that are kept),
        norm_spread, eigenvalue, coefficient, kurtosis (`image_features.Moments`).
    """
    import pandas as pd

    data = features_of_task(task, context, parameters.random_features, parameters.images)
    found = data.moments()
    context.report(
        f"{task['dataset']}, {task['features']}: {len(data.labels)} images, {len(found.eigenvalues)} directions"
    )
    same = task | {"images": len(data.labels), "variance": float((data.labels**2.0).mean())}
    same |= {"rank": len(found.eigenvalues), "norm_spread": found.norm_spread}
    each = {"eigenvalue": found.eigenvalues, "coefficient": found.coefficients, "kurtosis": found.kurtosis}
    return pd.DataFrame(same | each)
