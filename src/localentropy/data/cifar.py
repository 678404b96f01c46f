"""Reader of CIFAR-10 (Krizhevsky 2009), from the archive of its binary or python version, or their unpacked batches.

A batch of the python version is a pickle with the same labels and images. It is turned into the records of the binary
version, whose checksum it must have.
"""

from __future__ import annotations

import hashlib
import lzma
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from localentropy.data.cifar_pickle import records_of_pickle
from localentropy.data.registry import RawFile, no_data, verify
from localentropy.errors import DataError, first_line

RECORD = 1 + 3 * 32 * 32  # one label byte, then 1024 red, 1024 green, 1024 blue, row-major
CLASSES = 10
PYTHON_FOLDER = "cifar-10-batches-py"
EXTRAS = ("batches.meta.txt", "batches.meta", "readme.html")  # in the official archives, small, and not read
LARGEST_EXTRA = 100_000
ADVICE = "fetch the official archive again"


def parse_records(content: bytes, where: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Split a batch file into images, shape `(n, 3, 32, 32)`, and labels, shape `(n,)`; unsigned bytes.

    Args:
        content: of the file.
        where: its name, for messages.

    Returns:
        Images and labels.

    Raises:
        DataError: the length is not a multiple of a record, or a label is not below 10.

    Example:
        >>> from localentropy.data.cifar import RECORD, parse_records
        >>> images, labels = parse_records(bytes([3]) + bytes(RECORD - 1), "batch")
        >>> images.shape, labels.tolist()
        ((1, 3, 32, 32), [3])
    """
    if not content or len(content) % RECORD:
        raise DataError(
            f"{where}: found {len(content)} bytes, expected a multiple of the record size {RECORD}; {ADVICE}"
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, RECORD)
    labels = records[:, 0]
    if labels.max() >= CLASSES:
        raise DataError(f"{where}: found the label {labels.max()}, expected 0 to {CLASSES - 1}; {ADVICE}")
    return records[:, 1:].reshape(-1, 3, 32, 32), labels


def read_archive(path: Path, members: Sequence[RawFile]) -> dict[str, bytes]:
    """Read the batch files out of a tar archive (any compression), as streams: nothing is unpacked to disk.

    Args:
        path: the official archive of the binary or python version, or a repack of its members.
        members: rows of the table whose `file` is the path inside the archive of the binary version.

    Returns:
        The records of each member, under its `file`.

    Raises:
        DataError: not an archive, truncated, a member outside its folder, a link or device, an unexpected or
            repeated member, one missing, or one with a wrong size or checksum.
    """
    wanted = {raw.file: raw for raw in members}
    wanted |= {f"{PYTHON_FOLDER}/{PurePosixPath(raw.file).stem}": raw for raw in members}
    folders = {str(parent) for name in wanted for parent in PurePosixPath(name).parents}
    extras = {str(PurePosixPath(folder, name)) for folder in folders - {"."} for name in EXTRAS}
    found: dict[str, bytes] = {}
    other = no_data(path)
    if other:
        raise DataError(f"{path}: {other}, expected a tar archive; {ADVICE}")
    try:
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                name = _checked_name(path, member, folders)
                if member.isdir() or (name in extras and member.size <= LARGEST_EXTRA):
                    continue
                if name not in wanted or wanted[name].file in found:
                    what = "repeated" if name in wanted else "too large a" if name in extras else "unexpected"
                    raise DataError(f"{path}: {what} member {member.name!r}; {ADVICE}")
                found[wanted[name].file] = _checked_content(path, archive, member, wanted[name])
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise DataError(f"{path}: not a readable tar archive, or truncated ({first_line(error)}); {ADVICE}") from error
    missing = [raw.file for raw in members if raw.file not in found]
    if missing:
        raise DataError(f"{path}: the archive lacks {', '.join(missing)}; {ADVICE}")
    return found


def read_members(paths: Mapping[str, Path], members: Sequence[RawFile]) -> dict[str, bytes]:
    """Read unpacked batch files of the binary or python version, each checked against its checksum.

    Args:
        paths: where the file of each member is, by its `file`.
        members: rows of the table.

    Returns:
        The records of each member, under its `file`.

    Raises:
        DataError: a file is missing, truncated or altered.
    """
    return {raw.file: _read_batch(paths[raw.file], raw) for raw in members}


def _read_batch(path: Path, raw: RawFile) -> bytes:
    if path.name.lower().endswith(".bin"):
        verify(path, raw)
        return path.read_bytes()
    other = no_data(path)
    if other:
        raise DataError(f"{path}: {other}, expected a batch of {raw.bytes} bytes at least; {ADVICE}")
    _check_python_size(path.stat().st_size, raw, str(path))
    return _official_records(records_of_pickle(path.read_bytes(), str(path)), raw, str(path))


def _checked_name(path: Path, member: tarfile.TarInfo, folders: set[str]) -> str:
    name = PurePosixPath(member.name)
    folder = str(name) if member.isdir() else str(name.parent)
    if name.is_absolute() or ".." in name.parts or folder not in folders:
        expected = ", ".join(sorted(folders - {"."}))
        raise DataError(f"{path}: member {member.name!r} lies outside the folder {expected}; {ADVICE}")
    if not (member.isreg() or member.isdir()):
        raise DataError(f"{path}: member {member.name!r} is a link or device, expected a file; {ADVICE}")
    return str(name)


def _checked_content(path: Path, archive: tarfile.TarFile, member: tarfile.TarInfo, raw: RawFile) -> bytes:
    where = f"{path}: member {member.name}"
    binary = member.name.endswith(".bin")
    if not binary:
        _check_python_size(member.size, raw, where)
    elif member.size != raw.bytes:
        raise DataError(f"{where}: found {member.size} bytes, expected {raw.bytes}; {ADVICE}")
    stream = archive.extractfile(member)
    content = stream.read() if stream else b""
    return _official_records(content if binary else records_of_pickle(content, where), raw, where)


def _check_python_size(size: int, raw: RawFile, where: str) -> None:
    """Refuse a pickle that is shorter than its records, or much longer: its file names and labels are short."""
    if not raw.bytes <= size <= 2 * raw.bytes + LARGEST_EXTRA:
        what = "truncated" if size < raw.bytes else "too long"
        raise DataError(f"{where}: {what}: found {size} bytes, expected some more than {raw.bytes}; {ADVICE}")


def _official_records(content: bytes, raw: RawFile, where: str) -> bytes:
    digest = hashlib.sha256(content).hexdigest()
    if digest != raw.sha256:
        raise DataError(f"{where}: wrong checksum: found sha256 {digest[:16]}…, expected {raw.sha256[:16]}…; {ADVICE}")
    return content
