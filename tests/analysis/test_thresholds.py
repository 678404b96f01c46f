"""Where along an axis all or half of the runs succeed, and the fractions that do."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from localentropy.analysis.thresholds import (
    first_solved,
    large_deviations_threshold,
    last_half_point,
    last_solved,
    last_without_errors,
    storage_thresholds,
    success_fractions,
    typical_line,
)
from localentropy.errors import DomainError


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


@pytest.mark.parametrize(
    ("errors", "last"),
    [
        ([(0.0, 0.0), (0.0, 0.0), (0.0, 0.01)], 200.0),
        ([(0.0, 0.0), (0.0, 0.01), (0.0, 0.0)], 100.0),
        ([(0.0, 0.0), (0.0, np.nan), (0.0, 0.0)], 100.0),
        ([(0.01, 0.0), (0.0, 0.0), (0.0, 0.0)], None),
    ],
)
def test_one_network_with_errors_or_without_a_number_is_enough(errors, last) -> None:
    sets = {"patterns": np.repeat([100, 200, 300], 2), "sample": [0, 1] * 3}
    tables = [
        pd.DataFrame(sets | {"quantity": name, "value": values})
        for name, values in (("train_error", np.ravel(errors)), ("test_error", 0.3))
    ]
    assert last_without_errors(pd.concat(tables)) == last


ENSEMBLES = {"stored": {"model": "perceptron"}, "planted": {"model": "teacher_student"}}


def test_loads_of_random_patterns_are_those_where_lines_of_the_perceptron_end() -> None:
    rows = [
        ("stored", "kappa_max", 0.5, False),
        ("stored", "kappa_max", 0.83, True),
        ("stored", "kappa_u", 0.73, True),
        ("stored", "kappa_min", 0.75, True),
        ("planted", "kappa_max", 1.24, True),
    ]
    regions = pd.DataFrame(rows, columns=["ensemble", "line", "alpha", "end"])
    regions.attrs["parameters"] = {"ensembles": ENSEMBLES}
    assert storage_thresholds(regions) == {"alpha_c": 0.83, "alpha_le": 0.73}
    assert storage_thresholds(regions[regions["ensemble"] == "planted"]) == {}


def test_the_threshold_of_large_deviations_is_that_of_the_model_and_the_line() -> None:
    rows = [("planted", "alpha_u", 1.1), ("stored", "alpha_u", 0.77), ("stored", "alpha_u_typical", 0.75)]
    table = pd.DataFrame(rows, columns=["ensemble", "line", "alpha"])
    table.attrs["parameters"] = {"ensembles": ENSEMBLES}
    found = [large_deviations_threshold(table, ENSEMBLES["stored"], line) for line in ("alpha_u", "alpha_u_typical")]
    assert [row["alpha"] for row in found if row is not None] == [0.77, 0.75]
    assert large_deviations_threshold(table, ENSEMBLES["planted"], "alpha_u_typical") is None


def test_a_line_has_its_own_rows_in_order() -> None:
    rows = [
        ("inv_alpha", "max", 3.0, 1.0), ("alpha_T", "max", 2.0, 5.0), ("inv_alpha", "max", 1.5, 1.0),
        ("inv_alpha", "0.5", 2.5, 1.0), ("alpha_T", "max", 2.0, 4.0),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["line", "reference", "inv_alpha", "alpha_T"])
    assert typical_line(table, "max")["inv_alpha"].tolist() == [1.5, 3.0]
    assert typical_line(table, "max", "alpha_T")["alpha_T"].tolist() == [4.0, 5.0]


def test_fractions_of_runs_that_are_all_alike_have_an_error() -> None:
    runs = pd.DataFrame({"d": 10, "alpha": [2.0, 1.0, 1.0, 2.0], "value": [0.5, 0.1, 0.3, 0.5]})
    found = success_fractions(runs, ["d", "alpha"], runs["value"] > 0.2)
    assert found[["d", "alpha", "y", "runs"]].to_numpy().tolist() == [[10, 1.0, 0.5, 2], [10, 2.0, 1.0, 2]]
    # With one success and one failure more, 2 of 4 and 3 of 4.
    assert found["y_err"].tolist() == pytest.approx([math.sqrt(0.25 / 4), math.sqrt(0.75 * 0.25 / 4)])


def test_the_last_half_point_has_the_error_of_binomial_fractions() -> None:
    loads, shares = np.array([3.0, 1.0, 2.0, 4.0]), np.array([0.4, 0.0, 0.6, 0.8])
    runs = pd.DataFrame({"alpha": loads.repeat(400), "run": np.tile(np.arange(400), 4)})
    points = success_fractions(runs, ["alpha"], runs["run"] < (400 * shares).repeat(400)).set_index("alpha")
    points = points.loc[loads].reset_index()
    place, error = last_half_point(points)
    assert place == pytest.approx(3.25)
    drawn = np.random.default_rng(1).binomial(400, shares, (2000, 4)) / 400
    places = [last_half_point(points.assign(y=row))[0] for row in drawn]
    assert np.std(places) == pytest.approx(error, rel=0.06)
    assert last_half_point(points.assign(y=0.5 * shares))[0] == np.inf
    assert last_half_point(points.assign(y=0.5 + 0.5 * shares))[0] == -np.inf


LOADS = pd.DataFrame({"alpha": [1.0, 2.0], "y": [0.2, 0.9], "y_err": [0.1, 0.1]})
RUNS = pd.DataFrame({"alpha": [1.0, 1.0, np.nan], "solved": [1.0, 0.0, 1.0]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: first_solved(pd.Series([1.0, 1.5])),
            r"fractions = 1.5 is out of range: allowed are \[0, 1\]",
        ),
        (lambda: last_solved(pd.Series([1.0, -0.5])), "fractions = -0.5 is out of range"),
        (
            lambda: first_solved(pd.Series([1.0, 0.5], index=[2.0, 2.0])),
            r"abscissa: \[2.0, 2.0\], allowed are different",
        ),
        (lambda: first_solved(pd.Series([1.0], index=[np.nan])), "abscissa: nan is among them"),
        (lambda: last_solved(pd.Series([1.0], index=["one"])), "abscissa\\[0\\] = 'one' is not a number"),
        (lambda: first_solved(pd.Series([1.0]), 1.5), "least = 1.5 is out of range"),
        (lambda: last_half_point(LOADS.assign(alpha=2.0)), r"alpha: \[2.0, 2.0\], allowed are different numbers"),
        (lambda: last_half_point(LOADS.assign(y=[0.1, np.nan])), "y: nan is among them"),
        (lambda: last_half_point(LOADS.assign(y_err=-0.1)), "y_err = -0.1 is out of range: allowed are"),
        (lambda: last_half_point(LOADS[["alpha", "y"]]), "points: the column y_err is missing"),
        (lambda: success_fractions(RUNS, ["N"], RUNS["solved"]), "runs: the column N is missing, needed: N"),
        (lambda: success_fractions(RUNS, ["alpha"], RUNS["solved"]), "runs: the column alpha lacks a value"),
        (lambda: success_fractions(RUNS[:2], ["alpha"], RUNS["solved"]), "success: Series given, allowed is a Series"),
        (lambda: success_fractions(RUNS[:2], ["alpha"], RUNS["solved"][:2] + 1), "success: 2.0 is among them, allowed"),
        (lambda: success_fractions(RUNS[:2], ["alpha"], RUNS["alpha"][:2] * np.nan), "success: nan is among them"),
    ],
)
def test_impossible_fractions_have_no_threshold(call, message) -> None:
    with pytest.raises(DomainError, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)
