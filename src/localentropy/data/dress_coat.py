"""Binarized Dress against Coat of Fashion-MNIST, and its pixel-shuffled version (shaping, figure 6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from localentropy.data.binary_images import above_median
from localentropy.data.selection import class_balanced, permutation

DRESS, COAT = 3, 4
PER_CLASS = 250


def binarize(
    images: NDArray[np.uint8], classes: NDArray[np.uint8]
) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[np.int64]]:
    """Dresses and coats of medium brightness, thresholded at their own median.

    An image is kept if the median of grey/255 lies in [0.25, 0.75]. A pixel is +1 if it is above the image's median
    and −1 otherwise. Both are decided on integers.

    Args:
        images: grey levels, shape `(n, 28, 28)`.
        classes: Fashion-MNIST classes, shape `(n,)`.

    Returns:
        pixels ±1 of shape `(kept, 784)`, labels (+1 dress, −1 coat), indices of the kept images.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.dress_coat import COAT, DRESS, binarize
        >>> images = np.full((3, 28, 28), 100, np.uint8)
        >>> images[:, 14:] = 150
        >>> pixels, labels, indices = binarize(images, np.array([DRESS, COAT, 0], np.uint8))
        >>> pixels.sum(axis=1).tolist(), labels.tolist(), indices.tolist()
        ([0, 0], [1, -1], [0, 1])
    """
    candidates = np.flatnonzero((classes == DRESS) | (classes == COAT))
    pixels, twice_median = above_median(images[candidates])
    kept = (2 * twice_median >= 255) & (2 * twice_median <= 3 * 255)
    indices = candidates[kept]
    labels = np.where(classes[indices] == DRESS, 1, -1).astype(np.int8)
    return pixels[kept], labels, indices


def training_subset(labels: NDArray[np.int8], indices: NDArray[np.integer], number: int = 0) -> NDArray[np.int64]:
    """Positions of the 250 dresses and 250 coats of a training set, in the order of the official file.

    Of each class those with the smallest keys of the stream `dress_coat/train/<number>`, where the key of an
    image is the one at its index in the official file. There are 344 dresses, so two sets share 182 of them on average,
    and 17 coats.

    Args:
        labels: +1 dress, −1 coat, shape `(n,)`.
        indices: positions of the images in the official file, shape `(n,)`.
        number: which training set.

    Returns:
        Positions in `labels`, ascending.

    Raises:
        DataError: a class has fewer than 250 images.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.dress_coat import training_subset
        >>> labels = np.repeat(np.array([1, -1], np.int8), 300)
        >>> chosen = training_subset(labels, np.arange(600))
        >>> len(chosen), int(labels[chosen].sum())
        (500, 0)
    """
    return class_balanced(labels, PER_CLASS, f"dress_coat/train/{number}", indices)


def shuffle_pixels(pixels: NDArray[np.int8], number: int = 0) -> NDArray[np.int8]:
    """Permute every pixel independently across the samples. Each keeps its marginal; correlations are lost.

    Pixel i takes the permutation of the stream `dress_coat/shuffle/<number>/<i>`.

    Args:
        pixels: shape `(n, pixels)`, before any label is absorbed.
        number: which shuffle.

    Returns:
        Pixels of the same shape.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.dress_coat import shuffle_pixels
        >>> pixels = np.where(np.random.default_rng(0).random((500, 2)) < 0.2, 1, -1).astype(np.int8)
        >>> pixels[:, 1] = pixels[:, 0]  # two pixels that are always alike
        >>> shuffled = shuffle_pixels(pixels)
        >>> (shuffled.mean(0) == pixels.mean(0)).tolist(), round(float(np.mean(shuffled[:, 0] == shuffled[:, 1])), 1)
        ([True, True], 0.7)
    """
    orders = [permutation(f"dress_coat/shuffle/{number}/{i}", len(pixels)) for i in range(pixels.shape[1])]
    return np.take_along_axis(pixels, np.stack(orders, axis=1), axis=0)
