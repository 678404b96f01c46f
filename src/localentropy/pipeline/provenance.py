"""How a file was made: library versions, and the circumstances of a run."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from localentropy.closure import SOURCE

STAMPED_VERSIONS = ("numpy", "scipy", "numba", "torch", "pandas", "pyarrow", "matplotlib")


def canonical_json(values: Mapping[str, Any]) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def canonical_hash(values: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON."""
    return hashlib.sha256(canonical_json(values).encode()).hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that results may depend on."""
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in STAMPED_VERSIONS}


class Start(NamedTuple):
    """When a run began.

    Attributes:
        time: by the clock.
        cpu_seconds: that the process had used before.
    """

    time: datetime
    cpu_seconds: float

    @classmethod
    def now(cls) -> Start:
        """A run that begins now."""
        return cls(datetime.now(UTC), _cpu_seconds())


def _cpu_seconds() -> float:
    """CPU time of this process so far, and of its children that have ended."""
    return sum(os.times()[:4])


def circumstances(started: Start, command: Sequence[str]) -> dict[str, Any]:
    """Command, machine and time of a run. They are recorded beside a file and never compared.

    Args:
        started: when the run began.
        command: the words of the command that makes the file again.
    """
    now = datetime.now(UTC)
    return {
        "git": git_describe(),
        "command": list(command),
        "host": platform.node(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "started": started.time.isoformat(timespec="seconds"),
        "finished": now.isoformat(timespec="seconds"),
        "wall_seconds": round((now - started.time).total_seconds(), 3),
        "cpu_seconds": round(_cpu_seconds() - started.cpu_seconds, 3),
        "memory_bytes": _peak_memory(),
    }


def _peak_memory() -> int:
    """The most memory that this process has had so far. macOS counts bytes, Linux kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def git_describe() -> str | None:
    """`git describe` of the checkout, with -dirty if files were edited; None outside a checkout."""
    return _git("describe", "--always", "--dirty", "--tags")


def git_date() -> str | None:
    """The day of the checkout's last commit, YYYY-MM-DD; None outside a checkout."""
    return _git("show", "-s", "--format=%cs")


def _git(*words: str) -> str | None:
    """What git says of the checkout of this code; None where there is none."""
    try:
        done = subprocess.run(["git", *words], cwd=SOURCE, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
