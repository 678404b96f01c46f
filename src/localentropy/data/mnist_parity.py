"""MNIST digits by their first principal components, labelled by parity (overparam, figure 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COMPONENTS = 10
GRID = 2.0**-12
CHUNK = 10_000  # images per block: bounds the memory of the float64 copies


@dataclass(frozen=True)
class PrincipalComponents:
    """An affine map from images to principal components.

    Attributes:
        mean: mean image in units of the full grey level, shape `(pixels,)`.
        loadings: orthonormal columns by descending variance, shape `(pixels, components)`; in each the entry
            of largest modulus is positive.
        scale: root mean square of the components over the images they were computed from.
    """

    mean: NDArray[np.float64]
    loadings: NDArray[np.float64]
    scale: float

    def project(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Components divided by `scale`, rounded to multiples of 2⁻¹²: shape `(n, components)`.

        The rounding makes the result independent of the linear-algebra library, whose errors are 10⁻⁹ of
        this grid; every value is exact in float32.
        """
        flat = images.reshape(len(images), -1)
        components = np.empty((len(flat), self.loadings.shape[1]), np.float32)
        for start in range(0, len(flat), CHUNK):
            block = flat[start : start + CHUNK] / 255.0 - self.mean
            components[start : start + CHUNK] = np.rint(block @ self.loadings / (self.scale * GRID)) * GRID
        return components + np.float32(0)  # no negative zeros


def principal_components(images: NDArray[np.uint8], components: int = COMPONENTS) -> PrincipalComponents:
    """Principal components of images, scaled jointly: the mean square over images and components is 1.

    The second moments are sums of integers below 2⁵³, hence exact in float64 in any order of summation.

    Args:
        images: shape `(n, height, width)` or `(n, pixels)`.
        components: how many.

    Returns:
        The map to the components.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.mnist_parity import principal_components
        >>> images = np.zeros((100, 4, 4), np.uint8)
        >>> images[:50, 0, 0] = 255  # one pixel varies
        >>> principal_components(images, 1).loadings[0].tolist()
        [1.0]
    """
    flat = images.reshape(len(images), -1)
    count, pixels = flat.shape
    moments, total = np.zeros((pixels, pixels)), np.zeros(pixels)
    for start in range(0, count, CHUNK):
        block = flat[start : start + CHUNK].astype(np.float64)
        moments += block.T @ block
        total += block.sum(axis=0)
    covariance = (count * moments - np.outer(total, total)) / (count * 255.0) ** 2
    variances, vectors = np.linalg.eigh(covariance)
    variances, vectors = variances[::-1][:components], vectors[:, ::-1][:, :components]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(components)]
    return PrincipalComponents(
        mean=total / (count * 255.0),
        loadings=vectors * np.sign(largest),
        scale=float(np.sqrt(variances.mean())),
    )


def whitened(components: NDArray[np.float32], training: NDArray[np.float32]) -> NDArray[np.float32]:
    """Components of equal variance, each pattern with mean square 1. Source: Geiger et al. (2020).

    Args:
        components: of patterns, shape `(n, components)`.
        training: of the patterns whose means become 0 and whose variances become equal, of the same width.

    Returns:
        Shape `(n, components)`. No pattern may lie at the mean of the training patterns.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.mnist_parity import whitened
        >>> training = np.array([[2.0, 30.0], [2.0, -30.0], [-2.0, 30.0], [-2.0, -30.0]], np.float32)
        >>> whitened(np.array([[2.0, 30.0], [1.0, -15.0]], np.float32), training).tolist()
        [[1.0, 1.0], [1.0, -1.0]]
    """
    white = (components - training.mean(0, dtype=np.float64)) / training.std(0, dtype=np.float64)
    return (white / np.sqrt((white**2).mean(1, keepdims=True))).astype(np.float32)


def parity_labels(digits: NDArray[np.uint8]) -> NDArray[np.int8]:
    """+1 for an even digit, −1 for an odd one.

    Args:
        digits: shape `(n,)`.

    Returns:
        int8, shape `(n,)`.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.mnist_parity import parity_labels
        >>> parity_labels(np.array([0, 7, 4], np.uint8)).tolist()
        [1, -1, 1]
    """
    return (1 - 2 * (digits.astype(np.int8) % 2)).astype(np.int8)
