"""Changes of tables that are made from the tables themselves, so that no list of them is kept.

A spoiling changes the numbers of a column in some rows. A reduction leaves rows out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd

MOST_GROUPS = 12
"""A column with at most as many values tells groups of rows apart."""
MOST_CUTS = 25
"""A column with at most as many values is cut at each of them."""
ABSCISSAE = {
    "alpha",
    "alpha_T",
    "inv_alpha",
    "gamma",
    "margin",
    "margin_ref",
    "margin_effective",
    "distance",
    "regularization",
    "units",
    "beta",
} | {"distance_typical", "x", "layer", "other", "sigma", "epoch"}
"""Columns of numbers that often say where a value was taken."""
RUNS = ("sample", "other")
"""Columns of numbers that only tell runs apart."""
CHANGES: tuple[Callable[[pd.Series], object], ...] = (
    lambda rows: rows * 0.0,
    lambda rows: rows * -1.0,
    lambda rows: rows * 3.0,
    lambda rows: rows / 3.0,
    lambda rows: rows * 0.0 + 1.0,
    lambda rows: rows + 10.0,
    lambda rows: rows - 10.0,
    lambda rows: rows.iloc[::-1].to_numpy(),
    lambda rows: rows * (1.0 + 0.3 * (-1.0) ** np.arange(len(rows))),
    lambda rows: rows * 1.1,
    lambda rows: rows * 0.9,
    lambda rows: rows * 1.01,
    lambda rows: rows * 1.001,
    lambda rows: rows * 0.999,
)


def results(table: pd.DataFrame) -> list[str]:
    """The columns of numbers that were computed."""
    return [name for name in table if pd.api.types.is_float_dtype(table[name]) and name not in ABSCISSAE]


def abscissae(table: pd.DataFrame) -> list[str]:
    """The other columns of numbers. In some tables they are computed too, as a threshold is."""
    return [name for name in table if pd.api.types.is_float_dtype(table[name]) and name in ABSCISSAE]


def spoilings(table: pd.DataFrame, column: str, depth: int) -> Iterator[pd.DataFrame]:
    """Copies of a table, each with one change of a column in the rows that share the values of so many others.

    The rows of different quantities are never changed together.
    """
    others = table.columns.difference([column, "quantity", *RUNS], sort=False)
    labels = [name for name in others if 1 < table[name].nunique() <= MOST_GROUPS]
    whole = ["quantity"] if "quantity" in table else []
    for by in ([*whole, *names] for names in combinations(labels, depth)):
        for rows in table.groupby(by).indices.values() if by else [np.arange(len(table))]:
            before = table[column].iloc[rows]
            for change in CHANGES:
                after = pd.Series(change(before), before.index)
                if not after.equals(before):
                    yield table.assign(**{column: table[column].where(~table.index.isin(before.index), after)})


def reductions(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Copies of a table of a smaller size, without some numbers, or without the rows below, at or above a value."""
    for column in table:
        if pd.api.types.is_float_dtype(table[column]):
            yield from (lacking(table, rows, column) for rows in (table.index[0], table.index[-1], table.index))
        elif pd.api.types.is_numeric_dtype(table[column]):
            yield table.assign(**{column: table[column] - 1})
    cuts = [(column, sorted(table[column].dropna().unique())) for column in table]
    for place in range(MOST_CUTS):
        for column, values in cuts:
            if 0 < len(values) <= MOST_CUTS and place < len(values):
                value = values[order(len(values))[place]]
                yield table[table[column] != value]
                yield table[table[column] == value]
                if pd.api.types.is_numeric_dtype(table[column]):
                    yield table[table[column] < value]
                    yield table[table[column] > value]
    parameters = table.attrs.get("parameters", {})
    for name, value in parameters.items():
        other = table.copy()
        other.attrs = {"parameters": parameters | {name: {"model": "another"} if isinstance(value, dict) else None}}
        yield other


def order(size: int) -> list[int]:
    """The places of a list: its ends, then its middle, then the others."""
    return list(dict.fromkeys([0, size - 1, size // 2, *range(size)]))


def lacking(table: pd.DataFrame, rows: object, column: str) -> pd.DataFrame:
    """A copy without the numbers of some rows."""
    copy = table.copy()
    copy.loc[rows, column] = np.nan
    return copy
