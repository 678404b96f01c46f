"""The page of what there is: it is up to date, and says what the tests of odd arguments call."""

from __future__ import annotations

import inspect
import re
from functools import partial

import pytest

from localentropy import solvers, theory
from localentropy.commands import inventory
from localentropy.commands.docs import INVENTORY
from localentropy.errors import ConvergenceError, DomainError
from localentropy.pipeline.config import ROOT
from tests.robustness.public_calls import CALLS, MODELS, QUESTIONS

PAGE = (ROOT / INVENTORY).read_text()
ASKED = {"distances": [0.1], "overlaps": [0.9], "stabilities": [0.5]}
"""What a question needs besides its model."""


def marks(section: str) -> dict[tuple[str, str], bool]:
    """(row, column) → whether there is a mark, of the table of a section."""
    table = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    head, _, *rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")]
    columns = [name.strip().replace("`", "") for name in head[1:]]
    return {
        (row[0].strip(" `"), column): inventory.MARK in cell
        for row in rows
        for column, cell in zip(columns, row[1:], strict=True)
    }


def test_the_page_is_what_the_code_answers() -> None:
    assert inventory.text() == PAGE, "run `make docs`"


@pytest.mark.slow
@pytest.mark.parametrize("name", inventory.questions())
def test_a_marked_question_has_an_answer_and_no_other_has(name: str) -> None:
    found, question = marks("Questions to the theory"), inventory.questions()[name]
    needed = [
        each.name
        for each in [*inspect.signature(question).parameters.values()][1:]
        if each.default is inspect.Parameter.empty
    ]
    ask = partial(question, **{argument: ASKED[argument] for argument in needed})
    for model, (kinds, _) in inventory.examples().items():
        assert inventory.is_there(ask, kinds) == found[name, model.replace("`", "")], model


def test_marks_of_the_models_are_the_calls_that_are_tested() -> None:
    """The calls were written by hand."""
    found = marks("Questions to the theory")
    names = {question.__name__ for question in QUESTIONS}
    for (question, model), there in found.items():
        if question in names and model in {kind.__name__ for kind in MODELS}:
            assert there == (f"{question} of {model}" in CALLS), (question, model)
    asked = {row for row, _ in found}
    assert names <= asked <= set(theory.__all__)


def test_every_model_and_every_solver_has_its_place() -> None:
    found = marks("Solvers of instances")
    assert set(solvers.MODULES) <= {row for row, _ in found}
    assert all(any(there for (row, _), there in found.items() if row == one) for one, _ in found)
    kinds = {name for name in theory.__all__ if isinstance(getattr(theory, name), type)}
    models = {name for name in kinds if issubclass(getattr(theory, name), theory.model.Asked)} - {"Model"}
    assert models <= {column for _, column in found}
    # From the solvers' own pages.
    assert found["two_level_amp", "RandomFeatures"] and not found["two_level_amp", "Perceptron"]
    assert found["constrained_bp", "SymmetricPerceptron"] and not found["focusing_bp", "SymmetricPerceptron"]
    assert found["binary_committee_bp", "TreeCommittee"] and not found["committee_sgd", "TreeCommittee"]
    assert found["committee_sgd", "Spherical"] and not found["binary_committee_bp", "Spherical"]
    assert [row for (row, column), there in found.items() if there and column == "Perceptron with CrossEntropy"] == [
        "anneal"
    ]
    assert re.search(r"^\| `barriers` \| Barriers between solutions", PAGE, re.MULTILINE)


def test_what_is_refused_is_not_there_and_what_did_not_converge_is() -> None:
    def refuse(_: object) -> None:
        raise DomainError("no")

    def fail(_: object) -> None:
        raise ConvergenceError("it", {"x": 1.0}, 1.0)

    assert not inventory.is_there(refuse, [1, 2]) and not inventory.is_there(fail, [])
    assert inventory.is_there(fail, [1]) and inventory.is_there(lambda one: one, [1])
    with pytest.raises(ZeroDivisionError):
        inventory.is_there(lambda one: one / 0, [1])
