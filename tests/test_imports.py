"""Imports between packages go one way (the contract in pyproject.toml), and package files import nothing.

The file of `theory` is its public API.
"""

from __future__ import annotations

import ast

from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from localentropy.closure import SOURCE
from localentropy.pipeline.config import ROOT


def test_imports_go_one_way() -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == EXIT_STATUS_SUCCESS


def test_package_files_import_nothing_of_the_package() -> None:
    for file in set(SOURCE.glob("localentropy/**/__init__.py")) - {SOURCE / "localentropy/theory/__init__.py"}:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            module = node.module or "." if isinstance(node, ast.ImportFrom) else ""
            assert not any(name.startswith((".", "localentropy")) for name in [*names, module]), file
