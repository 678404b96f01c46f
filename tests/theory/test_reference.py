"""The random-features theory against the table of reference/random_features.py, solved in 50 digits."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from localentropy import theory
from localentropy.theory import RandomFeatures, overparameterized_limit, typical
from tests.theory.reference import random_features as reference

with reference.TABLE.open(newline="") as table:
    ROWS = list(csv.DictReader(table))
INPUTS = ("alpha_T", "inv_alpha", "margin")


def inputs(row: dict[str, str]) -> dict[str, float]:
    return {name: float(row[name]) for name in INPUTS if row[name]}


def package_answers(kind: str, arguments: dict[str, Any], activation: str) -> dict[str, float]:
    """Every answer of the package that the table has too."""
    if kind == "typical":
        return typical(RandomFeatures(activation=activation, **arguments)).row()
    if kind == "limit":
        limit = vars(overparameterized_limit(RandomFeatures(activation=activation, **arguments)))
        return {"entropy": limit["entropy_per_pattern"], **limit}
    inverse = kind.startswith("inv_")
    found = getattr(theory, kind.removeprefix("inv_"))(RandomFeatures(activation=activation, **arguments))
    return {"threshold": 1 / found if inverse else found}


@pytest.mark.parametrize("end", [None, 0.0, np.inf], ids=["as given", "last bit down", "last bit up"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['point']}-{row['kind']}-{row['activation']}")
def test_the_package_agrees_with_fifty_digits(row: dict[str, str], end: float | None) -> None:
    """To 1e-8, also where every input is moved by its last bit: what that moves is not more."""
    arguments = inputs(row)
    if end is not None:
        arguments = {name: float(np.nextafter(value, end)) for name, value in arguments.items()}
    answers = package_answers(row["kind"], arguments, row["activation"])
    wrong = {}
    for name in reference.ANSWERS:
        if name in answers and row[name]:
            expected = float(row[name])
            # p_d_hat changes sign, at values of p_hat that do not vanish.
            scale = float(row["p_hat"]) if name == "p_d_hat" else abs(expected)
            if not abs(answers[name] - expected) <= 1e-8 * scale + (1e-10 if name == "entropy" else 0.0):
                wrong[name] = (answers[name], expected)
    assert not wrong


def test_the_table_covers_the_domain() -> None:
    assert [int(row["point"]) for row in ROWS] == list(range(len(reference.requests())))
    assert {row["activation"] for row in ROWS} == set(reference.ACTIVATIONS)
    alpha_T = [float(row["alpha_T"]) for row in ROWS]
    inv_alpha = [float(row["inv_alpha"]) for row in ROWS if row["inv_alpha"]]
    assert min(alpha_T) <= 1e-3 and max(alpha_T) >= 1e3
    assert min(inv_alpha) < 0.02 and max(inv_alpha) > 900.0


@pytest.mark.slow
@pytest.mark.parametrize("number", np.random.default_rng(12).choice(len(ROWS), 3, replace=False).tolist())
def test_the_script_gives_the_table(number: int) -> None:
    row = ROWS[number]
    arguments = reference.requests()[int(row["point"])].inputs()
    assert dict(zip(reference.INPUTS, map(reference.text, arguments), strict=True)) == {
        name: row[name] for name in reference.INPUTS
    }
    answers = reference.solve(*arguments)
    for name in reference.ANSWERS:
        assert bool(row[name]) == (answers[name] is not None)
        if row[name]:
            assert abs(answers[name] - mp.mpf(row[name])) <= mp.mpf("1e-20") * max(abs(answers[name]), mp.mpf("1e-3"))
