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


class MachineError(LocalEntropyError):
    """The operating system refused to read or write."""


@contextmanager
def refusals() -> Iterator[None]:
    """Turn refusals of the machine inside the block into `MachineError`. Other errors of the system are bugs."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
        where = f"{error.filename}: " if error.filename else ""
        raise MachineError(f"{where}{error.strerror}; mend that and run again: what is complete is kept") from None
