"""Classifiers for scikit-learn: each solver of the binary perceptron and of committee machines behind `fit`."""

from __future__ import annotations

import importlib
from typing import Any

# Imported by name at run time: with an import statement every module here would depend on these.
_MODULES = {
    "BinaryPerceptronClassifier": "localentropy.estimators.perceptron",
    "CommitteeClassifier": "localentropy.estimators.committee",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
