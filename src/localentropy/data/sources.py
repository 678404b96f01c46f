"""Sources of raw files: a mirror directory, or a download into `data/raw`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localentropy.data import cifar
from localentropy.data.download import download
from localentropy.data.idx import official_content, parse_idx
from localentropy.data.mirror import mirrored_contents
from localentropy.data.registry import RawFile, raw_files
from localentropy.errors import DataError


@dataclass(frozen=True)
class RawImages:
    """A dataset as its authors gave it, in unsigned bytes.

    Attributes:
        train_images: grey levels or colours, shape `(n, …)`.
        train_labels: classes, shape `(n,)`.
        test_images: grey levels or colours, shape `(n, …)`.
        test_labels: classes, shape `(n,)`.
    """

    train_images: NDArray[np.uint8]
    train_labels: NDArray[np.uint8]
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.uint8]


def read_raw(dataset: str, source: str, mirror: Path | None, data_dir: Path) -> RawImages:
    """Find, verify and read the raw files of one dataset.

    Args:
        dataset: `mnist`, `fashion_mnist` or `cifar10`.
        source: `mirror`, or `download` (files that are already in `data_dir/raw` are verified and kept).
        mirror: for `mirror`, a directory in one of the layouts of `localentropy.data.mirror`.
        data_dir: holds `datasets.csv` and `raw/`.

    Returns:
        The images and classes.

    Raises:
        DataError: a file is missing, cannot be fetched, or is not the official one.
    """
    table = raw_files(dataset, data_dir)
    if source == "download":
        contents = _downloaded(dataset, table, data_dir / "raw" / dataset)
    elif mirror is None:
        raise DataError("data.source is mirror but no directory is given; set data.mirror to one with the files")
    else:
        contents = mirrored_contents(dataset, table, mirror)
    return _cifar_images(contents) if dataset == "cifar10" else _idx_images(contents)


def _downloaded(dataset: str, table: Sequence[RawFile], folder: Path) -> dict[str, bytes]:
    whole = {raw.file: raw for raw in table if not raw.archive}
    members = [raw for raw in table if raw.archive]
    places = {file: download(raw, folder) for file, raw in whole.items()}
    if dataset == "cifar10":
        return cifar.read_archive(places[members[0].archive], members)
    return {raw.file: official_content(places[raw.archive], whole[raw.archive], raw) for raw in members}


def _idx_images(contents: dict[str, bytes]) -> RawImages:
    arrays = []
    for part in ("train", "t10k"):
        images_file, labels_file = f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"
        images = parse_idx(contents[images_file], images_file, (28, 28))
        labels = parse_idx(contents[labels_file], labels_file, ())
        if len(images) != len(labels):
            raise DataError(
                f"{labels_file}: found {len(labels)} labels, expected {len(images)}, one for each image of "
                f"{images_file}; fetch both again"
            )
        arrays += [images, labels]
    return RawImages(*arrays)


def _cifar_images(contents: dict[str, bytes]) -> RawImages:
    batches = {
        name: cifar.parse_records(contents[name], name) for name in sorted(contents)
    }  # data_batch_1 … 5, test_batch
    train = [batch for name, batch in batches.items() if "data_batch" in name]
    test = [batch for name, batch in batches.items() if "test_batch" in name]
    (train_images, train_labels), (test_images, test_labels) = (
        tuple(np.concatenate(arrays) for arrays in zip(*part, strict=True)) for part in (train, test)
    )
    return RawImages(train_images, train_labels, test_images, test_labels)
