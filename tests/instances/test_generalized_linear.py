"""Generalized linear problems: their random numbers, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import generalized_linear
from localentropy.numerics.channels import Door, Linear, Relu
from localentropy.numerics.priors import GaussBernoulli, TwoGaussians


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


@pytest.mark.parametrize("channel", [Linear(0.3), Relu(), Door(0.67)], ids=str)
@pytest.mark.parametrize("prior", [GaussBernoulli(0.2), TwoGaussians(0.9)], ids=str)
def test_other_instances_are_as_they_say(prior, channel):
    instance = generalized_linear(3000, 1500, 1, prior=prior, channel=channel)
    assert (instance.prior, instance.channel) == (prior, channel)
    assert np.mean(instance.teacher**2) == pytest.approx(1.0, abs=5 * np.std(instance.teacher**2) / math.sqrt(1500))
    z = instance.inputs @ instance.teacher
    if channel == Linear(0.3):
        assert np.var(instance.labels - z) == pytest.approx(0.3, abs=5 * 0.3 * math.sqrt(2 / 3000))
    else:
        expected = np.maximum(z, 0) if channel == Relu() else np.where(np.abs(z) < 0.67, 1, -1)
        np.testing.assert_array_equal(instance.labels, expected)
    if prior == GaussBernoulli(0.2):
        assert np.mean(instance.teacher != 0) == pytest.approx(0.2, abs=5 * math.sqrt(0.2 * 0.8 / 1500))
    assert not np.array_equal(instance.teacher, generalized_linear(3000, 1500, 1, prior="gaussian").teacher)


SIGNS, ABSOLUTE = generalized_linear(6, 4, 0), generalized_linear(6, 4, 0, channel="absolute")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: replace(SIGNS, inputs=np.ones((6, 3))), r"teacher of shape \(4,\): allowed is \(3,\)"),
        (lambda: replace(SIGNS, labels=np.ones(5)), r"labels of shape \(5,\)"),
        (lambda: replace(SIGNS, inputs=np.ones((0, 4)), labels=np.ones(0)), r"inputs of shape \(0, 4\)"),
        (lambda: replace(SIGNS, inputs=np.full((6, 4), np.nan)), r"inputs\[0, 0\] = nan"),
        (lambda: replace(SIGNS, teacher=np.ones(4, bool)), "teacher: array of type bool given"),
        (lambda: replace(SIGNS, labels=np.full(6, 1e7)), r"labels\[0\] = 10000000.0: allowed are finite numbers"),
        (lambda: replace(SIGNS, labels=np.zeros(6)), "labels: allowed are 1 and -1"),
        (lambda: replace(SIGNS, labels=-SIGNS.labels), "labels: some are not those that the teacher gives"),
        (lambda: replace(ABSOLUTE, labels=-ABSOLUTE.labels), "labels: allowed are numbers that are not negative"),
        (lambda: replace(SIGNS, teacher=np.zeros(4)), "teacher: all its weights are zero"),
        (lambda: replace(SIGNS, prior="gauss"), "prior = 'gauss' is not known"),  # type: ignore[arg-type]
        (lambda: replace(SIGNS, channel="rely"), "channel = 'rely' is not known"),  # type: ignore[arg-type]
        (lambda: replace(SIGNS, channel=Door(0.5)), "labels: some are not those that the teacher gives"),
        (lambda: replace(SIGNS, channel=Relu()), "labels: allowed are numbers that are not negative"),
    ],
)
def test_refusals_in_one_line(call, words):
    with pytest.raises(DomainError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
