"""The decorators of everything compiled: `kernel` is called from Python, `subroutine` from kernels only.

Kernels are kept on disk (`kernel_cache.py`) under the code that they use, so an edited subroutine is noticed. A long
compilation is announced (`waiting.py`). With NUMBA_DISABLE_JIT=1 the interpreter runs everything, slowly.

Subroutines are always inlined and never on disk. A call that is left in the machine code of a kernel is bound, when
that is loaded, to whichever copy of the callee the process has already, and copies round differently: which product
is joined with which sum depends on what else was compiled with them. The last bits of a result would depend on which
kernels come from the disk, and so on which files an earlier run, perhaps a killed one, has left there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numba
import numpy as np
from numba.core.event import register
from numba.extending import intrinsic

from localentropy.numerics.kernel_cache import KernelCache
from localentropy.numerics.waiting import Announcer

_config: Any = numba.config

FUSED = {"contract", "nsz"}
"""Floating-point option: a multiplication and an addition may become one instruction."""

REORDERED = {"contract", "nsz", "reassoc"}
"""Floating-point option: as `FUSED`, and sums are taken in any (fixed) order. NaN and infinity keep their meaning."""


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function at its first call and keep the machine code on disk.

    It runs without the interpreter's lock, so threads may run several; divisions follow IEEE instead of raising. It
    calls subroutines, no kernel.

    Args:
        function: takes arrays and numbers, uses no global state.
        options: further options of `numba.njit`.

    Returns:
        The compiled function.

    Example:
        >>> from localentropy.numerics.compiled import kernel
        >>> @kernel
        ... def square(x):
        ...     return x * x
        >>> square(3.0)
        9.0
    """
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    if _config.DISABLE_JIT:
        return _interpreted(function)
    compiled = subroutine(function, forceinline=False, **options)
    compiled._cache = KernelCache(compiled)
    return compiled


def subroutine(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function as a part of each kernel that calls it.

    Args:
        function: as for `kernel`.
        options: further options of `numba.njit`.

    Returns:
        The compiled function.

    Example:
        >>> from localentropy.numerics.compiled import subroutine
        >>> @subroutine
        ... def square(x):
        ...     return x * x
        >>> square(3.0)
        9.0
    """
    if function is None:
        return lambda decorated: subroutine(decorated, **options)
    # Said explicitly: a function that does not say it is compiled with the option of whichever one calls it first.
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": False, "forceinline": True}
    return numba.njit(function, **(settings | options))


def instruction(build: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """Function of one instruction of the processor, for subroutines and kernels.

    Args:
        build: writes the instruction, as for `numba.extending.intrinsic`.
        plain: does the same with NumPy, for the interpreter.

    Returns:
        The function.
    """
    return plain if _config.DISABLE_JIT else intrinsic(build)


def _interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the arithmetic of compiled code: integers overflow and divisions follow IEEE without errors."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return _python_numbers(function(*map(_machine_number, arguments)))

    return run


def _machine_number(value: Any) -> Any:
    kind = {float: np.float64, int: np.int64}.get(type(value))
    return kind(value) if kind else value


def _python_numbers(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_python_numbers, value))
    return value.item() if isinstance(value, np.generic) else value


register("numba:compile", Announcer())
