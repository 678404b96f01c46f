"""Reader of MNIST and Fashion-MNIST: IDX files (LeCun et al. 1998), gzipped or not, and their arrays in an npz file."""

from __future__ import annotations

import gzip
import hashlib
import math
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localentropy.data.registry import RawFile, mismatch, no_data
from localentropy.errors import DataError, first_line

ADVICE = "fetch the official file again"
UNSIGNED_BYTE = 0x08
GZIP = b"\x1f\x8b"
KERAS = {
    "train-images": "x_train",
    "train-labels": "y_train",
    "t10k-images": "x_test",
    "t10k-labels": "y_test",
}
"""Names of the arrays in an npz file, by the beginning of the file's name."""


def parse_idx(content: bytes, where: str, item_shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The array in an IDX file of unsigned bytes.

    Args:
        content: of the file, unpacked.
        where: its name, for messages.
        item_shape: the shape of one item, `(28, 28)` for images, `()` for labels.

    Returns:
        Array of shape `(items, *item_shape)`.

    Raises:
        DataError: a wrong header, too few or too many bytes.

    Example:
        >>> from localentropy.data.idx import parse_idx
        >>> parse_idx(bytes.fromhex("00000801 00000003 07 02 01"), "labels", ()).tolist()
        [7, 2, 1]
    """
    dimensions = 1 + len(item_shape)
    magic = struct.pack(">HBB", 0, UNSIGNED_BYTE, dimensions)
    if content[:4] != magic:
        raise DataError(
            f"{where}: bad IDX header: found magic number 0x{content[:4].hex()}, "
            f"expected 0x{magic.hex()} (unsigned bytes, {dimensions} dimensions); {ADVICE}"
        )
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise DataError(f"{where}: truncated IDX header: found {len(content)} bytes, expected {start}; {ADVICE}")
    shape = struct.unpack(f">{dimensions}I", content[4:start])
    if shape[1:] != item_shape:
        raise DataError(f"{where}: wrong IDX dimensions: found items {shape[1:]}, expected {item_shape}; {ADVICE}")
    found, expected = len(content) - start, math.prod(shape)
    if found != expected:
        what = "truncated" if found < expected else "trailing bytes"
        raise DataError(f"{where}: {what}: found {found} data bytes, expected {expected} for {shape}; {ADVICE}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def official_content(path: Path, whole: RawFile, member: RawFile) -> bytes:
    """The unpacked content of an official IDX file, from a file that has it gzipped by any program, or as it is.

    Args:
        path: the file; its first bytes say whether it is gzipped.
        whole: the official gzipped file.
        member: its content.

    Returns:
        The bytes.

    Raises:
        DataError: another content; says what it is.
    """
    content = b"" if no_data(path) else _unpacked(path, member.bytes)
    if hashlib.sha256(content).hexdigest() == member.sha256:
        return content
    twice = "gzipped twice" if content.startswith(GZIP) else ""
    problem = twice or mismatch(path, whole if path.suffix.lower() == ".gz" else member)
    raise DataError(f"{path}: {problem or 'another content than the official one'}; fetch it again")


def npz_contents(path: Path, members: Sequence[RawFile]) -> dict[str, bytes]:
    """The contents of the official IDX files, from the arrays in an npz file.

    Args:
        path: the file.
        members: rows of the contents.

    Returns:
        The bytes of each member, under its `file`.

    Raises:
        DataError: no npz file, an array that is missing or not of bytes, or has other contents than the official ones.
    """
    other = no_data(path)
    if other:
        raise DataError(f"{path}: {other}, expected an npz file; {ADVICE}")
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {raw.file: stored[KERAS[raw.file[: raw.file.index("-idx")]]] for raw in members}
    except (OSError, ValueError, EOFError, KeyError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        names = ", ".join(KERAS.values())
        raise DataError(f"{path}: truncated, or no npz file with {names} ({first_line(error)}); {ADVICE}") from error
    return {raw.file: _official_array(arrays[raw.file], raw, path) for raw in members}


def _official_array(array: NDArray[np.uint8], raw: RawFile, path: Path) -> bytes:
    header = struct.pack(f">HBB{array.ndim}I", 0, UNSIGNED_BYTE, array.ndim, *array.shape)
    content = header + array.tobytes()
    if array.dtype != np.uint8 or hashlib.sha256(content).hexdigest() != raw.sha256:
        raise DataError(
            f"{path}: its array for {raw.file}, {array.dtype} {array.shape}, has another content than the official "
            f"file; {ADVICE}"
        )
    return content


def _unpacked(path: Path, size: int) -> bytes:
    """The content of a file, without gzip; one byte too many if it is longer than `size`, none if it is damaged."""
    try:
        with path.open("rb") as stream:
            gzipped = stream.read(2) == GZIP
        with gzip.open(path, "rb") if gzipped else path.open("rb") as stream:
            return stream.read(size + 1)
    except (EOFError, zlib.error, OSError):
        return b""
