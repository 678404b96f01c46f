"""Downloads from a real web server on this machine."""

from __future__ import annotations

import socket

import numpy as np
import pytest

from localentropy.data import download as module
from localentropy.data.prepare import prepare
from localentropy.data.prepared import load
from localentropy.data.registry import raw_files

NAME = "t10k-labels-idx1-ubyte.gz"


@pytest.fixture
def raw(tiny, server):
    tiny.write_table(server.url)
    return next(raw for raw in raw_files("mnist", tiny.data_dir) if raw.file == NAME)


@pytest.fixture
def content(tiny):
    return tiny.files["mnist", NAME]


PATH = f"/mnist/{NAME}"


def fetch(raw, folder, attempts=3):
    return module.download(raw, folder, attempts=attempts, delay=0.01)


def test_good_file_is_fetched_once(tmp_path, raw, content, server, capfd):
    server.serve(PATH, (200, content))
    path = fetch(raw, tmp_path / "raw")
    assert path == tmp_path / "raw" / NAME
    assert path.read_bytes() == content
    assert fetch(raw, tmp_path / "raw") == path
    assert server.hits == [PATH]
    assert list(path.parent.iterdir()) == [path]
    assert f"downloading {NAME}" in capfd.readouterr().err


def test_server_error_then_good(tmp_path, raw, content, server):
    server.serve(PATH, (500, b"sorry"), (503, b"sorry"), (200, content))
    assert fetch(raw, tmp_path).read_bytes() == content
    assert len(server.hits) == 3


def test_cut_connection_then_good(tmp_path, raw, content, server):
    server.serve(PATH, (200, content[:20], len(content)), (200, content))
    assert fetch(raw, tmp_path).read_bytes() == content


def test_next_location_after_not_found(tmp_path, raw, content, server):
    server.serve("/elsewhere", (200, content))
    raw = module.RawFile(**{**vars(raw), "urls": (raw.urls[0], f"{server.url}/elsewhere")})
    assert fetch(raw, tmp_path).read_bytes() == content
    assert server.hits == [PATH, "/elsewhere"]  # no second try of a 404


@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ((200, b"<!doctype html><html>Please log in</html>"), ("HTML page",)),
        ((200, b"\x1f\x8b123"), ("truncated: found 5 bytes",)),
        ((200, b"\x1f\x8b123", 103), ("connection closed",)),
        ((500, b"sorry"), ("the server answered 500",)),
        ((404, b"no"), ("the server answered 404",)),
    ],
)
def test_failures_are_one_line_and_leave_nothing(tmp_path, raw, server, refused, answer, texts):
    server.serve(PATH, answer)
    with refused(str(tmp_path / "raw" / NAME), "127.0.0.1", "mirror", "embedded", *texts):
        fetch(raw, tmp_path / "raw", attempts=2)
    assert not list((tmp_path / "raw").iterdir())


def test_wrong_checksum(tmp_path, raw, content, server, refused):
    server.serve(PATH, (200, content[:-1] + bytes([content[-1] ^ 1])))
    with refused("wrong checksum", raw.sha256[:16]):
        fetch(raw, tmp_path / "raw", attempts=1)
    assert not list((tmp_path / "raw").iterdir())


def test_no_network(tmp_path, tiny, refused, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    tiny.write_table(f"http://127.0.0.1:{port}")
    raw = raw_files("mnist", tiny.data_dir)[0]
    with refused("no connection", f"127.0.0.1:{port}", "check the network"):
        fetch(raw, tmp_path / "raw", attempts=2)
    assert not list((tmp_path / "raw").iterdir())


def test_altered_file_is_fetched_again(tmp_path, raw, content, server):
    server.serve(PATH, (200, content))
    (tmp_path / NAME).write_bytes(content[:10])
    assert fetch(raw, tmp_path).read_bytes() == content


def test_full_disk(tmp_path, tiny, server, refused, full_disk):
    tiny.write_table(server.url)
    raw = raw_files("mnist", tiny.data_dir)[0]
    server.serve(f"/mnist/{raw.file}", (200, tiny.files["mnist", raw.file]))
    with full_disk(20_000), refused("cannot be written", f"{raw.bytes} bytes needed"):
        fetch(raw, tmp_path / "raw")
    assert not list((tmp_path / "raw").iterdir())


@pytest.mark.parametrize("name", ["mnist_parity", "cifar10"])
def test_prepared_from_download_equals_prepared_from_mirror(tmp_path, tiny, server, name):
    for (dataset, file), content in tiny.files.items():
        server.serve(f"/{dataset}/{file}", (200, content))
    tiny.write_table(server.url)
    prepare(name, tmp_path / "a.npz", source="download", data_dir=tiny.data_dir)
    prepare(name, tmp_path / "b.npz", source="mirror", mirror=tiny.mirror, data_dir=tiny.data_dir)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert np.array_equal(load(tmp_path / "a.npz").test.labels, load(tmp_path / "b.npz").test.labels)
