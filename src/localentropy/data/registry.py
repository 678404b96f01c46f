"""The table of raw files, `data/datasets.csv`: where each comes from and how to recognise it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from localentropy.data.files import sha256_of
from localentropy.errors import DataError

DATA_DIR = Path(__file__).resolve().parents[3] / "data"
COLUMNS = ("dataset", "file", "archive", "urls", "sha256", "bytes", "licence", "citation")


@dataclass(frozen=True)
class RawFile:
    """One file of an official distribution.

    Attributes:
        dataset: `mnist`, `fashion_mnist` or `cifar10`.
        file: its official name; for a member of an archive, its path inside.
        archive: the archive that holds it, empty for a file of its own.
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


def read_registry(path: Path) -> tuple[RawFile, ...]:
    """Read the table of raw files.

    Raises:
        DataError: the table is missing or a row of it is malformed.
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

    Raises:
        DataError: the table is unreadable or has no row for this dataset.
    """
    table = data_dir / "datasets.csv"
    rows = tuple(raw for raw in read_registry(table) if raw.dataset == dataset)
    if not rows:
        raise DataError(f"{table}: has no row for the dataset {dataset}; restore the file")
    return rows


def verify(path: Path, raw: RawFile) -> None:
    """Check that the file at `path` is byte for byte the official one.

    Raises:
        DataError: it is missing, an HTML page, truncated, too long, or differs; the message says which.
    """
    problem = mismatch(path, raw)
    if problem:
        raise DataError(f"{path}: {problem}; fetch it again")


def mismatch(path: Path, raw: RawFile) -> str:
    """The problem with the file at `path`, in words; empty if it is the official one."""
    if is_special(path):
        return "is a folder, a pipe or a device, expected a file"
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            head = stream.read(512)
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    if looks_like_html(head):
        return f"found an HTML page (an error or login page), expected {raw.file} of {raw.bytes} bytes"
    if size != raw.bytes:
        what = "truncated" if size < raw.bytes else "too long"
        return f"{what}: found {size} bytes, expected {raw.bytes}"
    found = sha256_of(path)
    if found != raw.sha256:
        return f"wrong checksum: found sha256 {found[:16]}…, expected {raw.sha256[:16]}…"
    return ""


def is_special(path: Path) -> bool:
    """Whether something else than a file is there. A pipe would be waited for without end."""
    return path.exists() and not path.is_file()


def looks_like_html(head: bytes) -> bool:
    """Whether the first bytes of a file are those of a web page."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower()
    return start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body"))


def _row(row: dict[str, str], where: str) -> RawFile:
    try:
        raw = RawFile(
            dataset=row["dataset"],
            file=row["file"],
            archive=row["archive"],
            urls=tuple(row["urls"].split()),
            sha256=row["sha256"].lower(),
            bytes=int(row["bytes"]),
            licence=row["licence"],
            citation=row["citation"],
        )
        if len(bytes.fromhex(raw.sha256)) != 32:
            raise ValueError("sha256 is not 64 hexadecimal digits")
    except (ValueError, AttributeError) as error:
        raise DataError(f"{where}: malformed row ({error}); restore the file") from error
    return raw
