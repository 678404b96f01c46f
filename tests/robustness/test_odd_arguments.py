"""Odd arguments of every public function: it refuses them in one line that names them, or answers rightly.

The odd calls are derived from the valid ones of `public_calls`, one argument at a time: by its kind, values that mean
nothing there, other ways to write the same value, and values that hypothesis draws.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import importlib
import inspect
import math
import pkgutil
import re
import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localentropy.analysis.flatness import radius
from localentropy.errors import LocalEntropyError
from localentropy.instances.committee import Committee
from localentropy.instances.perceptron import Instance
from localentropy.landscape.committee_local_entropy import committee_solution_fraction
from localentropy.landscape.hessian import smallest_valid_beta
from localentropy.landscape.local_entropy import local_entropy
from localentropy.pipeline.config import ROOT
from localentropy.replica import bayes, cross_entropy, gibbs
from localentropy.solvers.amp import amp_in_fields
from localentropy.solvers.solution import Solution
from tests.robustness.public_calls import CALLS
from tests.test_snippets import python_blocks


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no")


NOTHING: list[Any] = [
    None, "", "1", b"1", 1 + 2j, {}, {1.0}, object(), abs, [None], np.ones((2, 2, 2, 2, 2)), torch.ones(2, 2, 2, 2, 2),
    np.array("x"), np.zeros(3, "datetime64[s]"), torch.ones(2, requires_grad=True), Unprintable(),
]  # fmt: skip
"""What is no number, word, array or object of this library."""
HUGE = 10**400
NO_NUMBERS = [True, np.bool_(True), math.nan, -math.inf, HUGE, [1.0, 2.0], -1e9]
NO_WORDS: list[Any] = ["Sign ", "x" * 999, -1, True, ["sign"]]
NO_FLAGS: list[Any] = ["no", 0, 1, 0.5, math.nan, [], np.array([True, False])]
NO_FUNCTIONS: list[Any] = [1, "function", [abs]]
ALSO_CALLED = {
    "K": ("units",),
    "first": ("second",),
    "inputs": ("labels", "train_inputs"),
    "labels": ("train_labels",),
    "source_indices": ("train_source_indices",),
}
"""How a message may name an argument besides by its name."""
HUGE_IS_FINE = {"batch", "block", "group", "threads"}
"""Arguments that no size is too large for."""
MAY_BE_MISSING = {("pair_mean", "values"), ("spearman", "x"), ("spearman", "y"), ("radius", "energy")}
"""Arguments in which numbers may be missing (NaN)."""
NO_NUMBER: dict[tuple[Any, str], str] = {
    (bayes.committee, "units"): "a committee of infinitely many units",
    (amp_in_fields, "result[1]"): "the entropy of a run that has not converged",
    (committee_solution_fraction, "entropy"): "no draw is a solution",
    (committee_solution_fraction, "error"): "no draw is a solution, or all are",
    (smallest_valid_beta, "result"): "there are errors at the largest β",
    (local_entropy, "residual"): "a single update",
    (radius, "result"): "an error is missing, or none is large",
    (bayes.phase_retrieval, "free_entropy"): "the teacher is recovered",
    (gibbs.zero_entropy, "result"): "the entropy is positive at any load",
    **{(cross_entropy.minimizers, name): "a loss that counts errors" for name in ("gamma", "beta", "log_beta")},
}
"""Functions and the numbers of their results that may be missing or infinite, and where, as their docstrings say."""
SOLVED = 1e-6
"""A larger residual is that of a point that was not solved."""
LONGEST = 300
"""Characters of a message."""
INTERNAL = {
    "at_distance", "energy_of_sums", "expectation_propagation", "field_for_overlap", "numbers_of_flips",
    "resampled",
    "counter_planes", "energy_sweeper", "energy_table", "protocol_values", "raised_damping", "satisfies", "sweeper",
    "threshold_of", "word_stream", "random_start", "solution", "start",
    "check_committee", "check_instance", "check_run", "dress_coat_committee", "gradient_flow", "mean_square_loss",
    "nearest_divisible", "require_odd", "require_runs", "unit_norm",
    "minimum", "smallest_error",
    "channels", "first_sums", "pooled", "require_alike", "require_cnn", "require_finite", "require_indices",
    "require_networks", "require_statistics",
}  # fmt: skip
"""Functions that are called with arguments that have been checked, or that check arguments."""


def arguments(call: str) -> dict[str, Any]:
    """A fresh copy: random generators move on."""
    return copy.deepcopy(CALLS[call].arguments)


def may_be_none(call: str, argument: str) -> bool:
    parameter = inspect.signature(CALLS[call].function).parameters.get(argument)
    return parameter is not None and parameter.default is None


def is_missing_one(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f" and bool(np.isnan(value).any())


def odd_values(good: Any) -> list[Any]:
    """What means nothing in the place of a good value."""
    if isinstance(good, bool):
        return [*NOTHING, *NO_FLAGS]
    if isinstance(good, (int, float)):
        return [*NOTHING, *NO_NUMBERS]
    if isinstance(good, str):
        return [*NOTHING, *NO_WORDS]
    if isinstance(good, np.ndarray):
        return [*NOTHING, *odd_arrays(good)]
    if isinstance(good, torch.Tensor):
        return [*NOTHING, *odd_tensors(good)]
    if isinstance(good, list) and isinstance(good[0], (int, float)):
        return [
            *NOTHING[:10],
            *NOTHING[12:],
            [*good, math.nan],
            [*good, "1"],
            [*good, -math.inf],
            [[0.1], [0.1, 0.2]],
            [],
        ]
    if isinstance(good, list) and isinstance(good[0], np.random.Generator):
        return [*NOTHING, [], [0, 1], np.random, good[0], ["a", "b"]]
    if isinstance(good, (list, tuple)):
        return [*NOTHING, 1, [1] * len(good), [*good[:-1], None]]
    if inspect.isfunction(good):
        return [value for value in [*NOTHING, *NO_FUNCTIONS] if not callable(value)]
    return [*NOTHING, 1, 0.5, "text", np.ones((3, 3)), [good]]


def odd_arrays(good: np.ndarray) -> Iterator[Any]:
    """Arrays that are almost right: of another shape or type, or with one wrong number."""
    numbers = good.astype(np.float64)
    for wrong in (math.nan, math.inf, -math.inf, 1e300):
        spoiled = numbers.copy()
        spoiled.flat[-1] = wrong
        yield spoiled
    yield good[None, None, None]
    yield numbers * (1 + 1j)
    yield numbers.astype(object)
    yield good.astype(str)
    yield good > 0
    yield np.ma.masked_array(good, mask=good > 0)
    yield from (np.empty(0), numbers.flat[0], [[1.0], [1.0, 2.0]], [[0.5]])


def odd_tensors(good: torch.Tensor) -> Iterator[Any]:
    """Tensors that are almost right."""
    for wrong in (math.nan, math.inf, 0.5 if not good.is_floating_point() else math.nan):
        spoiled = good.clone() if good.is_floating_point() else good.double()
        spoiled.flatten()[-1] = wrong
        yield spoiled
    yield from (good[None, None, None], good * (1 + 1j), good > 0, good.to_sparse(), good.to("meta"), good.numpy())
    yield from (good[..., :0], torch.empty(0), torch.tensor(1.0), good.tolist())


def equal_values(good: Any) -> list[Any]:
    """Other ways to write a value."""
    if isinstance(good, bool):
        return [np.bool_(good)]
    if isinstance(good, int):
        return [np.int64(good), np.int8(good)]
    if isinstance(good, float):
        if math.isinf(good):  # it stands for "infinitely many": a choice, not a number
            return [np.float64(good), np.float32(good)]
        others = [np.float64(good), np.array(good), torch.tensor(good, dtype=torch.float64), Fraction(good)]
        return others + [kind(good) for kind in (np.float32, np.float16) if float(kind(good)) == good]
    if isinstance(good, list) and isinstance(good[0], (int, float)):
        return [tuple(good), np.array(good), iter(good)]
    if isinstance(good, np.ndarray):
        return [np.asfortranarray(good)]
    if isinstance(good, (list, tuple)):
        return [tuple(copy.deepcopy(good)), list(copy.deepcopy(good)), iter(copy.deepcopy(good))]
    return []


def outcome(call: str, changes: dict[str, Any]) -> Any:
    """What a call returns; refusals are returned too. Nothing is printed and no warning comes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return CALLS[call].function(**{**arguments(call), **changes})
        except LocalEntropyError as refused:
            return refused


def named(message: str, argument: str) -> bool:
    """Whether a message has an argument's name as a word, one of its elements' name, or another name that it has."""
    element = argument[:-3] + "y" if argument.endswith("ies") else argument.removesuffix("s")
    names = (argument, element, *ALSO_CALLED.get(argument, ()))
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) for name in names)


def flat(value: Any) -> Any:
    """A result as what can be compared to the bit, without the time it took."""
    if isinstance(value, torch.Tensor):
        return flat(value.detach().numpy())
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, pd.DataFrame):
        return flat(value.to_numpy())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.name != "cpu_seconds"]
        return [(name, flat(getattr(value, name))) for name in names]
    if isinstance(value, (list, tuple)):
        return [flat(one) for one in value]
    if isinstance(value, (int, float, np.number, np.bool_)):
        return float(value).hex()
    return value if isinstance(value, str | None) else type(value).__name__


def solves(data: Instance | Committee, weights: np.ndarray, margin: float) -> bool:
    """Whether weights make no error, written plainly."""
    instance = data.data if isinstance(data, Committee) else data
    for pattern, label in zip(instance.patterns.astype(float), instance.labels, strict=True):
        if isinstance(data, Committee):
            units = [unit @ part for unit, part in zip(weights, seen(data, pattern), strict=True)]
            field = float(sum(np.sign(label * x) for x in units))
        else:
            field = float(label * (pattern @ weights) / math.sqrt(instance.N))
        if not (field > 0 and field >= margin - 1e-12):
            return False
    return True


def seen(data: Committee, pattern: np.ndarray) -> list[np.ndarray]:
    """What each unit sees of a pattern."""
    size = data.inputs_per_unit
    return [pattern[unit * size : (unit + 1) * size] if len(pattern) > size else pattern for unit in range(data.units)]


def numbers(value: Any, name: str = "result") -> Iterator[tuple[str, np.ndarray]]:
    """Every array and number of a result, with the name of its attribute or column."""
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if isinstance(value, (int, float, np.number)) or (isinstance(value, np.ndarray) and value.dtype.kind in "iufb"):
        yield name, np.asarray(value, np.float64)
    elif isinstance(value, pd.DataFrame):
        for column in value:
            yield from numbers(value[column].to_numpy(), str(column))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for one in dataclasses.fields(value):
            yield from numbers(getattr(value, one.name), one.name)
    elif isinstance(value, (list, tuple)):
        for place, one in enumerate(value):
            yield from numbers(one, f"{name}[{place}]" if isinstance(value, tuple) else name)


def without_a_number(call: str, result: Any) -> list[str]:
    """Names of the numbers of a result that are missing or infinite without a reason.

    Message passing that has not converged has no entropy, and a row of a curve that was not solved has nothing but its
    distance and residual. Other reasons are in `NO_NUMBER`.
    """
    if isinstance(result, list):
        return [name for one in result for name in without_a_number(call, one)]
    function, found = CALLS[call].function, []
    function = getattr(function, "func", function)  # of a function with some arguments fixed
    for name, values in numbers(result):
        wrong = ~np.isfinite(values)
        if name in ("entropy", "free_entropy") and getattr(result, "converged", None) is not None:
            wrong &= np.asarray(result.converged)
        if isinstance(result, pd.DataFrame) and name not in ("distance", "residual"):
            wrong &= result["residual"].to_numpy() < SOLVED
        if wrong.any() and (function, name) not in NO_NUMBER:
            found.append(name)
    return found


def require_right(call: str, changes: dict[str, Any], result: Any) -> None:
    """A refusal is one line; a result has numbers; a run that says it is solved is solved."""
    if isinstance(result, LocalEntropyError):
        assert "\n" not in str(result)
        assert len(str(result)) < LONGEST
        return
    assert without_a_number(call, result) == []
    given_arguments = {**arguments(call), **changes}
    instances = given_arguments.get("instances", [given_arguments.get("instance")])
    for data, run in zip(instances, result if isinstance(result, list) else [result], strict=False):
        if isinstance(run, Solution):
            assert run.solved == solves(data, run.weights, float(given_arguments.get("margin", 0.0)))


EVERY_ARGUMENT = [(call, argument) for call in CALLS for argument in CALLS[call].arguments]


@pytest.mark.parametrize("call", CALLS)
def test_the_valid_calls_are_valid_and_repeat(call):
    first = outcome(call, {})
    assert not isinstance(first, LocalEntropyError), first
    assert flat(first) == flat(outcome(call, {}))
    require_right(call, {}, first)


@pytest.mark.parametrize(("call", "argument"), EVERY_ARGUMENT)
def test_what_means_nothing_is_refused_in_one_line(call, argument):
    good, wrong = arguments(call)[argument], []
    for value in odd_values(good):
        if value is None and may_be_none(call, argument):
            continue
        if value is HUGE and argument in HUGE_IS_FINE:
            continue
        if (call, argument) in MAY_BE_MISSING and is_missing_one(value):
            continue
        try:
            result = outcome(call, {argument: value})
        except Exception as failure:
            wrong.append((value, f"{type(failure).__name__}: {failure}"))
            continue
        if not isinstance(result, LocalEntropyError):
            wrong.append((value, "accepted"))
        elif "\n" in str(result) or len(str(result)) >= LONGEST or not named(str(result), argument):
            wrong.append((value, str(result)))
    assert wrong == []


@pytest.mark.parametrize(
    ("call", "argument"), [(call, name) for call, name in EVERY_ARGUMENT if equal_values(arguments(call)[name])]
)
def test_the_same_value_in_another_way_gives_the_same(call, argument):
    expected = flat(outcome(call, {}))
    for other in equal_values(arguments(call)[argument]):
        assert flat(outcome(call, {argument: other})) == expected, other


def drawn_values(good: Any) -> st.SearchStrategy[Any]:
    """Values of the right type that may be out of range, and some of another type."""
    # No long runs: numbers of steps are few, or more than any run may have.
    integers = st.one_of(st.integers(-3, 3), st.integers(10**12, 10**13), st.integers(-(10**13), -(10**12)))
    numbers = st.one_of(st.floats(), st.floats(0.0, 2.0), integers)
    if isinstance(good, np.ndarray):
        places, values = st.integers(0, good.size - 1), st.one_of(st.floats(), st.integers(-2, 2))
        return st.builds(lambda place, value: spoiled(good, place, value), places, values)
    if isinstance(good, torch.Tensor):
        places, values = st.integers(0, good.numel() - 1), st.one_of(st.floats(width=32), st.integers(-2, 2))
        return st.builds(lambda place, value: torch.from_numpy(spoiled(good.numpy(), place, value)), places, values)
    if isinstance(good, list) and isinstance(good[0], float):
        return st.lists(numbers, max_size=3)
    if isinstance(good, list) and isinstance(good[0], int):
        return st.lists(integers, max_size=3)
    if isinstance(good, bool):
        return st.one_of(st.booleans(), integers)
    if isinstance(good, int):
        return st.one_of(integers, st.floats(-3.0, 3.0))
    if isinstance(good, float):
        return numbers
    return st.text(max_size=9)


def spoiled(good: np.ndarray, place: int, value: float) -> np.ndarray:
    """A copy with another number, of the same type where that holds it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = good.dtype.kind == "f" or (float(value).is_integer() and abs(value) < 100)
        changed = good.copy() if same else good.astype(np.float64)
        changed.flat[place] = value
    return changed


@pytest.mark.parametrize(("call", "argument"), EVERY_ARGUMENT)
@settings(max_examples=12, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_drawn_is_refused_or_answered_rightly(call, argument, data):
    value = data.draw(drawn_values(CALLS[call].arguments[argument]))
    require_right(call, {argument: value}, outcome(call, {argument: value}))


def modules_of(package: str) -> list[str]:
    """Modules of a package with public functions. Of the theory, those that the README imports: its models."""
    path = f"localentropy.{package}"
    if package == "replica":
        lines = [node for block in python_blocks(ROOT / "README.md") for node in ast.parse(block).body]
        imports = [node for node in lines if isinstance(node, ast.ImportFrom) and node.module == path]
        return [f"{path}.{model.name}" for node in imports for model in node.names]
    found = pkgutil.iter_modules(importlib.import_module(path).__path__, f"{path}.")
    return [module.name for module in found if not module.ispkg and not module.name.endswith("kernels")]


@pytest.mark.parametrize(
    "package",
    [
        "instances", "landscape", "networks", "networks.mlp", "networks.binary_mlp", "networks.cnn", "replica",
        "solvers", "solvers.binary", "solvers.committee",
    ],
)  # fmt: skip
def test_no_public_function_is_forgotten(package):
    called = {CALLS[call].function for call in CALLS}
    modules = modules_of(package)
    assert len(modules) > (10 if package == "replica" else 0)
    missing = [
        f"{module}.{name}"
        for module in modules
        for name, function in inspect.getmembers(importlib.import_module(module), inspect.isfunction)
        if function.__module__ == module and not name.startswith("_")
        if function not in called and name not in INTERNAL
    ]
    assert missing == []
