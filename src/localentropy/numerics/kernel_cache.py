"""The disk cache of kernels. A file that cannot be read, or is damaged, is not used: its kernel is compiled again.

Each kernel and signature has one file. Its name has a hash of its key: the code, the versions, the processor and the
settings. So checkouts with the same code share it. The file begins with a checksum over key and content. Machine code
that is damaged, or that belongs to another kernel, could end the process or give wrong numbers. Because of the checksum
it never runs. The checksum protects against damage, but not against somebody who writes wrong files on purpose. So only
people who trust each other should share a cache folder.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from localentropy.atomic import replacing
from localentropy.numerics.kernel_code import NoTextError, code_text

PACKAGE = __name__.partition(".")[0]

_config: Any = numba.config

SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE", "USING_SVML")
"""Settings of numba that change the machine code for a processor."""

LARGEST_BYTES = 2**26
"""A file that is larger is none of ours, whose largest have a few 2**20, and is not read."""

_CHECKSUM_BYTES = hashlib.sha256().digest_size


class KernelCache(NullCache):  # type: ignore[misc]
    """The files of one kernel, as numba asks for them at the first call with a signature."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The compiled kernel; None where the disk has no whole file of it."""
        target_context.refresh()
        content = None
        with suppress(OSError, RuntimeError, NoTextError):
            key = self._key(sig, target_context.codegen())
            content = _read(_file(key), key)
        return CompileResult._rebuild(target_context, *pickle.loads(content)) if content else None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Write the compiled kernel to the disk, if this is possible."""
        if cres.library.has_dynamic_globals:  # It contains addresses of this process.
            return
        with suppress(OSError, RuntimeError, NoTextError):
            key = self._key(sig, cres.codegen)
            _write(_file(key), key, dumps(cres._reduce()))

    def _key(self, signature: Any, codegen: Any) -> str:
        settings = {name: getattr(_config, name, None) for name in SETTINGS}
        versions = sys.version, numba.__version__, llvmlite.__version__, np.__version__
        kernel = self._kernel.__module__, self._kernel.__qualname__, str(signature)
        return "\n".join(map(str, (*kernel, versions, codegen.magic_tuple(), settings, self._code)))

    @cached_property
    def _code(self) -> str:
        return code_text(self._kernel)


def cache_folder() -> Path:
    """The folder of the kernels: below NUMBA_CACHE_DIR, or else below the user's folder for caches.

    Returns:
        The folder; it need not exist.

    Raises:
        RuntimeError: the user has no home.

    Example:
        >>> from localentropy.numerics.kernel_cache import cache_folder
        >>> cache_folder().name
        'kernels'
    """
    base = _config.CACHE_DIR or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, PACKAGE, "kernels")


def _file(key: str) -> Path:
    module, function = key.split("\n")[:2]
    return cache_folder() / f"{module}.{function}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.kernel"


def _read(file: Path, key: str) -> bytes | None:
    """The content of a file, if all of it is what was written under this key."""
    if not file.is_file() or file.stat().st_size > LARGEST_BYTES:  # Reading a pipe could wait without end.
        return None
    data = file.read_bytes()
    checksum, content = data[:_CHECKSUM_BYTES], data[_CHECKSUM_BYTES:]
    return content if checksum == _checksum(key, content) else None


def _write(file: Path, key: str, content: bytes) -> None:
    with replacing(file) as temporary:
        temporary.write_bytes(_checksum(key, content) + content)


def _checksum(key: str, content: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + content).digest()
