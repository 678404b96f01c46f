"""What the algorithms of the talk and their problems do with odd arguments: they refuse them in one line."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from localentropy.data.embedded import read_embedded
from localentropy.data.registry import DATA_DIR
from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import generalized_linear
from localentropy.instances.image_features import image_features
from localentropy.instances.linear_features import linear_problem
from localentropy.solvers.descent import Descent, descend_phase_retrieval
from localentropy.solvers.generalized_amp import generalized_amp
from localentropy.solvers.linear_student import train_linear_student
from tests.helpers import ODD_NUMBERS, ODD_WORDS

TRUE = linear_problem("nonlinear", 12, 3, 0, p=6)
SURROGATE = linear_problem("gaussian", 12, 3, 0, p=6)
IMAGES = read_embedded("mnist", DATA_DIR)
SIGNS, SQUARES = (generalized_linear(8, 4, 0, channel=channel) for channel in ("sign", "absolute"))
RULE = Descent(iterations=50)
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
    "teacher": (generalized_linear, {"n": 5, "d": 3, "seed": 0, "prior": "gaussian", "channel": "sign"}),
    "overlap": (SIGNS.overlap, {"weights": np.ones(4)}),
    "cosine": (SIGNS.cosine, {"weights": np.ones(4)}),
    "amp": (
        generalized_amp,
        {"instance": SIGNS, "seed": 0, "max_iterations": 5, "tolerance": 1e-6, "epsilon": 0.01},
    ),
    "descent": (
        descend_phase_retrieval,
        {
            "instances": [SQUARES, SQUARES],
            "units": 1,
            "seeds": [0, 1],
            "descent": RULE,
            "device": "cpu",
            "dtype": torch.float64,
        },
    ),
    "rule": (
        Descent,
        {"step": 0.1, "iterations": 5, "loss_tolerance": 1e-6, "speed_tolerance": 1e-6, "success_overlap": 0.9},
    ),
    "moments": (image_features(IMAGES, "random_features", 3, 0).moments, {"smallest": 1e-9}),
}
FINE = {
    ("descent", "nothing"), ("step", "huge"), ("loss_tolerance", "huge"), ("speed_tolerance", "huge"),
    ("tolerance", "huge"), ("seed", "negative"), ("seed", "huge integer"), ("p", "nothing"),
}  # fmt: skip
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


def test_numbers_of_numpy_work_as_those_of_python():
    same = [SQUARES, SQUARES]
    of_numpy: dict[str, Any] = {"units": np.int64(2), "seeds": np.array([0, 1])}
    run = descend_phase_retrieval(same, descent=RULE, **of_numpy)
    expected = descend_phase_retrieval(same, units=2, seeds=[0, 1], descent=RULE)
    assert [one.loss for one in run] == [one.loss for one in expected]
    assert Descent(step=Fraction(1, 2), iterations=np.int64(7)) == Descent(step=0.5, iterations=7)  # type: ignore[arg-type]
    means = generalized_amp(SIGNS, seed=np.int64(1), epsilon=Fraction(1, 4)).weights  # type: ignore[arg-type]
    assert np.array_equal(means, generalized_amp(SIGNS, seed=1, epsilon=0.25).weights)


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
