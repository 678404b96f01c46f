"""Waiting without a clock: as long as the processes that are waited for work, however slow or busy the machine is."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import psutil

STILL = 600.0
"""Seconds in which processes that hang do less than `WORK`."""
WORK = 6.0
"""Seconds of CPU. What only waits, and looks a few times a second, uses less in that time; what is starved, more."""
PAUSE, LOOK = 0.05, 2.0
"""Seconds between two looks at an event, and between two at the processes, which costs more."""


class Hangs(AssertionError):
    """What is waited for will not come."""


def family(pid: int | None = None) -> list[psutil.Process]:
    """A process and all below it; without a number those below this one."""
    try:
        process = psutil.Process(pid)
        return [*([process] if pid else []), *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def cpu_seconds(processes: Iterable[psutil.Process]) -> float:
    """CPU time of processes, and of those below them that have ended."""
    total = 0.0
    for process in processes:
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            total += sum(process.cpu_times()[:4])
    return total


class Patience:
    """Ends a wait when nothing has been done for long.

    Args:
        processes: those that work, asked anew at each look; by default all below this process.
    """

    def __init__(self, processes: Callable[[], Iterable[psutil.Process]] = family) -> None:
        self._processes = processes
        self._done, self._since = cpu_seconds(processes()), time.monotonic()
        self._looked = self._since

    def look(self) -> None:
        """Notice what was done since the last look.

        Raises:
            Hangs: it was less than `WORK`, for longer than `STILL`.
        """
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        done, self._looked = cpu_seconds(self._processes()), now
        # A process that ends takes its time with it: that too is progress.
        if abs(done - self._done) >= WORK:
            self._done, self._since = done, now
        elif now - self._since > STILL:
            raise Hangs(f"less than {WORK:g} s of CPU in {STILL:g} s")


def kill(process: subprocess.Popen[Any]) -> None:
    """Kill a process and all below it."""
    for each in family(process.pid):
        with suppress(psutil.NoSuchProcess):
            each.kill()


def until(event: Callable[[], Any], process: subprocess.Popen[Any], patience: Patience | None = None) -> None:
    """Wait for something that a process brings about.

    Raises:
        AssertionError: the process has ended without it, or hangs.
    """
    patience = patience or Patience(lambda: family(process.pid))
    while not event():
        ended = process.poll() is not None
        assert not ended or event(), f"ended with status {process.returncode}"
        patience.look()
        time.sleep(PAUSE)


def ended(process: subprocess.Popen[Any]) -> int:
    """The exit status of a process. One that hangs is killed with all below it."""
    _patiently(process, lambda: process.wait(LOOK))
    return int(process.returncode)


def output(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process prints until its end: standard output and error. One that hangs is killed with all below it."""
    return _patiently(process, lambda: process.communicate(timeout=LOOK))


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """`subprocess.run` of a command whose output is text."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as process:
        out, err = output(process)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _patiently(process: subprocess.Popen[Any], wait: Callable[[], Any]) -> Any:
    patience = Patience(lambda: family(process.pid))
    while True:
        try:
            return wait()
        except subprocess.TimeoutExpired:
            try:
                patience.look()
            except Hangs:
                kill(process)
                raise
