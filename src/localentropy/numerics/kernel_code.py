"""The text of all that a kernel is compiled from, at any depth: bytecode, constants, options, values of globals.

The text is read from the functions in this process, and not from their files. So it does not depend on where the
package lies, on when its files were written, or on an edit that this process has not loaded. Of libraries the text has
only names. So whoever compares such texts must compare the versions of the libraries too.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.types import Type

LIBRARIES = frozenset({"builtins", "llvmlite", "math", "numba", "numpy"})
"""Packages of whose objects the text has only the names."""


class NoTextError(Exception):
    """The code uses a value that has no text, such as an object of a class of the package."""


def code_text(function: Any) -> str:
    """The text of a compiled function, or of a Python function that will be compiled.

    Args:
        function: the function.

    Returns:
        The text of its code and of all that it calls.

    Raises:
        NoTextError: the function uses a value that has no text.

    Example:
        >>> from localentropy.numerics.kernel_code import code_text
        >>> from localentropy.numerics.quadrature import sinh_range
        >>> "asinh" in code_text(sinh_range)
        True
    """
    return "\n".join(_text(function, set()))


def _text(value: Any, seen: set[int]) -> Iterator[str]:
    """The lines of a value. A function has lines only where it is met first."""
    yield type(value).__name__
    if _is_of_library(value):
        yield _name(value)
    elif isinstance(value, FunctionType) or hasattr(value, "__wrapped__"):
        yield value.__name__
        if id(value) not in seen:
            seen.add(id(value))
            yield from _function_text(value, seen)
    elif isinstance(value, CodeType):
        yield from _bytecode_text(value, seen)
    elif isinstance(value, np.ndarray | np.generic):
        yield f"{value.dtype.str} {value.shape} {value.tobytes().hex()}"
    elif isinstance(value, tuple | list):
        yield str(len(value))
        for item in value:
            yield from _text(item, seen)
    elif isinstance(value, set | frozenset):
        yield repr(sorted(value, key=repr))
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes | Type):
        yield repr(value)
    else:
        raise NoTextError(f"no text for {value!r}")


def _is_of_library(value: Any) -> bool:
    if isinstance(value, ModuleType | type | BuiltinFunctionType | FunctionType | np.ufunc):
        return _name(value).partition(".")[0] in LIBRARIES
    return False


def _name(value: Any) -> str:
    module = getattr(value, "__module__", None)
    return f"{module}.{value.__name__}" if module else value.__name__


def _function_text(function: Any, seen: set[int]) -> Iterator[str]:
    """Options, code, defaults and values of names of a function, plain or wrapped by numba."""
    for option, value in sorted(getattr(function, "targetoptions", {}).items()):
        yield option
        yield from _text(value, seen)
    plain = getattr(function, "__wrapped__", function)
    cells = [cell.cell_contents for cell in plain.__closure__ or ()]
    yield from _text((plain.__code__, plain.__defaults__, *cells), seen)
    for name in sorted(_names(plain.__code__) & plain.__globals__.keys()):
        yield name
        yield from _text(plain.__globals__[name], seen)


def _bytecode_text(code: CodeType, seen: set[int]) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_exceptiontable.hex()} {code.co_flags}"
    yield f"{code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount}"
    yield f"{code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars}"
    yield from _text(code.co_consts, seen)


def _names(code: CodeType) -> set[str]:
    """The names of globals and attributes in the code, and in the code inside it."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)
