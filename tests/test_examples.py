"""The reference: what users call says its arguments, its answer and its errors, and has an example, which is run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from localentropy import solvers, theory
from localentropy.commands.site import LIBRARY, described
from tests.test_snippets import WRITTEN, python_blocks

MODULES = [f"localentropy.{module}" for package in LIBRARY for module in described(package)]
WITHOUT_EXAMPLE = {
    "its classes have examples": ("solvers.committee_amp.UnitsChannel", "solvers.generalized_amp.Inputs"),
    "takes a free entropy, a class that `FreeEntropy` and `Branch` show": (
        "numerics.continuation.point_of_zero",
        "numerics.continuation.zero_of_observable",
        "numerics.saddle_point.solve",
        "numerics.saddle_point.evaluate",
        "numerics.saddle_point.failure",
    ),
    "called by numba, or instructions for it": (
        "numerics.compiled.instruction",
        "numerics.kernel_cache.KernelCache",
        "numerics.waiting.Announcer",
    ),
    "a part of compiled kernels, whose callers have examples": (
        "theory.group_patterns.grid",
        "theory.group_patterns.taught",
        "theory.group_patterns.best_argument",
        "theory.group_sites.pulled_field",
        "theory.one_step.block_of_weights",
        "theory.one_step.states_in_field",
        "theory.one_step.deficits_in_field",
        "theory.one_step.tilted_means",
        "theory.pair_energy.quintic",
        "theory.patterns.excess",
        "theory.patterns.pair_gradient",
        "theory.patterns.hazard_derivatives",
        "theory.patterns.soft_cost",
        "theory.patterns.soft_cut",
        "theory.patterns.soft_mode",
        "theory.patterns.boltzmann",
        "theory.patterns.onset_grid",
        "theory.sites.field_grid",
        "theory.sites.beside_reference",
        "theory.sites.reference_moments",
        "theory.step_patterns.step_term",
        "theory.step_patterns.step_pair_term",
        "theory.step_patterns.features",
        "theory.step_patterns.panel",
        "theory.step_patterns.label_moments",
        "theory.step_patterns.log_mass",
        "theory.step_patterns.log_mean",
        "theory.step_patterns.step_slopes",
        "theory.step_patterns.step_means",
        "theory.tree_patterns.single",
        "theory.tree_patterns.majority",
        "theory.tree_patterns.product",
        "theory.tree_patterns.climb",
        "theory.tree_patterns.highest",
        "theory.tree_patterns.still",
    ),
    "takes a branch that is followed, or a state near a solution": (
        "theory.franz_parisi_entropy.end_of",
        "theory.local_entropies.missing",
        "theory.local_entropies.at_ratio",
    ),
    "an error": ("numerics.kernel_code.NoTextError",),
    "takes whole tables of programs": (
        "analysis.flatness.largest_margin_curve",
        "analysis.stability_histogram.histogram_deviations",
    ),
    "reads the official files of a dataset, which a checkout lacks": (
        "data.cifar.read_archive",
        "data.cifar.read_members",
        "data.cifar_pickle.records_of_pickle",
        "data.download.download",
        "data.embed.embed",
        "data.embed.embedded_version",
        "data.embed.main",
        "data.idx.npz_contents",
        "data.idx.official_content",
        "data.mirror.mirrored_contents",
        "data.prepare.build",
        "data.sources.read_raw",
    ),
}
"""Reasons for no example, and the functions and classes that have none."""
LISTED = {f"localentropy.{name}" for names in WITHOUT_EXAMPLE.values() for name in names}


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


def shown(package: str) -> list[Callable[..., Any]]:
    """Functions and classes on the page of a package."""
    modules = [importlib.import_module(f"localentropy.{module}") for module in described(package)]
    return [
        inspect.unwrap(one)
        for module in modules
        for name, one in vars(module).items()
        if not name.startswith("_") and getattr(one, "__module__", None) == module.__name__ and callable(one)
        if (one.__doc__ if inspect.isclass(one) else inspect.unwrap(one).__doc__)
    ]


def answered(module: str) -> str:
    """What the functions of a module return, and the methods of its classes."""
    code = [one for one in vars(importlib.import_module(module)).values() if getattr(one, "__module__", "") == module]
    methods = [method for one in code if inspect.isclass(one) for method in vars(one).values()]
    return " ".join(str(getattr(one, "__annotations__", {}).get("return")) for one in [*code, *methods])


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


ON_API_PAGES = [one for package in LIBRARY for one in shown(package)]


@pytest.mark.parametrize("one", ON_API_PAGES, ids=lambda one: f"{one.__module__}.{one.__qualname__}")
def test_what_an_api_page_shows_says_what_it_takes_and_gives_and_has_an_example(one: Callable[..., Any]) -> None:
    text = inspect.getdoc(one) or ""
    if inspect.isclass(one) and re.search(rf"\b{one.__name__}\b", answered(one.__module__)):
        return  # the example of the function that returns it
    has_example = any(example.want for example in doctest.DocTestParser().get_examples(text))
    assert has_example != (f"{one.__module__}.{one.__qualname__}" in LISTED)
    if inspect.isroutine(one):
        signature = inspect.signature(one)
        described_arguments = re.search(r"\nArgs:\n(.*?)(\n\n|$)", text, re.DOTALL)
        named = re.findall(r"^ {4}(\w+): ", described_arguments[1], re.MULTILINE) if described_arguments else []
        assert set(named) == set(signature.parameters)
        assert signature.return_annotation in ("None", None) or "\nReturns:\n" in text or "\nYields:\n" in text
