"""Checkpoint files: what is written is read, what is damaged or foreign is refused in one line."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from localentropy.networks.checkpoint import Checkpoint

STATE: dict[str, Any] = {
    "flat": torch.arange(5.0),
    "epoch": 3,
    "generators": '{"state": 340282366920938463463374607431768211455}',
}


def checkpoint(path, key="run", lines=None):
    return Checkpoint(path, key, seconds=0, report=[].append if lines is None else lines.append)


def test_round_trip_and_removal(tmp_path):
    path = tmp_path / "folder" / "run"
    assert checkpoint(path).load() is None
    checkpoint(path).save(STATE)
    checkpoint(path).save({**STATE, "epoch": 4})
    state = checkpoint(path).load()
    assert state is not None
    assert state["epoch"] == 4
    assert torch.equal(state["flat"], STATE["flat"])
    assert state["generators"] == STATE["generators"]
    assert sorted(file.name for file in path.parent.iterdir()) == ["run", "run.previous"]
    checkpoint(path).remove()
    assert not list(path.parent.iterdir())


def test_truncated_empty_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "run"
    checkpoint(path).save(STATE)
    good = path.read_bytes()
    for content in (b"", good[:20], good[:-1], b"<html>" + good):
        path.write_bytes(content)
        lines: list[str] = []
        assert checkpoint(path, lines=lines).load() is None
        assert len(lines) == 1
        assert "corrupt" in lines[0]
        assert "\n" not in lines[0]
    path.write_bytes(good)
    lines = []
    assert checkpoint(path, "another run", lines).load() is None
    assert lines == [f"checkpoint {path} belongs to another run (code, parameters or data); it is ignored"]


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_nothing_waits_for_a_pipe_or_reads_a_folder(tmp_path, make):
    path, lines = tmp_path / "run", list[str]()
    make(path)
    assert checkpoint(path, lines=lines).load() is None
    assert lines == [f"checkpoint {path} is a folder, a pipe or a device; it is ignored"]
    checkpoint(path).save(STATE)
    state = checkpoint(path).load()
    assert state is not None
    assert state["epoch"] == 3


def test_time_between_saves(tmp_path):
    assert not Checkpoint(tmp_path / "run", "run", seconds=100).due()
    assert checkpoint(tmp_path / "run").due()
