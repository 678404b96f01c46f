"""The algorithms that look for binary weights: each takes an instance and returns a `Solution`."""

from __future__ import annotations

import importlib
from typing import Any

# Imported by name at run time: with an import statement every solver would depend on all of them.
MODULES = {
    "anneal": "localentropy.solvers.binary.anneal",
    "mct0": "localentropy.solvers.binary.anneal",
    "sbpi": "localentropy.solvers.binary.sbpi",
    "belief_propagation": "localentropy.solvers.binary.belief_propagation",
    "focusing_bp": "localentropy.solvers.binary.focusing_bp",
    "binarynet": "localentropy.solvers.binary.binarynet",
}
"""Solver of the binary perceptron → its module."""
__all__ = list(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        nearest = importlib.import_module("localentropy.arguments").nearest_choice(name, MODULES)
        hint = f"; nearest is {nearest!r}" if nearest else ""
        raise AttributeError(f"{__name__} has no {name!r}: allowed are {', '.join(MODULES)}{hint}")
    return getattr(importlib.import_module(MODULES[name]), name)
