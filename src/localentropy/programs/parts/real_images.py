"""Features of real images that several programs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from localentropy import quantities
from localentropy.programs.parts.parameters import Context, ExperimentParameters, Increasing, Task, bounds

if TYPE_CHECKING:
    from localentropy.instances.image_features import ImageFeatures


DATASETS = ("mnist", "fashion_mnist")

Regularizations = Increasing[Annotated[float, bounds(quantities.RIDGE)]]
"""Values of r in the risk Σ (y − w·v)² + r |w|². The mean of |v|² is 1 for pixels, about 0.4 for random features."""


def image_tasks(parameters: ExperimentParameters) -> list[Task]:
    """One dataset and kind of features each."""
    from localentropy.instances.image_features import KINDS

    # Pixels take longer. In this order each of two jobs gets pixels of one dataset and random features of one.
    return [{"dataset": dataset, "features": kind} for kind in KINDS for dataset in DATASETS]


def features_of_task(task: Task, context: Context, random_features: int, images: int) -> ImageFeatures:
    """The features and labels of a task.

    Args:
        task: one of `image_tasks`.
        context: of the task.
        random_features: p.
        images: training images that the dataset must have at least.

    Raises:
        DataError: the dataset has fewer training images.
    """
    from localentropy.data.prepared import load
    from localentropy.instances.image_features import image_features

    dataset = load(context.data[task["dataset"]])
    dataset.require(train=images)
    return image_features(dataset, task["features"], random_features, context.seed)
