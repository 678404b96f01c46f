"""Results of message passing that are written to a file and read again, so that a run goes on."""

from __future__ import annotations

import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from localentropy.errors import DataError
from localentropy.solvers.solution import FocusingRecord


class Saved:
    """Base class of results that can be saved: it gives `save` and `load` to a dataclass of arrays and numbers.

    Example:
        >>> from localentropy.solvers.binary.constrained_bp import ConstrainedBeliefs
        >>> from localentropy.solvers.saved import Saved
        >>> issubclass(ConstrainedBeliefs, Saved)
        True
    """

    def save(self, path: Path | str) -> None:
        """Write all into one file of NumPy, `.npz`.

        Args:
            path: of the file; no ending is added.

        Raises:
            OSError: the file cannot be written.
        """
        with Path(path).open("wb") as file:
            np.savez(file, **_entries(self))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read what `save` has written.

        Raises:
            DataError: no such file, or another one.
        """
        found: dict[str, Any] = {}
        steps: dict[str, Any] = {}
        try:
            with np.load(path, allow_pickle=False) as read:
                for name in read.files:
                    value = read[name] if read[name].ndim else read[name].item()
                    (steps if name.startswith("steps.") else found)[name.removeprefix("steps.")] = value
            return cls(**found, **({"steps": FocusingRecord(**steps)} if steps else {}))
        except (OSError, ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
            raise DataError(f"{path}: no saved run, a {cls.__name__} ({type(error).__name__})") from None


def _entries(result: Any, prefix: str = "") -> dict[str, Any]:
    """The fields by their names; those of the record of a protocol by `steps.` and theirs."""
    entries: dict[str, Any] = {}
    for one in fields(result):
        value = getattr(result, one.name)
        if is_dataclass(value):
            entries |= _entries(value, f"{one.name}.")
        elif value is not None:
            entries[prefix + one.name] = value
    return entries
