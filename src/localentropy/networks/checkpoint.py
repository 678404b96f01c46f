"""Checkpoint of a long run: a side file. An interrupted run goes on from it and ends with the same bits."""

from __future__ import annotations

import hashlib
import io
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from localentropy.arguments import require_function, shown
from localentropy.atomic import is_special, replacing
from localentropy.device import torch
from localentropy.errors import ArtifactError, DomainError
from localentropy.quantities import SECONDS

State = dict[str, Any]
_DIGEST_LENGTH = hashlib.sha256().digest_size


class Checkpoint:
    """The side file of one run. The file before it is kept, in case the last one is damaged.

    A file holds the SHA-256 of its content, and then the state as `torch.save` writes it. It is written under another
    name and then renamed.

    Args:
        path: the side file; the previous one has `.previous` appended.
        key: names all that determines the run (code, parameters, data). A file with another key is refused.
        seconds: time between two saves that are due.
        report: receives one line when a file is refused or a run goes on.

    Raises:
        DomainError: an argument of another kind, or negative seconds.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from localentropy.networks.checkpoint import Checkpoint
        >>> with TemporaryDirectory() as folder:
        ...     checkpoint = Checkpoint(Path(folder, "run"), key="my run", report=lambda line: None)
        ...     checkpoint.save({"epoch": 7})
        ...     print(checkpoint.load())
        {'epoch': 7}
    """

    def __init__(self, path: Path, key: str, *, seconds: float = 300, report: Callable[[str], None] = print) -> None:
        for name, value, kind in (("path", path, Path), ("key", key, str)):
            if not isinstance(value, kind):
                raise DomainError(f"{name} = {shown(value)}: allowed is a {kind.__name__}")
        require_function("report", report)
        self.path = path
        self.previous = path.with_name(path.name + ".previous")
        self.key = key
        self.seconds = SECONDS.require(seconds)
        self.report = report
        self._last = time.monotonic()

    def due(self) -> bool:
        """Whether `seconds` have passed since the last save."""
        return time.monotonic() - self._last >= self.seconds

    def save(self, state: State) -> None:
        """Write the state: tensors, numbers, strings, and lists and dicts of these."""
        buffer = io.BytesIO()
        torch.save({"key": self.key, "state": state}, buffer)
        content = buffer.getvalue()
        with replacing(self.path) as temporary:
            temporary.write_bytes(hashlib.sha256(content).digest() + content)
            if self.path.exists():
                self.path.replace(self.previous)
        self._last = time.monotonic()

    def load(self, device: str | torch.device = "cpu") -> State | None:
        """The last good state of this run, or None. One line is reported for each file that is refused."""
        for path in (self.path, self.previous):
            try:
                state = _read(path, self.key, device)
            except FileNotFoundError:
                continue
            except ArtifactError as error:
                self.report(str(error))
                continue
            self.report(f"going on from checkpoint {path}")
            return state
        return None

    def remove(self) -> None:
        """Delete both files: the run is complete."""
        self.path.unlink(missing_ok=True)
        self.previous.unlink(missing_ok=True)


def _read(path: Path, key: str, device: str | torch.device) -> State:
    if is_special(path):
        raise ArtifactError(f"checkpoint {path} is a folder, a pipe or a device; it is ignored")
    raw = path.read_bytes()
    digest, content = raw[:_DIGEST_LENGTH], raw[_DIGEST_LENGTH:]
    if hashlib.sha256(content).digest() != digest:
        raise ArtifactError(f"checkpoint {path} is corrupt (checksum differs); it is ignored")
    try:
        stored = torch.load(io.BytesIO(content), weights_only=True, map_location=device)
        found, state = stored["key"], stored["state"]
    except (RuntimeError, pickle.UnpicklingError, TypeError, KeyError) as error:
        raise ArtifactError(f"checkpoint {path} cannot be read ({type(error).__name__}); it is ignored") from error
    if found != key:
        raise ArtifactError(f"checkpoint {path} belongs to another run (code, parameters or data); it is ignored")
    return state
