"""Every claim's test: right tables pass it, wrong ones do not, and too little data is said to be that."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localentropy.claims.conditions import MAY_BE_MISSING, Finding, Verdict
from localentropy.claims.overparam.solvers import half_point
from localentropy.errors import ArtifactError, DomainError
from tests.claims.spoilings import ABSCISSAE
from tests.claims.test_conditions import ALL, LISTED, good
from tests.claims.test_conditions import OF_LISTED as CASES
from tests.claims.test_conditions import found as verdict

CLAIMS = {key: claim for key, claim in ALL.items() if claim.paper in LISTED}
SAYS_WHERE = ABSCISSAE | {"overlap"}
"""Columns of numbers that say where a value was taken."""

ONLY_TOLD = {("O01", "inv_alpha_le"), ("O21", "typical_alpha"), ("O21c", "typical_alpha")}
"""Claim and column of a number that its detail tells and its verdict does not need."""

pytestmark = pytest.mark.filterwarnings("ignore:.*(Degrees of freedom|invalid value|divide by zero):RuntimeWarning")


def spoilings(kind: str) -> list[tuple[str, str]]:
    return [(key, name) for key, case in CASES.items() for name in getattr(case, kind)]


NUMBERS = [
    (key, short, quantity)
    for key in CASES
    for short, table in good(key).items()
    if "value" in table
    for quantity in sorted(set(table["quantity"]) - set(MAY_BE_MISSING))
]
"""Claim, its argument and a quantity of that table, of which no run may lack the number."""


def test_every_value_is_needed() -> None:
    valued = {(key, short) for key in CASES for short, table in good(key).items() if "value" in table}
    assert {(key, short) for key, short, _ in NUMBERS} == valued


def test_every_claim_has_right_and_wrong_tables() -> None:
    assert set(CASES) == set(CLAIMS)
    assert [key for key, case in CASES.items() if not case.wrong] == []


@pytest.mark.parametrize("key", CASES)
def test_right_tables_reproduce_the_claim(key: str) -> None:
    found = verdict(key, good(key))
    assert found.verdict is Verdict.REPRODUCED, found
    assert all(condition.words for condition in found.conditions)


@pytest.mark.parametrize(("key", "name"), spoilings("wrong"))
def test_wrong_tables_do_not(key: str, name: str) -> None:
    made = good(key)
    CASES[key].wrong[name](made)
    found = verdict(key, made)
    assert found.verdict is Verdict.NOT_REPRODUCED, found
    assert all(condition.words for condition in found.conditions)


@pytest.mark.parametrize(("key", "name"), spoilings("small"))
def test_tables_that_cannot_tell_are_not_judged(key: str, name: str) -> None:
    made = good(key)
    CASES[key].small[name](made)
    found = verdict(key, made)
    assert found.verdict is Verdict.OPEN, found
    assert all(condition.words for condition in found.conditions)


ONE_ROW = [
    *((key, "equivalent_features", "test_error") for key in ("O23", "O24")),
    *(
        (key, "typical_points", column)
        for key, column in (("O29", "error_typical"), ("O33", "p_d"), ("O33b", "p_d"), ("O34", "error_typical"))
    ),
    ("O41", "two_level_amp", "overlap"),
]
"""Claim, table and column of numbers that are averaged, or compared with, row by row."""
ROWS = 5
"""Rows that count and are tried. Those are looked for over the whole table, in steps of two."""


@pytest.mark.parametrize(("key", "short", "column"), ONE_ROW)
def test_one_missing_number_of_a_row_is_enough(key: str, short: str, column: str) -> None:
    table, counts = good(key)[short], 0
    whole = verdict(key, good(key)).conditions

    def found(row: int, value: float) -> Finding:
        changed = table.copy()
        changed.loc[row, column] = value
        return verdict(key, good(key) | {short: changed})

    for row in table.index[::2]:
        if counts == ROWS:
            break
        if found(row, 1.2 * table.loc[row, column]).conditions != whole:
            assert found(row, np.nan).verdict is not Verdict.REPRODUCED, row
            counts += 1
    assert counts > 1


@pytest.mark.parametrize(("key", "name"), spoilings("missing"))
def test_a_missing_number_never_counts_as_reproduced(key: str, name: str) -> None:
    made = good(key)
    CASES[key].missing[name](made)
    assert verdict(key, made).verdict is not Verdict.REPRODUCED


@pytest.mark.parametrize(("key", "short", "quantity"), NUMBERS)
def test_one_missing_number_of_a_run_is_enough(key: str, short: str, quantity: str) -> None:
    made = good(key)
    table = made[short]
    table.loc[table.index[table["quantity"] == quantity][-1], "value"] = np.nan
    assert verdict(key, made).verdict is Verdict.OPEN


@pytest.mark.parametrize("key", CASES)
def test_without_any_number_of_a_column_that_it_needs_nothing_is_reproduced(key: str) -> None:
    needed = 0
    for short, table in good(key).items():
        for column in table.columns.difference(list(SAYS_WHERE)):
            if not pd.api.types.is_float_dtype(table[column]):
                continue
            made = good(key)
            made[short] = table.drop(columns=column)
            try:
                verdict(key, made)
            except (ArtifactError, DomainError) as error:
                assert "KeyError" in str(error) or ("the column" in str(error) and "is missing" in str(error))
                needed += 1
                made[short] = table.assign(**{column: float("nan")})
                found = verdict(key, made)
                assert found.verdict is not Verdict.REPRODUCED or (key, column) in ONLY_TOLD, (short, column)
    # O05 is about margins and loads; O15 and O20 join two tables; either may lack a column.
    assert needed or key in ("O05", "O15", "O20")


def test_runs_that_did_not_converge_are_told() -> None:
    made = good("O41")
    made["two_level_amp"].loc[[0, 11], "converged"] = 0.0
    found = verdict("O41", made)
    assert found.verdict is Verdict.REPRODUCED and "28 of 30 runs converged" in found.detail


def test_half_a_point_is_the_first_crossing() -> None:
    points = pd.DataFrame({"inv_alpha": [1.0, 2.0, 3.0, 4.0], "solved": [0, 10, 4, 10], "n": 10})
    assert half_point(points) == 1.5
    assert half_point(points[1:]) == -np.inf and half_point(points[:1]) == np.inf
