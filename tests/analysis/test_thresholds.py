"""Where along an axis everything is solved."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localentropy.analysis.thresholds import first_solved, last_solved


@pytest.mark.parametrize(
    ("fractions", "least", "first"),
    [
        ([0.0, 0.5, 1.0, 1.0], 1.0, 4.0),
        ([0.0, 0.5, 1.0, 1.0], 0.5, 2.0),
        ([1.0, 0.9, 1.0, 1.0], 1.0, 4.0),  # solved once before, and not since
        ([1.0, 1.0, 1.0, 1.0], 1.0, 1.0),
        ([1.0, 1.0, 1.0, 0.9], 1.0, None),
        ([1.0, np.nan, 1.0, 1.0], 0.5, 4.0),
        ([], 1.0, None),
    ],
)
def test_the_first_from_which_on_all_are_solved(fractions, least, first) -> None:
    table = pd.Series(fractions, index=[1.0, 2.0, 4.0, 8.0][: len(fractions)], dtype=float)
    assert first_solved(table, least) == first
    assert first_solved(table[::-1], least) == first


@pytest.mark.parametrize(
    ("fractions", "last"),
    [
        ([1.0, 1.0, 0.5, 0.0], 2.0),
        ([1.0, 0.9, 1.0, 0.0], 1.0),  # solved once again, beyond an abscissa where not
        ([1.0, 1.0, 1.0, 1.0], 8.0),
        ([0.9, 1.0, 1.0, 1.0], None),
        ([1.0, np.nan, 1.0, 1.0], 1.0),
        ([], None),
    ],
)
def test_the_last_up_to_which_all_are_solved(fractions, last) -> None:
    table = pd.Series(fractions, index=[1.0, 2.0, 4.0, 8.0][: len(fractions)], dtype=float)
    assert last_solved(table) == last
    assert last_solved(table[::-1]) == last
