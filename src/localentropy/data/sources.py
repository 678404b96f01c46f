"""Where raw files come from: a mirror directory, or a download into `data/raw`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from localentropy.arguments import nearest_choice
from localentropy.data import cifar
from localentropy.data.download import download
from localentropy.data.idx import read_idx
from localentropy.data.registry import RawFile, raw_files, verify
from localentropy.errors import DataError

SUBFOLDERS = {
    "mnist": ("mnist", "MNIST", "MNIST/raw"),
    "fashion_mnist": ("fashion_mnist", "fashion-mnist", "FashionMNIST", "FashionMNIST/raw"),
    "cifar10": ("cifar10", "cifar-10", "CIFAR10"),
}
ARCHIVE_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")


@dataclass(frozen=True)
class RawImages:
    """A dataset as its authors gave it: unsigned bytes, images `(n, …)` and classes `(n,)`."""

    train_images: NDArray[np.uint8]
    train_labels: NDArray[np.uint8]
    test_images: NDArray[np.uint8]
    test_labels: NDArray[np.uint8]


def read_raw(dataset: str, source: str, mirror: Path | None, data_dir: Path) -> RawImages:
    """Find, verify and read the raw files of one dataset.

    Args:
        dataset: `mnist`, `fashion_mnist` or `cifar10`.
        source: `mirror`, or `download` (files that are already in `data_dir/raw` are verified and kept).
        mirror: for `mirror`, a directory with the official files, or with a folder per dataset; CIFAR-10 as
            the official archive, a repack of its members, or the members themselves.
        data_dir: holds `datasets.csv` and `raw/`.

    Raises:
        DataError: a file is missing, cannot be fetched, or is not the official one.
    """
    table = raw_files(dataset, data_dir)
    if source == "download":
        whole = [raw for raw in table if not raw.archive]
        folder = data_dir / "raw" / dataset
        places = {raw.file: download(raw, folder) for raw in whole}
        if dataset == "cifar10":
            members = [raw for raw in table if raw.archive]
            return _cifar_images(cifar.read_archive(places[whole[0].file], members), members)
        return _idx_images(places)
    if mirror is None:
        raise DataError("data.source is mirror but no directory is given; set data.mirror to one with the files")
    try:
        folders = _mirror_folders(mirror, dataset)
        if dataset == "cifar10":
            return _mirrored_cifar(table, folders, mirror)
        places = {raw.file: _find(raw.file, folders, mirror) for raw in table}
    except OSError as error:  # a folder that may not be entered, a name that is too long
        raise DataError(f"data.mirror: {error.filename or mirror} cannot be read ({error.strerror})") from error
    for raw in table:
        verify(places[raw.file], raw)
    return _idx_images(places)


def _idx_images(places: dict[str, Path]) -> RawImages:
    arrays = []
    for part in ("train", "t10k"):
        images_path, labels_path = (
            places[f"{part}-images-idx3-ubyte.gz"],
            places[f"{part}-labels-idx1-ubyte.gz"],
        )
        images, labels = read_idx(images_path, (28, 28)), read_idx(labels_path, ())
        if len(images) != len(labels):
            raise DataError(
                f"{labels_path}: found {len(labels)} labels, expected {len(images)}, one for each image of "
                f"{images_path.name}; fetch both again"
            )
        arrays += [images, labels]
    return RawImages(*arrays)


def _cifar_images(contents: dict[str, bytes], members: Iterable[RawFile]) -> RawImages:
    names = sorted(raw.file for raw in members)  # data_batch_1 … 5, test_batch
    batches = {name: cifar.parse_records(contents[name], name) for name in names}
    train = [batch for name, batch in batches.items() if "data_batch" in name]
    test = [batch for name, batch in batches.items() if "test_batch" in name]
    (train_images, train_labels), (test_images, test_labels) = (
        tuple(np.concatenate(arrays) for arrays in zip(*part, strict=True)) for part in (train, test)
    )
    return RawImages(train_images, train_labels, test_images, test_labels)


def _mirrored_cifar(table: tuple[RawFile, ...], folders: list[Path], mirror: Path) -> RawImages:
    members = [raw for raw in table if raw.archive]
    archive = members[0].archive
    inner = PurePosixPath(members[0].file).parent.name
    for folder in folders:
        for home in (folder / inner, folder):
            places = {raw.file: home / PurePosixPath(raw.file).name for raw in members}
            if any(path.exists() for path in places.values()):
                return _cifar_images(cifar.read_members(places, members), members)
        for stem in (archive.removesuffix(".tar.gz"), inner):
            for ending in ARCHIVE_ENDINGS:
                if (folder / f"{stem}{ending}").exists():
                    return _cifar_images(cifar.read_archive(folder / f"{stem}{ending}", members), members)
    raise _not_found(archive, folders, mirror)


def _mirror_folders(mirror: Path, dataset: str) -> list[Path]:
    if not mirror.is_dir():
        what = "is no directory" if mirror.exists() or mirror.is_symlink() else "does not exist"
        beside = mirror.parent.iterdir() if mirror.parent.is_dir() else ()
        siblings = [path.name for path in beside if path.name != mirror.name]
        raise DataError(
            f"data.mirror: {mirror} {what}, expected a directory with the raw files;"
            f"{_nearest(mirror.name, siblings)} set data.mirror, or data.source: embedded"
        )
    return [mirror / name for name in SUBFOLDERS[dataset] if (mirror / name).is_dir()] + [mirror]


def _find(file: str, folders: list[Path], mirror: Path) -> Path:
    for folder in folders:
        if (folder / file).exists() or (folder / file).is_symlink():
            return folder / file
    raise _not_found(file, folders, mirror)


def _not_found(file: str, folders: list[Path], mirror: Path) -> DataError:
    present = [path.name for folder in folders for path in sorted(folder.iterdir())]
    searched = ", ".join(str(folder) for folder in folders)
    return DataError(
        f"data.mirror: {mirror} lacks {file} (searched {searched});"
        f"{_nearest(file, present)} add the official file, or set data.source: download or embedded"
    )


def _nearest(name: str, candidates: list[str]) -> str:
    close = nearest_choice(name, candidates)
    return f" nearest name found: {close};" if close else ""
