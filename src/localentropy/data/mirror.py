"""Raw files in a folder of the user, as their authors, libraries and other sites leave them on disk.

The layouts are in `data/README.md`. Whatever the layout, the contents must have the checksums of the official ones.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from localentropy.data import cifar, idx
from localentropy.data.registry import RawFile
from localentropy.errors import DataError

NAMES = {"mnist": "mnist", "fashion_mnist": "fashionmnist", "cifar10": "cifar10"}
"""Names of folders and npz files, as `_plain` writes them."""
ARCHIVES = ("cifar-10-binary", "cifar-10-batches-bin", "cifar-10-python", "cifar-10-batches-py")
ARCHIVE_ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
MOST_NAMED = 3
"""Largest number of folders in a message."""
_INNER = ("raw", "cifar10batchesbin", "cifar10batchespy")


def mirrored_contents(dataset: str, table: Sequence[RawFile], mirror: Path) -> dict[str, bytes]:
    """The contents of the official files, unpacked, from a mirror.

    Args:
        dataset: `mnist`, `fashion_mnist` or `cifar10`.
        table: the rows of this dataset in `data/datasets.csv`.
        mirror: the folder.

    Returns:
        The bytes of each row that has an archive, under its `file`.

    Raises:
        DataError: the mirror cannot be read, or a file is missing or not the official one. The message says what it is.
    """
    try:
        _require_folder(mirror)
        folders = [_Folder(path) for path in dict.fromkeys(_searched(mirror, dataset))]
        members = [raw for raw in table if raw.archive]
        if dataset == "cifar10":
            return _cifar_contents(members, folders, mirror)
        return _idx_contents(dataset, table, folders, mirror)
    except OSError as error:  # a folder that may not be entered, a name that is too long
        raise DataError(f"data.mirror: {error.filename or mirror} cannot be read ({error.strerror})") from error


class _Folder:
    """A folder of the mirror.

    Attributes:
        path: where it is.
        entries: its files and folders, by their names as `_plain` writes them. Of two with one name it has the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries = {_plain(one.name): one for one in sorted(path.iterdir(), key=lambda one: one.is_file())}

    def find(self, *names: str) -> Path | None:
        """The first of some files that the folder has. Kaggle unpacks a file into a folder of the same name."""
        for name in names:
            path = self.entries.get(_plain(name))
            if path is not None:
                inside = path / path.name
                return inside if inside.is_file() else path
        return None


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name.lower())


def _searched(mirror: Path, dataset: str) -> Iterator[Path]:
    """The folders that may have the files, the most likely ones first."""
    others = set(NAMES.values()) - {NAMES[dataset]}
    yield from _around(mirror, dataset)
    for path in _subfolders(mirror):
        if _plain(path.name) not in others:
            with suppress(PermissionError):  # a folder of something else
                yield from _around(path, dataset)


def _around(top: Path, dataset: str) -> Iterator[Path]:
    """The data set's own folders in a folder, and the folder itself, with what libraries add below each."""
    named = [path for path in _subfolders(top) if _plain(path.name) == NAMES[dataset]]
    for home in (*named, top):
        yield home
        yield from (path for path in _subfolders(home) if _plain(path.name) in _INNER)


def _subfolders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir())


def _idx_contents(dataset: str, table: Sequence[RawFile], folders: Sequence[_Folder], mirror: Path) -> dict[str, bytes]:
    gzipped = {raw.file: raw for raw in table if not raw.archive}
    members = [raw for raw in table if raw.archive]
    places = {raw.file: _first(folders, raw.archive, raw.file) for raw in members}
    npz = _first(folders, f"{NAMES[dataset]}.npz")
    if npz is not None and not any(places.values()):
        return idx.npz_contents(npz, members)
    found = {}
    for raw in members:
        path = places[raw.file]
        if path is None:
            raise _not_found(raw.archive, folders, mirror)
        found[raw.file] = idx.official_content(path, gzipped[raw.archive], raw)
    return found


def _cifar_contents(members: Sequence[RawFile], folders: Sequence[_Folder], mirror: Path) -> dict[str, bytes]:
    names = {raw.file: PurePosixPath(raw.file) for raw in members}
    for folder in folders:
        batches = {file: folder.find(name.name, name.stem) for file, name in names.items()}
        if any(batches.values()):
            places = {file: path or folder.path / names[file].name for file, path in batches.items()}
            return cifar.read_members(places, members)
    archive = _first(folders, *(f"{stem}{ending}" for stem in ARCHIVES for ending in ARCHIVE_ENDINGS))
    if archive is None:
        raise _not_found(members[0].archive, folders, mirror)
    return cifar.read_archive(archive, members)


def _first(folders: Sequence[_Folder], *names: str) -> Path | None:
    return next((path for folder in folders if (path := folder.find(*names)) is not None), None)


def _require_folder(mirror: Path) -> None:
    if mirror.is_dir():
        return
    what = "is no directory" if mirror.exists() or mirror.is_symlink() else "does not exist"
    beside = mirror.parent.iterdir() if mirror.parent.is_dir() else ()
    siblings = [path.name for path in beside if path.name != mirror.name]
    raise DataError(
        f"data.mirror: {mirror} {what}, expected a directory with the raw files;"
        f"{_nearest(mirror.name, siblings)} set data.mirror, or data.source=embedded"
    )


def _not_found(file: str, folders: Sequence[_Folder], mirror: Path) -> DataError:
    present = [path.name for folder in folders for path in folder.entries.values()]
    searched = ", ".join(str(folder.path) for folder in folders[:MOST_NAMED])
    more = f" and {len(folders) - MOST_NAMED} more" if len(folders) > MOST_NAMED else ""
    return DataError(
        f"data.mirror: {mirror} lacks {file} (searched {searched}{more});"
        f"{_nearest(file, present)} add the official file, or set data.source=download or embedded"
    )


def _nearest(name: str, candidates: list[str]) -> str:
    # By spelling alone: the official names differ from each other in a word.
    close = difflib.get_close_matches(name, candidates, n=1, cutoff=0.5)
    return f" nearest name found: {close[0]};" if close else ""
