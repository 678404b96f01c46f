"""Ridge regression on the embedded images (glm, figure real_data)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from localentropy.explore.explorer import Axes, Choice, Curve, Explorer, Points, Slider, call
from localentropy.explore.linear_students import STRENGTHS
from localentropy.figures.drawing import COLORS
from localentropy.programs.parts.real_images import DATASETS

if TYPE_CHECKING:
    from localentropy.instances.image_features import Moments
    from localentropy.pipeline.config import Configuration
    from localentropy.theory.gaussian_covariate import Ridge

POINTS = 201


def real_data(configuration: Configuration) -> Explorer:
    """Test and training errors against the number of training images (figure real_data)."""
    from localentropy.instances.image_features import KINDS

    covariance: Any = configuration.experiments["glm/real_covariance"]
    p: Any = configuration.experiments["glm/real_theory"]

    def curves(random_features: float, **values: Any) -> list[Curve]:
        found = call(
            "real_images.ridge",
            package="localentropy.explore",
            samples=Points(p.samples, POINTS),
            random_features=int(random_features),
            seed=configuration.seed,
            **values,
        )
        return [
            Curve("new images", found, "square_error", color=COLORS[0]),
            Curve("training images", found, "training_error", color=COLORS[1], dash="dashed"),
        ]

    return Explorer(
        (
            Slider("regularization", "r", p.regularizations[0], *STRENGTHS),
            Slider("random_features", "p (random features)", covariance.random_features, 10, 500, 10),
            Choice("dataset", "images", DATASETS[0], DATASETS),
            Choice("features", "features", KINDS[0], KINDS),
        ),
        (
            Axes(
                "training images $$n$$",
                r"error $$E\,(y - w\cdot v)^2$$",
                x_log=True,
                y_log=True,
                y_range=(0.01, 30.0),
                shipped=("a", "theory.*"),
            ),
        ),
        curves,
    )


def ridge(dataset: str, features: str, random_features: int, samples: float, regularization: float, seed: int) -> Ridge:
    """The theory of Gaussian features that have the covariance of the embedded images.

    Source: `glm`, slide on learning curves of real data; docs/glm/theory.md section 5.

    Args:
        dataset: "mnist" or "fashion_mnist".
        features: "random_features" or "pixels".
        random_features: p, used by "random_features" only.
        samples: n, the number of training images, in [1, 1e12].
        regularization: r, 0 or in [1e-60, 1e60].
        seed: root seed of the random features.

    Returns:
        Errors on new images and on the training images (`gaussian_covariate.ridge`).

    Raises:
        DomainError: an argument out of range.
        DataError: the embedded images are missing or damaged.
        ConvergenceError: kappa was not found.

    Example:
        >>> from localentropy.explore.real_images import ridge
        >>> student = ridge("mnist", "random_features", 50, samples=1000, regularization=0.01, seed=0)
        >>> round(student.square_error, 4)
        0.5218
    """
    from localentropy.theory import gaussian_covariate

    moments, images = _moments(dataset, features, random_features if features == "random_features" else 1, seed)
    # Labels are signs.
    return gaussian_covariate.ridge(
        moments.eigenvalues, moments.coefficients, 1.0, samples, regularization, images=images
    )


@lru_cache(maxsize=8)
def _moments(dataset: str, kind: str, features: int, seed: int) -> tuple[Moments, int]:
    """Moments of the embedded images, and their number."""
    from localentropy.data.embedded import read_embedded
    from localentropy.data.registry import DATA_DIR
    from localentropy.instances.image_features import image_features

    found = image_features(read_embedded(dataset, DATA_DIR), kind, features, seed)
    return found.moments(), len(found.labels)
