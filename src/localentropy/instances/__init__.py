"""The problems that the solvers are given: random patterns, the hidden manifold, and the real datasets."""

from __future__ import annotations

import importlib
from typing import Any

# By name at run time: an import statement would make every module here depend on what it names.
_MODULES = {
    "hidden_manifold": "localentropy.instances.perceptron",
    "random_patterns": "localentropy.instances.perceptron",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
