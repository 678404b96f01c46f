"""The algorithms that look for binary weights: each takes an instance and returns a `Solution`."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

# By name at run time: an import statement would make every solver depend on all of them.
_MODULES = {
    "anneal": "localentropy.solvers.anneal",
    "mct0": "localentropy.solvers.anneal",
    "sbpi": "localentropy.solvers.sbpi",
    "belief_propagation": "localentropy.solvers.belief_propagation",
    "focusing_bp": "localentropy.solvers.focusing_bp",
    "binarynet": "localentropy.solvers.binarynet",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


class _Solvers(ModuleType):
    """This package, in which the name of a solver always means the function.

    The import system binds `solvers.sbpi` to the module of that name, once anything imports it.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _MODULES and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Solvers
