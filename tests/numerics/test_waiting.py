"""The line for who waits for a compilation: in time, once for a wait, on a terminal or in the log."""

import io
import logging
import sys
from threading import Timer
from types import SimpleNamespace
from typing import Any

import pytest
from numba import njit
from numba.core.errors import TypingError

from localentropy.numerics import waiting
from localentropy.numerics.compiled import kernel
from localentropy.numerics.waiting import Announcer


@kernel
def wrong():
    return "a" - 1  # type: ignore[operator]


def about(function) -> SimpleNamespace:
    return SimpleNamespace(data={"dispatcher": function})


@pytest.fixture
def clock(monkeypatch):
    """The announcer's time stands still until it is set; its timers fire at once."""
    time = SimpleNamespace(now=0.0)
    time.monotonic = lambda: time.now
    monkeypatch.setattr(waiting, "time", time)
    monkeypatch.setattr(waiting, "PATIENCE", 1e-3)
    return time


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, "localentropy")
    return caplog


def wait_for(announcer, function) -> None:
    """A compilation that takes longer than the timer of the announcer."""
    announcer.on_start(about(function))
    announcer._timer.join()
    announcer.on_end(about(function))


def test_one_line_for_a_wait(clock, log):
    announcer = Announcer()
    wait_for(announcer, wrong)
    wait_for(announcer, wrong)
    assert len(log.messages) == 1 and "(wrong " in log.messages[0]
    clock.now = 5.0
    wait_for(announcer, wrong)
    assert len(log.messages) == 2


def test_on_a_terminal(clock, log, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    wait_for(Announcer(), wrong)
    assert screen.getvalue().startswith("localentropy: compiling ") and screen.getvalue().count("\n") == 1
    assert not log.messages


def test_no_line_for_a_short_one_and_for_functions_of_others(log, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 1e5)
    announcer = Announcer()
    # Numba tells also of parts of functions, which have no cache.
    for other in (njit(lambda: 0), object()):
        announcer.on_start(about(other))
        assert announcer._timer is None
    announcer.on_start(about(wrong))
    timer: Any = announcer._timer
    announcer.on_end(about(wrong))
    assert timer.finished.is_set() and not log.messages


def test_a_compilation_that_fails_is_not_waited_for(monkeypatch):
    timers = []

    def timer(*arguments):
        timers.append(Timer(*arguments))
        return timers[-1]

    monkeypatch.setattr(waiting, "PATIENCE", 1e5)
    monkeypatch.setattr(waiting, "Timer", timer)
    with pytest.raises(TypingError):
        wrong()
    assert [timer.finished.is_set() for timer in timers] == [True]


def test_a_long_loop_says_every_five_seconds_how_far_it_is(clock, log):
    for item in waiting.counted("abcdef", "alpha_le"):
        clock.now += 3.0 if item < "e" else 0.1
    assert log.messages == ["alpha_le: 2 of 6 done", "alpha_le: 4 of 6 done"]


def test_a_short_loop_says_nothing(clock, log):
    assert list(waiting.counted([1, 2, 3], "kappa_max")) == [1, 2, 3] and log.messages == []
