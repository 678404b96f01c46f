"""Features of real images as parameters: programs with the same values have the same features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from localentropy.experiments.parameters import SIZE, Context, ExperimentParameters, Task, increasing

if TYPE_CHECKING:
    from localentropy.instances.image_features import ImageFeatures


Regularizations = Annotated[
    tuple[Annotated[float, Field(ge=1e-6, le=1e6)], ...], Field(min_length=1), AfterValidator(increasing)
]
"""Values of r in the risk Σ (y − w·v)² + r |w|². The mean of |v|² is 1 for pixels, about 0.4 for random features."""


class ImageParameters(ExperimentParameters):
    """Parameters of the features."""

    DATASETS = ("mnist", "fashion_mnist")

    random_features: int = Field(ge=1, le=10_000, description="random features p (C)", json_schema_extra=SIZE)
    images: int = Field(
        ge=10,
        le=60_000,
        description="training images that a dataset must have at least; all its images are used, the test images too",
        json_schema_extra=SIZE,
    )

    def of_task(self, task: Task, context: Context) -> ImageFeatures:
        """The features and labels of a task.

        Raises:
            DataError: the dataset has fewer training images.
        """
        from localentropy.data.prepared import load
        from localentropy.instances.image_features import image_features

        dataset = load(context.data[task["dataset"]])
        dataset.require(train=self.images)
        return image_features(dataset, task["features"], self.random_features, context.seed)


def image_tasks(parameters: ImageParameters) -> list[Task]:
    """One dataset and kind of features each."""
    from localentropy.instances.image_features import KINDS

    # Pixels take longer. In this order each of two jobs gets pixels of one dataset and random features of one.
    return [{"dataset": dataset, "features": kind} for kind in KINDS for dataset in parameters.DATASETS]
