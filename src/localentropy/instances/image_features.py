"""Features of images with even or odd classes, and the moments that the theory of ridge regression needs (`glm`).

All images of a prepared set are used, training and test images together. The set stands for the distribution. Each
pixel is centred on its mean over the set. The pixels x have units in which the mean of |x|² is 1. The features v are

    random features  v = tanh(F x) / √p − mean,    F of p rows, independent standard Gaussian,
    pixels           v = x .

So the arguments of tanh have the mean square 1. Labels are y = +1 for even classes and −1 for odd ones. Both labels are
about as frequent: E y is −0.017 in all of MNIST, and 0 in Fashion-MNIST and in the embedded sets. It is not subtracted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    frozen,
    locked,
    require_choice,
    require_frozen,
    require_memory,
    require_signs,
)
from localentropy.data.mnist_parity import parity_labels
from localentropy.data.prepared import DIGITS, LAYOUTS, Dataset
from localentropy.errors import DomainError
from localentropy.quantities import SEED, SIZE, SMALLEST_SHARE

KINDS = ("random_features", "pixels")
SMALLEST = 1e-9
"""A direction with a smaller variance, in units of the largest one, is left out: some pixels are hardly ever on."""
_BLOCK = 2**22  # entries of a block of features


@dataclass(frozen=True, eq=False)
class Moments:
    """What is known of features and labels, along the eigenvectors of the covariance E[v v^T], by falling eigenvalue.

    Attributes:
        eigenvalues: variances λ, [rank].
        coefficients: |E[y v]|, [rank]. An eigenvector may point either way.
        kurtosis: E[v_i⁴] / λ_i², with v_i the component along eigenvector i, [rank]; of Gaussian features 3.
        norm_spread: variance over images of Σ_i v_i² / λ_i / rank; of Gaussian features 2 / rank.
    """

    eigenvalues: np.ndarray
    coefficients: np.ndarray
    kurtosis: np.ndarray
    norm_spread: float


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """Features and labels of a set of images. Arrays cannot be written to.

    Attributes:
        values: v, float64, [images, p], at most 10⁶. Each column is to have the mean 0, which is not checked.
        labels: y, ±1 in float64, [images].

    Raises:
        DomainError: arrays of other shapes or types, or with other numbers.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.image_features import ImageFeatures
        >>> values = np.array([[2.0, 1.0], [-2.0, 1.0], [2.0, -1.0], [-2.0, -1.0]])
        >>> features = ImageFeatures(values, labels=np.array([1, -1, 1, -1]))
        >>> features.moments().eigenvalues.tolist(), features.moments().coefficients.tolist()
        ([4.0, 1.0], [2.0, 0.0])
    """

    values: np.ndarray
    labels: np.ndarray

    def __post_init__(self) -> None:
        values = require_frozen("values", self.values, ("images", "p"))
        object.__setattr__(self, "values", values)
        labels = require_signs("labels", self.labels, values.shape[:1])
        object.__setattr__(self, "labels", frozen(labels.astype(np.float64)))

    def moments(self, smallest: float = SMALLEST) -> Moments:
        """Moments of features and labels, as means over all images.

        Args:
            smallest: leave out the directions with a variance below this, in units of the largest; in [0, 1).

        Returns:
            The moments; rank is the number of directions kept.

        Raises:
            DomainError: smallest out of range, features that do not vary.
        """
        smallest = SMALLEST_SHARE.require(smallest)
        images = len(self.labels)
        eigenvalues, vectors = np.linalg.eigh(self.values.T @ self.values / images)
        if not eigenvalues[-1] > 0.0:
            raise DomainError(f"values: the features of the {images} images do not vary")
        there = eigenvalues > smallest * eigenvalues[-1]
        eigenvalues, vectors = eigenvalues[there][::-1], vectors[:, there][:, ::-1]
        coefficients = np.abs(self.labels @ self.values @ vectors) / images
        fourth, norms = np.zeros(len(eigenvalues)), np.empty(images)
        rows = max(1, _BLOCK // len(eigenvalues))
        for start in range(0, images, rows):
            squares = (self.values[start : start + rows] @ vectors) ** 2 / eigenvalues
            fourth += (squares**2).sum(0)
            norms[start : start + rows] = squares.mean(1)
        return Moments(eigenvalues, coefficients, fourth / images, float(norms.var()))


def image_features(dataset: Dataset, kind: str, features: int, seed: int) -> ImageFeatures:
    """Features of all images of a set: random features of the pixels, or the pixels themselves.

    Source: `glm`, slide on learning curves of real data, after arXiv:2102.08127; docs/glm/theory.md section 5.

    Args:
        dataset: prepared dataset of images in ten classes (`localentropy.data.prepared.load`).
        kind: "random_features" or "pixels".
        features: p, the number of random features; of "pixels" p is their number.
        seed: root seed of F, which is the same for all datasets of one size of image.

    Returns:
        The features, and for each image whether its class is even (1) or odd (-1).

    Raises:
        DomainError: another dataset or kind, images that do not differ, features no integer, below 1 or too many for
            the memory, a seed that is no integer.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.prepared import Dataset, Split
        >>> from localentropy.instances.image_features import image_features
        >>> images = np.random.default_rng(0).integers(0, 256, (20, 28, 28), np.uint8)
        >>> half = Split(images[:10], np.arange(10, dtype=np.uint8), np.arange(10, dtype=np.int32))
        >>> image_features(Dataset("mnist", half, half), "random_features", features=5, seed=0).values.shape
        (20, 5)
    """
    if not isinstance(dataset, Dataset):
        raise DomainError(
            f"dataset = {type(dataset).__name__} object: allowed is a Dataset of localentropy.data.prepared"
        )
    allowed = [name for name, layout in LAYOUTS.items() if layout.labels == DIGITS]
    if dataset.name not in allowed:
        raise DomainError(f"dataset = {dataset.name}: allowed are those of ten classes: {', '.join(allowed)}")
    require_choice("kind", kind, KINDS)
    features, seed = SIZE.called("features").require(features), SEED.require(seed)
    images = np.concatenate([dataset.train.inputs, dataset.test.inputs])
    labels = parity_labels(np.concatenate([dataset.train.labels, dataset.test.labels]))
    if not (images != images[:1]).any():
        raise DomainError(f"dataset = {dataset.name}: its {len(images)} images do not differ")
    pixels = images.reshape(len(images), -1).astype(np.float64)
    pixels -= pixels.mean(0)
    pixels /= math.sqrt((pixels**2).sum(1).mean())
    if kind == "pixels":
        return ImageFeatures(locked(pixels), labels)
    require_memory(8 * features * (3 * len(images) + pixels.shape[1]), images=len(images), features=features)
    matrix = seeds.generator(seed, "features", inputs=pixels.shape[1], features=features).standard_normal(
        (features, pixels.shape[1])
    )
    values = np.tanh(pixels @ matrix.T) / math.sqrt(features)
    return ImageFeatures(locked(values - values.mean(0)), labels)
