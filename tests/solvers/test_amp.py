"""Approximate message passing against its twins, belief propagation and the replica theory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.perceptron import hidden_manifold, random_patterns
from localentropy.solvers.amp import amp, amp_in_fields, two_level_amp
from localentropy.solvers.binary.belief_propagation import belief_propagation
from localentropy.theory import RandomFeatures, typical


def test_is_the_limit_of_belief_propagation():
    gaps = []
    for N in (201, 2001):
        instance = random_patterns(N, N // 2, 0)
        full, limit = belief_propagation(instance, seed=0), amp(instance, seed=0)
        assert limit.converged
        gaps.append(abs(full.entropy - limit.entropy))
        assert limit.overlap == pytest.approx(full.overlap, abs=1.0 / N)
    assert gaps[1] < 0.2 * gaps[0]
    assert gaps[1] < 2e-4


def test_real_patterns():
    instance = hidden_manifold(D=300, P=60, N=901, seed=0, activation="tanh")
    full, limit = belief_propagation(instance, seed=0, margin=0.1), amp(instance, seed=0, margin=0.1)
    assert limit.converged
    assert limit.entropy == pytest.approx(full.entropy, abs=3e-3)


@pytest.mark.parametrize(
    ("inverse_alpha", "activation", "margin"), [(1.2, "sign", 0.0), (2.0, "sign", 0.0), (2.0, "tanh", 0.2)]
)
def test_two_levels_obey_the_replica_theory(inverse_alpha, activation, margin):
    D, P = 134, 402
    N = int(P * inverse_alpha) | 1
    runs = [two_level_amp(hidden_manifold(D, P, N, seed, activation), margin=margin, seed=0) for seed in range(16)]
    theory = typical(RandomFeatures(alpha_T=P / D, inv_alpha=N / P, margin=margin, activation=activation))
    assert all(run.converged for run in runs)
    for values, value in (
        ([run.entropy for run in runs], theory.entropy),
        ([run.overlap for run in runs], theory.q),
    ):
        # Finite sizes shift means by O(1/D).
        assert abs(np.mean(values) - value) < 3.5 * np.std(values, ddof=1) / 4 + 0.3 / D


@pytest.mark.slow
@pytest.mark.parametrize("inverse_alpha", [1.2, 2.0, 5.0])
def test_two_levels_obey_the_replica_theory_at_large_size(inverse_alpha):
    N = int(1203 * inverse_alpha) | 1
    instances = [hidden_manifold(401, 1203, N, seed) for seed in range(16)]
    runs = [two_level_amp(instance, seed=0) for instance in instances]
    theory = typical(RandomFeatures(alpha_T=3.0, inv_alpha=N / 1203, margin=0.0, activation="sign"))
    errors = [i.test_error(r.magnetizations) for i, r in zip(instances, runs, strict=True)]
    for values, value in (
        ([run.entropy for run in runs], theory.entropy),
        ([run.overlap for run in runs], theory.q),
        (errors, theory.error_barycenter),
    ):
        assert abs(np.mean(values) - value) < 3.5 * np.std(values, ddof=1) / 4


def test_independent_patterns_are_a_wrong_assumption_on_random_features():
    """The overlap of both naive algorithms is the same, and too large by far more than its fluctuations."""
    theory = typical(RandomFeatures(alpha_T=3.0, inv_alpha=2.0, margin=0.0, activation="sign"))
    instances = [hidden_manifold(134, 402, 805, seed) for seed in range(5)]
    naive = [amp(instance, seed=0) for instance in instances]
    full = [belief_propagation(instance, seed=0) for instance in instances]
    assert all(run.converged for run in naive + full)
    assert np.mean([run.overlap for run in naive]) > theory.q + 0.02
    for a, b in zip(naive, full, strict=True):
        assert a.overlap == pytest.approx(b.overlap, abs=0.01)


def test_many_fields_at_once_are_those_one_by_one():
    instance = random_patterns(401, 120, 0)
    reference = np.where(np.random.default_rng(0).random(401) < 0.5, -1, 1)
    external = np.array([0.0, 0.3, 1.0])[:, None] * reference
    m, entropy, residual = amp_in_fields(instance, external)
    single = amp(instance, seed=0, tolerance=1e-9)
    assert np.all(residual < 1e-4)
    np.testing.assert_allclose(m[0], single.magnetizations, atol=2e-3)
    assert entropy[0] == pytest.approx(single.entropy, abs=1e-5)
    alone, alone_entropy, _ = amp_in_fields(instance, external[2:])
    np.testing.assert_allclose(m[2], alone[0], atol=2e-3)
    assert entropy[2] == pytest.approx(alone_entropy[0], abs=1e-5)


def test_entropy_of_weights_almost_known():
    """In a strong field towards a solution of one pattern: -Σ p ln p of free weights, though means are rounded to 1."""
    instance, fields = random_patterns(401, 1, 0), np.array([3.0, 6.0, 9.0, 30.0])
    entropy = amp_in_fields(instance, fields[:, None] * instance.signed_patterns)[1]
    small = np.exp(-2 * fields)
    np.testing.assert_allclose(entropy, np.log1p(small) + 2 * fields * small / (1 + small), rtol=1e-6, atol=1e-14)


def test_what_has_not_converged_says_so():
    instance = hidden_manifold(33, 99, 201, 0)
    for solver in (amp, two_level_amp):
        run = solver(instance, seed=0, max_iterations=2)
        assert not run.converged
        assert math.isnan(run.entropy)
    assert np.isnan(amp_in_fields(instance, np.zeros((1, 201)), max_iterations=2)[1][0])


def test_patterns_that_no_weights_store_at_the_margin():
    """The variance vanishes, and the means go on to jump: this is no fixed point."""
    run = amp(hidden_manifold(134, 402, 483, 0, "tanh"), margin=0.25, seed=0)
    assert not run.solved
    assert not run.converged
    assert math.isnan(run.entropy)


def test_the_entropy_is_one_of_the_fixed_point():
    """It is stationary there, so that its error is the square of that of the means."""
    instance = hidden_manifold(67, 201, 403, 0)
    for solver in (amp, two_level_amp):
        rough, fine = (solver(instance, seed=0, tolerance=tolerance) for tolerance in (1e-4, 1e-12))
        assert rough.iterations < fine.iterations - 10
        assert rough.entropy == pytest.approx(fine.entropy, abs=1e-8)


def test_wrong_arguments_are_refused_in_one_line():
    storage = random_patterns(21, 5, 0)
    for call in (
        lambda: two_level_amp(storage, seed=0),
        lambda: two_level_amp(hidden_manifold(5, 5, 21, 0, "identity"), seed=0),
        lambda: amp(storage, seed=0, damping=1.0),
        lambda: amp(storage, seed=0, margin=-1.0),
        lambda: amp_in_fields(storage, np.zeros(21)),
        lambda: amp_in_fields(None, np.zeros((1, 21))),  # type: ignore[arg-type]
        lambda: amp_in_fields(storage, np.zeros((1, 21)), max_iterations=2.5),  # type: ignore[arg-type]
    ):
        with pytest.raises(DomainError) as error:
            call()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("solver", [amp, two_level_amp])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"instance": None}, "instance = NoneType object: allowed is an Instance"),
        ({"seed": "x"}, "seed = 'x' is not an integer"),
        ({"seed": 1.5}, "seed = 1.5 is not an integer"),
        ({"damping": "a"}, "damping = 'a' is not a number"),
        ({"damping": 1.0}, "damping = 1 is out of range: allowed are \\[0, 1\\)"),
        ({"epsilon": -0.1}, "epsilon = -0.1 is out of range"),
        ({"max_iterations": 2.5}, "max_iterations = 2.5 is not an integer"),
        ({"tolerance": 0}, "tolerance = 0 is out of range: allowed are \\(0, 1\\]"),
    ],
)
def test_arguments_are_checked_by_type_and_range(solver, wrong, message):
    with pytest.raises(DomainError, match=message) as error:
        solver(**({"instance": hidden_manifold(5, 5, 21, 0), "seed": 0} | wrong))
    assert "\n" not in str(error.value)
