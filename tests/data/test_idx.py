from __future__ import annotations

import gzip
import hashlib
import struct

import numpy as np
import pytest

from localentropy.data.idx import official_content, parse_idx
from localentropy.data.registry import RawFile

IMAGES = np.arange(3 * 28 * 28).reshape(3, 28, 28) % 256


def test_reads_images_and_labels(make_idx):
    images = parse_idx(gzip.decompress(make_idx(IMAGES)), "images", (28, 28))
    assert images.dtype == np.uint8
    np.testing.assert_array_equal(images, IMAGES)
    np.testing.assert_array_equal(parse_idx(gzip.decompress(make_idx(np.arange(7))), "labels", ()), np.arange(7))


def _gz(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


HEADER = struct.pack(">HBB3I", 0, 8, 3, 3, 28, 28)
BODY = IMAGES.astype(np.uint8).tobytes()


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (struct.pack(">HBB3I", 0, 0x0D, 3, 3, 28, 28) + BODY, ("bad IDX header", "0x00000d03", "0x00000803")),
        (struct.pack(">HBBI", 0, 8, 1, 3) + bytes(3), ("bad IDX header", "0x00000801")),
        (b"", ("bad IDX header",)),
        (HEADER[:9], ("truncated IDX header", "9 bytes")),
        (struct.pack(">HBB3I", 0, 8, 3, 3, 32, 32) + bytes(3 * 32 * 32), ("(32, 32)", "expected (28, 28)")),
        (HEADER + BODY[:-5], ("truncated", "2347", "2352")),
        (HEADER + BODY + b"x", ("trailing bytes", "2353")),
    ],
)
def test_wrong_contents_are_refused_in_one_line(refused, content, texts):
    with refused("train-images-idx3-ubyte", "again", *texts):
        parse_idx(content, "train-images-idx3-ubyte", (28, 28))


CONTENT = HEADER + BODY
NAME = "train-images-idx3-ubyte"


def _raw(name: str, content: bytes) -> RawFile:
    return RawFile("mnist", name, "", (), hashlib.sha256(content).hexdigest(), len(content), "free", "nobody")


def _read(path):
    return official_content(path, _raw(f"{NAME}.gz", _gz(CONTENT)), _raw(NAME, CONTENT))


@pytest.mark.parametrize("name", [NAME, f"{NAME}.gz"])
@pytest.mark.parametrize("content", [CONTENT, _gz(CONTENT), gzip.compress(CONTENT, 1, mtime=5)])
def test_the_same_content_is_taken_gzipped_or_not_whatever_the_name_says(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert _read(tmp_path / name) == CONTENT


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (_gz(CONTENT)[:-20], ("truncated: found",)),
        (_gz(CONTENT)[:-6] + b"\0" * 6, ("wrong checksum",)),
        (_gz(CONTENT)[:12] + b"\xff" * 8 + _gz(CONTENT)[20:], ("wrong checksum",)),
        (_gz(CONTENT) + b"x", ("too long",)),
        (_gz(_gz(CONTENT)), ("gzipped twice",)),
        (_gz(CONTENT + b"x"), ("found",)),
        (b"<!DOCTYPE html><html>403 Forbidden</html>", ("HTML",)),
        (b'{"message": "Not Found"}\n', ("a text that begins with", "message")),
        (b"", ("is empty",)),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n",
            ("pointer of Git LFS", "git lfs pull"),
        ),
        (b"/annex/objects/SHA256E-s9--12.gz\n", ("pointer of git-annex", "git annex get")),
    ],
)
def test_other_files_are_named(tmp_path, refused, content, texts):
    path = tmp_path / f"{NAME}.gz"
    path.write_bytes(content)
    with refused(str(path), "fetch it again", *texts):
        _read(path)


def test_a_link_of_git_annex_without_its_content_is_named(tmp_path, refused):
    (tmp_path / NAME).symlink_to("../.git/annex/objects/x/y/SHA256E-s9--12/SHA256E-s9--12.gz")
    with refused("a link of git-annex", f"git annex get {NAME}"):
        _read(tmp_path / NAME)


def test_missing_file(tmp_path, refused):
    with refused("none.gz", "No such file"):
        _read(tmp_path / "none.gz")
