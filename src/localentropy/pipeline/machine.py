"""Errors of one line for refusals of the machine: a full disk, a read-only folder, missing rights; closed streams."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localentropy.errors import LocalEntropyError

_REFUSALS = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EIO,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ENAMETOOLONG,
    errno.ESTALE,
    errno.EMFILE,
    errno.ENFILE,
)


LONGEST_REASON = 200


class MachineError(LocalEntropyError):
    """The operating system refused to read or write."""


@contextmanager
def refusals() -> Iterator[None]:
    """Turn refusals of the machine inside the block into `MachineError`. Other errors of the system are bugs."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not _is_out_of_memory(error):
            raise
        what = " ".join(str(error).split())[:LONGEST_REASON]
        raise MachineError(f"out of memory ({what}); choose smaller sizes: what is complete is kept") from None
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
        where = f"{error.filename}: " if error.filename else ""
        raise MachineError(f"{where}{error.strerror}; fix that and run again: what is complete is kept") from None


@contextmanager
def output() -> Iterator[None]:
    """End the program in silence, with status 1, if the reader of what is printed in the block is gone (`| head -1`).

    What standard output does not take is dropped, also where a disk is full. Python would try again at its end, and
    print an exception.

    Raises:
        OSError: standard output cannot be written for another reason, or the block has raised it.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError:
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        raise


def open_closed_streams() -> None:
    """Open the standard streams that are closed (`>&-`): else the next file that is opened would take the number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory is all that is missing. PyTorch has an error of its own for that on a GPU, and none on a CPU."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "DefaultCPUAllocator" in str(error)
    )
