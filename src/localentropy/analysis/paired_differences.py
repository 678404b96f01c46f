"""Differences between algorithms that ran on the same training sets."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd


def paired_differences(table: pd.DataFrame, column: str, first: str, second: str, by: Sequence[str] = ()) -> pd.Series:
    """The value of one algorithm less that of another, on each training set that both have a row of.

    The luck of a training set is the same for both, so these differences scatter less than the values.

    Args:
        table: columns algorithm, sample (the training set), `column` and those of `by`; one row for each.
        column: of the values.
        first: an algorithm.
        second: the one that is subtracted.
        by: columns that tell the values of one run apart, such as distance.

    Returns:
        Differences; the index has the levels *by, sample. Without a common training set there are none.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.paired_differences import paired_differences
        >>> runs = pd.DataFrame({"algorithm": [*"aabb"], "sample": [0, 1, 0, 1], "error": [0.3, 0.5, 0.2, 0.4]})
        >>> paired_differences(runs, "error", "a", "b").round(9).tolist()
        [0.1, 0.1]
    """
    values = [table[table["algorithm"] == name].set_index([*by, "sample"])[column] for name in (first, second)]
    both = pd.concat(values, axis=1, join="inner", keys=["first", "second"])
    return both["first"] - both["second"]
