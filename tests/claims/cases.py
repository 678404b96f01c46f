"""For every claim: tables on which it holds, spoilings on which it must not, and tables too small to tell.

A spoiling changes a copy of the good tables in place, and must find something to change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from localentropy.claims.conditions import Verdict

HERE = Path(__file__).parent

Tables = dict[str, pd.DataFrame]
Spoiling = Callable[[Tables], None]
HandMade = dict[str, dict[str, tuple[Verdict, Spoiling]]]
"""Claim → name → the verdict on its good tables after a change."""


@dataclass(frozen=True)
class Case:
    """What one claim's test must say.

    Attributes:
        wrong: name → spoiling that must turn the verdict to "not reproduced".
        small: name → spoiling that must turn it to "open".
        missing: name → spoiling that removes a number, after which it must not be "reproduced".
        replaced: tables of its own, by experiment.
    """

    wrong: dict[str, Spoiling]
    small: dict[str, Spoiling] = field(default_factory=dict)
    missing: dict[str, Spoiling] = field(default_factory=dict)
    replaced: dict[str, Callable[[], pd.DataFrame]] = field(default_factory=dict)


def tables(names: Mapping[str, str], case: Case = Case({})) -> Tables:
    """The good tables of a claim: the test's argument → rows, to be changed at will; `names` are its experiments."""
    return {name: _built(case.replaced.get(name) or _builder(of)).copy() for name, of in names.items()}


def modules(paper: str, names: str) -> list[ModuleType]:
    """A paper's modules beside this one whose file has such a name."""
    return [import_module(f"tests.claims.{paper}.{file.stem}") for file in sorted((HERE / paper).glob(f"{names}.py"))]


def _builder(experiment: str) -> Callable[[], pd.DataFrame]:
    """The function of the experiment's name in one of the paper's modules `tables` or `*_tables`."""
    paper, _, name = experiment.partition("/")
    builder: Callable[[], pd.DataFrame] = next(
        getattr(module, name) for module in modules(paper, "*tables") if hasattr(module, name)
    )
    return builder


class _Parameters(dict[str, Any]):
    """Parameters of a table, which nothing changes. pandas copies `attrs` in each of its operations, but not these."""

    def __deepcopy__(self, memo: object) -> _Parameters:
        return self


@cache
def _built(build: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    table = build()
    table.attrs = {name: _Parameters(values) for name, values in table.attrs.items()}
    return table


def chosen(table: pd.DataFrame, where: dict[str, Any]) -> pd.Series:
    """Rows whose columns equal the given values, or satisfy the given conditions."""
    mask = pd.Series(True, index=table.index)
    for column, wanted in where.items():
        mask &= wanted(table[column]) if callable(wanted) else table[column] == wanted
    assert mask.any(), f"no rows with {where}"
    return mask


def put(name: str, column: str, value: Any, **where: Any) -> Spoiling:
    """Set a column of the chosen rows to a value, or to a function of the rows."""

    def spoil(tables: Tables) -> None:
        table = tables[name]
        mask = chosen(table, where)
        table.loc[mask, column] = value(table[mask]) if callable(value) else value

    return spoil


def add(name: str, column: str, amount: float, **where: Any) -> Spoiling:
    return put(name, column, lambda rows: rows[column] + amount, **where)


def times(name: str, column: str, factor: float, **where: Any) -> Spoiling:
    return put(name, column, lambda rows: rows[column] * factor, **where)


def only(name: str, **where: Any) -> Spoiling:
    """Keep the chosen rows."""

    def spoil(tables: Tables) -> None:
        attrs = tables[name].attrs
        tables[name] = tables[name][chosen(tables[name], where)].copy()
        tables[name].attrs = attrs

    return spoil


def elsewhere(name: str, **parameters: Any) -> Spoiling:
    """The table of other parameters."""

    def spoil(tables: Tables) -> None:
        tables[name].attrs = {"parameters": tables[name].attrs["parameters"] | parameters}

    return spoil


def every(*spoilings: Spoiling) -> Spoiling:
    def spoil(tables: Tables) -> None:
        for each in spoilings:
            each(tables)

    return spoil


def near(value: float) -> Callable[[pd.Series], pd.Series]:
    return lambda column: (column / value - 1).abs() < 0.02


def above(value: float) -> Callable[[pd.Series], pd.Series]:
    return lambda column: column > value


def below(value: float) -> Callable[[pd.Series], pd.Series]:
    return lambda column: column < value


def other_than(value: Any) -> Callable[[pd.Series], pd.Series]:
    return lambda column: column != value


def few(*names: str, samples: int = 3) -> Spoiling:
    """Keep the first samples."""
    return every(*(only(name, sample=below(samples)) for name in names))
