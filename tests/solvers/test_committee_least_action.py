"""Least-action learning on committee machines, alone and with coupled replicas: slow twins, and where they end."""

from functools import partial

import numpy as np
import pytest

from localentropy.data.embedded import read_embedded
from localentropy.data.registry import DATA_DIR
from localentropy.errors import DomainError
from localentropy.instances.committee import (
    dress_coat_committee,
    random_full_committee,
    random_tree_committee,
    tree_committee,
    unit_norm,
)
from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.committee.least_action_kernels import coupled_epoch, epoch
from localentropy.solvers.committee.runs import random_start

PROBLEMS = [(random_tree_committee, 63, 9), (random_tree_committee, 65, 5), (random_full_committee, 11, 3)]
LARGEST = np.finfo(float).max


def corrected(instance, rows, learning_rate, weights):
    """The rule on one mini-batch, pattern by pattern, without the normalisation."""
    fields = instance.preactivations(weights)[rows]
    weights = weights.copy()
    for row, x in zip(rows, fields, strict=True):
        if np.sign(x).sum() <= 0:
            unit = np.argmax(np.where(x <= 0, x, -LARGEST))
            # A tree gives each unit a block of the pattern, a full machine all of it.
            pattern = instance.data.signed_patterns[row].astype(float)
            blocks = pattern.reshape(-1, instance.inputs_per_unit)
            weights[unit] += learning_rate * blocks[unit % len(blocks)]
    return weights


@pytest.mark.parametrize("renormalise", [True, False])
@pytest.mark.parametrize(("problem", "N", "K"), PROBLEMS)
def test_an_epoch_is_that_of_the_slow_twin(problem, N, K, renormalise):
    instance = problem(N=N, P=70, K=K, seed=0)
    (weights,), stream = random_start(instance, 0, "test")
    twin = weights.copy()
    for _ in range(10):
        order = stream.permutation(70)
        # The last mini-batch is shorter.
        wrong = epoch(instance.data.signed_patterns, order, 30, 0.05, renormalise, weights)
        for start in range(0, 70, 30):
            twin = corrected(instance, order[start : start + 30], 0.05, twin)
            twin = unit_norm(twin) if renormalise else twin
        np.testing.assert_allclose(weights, twin, atol=1e-12)
        assert wrong == round(70 * instance.train_error(twin)) > 0


@pytest.mark.parametrize(("problem", "N", "K"), PROBLEMS)
def test_an_epoch_of_replicas_is_that_of_the_slow_twin(problem, N, K):
    instance = problem(N=N, P=70, K=K, seed=0)
    weights, stream = random_start(instance, 0, "test", replicas=4)
    centre = unit_norm(weights.sum(0))
    replicas, middle = list(weights.copy()), centre.copy()
    for _ in range(5):
        orders = np.stack([stream.permutation(70) for _ in range(4)])
        wrong, spread = coupled_epoch(instance.data.signed_patterns, orders, 30, 0.05, 0.1, weights, centre)
        for start in range(0, 70, 30):
            for a, order in enumerate(orders):
                moved = corrected(instance, order[start : start + 30], 0.05, replicas[a])
                replicas[a] = unit_norm(moved + 0.1 * (middle - moved))
            middle = unit_norm(np.mean(replicas, axis=0))
        np.testing.assert_allclose(weights, replicas, atol=1e-12)
        np.testing.assert_allclose(centre, middle, atol=1e-12)
        assert wrong == round(70 * instance.train_error(middle))
        assert spread == pytest.approx(sum(np.sum((one - middle) ** 2) for one in replicas), rel=1e-12)


def test_a_unit_at_zero_is_corrected_first():
    """It has no vote, so it makes an error possible, and it is the nearest to zero."""
    instance = random_tree_committee(N=6, P=1, K=3, seed=0)
    x = instance.data.signed_patterns[0].astype(float).reshape(3, 2)
    weights = np.stack([x[0], [x[1, 0], -x[1, 1]], -x[2]]) / np.sqrt(2)
    before = weights.copy()
    assert epoch(instance.data.signed_patterns, np.arange(1), 1, 0.1, True, weights) == 0
    np.testing.assert_allclose(weights[[0, 2]], before[[0, 2]], rtol=1e-12)
    assert (weights[1] != before[1]).any()


@pytest.mark.parametrize("instance", [random_tree_committee(99, 60, 3, 0), random_full_committee(40, 60, 3, 0)])
def test_least_action_ends_at_the_first_epoch_without_errors(instance):
    run = committee_least_action(instance, seed=0)
    assert run.solved and run.converged is None and instance.train_error(run.weights) == 0
    assert run.train_errors[-1] == 0 and (run.train_errors[:-1] > 0).all()
    assert len(run.train_errors) == run.iterations + 1 > 2
    np.testing.assert_allclose(np.linalg.norm(run.weights, axis=1), 1.0, rtol=1e-12)
    shorter = committee_least_action(instance, seed=0, epochs=run.iterations - 1)
    assert not shorter.solved and shorter.iterations == run.iterations - 1


def test_free_norms_solve_loads_that_fixed_norms_do_not():
    """The weights grow, so the steps become small beside them. The solution has units of norm 1 all the same."""
    instance = random_tree_committee(N=297, P=594, K=3, seed=0)
    fixed, free = (
        committee_least_action(instance, seed=0, renormalise=renormalise, epochs=500) for renormalise in (True, False)
    )
    assert free.solved and not fixed.solved
    np.testing.assert_allclose(np.linalg.norm(free.weights, axis=1), 1.0, rtol=1e-12)
    with pytest.raises(DomainError, match=r"^renormalise = 'no': allowed are True and False"):
        committee_least_action(instance, seed=0, renormalise="no")  # type: ignore[arg-type]


def test_what_is_not_solved_ends_with_the_fewest_errors():
    instance = random_tree_committee(N=45, P=200, K=9, seed=0)
    run = committee_least_action(instance, seed=0, epochs=60)
    assert not run.solved and run.iterations == 60
    assert instance.train_error(run.weights) == run.train_errors.min() < run.train_errors[-1]


def test_a_start_without_errors_needs_no_epoch():
    instance = random_tree_committee(N=99, P=1, K=9, seed=0)
    runs = [committee_least_action(instance, seed=seed) for seed in range(20)]
    assert all(run.solved and (run.iterations == 0) == (run.train_errors[0] == 0) for run in runs)
    assert {run.train_errors[0] for run in runs} == {0, 1}


@pytest.mark.parametrize("instance", [random_tree_committee(99, 60, 3, 0), random_full_committee(40, 60, 3, 0)])
def test_replicas_end_when_they_have_collapsed(instance):
    solve = partial(
        committee_entropic_least_action, seed=0, replicas=5, learning_rate=0.02, coupling=1.0, coupling_growth=0.01
    )
    run = solve(instance)
    assert run.converged and run.solved and instance.train_error(run.weights) == 0
    assert len(run.train_errors) == run.iterations + 1
    np.testing.assert_allclose(np.linalg.norm(run.weights, axis=1), 1.0, rtol=1e-12)
    shorter = solve(instance, epochs=run.iterations - 1)
    assert not shorter.converged and shorter.iterations == run.iterations - 1
    np.testing.assert_array_equal(shorter.train_errors, run.train_errors[:-1])
    looser = solve(instance, tolerance=1e-3)
    assert looser.converged and looser.iterations < run.iterations


def test_collapsed_replicas_may_have_errors():
    """The distance alone stops the run."""
    instance = random_tree_committee(N=45, P=200, K=9, seed=0)
    run = committee_entropic_least_action(instance, seed=0, replicas=3, coupling=100.0, coupling_growth=0.1)
    assert run.converged and not run.solved
    assert instance.train_error(run.weights) == run.train_errors[-1] > 0


@pytest.mark.parametrize("solver", [committee_least_action, committee_entropic_least_action])
def test_a_seed_has_one_result(solver):
    instance = random_full_committee(N=30, P=40, K=3, seed=0)
    once, again, other = (solver(instance, seed=seed, epochs=20) for seed in (1, 1, 2))
    np.testing.assert_array_equal(once.weights, again.weights)
    assert np.abs(once.weights - other.weights).max() > 0.01


def test_units_of_the_full_machine_become_different():
    """The units are equal by symmetry. Each run breaks it, and the replicas of one run agree on one way."""
    instance = random_full_committee(N=60, P=90, K=3, seed=0)
    for run in (
        committee_least_action(instance, seed=0),
        committee_entropic_least_action(instance, seed=0, coupling=5.0, coupling_growth=0.01),
    ):
        assert run.solved
        cosines = run.weights @ run.weights.T
        assert np.abs(cosines[np.triu_indices(3, 1)]).max() < 0.9


def test_epochs_of_the_paper():
    """Random patterns at N = 999, K = 9, P = 1000: 76 ± 15 epochs (`shaping`, Methods)."""
    runs = [committee_least_action(random_tree_committee(999, 1000, 9, seed), seed=seed) for seed in range(10)]
    epochs = [run.iterations for run in runs]
    assert all(run.solved for run in runs)
    assert abs(np.mean(epochs) - 76) < 3 * 15 * np.sqrt(1 / 10 + 1 / 10)


@pytest.mark.slow
def test_replicas_solve_random_patterns_and_shuffled_images():
    """At the rate of the images, replicas of the shuffled ones collapse with errors."""
    run = committee_entropic_least_action(random_tree_committee(N=999, P=1000, K=9, seed=2), seed=2)
    assert run.solved and run.converged and 300 < run.iterations < 3000
    images = dress_coat_committee(read_embedded("dress_coat", DATA_DIR), 9, number=1000, shuffled=True)
    solve = partial(committee_entropic_least_action, images, seed=1000, coupling=30.0, coupling_growth=5e-3)
    failed = solve(learning_rate=2e-3)
    assert failed.converged and not failed.solved and 30 * 2e-3 * 1.005**failed.iterations > 1
    solved = solve(learning_rate=5e-4)
    assert solved.converged and solved.solved


def test_dress_against_coat():
    """61 ± 21 and 190 ± 40 epochs in `shaping`, on other 500 images; replicas generalise better (fig. 6)."""
    instance = dress_coat_committee(read_embedded("dress_coat", DATA_DIR), 9)
    single = [committee_least_action(instance, seed=seed, learning_rate=1e-4) for seed in range(5)]
    assert all(run.solved for run in single) and 30 < np.mean([run.iterations for run in single]) < 90
    wide = committee_entropic_least_action(
        instance, seed=0, learning_rate=2e-3, coupling=30.0, coupling_growth=5e-3, epochs=400
    )
    assert wide.solved and wide.converged and 100 < wide.iterations < 300
    assert instance.test_error(wide.weights) < min(instance.test_error(run.weights) for run in single)


@pytest.mark.parametrize(
    ("solver", "wrong", "message"),
    [
        (committee_least_action, {"learning_rate": 0.0}, "learning_rate = 0 is out of range"),
        (committee_least_action, {"batch": 0}, "batch = 0"),
        (committee_least_action, {"epochs": 1.5}, "epochs = 1.5"),
        (committee_least_action, {"seed": 0.5}, "seed = 0.5"),
        (committee_entropic_least_action, {"seed": "0"}, "seed = '0'"),
        (committee_entropic_least_action, {"replicas": 1}, "replicas = 1 is out of range"),
        (committee_entropic_least_action, {"coupling": -1.0}, "coupling = -1 is out of range"),
        (committee_entropic_least_action, {"coupling_growth": -0.1}, "coupling_growth = -0.1"),
        (committee_entropic_least_action, {"tolerance": 0.0}, "tolerance = 0 is out of range"),
        (committee_entropic_least_action, {"batch": 0}, "batch = 0"),
        (committee_entropic_least_action, {"epochs": 0}, "epochs = 0"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(solver, wrong, message):
    instance = random_tree_committee(N=27, P=5, K=3, seed=0)
    with pytest.raises(DomainError, match=message) as error:
        solver(instance, **({"seed": 0} | wrong))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("solver", [committee_least_action, committee_entropic_least_action])
def test_instances_of_another_kind_are_refused(solver):
    with pytest.raises(DomainError, match="±1"):
        solver(tree_committee(D=5, P=5, N=27, K=3, seed=0, activation="tanh"), seed=0)
    with pytest.raises(DomainError, match="TreeCommittee or a FullCommittee"):
        solver(random_tree_committee(N=27, P=5, K=3, seed=0).data, seed=0)
