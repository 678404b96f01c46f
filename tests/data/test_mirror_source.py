from __future__ import annotations

import os

import pytest

from localentropy.data.prepare import prepare
from localentropy.data.registry import read_registry

TRAIN = "train-images-idx3-ubyte.gz"


@pytest.fixture
def run(tiny, tmp_path):
    def _run(name="mnist", **changes):
        arguments = {"source": "mirror", "mirror": tiny.mirror, "data_dir": tiny.data_dir, **changes}
        return prepare(name, tmp_path / "out" / "set.npz", **arguments)

    return _run


@pytest.fixture(autouse=True)
def nothing_half_written(tmp_path):
    yield
    assert {path.name for path in (tmp_path / "out").glob("*")} <= {"set.npz"}


def test_files_directly_in_the_mirror(run, tiny):
    assert len(run(mirror=tiny.mirror / "mnist").train) == 200


def test_torchvision_folders(run, tiny):
    (tiny.mirror / "MNIST").mkdir()
    (tiny.mirror / "mnist").rename(tiny.mirror / "MNIST" / "raw")
    assert len(run().test) == 80


@pytest.mark.parametrize("layout", ["official", "repack", "unpacked", "unpacked in its folder", "flat"])
def test_cifar_layouts(run, tiny, make_tar, layout):
    folder = tiny.mirror / "cifar10"
    official = folder / "cifar-10-binary.tar.gz"
    if layout == "repack":
        (folder / "cifar-10-batches-bin.tar.xz").write_bytes(make_tar(tiny.members, "w:xz"))
    if layout.startswith("unpacked"):
        home = folder if layout == "unpacked" else folder / "cifar-10-batches-bin"
        home.mkdir(exist_ok=True)
        for name, content in tiny.members.items():
            (home / name.split("/")[1]).write_bytes(content)
    if layout == "flat":
        official.rename(tiny.mirror / official.name)
    elif layout != "official":
        official.unlink()
    dataset = run("cifar10")
    assert dataset.train.inputs.shape == (100, 3, 32, 32)
    assert dataset.test.inputs.shape == (20, 3, 32, 32)
    first = tiny.members["cifar-10-batches-bin/data_batch_2.bin"]
    assert dataset.train.labels[20] == first[0]
    assert dataset.train.inputs[20].tobytes() == first[1:3073]


def test_unpacked_member_is_verified(run, tiny, refused):
    folder = tiny.mirror / "cifar10"
    for name, content in tiny.members.items():
        (folder / name.split("/")[1]).write_bytes(content)
    (folder / "data_batch_3.bin").write_bytes(b"\0" * len(content))
    with refused("data_batch_3.bin", "wrong checksum"):
        run("cifar10")
    (folder / "data_batch_3.bin").unlink()
    with refused("data_batch_3.bin", "No such file"):
        run("cifar10")


def test_missing_directory(run, tiny, refused):
    with refused("mirorr does not exist", "nearest name found: mirror", "data.mirror"):
        run(mirror=tiny.mirror.parent / "mirorr")
    with refused("does not exist"):
        run(mirror=tiny.mirror / "a" / "b")
    with refused("is no directory"):
        run(mirror=tiny.path("mnist", TRAIN))
    (tiny.mirror / "link").symlink_to("nothing")
    with refused("link is no directory"):
        run(mirror=tiny.mirror / "link")
    with refused("cannot be read (File name too long)"):
        run(mirror=tiny.mirror / ("x" * 300))
    with refused("no directory is given"):
        run(mirror=None)


@pytest.mark.parametrize("kind", ["pipe", "folder", "link to a device"])
def test_what_is_no_file_is_refused_and_not_waited_for(run, tiny, refused, kind):
    folder = tiny.mirror / "cifar10"
    for name, content in tiny.members.items():
        (folder / name.split("/")[1]).write_bytes(content)
    archive, member = folder / "cifar-10-binary.tar.gz", folder / "data_batch_3.bin"
    for dataset, path in (("cifar10", member), ("cifar10", archive), ("mnist", tiny.path("mnist", TRAIN))):
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero")
        with refused(path.name, "is a folder, a pipe or a device, expected"):
            run(dataset)
        if path == member:
            for name in tiny.members:
                file = folder / name.split("/")[1]
                file.rmdir() if file.is_dir() and not file.is_symlink() else file.unlink()


def test_a_link_to_nothing_is_named(run, tiny, refused):
    tiny.path("mnist", TRAIN).unlink()
    tiny.path("mnist", TRAIN).symlink_to("nothing")
    with refused(f"{TRAIN}: cannot be read (No such file or directory)"):
        run()


def test_missing_file(run, tiny, refused):
    tiny.path("mnist", TRAIN).rename(tiny.mirror / "mnist" / "train-images.idx3-ubyte.gz")
    with refused(f"lacks {TRAIN}", "nearest name found: train-images.idx3-ubyte.gz"):
        run()
    tiny.path("cifar10", "cifar-10-binary.tar.gz").rename(tiny.mirror / "cifar10" / "cifar-10-python.tar.gz")
    with refused("lacks cifar-10-binary.tar.gz", "nearest name found: cifar-10-python.tar.gz"):
        run("cifar10")


@pytest.mark.parametrize(
    ("damage", "texts"),
    [
        (lambda content: content[:1000], ("truncated: found 1000 bytes", "expected")),
        (lambda content: content + b"x", ("too long",)),
        (lambda content: content[:-9] + b"x" + content[-8:], ("wrong checksum",)),
        (lambda content: b"<html><body>503</body></html>", ("HTML page", TRAIN)),
        (lambda content: b"", ("truncated: found 0 bytes",)),
    ],
)
def test_damaged_file(run, tiny, refused, damage, texts):
    path = tiny.path("mnist", TRAIN)
    path.write_bytes(damage(path.read_bytes()))
    with refused(str(path), "fetch it again", *texts):
        run()


def test_labels_of_another_set(run, tiny, refused, make_idx):
    import numpy as np

    name = "t10k-labels-idx1-ubyte.gz"
    tiny.files["mnist", name] = make_idx(np.zeros(79))
    tiny.path("mnist", name).write_bytes(tiny.files["mnist", name])
    tiny.write_table()
    with refused("found 79 labels, expected 80"):
        run()


def test_unknown_name_and_source(run, refused):
    with refused("did you mean mnist_parity?", "dress_coat"):
        run("mnist_party")
    with refused("data.source", "did you mean mirror?", "embedded, mirror, download"):
        run(source="miror")


def test_damaged_table(run, tiny, refused):
    table = tiny.data_dir / "datasets.csv"
    good = table.read_text()
    table.write_text(good.replace("sha256", "sha1"))
    with refused(str(table), "expected dataset, file"):
        read_registry(table)
    table.write_text("\n".join([good.splitlines()[0], "mnist,f,,http://x,12,many,l,c"]))
    with refused(f"{table}: line 2", "malformed"):
        read_registry(table)
    table.write_text(good.splitlines()[0])
    with refused("no row for the dataset mnist"):
        run()
    table.unlink()
    with refused(str(table), "cannot be read"):
        run()
