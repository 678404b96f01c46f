"""Reader of gzipped IDX files, the format of MNIST and Fashion-MNIST (LeCun et al. 1998)."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localentropy.data.registry import looks_like_html
from localentropy.errors import DataError

ADVICE = "fetch the official file again"
UNSIGNED_BYTE = 0x08


def read_idx(path: Path, item_shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Read an IDX file of unsigned bytes.

    Args:
        path: a gzipped IDX file.
        item_shape: the shape of one item, `(28, 28)` for images, `()` for labels.

    Returns:
        Array of shape `(items, *item_shape)`.

    Raises:
        DataError: not gzip, damaged, a wrong header, too few or too many bytes.
    """
    content = _decompress(path)
    dimensions = 1 + len(item_shape)
    magic = struct.pack(">HBB", 0, UNSIGNED_BYTE, dimensions)
    if content[:4] != magic:
        raise DataError(
            f"{path}: bad IDX header: found magic number 0x{content[:4].hex()}, "
            f"expected 0x{magic.hex()} (unsigned bytes, {dimensions} dimensions); {ADVICE}"
        )
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise DataError(f"{path}: truncated IDX header: found {len(content)} bytes, expected {start}; {ADVICE}")
    shape = struct.unpack(f">{dimensions}I", content[4:start])
    if shape[1:] != item_shape:
        raise DataError(f"{path}: wrong IDX dimensions: found items {shape[1:]}, expected {item_shape}; {ADVICE}")
    found, expected = len(content) - start, math.prod(shape)
    if found != expected:
        what = "truncated" if found < expected else "trailing bytes"
        raise DataError(f"{path}: {what}: found {found} data bytes, expected {expected} for {shape}; {ADVICE}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _decompress(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            head = stream.read(512)
        if looks_like_html(head):
            raise DataError(f"{path}: found an HTML page, expected a gzipped IDX file; {ADVICE}")
        if head[:2] != b"\x1f\x8b":
            raise DataError(f"{path}: not gzip: found the first bytes 0x{head[:2].hex()}, expected 0x1f8b; {ADVICE}")
        with gzip.open(path, "rb") as stream:
            return stream.read()
    except EOFError as error:
        raise DataError(f"{path}: truncated: the gzip stream ends early; {ADVICE}") from error
    except zlib.error as error:
        raise DataError(f"{path}: damaged gzip stream ({error}); {ADVICE}") from error
    except OSError as error:  # gzip.BadGzipFile is one: a wrong CRC or bytes after the end
        raise DataError(f"{path}: cannot be read ({error}); {ADVICE}") from error
