"""A small stand-in for the official files, a local web server, and shared checks."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import pickle
import resource
import struct
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from localentropy.data.registry import COLUMNS
from localentropy.errors import DataError

INNER = "cifar-10-batches-bin"
ARCHIVE = "cifar-10-binary.tar.gz"


def _idx(array: np.ndarray) -> bytes:
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.astype(np.uint8).tobytes(), mtime=0)


def _tar(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


_WRITTEN_IN_PYTHON: Any = vars(pickle)["_Pickler"]  # its methods can be changed


class _PicklerOfPython2(_WRITTEN_IN_PYTHON):
    """Bytes and text as Python 2 writes them: the pickles of the official python version are its work."""

    dispatch: ClassVar[dict[Any, Any]] = dict(_WRITTEN_IN_PYTHON.dispatch)

    def save_string(self, text: str | bytes) -> None:
        content = text.encode() if isinstance(text, str) else text
        short = len(content) < 256
        self.write(b"U" + bytes([len(content)]) if short else b"T" + struct.pack("<i", len(content)))
        self.write(content)
        self.memoize(text)

    dispatch[str] = dispatch[bytes] = save_string


def _python_batch(records: bytes, numpy: str = "numpy.core", python: int = 2) -> bytes:
    """A batch of the python version with the labels and images of one of the binary version."""
    rows = np.frombuffer(records, np.uint8).reshape(-1, 3073)
    batch = {
        b"batch_label": b"training batch 1 of 5",
        b"labels": rows[:, 0].tolist(),
        b"data": np.ascontiguousarray(rows[:, 1:]),
        b"filenames": [b"image_%d.png" % row for row in range(len(rows))],
    }
    buffer = io.BytesIO()
    (_PicklerOfPython2 if python == 2 else pickle.Pickler)(buffer, 2).dump(batch)
    name = "numpy._core" if b"numpy._core" in buffer.getvalue() else "numpy.core"
    return buffer.getvalue().replace(f"c{name}.multiarray".encode(), f"c{numpy}.multiarray".encode())


@dataclass
class Tiny:
    """Small datasets in the official formats: a data folder with their table, a mirror, and their bytes."""

    data_dir: Path
    mirror: Path
    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    members: dict[str, bytes] = field(default_factory=dict)

    def write_table(self, base_url: str = "http://127.0.0.1:9") -> None:
        rows = [
            (dataset, name, "", f"{base_url}/{dataset}/{name}", _sha(content), len(content), "free", "nobody")
            for (dataset, name), content in self.files.items()
        ]
        rows += [
            (dataset, name.removesuffix(".gz"), name, "", _sha(content), len(content), "free", "nobody")
            for (dataset, name), content in self.unpacked().items()
        ]
        rows += [
            ("cifar10", name, ARCHIVE, "", _sha(content), len(content), "free", "nobody")
            for name, content in self.members.items()
        ]
        with (self.data_dir / "datasets.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([COLUMNS, *rows])

    def unpacked(self) -> dict[tuple[str, str], bytes]:
        """The contents of the gzipped files, under the same names."""
        return {key: gzip.decompress(content) for key, content in self.files.items() if key[1].endswith("ubyte.gz")}

    def path(self, dataset: str, name: str) -> Path:
        return self.mirror / dataset / name


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    rng = np.random.default_rng(1)
    sets = Tiny(tmp_path / "data", tmp_path / "mirror")
    for dataset, train, test in (("mnist", 200, 80), ("fashion_mnist", 620, 40)):
        for part, count in (("train", train), ("t10k", test)):
            classes = np.arange(count) % 10 if dataset == "mnist" else 3 + np.arange(count) % 2
            images = rng.integers(0, 256, (count, 28, 28))
            sets.files[dataset, f"{part}-images-idx3-ubyte.gz"] = _idx(images)
            sets.files[dataset, f"{part}-labels-idx1-ubyte.gz"] = _idx(classes)
    for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"):
        records = rng.integers(0, 256, (20, 3073), dtype=np.uint8)
        records[:, 0] %= 10
        sets.members[f"{INNER}/{name}.bin"] = records.tobytes()
    sets.files["cifar10", ARCHIVE] = _tar({**sets.members, f"{INNER}/readme.html": b"<html>"})
    for (dataset, name), content in sets.files.items():
        sets.path(dataset, name).parent.mkdir(parents=True, exist_ok=True)
        sets.path(dataset, name).write_bytes(content)
    sets.data_dir.mkdir()
    sets.write_table()
    return sets


@pytest.fixture
def make_tar() -> Callable[..., bytes]:
    return _tar


@pytest.fixture
def python_batch() -> Callable[..., bytes]:
    return _python_batch


@pytest.fixture
def make_idx() -> Callable[[np.ndarray], bytes]:
    return _idx


Refused = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def refused() -> Refused:
    """`with refused("text", …):` expects a DataError in one line that contains the texts."""

    @contextmanager
    def expect(*texts: str) -> Iterator[None]:
        with pytest.raises(DataError) as caught:
            yield
        message = str(caught.value)
        assert "\n" not in message
        for text in texts:
            assert text in message

    return expect


@contextmanager
def _full_disk(limit: int) -> Iterator[None]:
    """No file may grow beyond `limit` bytes, for the kernel: writing fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def full_disk() -> Callable[[int], AbstractContextManager[None]]:
    return _full_disk


@dataclass
class Server:
    """A web server on this machine: `answers[path]` are given in turn, the last one again and again."""

    url: str
    answers: dict[str, list[tuple[int, bytes, int]]] = field(default_factory=dict)
    hits: list[str] = field(default_factory=list)

    def serve(self, path: str, *answers: tuple[int, bytes] | tuple[int, bytes, int]) -> None:
        """Each answer is a status, a body and, where it differs, the announced length."""
        self.answers[path] = [(a[0], a[1], a[2] if len(a) == 3 else len(a[1])) for a in answers]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    state = Server("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.hits.append(self.path)
            queue = state.answers.get(self.path, [(404, b"no such file", 12)])
            status, body, length = queue.pop(0) if len(queue) > 1 else queue[0]
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture(scope="session")
def real_mirror() -> Path:
    directory = os.environ.get("LOCALENTROPY_MIRROR")
    if not directory:
        pytest.skip("LOCALENTROPY_MIRROR is not set")
    return Path(directory)
