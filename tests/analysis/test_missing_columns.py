"""Tables without a column that a function needs, and what else is no table: one line says what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from localentropy.analysis.agreement import agreement_at_infinite_size, agreement_by_size
from localentropy.analysis.flatness import (
    around_parity_solutions,
    around_solutions,
    largest_margin_curve,
    over_samples,
    with_excess,
    without_frozen_ends,
)
from localentropy.analysis.runs import (
    POINT,
    RUN,
    annealed_averages,
    averages,
    deviations,
    largest_solved,
    on_each_set,
    over_sets,
    scored,
    shared_size,
    solved_by_all,
    solved_fractions,
    with_theory,
)
from localentropy.analysis.stability_histogram import histogram_deviations, stability_histogram
from localentropy.analysis.statistics import paired_differences
from localentropy.analysis.thresholds import (
    large_deviations_threshold,
    last_half_point,
    last_without_errors,
    storage_thresholds,
    success_fractions,
    typical_line,
)
from localentropy.errors import DomainError


def table(*columns: str, **values: Any) -> pd.DataFrame:
    """Two rows, of ones where nothing else is given."""
    return pd.DataFrame(dict.fromkeys(columns, 1.0) | values, index=[0, 1])


def of_program(made: pd.DataFrame, **parameters: Any) -> pd.DataFrame:
    made.attrs["parameters"] = parameters
    return made


RUNS = table(*POINT, "sample", "x", quantity=["solved", "q"], value=1.0)
THEORY = table("D", "N", "margin", "x", "theory_of_q")
HISTOGRAM = table("D", "sample", N=9, margin=0.0, quantity="stability_count", x=1 / 3, value=2.0)
CELLS = table("D", N=9, margin=0.0, quantity="stability_probability", x=1 / 3, value=1.0)
PERCEPTRON = {"stored": {"model": "perceptron"}}
CURVE = table("alpha", "margin", "entropy", "slope", curve="reference", reference="max")
CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (averages, {"table": RUNS, "quantity": "q", "by": ("x",)}),
    (deviations, {"table": RUNS, "quantity": "q", "theory": THEORY, "column": "theory_of_q", "by": ("x",)}),
    (largest_solved, {"points": table("D", "inv_alpha", "solved")}),
    (
        with_theory,
        {
            "points": table("D", "N", "margin", "x", "y", "y_err", "n", "solved"),
            "theory": THEORY,
            "column": "theory_of_q",
            "by": ("x",),
        },
    ),
    (scored, {"points": table("y", "y_err", "theory", "n", "solved")}),
    (solved_fractions, {"table": table("inv_alpha", "value", quantity="solved")}),
    (on_each_set, {"rows": table("value", "sample", "x"), "by": ("x",)}),
    (annealed_averages, {"table": table(*RUN, "x", quantity=["solved", "q"], value=1.0), "quantity": "q"}),
    (around_solutions, {"table": table("solved", "converged")}),
    (around_parity_solutions, {"table": table("N", "alpha", "overlap", "entropy")}),
    (over_samples, {"table": table("x", "distance", "entropy"), "column": "entropy", "by": ("x",)}),
    (
        with_excess,
        {
            "table": table("distance", "entropy"),
            "curve": table("entropy", "slope", distance=[0.5, 1.0]),
        },
    ),
    (without_frozen_ends, {"curves": table("distance", "entropy", "slope", "alpha"), "keys": ["alpha"]}),
    (
        largest_margin_curve,
        {
            "franz_parisi": of_program(CURVE, ensemble=PERCEPTRON["stored"]),
            "local_entropy": table("alpha", "N", "margin"),
        },
    ),
    (agreement_by_size, {"deviations": table("D", "N", "deviation", "x", sample=[0, 1]), "by": ["x"]}),
    (agreement_at_infinite_size, {"deviations": table("D", "deviation", "x", sample=[0, 1]), "by": ["x"]}),
    (histogram_deviations, {"runs": RUNS, "lattice": CELLS}),
    (stability_histogram, {"runs": HISTOGRAM, "lattice": CELLS, "D": 1, "N": 9}),
    (
        paired_differences,
        {
            "table": table("sample", "x", "value", algorithm=["a", "b"]),
            "column": "value",
            "first": "a",
            "second": "b",
            "by": ["x"],
        },
    ),
    (last_half_point, {"points": table("y", "y_err", alpha=[1.0, 2.0])}),
    (last_without_errors, {"table": table("patterns", "sample", "value", quantity="train_error")}),
    (success_fractions, {"runs": table("alpha"), "keys": ["alpha"], "success": pd.Series([1, 0])}),
    (
        storage_thresholds,
        {
            "regions": of_program(
                table("alpha", end=[False, True], ensemble="stored", line="kappa_u"), ensembles=PERCEPTRON
            )
        },
    ),
    (
        large_deviations_threshold,
        {
            "table": of_program(table(line="alpha_u", ensemble="stored"), ensembles=PERCEPTRON),
            "ensemble": PERCEPTRON["stored"],
        },
    ),
    (typical_line, {"typical": table("inv_alpha", line="inv_alpha", reference="max"), "reference": "max"}),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS, ids=[function.__name__ for function, _ in CALLS])
def test_a_missing_column_is_named(function, arguments):
    function(**arguments)
    tables = {name: value for name, value in arguments.items() if isinstance(value, pd.DataFrame)}
    assert tables
    for name, whole in tables.items():
        for column in whole:
            with pytest.raises(DomainError, match=rf"^{name}: the column {column} is missing, needed: .*\b{column}\b"):
                function(**arguments | {name: whole.drop(columns=column)})
        with pytest.raises(DomainError, match=rf"^{name}: dict given, allowed is a DataFrame of pandas$"):
            function(**arguments | {name: whole.to_dict()})


ON_SETS = on_each_set(table("inv_alpha", "value", sample=[0, 1]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shared_size({}), r"tables = \[\]: allowed are some with /solve_ in their names"),
        (lambda: shared_size({"a/typical": RUNS}), r"tables = \['a/typical'\]: allowed are"),
        (lambda: shared_size({"a/solve_b": RUNS[["N"]]}), r"tables\['a/solve_b'\]: the column D is missing"),
        (lambda: solved_by_all([]), "fractions: none given, allowed are one or more series"),
        (lambda: solved_by_all([RUNS]), "fractions: .* is among them, allowed are Series objects"),
        (lambda: over_sets(RUNS), "each: DataFrame given, allowed is a Series of pandas"),
        (lambda: over_sets(RUNS["value"]), "each: an index of None given, allowed is one with the level sample"),
        (lambda: over_sets(ON_SETS.droplevel("inv_alpha")), "each: an index of sample given"),
        (lambda: stability_histogram(HISTOGRAM, CELLS, 1, 9, steps=0), "steps = 0 is out of range"),
        (lambda: stability_histogram(HISTOGRAM, CELLS, 1, 11), "runs: they have no stability_count at D = 1, N = 11"),
        (
            lambda: storage_thresholds(table("end", "ensemble", "line", "alpha")),
            "regions: its attrs have no parameters",
        ),
        (lambda: large_deviations_threshold(table("line", "ensemble"), {}), "table: its attrs have no parameters"),
    ],
)
def test_what_has_no_answer_is_refused_in_one_line(call, message):
    with pytest.raises(DomainError, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_no_measurement_and_a_table_without_parameters_are_refused():
    curve, measured = of_program(CURVE, ensemble=PERCEPTRON["stored"]), table("alpha", "N", "margin")
    with pytest.raises(DomainError, match="local_entropy: the table has no rows"):
        largest_margin_curve(curve, measured.iloc[:0])
    curve.attrs.clear()
    with pytest.raises(DomainError, match="need a curve of the perceptron's family"):
        largest_margin_curve(curve, measured)
