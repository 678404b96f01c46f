"""What a linear student and its problems do with odd arguments: they refuse them in one line that names them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from localentropy.data.embedded import read_embedded
from localentropy.data.registry import DATA_DIR
from localentropy.errors import DomainError
from localentropy.instances.image_features import image_features
from localentropy.instances.linear_features import linear_problem
from localentropy.solvers.linear_student import train_linear_student
from tests.helpers import ODD_NUMBERS, ODD_WORDS

TRUE = linear_problem("nonlinear", 12, 3, 0, p=6)
SURROGATE = linear_problem("gaussian", 12, 3, 0, p=6)
IMAGES = read_embedded("mnist", DATA_DIR)
TRAINING = {
    "inputs": SURROGATE.inputs, "labels": SURROGATE.labels, "loss": "hinge", "regularization": 0.1, "tolerance": 1e-6,
    "max_iterations": 10,
}  # fmt: skip
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "square": (train_linear_student, {**TRAINING, "loss": "square"}),
    "logistic": (train_linear_student, {**TRAINING, "loss": "logistic"}),
    "hinge": (train_linear_student, TRAINING),
    "problem": (linear_problem, {"features": "gaussian", "n": 5, "d": 3, "seed": 0, "p": 6, "activation": "erf"}),
    "independent": (linear_problem, {"features": "independent", "n": 5, "d": 3, "seed": 0}),
    "errors": (SURROGATE.errors, {"weights": np.ones((2, 6))}),
    "measured errors": (TRUE.errors, {"weights": np.ones((2, 6)), "test_samples": 10}),
    "images": (image_features, {"dataset": IMAGES, "kind": "pixels", "features": 5, "seed": 0}),
    "moments": (image_features(IMAGES, "random_features", 3, 0).moments, {"smallest": 1e-9}),
}
FINE = {("tolerance", "huge"), ("seed", "negative"), ("seed", "huge integer"), ("p", "nothing")}
ODD = [
    (call, argument, kind)
    for call, (_, arguments) in CALLS.items()
    for argument, value in arguments.items()
    for kind in (ODD_WORDS if isinstance(value, str) else ODD_NUMBERS)
    if (argument, kind) not in FINE
]


@pytest.mark.parametrize(("call", "argument", "kind"), ODD)
def test_odd_arguments_are_refused_in_one_line(call, argument, kind):
    function, arguments = CALLS[call]
    value = (ODD_WORDS if isinstance(arguments[argument], str) else ODD_NUMBERS)[kind]
    with pytest.raises(DomainError) as refused:
        function(**{**arguments, argument: value})
    message = str(refused.value)
    assert argument.removesuffix("s") in message
    assert "\n" not in message
    assert len(message) < 220


@pytest.mark.parametrize("loss", ["square", "logistic", "hinge"])
@pytest.mark.parametrize("size", [1e-60, 1e60])
@pytest.mark.parametrize("regularization", [1e-60, 1e60])
def test_nothing_overflows_in_silence(loss, size, regularization):
    with np.errstate(over="raise", invalid="raise"):
        student = train_linear_student(
            size * np.eye(4), np.ones(4), loss=loss, regularization=regularization, max_iterations=50
        )
    assert np.isfinite(student.weights).all()


@pytest.mark.parametrize("kind", [np.float32, np.int64, list, bool])
def test_labels_of_all_kinds(kind):
    inputs, labels = SURROGATE.inputs, SURROGATE.labels
    expected = train_linear_student(inputs, labels, loss="hinge", regularization=0.1).weights
    if kind is bool:
        with pytest.raises(DomainError, match=r"label = .* is not a number"):
            train_linear_student(inputs, labels > 0.0, loss="hinge", regularization=0.1)
        return
    given = labels.tolist() if kind is list else labels.astype(kind)
    assert np.array_equal(train_linear_student(inputs, given, loss="hinge", regularization=0.1).weights, expected)
