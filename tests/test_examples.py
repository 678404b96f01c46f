"""The reference: what users call says its arguments, its answer and its errors, and has an example, which is run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import localentropy
from localentropy import solvers, theory
from tests.test_snippets import WRITTEN, python_blocks

PACKAGES = ("theory", "instances", "solvers", "landscape", "estimators", "numerics")
MODULES = [
    module.name
    for package in PACKAGES
    for module in pkgutil.walk_packages([str(Path(localentropy.__path__[0], package))], f"localentropy.{package}.")
]


def examples(module: str) -> list[doctest.DocTest]:
    return [test for test in doctest.DocTestFinder().find(importlib.import_module(module)) if test.examples]


def on_pages() -> list[Callable[..., Any]]:
    """Functions of problems and of what surrounds solutions that the pages import."""
    text = "\n".join(block for page in WRITTEN for block in python_blocks(page))
    lines = re.findall(
        r"^from (localentropy\.(?:instances|landscape)[\w.]*) import (\w+(?:, \w+)*)", text, re.MULTILINE
    )
    named = [getattr(importlib.import_module(module), name) for module, names in lines for name in names.split(", ")]
    return [one for one in dict.fromkeys(named) if inspect.isroutine(one)]


QUESTIONS = [getattr(theory, name) for name in theory.__all__ if inspect.isroutine(getattr(theory, name))]
SOLVERS = [getattr(solvers, name) for name in solvers.__all__ if inspect.isroutine(getattr(solvers, name))]
CALLED = QUESTIONS + SOLVERS + on_pages()


@pytest.mark.parametrize("module", [module for module in MODULES if examples(module)])
def test_examples_give_what_they_print(module: str) -> None:
    for test in examples(module):
        results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
        assert results.failed == 0, test.name


@pytest.mark.parametrize("function", CALLED, ids=lambda one: f"{one.__module__}.{one.__name__}")
def test_the_reference_of_a_function_is_complete(function: Callable[..., Any]) -> None:
    text = inspect.getdoc(function) or ""
    assert [part for part in ("Args:", "Returns:", "Raises:", "Example:") if f"\n{part}\n" not in text] == []
    assert any(example.want for example in doctest.DocTestParser().get_examples(text))
    described = re.search(r"\nArgs:\n(.*?)\n\n", text, re.DOTALL)
    assert described is not None
    named = set(re.findall(r"^ {4}(\w+): ", described[1], re.MULTILINE))
    assert named == set(inspect.signature(function).parameters)
