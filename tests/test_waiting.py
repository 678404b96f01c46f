"""Waits end when what is waited for hangs, and not before."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from tests import progress

SLEEPER = "import time; print(1, flush=True); time.sleep(1e6)"
SLEEPS = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEPER!r}])"


class Machine:
    """A clock that a wait moves on, and a process that has worked as long as it is told."""

    now, worked = 0.0, 0.0

    def monotonic(self) -> float:
        return self.now

    def processes(self) -> list[Any]:
        return [SimpleNamespace(cpu_times=lambda: (self.worked, 0.0, 0.0, 0.0))]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine()
    monkeypatch.setattr(progress.time, "monotonic", machine.monotonic)
    return machine


@pytest.mark.parametrize("work", [0.02, 0.05, 1.0])
@pytest.mark.parametrize("polls", [0.0, 0.005])
def test_slow_work_is_waited_for_and_what_only_polls_is_not(machine: Machine, work: float, polls: float) -> None:
    patience = progress.Patience(machine.processes)
    for _ in range(10_000):
        machine.now += 1.0
        machine.worked += work
        patience.look()
    end = machine.now
    with pytest.raises(progress.Hangs):
        while machine.now < end + 3.0 * progress.STILL:
            machine.now += 1.0
            machine.worked += polls
            patience.look()


def test_what_hangs_is_killed_with_all_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = progress.STILL
    monkeypatch.setattr(progress, "STILL", 0.0)
    monkeypatch.setattr(progress, "LOOK", 0.0)
    with subprocess.Popen([sys.executable, "-c", SLEEPS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "1\n"
        below = psutil.Process(process.pid).children()
        with pytest.raises(progress.Hangs):
            progress.ended(process)
    assert below and not psutil.wait_procs(below, timeout=patience)[1]


def test_an_end_without_the_event_is_told() -> None:
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(AssertionError, match="ended with status 3"):
        progress.until(lambda: False, process)
    done = progress.run([sys.executable, "-c", "import sys; print('a'); print('b', file=sys.stderr)"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "a\n", "b\n")
