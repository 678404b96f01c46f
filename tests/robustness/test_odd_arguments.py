"""Odd arguments of every public function: it refuses them in one line that names them, or answers rightly.

The odd calls are derived from the valid ones of `public_calls`, one argument at a time: by its kind, values that mean
nothing there, other ways to write the same value, and values that hypothesis draws.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import importlib
import inspect
import math
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localentropy import quantities, theory
from localentropy.analysis.flatness import radius
from localentropy.errors import LocalEntropyError
from localentropy.instances.committee import Committee
from localentropy.instances.perceptron import Instance
from localentropy.landscape.committee_local_entropy import committee_solution_fraction
from localentropy.landscape.hessian import smallest_valid_beta
from localentropy.landscape.local_entropy import local_entropy
from localentropy.pipeline.config import ROOT
from localentropy.quantities import Count, Quantity
from localentropy.solvers.amp import amp_in_fields
from localentropy.solvers.binary.constraints import constraint_error
from localentropy.solvers.solution import Solution
from localentropy.theory import bayes, committee, cross_entropy, gibbs
from tests.robustness.public_calls import CALLS
from tests.test_arguments import Unprintable
from tests.test_quantities import beyond
from tests.test_snippets import python_blocks

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
    "distance": ("energy",),
    "first": ("second",),
    "inputs": ("labels", "train_inputs"),
    "labels": ("train_labels",),
    "values": ("labels",),
    "x": ("y",),
    "source_indices": ("train_source_indices",),
}
"""How a message may name an argument besides by its name."""
OTHERWISE_BOUNDED = {
    "units": "odd, or one of a few numbers, or no more than there are",
    "K": "odd",
    "theta": "odd",
    "passes": "the hidden integers do not overflow",
    "networks": "indices",
    "stabilities": "any number",
}
"""Numbers that no quantity bounds, and what does."""
SIGNS_OR_CLASSES = {
    ("mlp.errors", "labels"), ("train_adam", "labels"), ("train_sgd", "labels"), ("binary.outputs", "inputs"),
    ("binary.errors", "inputs"), ("binary.errors", "labels"), ("train_binary", "inputs"), ("train_binary", "labels"),
    ("folded.errors", "labels"), ("train_cnn", "labels"), ("random_flips", "weights"),
}  # fmt: skip
"""Tensors of the networks that arrays and lists may stand for."""
MAY_BE_MISSING = {
    ("pair_mean", "values"),
    ("spearman", "x"),
    ("spearman", "y"),
    ("spearman_over_sets", "x"),
    ("spearman_over_sets", "y"),
    ("radius", "energy"),
}
"""Arguments in which numbers may be missing (NaN)."""
NO_NUMBER: dict[tuple[Any, str], str] = {
    (committee.learning, "units"): "a committee of infinitely many units",
    (amp_in_fields, "result[1]"): "the entropy of a run that has not converged",
    (committee_solution_fraction, "entropy"): "no draw is a solution",
    (committee_solution_fraction, "error"): "no draw is a solution, or all are",
    (smallest_valid_beta, "result"): "there are errors at the largest β",
    (local_entropy, "residual"): "a single update",
    (radius, "result"): "an error is missing, or none is large",
    (bayes.learning, "free_entropy"): "the teacher is recovered",
    **{(bayes.learning, name): "labels of a continuum" for name in ("bayes_error", "gibbs_error")},
    (gibbs.zero_entropy, "result"): "the entropy is positive at any load",
    ("alpha_c of TeacherStudent", "result"): "the teacher solves any number of patterns",
    (theory.local_entropy, "replicas"): "the largest local entropy is asked for, that of y = infinity",
    (theory.alpha_u, "result[4]"): "the largest local entropy is asked for, that of y = infinity",
    ("thresholds of TeacherStudent", "alpha_c"): "the teacher solves any number of patterns",
    **{(cross_entropy.minimizers, name): "a loss that counts errors" for name in ("gamma", "beta", "log_beta")},
}
"""Functions or calls, and the numbers of their results that may be missing or infinite, and where: see docstrings."""
SOLVED = 1e-6
"""A larger residual is that of a point that was not solved."""
LONGEST = 300
"""Characters of a message."""
INTERNAL = {
    "at_distance", "bytes_of", "energy_of_sums", "expectation_propagation", "field_for_overlap", "numbers_of_flips",
    "resampled",
    "counter_planes", "energy_sweeper", "energy_table", "protocol_values", "raised_damping", "satisfies", "sweeper",
    "threshold_of", "word_stream", "random_start", "run_chain", "solution", "start",
    "bethe", "check_committee", "check_instance", "check_problem",
    "dress_coat_committee", "gradient_flow", "mean_square_loss",
    "nearest_divisible", "require_lattice", "require_odd", "require_runs", "unit_norm", "updates",
    "minimum", "smallest_error",
    "channels", "first_sums", "pooled", "require_alike", "require_finite", "require_indices",
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
    if isinstance(good, int):
        return [*NOTHING, *NO_NUMBERS, good + 0.5]
    if isinstance(good, float):
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
    yield from (good[None, None, None], good * (1 + 1j), good > 0, good.to_sparse(), good.to("meta"))
    yield from (good[..., :0], torch.empty(0), torch.tensor(1.0))


def equal_values(call: str, argument: str) -> list[Any]:
    """Other ways to write an argument."""
    good = arguments(call)[argument]
    if isinstance(good, np.ndarray):
        return [np.asfortranarray(good)] if call == "Dataset_arrays" else equal_arrays(good)
    if isinstance(good, torch.Tensor):
        return [good.double(), good.numpy(), good.tolist()] if (call, argument) in SIGNS_OR_CLASSES else []
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
    if isinstance(good, (list, tuple)):
        return [tuple(copy.deepcopy(good)), list(copy.deepcopy(good)), iter(copy.deepcopy(good))]
    return []


def equal_arrays(good: np.ndarray) -> list[Any]:
    """The same numbers in other layouts, types and containers. Real numbers of single precision keep their type."""
    others: list[Any] = [np.asfortranarray(good), good[::-1].copy()[::-1], torch.tensor(good)]
    others.append(good.astype(good.dtype.newbyteorder()))
    if good.dtype != np.float32:
        others += [good.astype(object), good.tolist(), torch.tensor(good, dtype=torch.float64, requires_grad=True)]
    if good.ndim <= 2:
        others.append((pd.Series if good.ndim == 1 else pd.DataFrame)(good))
    return others


def outcome(call: str, changes: dict[str, Any]) -> Any:
    """What a call returns; refusals are returned too. Nothing is printed and no warning comes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return CALLS[call].function(**{**arguments(call), **changes})
        except LocalEntropyError as refused:
            return refused


def own_names(argument: str) -> tuple[str, str]:
    """The name of an argument, and that of its elements."""
    return argument, argument[:-3] + "y" if argument.endswith("ies") else argument.removesuffix("s")


def named(message: str, argument: str) -> bool:
    """Whether a message has an argument's name as a word, one of its elements' name, or another name that it has."""
    names = (*own_names(argument), *ALSO_CALLED.get(argument, ()))
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
    if isinstance(value, dict):
        return [(name, flat(one)) for name, one in value.items()]
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
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from numbers(one, key)
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
        if wrong.any() and (function, name) not in NO_NUMBER and (call, name) not in NO_NUMBER:
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
        if isinstance(run, Solution) and "constraint" in given_arguments:
            assert run.solved == (constraint_error(data, given_arguments["constraint"], run.weights) == 0)
        elif isinstance(run, Solution):
            assert run.solved == solves(data, run.weights, float(given_arguments.get("margin", 0.0)))


EVERY_ARGUMENT = [(call, argument) for call in CALLS for argument in CALLS[call].arguments]


@pytest.mark.parametrize("call", CALLS)
def test_the_valid_calls_are_valid_and_repeat(call):
    result = outcome(call, {})
    assert not isinstance(result, LocalEntropyError), result
    if isinstance(result, pd.DataFrame) and "residual" in result:
        assert (result["residual"] < SOLVED).all()
    assert flat(result) == valid(call)[0]
    require_right(call, {}, result)


@pytest.mark.parametrize(("call", "argument"), EVERY_ARGUMENT)
def test_what_means_nothing_is_refused_in_one_line(call, argument):
    good, wrong = arguments(call)[argument], []
    arrays = isinstance(good, torch.Tensor) and (call, argument) not in SIGNS_OR_CLASSES
    for value in [*odd_values(good), *([good.numpy(), good.tolist()] if arrays else [])]:
        if value is None and may_be_none(call, argument):
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


@functools.cache
def valid(call: str) -> tuple[Any, set[Quantity]]:
    """What can be compared of a valid call's result, and the quantities that it asks about its arguments."""
    asked: set[Quantity] = set()

    def recorded(check: Callable[[Quantity, Any], Any]) -> Callable[[Quantity, Any], Any]:
        def checked(quantity: Quantity, value: Any) -> Any:
            asked.add(quantity)
            return check(quantity, value)

        return checked

    with pytest.MonkeyPatch.context() as patch:
        for kind, method in ((Quantity, "require"), (Quantity, "require_all"), (Count, "require")):
            patch.setattr(kind, method, recorded(getattr(kind, method)))
        return flat(outcome(call, {})), asked


def is_a_number(value: Any) -> bool:
    """Whether it is a finite number, or a list of them."""
    first = value[0] if isinstance(value, list) else value
    return isinstance(first, (int, float)) and not isinstance(first, bool) and math.isfinite(first)


@pytest.mark.parametrize(
    ("call", "argument"),
    [(call, name) for call, name in EVERY_ARGUMENT if is_a_number(CALLS[call].arguments[name])],
)
def test_every_number_has_a_quantity_and_is_refused_beyond_its_range(call, argument):
    good = arguments(call)[argument]
    found = [one for one in valid(call)[1] if one.name in own_names(argument)]
    of_runs = argument == "margin" and {"instance", "N", "weights"} & CALLS[call].arguments.keys()  # at most √N
    assert found or of_runs or argument in OTHERWISE_BOUNDED
    for number in [*(number for quantity in found for number in beyond(quantity)), *([1e9] if of_runs else [])]:
        refused = outcome(call, {argument: [*good, number] if isinstance(good, list) else number})
        assert isinstance(refused, LocalEntropyError), number
        assert named(str(refused), argument)


@pytest.mark.parametrize("call", [call for call in CALLS if any(equal_values(call, name) for name in arguments(call))])
def test_the_same_values_in_another_way_give_the_same(call):
    """All arguments are written in another way at once. Where the result is another, or none, each is tried alone."""
    expected = valid(call)[0]
    for number in range(max(len(equal_values(call, name)) for name in arguments(call))):
        others = {name: values[number] for name in arguments(call) if len(values := equal_values(call, name)) > number}
        if answer(call, others) != expected:
            alone = {name: equal_values(call, name)[number] for name in others}
            assert {name: other for name, other in alone.items() if answer(call, {name: other}) != expected} == {}
            raise AssertionError(f"only together: {alone}")


def answer(call: str, changes: dict[str, Any]) -> Any:
    """What can be compared of a call's result, or why it fails."""
    try:
        return flat(outcome(call, changes))
    except Exception as failure:
        return f"{type(failure).__name__}: {failure}"


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


SEARCHES = {"alpha_le", "alpha_min", "franz_parisi", "franz_parisi_one_step", "kappa_min", "kappa_u", "thresholds"}
"""Questions that solve many saddle points for each answer. They get fewer values."""


@pytest.mark.parametrize(("call", "argument"), EVERY_ARGUMENT)
def test_what_is_drawn_is_refused_or_answered_rightly(call, argument):
    examples = 4 if call.partition(" of ")[0] in SEARCHES else 12

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(drawn_values(CALLS[call].arguments[argument]))
    def check(value):
        require_right(call, {argument: value}, outcome(call, {argument: value}))

    check()


def described(function: Callable[..., Any]) -> dict[str, str]:
    """The arguments of a docstring, and what it says of each."""
    entry = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.M)
    return dict(entry.findall(inspect.getdoc(function) or ""))


@pytest.mark.parametrize("call", CALLS)
def test_ranges_in_docstrings_are_those_of_the_quantities(call):
    function = getattr(CALLS[call].function, "func", CALLS[call].function)
    declared = [one for one in vars(quantities).values() if isinstance(one, Quantity)]
    wrong = []
    for argument, text in described(function).items():
        # Of several intervals the first is that of the argument. Of a model it is that of one of its arguments.
        first = re.search(r"\bin ([\[(])([-.\de]+), ([-.\de]+)([\])])", text)
        words = {*own_names(argument), *re.findall(r"\w+", text)}
        ranges = [(one.low, one.high, one.ends) for one in declared if one.name in words]
        if first and (float(first[2]), float(first[3]), first[1] + first[4]) not in ranges:
            wrong.append(f"{argument}: {first[0]}")
    assert wrong == []


def named_by(package: ModuleType) -> set[str]:
    """Dotted names of what a package names itself."""
    return {f"{package.__name__}.{name}" for name in package.__all__}


def test_no_question_is_forgotten():
    called = {getattr(CALLS[call].function, "func", CALLS[call].function) for call in CALLS}
    questions = [name for name in theory.__all__ if inspect.isroutine(getattr(theory, name))]
    assert len(questions) > 20
    assert [name for name in questions if getattr(theory, name) not in called] == []


def modules_of(package: str) -> list[str]:
    """Modules of a package with public functions. Of the theory, those that docs/library.md imports."""
    path = f"localentropy.{package}"
    if package == "theory":
        lines = [node for block in python_blocks(ROOT / "docs/library.md") for node in ast.parse(block).body]
        imports = [node for node in lines if isinstance(node, ast.ImportFrom) and node.module == path]
        return sorted({f"{path}.{one.name}" for node in imports for one in node.names} - named_by(theory))
    found = pkgutil.iter_modules(importlib.import_module(path).__path__, f"{path}.")
    return [module.name for module in found if not module.ispkg and not module.name.endswith("kernels")]


@pytest.mark.parametrize(
    "package",
    [
        "instances", "landscape", "networks", "networks.mlp", "networks.binary_mlp", "networks.cnn", "theory",
        "solvers", "solvers.binary", "solvers.committee",
    ],
)  # fmt: skip
def test_no_public_function_is_forgotten(package):
    called = {getattr(CALLS[call].function, "func", CALLS[call].function) for call in CALLS}
    modules = modules_of(package)
    assert len(modules) > (5 if package == "theory" else 0)
    missing = [
        f"{module}.{name}"
        for module in modules
        for name, function in inspect.getmembers(importlib.import_module(module), inspect.isfunction)
        if function.__module__ == module and not name.startswith("_")
        if function not in called and name not in INTERNAL
    ]
    assert missing == []
