"""Means over training sets of a solver's runs on each: the rows of `committee_focusing_bp` and `committee_sgd`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd


def solved_fractions(table: pd.DataFrame) -> pd.Series:
    """Fraction of the runs that are solved, by increasing N/P.

    Args:
        table: of a solver's program, with the quantity `solved`.

    Returns:
        Fractions, indexed by N/P.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.training_sets import solved_fractions
        >>> table = pd.DataFrame({"inv_alpha": [2.0, 2.0, 1.5, 1.5], "quantity": "solved", "value": [1, 1, 1, 0]})
        >>> solved_fractions(table).to_dict()
        {1.5: 0.5, 2.0: 1.0}
    """
    return table[table["quantity"] == "solved"].groupby("inv_alpha")["value"].mean().sort_index()


def solved_by_all(fractions: Iterable[pd.Series]) -> pd.Series:
    """The smallest fraction of several solvers, at each N/P that all of them ran at.

    Args:
        fractions: of each solver, indexed by N/P.

    Returns:
        Fractions, indexed by N/P.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.training_sets import solved_by_all
        >>> solved_by_all([pd.Series({1.5: 0.5, 2.0: 1.0}), pd.Series({2.0: 0.9, 2.5: 1.0})]).to_dict()
        {2.0: 0.9}
    """
    return pd.concat(list(fractions), axis=1, join="inner").min(axis=1)


def on_each_set(rows: pd.DataFrame, by: Sequence[str] = ("inv_alpha",)) -> pd.Series:
    """Mean over the runs on one training set.

    Args:
        rows: columns value, sample (the number of the set) and those of `by`.
        by: further columns that are told apart.

    Returns:
        Means, indexed by `by` and sample.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.training_sets import on_each_set
        >>> rows = pd.DataFrame({"inv_alpha": 2.0, "sample": [0, 0, 1], "value": [0.2, 0.4, 0.5]})
        >>> on_each_set(rows).round(9).tolist()
        [0.3, 0.5]
    """
    return rows.groupby([*by, "sample"])["value"].mean()


def over_sets(each: pd.Series) -> pd.DataFrame:
    """Mean and standard error over training sets.

    Args:
        each: a value for each training set, indexed as `on_each_set` does.

    Returns:
        Columns y, y_err and samples (the number of sets with a value), indexed by all of its index but `sample`.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.training_sets import on_each_set, over_sets
        >>> rows = pd.DataFrame({"inv_alpha": 2.0, "sample": [0, 0, 1], "value": [0.2, 0.4, 0.5]})
        >>> over_sets(on_each_set(rows))[["y", "samples"]].round(9).to_numpy().tolist()
        [[0.4, 2.0]]
    """
    by = [name for name in each.index.names if name != "sample"]
    return each.groupby(level=by).agg(y="mean", y_err="sem", samples="count")
