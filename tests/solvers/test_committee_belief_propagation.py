"""Belief propagation on the tree committee machine: the volume of solutions."""

import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.committee import random_full_committee, random_tree_committee, tree_committee, unit_norm
from localentropy.solvers.committee.belief_propagation import committee_belief_propagation
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.theory import Spherical, typical


def test_one_pattern_is_solved_by_half_of_all_weights():
    """Exact up to a part K/N."""
    found = committee_belief_propagation(random_tree_committee(N=3000, P=1, K=3, seed=0))
    assert found.converged and found.solved
    assert found.entropy * 3000 == pytest.approx(-math.log(2), rel=1e-3)


def test_fraction_of_random_weights_that_solve_a_few_patterns():
    """The difference of finite sizes is a part of order K/N of ln(fraction)."""
    instance = random_tree_committee(N=300, P=7, K=3, seed=0)
    drawn = unit_norm(np.random.default_rng(0).standard_normal((60_000, 3, 100)))
    solved = np.mean([float(np.mean(instance.train_error(part) == 0)) for part in drawn.reshape(-1, 1000, 3, 100)])
    found = committee_belief_propagation(instance)
    assert found.converged
    error = math.sqrt((1 - solved) / (60_000 * solved))
    assert error < 0.06
    assert abs(found.entropy * 300 - math.log(solved)) < 3.5 * error + 0.01 * abs(math.log(solved))


@pytest.mark.parametrize("alpha", [0.25, 0.5, 1.0])
def test_volume_and_overlap_of_typical_solutions(alpha):
    theory = typical(Spherical(alpha, 3))
    runs = [committee_belief_propagation(random_tree_committee(999, round(alpha * 999), 3, s)) for s in range(8)]
    assert all(run.converged for run in runs)
    for values, expected in (
        ([run.entropy for run in runs], theory.entropy),
        ([run.overlap for run in runs], theory.q),
    ):
        error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
        assert error < 0.006
        assert abs(np.mean(values) - expected) < min(0.012, 3.5 * error + 1 / 999)


def test_the_overlap_is_that_of_replicas_without_coupling():
    instance = random_tree_committee(N=999, P=800, K=3, seed=0)
    found = committee_belief_propagation(instance, tolerance=1e-8)
    tied = committee_focusing_bp(instance, coupling_start=1e-9, coupling_end=1e-9, steps=1, tolerance=1e-8)
    assert found.overlap == pytest.approx(tied.steps.overlap[0], rel=1e-6)
    assert found.train_errors[-1] == tied.train_errors[-1]
    np.testing.assert_allclose(found.weights, tied.weights, atol=1e-6)


def test_where_solutions_fall_into_clusters_it_does_not_converge():
    """The transition is at 1.73 (replica theory), 1.76 in the paper."""
    found = committee_belief_propagation(random_tree_committee(N=999, P=1998, K=3, seed=0), max_iterations=600)
    assert not found.converged and math.isnan(found.entropy) and found.residual > 1e-3
    assert found.iterations == 600


def test_wrong_arguments_are_refused_in_one_line():
    instance = random_tree_committee(N=27, P=5, K=3, seed=0)
    for wrong in ({"damping": 1.0}, {"max_iterations": 0}, {"tolerance": -1.0}):
        with pytest.raises(DomainError) as error:
            committee_belief_propagation(instance, **wrong)
        assert "\n" not in str(error.value)
    with pytest.raises(DomainError, match="TreeCommittee"):
        committee_belief_propagation(random_full_committee(N=9, P=5, K=3, seed=0))  # type: ignore[arg-type]
    with pytest.raises(DomainError, match="±1"):
        committee_belief_propagation(tree_committee(D=5, P=5, N=27, K=3, seed=0, activation="tanh"))
