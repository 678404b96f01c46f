"""Questions to one model, to a sequence of models, and to what is none."""

from typing import Any

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.theory import Perceptron, TeacherStudent, franz_parisi, stability_density, thresholds, typical
from localentropy.theory import alpha_c as largest_load

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
