"""Errors of one line for refusals of the machine: a full disk, a read-only folder, missing rights."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

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


def _is_out_of_memory(error: Exception) -> bool:
    """Whether memory is all that is missing. PyTorch has an error of its own for that on a GPU, and none on a CPU."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "DefaultCPUAllocator" in str(error)
    )
