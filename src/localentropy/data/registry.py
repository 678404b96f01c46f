"""The table of raw files, `data/datasets.csv`: where each comes from and how to recognise it."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from localentropy.atomic import is_special
from localentropy.data.files import sha256_of
from localentropy.errors import DataError

DATA_DIR = Path(__file__).resolve().parents[3] / "data"
MANIFEST = Path("embedded/manifest.json")
"""Of the folder `data`: the list of the embedded sets, which lie beside it."""
DataSource = Literal["embedded", "mirror", "download"]
"""Where the raw data come from."""
_TEXT = bytes([9, 10, 13, *range(32, 127)])  # printable characters


@dataclass(frozen=True)
class RawFile:
    """One file of an official distribution.

    Attributes:
        dataset: `mnist`, `fashion_mnist` or `cifar10`.
        file: its official name; for a member of an archive, its path inside, and for a gzipped file its name without
            the ending.
        archive: the archive or gzipped file that holds it, empty for a file of its own.
        urls: where to download it, in this order; empty for a member of an archive.
        sha256: of the file's bytes, in hexadecimal.
        bytes: its length.
        licence: as stated or commonly listed.
        citation: key in `data/README.md`.
    """

    dataset: str
    file: str
    archive: str
    urls: tuple[str, ...]
    sha256: str
    bytes: int
    licence: str
    citation: str


COLUMNS = tuple(field.name for field in fields(RawFile))


def embedded_path(name: str, data_dir: Path = DATA_DIR) -> Path:
    """Where an embedded set lies.

    Args:
        name: of the set.
        data_dir: the folder `data` of a checkout.

    Returns:
        The path.

    Example:
        >>> from pathlib import Path
        >>> from localentropy.data.registry import embedded_path
        >>> embedded_path("mnist", Path("data")).as_posix()
        'data/embedded/mnist.npz'
    """
    return data_dir / MANIFEST.with_name(f"{name}.npz")


def read_registry(path: Path) -> tuple[RawFile, ...]:
    """Read the table of raw files.

    Args:
        path: of the table.

    Returns:
        Its rows.

    Raises:
        DataError: the table is missing or a row of it is malformed.

    Example:
        >>> from localentropy.data.registry import DATA_DIR, read_registry
        >>> sorted({raw.dataset for raw in read_registry(DATA_DIR / "datasets.csv")})
        ['cifar10', 'fashion_mnist', 'mnist']
    """
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            reader = csv.DictReader(stream)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                found = ", ".join(reader.fieldnames or ()) or "nothing"
                raise DataError(f"{path}: found the columns {found}, expected {', '.join(COLUMNS)}; restore the file")
            return tuple(_row(row, f"{path}: line {reader.line_num}") for row in reader)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: the table of data files cannot be read ({error}); restore the file") from error


def raw_files(dataset: str, data_dir: Path = DATA_DIR) -> tuple[RawFile, ...]:
    """The rows of one dataset, archives and their members.

    Args:
        dataset: `mnist`, `fashion_mnist` or `cifar10`.
        data_dir: holds `datasets.csv`.

    Returns:
        Rows of the table.

    Raises:
        DataError: the table is unreadable or has no row for this dataset.

    Example:
        >>> from localentropy.data.registry import raw_files
        >>> raw_files("mnist")[0].file, raw_files("mnist")[0].bytes
        ('train-images-idx3-ubyte.gz', 9912422)
    """
    table = data_dir / "datasets.csv"
    rows = tuple(raw for raw in read_registry(table) if raw.dataset == dataset)
    if not rows:
        raise DataError(f"{table}: has no row for the dataset {dataset}; restore the file")
    return rows


def verify(path: Path, raw: RawFile) -> None:
    """Check that the file at `path` is byte for byte the official one.

    Args:
        path: of the file.
        raw: its row.

    Raises:
        DataError: it is missing, an HTML page, truncated, too long, or differs; the message says which.

    Example:
        >>> from pathlib import Path
        >>> from localentropy.data.registry import raw_files, verify
        >>> verify(Path("nowhere.gz"), raw_files("mnist")[0])
        Traceback (most recent call last):
            ...
        localentropy.errors.DataError: nowhere.gz: cannot be read (No such file or directory), expected
            train-images-idx3-ubyte.gz of 9912422 bytes; fetch it again
    """
    problem = mismatch(path, raw)
    if problem:
        raise DataError(f"{path}: {problem}; fetch it again")


def mismatch(path: Path, raw: RawFile) -> str:
    """The problem with the file at `path`, in words; empty if it is the official one.

    Args:
        path: of the file.
        raw: its row.

    Returns:
        Words.

    Example:
        >>> from localentropy.data.registry import DATA_DIR, mismatch, raw_files
        >>> mismatch(DATA_DIR / "datasets.csv", raw_files("mnist")[0])
        "found a text that begins with 'dataset,file,archive', expected train-images-idx3-ubyte.gz of 9912422 bytes"
    """
    other = no_data(path)
    if other:
        return f"{other}, expected {raw.file} of {raw.bytes} bytes"
    size = path.stat().st_size
    if size != raw.bytes:
        what = "truncated" if size < raw.bytes else "too long"
        return f"{what}: found {size} bytes, expected {raw.bytes}"
    found = sha256_of(path)
    if found != raw.sha256:
        return f"wrong checksum: found sha256 {found[:16]}…, expected {raw.sha256[:16]}…"
    return ""


def no_data(path: Path) -> str:
    """Words for what is at a path in place of a file of data; empty if the file may have data.

    Folders and devices; files that are missing or empty; web pages and other texts; what Git LFS and git-annex leave
    where the content was not fetched.

    Args:
        path: to look at.

    Returns:
        Words.

    Example:
        >>> from pathlib import Path
        >>> from localentropy.data.registry import no_data
        >>> no_data(Path("/"))
        'is a folder, a pipe or a device'
    """
    if path.is_symlink() and not path.exists() and ".git/annex/" in path.readlink().as_posix():
        return f"found a link of git-annex without its content (git annex get {path.name} fetches it)"
    if is_special(path):
        return "is a folder, a pipe or a device"
    try:
        with path.open("rb") as stream:
            head = stream.read(512)
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    return _other_content(head, path.name) if head else "is empty"


def _other_content(head: bytes, name: str) -> str:
    """Words for the first bytes of a file that has no data; empty if it may have data."""
    if head.startswith(b"version https://git-lfs"):
        return f"found a pointer of Git LFS without its content (git lfs pull --include={name} fetches it)"
    if head.startswith(b"/annex/objects/"):
        return f"found a pointer of git-annex without its content (git annex get {name} fetches it)"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return "found an HTML page (an error or login page)"
    if not head.translate(None, _TEXT):
        return f"found a text that begins with {head[:20].decode('ascii')!r}"
    return ""


def _row(row: dict[str, Any], where: str) -> RawFile:
    try:
        typed = {"urls": tuple(row["urls"].split()), "sha256": row["sha256"].lower(), "bytes": int(row["bytes"])}
        raw = RawFile(**(row | typed))
        if len(bytes.fromhex(raw.sha256)) != 32:
            raise ValueError("sha256 is not 64 hexadecimal digits")
    except (ValueError, AttributeError, TypeError) as error:
        raise DataError(f"{where}: malformed row ({error}); restore the file") from error
    return raw
