"""Messages for a user who waits: that kernels are being compiled, and how far a long call is."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread, Timer
from typing import Any, TypeVar

from numba.core.event import Listener

from localentropy.numerics.kernel_cache import PACKAGE, KernelCache

PATIENCE = 1.0
"""Seconds of compilation before the message. A pause of this length ends a wait."""
STEP = 5.0
"""Seconds between two messages on how far a call is."""
T = TypeVar("T")


class Announcer(Listener):  # type: ignore[misc]
    """Listener to numba's compilations. Numba tells it when each begins and ends, one at a time."""

    def __init__(self) -> None:
        self._began = self._ended = -math.inf
        self._told = False
        self._timer: Timer | None = None

    def on_start(self, event: Any) -> None:
        """A compilation begins: start the timer of the message, which is printed once in a wait."""
        if not _is_kernel(event):
            return
        now = time.monotonic()
        if now > self._ended + PATIENCE:
            self._began, self._told = now, False
        self._timer = Timer(max(0.0, self._began + PATIENCE - now), self._tell, [event.data["dispatcher"].__name__])
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: Any) -> None:
        """A compilation has ended, with or without success: stop the timer."""
        if _is_kernel(event) and self._timer:
            self._timer.cancel()
            self._ended = time.monotonic()

    def _tell(self, name: str) -> None:
        if self._told:
            return
        self._told = True
        _say(f"compiling for the first call ({name} and what else it needs): some seconds")


def counted(items: Sequence[T], name: str) -> Iterator[T]:
    """The items one by one. A message says every five seconds how many are done, if the loop over them is that long.

    Args:
        items: what is worked on.
        name: of the call.

    Yields:
        The items.

    Example:
        >>> from localentropy.numerics.waiting import counted
        >>> sum(counted([1, 2, 3], "sums"))  # too fast for a message
        6
    """
    told = time.monotonic()
    for number, item in enumerate(items):
        if time.monotonic() >= told + STEP:
            told = time.monotonic()
            _say(f"{name}: {number} of {len(items)} done")
        yield item


@contextmanager
def waited(name: str) -> Iterator[None]:
    """Say every five seconds how long the block has been running, where nobody can say how much of it is left.

    Args:
        name: of the call.

    Yields:
        Nothing, once.

    Example:
        >>> from localentropy.numerics.waiting import waited
        >>> with waited("sum"):  # too fast for a message
        ...     sum([1, 2, 3])
        6
    """
    ended, began = Event(), time.monotonic()

    def tell() -> None:
        while not ended.wait(STEP):
            _say(f"{name}: {time.monotonic() - began:.0f} s so far")

    Thread(target=tell, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _say(message: str) -> None:
    """To the terminal, else to the log of the package."""
    if sys.stderr and sys.stderr.isatty():
        print(f"{PACKAGE}: {message}", file=sys.stderr)
    else:
        logging.getLogger(PACKAGE).info(message)


def _is_kernel(event: Any) -> bool:
    """Whether an event is about a whole kernel, not about a part of one or a function of another package."""
    return isinstance(getattr(event.data["dispatcher"], "_cache", None), KernelCache)
