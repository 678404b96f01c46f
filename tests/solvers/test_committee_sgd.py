"""Descent on committee machines: its gradient, its two programs, and how long it takes."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.instances.committee import TreeCommittee, random_full_committee, random_tree_committee, tree_committee
from localentropy.instances.perceptron import Instance
from localentropy.solvers.committee import sgd as module
from localentropy.solvers.committee.sgd import CommitteeBatch, Schedule, committee_sgd, committee_sgd_many, start
from localentropy.solvers.committee.sgd_kernels import epoch
from tests.finite_differences import slope_at

SLOW = Schedule(
    learning_rate=3e-3, beta=0.5, beta_growth=2e-4, gamma=0.1, gamma_growth=4e-4, epochs=20_000, stop="loss"
)
"""ceSGD-slow on random patterns (`shaping`, Methods). β₁ is chosen here."""


def loss(weights, patterns, beta, gamma):
    """Summed over patterns, in the words of the text: −Δ/2 + ln(2 cosh γΔ)/(2γ)."""
    K, size = weights.shape
    delta = np.zeros(len(patterns))
    for unit in range(K):
        inputs = patterns if patterns.shape[1] == size else patterns[:, unit * size : (unit + 1) * size]
        delta += np.tanh(beta * inputs @ weights[unit]) / math.sqrt(K)
    return (-delta / 2 + np.log(2 * np.cosh(gamma * delta)) / (2 * gamma)).sum()


@pytest.mark.parametrize("problem", [random_tree_committee, random_full_committee])
@pytest.mark.parametrize(("K", "beta", "gamma"), [(3, 0.5, 0.1), (3, 2.0, 3.0), (9, 1.0, 5.0)])
def test_gradient_is_the_finite_difference_of_the_loss(K, beta, gamma, problem):
    instance = problem(N=5 * K if problem is random_tree_committee else 7, P=12, K=K, seed=0)
    weights, _ = start(instance, 0)
    patterns = instance.data.signed_patterns.astype(float)

    def flat_loss(flat):
        return loss(flat.reshape(weights.shape), patterns, beta, gamma)

    slopes = [slope_at(flat_loss, weights.ravel(), 1e-4, index) for index in range(weights.size)]
    expected = np.reshape(slopes, weights.shape)
    batch = CommitteeBatch([instance], weights[None], dtype=torch.float64)
    gradient = batch.gradient(torch.arange(12)[None], beta, gamma)[0].numpy()
    np.testing.assert_allclose(gradient, expected, atol=1e-9)
    # The compiled program shows its gradient in one step over all patterns.
    moved = weights.copy()
    epoch(instance.data.signed_patterns, np.arange(12), 12, 1e-2, beta, gamma, moved)
    wanted = weights - 1e-2 * expected
    np.testing.assert_allclose(moved, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-10)


def test_a_steep_loss_has_the_gradient_of_the_batched_program():
    """All units wrong on one pattern: 2γΔ = −900, beyond the range of the kernel's exp."""
    instance = random_tree_committee(N=45, P=40, K=9, seed=0)
    weights, _ = start(instance, 0)
    weights -= instance.data.signed_patterns[0].reshape(9, 5)
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    batch = CommitteeBatch([instance], weights[None], dtype=torch.float64)
    gradient = batch.gradient(torch.arange(40)[None], 5.0, 150.0)[0].numpy()
    moved = weights.copy()
    epoch(instance.data.signed_patterns, np.arange(40), 40, 1.0, 5.0, 150.0, moved)
    wanted = weights - gradient
    np.testing.assert_allclose(moved, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), rtol=1e-9, atol=1e-12)


def test_large_arguments_of_the_loss_overflow_nowhere():
    instance = random_tree_committee(N=27, P=30, K=3, seed=0)
    weights, _ = start(instance, 0)
    for beta, gamma in ((1e3, 1e3), (1e-3, 1e3), (1e3, 1e-3)):
        epoch(instance.data.signed_patterns, np.arange(30), 7, 1e-2, beta, gamma, weights)
        assert np.isfinite(weights).all()


@pytest.mark.parametrize(("problem", "N", "blocks"), [(random_tree_committee, 63, 9), (random_full_committee, 5, 1)])
def test_both_programs_make_the_same_epochs(problem, N, blocks):
    """Compiled loops run by run; batched products over all runs, two starts of them on one training set."""
    instances = [problem(N=N, P=70, K=9, seed=seed) for seed in (0, 0, 1)]
    instances[1] = instances[0]
    starts = [start(instance, seed) for seed, instance in enumerate(instances)]
    schedule = Schedule(learning_rate=0.02, batch=30)  # the last mini-batch is shorter
    weights = [one.copy() for one, _ in starts]
    batch = CommitteeBatch(instances, np.stack(weights), dtype=torch.float64)
    assert len(batch.patterns) == 2 * blocks * 70
    beta = 1.0
    for _ in range(40):
        orders = np.stack([stream.permutation(70) for _, stream in starts])
        wrong = [
            epoch(instance.data.signed_patterns, order, 30, 0.02, beta, 3.0, one)[0]
            for instance, order, one in zip(instances, orders, weights, strict=True)
        ]
        batch.epoch(torch.from_numpy(orders), schedule, beta, 3.0)
        assert batch.errors.tolist() == wrong
        torch.testing.assert_close(batch.weights, torch.from_numpy(np.stack(weights)), rtol=0, atol=1e-10)
        beta *= 1.05
    assert (np.linalg.norm(weights, axis=2) == pytest.approx(1.0, rel=1e-12)) and min(wrong) > 0


def test_patterns_by_columns_in_memory_are_the_same_to_both_programs():
    data = random_tree_committee(N=63, P=70, K=9, seed=0).data
    weights = []
    for patterns in (data.patterns, np.asfortranarray(data.patterns)):
        instance = TreeCommittee(Instance(patterns, data.labels, 0), 9)
        first, _ = start(instance, 0)
        batch = CommitteeBatch([instance], first[None], dtype=torch.float64)
        weights += [batch.gradient(torch.arange(70)[None], 1.0, 3.0)[0].numpy(), first]
        epoch(instance.data.signed_patterns, np.arange(70), 70, 1.0, 1.0, 3.0, weights[-1])
    np.testing.assert_array_equal(weights[0], weights[2])
    # The compiled program of another layout may add in another order.
    np.testing.assert_allclose(weights[1], weights[3], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("after", [0, 7, 60])
def test_runs_made_at_once_are_those_made_one_by_one(after):
    instances = [random_tree_committee(N=99, P=60, K=9, seed=seed) for seed in range(3)]
    instances += [instances[0], random_tree_committee(N=99, P=60, K=9, seed=9)]
    # Some are solved, at different epochs, and some are not; one has no time for all epochs after.
    schedule = Schedule(epochs=160, epochs_after=after)
    alone = committee_sgd_many(instances, seeds=range(5), schedule=schedule)
    assert {run.solved for run in alone} == {False, True}
    together = module._run_at_once(instances, list(range(5)), schedule, torch.device("cpu"))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.train_errors, other.train_errors)
        assert one.solved == other.solved and one.iterations == other.iterations
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)


def test_no_bit_depends_on_the_company():
    instances = [random_tree_committee(N=99, P=60, K=9, seed=seed) for seed in range(2)]
    together = committee_sgd_many(instances, seeds=[5, 6])
    np.testing.assert_array_equal(committee_sgd(instances[1], seed=6).weights, together[1].weights)


def test_epochs_to_a_solution_are_those_of_the_paper():
    """ceSGD-fast on random patterns, N = 999, K = 9, P = 1000: 770 ± 150 epochs (`shaping`, Methods)."""
    epochs = []
    for seed in range(6):
        run = committee_sgd(random_tree_committee(N=999, P=1000, K=9, seed=seed), seed=seed)
        assert run.solved
        epochs.append(run.iterations)
    assert abs(np.mean(epochs) - 770) < 150


@pytest.mark.slow
def test_epochs_to_a_small_loss_are_those_of_the_paper():
    """ceSGD-slow on random patterns: (1.298 ± 0.007)·10⁴ epochs (`shaping`, Methods)."""
    for seed in (1, 2, 3):
        run = committee_sgd(random_tree_committee(N=999, P=1000, K=9, seed=seed), seed=seed, schedule=SLOW)
        assert run.solved and run.converged
        assert abs(run.iterations - 12980) < 3 * 70


def test_solutions_have_no_recomputed_error_and_units_of_norm_one():
    instance = tree_committee(D=60, P=300, N=225, K=9, seed=0)
    run = committee_sgd(instance, seed=0, schedule=Schedule(learning_rate=3e-3, gamma=5.0))
    assert run.solved and instance.train_error(run.weights) == 0
    assert run.train_errors[-1] == 0 and (run.train_errors[:-1] > 0).all()
    assert len(run.train_errors) == run.iterations + 1
    np.testing.assert_allclose(np.linalg.norm(run.weights, axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(("N", "rate", "leaves"), [(225, 3e-3, False), (135, 4e-2, True)])
def test_epochs_after_the_first_solution_go_on_from_it(N, rate, leaves):
    """Large steps leave a solution and come back: what is kept is the last one without errors."""
    instance = tree_committee(D=60, P=300, N=N, K=9, seed=0)
    schedule = Schedule(learning_rate=rate, gamma=5.0)
    first = committee_sgd(instance, seed=0, schedule=schedule)
    run = committee_sgd(instance, seed=0, schedule=replace(schedule, epochs_after=10))
    assert run.iterations == first.iterations + 10 and len(run.train_errors) == run.iterations + 1
    np.testing.assert_array_equal(run.train_errors[: first.iterations + 1], first.train_errors)
    last = int(np.flatnonzero(run.train_errors == 0)[-1])
    assert (first.iterations < last < run.iterations) == leaves
    short = committee_sgd(instance, seed=0, schedule=replace(schedule, epochs=last, epochs_after=10))
    np.testing.assert_array_equal(run.weights, short.weights)
    assert run.solved and np.abs(run.weights - first.weights).max() > 1e-4


def test_what_is_not_solved_ends_with_the_fewest_errors():
    instance = random_tree_committee(N=45, P=200, K=9, seed=0)
    run = committee_sgd(instance, seed=0, schedule=Schedule(epochs=60))
    assert not run.solved and run.iterations == 60
    assert instance.train_error(run.weights) == run.train_errors.min() < run.train_errors[-1]


@pytest.mark.parametrize("problem", [random_tree_committee, random_full_committee])
@pytest.mark.parametrize(("beta", "gamma"), [(0.5, 0.1), (2.0, 40.0), (5.0, 150.0)])
def test_the_loss_of_an_epoch_is_the_mean_over_mini_batches_of_their_sums(problem, beta, gamma):
    """Each sum is that of the weights before the step of the mini-batch."""
    instance = problem(N=27, P=70, K=3, seed=0)
    weights, stream = start(instance, 0)
    patterns, order, sums = instance.data.signed_patterns, stream.permutation(70), []
    twin = weights.copy()
    for begin in range(0, 70, 30):  # the last mini-batch is shorter
        rows = order[begin : begin + 30]
        delta = np.tanh(beta * instance.preactivations(twin)[rows]).sum(1) / math.sqrt(3)
        sums.append(np.logaddexp(0.0, -2 * gamma * delta).sum() / (2 * gamma))
        epoch(patterns, rows, 30, 0.05, beta, gamma, twin)
    wrong, found = epoch(patterns, order, 30, 0.05, beta, gamma, weights)
    np.testing.assert_array_equal(weights, twin)
    assert found == pytest.approx(np.mean(sums), rel=1e-10)
    assert wrong == round(70 * instance.train_error(weights))


@pytest.mark.parametrize("problem", [random_tree_committee, random_full_committee])
def test_a_small_loss_ends_the_run_and_no_errors_do_not(problem):
    instance = problem(N=99, P=50, K=9, seed=0)
    schedule = Schedule(learning_rate=3e-3, beta=0.5, beta_growth=5e-3, gamma=0.5, gamma_growth=5e-3, stop="loss")
    run = committee_sgd(instance, seed=0, schedule=schedule)
    assert run.converged and run.solved
    assert np.flatnonzero(run.train_errors == 0)[0] + 10 < run.iterations < schedule.epochs
    shorter = committee_sgd(instance, seed=0, schedule=replace(schedule, epochs=run.iterations - 1))
    assert not shorter.converged and shorter.solved and shorter.iterations == run.iterations - 1
    looser = committee_sgd(instance, seed=0, schedule=replace(schedule, loss_tolerance=1e-4))
    assert looser.converged and looser.iterations < run.iterations
    assert (looser.weights != run.weights).any()
    early = committee_sgd(instance, seed=0, schedule=replace(schedule, stop="errors"))
    assert early.converged is None and early.iterations == np.flatnonzero(run.train_errors == 0)[0]
    assert np.abs(early.weights - run.weights).max() > 1e-2


def test_units_of_the_full_machine_become_different_by_their_start_alone():
    instance = random_full_committee(N=60, P=60, K=3, seed=0)
    run = committee_sgd(instance, seed=0)
    cosines = run.weights @ run.weights.T
    assert run.solved and np.abs(cosines[np.triu_indices(3, 1)]).max() < 0.9
    equal = np.repeat(start(instance, 0)[0][:1], 3, axis=0)
    epoch(instance.data.signed_patterns, np.arange(60), 20, 1e-2, 1.0, 3.0, equal)
    np.testing.assert_allclose(equal - equal[0], 0.0, atol=1e-12)


def test_a_start_without_errors_needs_no_epoch():
    instance = random_tree_committee(N=99, P=1, K=9, seed=0)
    seed = next(s for s in range(20) if instance.train_error(start(instance, s)[0]) == 0)
    run = committee_sgd(instance, seed=seed)
    assert run.solved and run.iterations == 0 and run.train_errors.tolist() == [0]
    both = module._run_at_once([instance], [seed], Schedule(), torch.device("cpu"))[0]
    assert both.iterations == 0 and both.solved


def test_starts_are_uniform_and_normalised():
    weights, _ = start(random_tree_committee(N=9000, P=2, K=9, seed=0), 0)
    np.testing.assert_allclose(np.linalg.norm(weights, axis=1), 1.0, rtol=1e-12)
    assert np.abs(weights).max() == pytest.approx(math.sqrt(3 / 1000), rel=0.05)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_an_accelerator_finds_solutions_too():
    instances = [random_tree_committee(N=999, P=1000, K=9, seed=seed) for seed in range(8)]
    runs = committee_sgd_many(instances, seeds=range(8), device="cuda")
    assert all(run.solved for run in runs)
    assert abs(np.mean([run.iterations for run in runs]) - 770) < 150


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"learning_rate": 0.0}, "learning_rate = 0 is out of range"),
        ({"beta": math.nan}, "beta = nan"),
        ({"gamma": -1.0}, "gamma = -1 is out of range"),
        ({"beta_growth": -0.1}, "beta_growth = -0.1"),
        ({"batch": 0}, "batch = 0"),
        ({"epochs": 1.5}, "epochs = 1.5"),
        ({"stop": "lost"}, "stop = 'lost' .* nearest is 'loss'"),
        ({"loss_tolerance": 0.0}, "loss_tolerance = 0 is out of range"),
        ({"epochs_after": -1}, "epochs_after = -1"),
        ({"stop": "loss", "epochs_after": 3}, "epochs_after = 3: with stop = 'loss' allowed is 0"),
    ],
)
def test_wrong_schedules_are_refused_in_one_line(wrong, message):
    with pytest.raises(DomainError, match=message) as error:
        replace(Schedule(), **wrong)
    assert "\n" not in str(error.value)


def test_wrong_runs_are_refused():
    instance = random_tree_committee(N=27, P=5, K=3, seed=0)
    with pytest.raises(DomainError, match="device = 'cuda': stop = 'loss' is for 'cpu' only"):
        committee_sgd(instance, seed=0, schedule=Schedule(stop="loss"), device="cuda")
    assert committee_sgd_many([], seeds=[]) == []
    cases: list[tuple[Any, Any, str, str]] = [
        ([instance], [0, 1], "cpu", "one seed"),
        ([instance], [0.5], "cpu", "seed = 0.5"),
        ([instance], [0], "gpu", "device = 'gpu'"),
        ([instance, random_tree_committee(N=27, P=6, K=3, seed=0)], [0, 1], "cpu", "kind and size, .*P = 5.*P = 6"),
        ([instance, random_full_committee(N=27, P=5, K=3, seed=0)], [0, 1], "cpu", "kind and size, .*FullCommittee"),
        ([tree_committee(D=5, P=5, N=27, K=3, seed=0, activation="tanh")], [0], "cpu", "±1"),
        ([instance.data], [0], "cpu", "TreeCommittee"),
    ]
    for instances, seeds, device, message in cases:
        with pytest.raises(DomainError, match=message):
            committee_sgd_many(instances, seeds=seeds, device=device)
