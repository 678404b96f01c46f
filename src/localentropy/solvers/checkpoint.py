"""Side file of a long solver run, from which it goes on to the same bits after an interruption."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import zipfile
from pathlib import Path

import numpy as np


class Checkpoint:
    """Arrays of one run, replaced as a whole, at most once a minute.

    Args:
        path: the side file; None keeps nothing.
        identity: all that determines the run. A file of another run, or one that cannot be read, is not used.
        seconds: time between two saves. Runs shorter than that leave no file.
    """

    def __init__(self, path: Path | None, *identity: object, seconds: float = 60.0) -> None:
        digest = hashlib.sha256()
        if path is not None:
            for part in identity:
                digest.update(part.tobytes() if isinstance(part, np.ndarray) else f"\0{part!r}\0".encode())
        self.path = None if path is None else Path(path)
        self.key = digest.hexdigest()
        self.seconds = seconds
        self._last = time.monotonic()

    def load(self) -> dict[str, np.ndarray] | None:
        """The saved arrays of this run, or None."""
        if self.path is None:
            return None
        try:
            with np.load(self.path, allow_pickle=False) as stored:
                arrays = dict(stored)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile):
            return None
        return arrays if str(arrays.pop("key", "")) == self.key else None

    def save(self, **arrays: np.ndarray) -> None:
        """Replace the file, if it is time."""
        if self.path is None or time.monotonic() - self._last < self.seconds:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_name(f"{self.path.name}.{os.getpid()}.partial")
        with partial.open("wb") as file:
            np.savez(file, key=np.array(self.key), **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.path)
        self._last = time.monotonic()

    def remove(self) -> None:
        """Delete the file: the run is complete."""
        if self.path is not None:
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()
