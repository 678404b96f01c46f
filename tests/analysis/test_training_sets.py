"""Means over training sets: the runs on one set count as one measurement."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localentropy.analysis.runs import on_each_set, over_sets


def test_a_set_with_many_runs_weighs_as_much_as_one_with_one() -> None:
    rows = pd.DataFrame({"inv_alpha": 0.5, "sample": [0, 0, 0, 1], "value": [1.0, 2.0, 3.0, 5.0]})
    points = over_sets(on_each_set(rows)).loc[0.5]
    # The means of the sets are 2 and 5.
    assert points["y"] == pytest.approx(3.5) and points["y_err"] == pytest.approx(1.5) and points["samples"] == 2


def test_a_set_without_a_value_is_not_counted() -> None:
    rows = pd.DataFrame({"inv_alpha": 0.5, "sample": [0, 1, 2], "value": [1.0, 3.0, np.nan]})
    points = over_sets(on_each_set(rows)).loc[0.5]
    assert points["y"] == pytest.approx(2.0) and points["y_err"] == pytest.approx(1.0) and points["samples"] == 2
