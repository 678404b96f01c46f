"""Local entropy on random features: the theory of typical references, and the posterior's entropy."""

from __future__ import annotations

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.perceptron import effective_margin, hidden_manifold, random_patterns
from localentropy.landscape.feature_local_entropy import feature_local_entropy
from localentropy.landscape.local_entropy import local_entropy
from localentropy.solvers.amp import two_level_amp
from localentropy.solvers.binary.anneal import mct0
from localentropy.solvers.binary.sbpi import sbpi
from localentropy.theory import RandomFeatures, franz_parisi

D, P, N = 101, 303, 4545
DISTANCES = [0.01, 0.05, 0.2]


@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_around_typical_solutions_it_is_the_franz_parisi_entropy(margin):
    """Monte Carlo at zero temperature samples typical solutions of a margin at this size."""
    curves, plain = [], []
    for seed in range(4):
        instance = hidden_manifold(D, P, N, seed=seed)
        solution = mct0(instance, margin=margin, seed=seed, sweeps=2000, sweeps_after=50)
        if solution.solved:
            curves.append(feature_local_entropy(instance, solution.weights, distances=DISTANCES).entropy)
            plain.append(local_entropy(instance, solution.weights, distances=DISTANCES).entropy)
    reference = effective_margin(margin, N) if margin else 0.0
    theory = franz_parisi(RandomFeatures(3.0, N / P, 0.0), DISTANCES, reference)["entropy"].to_numpy()
    assert len(curves) > 2
    off = np.abs(np.mean(curves, axis=0) - theory)
    assert (off < 1.5e-3).all()
    # Belief propagation, which takes the patterns as independent, is farther off where it is far from the solution.
    assert abs(np.mean(plain, axis=0) - theory)[-1] > 2 * off[-1]


def test_it_is_highest_at_the_entropy_of_all_solutions():
    instance = hidden_manifold(D, P, 605, seed=0)
    entropy = two_level_amp(instance, seed=0, tolerance=1e-7).entropy
    curve = feature_local_entropy(instance, sbpi(instance, seed=0).weights, distances=np.linspace(0.2, 0.4, 21))
    assert curve.converged.all()
    assert curve.entropy.max() == pytest.approx(entropy, abs=2e-4)
    # The field is half the slope, and zero at the top.
    slope = np.gradient(curve.entropy, curve.distance)[1:-1]
    np.testing.assert_allclose(slope, 2 * curve.field[1:-1], atol=0.02)


def test_distances_are_the_wanted_ones_and_messages_that_fail_have_no_entropy():
    instance = hidden_manifold(33, 99, 199, seed=0)
    weights = sbpi(instance, seed=0).weights
    curve = feature_local_entropy(instance, weights, distances=[0.3, 0.02])
    np.testing.assert_allclose(curve.distance, [0.3, 0.02], atol=1e-9)
    few = feature_local_entropy(instance, weights, distances=[0.3, 0.02], max_iterations=2)
    assert not few.converged.any() and np.isnan(few.entropy).all() and few.iterations.tolist() == [2, 2]


def test_random_patterns_are_refused():
    with pytest.raises(DomainError, match="random features"):
        feature_local_entropy(random_patterns(21, 5, 0), np.ones(21, dtype=np.int8), distances=[0.1])
