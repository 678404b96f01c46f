"""The decorator of every compiled kernel, with a disk cache that notices an edited callee.

numba looks only at the file of the function itself: a kernel that calls another file's kernel would go on using the old
one. So the folder of the cache is named by the contents of all files of this package that the kernel's module uses.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
from llvmlite import binding  # type: ignore[import-untyped]

PACKAGE = __name__.partition(".")[0]
_config: Any = numba.config


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function at its first call and keep the machine code on disk.

    It runs without the interpreter's lock, so threads may run several; divisions follow IEEE instead of raising. A
    kernel must be called with one signature only: then two processes that compile it at the same time write the same.

    Args:
        function: takes arrays and numbers, uses no global state.
        options: further options of `numba.njit`.
    """
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    # Said explicitly: a kernel that does not say it is compiled with the option of whichever kernel calls it first.
    options = {"fastmath": False} | options
    # numba reads this setting when a function is decorated.
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(_cache_root() / _code_name(function.__module__))
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    finally:
        _config.CACHE_DIR = before


def _code_name(module: str) -> str:
    """Hash of the sources behind a module, of numba, and of the processor that the code is made for."""
    digest = hashlib.sha256(_machine().encode())
    for name in sorted(_used_modules(sys.modules[module])):
        file = sys.modules[name].__file__
        if file is not None:
            digest.update(f"\0{name}\0".encode() + Path(file).read_bytes())
    return digest.hexdigest()[:20]


def _used_modules(module: ModuleType) -> set[str]:
    """Names of the modules of this package whose functions or values a module can reach."""
    found, waiting = {module.__name__}, [module]
    while waiting:
        for value in list(vars(waiting.pop()).values()):
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if (
                isinstance(name, str)
                and name.partition(".")[0] == PACKAGE
                and name in sys.modules
                and name not in found
            ):
                found.add(name)
                waiting.append(sys.modules[name])
    return found


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
    return Path(tempfile.mkdtemp(prefix=f"{PACKAGE}-kernels-"))
