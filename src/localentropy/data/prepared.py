"""Prepared datasets: arrays ready for an experiment, kept in one npz file each (no pickle)."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localentropy.arguments import require_choice
from localentropy.data.files import write_atomically
from localentropy.errors import DataError


@dataclass(frozen=True)
class Layout:
    """What a prepared dataset looks like: shape and type of one input, labels, sizes of the whole set.

    Attributes:
        item_shape: shape of one input.
        dtype: of the inputs.
        labels: all that there are.
        train: training examples of the whole set.
        test: test examples of the whole set.
        packed: whether inputs are ±1, eight to a byte in the file.

    Example:
        >>> from localentropy.data.prepared import LAYOUTS
        >>> LAYOUTS["mnist_parity"].item_shape, LAYOUTS["mnist_parity"].train
        ((10,), 60000)
    """

    item_shape: tuple[int, ...]
    dtype: str
    labels: tuple[int, ...]
    train: int
    test: int
    packed: bool = False  # inputs ±1, eight to a byte in the file


PARITY, DIGITS = (-1, 1), tuple(range(10))
LAYOUTS = {
    "mnist": Layout((28, 28), "uint8", DIGITS, 60_000, 10_000),
    "fashion_mnist": Layout((28, 28), "uint8", DIGITS, 60_000, 10_000),
    "cifar10": Layout((3, 32, 32), "uint8", DIGITS, 50_000, 10_000),
    "mnist_parity": Layout((10,), "float32", PARITY, 60_000, 10_000),
    "dress_coat": Layout((784,), "int8", PARITY, 3927, 677, packed=True),
}


@dataclass(frozen=True)
class Split:
    """Examples of a dataset.

    Attributes:
        inputs: shape `(n, *item_shape)`.
        labels: shape `(n,)`; uint8 classes, or int8 ±1.
        source_indices: positions in the official file (CIFAR-10: batches 1 to 5 joined), shape `(n,)`, int32.

    Example:
        >>> import numpy as np
        >>> from localentropy.data.prepared import Split
        >>> split = Split(np.zeros((3, 28, 28), np.uint8), np.array([7, 2, 1], np.uint8), np.arange(3, dtype=np.int32))
        >>> split.take(np.array([2, 0])).labels.tolist()
        [1, 7]
    """

    inputs: NDArray[Any]
    labels: NDArray[Any]
    source_indices: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, positions: NDArray[np.integer]) -> Split:
        """The examples at these positions."""
        return Split(self.inputs[positions], self.labels[positions], self.source_indices[positions])


@dataclass(frozen=True)
class Dataset:
    """A prepared dataset.

    Attributes:
        name: a key of `LAYOUTS`.
        train: training examples.
        test: test examples.

    Raises:
        DomainError: another name.
        DataError: arrays that do not have the layout of this dataset.
    """

    name: str
    train: Split
    test: Split

    def __post_init__(self) -> None:
        require_choice("name", self.name, LAYOUTS)
        for name, split in (("train", self.train), ("test", self.test)):
            _require_layout(LAYOUTS[self.name], split, f"{self.name}: {name}")

    @property
    def is_complete(self) -> bool:
        """Whether it is the whole dataset, not a part."""
        layout = LAYOUTS[self.name]
        return len(self.train) == layout.train and len(self.test) == layout.test

    def require(self, train: int = 0, test: int = 0) -> None:
        """Check that there are enough examples.

        Raises:
            DataError: fewer than asked for; the message says where the whole set comes from.
        """
        for split, have, want in (("training", len(self.train), train), ("test", len(self.test), test)):
            if have < want:
                which = "set" if self.is_complete else "part"
                advice = "ask for fewer" + (
                    "" if self.is_complete else ", or prepare the whole set with data.source=mirror or download"
                )
                raise DataError(
                    f"{self.name}: found {have} {split} examples in this {which}, expected {want}; {advice}"
                )

    def summary(self) -> str:
        """One line for a log."""
        whole = "whole" if self.is_complete else "part"
        return f"{self.name} ({whole}): {len(self.train)} training, {len(self.test)} test examples"

    def content_sha256(self) -> str:
        """SHA-256 of names, types, shapes and values: independent of how they are compressed."""
        digest = hashlib.sha256(self.name.encode())
        for key, array in _arrays(self).items():
            digest.update(f"{key} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def save(dataset: Dataset, path: Path, compressed: bool = False) -> None:
    """Write a dataset to an npz file, whole or not at all; the same bytes for the same dataset.

    Only compressed bytes may depend on the version of zlib.

    Args:
        dataset: what is written.
        path: of the file.
        compressed: whether its arrays are compressed.

    Raises:
        DataError: the file cannot be written (a full disk).

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from localentropy.data.prepared import load, save
        >>> from localentropy.data.registry import DATA_DIR
        >>> dataset = load(DATA_DIR / "embedded/dress_coat.npz")
        >>> with TemporaryDirectory() as folder:
        ...     save(dataset, Path(folder, "copy.npz"))
        ...     print(load(Path(folder, "copy.npz")).content_sha256() == dataset.content_sha256())
        True
    """
    arrays: dict[str, NDArray[Any]] = {
        "name": np.array(dataset.name),
        "content_sha256": np.array(dataset.content_sha256()),
        **_arrays(dataset),
    }
    if LAYOUTS[dataset.name].packed:
        for key in ("train_inputs", "test_inputs"):
            arrays[key] = np.packbits(arrays[key] > 0, axis=1)
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, allow_pickle=False, **arrays)
    write_atomically(path, buffer.getbuffer())


def load(path: Path) -> Dataset:
    """Read a prepared dataset and check that nothing in it was lost or altered.

    Args:
        path: of the file.

    Returns:
        The dataset.

    Raises:
        DataError: missing, truncated, altered, or not a prepared dataset.

    Example:
        >>> from localentropy.data.prepared import load
        >>> from localentropy.data.registry import DATA_DIR
        >>> load(DATA_DIR / "embedded/dress_coat.npz").summary()
        'dress_coat (whole): 3927 training, 677 test examples'
    """
    advice = "delete the file and prepare the dataset again"
    try:
        stored = np.load(path, allow_pickle=False)
        if isinstance(stored, np.ndarray):
            raise DataError(f"{path}: found a single array, expected an npz file; {advice}")
        with stored:
            arrays = {key: stored[key] for key in stored}
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file; prepare the dataset first") from error
    except (
        OSError,
        ValueError,
        EOFError,
        KeyError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
    ) as error:
        raise DataError(f"{path}: truncated or not an npz file; {advice}") from error
    name = str(arrays.get("name", "nothing"))
    keys = {"name", "content_sha256"} | {f"{split}_{key}" for split in ("train", "test") for key in SPLIT_KEYS}
    if name not in LAYOUTS or set(arrays) != keys:
        raise DataError(
            f"{path}: found {name} with {', '.join(sorted(arrays)) or 'no arrays'}, "
            f"expected one of {', '.join(LAYOUTS)} with {', '.join(sorted(keys))}; {advice}"
        )
    layout = LAYOUTS[name]
    if layout.packed:
        for key in ("train_inputs", "test_inputs"):
            arrays[key] = _unpacked(arrays[key], layout.item_shape[0], f"{path}: {key}")
    train, test = (Split(*(arrays[f"{split}_{key}"] for key in SPLIT_KEYS)) for split in ("train", "test"))
    try:
        dataset = Dataset(name, train, test)
    except DataError as error:
        raise DataError(f"{path}: {error}; {advice}") from error
    found, expected = dataset.content_sha256(), str(arrays["content_sha256"])
    if found != expected:
        raise DataError(f"{path}: altered: found content {found[:16]}…, expected {expected[:16]}…; {advice}")
    return dataset


SPLIT_KEYS = ("inputs", "labels", "source_indices")


def _arrays(dataset: Dataset) -> dict[str, NDArray[Any]]:
    return {
        f"{split}_{key}": getattr(getattr(dataset, split), key) for split in ("train", "test") for key in SPLIT_KEYS
    }


def _unpacked(bits: NDArray[Any], columns: int, where: str) -> NDArray[np.int8]:
    if bits.dtype != np.uint8 or bits.ndim != 2 or bits.shape[1] != -(-columns // 8):
        raise DataError(f"{where}: found {bits.dtype} {bits.shape}, expected packed bits; prepare the dataset again")
    return (2 * np.unpackbits(bits, axis=1, count=columns).astype(np.int8) - 1).astype(np.int8)


def _require_layout(layout: Layout, split: Split, where: str) -> None:
    if not isinstance(split, Split):
        raise DataError(f"{where}: found {type(split).__name__}, expected a Split")
    count = len(split.labels) if isinstance(split.labels, np.ndarray) and split.labels.ndim else 0
    for key, dtype, shape in (
        ("labels", "uint8" if layout.labels == DIGITS else "int8", (count,)),
        ("inputs", layout.dtype, (count, *layout.item_shape)),
        ("source_indices", "int32", (count,)),
    ):
        array = getattr(split, key)
        if type(array) is not np.ndarray:
            raise DataError(f"{where}_{key}: found {type(array).__name__}, expected an array of numpy")
        if array.dtype != dtype or array.shape != shape:
            raise DataError(f"{where}_{key}: found {array.dtype} {array.shape}, expected {dtype} {shape}")
    if not np.isin(split.labels, layout.labels).all():
        raise DataError(f"{where}_labels: found others than {', '.join(map(str, layout.labels))}")
    if not (np.isfinite(split.inputs).all() and (not layout.packed or (np.abs(split.inputs) == 1).all())):
        raise DataError(f"{where}_inputs: found others than {'1 and -1' if layout.packed else 'finite numbers'}")
