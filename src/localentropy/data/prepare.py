"""Preparing a dataset from any source: the one entry for workflow rules and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np

from localentropy.arguments import nearest_choice
from localentropy.data import dress_coat, mnist_parity
from localentropy.data.embedded import read_embedded
from localentropy.data.prepared import LAYOUTS, Dataset, Split, save
from localentropy.data.registry import DATA_DIR, DataSource
from localentropy.data.sources import RawImages, read_raw
from localentropy.errors import DataError

NAMES = tuple(LAYOUTS)


def prepare(
    name: str,
    output: Path,
    *,
    source: str = "embedded",
    mirror: Path | None = None,
    data_dir: Path = DATA_DIR,
) -> Dataset:
    """Prepare a dataset and write it to an npz file, whole or not at all.

    The file has the same layout from every source, and for the sets that are embedded whole the same bytes.

    Args:
        name: one of `NAMES`.
        output: the npz file; read it with `prepared.load`.
        source: one of `registry.DataSource`.
        mirror: the directory, for the source `mirror`.
        data_dir: holds `datasets.csv`, `embedded/` and, for downloads, `raw/`.

    Returns:
        The dataset that was written.

    Raises:
        DataError: an unknown name or source, a raw file that is missing or wrong, no network, a full disk.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from localentropy.data.prepare import prepare
        >>> with TemporaryDirectory() as folder:
        ...     print(prepare("dress_coat", Path(folder, "dress_coat.npz")).train.inputs.shape)
        (3927, 784)
    """
    _check_choice("dataset", name, NAMES)
    _check_choice("data.source", source, get_args(DataSource))
    if source == "embedded":
        dataset = read_embedded(name, data_dir)
    else:
        dataset = build(name, read_raw(RAW_DATASETS[name], source, mirror, data_dir))
    save(dataset, output)
    return dataset


def build(name: str, raw: RawImages) -> Dataset:
    """Prepare a dataset from raw images, without reading or writing files.

    Args:
        name: one of `NAMES`.
        raw: the images of `RAW_DATASETS[name]`.

    Returns:
        The dataset.

    Raises:
        KeyError: another name.
        DataError: arrays that do not have the layout of this dataset.
    """
    return BUILDERS[name](name, raw)


def _images(name: str, raw: RawImages) -> Dataset:
    return Dataset(
        name,
        Split(raw.train_images, raw.train_labels, _indices(len(raw.train_labels))),
        Split(raw.test_images, raw.test_labels, _indices(len(raw.test_labels))),
    )


def _mnist_parity(name: str, raw: RawImages) -> Dataset:
    axes = mnist_parity.principal_components(raw.train_images)
    train, test = (
        Split(axes.project(images), mnist_parity.parity_labels(digits), _indices(len(digits)))
        for images, digits in ((raw.train_images, raw.train_labels), (raw.test_images, raw.test_labels))
    )
    return Dataset(name, train, test)


def _dress_coat(name: str, raw: RawImages) -> Dataset:
    pixels, labels, indices = dress_coat.binarize(raw.train_images, raw.train_labels)
    train = Split(pixels, labels, indices.astype(np.int32))
    pixels, labels, indices = dress_coat.binarize(raw.test_images, raw.test_labels)
    return Dataset(name, train, Split(pixels, labels, indices.astype(np.int32)))


BUILDERS: dict[str, Callable[[str, RawImages], Dataset]] = {
    "mnist": _images,
    "fashion_mnist": _images,
    "cifar10": _images,
    "mnist_parity": _mnist_parity,
    "dress_coat": _dress_coat,
}
RAW_DATASETS = {name: name for name in BUILDERS} | {"mnist_parity": "mnist", "dress_coat": "fashion_mnist"}
"""Prepared set → the raw one from which it is made."""


def _indices(count: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.arange(count, dtype=np.int32)


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        close = nearest_choice(value, choices)
        hint = f" (did you mean {close}?)" if close else ""
        raise DataError(f"{what}: found {value!r}{hint}, expected one of {', '.join(choices)}")
