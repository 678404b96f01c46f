"""The small data that come with the repository, `data/embedded`: read and checked against their manifest."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from localentropy.data.files import sha256_of, write_atomically
from localentropy.data.prepared import Dataset, load
from localentropy.data.registry import MANIFEST, embedded_path
from localentropy.errors import DataError

# images per class (training, test) of the sets that are embedded in part; the others are embedded whole
PARTS = {"mnist": (500, 200), "fashion_mnist": (500, 200), "cifar10": (150, 50)}


@dataclass(frozen=True)
class Entry:
    """One embedded file, and what it was made from.

    Attributes:
        sha256: of the file.
        bytes: its length.
        content_sha256: of its arrays.
        train: training examples.
        test: test examples.
        licence: of the raw files.
        citation: key in `data/README.md`.
        sources: SHA-256 of each raw file, by its name.
    """

    sha256: str
    bytes: int
    content_sha256: str
    train: int
    test: int
    licence: str
    citation: str
    sources: dict[str, str]


def read_embedded(name: str, data_dir: Path) -> Dataset:
    """Read an embedded set.

    Args:
        name: a prepared set, such as "mnist_parity" (data/README.md has all).
        data_dir: the folder `data` of a checkout.

    Returns:
        Inputs and labels of the training and the test set.

    Raises:
        DataError: the file or its entry in the manifest is missing, or they disagree.

    Example:
        >>> from localentropy.data.embedded import read_embedded
        >>> from localentropy.data.registry import DATA_DIR
        >>> read_embedded("dress_coat", DATA_DIR).summary()
        'dress_coat (whole): 3927 training, 677 test examples'
    """
    manifest = data_dir / MANIFEST
    entry = read_manifest(manifest).get(f"{name}.npz")
    if entry is None:
        raise DataError(f"{manifest}: has no entry {name}.npz; restore data/embedded from the repository")
    path = embedded_path(name, data_dir)
    if not path.exists():
        raise DataError(f"{path}: no such file, listed in {manifest.name}; restore it from the repository")
    found = sha256_of(path)
    if found != entry.sha256:
        raise DataError(
            f"{path}: wrong checksum: found sha256 {found[:16]}… of {path.stat().st_size} bytes, expected "
            f"{entry.sha256[:16]}… of {entry.bytes}; restore it from the repository"
        )
    dataset = load(path)
    if dataset.name != name:
        raise DataError(f"{path}: found {dataset.name}, expected {name}; restore it from the repository")
    return dataset


def read_manifest(path: Path) -> dict[str, Entry]:
    """The entries of a manifest, by file name.

    Args:
        path: of the manifest.

    Returns:
        File name → entry.

    Raises:
        DataError: missing or malformed.

    Example:
        >>> from localentropy.data.embedded import read_manifest
        >>> from localentropy.data.registry import DATA_DIR
        >>> read_manifest(DATA_DIR / "embedded/manifest.json")["dress_coat.npz"].train
        3927
    """
    try:
        return {name: Entry(**entry) for name, entry in json.loads(path.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: unreadable manifest ({error}); restore it from the repository") from error


def write_manifest(path: Path, entries: dict[str, Entry]) -> None:
    """Write a manifest, sorted by file name.

    Args:
        path: of the manifest.
        entries: file name → entry.

    Raises:
        DataError: it cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from localentropy.data.embedded import read_manifest, write_manifest
        >>> with TemporaryDirectory() as folder:
        ...     write_manifest(Path(folder, "manifest.json"), {})
        ...     print(read_manifest(Path(folder, "manifest.json")))
        {}
    """
    content = {name: asdict(entries[name]) for name in sorted(entries)}
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())
