from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localentropy.data import prepared
from localentropy.data.prepare import prepare
from localentropy.data.prepared import Dataset, Split, load, save


def example(name: str = "dress_coat", train: int = 6, test: int = 4) -> Dataset:
    rng = np.random.default_rng(0)

    def split(count: int) -> Split:
        if name == "dress_coat":
            inputs, labels = rng.choice([-1, 1], (count, 784)), rng.choice([-1, 1], count).astype(np.int8)
            return Split(inputs.astype(np.int8), labels, np.arange(count, dtype=np.int32))
        images = rng.integers(0, 256, (count, 3, 32, 32), dtype=np.uint8)
        return Split(images, np.arange(count, dtype=np.uint8) % 10, np.arange(count, dtype=np.int32))

    return Dataset(name, split(train), split(test))


@pytest.mark.parametrize("name", ["dress_coat", "cifar10"])
@pytest.mark.parametrize("compressed", [False, True])
def test_round_trip(tmp_path, name, compressed):
    dataset = example(name)
    save(dataset, tmp_path / "a.npz", compressed)
    read = load(tmp_path / "a.npz")
    assert read.name == name
    for split in ("train", "test"):
        for key in ("inputs", "labels", "source_indices"):
            wanted, found = getattr(getattr(dataset, split), key), getattr(getattr(read, split), key)
            assert wanted.dtype == found.dtype
            np.testing.assert_array_equal(wanted, found)
    save(read, tmp_path / "b.npz", compressed)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_signs_are_packed(tmp_path):
    save(example(train=500), tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_size < 500 * 784 / 8 + 8000


def test_completeness():
    part = example("cifar10")
    assert not part.is_complete
    assert part.summary() == "cifar10 (part): 6 training, 4 test examples"
    part.require(train=6, test=4)
    assert example("dress_coat", 3927, 677).is_complete


def test_too_few_examples(refused):
    with refused("cifar10", "found 6 training", "expected 7", "data.source=mirror or download"):
        example("cifar10").require(train=7)
    with refused("found 677 test examples in this set", "expected 678; ask for fewer"):
        example("dress_coat", 3927, 677).require(test=678)


def test_truncated_file(tmp_path, refused):
    path = tmp_path / "a.npz"
    save(example(), path)
    content = path.read_bytes()
    for size in (0, 1, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        with refused(str(path), "truncated", "prepare the dataset again"):
            load(path)


def test_every_altered_byte_of_the_arrays_is_noticed(tmp_path, refused):
    path = tmp_path / "a.npz"
    save(example(), path)
    content = bytearray(path.read_bytes())
    for position in range(40, len(content) - 900, 97):
        altered = bytearray(content)
        altered[position] ^= 4
        path.write_bytes(altered)
        try:
            same = load(path).content_sha256() == example().content_sha256()
        except prepared.DataError as error:
            assert "\n" not in str(error)
        else:
            assert same  # padding of the zip format


def test_altered_value_with_a_valid_container(tmp_path, refused):
    path = tmp_path / "a.npz"
    save(example(), path)
    arrays = dict(np.load(path, allow_pickle=False))
    np.savez(path, **{**arrays, "train_labels": -arrays["train_labels"]})
    with refused("altered"):
        load(path)
    np.savez(path, **{**arrays, "train_labels": arrays["train_labels"] * 2})
    with refused("train_labels: found others than -1, 1"):
        load(path)
    np.savez(path, **{**arrays, "train_labels": arrays["train_labels"][:-1]})
    with refused("train_inputs", "expected int8 (5, 784)"):
        load(path)
    np.savez(path, **{**arrays, "train_inputs": arrays["train_inputs"][:, :-1]})
    with refused("packed bits"):
        load(path)
    del arrays["test_labels"]
    np.savez(path, **arrays)
    with refused("dress_coat", "test_labels"):
        load(path)


def test_not_a_dataset(tmp_path, refused):
    path = tmp_path / "a.npz"
    with refused("no such file"):
        load(path)
    with refused("truncated or not an npz"):
        load(tmp_path)
    path.write_text("<html>")
    with refused("not an npz file"):
        load(path)
    with path.open("wb") as stream:
        np.save(stream, np.arange(3))
    with refused("single array"):
        load(path)
    np.savez(path, name=np.array("imagenet"))
    with refused("imagenet", "expected one of mnist"):
        load(path)


def test_pickles_are_never_loaded(tmp_path, refused):
    path = tmp_path / "a.npz"
    np.savez(path, name=np.array([{"a": 1}], dtype=object))
    with refused("not an npz file"):
        load(path)


def test_wrong_shapes_make_no_dataset(refused):
    dataset = example()
    with refused("dress_coat", "test_inputs", "(4, 9)"):
        Dataset("dress_coat", dataset.train, replace(dataset.test, inputs=dataset.test.inputs[:, :9]))


def test_full_disk_keeps_the_old_file_and_nothing_else(tmp_path, refused, full_disk):
    path = tmp_path / "cifar10.npz"
    save(example("cifar10"), path)
    old = path.read_bytes()
    with full_disk(100_000), refused(str(path), "cannot be written", "bytes needed", "free some space"):
        prepare("cifar10", path)
    assert path.read_bytes() == old
    assert list(tmp_path.iterdir()) == [path]


def test_folder_that_cannot_be_made(tmp_path, refused):
    (tmp_path / "file").write_text("")
    with refused("cannot be written"):
        save(example(), tmp_path / "file" / "a.npz")
