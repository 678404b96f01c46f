"""The code behind a module: the source files of this package that it imports, at any depth, and a hash of them."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

PACKAGE = "localentropy"
SOURCE = Path(__file__).resolve().parent.parent
"""The folder that holds the package."""


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
