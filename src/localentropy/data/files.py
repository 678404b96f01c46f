"""Writing a file whole or not at all, and checksums."""

from __future__ import annotations

from pathlib import Path

from localentropy.atomic import file_hash, replacing
from localentropy.errors import DataError


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Args:
        path: of the file.

    Returns:
        64 digits.

    Raises:
        DataError: the file cannot be read.

    Example:
        >>> from localentropy.data.files import sha256_of
        >>> from localentropy.data.registry import DATA_DIR
        >>> len(sha256_of(DATA_DIR / "datasets.csv"))
        64
    """
    try:
        return file_hash(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}); check the path") from error


def write_atomically(path: Path, content: bytes | memoryview) -> None:
    """Write `content` to `path`: first under a name unique to this call in the same folder, then renamed.

    A failure leaves the old file at `path`, and no other file.

    Args:
        path: of the file.
        content: its bytes.

    Raises:
        DataError: the folder cannot be made or written, or the disk is full.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from localentropy.data.files import write_atomically
        >>> with TemporaryDirectory() as folder:
        ...     write_atomically(Path(folder, "new/file"), b"all of it")
        ...     print(Path(folder, "new/file").read_text())
        all of it
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
