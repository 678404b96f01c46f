"""Files that are whole or absent, whatever ends their writing; their checksums; and what is no file."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A path to write to, that no other call on any machine has: renamed to `file` on success, removed on failure.

    Raises:
        OSError: the folder cannot be made or written, or the disk is full.
    """
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        temporary.replace(file)
    finally:
        with suppress(OSError):
            temporary.unlink()


def file_hash(file: Path) -> str:
    """SHA-256 of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_special(path: Path) -> bool:
    """Whether a folder, a pipe or a device is at the place of a file. Reading a pipe could wait without end."""
    return path.exists() and not path.is_file()
