"""What the theory of the talk does with odd arguments: it refuses them in one line that names them, or works."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.replica import bayes, erm, gaussian_covariate, gibbs, hidden_manifold
from tests.helpers import ODD_NUMBERS, ODD_WORDS

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "perceptron": (bayes.perceptron, {"alpha": 1.0, "prior": "binary", "start": "informed"}),
    "phase_retrieval": (bayes.phase_retrieval, {"alpha": 0.8, "start": "informed"}),
    "state_evolution": (
        bayes.state_evolution,
        {"alpha": 0.8, "updates": 3, "overlap": 0.1, "prior": "gaussian", "channel": "absolute"},
    ),
    "free_entropy": (bayes.free_entropy, {"overlap": 0.1, "alpha": 0.8, "prior": "binary", "channel": "sign"}),
    "committee_2": (bayes.committee, {"alpha": 1.0, "units": 2, "start": "informed"}),
    "committee_large": (bayes.committee, {"alpha": 1.0, "units": math.inf, "start": "informed"}),
    "transitions": (bayes.transitions, {"model": "phase_retrieval"}),
    "gibbs.learning": (gibbs.learning, {"alpha": 1.0, "temperature": 0.5}),
    "gibbs.spinodal": (gibbs.spinodal, {"temperature": 0.5}),
    "gibbs.zero_entropy": (gibbs.zero_entropy, {"temperature": 0.5}),
    "gibbs.equilibrium": (gibbs.equilibrium, {"temperature": 0.5}),
    "erm.fit": (erm.fit, {"alpha": 1.0, "loss": "hinge", "regularization": 0.1}),
    "erm.optimal_regularization": (erm.optimal_regularization, {"alpha": 1.0, "loss": "square"}),
    "hidden_manifold.fit": (
        hidden_manifold.fit,
        {
            "samples_per_feature": 1.0, "inputs_per_feature": 0.1, "loss": "square", "regularization": 0.1,
            "activation": "erf",
        },
    ),
    "hidden_manifold.optimal_regularization": (
        hidden_manifold.optimal_regularization,
        {"samples_per_feature": 1.0, "inputs_per_feature": 0.1, "loss": "square", "activation": "erf"},
    ),
    "ridge": (
        gaussian_covariate.ridge,
        {
            "eigenvalues": [1.0, 2.0], "coefficients": [0.1, 0.2], "variance": 1.0, "samples": 5.0,
            "regularization": 0.1, "images": 9.0,
        },
    ),
}  # fmt: skip
ODD = [
    (call, argument, kind)
    for call, (_, arguments) in CALLS.items()
    for argument, value in arguments.items()
    for kind in (ODD_WORDS if isinstance(value, str) else ODD_NUMBERS)
    if (argument, kind) != ("images", "nothing")
]


def odd(call, argument, kind):
    function, arguments = CALLS[call]
    value = (ODD_WORDS if isinstance(arguments[argument], str) else ODD_NUMBERS)[kind]
    return function(**{**arguments, argument: value})


@pytest.mark.parametrize(("call", "argument", "kind"), ODD)
def test_odd_arguments_are_refused_in_one_line(call, argument, kind):
    with pytest.raises(DomainError) as refused:
        odd(call, argument, kind)
    message = str(refused.value)
    assert argument.removesuffix("s") in message
    assert "\n" not in message
    assert len(message) < 220


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.array, Fraction, torch.tensor])
def test_numbers_of_all_kinds_give_the_same(call, kind):
    function, arguments = CALLS[call]
    eighths = {name: 0.125 for name, value in arguments.items() if isinstance(value, float) and math.isfinite(value)}
    whole = {"samples", "images"} & set(arguments)
    plain = {**arguments, **eighths, **dict.fromkeys(whole, 16.0)}
    wrapped = {
        name: kind(value) if isinstance(value, float) and value < 1e9 else value for name, value in plain.items()
    }
    expected, found = function(**plain), function(**wrapped)
    if isinstance(expected, np.ndarray):
        assert found.tolist() == expected.tolist()
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"eigenvalues": [1.0, 0.0]}, "coefficient = 0.2 belongs to an eigenvalue that is 0"),
        ({"eigenvalues": [1e300, 1.0]}, "eigenvalue = 1e.300 is outside"),
        ({"eigenvalues": [1e-300, 1e-300]}, "the largest must be at least"),
        ({"eigenvalues": {1.0, 2.0}}, "a set given"),
        ({"coefficients": [1e200, 1.0]}, "coefficient = 1e.200 is outside"),
        ({"regularization": 5e-324}, "regularization = 4.9.*e-324 is out of range"),
        ({"images": 2}, "images = 2 is out of range: allowed are .3, 1e.12."),
    ],
)
def test_magnitudes_of_ridge_regression(changes, words):
    function, arguments = CALLS["ridge"]
    with pytest.raises(DomainError, match=words):
        function(**{**arguments, **changes})


def test_many_updates_are_refused():
    with pytest.raises(DomainError, match="allowed are integers from 1 to 100000"):
        bayes.state_evolution(1.0, 10**30)
