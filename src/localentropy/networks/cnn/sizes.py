"""The layers of a convolutional network of width k, and its number of parameters; see `network`."""

from __future__ import annotations

from itertools import pairwise

from localentropy.quantities import WIDTH

COLOURS, CLASSES, TAPS = 3, 10, 9


def channels(width: int) -> list[tuple[int, int]]:
    """(outputs, inputs) of the four convolutions and the linear layer.

    Args:
        width: k, filters of the first convolution.

    Returns:
        Five pairs.

    Raises:
        DomainError: width no integer or below 1.

    Example:
        >>> from localentropy.networks.cnn.sizes import channels
        >>> channels(16)
        [(16, 3), (32, 16), (64, 32), (128, 64), (10, 128)]
    """
    width = WIDTH.require(width)
    sizes = [COLOURS, width, 2 * width, 4 * width, 8 * width, CLASSES]
    return [(after, before) for before, after in pairwise(sizes)]


def parameter_count(width: int) -> int:
    """Number of trainable parameters of one network.

    Args:
        width: k, filters of the first convolution.

    Returns:
        The number.

    Raises:
        DomainError: width no integer or below 1.

    Example:
        >>> from localentropy.networks.cnn.sizes import parameter_count
        >>> parameter_count(16)
        98970
    """
    *convolutions, (classes, features) = channels(width)
    return sum(TAPS * after * before + 2 * after for after, before in convolutions) + classes * (features + 1)
