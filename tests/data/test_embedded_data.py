from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest

from localentropy.data.embed import embed, embedded_version
from localentropy.data.embedded import PARTS, read_embedded, read_manifest
from localentropy.data.prepare import NAMES, RAW_DATASETS, build, prepare
from localentropy.data.prepared import LAYOUTS, load
from localentropy.data.registry import DATA_DIR, raw_files
from localentropy.data.sources import read_raw

EMBEDDED = DATA_DIR / "embedded"


def test_sizes():
    sizes = [path.stat().st_size for path in EMBEDDED.iterdir()]
    assert sum(sizes) <= 15e6
    assert max(sizes) <= 6e6


def test_manifest_agrees_with_the_table_of_raw_files():
    manifest = read_manifest(EMBEDDED / "manifest.json")
    assert set(manifest) == {f"{name}.npz" for name in NAMES}
    assert {path.name for path in EMBEDDED.iterdir()} == {*manifest, "manifest.json"}
    for name in NAMES:
        entry = manifest[f"{name}.npz"]
        table = {raw.file: raw.sha256 for raw in raw_files(RAW_DATASETS[name])}
        assert entry.sources.items() <= table.items()
        assert len(entry.sources) == (6 if name == "cifar10" else 4)
        assert entry.content_sha256 == read_embedded(name, DATA_DIR).content_sha256()


@pytest.mark.parametrize("name", NAMES)
def test_prepared_from_embedded(tmp_path, name):
    written = prepare(name, tmp_path / "set.npz")
    read = load(tmp_path / "set.npz")
    assert read.content_sha256() == written.content_sha256()
    assert read.is_complete == (name not in PARTS)
    first = (tmp_path / "set.npz").read_bytes()
    prepare(name, tmp_path / "set.npz")
    assert (tmp_path / "set.npz").read_bytes() == first
    if name in PARTS:
        for split, per_class in zip((read.train, read.test), PARTS[name], strict=True):
            assert np.bincount(split.labels).tolist() == [per_class] * 10
            assert (np.diff(split.source_indices) > 0).all()


def test_mnist_parity_is_what_it_claims():
    dataset = read_embedded("mnist_parity", DATA_DIR)
    inputs = dataset.train.inputs.astype(float)
    assert (inputs**2).mean() == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(inputs.mean(axis=0), 0, atol=1e-5)
    covariance = np.cov(inputs.T, bias=True)
    np.testing.assert_allclose(covariance - np.diag(np.diag(covariance)), 0, atol=1e-4)
    assert (dataset.train.labels == 1).sum() == 29492  # even digits among the training labels
    assert (dataset.test.labels == 1).sum() == 4926


def test_dress_coat_is_what_it_claims():
    dataset = read_embedded("dress_coat", DATA_DIR)
    assert np.unique(dataset.train.labels, return_counts=True)[1].tolist() == [3583, 344]
    assert (len(dataset.test), (dataset.test.labels == 1).sum()) == (677, 74)
    assert (dataset.train.inputs.sum(axis=1) <= 0).all()  # at most half of the pixels lie above the median


def test_damaged_embedded_files(tmp_path, refused):
    data_dir = tmp_path / "data"
    shutil.copytree(EMBEDDED, data_dir / "embedded")
    path = data_dir / "embedded" / "dress_coat.npz"
    content = path.read_bytes()

    def run() -> None:
        prepare("dress_coat", tmp_path / "out" / "set.npz", data_dir=data_dir)

    path.write_bytes(content[:-100])
    with refused(str(path), "wrong checksum", f"of {len(content)}", "restore it"):
        run()
    path.unlink()
    with refused(str(path), "no such file"):
        run()
    manifest = data_dir / "embedded" / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"dress_coat.npz"', '"coat_dress.npz"'))
    with refused("no entry dress_coat.npz"):
        run()
    manifest.write_text(text[:-50])
    with refused(str(manifest), "unreadable"):
        run()
    assert not (tmp_path / "out").exists()


def test_embed_command_refuses_in_one_line(tmp_path):
    command = [sys.executable, "-m", "localentropy.data.embed", "--mirror", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: data.mirror:")
    assert done.stderr.count("\n") == 1


@pytest.mark.mirror
@pytest.mark.parametrize("raw_name", list(dict.fromkeys(RAW_DATASETS.values())))
def test_rebuilt_from_the_raw_files(real_mirror, tmp_path, raw_name):
    raw = read_raw(raw_name, "mirror", real_mirror, DATA_DIR)
    manifest = read_manifest(EMBEDDED / "manifest.json")
    for name in (name for name in NAMES if RAW_DATASETS[name] == raw_name):
        whole = build(name, raw)
        assert whole.is_complete
        part = embedded_version(whole)
        assert part.content_sha256() == manifest[f"{name}.npz"].content_sha256
        for split in ("train", "test"):  # a part holds the images that its indices name
            small, large = getattr(part, split), getattr(whole, split)
            positions = np.searchsorted(large.source_indices, small.source_indices)
            np.testing.assert_array_equal(small.inputs, large.inputs[positions])
            np.testing.assert_array_equal(small.labels, large.labels[positions])


@pytest.mark.mirror
def test_python_version_of_cifar_has_the_official_contents(real_mirror, tmp_path, python_batch):
    raw = read_raw("cifar10", "mirror", real_mirror, DATA_DIR)
    images = np.concatenate([raw.train_images, raw.test_images]).reshape(6, 10_000, -1)
    labels = np.concatenate([raw.train_labels, raw.test_labels]).reshape(6, 10_000, 1)
    names = [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]
    (tmp_path / "cifar-10-batches-py").mkdir()
    for number, records in enumerate(np.concatenate([labels, images], axis=2)):
        batch = python_batch(records.tobytes(), ("numpy.core", "numpy._core")[number % 2])
        (tmp_path / "cifar-10-batches-py" / names[number]).write_bytes(batch)
    same = read_raw("cifar10", "mirror", tmp_path, DATA_DIR)
    for one, other in zip(vars(raw).values(), vars(same).values(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.mirror
@pytest.mark.parametrize("dataset", ["mnist", "fashion_mnist"])
def test_unpacked_files_and_npz_have_the_official_contents(real_mirror, tmp_path, dataset):
    raw = read_raw(dataset, "mirror", real_mirror, DATA_DIR)
    arrays = dict(zip(("x_train", "y_train", "x_test", "y_test"), vars(raw).values(), strict=True))
    np.savez_compressed(tmp_path / f"{dataset}.npz", **arrays)
    same = read_raw(dataset, "mirror", tmp_path, DATA_DIR)
    for one, other in zip(vars(raw).values(), vars(same).values(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.mirror
def test_prepared_from_mirror_has_the_bytes_of_the_embedded_one(real_mirror, tmp_path):
    for name in ("mnist_parity", "dress_coat"):
        prepare(name, tmp_path / "a.npz", source="mirror", mirror=real_mirror)
        prepare(name, tmp_path / "b.npz")
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.mirror
def test_filtered_counts(real_mirror):
    from localentropy.data.dress_coat import binarize

    raw = read_raw("fashion_mnist", "mirror", real_mirror, DATA_DIR)
    for images, labels, kept, dresses in (
        (raw.train_images, raw.train_labels, 3927, 344),
        (raw.test_images, raw.test_labels, 677, 74),
    ):
        found = binarize(images, labels)[1]
        assert (len(found), (found == 1).sum()) == (kept, dresses)


@pytest.mark.mirror
def test_embed_writes_all_and_a_manifest(real_mirror, tmp_path):
    lines = list(embed(real_mirror, output_dir=tmp_path))
    assert len(lines) == len(LAYOUTS)
    ours = read_manifest(EMBEDDED / "manifest.json")
    new = read_manifest(tmp_path / "embedded" / "manifest.json")
    assert {n: e.content_sha256 for n, e in new.items()} == {n: e.content_sha256 for n, e in ours.items()}
