"""The theory of random patterns, with and without a teacher, against the table of reference/random_patterns.py."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from localentropy import theory
from localentropy.theory import Model, Perceptron, TeacherStudent, TreeCommittee, franz_parisi
from tests.theory.reference import random_patterns as reference

MODELS: dict[str, Callable[..., Model]] = {
    "perceptron": Perceptron,
    "relu": partial(TreeCommittee, activation="relu"),
    "sign": TreeCommittee,
    "planted": TeacherStudent,
}
TOLERANCES = {"threshold": 1e-7, "entropy": 1e-8, "q": 1e-8, "r": 1e-8, "slope": 1e-6, "replicon": 1e-6}
with reference.TABLE.open(newline="") as table:
    ROWS = list(csv.DictReader(table))


def package_answers(kind: str, model: str, given: dict[str, float]) -> Any:
    """Every answer of the package that the table has too."""
    own = [given.pop(name) for name in ("distance", "margin_ref") if name in given]
    asked = MODELS[model](**given)
    if kind == "franz_parisi":
        return franz_parisi(asked, *own).iloc[0]
    found = getattr(theory, kind)(asked)
    return found.row() if kind == "typical" else {"threshold": found}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['point']}-{row['kind']}-{row['model']}")
def test_the_package_agrees_with_a_second_solver(row: dict[str, str]) -> None:
    """Entropies also where alpha is moved by its last bit."""
    given = {name: float(row[name]) for name in ("alpha", "margin_ref", "margin", "distance") if row[name]}
    for end in (None, 2.0) if row["entropy"] else (None,):
        moved = given if end is None else given | {"alpha": float(np.nextafter(given["alpha"], end))}
        answers = package_answers(row["kind"], row["model"], dict(moved))
        for name, tolerance in TOLERANCES.items():
            if row[name] and name in answers:
                assert answers[name] == pytest.approx(float(row[name]), rel=tolerance, abs=tolerance), name


def test_the_table_has_every_point_asked_for() -> None:
    requests = reference.requests()
    assert [int(row["point"]) for row in ROWS] == list(range(len(requests)))
    for row, request in zip(ROWS, requests, strict=True):
        assert {name: row[name] for name in reference.INPUTS} == {
            name: str(request.get(name, "")) for name in reference.INPUTS
        }


@pytest.mark.slow
@pytest.mark.parametrize("number", [2, 11, 34, 56, 78])
def test_the_script_gives_the_table(number: int) -> None:
    answers = reference.solve(reference.requests()[number])
    for name, value in answers.items():
        assert value == pytest.approx(float(ROWS[number][name]), rel=1e-9, abs=1e-9)
