"""The program that asks questions along grids: each number of a row is the library's answer."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from localentropy import theory
from localentropy.errors import DomainError
from localentropy.programs import sweep
from localentropy.theory import Perceptron, RandomFeatures, TreeCommittee, alpha_c, alpha_le, kappa_max, typical
from tests.programs.programs import table

PERCEPTRON = {"model": "perceptron"}
SIGN = {"model": "tree_committee", "activation": "sign"}
FEATURES = {"model": "random_features", "activation": "sign"}


@pytest.mark.parametrize("name", sweep.QUESTIONS)
def test_every_question_is_one_of_the_library_with_these_arguments(name: str) -> None:
    question = sweep.QUESTIONS[name]
    *_, own = name.split(".")
    function = getattr(import_module(question.home), own)
    if question.model:
        assert function is getattr(theory, own)
    assert function.__module__ == question.home
    parameters = list(inspect.signature(function).parameters.values())[question.model :]
    assert tuple(each.name for each in parameters if each.default is each.empty) == question.arguments


@pytest.mark.parametrize(("model", "arguments"), sweep.MODELS.items())
def test_models_have_these_arguments(model: str, arguments: tuple[str, ...]) -> None:
    kind = "".join(word.capitalize() for word in model.split("_"))
    # A configuration has no energies: they are classes.
    assert tuple(name for name in inspect.signature(getattr(theory, kind)).parameters if name != "energy") == arguments


@pytest.mark.parametrize(("ensemble", "model"), [(PERCEPTRON, Perceptron), (SIGN, TreeCommittee)])
def test_lines_in_the_margin_end_where_the_entropy_vanishes(ensemble: dict[str, str], model: Any) -> None:
    over = {"margin": {"from": 0.0, "to": "kappa_max", "spacing": "linear"}, "alpha": (0.3, 0.5)}
    found = table(sweep, ask="typical", ensemble=ensemble, over=over, points=5)
    assert list(found["alpha"].unique()) == [0.3, 0.5] and len(found) == 10
    for alpha, line in found.groupby("alpha"):
        assert line["margin"].iloc[[0, -1]].tolist() == [0.0, kappa_max(model(alpha))]
        assert abs(line["entropy"].iloc[-1]) < 1e-9 and (np.diff(line["entropy"]) < 0).all()
        one = typical(model(alpha, line["margin"].iloc[2]))
        assert (line["q"].iloc[2], line["entropy"].iloc[2]) == (one.q, one.entropy)


@pytest.mark.parametrize(("ensemble", "model"), [(PERCEPTRON, Perceptron), (SIGN, TreeCommittee)])
def test_a_name_stands_for_the_answer_at_each_point(ensemble: dict[str, str], model: Any) -> None:
    values = {"ask": "typical", "ensemble": ensemble, "at": {"margin": "kappa_max"}, "points": 5}
    found = table(sweep, over={"alpha": {"from": 0.1, "to": "alpha_c"}}, **values)
    assert found["alpha"].iloc[-1] == pytest.approx(alpha_c(model()), rel=1e-8)
    assert found["margin"].tolist() == [kappa_max(model(alpha)) for alpha in found["alpha"]]
    assert (np.diff(found["margin"]) < 0).all() and found["margin"].iloc[-1] < 1e-6
    with pytest.raises(DomainError, match=r"^alpha from 0\.99 to alpha_c leaves no line: 0\.99 is not below 0\.\d+$"):
        table(sweep, over={"alpha": {"from": 0.99, "to": "alpha_c"}}, **values)


def test_lists_vary_before_lines_and_several_questions_are_beside_each_other() -> None:
    ask = {"inv_alpha_c": "1/alpha_c", "largest": "kappa_max"}
    over = {"inv_alpha": {"from": 2.0, "to": 8.0, "also": (5.0,)}, "alpha_T": (1.0, 3.0)}
    found = table(sweep, ask=ask, ensemble=FEATURES, over=over, points=3)
    grid = [2.0, 4.0, 5.0, 8.0]
    assert found[["alpha_T", "inv_alpha"]].to_numpy() == pytest.approx(np.array([(a, x) for a in (1, 3) for x in grid]))
    for row in found.itertuples():
        assert row.inv_alpha_c == 1.0 / alpha_c(RandomFeatures(row.alpha_T))
        assert row.largest == kappa_max(RandomFeatures(row.alpha_T, row.inv_alpha))


def test_thresholds_with_the_margin_at_one_of_them() -> None:
    ask = {"inv_alpha_c": "1/alpha_c", "inv_alpha_le": "1/alpha_le", "kappa_max_le": "kappa_max"}
    row = table(sweep, ask=ask, ensemble=FEATURES, at={"inv_alpha": "1/alpha_le"}, over={"alpha_T": (3.0,)}).iloc[0]
    le = 1.0 / alpha_le(RandomFeatures(3.0))
    expected = {"alpha_T": 3.0, "inv_alpha": le, "inv_alpha_c": 1.0 / alpha_c(RandomFeatures(3.0)), "inv_alpha_le": le}
    assert row.to_dict() == expected | {"kappa_max_le": kappa_max(RandomFeatures(3.0, le))}


def test_the_parameters_say_which_functions_the_table_depends_on() -> None:
    values = {"ask": {"error": "generalization_errors"}, "ensemble": FEATURES, "points": 2}
    values |= {"at": {"alpha_T": 3.0, "margin": "kappa_opt"}, "over": {"inv_alpha": {"from": "1/alpha_c", "to": 9.0}}}
    found = {module.rpartition(":")[2] for module in sweep.Parameters.model_validate(values).modules()}
    assert found == {"generalization_errors", "kappa_opt", "alpha_c", "RandomFeatures"}
