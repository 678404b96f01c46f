"""Choices among the images of a dataset, the same on every machine and with every library version.

They are made by hashing. The random generator of a library may change its streams between versions.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from localentropy.errors import DataError


def stable_keys(stream: str, count: int) -> NDArray[np.uint64]:
    """`count` uniform 64-bit keys: the first 8·count bytes of SHAKE-256 of the stream's name, little-endian.

    A longer list begins with the shorter one.

    Args:
        stream: its name.
        count: number of keys.

    Returns:
        uint64, shape `(count,)`.

    Example:
        >>> from localentropy.data.selection import stable_keys
        >>> (stable_keys("own", 3)[:2] == stable_keys("own", 2)).tolist()
        [True, True]
    """
    return np.frombuffer(hashlib.shake_256(stream.encode()).digest(8 * count), "<u8").astype(np.uint64)


def permutation(stream: str, count: int) -> NDArray[np.int64]:
    """A uniform permutation of `range(count)`: the order of the stream's keys.

    Args:
        stream: its name.
        count: number of items.

    Returns:
        int64, shape `(count,)`.

    Example:
        >>> from localentropy.data.selection import permutation
        >>> permutation("own", 5).tolist()
        [4, 1, 0, 3, 2]
    """
    return np.argsort(stable_keys(stream, count), kind="stable")


def class_balanced(
    labels: NDArray[np.integer], per_class: int, stream: str, indices: NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Positions of `per_class` items of every class, ascending: those with the smallest keys of the stream.

    A larger choice from the same stream contains the smaller one.

    Args:
        labels: class of each item, shape `(n,)`.
        per_class: how many of each.
        stream: name of the choice.
        indices: the key of item i is the stream's key number `indices[i]`; by default i.

    Returns:
        Positions, int64, shape `(classes × per_class,)`.

    Raises:
        DataError: a class has too few items.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.selection import class_balanced
        >>> labels = np.array([7, 7, 7, 3, 3, 3])
        >>> labels[class_balanced(labels, 2, "own")].tolist()
        [7, 7, 3, 3]
    """
    if indices is None:
        indices = np.arange(len(labels))
    keys = stable_keys(stream, int(indices.max(initial=-1)) + 1)[indices]
    chosen = [np.zeros(0, np.int64)]
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        if len(members) < per_class:
            raise DataError(
                f"class {label}: found {len(members)} images, expected at least {per_class}; "
                "take fewer per class, or the whole dataset (data.source=mirror or download)"
            )
        chosen.append(members[np.argsort(keys[members], kind="stable")[:per_class]])
    return np.sort(np.concatenate(chosen))
