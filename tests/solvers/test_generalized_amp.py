"""Generalized approximate message passing: plain twins, the theory of overlap and free entropy, posteriors by sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import GeneralizedLinear, generalized_linear
from localentropy.instances.perceptron import Instance, random_patterns
from localentropy.numerics.channels import Door, Linear, Relu, Sign
from localentropy.numerics.priors import PRIORS, GaussBernoulli, TwoGaussians
from localentropy.solvers import amp_kernels
from localentropy.solvers.amp import amp
from localentropy.solvers.generalized_amp import ChannelInputs, IndependentInputs, MessagePassing, generalized_amp
from localentropy.theory import bayes
from tests.enumeration import all_signs

MAKE: Any = generalized_linear  # wrong types on purpose
SOLVE: Any = generalized_amp
CASES = [(prior, channel) for prior in ("gaussian", "binary") for channel in ("sign", "absolute")]


def sign_step(y, omega, v, threshold=0.0):
    t = (threshold - y * omega) / math.sqrt(v)
    g = y / math.sqrt(v) * np.exp(norm.logpdf(t) - log_ndtr(-t))
    return g, -g * (g - y * t / math.sqrt(v))


def absolute_step(y, omega, v):
    t = np.tanh(y * omega / v)
    return (y * t - omega) / v, (y**2 / v * (1 - t**2) - 1) / v


def log_probability(absolute, y, threshold, omega, v):
    if absolute:
        return np.logaddexp(norm.logpdf(y, omega, math.sqrt(v)), norm.logpdf(-y, omega, math.sqrt(v))).sum()
    return log_ndtr((y * omega - threshold) / math.sqrt(v)).sum()


@pytest.mark.parametrize("absolute", [False, True])
def test_kernels_against_matrix_products(absolute):
    rng = np.random.default_rng(0)
    X, a, g = rng.normal(size=(40, 101)).astype(np.float32), rng.uniform(-0.9, 0.9, 101), rng.uniform(0, 0.1, 40)
    y, threshold, v = rng.choice([-1.0, 1.0], 40), 3.0, 60.0
    if absolute:
        y, threshold = rng.uniform(0, 20, 40), 0.0
    omega = X @ a - v * g
    expected, slope = absolute_step(y, omega, v) if absolute else sign_step(y, omega, v, threshold)
    new, incoming = g.copy(), np.empty(101)
    steepness = amp_kernels.amp_update(absolute, X, y, threshold, v, a, new, incoming)
    np.testing.assert_allclose(new, expected, rtol=1e-11)
    np.testing.assert_allclose(incoming, expected @ X, rtol=1e-10)
    assert steepness == pytest.approx(-slope.sum(), rel=1e-11)
    logs = amp_kernels.log_probability(absolute, y, threshold, omega, v)
    assert logs == pytest.approx(log_probability(absolute, y, threshold, omega, v), rel=1e-12)


@pytest.mark.parametrize("absolute", [False, True])
def test_channels_far_from_their_labels(absolute):
    omega = np.linspace(-36, 36, 1001)
    y = np.full_like(omega, 2.5) if absolute else np.where(np.arange(1001) % 2, 1.0, -1.0)
    expected, slope = absolute_step(y, omega, 1.0) if absolute else sign_step(y, omega, 1.0)
    g, steep = np.empty_like(omega), np.empty_like(omega)
    amp_kernels.channel_means(absolute, y, 0.0, omega, 1.0, g, steep)
    np.testing.assert_allclose(g, expected, rtol=3e-13, atol=1e-14)
    np.testing.assert_allclose(steep, -slope, rtol=1e-9, atol=1e-14)
    logs = amp_kernels.log_probability(absolute, y, 0.0, omega, 1.0)
    assert logs == pytest.approx(log_probability(absolute, y, 0.0, omega, 1.0), rel=1e-13)


def test_channels_are_derivatives_of_the_probability():
    step = 1e-4
    for absolute, y in ((False, -1.0), (True, 1.3)):
        for omega in (-1.7, -0.2, 0.9):
            label, g, slope = np.array([y]), np.empty(1), np.empty(1)
            amp_kernels.channel_means(absolute, label, 0.3, np.array([omega]), 0.7, g, slope)
            below, here, above = (
                amp_kernels.log_probability(absolute, label, 0.3, np.array([omega + shift]), 0.7)
                for shift in (-step, 0.0, step)
            )
            assert g[0] == pytest.approx((above - below) / (2 * step), rel=1e-6)
            assert slope[0] == pytest.approx((2 * here - above - below) / step**2, rel=1e-5)


def plain(instance, field, updates):
    """The talk's form, with noise variance sigma and signal R of a weight."""
    X, y = instance.inputs.astype(np.float32).astype(np.float64), instance.labels
    n, d = X.shape
    a, v, g = field, 1.0, np.zeros(n)
    if instance.prior == PRIORS["binary"]:
        a = np.tanh(field)
        v = 1 - np.mean(a**2)
    for _ in range(updates):
        omega = X @ a - v * g
        g, slope = (sign_step if instance.channel == Sign() else absolute_step)(y, omega, v)
        sigma = 1 / (n / d * -slope.mean())
        R = a + sigma * (X.T @ g)
        if instance.prior == PRIORS["gaussian"]:
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
    assert run.variance == pytest.approx(max(variance, 1e-10), rel=1e-7, abs=1e-12)
    assert run.iterations == len(run.overlaps) == updates


@pytest.mark.parametrize(("prior", "channel"), CASES)
def test_compiled_channels_against_matrix_products(prior, channel):
    """The same run through `ChannelInputs`, whose inputs are not rounded to single precision."""
    instance = generalized_linear(400, 200, 1, prior=prior, channel=channel)
    problem = (instance.inputs.astype(np.float32).astype(float), instance.labels, 1.0 / 200)
    runs = []
    for inputs in (IndependentInputs(instance.channel, *problem), ChannelInputs(instance.channel, *problem)):  # type: ignore[arg-type]
        field = 0.3 * np.random.default_rng(5).normal(size=200)
        passing = MessagePassing(inputs, instance.prior, field, damping=0.0, adaptive=False)
        assert len(list(passing.updates(6, 1e-300))) == 6
        runs.append(passing)
    compiled, products = runs
    np.testing.assert_allclose(products.means, compiled.means, rtol=1e-7, atol=1e-9)
    assert products.free_entropy() == pytest.approx(compiled.free_entropy(), rel=1e-8)


@pytest.mark.parametrize("channel", [Linear(0.1), Relu(), Door(0.67)], ids=str)
@pytest.mark.parametrize("prior", [GaussBernoulli(0.3), TwoGaussians(0.9)], ids=str)
def test_updates_of_other_pairs_one_number_at_a_time(prior, channel):
    """Sums over inputs and labels in plain loops, with derivatives of the log of the probability by differences."""
    n, d, step = 30, 20, 1e-5
    instance = generalized_linear(n, d, 3, prior=prior, channel=channel)
    field = 0.3 * np.random.default_rng(5).normal(size=d)
    passing = MessagePassing(ChannelInputs(channel, instance.inputs, instance.labels, 1 / d), prior, field, 0.0, False)

    def weight(b, precision):
        """Mean and variance of a weight on a grid of its values in noise: the prior's density is not used."""
        logs = [float(prior.log_normalization(np.array(b + k * 1e-3), np.array(precision))) for k in (-1, 0, 1)]
        return (logs[2] - logs[0]) / 2e-3, (logs[2] - 2 * logs[1] + logs[0]) / 1e-6

    def label(y, omega, V):
        logs = [float(channel.log_probability(np.array([y]), np.array([omega + k * step]), V)[0]) for k in (-1, 0, 1)]
        return (logs[2] - logs[0]) / (2 * step), -(logs[2] - 2 * logs[1] + logs[0]) / step**2

    a, V = zip(*(weight(b, 0.0) for b in field), strict=True)
    g: tuple[float, ...] = (0.0,) * n
    for _ in passing.updates(3, 1e-300):
        spread = sum(V) / d
        omega = [sum(instance.inputs[mu, i] * a[i] for i in range(d)) - spread * g[mu] for mu in range(n)]
        g, slopes = zip(*(label(y, o, spread) for y, o in zip(instance.labels, omega, strict=True)), strict=True)
        precision = max(sum(slopes) / d, 0.0)
        fields = [sum(instance.inputs[mu, i] * g[mu] for mu in range(n)) + precision * a[i] for i in range(d)]
        a, V = zip(*(weight(b, precision) for b in fields), strict=True)
        np.testing.assert_allclose(passing.means, a, rtol=2e-3, atol=2e-4)
        assert passing.variance[0] == pytest.approx(sum(V) / d, rel=2e-3)


def test_the_binary_perceptron_is_a_case():
    """Inputs of a ±1 teacher, as patterns ±2 (an even number of ±1 is refused) and as inputs of mean square 1/d."""
    d, n = 256, 200
    rng = np.random.default_rng(3)
    patterns, teacher = rng.choice(np.array([-1, 1], np.float32), (n, d)), rng.choice([-1.0, 1.0], d)
    labels = np.where(patterns @ teacher >= 0, 1, -1)
    stored = amp(Instance(2 * patterns, labels.astype(np.int8), 0), seed=0, tolerance=1e-12)
    problem = GeneralizedLinear(patterns.astype(float) / 16.0, labels.astype(float), teacher, "binary", "sign", 0)  # type: ignore[arg-type]
    learned = generalized_amp(problem, seed=1, tolerance=1e-12)
    assert stored.converged
    assert learned.converged
    assert stored.magnetizations is not None
    np.testing.assert_allclose(learned.weights, stored.magnetizations, atol=1e-11)
    assert learned.free_entropy + math.log(2) == pytest.approx(stored.entropy, abs=1e-14)
    assert 0.1 < learned.overlaps[-1] < 0.9


@pytest.mark.parametrize("prior", ["gaussian", "binary"])
@pytest.mark.parametrize("adaptive", [False, True])
def test_damping_does_not_move_the_fixed_point(prior, adaptive):
    instance = generalized_linear(240, 300, 2, prior=prior)
    free = generalized_amp(instance, seed=0, tolerance=1e-12)
    inputs = IndependentInputs(Sign(), instance.inputs, instance.labels, 1.0 / 300)
    damped = MessagePassing(inputs, PRIORS[prior], np.full(300, 0.1), 0.4, adaptive)
    updates = len(list(damped.updates(1000, 1e-12)))
    assert free.converged
    assert damped.residual < 1e-12
    assert free.iterations != updates < 1000
    np.testing.assert_allclose(damped.means, free.weights, atol=1e-10)
    assert damped.variance[0] == pytest.approx(free.variance, rel=1e-10)
    assert damped.free_entropy() == pytest.approx(free.free_entropy, abs=1e-12)


def test_means_and_free_entropy_of_a_small_posterior():
    """All ±1 teachers that give the labels, counted."""
    students, gaps, counted, entropies = all_signs(16, float), [], [], []
    for seed in range(30):
        instance = generalized_linear(8, 16, seed, prior="binary")
        allowed = students[np.all((students @ instance.inputs.T > 0) == (instance.labels > 0), axis=1)]
        run = generalized_amp(instance, seed=seed)
        gaps.append(run.weights - allowed.mean(0))
        counted.append(math.log(len(allowed) / len(students)) / 16)
        entropies.append(run.free_entropy)
    spread = math.sqrt(np.mean(np.square(gaps)))
    assert spread < 0.1  # the means themselves are about 0.5
    # Much closer to the count of its own instance than instances are to each other.
    assert np.mean(np.subtract(entropies, counted) ** 2) < 0.25 * np.var(counted)


def agree(d, runs, prior, channel, alpha):
    """Overlap m with the teacher, q = m and the free entropy, against the theory: three standard errors and 2 %."""
    measured = []
    for seed in range(runs):
        instance = generalized_linear(round(alpha * d), d, seed, prior=prior, channel=channel)
        run = generalized_amp(instance, seed=seed)
        m, direction = instance.overlap(run.weights), instance.cosine(run.weights) ** 2
        measured.append((m, run.overlaps[-1], direction, run.free_entropy))
    m, q, direction, free_entropy = np.array(measured).T
    theory = bayes.learning(alpha, prior, channel)
    for values, expected in ((m, theory.overlap), (direction, theory.overlap), (q - m, 0.0)):
        error = np.std(values, ddof=1) / math.sqrt(runs)
        assert abs(np.mean(values) - expected) < 3 * error + 0.02 * theory.overlap
    settled = free_entropy[np.isfinite(free_entropy)]
    if math.isfinite(theory.free_entropy):
        assert len(settled) > runs / 2
        error = np.std(settled, ddof=1) / math.sqrt(len(settled))
        assert abs(np.mean(settled) - theory.free_entropy) < 3 * error + 0.02 * abs(theory.free_entropy)
    else:
        assert len(settled) == 0


@pytest.mark.parametrize(
    ("prior", "channel", "alpha"),
    [("gaussian", "sign", 0.5), ("gaussian", "sign", 3.0), ("binary", "sign", 0.8), ("gaussian", "absolute", 1.5)],
)
def test_overlap_against_theory(prior, channel, alpha):
    agree(400, 10, prior, channel, alpha)


@pytest.mark.parametrize(
    ("prior", "channel", "alpha"),
    [
        (GaussBernoulli(0.3), "sign", 2.0),
        (GaussBernoulli(0.3), Linear(0.05), 0.8),
        (GaussBernoulli(0.3), "relu", 1.2),
        (TwoGaussians(0.9), "sign", 1.5),
        (TwoGaussians(0.9), "relu", 1.0),
        ("gaussian", Linear(0.2), 1.0),
        ("gaussian", "relu", 1.0),
        ("gaussian", Door(0.67), 3.0),
        ("binary", Linear(0.2), 0.6),
        ("binary", "relu", 0.4),
    ],
    ids=str,
)
def test_other_pairs_against_theory(prior, channel, alpha):
    agree(500, 12, prior, channel, alpha)


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
