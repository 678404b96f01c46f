"""Images as ±1 pixels: each image is compared with its own median."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def above_median(images: NDArray[np.uint8]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Whether each pixel is above the median of its image. All is decided on integers.

    Args:
        images: grey levels or colours, shape `(n, …)`, an even number of values in each.

    Returns:
        +1 for a value above the median of its image and −1 for the others, shape `(n, values)`; twice the medians,
        shape `(n,)`.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.binary_images import above_median
        >>> above_median(np.array([[[10, 20], [30, 200]]], np.uint8))[0].tolist()  # the median is 25
        [[-1, -1, 1, 1]]
    """
    flat = images.reshape(len(images), -1)
    middle = flat.shape[1] // 2  # an even number of values: the median is the mean of the two middle ones
    parts = np.partition(flat, (middle - 1, middle), axis=1).astype(np.int64)
    twice_median = parts[:, middle - 1] + parts[:, middle]
    above = 2 * flat.astype(np.int64) > twice_median[:, None]
    return np.where(above, 1, -1).astype(np.int8), twice_median
