"""How a file was made: the code behind a module, hashes, library versions, and the circumstances of a run."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PACKAGE = "localentropy"
SOURCE = Path(__file__).resolve().parent.parent
"""The folder that holds the package."""

STAMPED_VERSIONS = ("numpy", "scipy", "numba", "torch", "pandas", "pyarrow", "matplotlib")


@functools.cache
def code_closure(module: str) -> tuple[Path, ...]:
    """Source files that `module` depends on: itself and all it imports from this package, at any depth.

    Imports inside functions count too, and so do the `__init__` files on the way. Imports made by name at run
    time do not, which is what keeps one experiment's closure free of another's code.
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        file = _source_file(name)
        if file is None:
            continue
        found[name] = file
        parent = name.rpartition(".")[0]
        if parent:
            waiting.append(parent)
        waiting.extend(_imports(name, file))
    return tuple(sorted(found.values()))


def script_closure(script: Path) -> tuple[Path, ...]:
    """Source files of this package that a script outside of it depends on."""
    return tuple(sorted({file for name in _imports("", script) for file in code_closure(name)}))


@functools.cache
def code_hash(*modules: str) -> str:
    """SHA-256 over the names and contents of the modules' import closures, as this process first met them."""
    return _hash_code(modules)


def edited(*modules: str) -> bool:
    """Whether the files behind `code_hash` have other contents by now."""
    return _hash_code(modules) != code_hash(*modules)


def _hash_code(modules: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for file in sorted({file for module in modules for file in code_closure(module)}):
        digest.update(f"{file.relative_to(SOURCE).as_posix()}\0{file_hash(file)}\n".encode())
    return digest.hexdigest()


def file_hash(file: Path) -> str:
    """SHA-256 of a file's bytes."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def canonical_json(values: Mapping[str, Any]) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that results may depend on."""
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in STAMPED_VERSIONS}


def circumstances(started: datetime) -> dict[str, Any]:
    """Who, where and when: recorded beside a file and never compared."""
    now = datetime.now(UTC)
    return {
        "git": git_describe(),
        "command": sys.argv,
        "host": platform.node(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "started": started.isoformat(timespec="seconds"),
        "finished": now.isoformat(timespec="seconds"),
        "wall_seconds": round((now - started).total_seconds(), 3),
        "cpu_seconds": round(sum(os.times()[:4]), 3),
    }


def git_describe() -> str | None:
    """`git describe` of the checkout, with -dirty where files were edited; None outside a checkout."""
    command = ["git", "describe", "--always", "--dirty", "--tags"]
    try:
        done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _source_file(module: str) -> Path | None:
    if module != PACKAGE and not module.startswith(PACKAGE + "."):
        return None
    path = SOURCE.joinpath(*module.split("."))
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if file.is_file():
            return file
    return None


def _imports(module: str, file: Path) -> Iterable[str]:
    """Names of the modules that a source file may import: `from a import b` may mean the module a.b."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
