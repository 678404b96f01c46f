"""Reader of the binary version of CIFAR-10 (Krizhevsky 2009), from its archive or its unpacked members."""

from __future__ import annotations

import hashlib
import lzma
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from localentropy.data.registry import RawFile, is_special, looks_like_html, verify
from localentropy.errors import DataError

RECORD = 1 + 3 * 32 * 32  # one label byte, then 1024 red, 1024 green, 1024 blue, row-major
CLASSES = 10
EXTRAS = ("batches.meta.txt", "readme.html")  # these are in the official archive, small, and are not read
LARGEST_EXTRA = 100_000
ADVICE = "fetch the official archive again"


def parse_records(content: bytes, where: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Split a batch file into images `(n, 3, 32, 32)` and labels `(n,)`, unsigned bytes.

    Raises:
        DataError: the length is not a multiple of a record, or a label is not below 10.
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
        path: the official archive or a repack of its members.
        members: rows of the table whose `file` is the path inside the archive.

    Returns:
        The bytes of each member, under its `file`.

    Raises:
        DataError: not an archive, truncated, a member outside its folder, a link or device, an unexpected or
            repeated member, one missing, or one with a wrong size or checksum.
    """
    wanted = {raw.file: raw for raw in members}
    folders = {str(parent) for name in wanted for parent in PurePosixPath(name).parents}
    extras = {str(PurePosixPath(folder, name)) for folder in folders - {"."} for name in EXTRAS}
    found: dict[str, bytes] = {}
    if is_special(path):
        raise DataError(f"{path}: is a folder, a pipe or a device, expected a tar archive; {ADVICE}")
    try:
        with path.open("rb") as stream:
            if looks_like_html(stream.read(512)):
                raise DataError(f"{path}: found an HTML page, expected a tar archive; {ADVICE}")
        with tarfile.open(path, "r|*") as archive:
            for member in archive:
                name = _checked_name(path, member, folders)
                if member.isdir() or (name in extras and member.size <= LARGEST_EXTRA):
                    continue
                if name not in wanted or name in found:
                    what = "repeated" if name in found else "too large a" if name in extras else "unexpected"
                    raise DataError(f"{path}: {what} member {member.name!r}; {ADVICE}")
                found[name] = _checked_content(path, archive, member, wanted[name])
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{path}: not a readable tar archive, or truncated ({reason}); {ADVICE}") from error
    missing = [name for name in wanted if name not in found]
    if missing:
        raise DataError(f"{path}: the archive lacks {', '.join(missing)}; {ADVICE}")
    return found


def read_members(paths: Mapping[str, Path], members: Sequence[RawFile]) -> dict[str, bytes]:
    """Read unpacked batch files, each checked against its checksum.

    Raises:
        DataError: a file is missing, truncated or altered.
    """
    for raw in members:
        verify(paths[raw.file], raw)
    return {raw.file: paths[raw.file].read_bytes() for raw in members}


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
    if member.size != raw.bytes:
        raise DataError(f"{where}: found {member.size} bytes, expected {raw.bytes}; {ADVICE}")
    stream = archive.extractfile(member)
    content = stream.read() if stream else b""
    digest = hashlib.sha256(content).hexdigest()
    if digest != raw.sha256:
        raise DataError(f"{where}: wrong checksum: found sha256 {digest[:16]}…, expected {raw.sha256[:16]}…; {ADVICE}")
    return content
