from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest

from localentropy.data import cifar
from localentropy.data.registry import raw_files

INNER = "cifar-10-batches-bin"


@pytest.fixture
def members(tiny):
    return [raw for raw in raw_files("cifar10", tiny.data_dir) if raw.archive]


def test_records_are_label_then_red_green_blue():
    record = bytes([7]) + bytes([1]) * 1024 + bytes([2]) * 1024 + bytes([3]) * 1023 + bytes([9])
    images, labels = cifar.parse_records(record * 2, "batch")
    assert images.shape == (2, 3, 32, 32)
    assert labels.tolist() == [7, 7]
    assert images[0, :, 0, 0].tolist() == [1, 2, 3]
    assert images[0, 2, 31, 31] == 9


def test_wrong_records(refused):
    with refused("batch", "3072", "3073"):
        cifar.parse_records(bytes(3072), "batch")
    with refused("batch", "0 bytes"):
        cifar.parse_records(b"", "batch")
    with refused("label 10", "0 to 9"):
        cifar.parse_records(bytes([10]) + bytes(3072), "batch")


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz", "w:bz2"])
def test_any_compression(tmp_path, tiny, members, make_tar, mode):
    path = tmp_path / "archive"
    path.write_bytes(make_tar(tiny.members, mode))
    assert cifar.read_archive(path, members) == tiny.members


@pytest.mark.parametrize("name", ["../evil.bin", "/tmp/evil.bin", f"{INNER}/../../evil.bin", "elsewhere/evil.bin"])
def test_member_outside_its_folder(tmp_path, tiny, members, make_tar, refused, name):
    path = tmp_path / "archive.tar.gz"
    path.write_bytes(make_tar({**tiny.members, name: b"evil"}))
    before = sorted(tmp_path.rglob("*"))
    with refused(str(path), "outside the folder", name):
        cifar.read_archive(path, members)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices(tmp_path, members, refused, kind):
    path = tmp_path / "archive.tar"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo(f"{INNER}/data_batch_1.bin")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    with refused(str(path), "link or device"):
        cifar.read_archive(path, members)


def test_wrong_members(tmp_path, tiny, members, make_tar, refused):
    path = tmp_path / "archive.tar.gz"
    first = f"{INNER}/data_batch_1.bin"

    path.write_bytes(make_tar({**tiny.members, f"{INNER}/extra.bin": b"1"}))
    with refused("unexpected", "extra.bin"):
        cifar.read_archive(path, members)

    path.write_bytes(make_tar({f"{INNER}/readme.html": b" " * 200_000}))
    with refused("too large a member", "readme.html"):
        cifar.read_archive(path, members)

    path.write_bytes(make_tar({name: content for name, content in tiny.members.items() if name != first}))
    with refused("lacks", first):
        cifar.read_archive(path, members)

    path.write_bytes(make_tar({**tiny.members, first: tiny.members[first][:-3073]}))
    with refused(first, "found 58387 bytes, expected 61460"):
        cifar.read_archive(path, members)

    path.write_bytes(make_tar({**tiny.members, first: b"\1" + tiny.members[first][1:]}))
    with refused(first, "wrong checksum"):
        cifar.read_archive(path, members)

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for _ in range(2):
            info = tarfile.TarInfo(first)
            info.size = len(tiny.members[first])
            archive.addfile(info, io.BytesIO(tiny.members[first]))
    path.write_bytes(buffer.getvalue())
    with refused("repeated", first):
        cifar.read_archive(path, members)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_truncated_archive(tmp_path, tiny, members, make_tar, refused, mode):
    path = tmp_path / "archive"
    content = make_tar(tiny.members, mode)
    path.write_bytes(content[: len(content) // 2])
    with refused(str(path), "truncated"):
        cifar.read_archive(path, members)


def test_not_an_archive(tmp_path, members, refused):
    path = tmp_path / "archive.tar.gz"
    path.write_bytes(b"<html><body>Not found</body></html>")
    with refused("HTML page"):
        cifar.read_archive(path, members)
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    with refused("not a readable tar archive"):
        cifar.read_archive(path, members)
    for content, text in (
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 170052171\n", "a pointer of Git LFS"),
        (b"Too many requests", "a text that begins with 'Too many requests'"),
    ):
        path.write_bytes(content)
        with refused(str(path), text, "expected a tar archive"):
            cifar.read_archive(path, members)
