"""Random streams by name: the stream of a task is a hash of what the task is, never of when it runs.

Refining a grid or adding samples therefore changes no old point, and separate streams for `instance`, `test`
and `algorithm/<solver>` give every solver the same instances.
"""

from __future__ import annotations

import hashlib
import json
import numbers
from typing import TYPE_CHECKING

from localentropy.arguments import require_number, shown
from localentropy.errors import DomainError
from localentropy.quantities import SEED

if TYPE_CHECKING:
    import numpy as np


def entropy(root: int, stream: str, **values: float | int | str | bool) -> int:
    """128-bit integer that names the stream `stream` at the parameter values `values` under the root seed.

    Numbers are told apart by value, not by type: 2, 2.0 and numpy's 2 name the same stream.

    Raises:
        DomainError: a root that is no seed, a stream that is no text, a value that is neither a finite number nor text.
    """
    if not isinstance(stream, str):
        raise DomainError(f"stream = {shown(stream)}: allowed is a text")
    canonical = {key: value if isinstance(value, str) else _number(key, value) for key, value in values.items()}
    name = json.dumps([SEED.require(root), stream, canonical], sort_keys=True, allow_nan=False)
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:16], "big")


def _number(key: str, value: object) -> float:
    if isinstance(value, bool):
        return float(value)
    number = require_number(key, value)
    # Not every integer beyond 2^53 is a float, and JSON tells -0.0 from 0.0.
    return int(value) if isinstance(value, numbers.Integral) and int(value) != number else number + 0.0


def child(root: int, stream: str, **values: float | int | str | bool) -> int:
    """Root seed of a task with streams of its own, such as an instance: `entropy` below 2⁶³."""
    return entropy(root, stream, **values) % 2**63


def generator(root: int, stream: str, **values: float | int | str | bool) -> np.random.Generator:
    """PCG64 generator of the stream (see `entropy`), in its initial state."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(entropy(root, stream, **values)))
