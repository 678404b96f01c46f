from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

from localentropy.data.idx import read_idx

IMAGES = np.arange(3 * 28 * 28).reshape(3, 28, 28) % 256


def test_reads_images_and_labels(tmp_path, make_idx):
    path = tmp_path / "images.gz"
    path.write_bytes(make_idx(IMAGES))
    images = read_idx(path, (28, 28))
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(images, IMAGES)
    path.write_bytes(make_idx(np.arange(7)))
    np.testing.assert_array_equal(read_idx(path, ()), np.arange(7))


def _gz(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


HEADER = struct.pack(">HBB3I", 0, 8, 3, 3, 28, 28)
BODY = IMAGES.astype(np.uint8).tobytes()


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (
            _gz(struct.pack(">HBB3I", 0, 0x0D, 3, 3, 28, 28) + BODY),
            ("bad IDX header", "0x00000d03", "0x00000803"),
        ),
        (_gz(struct.pack(">HBBI", 0, 8, 1, 3) + bytes(3)), ("bad IDX header", "0x00000801")),
        (_gz(b""), ("bad IDX header",)),
        (_gz(HEADER[:9]), ("truncated IDX header", "9 bytes")),
        (
            _gz(struct.pack(">HBB3I", 0, 8, 3, 3, 32, 32) + bytes(3 * 32 * 32)),
            ("(32, 32)", "expected (28, 28)"),
        ),
        (_gz(HEADER + BODY[:-5]), ("truncated", "2347", "2352")),
        (_gz(HEADER + BODY + b"x"), ("trailing bytes", "2353")),
        (_gz(HEADER + BODY)[:-20], ("truncated",)),
        (_gz(HEADER + BODY)[:-6] + b"\0" * 6, ("CRC",)),
        (_gz(HEADER + BODY)[:12] + b"\xff" * 8 + _gz(HEADER + BODY)[20:], ("damaged",)),
        (HEADER + BODY, ("not gzip", "0x1f8b")),
        (b"<!DOCTYPE html><html>403 Forbidden</html>", ("HTML",)),
        (b"", ("not gzip",)),
    ],
)
def test_wrong_files_are_refused_in_one_line(tmp_path, refused, content, texts):
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(content)
    with refused(str(path), "again", *texts):
        read_idx(path, (28, 28))


def test_missing_file(tmp_path, refused):
    with refused("none.gz", "No such file"):
        read_idx(tmp_path / "none.gz", ())
