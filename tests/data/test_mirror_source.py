from __future__ import annotations

import os

import numpy as np
import pytest

from localentropy.data.idx import parse_idx
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


def _keras(tiny, dataset):
    """The npz file that Keras makes of MNIST."""
    names = {"x_train": "train-images-idx3", "y_train": "train-labels-idx1"}
    names |= {"x_test": "t10k-images-idx3", "y_test": "t10k-labels-idx1"}
    contents = tiny.unpacked()
    arrays = {}
    for key, name in names.items():
        content = contents[dataset, f"{name}-ubyte.gz"]
        shape = (28, 28) if key.startswith("x") else ()
        arrays[key] = parse_idx(content, name, shape)
    return arrays


IDX_LAYOUTS = {
    "torchvision": "{torch}/raw/{name}.gz",
    "torchvision, unpacked": "{torch}/raw/{name}",
    "torchvision, one folder down": "data/{torch}/raw/{name}",
    "unpacked": "{dataset}/{name}",
    "capital letters": "{dataset}/{upper}.GZ",
    "Kaggle": "{dataset}/{dotted}",
    "Kaggle, in folders": "{dataset}/{name}/{name}",
    "Keras": "datasets/{dashed}/{name}.gz",
}


@pytest.mark.parametrize("layout", IDX_LAYOUTS)
@pytest.mark.parametrize(("dataset", "torch"), [("mnist", "MNIST"), ("fashion_mnist", "FashionMNIST")])
def test_idx_layouts(run, tiny, tmp_path, layout, dataset, torch):
    official, mirror = run(dataset), tmp_path / "another"
    for (one, file), content in tiny.files.items():
        if not file.endswith("ubyte.gz"):
            continue
        name = file.removesuffix(".gz")
        path = mirror / IDX_LAYOUTS[layout].format(
            torch=torch if one == dataset else f"{'Fashion' * (dataset == 'mnist')}MNIST", dataset=one, name=name,
            upper=name.upper(), dotted=name.replace("-idx", ".idx"), dashed=one.replace("_", "-"),
        )  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        gzipped = path.suffix.lower() == ".gz"
        path.write_bytes(content if gzipped else tiny.unpacked()[one, file])
    assert run(dataset, mirror=mirror).content_sha256() == official.content_sha256()


def test_files_of_another_set_are_not_looked_into(run, tiny, refused):
    (tiny.mirror / "mnist").rename(tiny.mirror.parent / "gone")
    with refused(f"lacks {TRAIN}"):
        run()


@pytest.mark.parametrize("place", ["mnist.npz", "datasets/mnist.npz", "MNIST/mnist.npz"])
def test_npz_file_of_keras(run, tiny, refused, place):
    official, arrays = run(), _keras(tiny, "mnist")
    (tiny.mirror / "mnist").rename(tiny.mirror.parent / "gone")
    path = tiny.mirror / place
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **arrays)
    assert run().content_sha256() == official.content_sha256()
    for wrong, text in (
        ({"y_test": arrays["y_test"][::-1]}, "its array for t10k-labels-idx1-ubyte, uint8 (80,), has another content"),
        ({"x_train": arrays["x_train"].astype(np.int16)}, "int16"),
        ({"x_train": np.array([None])}, "truncated, or no npz file with x_train"),
    ):
        np.savez(path, **{**arrays, **wrong})
        with refused(str(path), text):
            run()
    np.savez(path, x_train=arrays["x_train"])
    with refused(str(path), "no npz file with x_train, y_train, x_test, y_test"):
        run()
    path.write_bytes(path.read_bytes()[:5000])
    with refused(str(path), "truncated"):
        run()


CIFAR_PYTHON = {
    "archive": "cifar-10-python.tar.gz",
    "archive in a folder": "CIFAR10/cifar-10-python.tar.gz",
    "archive of Keras": "datasets/cifar-10-batches-py.tar.gz",
    "unpacked": "cifar-10-batches-py/{name}",
    "unpacked one folder down": "torch/cifar-10-batches-py/{name}",
    "unpacked by Keras": "cifar-10-batches-py-target/cifar-10-batches-py/{name}",
    "unpacked in its folder": "cifar-10/{name}",
}


@pytest.mark.parametrize("layout", CIFAR_PYTHON)
def test_cifar_of_the_python_version(run, tiny, tmp_path, make_tar, python_batch, layout):
    official, mirror = run("cifar10"), tmp_path / "another"
    batches = {name.split("/")[1].removesuffix(".bin"): python_batch(one) for name, one in tiny.members.items()}
    place = CIFAR_PYTHON[layout]
    contents = {place.format(name=name): batch for name, batch in batches.items()}
    if place.endswith(".gz"):
        extra = {"cifar-10-batches-py/batches.meta": b"", "cifar-10-batches-py/readme.html": b"<html>"}
        contents = {place: make_tar({f"cifar-10-batches-py/{name}": one for name, one in batches.items()} | extra)}
    for name, content in contents.items():
        (mirror / name).parent.mkdir(parents=True, exist_ok=True)
        (mirror / name).write_bytes(content)
    assert run("cifar10", mirror=mirror).content_sha256() == official.content_sha256()


def test_wrong_batches_of_the_python_version(run, tiny, tmp_path, python_batch, refused):
    folder = tmp_path / "another" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    for name, one in tiny.members.items():
        (folder / name.split("/")[1].removesuffix(".bin")).write_bytes(python_batch(one))
    path, records = folder / "data_batch_2", tiny.members["cifar-10-batches-bin/data_batch_2.bin"]
    for content, text in (
        (python_batch(bytes([(records[0] + 1) % 10]) + records[1:]), "wrong checksum"),
        (python_batch(records)[:-300], "not a batch of the python version"),
        (python_batch(records)[:1000], "truncated: found 1000 bytes"),
        (python_batch(records * 4), "too long"),
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
    ):
        path.write_bytes(content)
        with refused(str(path), text):
            run("cifar10", mirror=folder.parent)
    path.unlink()
    with refused("data_batch_2.bin", "No such file"):
        run("cifar10", mirror=folder.parent)


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
    tiny.path("mnist", TRAIN).rename(tiny.mirror / "mnist" / "train-images3-ubyte.gz")
    with refused(f"lacks {TRAIN}", "nearest name found: train-images3-ubyte.gz"):
        run()
    tiny.path("cifar10", "cifar-10-binary.tar.gz").rename(tiny.mirror / "cifar10" / "cifar-10-matlab.tar.gz")
    with refused("lacks cifar-10-binary.tar.gz", "nearest name found: cifar-10-matlab.tar.gz"):
        run("cifar10")


@pytest.mark.parametrize(
    ("damage", "texts"),
    [
        (lambda content: content[:1000], ("truncated: found 1000 bytes", "expected")),
        (lambda content: content + b"x", ("too long",)),
        (lambda content: content[:-9] + b"x" + content[-8:], ("wrong checksum",)),
        (lambda content: b"<html><body>503</body></html>", ("HTML page", TRAIN)),
        (lambda content: b"", ("is empty, expected",)),
    ],
)
def test_damaged_file(run, tiny, refused, damage, texts):
    path = tiny.path("mnist", TRAIN)
    path.write_bytes(damage(path.read_bytes()))
    with refused(str(path), "fetch it again", *texts):
        run()


def test_labels_of_another_set(run, tiny, refused, make_idx):
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
    sha256 = "0" * 64
    for row in ("http://x,12,many,l,c", f"http://x,{sha256},5,l,c,one too many", f"http://x,{sha256}"):
        table.write_text("\n".join([good.splitlines()[0], f"mnist,f,,{row}"]))
        with refused(f"{table}: line 2", "malformed"):
            read_registry(table)
    table.write_text(good.splitlines()[0])
    with refused("no row for the dataset mnist"):
        run()
    table.unlink()
    with refused(str(table), "cannot be read"):
        run()
