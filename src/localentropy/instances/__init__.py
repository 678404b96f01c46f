"""The problems that the solvers solve.

They are random patterns, the hidden manifold, committees, committee teachers, generalized linear problems, image
features and linear features. The first two can be imported from here, and the others from their modules.
"""

from __future__ import annotations

import importlib
from typing import Any

# Imported by name at run time: with an import statement every module here would depend on these.
_MODULES = {
    "hidden_manifold": "localentropy.instances.perceptron",
    "random_patterns": "localentropy.instances.perceptron",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
