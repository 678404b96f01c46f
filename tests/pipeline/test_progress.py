"""Progress of a job: a bar on a terminal, plain lines in a log, and few of these on a terminal that jobs share."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from localentropy.pipeline import progress
from localentropy.pipeline.progress import TERMINAL_SECONDS, reporting
from tests.pipeline.conftest import Checkout
from tests.terminal import on_terminal

BAR = "━"


class Clock:
    """Stands for the module `time`, and goes when it is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=clock.monotonic, strftime=time.strftime))
    return clock


def test_a_job_with_a_log_writes_every_line_to_it_and_few_to_the_terminal(
    clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "job.log"
    steps = 7
    with reporting("toy", steps, log) as reporter:
        for step in range(steps):  # all within half of the time between lines on the terminal
            clock.now += 0.5 * TERMINAL_SECONDS / steps
            reporter.advance(f"step={step}")
        assert capsys.readouterr() == ("", "")
        clock.now = 100 + TERMINAL_SECONDS
        reporter.line("first")
        clock.now += 0.9 * TERMINAL_SECONDS
        reporter.line("second")
        assert capsys.readouterr().err.splitlines() == ["toy: 7 of 7 tasks done; first"]
        clock.now += 0.2 * TERMINAL_SECONDS
        reporter.line("third")
        reporter.line("fourth")
        reporter.summary("7 rows")
    assert capsys.readouterr().err.splitlines() == ["toy: 7 of 7 tasks done; third", "toy: 7 rows"]
    expected = [f"toy: {step + 1} of 7 tasks done; step={step}" for step in range(steps)]
    expected += [f"toy: 7 of 7 tasks done; {word}" for word in ("first", "second", "third", "fourth")]
    lines = log.read_text().splitlines()
    assert [line.partition(" ")[2] for line in lines] == [*expected, "toy: 7 rows"]
    for line in lines:
        time.strptime(line.partition(" ")[0], "%H:%M:%S")


def test_a_job_without_a_log_writes_every_line(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with reporting("toy", 2, None) as reporter:
        reporter.advance("step=0")
        reporter.advance("step=1")
        reporter.summary("2 rows")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["toy: 1 of 2 tasks done; step=0", "toy: 2 of 2 tasks done; step=1", "toy: 2 rows"]


def test_a_log_begins_anew_and_ends_with_what_ended_the_job(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("an earlier job\n")
    with pytest.raises(ZeroDivisionError), reporting("toy", 1, log) as reporter:
        reporter.advance("step=0")
        raise ZeroDivisionError("no")
    first, *last = log.read_text().splitlines()
    assert first.endswith("toy: 1 of 1 tasks done; step=0")
    assert last[0].endswith("Traceback (most recent call last):") and "ZeroDivisionError: no" in last


def run_on_terminal(toys: Checkout, experiment: str, *options: str) -> str:
    """What a terminal gets that is the standard error of a job of three tasks in two parts."""
    sleep = f"{experiment}.seconds=0.3"  # longer than the bar takes to move
    command = ("run", f"overparam/{experiment}", "--scale", "smoke", "--config", sleep, *options)
    status, shown = on_terminal(toys.folder, *command, stream="stderr")
    assert status == 0, shown
    return shown


def test_a_job_on_a_terminal_shows_a_bar(toys: Checkout) -> None:
    shown = run_on_terminal(toys, "toy_a")
    first = shown[: shown.index("part 2 of 2")]
    assert "toy_a, part 1 of 2" in first and BAR in first
    assert first.index("  0%") < first.index(" 50%") < first.index("100%")
    # Lines go by above the bar, and no bar is left.
    assert "toy_a, part 1 of 2: 1 of 2 tasks done; point=0" in first and "2 tasks, 2 rows" in first
    assert BAR not in shown[shown.rindex("\x1b[2K") :]


def test_a_job_with_a_log_on_a_terminal_has_no_bar(toys: Checkout) -> None:
    shown = run_on_terminal(toys, "toy_a", "--log", "job.log")
    assert BAR not in shown and "\x1b" not in shown
    # Its results, and no line between: the job is short.
    assert [line.partition(": ")[2].partition(" rows")[0] for line in shown.splitlines()] == [
        "2 tasks, 2", "1 tasks, 1", "3",
    ]  # fmt: skip
