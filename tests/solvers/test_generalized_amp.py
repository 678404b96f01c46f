"""Generalized approximate message passing: a plain twin, the theory of its overlap, a posterior by sums, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import generalized_linear
from localentropy.instances.perceptron import random_patterns
from localentropy.replica import bayes
from localentropy.solvers.generalized_amp import generalized_amp
from tests.helpers import all_signs

MAKE: Any = generalized_linear  # wrong types on purpose
SOLVE: Any = generalized_amp
CASES = [(prior, channel) for prior in ("gaussian", "binary") for channel in ("sign", "absolute")]


def sign_step(y, omega, v):
    t = -y * omega / math.sqrt(v)
    g = y / math.sqrt(v) * np.exp(norm.logpdf(t) - log_ndtr(-t))
    return g, -g * (g + omega / v)


def absolute_step(y, omega, v):
    t = np.tanh(y * omega / v)
    return (y * t - omega) / v, (y**2 / v * (1 - t**2) - 1) / v


def plain(instance, a, updates):
    """The talk's form, with noise variance sigma and signal R of a weight."""
    X, y = instance.inputs, instance.labels
    n, d = X.shape
    v, g = 1.0, np.zeros(n)
    for _ in range(updates):
        omega = X @ a - v * g
        g, slope = (sign_step if instance.channel == "sign" else absolute_step)(y, omega, v)
        sigma = 1 / (n / d * -slope.mean())
        R = a + sigma * (X.T @ g)
        if instance.prior == "gaussian":
            a, v = R / (1 + sigma), sigma / (1 + sigma)
        else:
            a = np.tanh(R / sigma)
            v = 1 - np.mean(a**2)
    return a, v


@pytest.mark.parametrize(("prior", "channel"), CASES)
@pytest.mark.parametrize("updates", [1, 2, 7])
def test_updates_against_the_plain_form(prior, channel, updates, monkeypatch):
    instance = generalized_linear(400, 200, 1, prior=prior, channel=channel)
    first = np.random.default_rng(5).normal(size=200)

    class Stream:
        def standard_normal(self, size):
            assert size == first.shape
            return first

    monkeypatch.setattr("localentropy.solvers.generalized_amp.seeds.generator", lambda *_, **__: Stream())
    run = generalized_amp(instance, seed=0, max_iterations=updates, epsilon=0.3, tolerance=1e-300)
    means, variance = plain(instance, 0.3 * first, updates)
    np.testing.assert_allclose(run.weights, means, rtol=1e-7, atol=1e-9)
    assert run.variance == pytest.approx(variance, rel=1e-7, abs=1e-12)
    assert run.iterations == len(run.overlaps) == updates


def test_means_of_a_small_posterior():
    """All ±1 teachers that give the labels, counted."""
    students, gaps = all_signs(16, float), []
    for seed in range(30):
        instance = generalized_linear(8, 16, seed, prior="binary")
        allowed = students[np.all((students @ instance.inputs.T > 0) == (instance.labels > 0), axis=1)]
        gaps.append(generalized_amp(instance, seed=seed).weights - allowed.mean(0))
    spread = math.sqrt(np.mean(np.square(gaps)))
    assert spread < 0.1  # the means themselves are about 0.5


def agree(d, runs, prior, channel, alpha):
    """Overlap m with the teacher and q = m, against the theory: three standard errors and 2 %."""
    measured = []
    for seed in range(runs):
        instance = generalized_linear(round(alpha * d), d, seed, prior=prior, channel=channel)
        run = generalized_amp(instance, seed=seed)
        measured.append((instance.overlap(run.weights), run.overlaps[-1], instance.cosine(run.weights) ** 2))
    m, q, direction = np.array(measured).T
    theory = bayes.perceptron(alpha, prior) if channel == "sign" else bayes.phase_retrieval(alpha)
    for values, expected in ((m, theory.overlap), (direction, theory.overlap), (q - m, 0.0)):
        error = np.std(values, ddof=1) / math.sqrt(runs)
        assert abs(np.mean(values) - expected) < 3 * error + 0.02 * theory.overlap


@pytest.mark.parametrize(
    ("prior", "channel", "alpha"),
    [("gaussian", "sign", 0.5), ("gaussian", "sign", 3.0), ("binary", "sign", 0.8), ("gaussian", "absolute", 1.5)],
)
def test_overlap_against_theory(prior, channel, alpha):
    agree(400, 10, prior, channel, alpha)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "channel", "alpha"),
    [
        ("gaussian", "sign", 0.5),
        ("gaussian", "sign", 2.0),
        ("gaussian", "sign", 5.0),
        ("binary", "sign", 1.2),
        ("gaussian", "absolute", 0.95),
        ("gaussian", "absolute", 1.4),
    ],
)
def test_overlap_against_theory_with_many_weights(prior, channel, alpha):
    agree(2000, 8, prior, channel, alpha)


@pytest.mark.parametrize("prior", ["gaussian", "binary"])
def test_every_update_follows_state_evolution(prior):
    alpha, d, updates = 1.0, 1000, 8
    theory = bayes.state_evolution(alpha, updates, prior=prior)
    runs = np.array(
        [
            generalized_amp(generalized_linear(d, d, seed, prior=prior), seed=seed, max_iterations=updates).overlaps
            for seed in range(10)
        ]
    )
    error = np.std(runs, axis=0, ddof=1) / math.sqrt(len(runs))
    assert np.all(np.abs(runs.mean(0) - theory) < 3.5 * error + 0.01 * theory)


@pytest.mark.parametrize(("prior", "channel", "alpha"), [("binary", "sign", 2.0), ("gaussian", "absolute", 1.6)])
def test_recovery_of_the_teacher(prior, channel, alpha):
    for seed in range(6):
        instance = generalized_linear(round(alpha * 500), 500, seed, prior=prior, channel=channel)
        run = generalized_amp(instance, seed=seed)
        assert instance.cosine(run.weights) > 0.999
        assert np.isfinite(run.weights).all()


def test_no_recovery_without_labels_enough():
    for seed in range(4):
        instance = generalized_linear(150, 500, seed, channel="absolute")
        run = generalized_amp(instance, seed=seed)
        assert instance.overlap(run.weights) < 0.1
        assert run.variance > 0.5


def test_the_sign_that_absolute_values_do_not_tell():
    instance = generalized_linear(10, 20, 0, channel="absolute")
    assert instance.overlap(-instance.teacher) == instance.overlap(instance.teacher) > 0
    assert instance.cosine(-2 * instance.teacher) == pytest.approx(1.0)
    signs = generalized_linear(10, 20, 0)
    assert np.array_equal(signs.inputs, instance.inputs)
    assert signs.cosine(-signs.teacher) == pytest.approx(-1.0)
    assert signs.cosine(np.zeros(20)) == 0.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: MAKE(0, 5, 0), "n = 0 is out of range"),
        (lambda: MAKE(5, 2.5, 0), "d = 2.5 is not an integer"),
        (lambda: MAKE(5, 5, None), "seed = None is not an integer"),
        (lambda: MAKE(5, 5, 0, prior="gausian"), "nearest is 'gaussian'"),
        (lambda: MAKE(5, 5, 0, channel="abs"), "nearest is 'absolute'"),
        (lambda: MAKE(5, 5, 0).overlap(np.ones(4)), "weights of shape"),
        (lambda: SOLVE(random_patterns(11, 5, 0), seed=0), "instance = Instance object"),
        (lambda: SOLVE(MAKE(5, 5, 0), seed=0.5), "seed = 0.5 is not an integer"),
        (lambda: SOLVE(MAKE(5, 5, 0), seed=0, tolerance=0), "tolerance = 0 is out of range"),
        (lambda: SOLVE(MAKE(5, 5, 0), seed=0, max_iterations=0), "max_iterations = 0"),
        (lambda: SOLVE(MAKE(5, 5, 0), seed=0, epsilon=-1), "epsilon = -1 is out of range"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words) as refused:
        call()
    assert "\n" not in str(refused.value)
