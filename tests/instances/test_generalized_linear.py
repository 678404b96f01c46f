"""Generalized linear problems: their random numbers, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import generalized_linear


@pytest.mark.parametrize("channel", ["sign", "absolute"])
@pytest.mark.parametrize("prior", ["gaussian", "binary"])
def test_instances_are_as_they_say(prior, channel):
    instance = generalized_linear(800, 400, 1, prior=prior, channel=channel)
    assert (instance.n, instance.d) == (800, 400)
    assert 400 * np.var(instance.inputs) == pytest.approx(1.0, abs=5 * math.sqrt(2 / 320_000))
    assert np.mean(instance.teacher) == pytest.approx(0.0, abs=5 / math.sqrt(400))
    z = instance.inputs @ instance.teacher
    np.testing.assert_array_equal(instance.labels, np.sign(z) if channel == "sign" else np.abs(z))
    if prior == "binary":
        np.testing.assert_array_equal(np.abs(instance.teacher), 1.0)
    else:
        assert np.mean(instance.teacher**2) == pytest.approx(1.0, abs=5 * math.sqrt(2 / 400))
        assert len(np.unique(instance.teacher)) == 400
    again, other = (generalized_linear(800, 400, seed, prior=prior, channel=channel) for seed in (1, 2))
    np.testing.assert_array_equal(again.inputs, instance.inputs)
    assert not np.array_equal(other.inputs, instance.inputs)


SIGNS, ABSOLUTE = generalized_linear(6, 4, 0), generalized_linear(6, 4, 0, channel="absolute")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: replace(SIGNS, inputs=np.ones((6, 3))), r"teacher of shape \(4,\): allowed is \(3,\)"),
        (lambda: replace(SIGNS, labels=np.ones(5)), r"labels of shape \(5,\)"),
        (lambda: replace(SIGNS, inputs=np.ones((0, 4)), labels=np.ones(0)), r"inputs of shape \(0, 4\)"),
        (lambda: replace(SIGNS, inputs=np.full((6, 4), np.nan)), "inputs: nan is among them"),
        (lambda: replace(SIGNS, teacher=np.ones(4, int)), "teacher of type int64: allowed is float64"),
        (lambda: replace(SIGNS, labels=np.ones(6, int)), "labels of type int64: allowed is float64"),
        (lambda: replace(SIGNS, labels=np.zeros(6)), "labels: allowed are 1 and -1"),
        (lambda: replace(SIGNS, labels=-SIGNS.labels), "labels: some are not those that the teacher gives"),
        (lambda: replace(ABSOLUTE, labels=-ABSOLUTE.labels), "labels: allowed are numbers that are not negative"),
        (lambda: replace(SIGNS, teacher=np.zeros(4)), "teacher: all its weights are zero"),
        (lambda: replace(SIGNS, prior="gauss"), "prior = 'gauss' is not known"),
        (lambda: replace(SIGNS, channel="relu"), "channel = 'relu' is not known"),
    ],
)
def test_refusals_in_one_line(call, words):
    with pytest.raises(DomainError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
