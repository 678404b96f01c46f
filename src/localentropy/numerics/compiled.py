"""The decorators of everything compiled: `kernel` is called from Python, `subroutine` from kernels only.

Kernels have a disk cache that notices an edited subroutine. numba looks only at the file of the function itself, and
would go on using the old one. So the folder of the cache is named by a hash of the code that the kernel's module
uses.

Subroutines are always inlined and never on disk. A call that is left in the machine code of a kernel is bound, when
that is loaded, to whichever copy of the callee the process has already, and copies round differently: which product
is joined with which sum depends on what else was compiled with them. The last bits of a result would depend on which
kernels come from the disk, and so on which files an earlier run, perhaps a killed one, has left there.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding  # type: ignore[import-untyped]

from localentropy.closure import PACKAGE, code_hash

_config: Any = numba.config

FUSED = {"contract", "nsz"}
"""Floating-point option: a multiplication and an addition may become one instruction."""

REORDERED = {"contract", "nsz", "reassoc"}
"""The same, and sums may be taken in any (fixed) order. NaN and infinity keep their meaning."""


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function at its first call and keep the machine code on disk.

    It runs without the interpreter's lock, so threads may run several; divisions follow IEEE instead of raising. It
    must be called with one signature only: then two processes that compile it at the same time write the same. It calls
    subroutines, no kernel.

    Args:
        function: takes arrays and numbers, uses no global state.
        options: further options of `numba.njit`.
    """
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    # numba reads this setting when a function is decorated.
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(_cache_root() / _code_name(function.__module__))
    try:
        return subroutine(function, cache=True, forceinline=False, **options)
    finally:
        _config.CACHE_DIR = before


def subroutine(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function as a part of each kernel that calls it.

    Args:
        function: as for `kernel`.
        options: further options of `numba.njit`.
    """
    if function is None:
        return lambda decorated: subroutine(decorated, **options)
    # Said explicitly: a function that does not say it is compiled with the option of whichever one calls it first.
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False, "forceinline": True}
    return numba.njit(function, **(settings | options))


def _code_name(module: str) -> str:
    """Hash of the sources behind a module, of numba, and of the processor that the code is made for."""
    return hashlib.sha256(f"{_machine()}\0{code_hash(module)}".encode()).hexdigest()[:20]


@lru_cache(maxsize=1)
def _machine() -> str:
    return (
        f"{sys.version} {numba.__version__} {binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"
    )


@lru_cache(maxsize=1)
def _cache_root() -> Path:
    """NUMBA_CACHE_DIR, or a folder of the user's cache, or, where that cannot be written, one for this process."""
    if _config.CACHE_DIR:
        return Path(_config.CACHE_DIR)
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", PACKAGE, "kernels")
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    except (OSError, RuntimeError):
        pass
    own = Path(tempfile.mkdtemp(prefix=f"{PACKAGE}-kernels-"))
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return own
