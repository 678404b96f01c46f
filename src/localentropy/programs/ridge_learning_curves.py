"""Ridge regression on features of real images against the number of training images (glm, slide on real data).

Each draw has training images of its own, without repetition. All other images are the test set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from localentropy import quantities
from localentropy.programs.parts.parameters import (
    SIZE,
    Context,
    ExperimentParameters,
    Increasing,
    Size,
    TableOf,
    Task,
    given,
)
from localentropy.programs.parts.real_images import DATASETS, Regularizations, features_of_task, image_tasks

if TYPE_CHECKING:
    import pandas as pd


class Parameters(ExperimentParameters):
    """Parameters of the runs."""

    DATASETS = DATASETS

    covariances: Annotated[str, TableOf("feature_covariance")] = Field(
        description="the experiment whose images and features are taken"
    )
    regularizations: Regularizations = Field(description="values of r (C)")
    samples: Increasing[Size] = Field(
        description="numbers of training images n, at most half of the images (C)", json_schema_extra=SIZE
    )
    draws: int = given(quantities.RUNS.within(low=2), "training sets of each size (C)", size=True)


def check_sources(parameters: Parameters, sources: Mapping[str, Any]) -> None:
    """Refuse training sets of more than half of the images.

    Raises:
        ValueError: naming what there is.
    """
    most, largest = sources[parameters.covariances].images // 2, parameters.samples[-1]
    if largest > most:
        raise ValueError(
            f"samples: {largest}: allowed is at most {most}, half of {parameters.covariances}.images; nearest: {most}"
        )


tasks = image_tasks


def compute(parameters: Parameters, task: Task, context: Context) -> pd.DataFrame:
    """All draws on one dataset and kind of features, which are the same images for both kinds.

    Returns:
        Columns dataset, features, regularization, n, draw, square_error (mean of (y − w·v)² on the test images),
        training_error (on the training images), classification_error (fraction of test images with y w·v ≤ 0).
    """
    import numpy as np
    import pandas as pd

    from localentropy import seeds
    from localentropy.solvers.linear_student import train_linear_student

    made_of = context.tables[parameters.covariances].attrs["parameters"]
    data = features_of_task(task, context, made_of["random_features"], made_of["images"])
    labels = data.labels.astype(np.float64)
    rows = []
    for n in parameters.samples:
        for draw in range(parameters.draws):
            stream = seeds.generator(context.seed, "training_images", dataset=task["dataset"], samples=n, draw=draw)
            chosen = stream.choice(len(labels), n, replace=False)
            inputs, answers = data.values[chosen], labels[chosen]
            weights = [
                train_linear_student(inputs, answers, loss="square", regularization=strength).weights
                for strength in parameters.regularizations
            ]
            outputs = data.values @ np.stack(weights, axis=1)
            test = np.ones(len(labels), bool)
            test[chosen] = False
            squares = (labels[:, None] - outputs) ** 2
            columns = {
                "square_error": squares[test].mean(0),
                "training_error": squares[chosen].mean(0),
                "classification_error": (labels[:, None] * outputs <= 0.0)[test].mean(0),
            }
            rows.append(
                pd.DataFrame(task | {"regularization": parameters.regularizations, "n": n, "draw": draw} | columns)
            )
        context.report(f"{task['dataset']}, {task['features']}: {parameters.draws} draws of {n} images")
    return pd.concat(rows, ignore_index=True)
