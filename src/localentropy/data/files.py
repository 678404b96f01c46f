"""Writing a file whole or not at all, and checksums."""

from __future__ import annotations

from pathlib import Path

from localentropy.atomic import file_hash, replacing
from localentropy.errors import DataError


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        DataError: the file cannot be read.
    """
    try:
        return file_hash(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write `content` to `path`: first under a name unique to this call in the same folder, then renamed.

    A failure leaves the old file at `path`, and no other file.

    Raises:
        DataError: the folder cannot be made or written, or the disk is full.
    """
    try:
        with replacing(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataError(
            f"{path}: cannot be written ({reason}, {len(content)} bytes needed); "
            "free some space or choose another folder"
        ) from error
