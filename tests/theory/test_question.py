"""Questions to one model, to a sequence of models, and to what is none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.theory import (
    GibbsLoss,
    Perceptron,
    RandomFeatures,  # noqa: F401 (an example of a message is evaluated)
    Spherical,
    SquareWaveTeacher,
    SymmetricPerceptron,
    TeacherStudent,
    capacity_rs,
    franz_parisi,
    kappa_max,
    kappa_opt,
    stability_density,
    thresholds,
    typical,
    typical_distance,
)
from localentropy.theory import alpha_c as largest_load
from localentropy.theory.model import Asked
from localentropy.theory.question import question

MODELS = [Perceptron(0.4), Perceptron(0.5, margin=0.1)]


def test_numbers_stand_beside_the_parameters_of_their_models():
    table: Any = largest_load(model for model in MODELS)
    assert table["alpha_c"].tolist() == [largest_load(model) for model in MODELS]
    assert table["margin"].tolist() == [0.0, 0.1]


def test_records_are_rows():
    table: Any = thresholds(MODELS[:1])
    assert len(table) == 1 and table["alpha_le"][0] == thresholds(MODELS[0]).alpha_le


def test_curves_stand_one_below_the_other():
    table: Any = franz_parisi(MODELS, [0.1, 0.2])
    assert table["distance"].tolist() == [0.1, 0.2] * 2 and table["alpha"].tolist() == [0.4, 0.4, 0.5, 0.5]


@pytest.mark.parametrize("places", [0.3, [0.3], [0.3, 0.5], [[0.3, 0.5], [0.7, 0.9]]])
def test_arrays_of_any_shape_are_columns(places):
    table: Any = stability_density(MODELS, places)
    expected = [np.ravel(stability_density(model, places)) for model in MODELS]
    assert table["stability_density"].tolist() == np.concatenate(expected).tolist()


def test_no_models_make_an_empty_table():
    assert typical([]).empty


@pytest.mark.parametrize("model", [np.array(0.5), torch.tensor(0.5), 0.5, "Perceptron", None, Perceptron, [0.5]])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(DomainError, match="is no model; allowed are RandomFeatures, Perceptron, ") as caught:
        typical(model)
    assert "\n" not in str(caught.value)


def test_models_of_a_sequence_may_be_of_different_kinds():
    table: Any = typical([Perceptron(0.5), TeacherStudent(0.5)])
    assert table["entropy"].tolist() == [typical(Perceptron(0.5)).entropy, typical(TeacherStudent(0.5)).entropy]


@pytest.mark.parametrize(
    ("ask", "model", "message"),
    [
        (kappa_max, Spherical(0.5), "Spherical; allowed are RandomFeatures, Perceptron, TeacherStudent, TreeCommittee"),
        (kappa_max, SymmetricPerceptron(0.5), "SymmetricPerceptron; allowed are RandomFeatures, Perceptron, Te.*ittee"),
        (kappa_opt, Perceptron(energy=GibbsLoss(0.5)), "Perceptron; allowed are RandomFeatures"),
        (largest_load, Perceptron(energy=GibbsLoss(0.5)), "Perceptron with .*: take one that is 0 or infinite, or .*"),
        (typical_distance, TeacherStudent(0.5, energy=GibbsLoss(0.5)), ".* leave energy out and set margin"),
        (typical_distance, SquareWaveTeacher(0.5), "Squ.*er; allowed are Ran.*, Perceptron, Sy.*, Te.*Student, Tr.*"),
    ],
)
def test_a_refusal_names_the_kinds_that_have_an_answer(ask, model, message):
    with pytest.raises(DomainError, match=f"^{ask.__name__} is not computed for {message}$"):
        ask(model)


def test_a_refusal_names_each_kind_of_the_package_once_and_none_of_the_user():
    for _ in range(2):  # as if the cell of a notebook ran again

        @dataclass(frozen=True)
        class Own(Perceptron):
            pass

    assert typical(Own(0.5)).entropy == typical(Perceptron(0.5)).entropy
    with pytest.raises(DomainError) as caught:
        typical(3)
    names = str(caught.value).partition("allowed are ")[2].partition(", such as")[0].split(", ")
    assert len(set(names)) == len(names) and "Own" not in names and "Perceptron" in names


@pytest.mark.parametrize(("ask", "example"), [(capacity_rs, "Spherical"), (kappa_opt, "RandomFeatures")])
def test_the_example_of_a_refusal_has_an_answer(ask, example):
    with pytest.raises(DomainError, match=rf"3 is no model; allowed are {example}, such as {example}\(") as caught:
        ask(3)
    ask.check(eval(str(caught.value).partition("such as ")[2]))


def test_a_question_to_a_users_class_names_this_class():
    @dataclass(frozen=True)
    class Alone(Asked):
        alpha: float = 0.5

    @question(of=Alone)
    def doubled(model):
        return 2.0 * model.alpha

    assert doubled(Alone()) == 1.0
    with pytest.raises(DomainError, match=r"^doubled: 3 is no model; allowed are Alone, such as Alone$"):
        doubled(3)
