"""Every claim's test: right tables pass it, each of its conditions can break alone, and too little data is no verdict.

The tables are made by hand. What is done to them follows from the tables and from what the claim's test returns.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
import traceback
from collections.abc import Iterator
from itertools import chain
from types import CodeType, FunctionType

import numpy as np
import pandas as pd
import pytest

from localentropy.claims.conditions import MAY_BE_MISSING, Condition, Finding, Untestable, Verdict
from localentropy.pipeline.config import read_claims
from localentropy.pipeline.scorecard import assess
from tests.claims.cases import Case, HandMade, Tables, few, modules, tables
from tests.claims.overparam.network_cases import NETWORKS
from tests.claims.overparam.run_cases import RUNS
from tests.claims.overparam.theory_cases import THEORY
from tests.claims.spoilings import abscissae, lacking, reductions, results, spoilings

LISTED = ("overparam",)
"""Papers whose spoilings are lists, in `test_verdicts.py`."""
ALL = read_claims()
CLAIMS = {key: claim for key, claim in ALL.items() if claim.paper not in LISTED}
CASES: HandMade = {
    key: cases
    for paper in sorted({claim.paper for claim in CLAIMS.values()})
    for module in modules(paper, "cases")
    for key, cases in module.CASES.items()
}
"""What no general change of tables finds: claim → name → verdict and change."""
OF_LISTED: dict[str, Case] = THEORY | RUNS | NETWORKS
"""The cases of the claims of `LISTED`."""
SINGLE = {"O51", "O59"}
"""Claims about every single network, which one sample can decide."""
NOT_COMPUTED = {"S08b"}
"""Claims on a number that no program here computes."""
MAY_LACK = {"glass.zero_entropy", "franz_parisi_text.entropy", "parity_solutions.entropy", "optimal_gamma.entropy"}
MAY_LACK |= {"solved", "converged"}
"""Columns, of a table or of all, that have no number where there is no such state, or an outcome of every run."""
DEPTH = 3
"""Columns whose values single out the rows that are spoiled."""

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
JUDGED = [key for key in CLAIMS if key not in NOT_COMPUTED]


def good(key: str) -> Tables:
    """The tables on which a claim holds: the test's argument → rows."""
    return tables(ALL[key].arguments, OF_LISTED.get(key, Case({})))


def found(key: str, made: Tables) -> Finding:
    """What the test says of tables."""
    names = ALL[key].arguments
    finding = assess(key, ALL[key], {names[short]: table for short, table in made.items()})
    assert not re.search(r"[{}]|\bnp\.|dtype", finding.detail + " ".join(each.words for each in finding.conditions))
    return finding


def judged(key: str, made: Tables) -> tuple[Condition, ...]:
    """The conditions of a claim on tables; none on those that no program could write, at which a test may fail."""
    try:
        return found(key, made).conditions
    except Exception:
        return ()


def changed_by_hand(key: str) -> Iterator[Tables]:
    """The tables of the claim's cases."""
    for _, change in CASES.get(key, {}).values():
        made = good(key)
        change(made)
        yield made


@pytest.mark.parametrize("key", JUDGED)
def test_right_tables_reproduce_the_claim(key: str) -> None:
    finding = found(key, good(key))
    assert finding.verdict is Verdict.REPRODUCED, finding.worst_first
    words = [condition.words for condition in finding.conditions]
    assert all(words) and len(set(words)) == len(words)


@pytest.mark.parametrize("key", sorted(NOT_COMPUTED))
def test_a_claim_on_a_number_that_is_not_computed_is_open(key: str) -> None:
    assert found(key, good(key)).verdict is Verdict.OPEN


@pytest.mark.parametrize("key", JUDGED)
def test_each_condition_can_break_alone(key: str) -> None:
    """There are tables on which it is the only one that does not hold, or at least the only one that fails."""
    made = good(key)
    whole = found(key, made).conditions
    left = {condition.words for condition in whole}
    for changed in changed_by_hand(key):
        left -= broken_alone(judged(key, changed))
    for columns in (results, abscissae):
        touched = {(short, column): left for short, table in made.items() for column in columns(table)}
        # Several groups of columns can tell the same rows apart, and several changes can give the same numbers.
        tried = {place: {made[place[0]][place[1]].to_numpy().tobytes()} for place in touched}
        for depth in range(DEPTH + 1):
            for (short, column), of_it in touched.items():
                moved = set()
                for changed in spoilings(made[short], column, depth) if of_it & left else ():
                    numbers = changed[column].to_numpy().tobytes()
                    if numbers in tried[short, column]:
                        continue
                    tried[short, column].add(numbers)
                    conditions = judged(key, made | {short: changed})
                    left -= broken_alone(conditions)
                    moved |= {new.words for new in conditions if new not in whole} if len(conditions) > 1 else left
                    if not left:
                        return
                touched[short, column] = moved if depth == 0 else of_it
    assert not left


def broken_alone(conditions: tuple[Condition, ...]) -> set[str]:
    """The only condition that fails or, if none fails, the only one that is open."""
    broken = [each.words for each in conditions if each.holds is False] or [
        each.words for each in conditions if each.holds is None
    ]
    return set(broken) if len(broken) == 1 else set()


@pytest.mark.parametrize(("key", "name"), [(key, name) for key, cases in CASES.items() for name in cases])
def test_changes_made_by_hand_give_their_verdict(key: str, name: str) -> None:
    verdict, change = CASES[key][name]
    change(made := good(key))
    assert found(key, made).verdict is verdict


@pytest.mark.parametrize("key", JUDGED)
def test_a_number_that_counts_may_not_be_missing(key: str) -> None:
    made = good(key)
    values = [condition.value for condition in found(key, made).conditions]
    for short, table in made.items():
        counts = table[~table["quantity"].isin(MAY_BE_MISSING)] if "quantity" in table else table
        for column in [name for name in results(table) if MAY_LACK.isdisjoint((name, f"{short}.{name}"))]:
            for row in counts.index[:: max(1, len(counts) // 5)]:
                if found(key, made | {short: lacking(table, row, column)}).verdict is Verdict.REPRODUCED:
                    other = table.copy()
                    other.loc[row, column] = other.loc[row, column] * 1.1 + 0.01
                    same = [condition.value for condition in found(key, made | {short: other}).conditions]
                    np.testing.assert_array_equal(values, same, f"{short}.{column}, row {row}")


@pytest.mark.parametrize("key", [key for key in ALL if key not in SINGLE])
def test_one_sample_never_counts_as_reproduced(key: str) -> None:
    made = good(key)
    if sampled := [short for short, table in made.items() if "sample" in table]:
        few(*sampled, samples=1)(made)
        assert found(key, made).verdict is not Verdict.REPRODUCED


@pytest.mark.parametrize("key", ALL)
def test_without_rows_nothing_is_judged(key: str) -> None:
    for argument, name in ALL[key].arguments.items():
        finding = found(key, good(key) | {argument: pd.DataFrame()})
        assert finding.verdict is Verdict.OPEN and name in finding.detail


@pytest.mark.parametrize("key", CLAIMS)
def test_every_refusal_is_reached(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line that refuses to judge a claim does so on some tables that lack rows or numbers, or are spoiled."""
    left = set(refusals(claim_test(key)))

    def refuse(self: Untestable, why: str) -> None:
        Exception.__init__(self, why)
        at = {(frame.f_code.co_filename, line) for frame, line in traceback.walk_stack(sys._getframe(1))}
        left.difference_update({(file, lines) for file, lines in left if any((file, line) in at for line in lines)})

    monkeypatch.setattr(Untestable, "__init__", refuse)
    for changed in changed_by_hand(key):
        judged(key, changed)
    made = good(key)
    for short, table in made.items():
        for changed in chain(reductions(table), *(spoilings(table, column, 0) for column in results(table))):
            if not left:
                return
            judged(key, made | {short: changed})
    assert not left


def claim_test(key: str) -> FunctionType:
    module, _, name = CLAIMS[key].test.rpartition(".")
    return getattr(importlib.import_module(f"localentropy.claims.{module}"), name)


def refusals(function: FunctionType, seen: set[FunctionType] | None = None) -> Iterator[tuple[str, range]]:
    """File and lines of the refusals in a function, and in those of its module that it calls."""
    seen = set() if seen is None else seen
    if function in seen:
        return
    seen.add(function)
    lines, start = inspect.getsourcelines(function)
    for node in ast.walk(ast.parse(textwrap.dedent("".join(lines)))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("require", "Untestable"):
            assert node.end_lineno
            yield function.__code__.co_filename, range(start + node.lineno - 1, start + node.end_lineno)
    for name in names_in(function.__code__):
        called = function.__globals__.get(name)
        if isinstance(called, FunctionType) and called.__module__ == function.__module__:
            yield from refusals(called, seen)


def names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from names_in(inner)
