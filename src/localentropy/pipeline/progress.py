"""Progress of a job: a bar on a terminal, plain lines in a log.

Under Snakemake several jobs share one terminal. A job with a log writes plain lines to both, and to the terminal at
most once in `TERMINAL_SECONDS`.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from localentropy.errors import LocalEntropyError
from localentropy.pipeline.artifacts import require_writable
from localentropy.pipeline.machine import refusals

TERMINAL_SECONDS = 10.0


class Reporter:
    """Writes a job's lines of progress to its log and to the terminal."""

    def __init__(self, title: str, total: int, log: Path | None) -> None:
        self.title = title
        self.total = total
        self._done = 0
        self._log = log
        self._shown = time.monotonic()
        self._bar = None
        if log is not None:
            require_writable(log)
            log.write_text("", encoding="utf-8")
        elif sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._bar_task = self._bar.add_task(title, total=total)

    def line(self, text: str) -> None:
        """One line of progress inside a task."""
        self._write(f"{self.title}: {self._done} of {self.total} tasks done; {text}")

    def advance(self, text: str) -> None:
        """One task is done."""
        self._done += 1
        if self._bar is not None:
            self._bar.advance(self._bar_task)
        self.line(text)

    def summary(self, text: str) -> None:
        """The last line: the result of the job."""
        self._write(f"{self.title}: {text}", always=True)

    def close(self) -> None:
        """Take the bar off the terminal."""
        if self._bar is not None:
            self._bar.stop()

    def _write(self, text: str, always: bool = False) -> None:
        if self._log is not None:
            self.append(text)
        now = time.monotonic()
        if self._bar is not None:
            self._bar.console.print(text, highlight=False, soft_wrap=True)
        elif always or self._log is None or now - self._shown >= TERMINAL_SECONDS:
            self._shown = now
            print(text, file=sys.stderr, flush=True)

    def append(self, text: str) -> None:
        """A line for the log alone."""
        assert self._log is not None
        with self._log.open("a", encoding="utf-8") as stream:
            stream.write(f"{time.strftime('%H:%M:%S')} {text}\n")


@contextmanager
def reporting(title: str, total: int, log: Path | None) -> Iterator[Reporter]:
    """A reporter for one job. An exception that ends the job is written to its log, if possible.

    Raises:
        ArtifactError: the log cannot be written.
        MachineError: another file of the job cannot be read or written.
    """
    with refusals():
        reporter = Reporter(title, total, log)
    try:
        with refusals():
            yield reporter
    except BaseException as error:
        if log is not None:
            with suppress(OSError):
                reporter.append(_last_words(error))
        raise
    finally:
        reporter.close()


def _last_words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return f"error: {error}" if isinstance(error, LocalEntropyError) else traceback.format_exc()
