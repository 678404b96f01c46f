"""Focusing belief propagation on committee machines: its kernels against slow twins, and what it finds."""

import math
import sys

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.instances.committee import random_full_committee, random_tree_committee, tree_committee
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.focusing_kernels import (
    majority,
    returned_precision,
    update_patterns,
    update_weights,
)
from localentropy.solvers.committee.messages import Messages
from tests.enumeration import all_signs, probability_of_majority
from tests.finite_differences import five_point_curvature, five_point_slope, five_points


def probability_of_a_tie(plus):
    """P(exactly half of the units +), over all their votes."""
    votes = all_signs(len(plus))
    return np.where(votes[votes.sum(1) == 0] > 0, plus, 1 - plus).prod(1).sum()


@pytest.mark.parametrize("K", [1, 3, 5, 9])
def test_majority_node_is_the_enumeration(K):
    random = np.random.default_rng(K)
    plus = random.random((K, 4))
    plus[:, 1] = random.choice([1e-12, 1e-3, 0.5, 1 - 1e-9], K)
    plus[:, 2] = 1e-20
    work = np.full((2, K + 1, K + 1, 4), np.nan)
    decisive, total = np.empty((K, 4)), np.empty(4)
    majority(plus, 1 - plus, *work, decisive, total)
    for pattern in range(4):
        assert total[pattern] == pytest.approx(probability_of_majority(plus[:, pattern]), rel=1e-13)
        ties = [probability_of_a_tie(np.delete(plus[:, pattern], unit)) for unit in range(K)]
        np.testing.assert_allclose(decisive[:, pattern], ties, rtol=1e-13)


def log_z(omega, variances):
    return math.log(probability_of_majority(norm.cdf(omega / np.sqrt(variances))))


def twin(patterns, means, variances, damping, slopes, curvatures):
    """Steps 1–3, pattern by pattern; g and Γ by finite differences of ln Z."""
    K, size = means.shape
    blocks = patterns.reshape(-1, K, size) / math.sqrt(size)
    slopes, curvatures = slopes.copy(), curvatures.copy()
    step = 1e-3
    for block, g, gamma in zip(blocks, slopes, curvatures, strict=True):
        omega = (block * means).sum(1) - variances * g
        for unit in range(K):
            values = [log_z(place, variances) for place in five_points(omega, step, unit)]
            first, second = five_point_slope(values, step), five_point_curvature(values, log_z(omega, variances), step)
            g[unit] = damping * g[unit] + (1 - damping) * first
            gamma[unit] = damping * gamma[unit] - (1 - damping) * second
    precisions = curvatures.sum(0) / size
    fields = np.einsum("mki,mk->ki", blocks, slopes) + precisions[:, None] * means
    return slopes, curvatures, fields, precisions


def test_what_patterns_answer_is_the_derivative_of_the_probability_of_success():
    K, size, P = 3, 6, 37  # more than one block of patterns, the last one not full
    instance = random_tree_committee(N=K * size, P=P, K=K, seed=0)
    random = np.random.default_rng(1)
    means, variances = 0.5 * random.standard_normal((K, size)), random.uniform(0.3, 0.9, K)
    slopes, curvatures = random.random((P, K)), random.random((P, K))
    damping = 0.3
    expected = twin(instance.data.signed_patterns, means, variances, damping, slopes, curvatures)
    fields, precisions = np.empty((K, size)), np.empty(K)
    update_patterns(
        instance.data.signed_patterns, means, variances, damping, 25.0, slopes, curvatures, fields, precisions
    )
    for found, wanted in zip((slopes, curvatures, fields, precisions), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-8)


def test_a_fully_connected_machine_is_a_tree_whose_units_see_the_same():
    K, size, P = 3, 7, 37
    random = np.random.default_rng(1)
    patterns = random.choice([-1, 1], (P, size)).astype(np.int8)
    means, variances = random.standard_normal((K, size)), random.uniform(0.3, 0.9, K)
    found = []
    for seen in (patterns, np.tile(patterns, (1, K))):
        slopes, curvatures = np.full((P, K), 0.1), np.full((P, K), 0.2)
        fields, precisions = np.empty((K, size)), np.empty(K)
        part = update_patterns(seen, means, variances, 0.3, 25.0, slopes, curvatures, fields, precisions)
        found.append((part, slopes, curvatures, fields, precisions))
    for full, tree in zip(*found, strict=True):
        np.testing.assert_allclose(full, tree, rtol=1e-12)


def test_hopeless_patterns_leave_numbers():
    """Every unit far on the wrong side: probabilities that would underflow."""
    K, size = 21, 5
    patterns = np.full((3, K * size), -1, np.int8)
    slopes, curvatures = np.zeros((3, K)), np.zeros((3, K))
    fields, precisions = np.empty((K, size)), np.empty(K)
    steepest = math.sqrt(2600 / (K + 1))
    update_patterns(
        patterns, np.ones((K, size)), np.full(K, 1e-3), 0.0, steepest, slopes, curvatures, fields, precisions
    )
    assert np.isfinite(slopes).all() and (slopes > 0).all() and np.isfinite(fields).all()


def test_the_message_of_the_centre_is_a_product_of_gaussians():
    x, coupling, replicas = 1.7, 3.0, 10
    w = np.linspace(-12, 12, 4001)
    log_one = -0.5 * w**2 / (1 / x + 1 / coupling)  # a replica's Gaussian through one spring
    at_centre = np.exp((replicas - 1) * log_one)
    variance = np.average(w**2, weights=at_centre) + 1 / coupling  # and back through another
    assert returned_precision(x, coupling, replicas) == pytest.approx(1 / variance, rel=1e-10)


@pytest.mark.parametrize("coupling", [1e-9, 0.5, 30.0, 1e9])
def test_weights_have_the_norm_and_the_means_of_the_unconstrained_precision(coupling):
    fields = np.random.default_rng(0).standard_normal((3, 50)) * [[0.3], [1.0], [4.0]]
    means, variances = np.zeros((3, 50)), np.ones(3)
    change = update_weights(fields, coupling, 10.0, 0.0, means, variances)
    np.testing.assert_allclose((means**2).mean(1) + variances, 1.0, atol=1e-12)
    assert change == pytest.approx(np.abs(means).max())
    for field, mean, variance in zip(fields, means, variances, strict=True):
        square = np.mean(field**2)
        x = brentq(
            lambda x, square=square: square / x**2 + 1 / (x + returned_precision(x, coupling, 10.0)) - 1,
            1e-6,
            100.0,
            xtol=1e-13,
        )
        np.testing.assert_allclose(mean, field / x, rtol=1e-9)
        assert variance == pytest.approx(1 / (x + returned_precision(x, coupling, 10.0)), rel=1e-9)
        if coupling == 1e-9:  # no coupling: the closed form of the free volume
            assert x == pytest.approx((1 + math.sqrt(1 + 4 * square)) / 2, rel=1e-7)


def test_without_coupling_the_overlap_is_gardners():
    """Overlap of typical solutions of K = 3 on random patterns, replica theory: 0.389 at α = 1, 0.539 at 1.5."""
    for alpha, q in ((1.0, 0.389), (1.5, 0.539)):
        instance = random_tree_committee(N=1998, P=round(alpha * 1998), K=3, seed=0)
        run = committee_focusing_bp(instance, coupling_start=1e-9, coupling_end=1e-9, steps=1, tolerance=1e-4)
        assert run.steps.residual[0] <= 1e-4
        assert run.steps.overlap[0] == pytest.approx(q, abs=0.02)


@pytest.fixture(scope="module")
def random_run():
    instance = random_tree_committee(N=999, P=1000, K=9, seed=0)
    return instance, committee_focusing_bp(instance)


def test_stores_random_patterns_from_a_coupling_of_about_four(random_run):
    instance, run = random_run
    assert run.solved and run.train_errors[-1] == 0
    assert instance.train_error(run.weights) == 0
    np.testing.assert_allclose(np.linalg.norm(run.weights, axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(run.steps.coupling, 0.5 * 60 ** (np.arange(30) / 29))
    first = run.steps.coupling[np.flatnonzero(run.steps.train_error == 0)[0]]
    assert 2 < first < 8
    assert run.iterations == run.steps.iterations.sum() and len(run.train_errors) == 31
    assert (np.diff(run.steps.overlap) > 0).all() and run.steps.overlap[-1] > 0.9


def test_no_bit_is_random(random_run):
    instance, run = random_run
    again = committee_focusing_bp(instance)
    np.testing.assert_array_equal(again.weights, run.weights)


def test_stopping_at_the_first_solution_gives_the_beginning_of_the_full_run(random_run):
    instance, run = random_run
    first = committee_focusing_bp(instance, stop="first")
    made = len(first.steps.coupling)
    assert first.solved and made < 30
    np.testing.assert_array_equal(first.steps.train_error, run.steps.train_error[:made])
    assert (first.steps.train_error[:-1] > 0).all()


def test_solves_correlated_features():
    for seed in range(3):
        instance = tree_committee(D=60, P=300, N=225, K=9, seed=seed)
        run = committee_focusing_bp(instance, stop="first")
        assert run.solved and instance.train_error(run.weights) == 0
        assert instance.test_error(run.weights, 3000) < 0.4


@pytest.mark.parametrize("stop", ["end", "first"])
def test_beyond_capacity_nothing_is_claimed(stop):
    instance = random_tree_committee(N=45, P=400, K=9, seed=0)
    run = committee_focusing_bp(instance, steps=8, max_iterations=30, stop=stop)
    assert not run.solved and len(run.steps.coupling) == 8
    errors = run.steps.train_error
    assert errors.min() < errors[-1]
    assert instance.train_error(run.weights) == (errors[-1] if stop == "end" else errors.min()) > 0


@pytest.mark.parametrize("seed", [0, 1])
def test_a_step_that_diverges_is_made_again_with_more_damping(seed):
    instance = tree_committee(D=60, P=300, N=225, K=9, seed=seed)
    run = committee_focusing_bp(instance, damping=0.0, max_iterations=50, steps=10)
    assert set(run.steps.damping) == {0.8}  # without damping no step comes to rest, and some overflow
    assert np.isfinite(run.weights).all() and np.isfinite(run.steps.residual).all()
    assert run.solved


def test_a_step_whose_first_update_overflows_is_made_again_too(monkeypatch):
    def overflows_undamped(fields, coupling, replicas, damping, means, variances):
        return update_weights(fields, coupling, replicas, damping, means, variances) if damping else math.inf

    monkeypatch.setattr(sys.modules["localentropy.solvers.committee.focusing_bp"], "update_weights", overflows_undamped)
    run = committee_focusing_bp(random_tree_committee(N=99, P=30, K=9, seed=0), damping=0.0, steps=3)
    assert run.steps.damping.tolist() == [0.8] * 3
    assert np.isfinite(run.steps.residual).all() and (run.steps.iterations > 1).all()


def test_overflow_is_noticed():
    means, variances = np.zeros((1, 2)), np.ones(1)
    for field in (np.nan, np.inf, 1e200):
        assert update_weights(np.array([[1.0, field]]), 1.0, 10.0, 0.5, means, variances) == math.inf
    assert (means == 0).all() and (variances == 1).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"replicas": 1.0}, "replicas = 1 is out of range"),
        ({"damping": 1.0}, "damping = 1 is out of range"),
        ({"steps": 0}, "steps = 0"),
        ({"max_iterations": 2.5}, "max_iterations = 2.5"),
        ({"tolerance": 0.0}, "tolerance = 0 is out of range"),
        ({"coupling_start": 3.0, "coupling_end": 1.0}, "couplings from 3.0 to 1.0"),
        ({"stop": "never"}, "stop = 'never'"),
        ({"seed": 0.5}, "seed = 0.5"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(wrong, message):
    with pytest.raises(DomainError, match=message) as error:
        committee_focusing_bp(random_tree_committee(N=27, P=5, K=3, seed=0), **wrong)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("K", "n"), [(3, 99), (9, 45)])
def test_solves_a_fully_connected_machine(K, n):
    instance = random_full_committee(N=n, P=K * n // 2, K=K, seed=0)
    run = committee_focusing_bp(instance, seed=0)
    assert run.solved and instance.train_error(run.weights) == 0
    overlaps = np.abs(run.weights @ run.weights.T - np.eye(K))
    assert overlaps.max() < 0.8  # the units have become different
    np.testing.assert_array_equal(run.weights, committee_focusing_bp(instance, seed=0).weights)
    assert not np.array_equal(run.weights, committee_focusing_bp(instance, seed=1).weights)


def test_without_random_means_the_units_stay_equal():
    messages = Messages(random_full_committee(N=30, P=45, K=3, seed=0))
    messages.converge(update_weights, (1.0, 10.0), 0.5, 50, 1e-3)
    np.testing.assert_allclose(messages.means - messages.means[0], 0, atol=1e-12)
    assert np.abs(messages.means).max() > 0.1


def test_a_tree_does_not_use_the_seed():
    instance = random_tree_committee(N=99, P=50, K=3, seed=0)
    np.testing.assert_array_equal(
        committee_focusing_bp(instance).weights, committee_focusing_bp(instance, seed=5).weights
    )


def test_instances_of_another_kind_are_refused():
    with pytest.raises(DomainError, match="±1"):
        committee_focusing_bp(tree_committee(D=5, P=5, N=27, K=3, seed=0, activation="tanh"))
    with pytest.raises(DomainError, match="needs a seed"):
        committee_focusing_bp(random_full_committee(N=9, P=5, K=3, seed=0))
    with pytest.raises(DomainError, match="TreeCommittee"):
        committee_focusing_bp(random_tree_committee(N=27, P=5, K=3, seed=0).data)  # type: ignore[arg-type]
