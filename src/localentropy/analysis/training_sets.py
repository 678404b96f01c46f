"""Means over training sets of a solver's runs on each: the rows of `committee_focusing_bp` and `committee_sgd`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd


def solved_fractions(table: pd.DataFrame) -> pd.Series:
    """Fraction of the runs solved, by N/P in increasing order."""
    return table[table["quantity"] == "solved"].groupby("inv_alpha")["value"].mean().sort_index()


def solved_by_all(fractions: Iterable[pd.Series]) -> pd.Series:
    """The smallest fraction of several solvers, at each N/P that all of them ran at; `fractions` are theirs."""
    return pd.concat(list(fractions), axis=1, join="inner").min(axis=1)


def on_each_set(rows: pd.DataFrame, by: Sequence[str] = ("inv_alpha",)) -> pd.Series:
    """Mean over the runs on one training set, by the columns `by` and the number `sample` of the set."""
    return rows.groupby([*by, "sample"])["value"].mean()


def over_sets(each: pd.Series) -> pd.DataFrame:
    """Mean and standard error over training sets.

    Args:
        each: a value for each training set, indexed as `on_each_set` does.

    Returns:
        Columns y, y_err and samples (the number of sets with a value), indexed by all of its index but `sample`.
    """
    by = [name for name in each.index.names if name != "sample"]
    return each.groupby(level=by).agg(y="mean", y_err="sem", samples="count")
