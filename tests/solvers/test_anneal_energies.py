"""Annealing of energies that see every pattern: the moves, the equilibrium, and what it is good for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, hidden_manifold, random_patterns, smallest_allowed
from localentropy.solvers.binary.anneal import anneal, energy_sweeper
from localentropy.solvers.binary.energies import energy_table
from localentropy.solvers.binary.energy_kernels import energy_sweeps
from tests.enumeration import all_signs
from tests.random_streams import random_word, start
from tests.solvers.chains import assert_detailed_balance, sampled_states

CASES = [("linear", 1.0), ("cross_entropy", 0.5), ("cross_entropy", 20.0)]


def pattern_energy(energy, gamma, s, least, N):
    """The definitions, one pattern at a time."""
    if energy == "linear":
        return max(0, least - s) / 2
    x = (s - least + 1) / math.sqrt(N)
    return math.log1p(math.exp(-2 * gamma * x)) / (2 * gamma) if x > -300 / gamma else -x


def twin_sweeps(instance, margin, energy, gamma, weights, key, betas, stop):
    """The chain in plain Python, with all sums and energies computed afresh for every attempt."""
    least = smallest_allowed(margin, instance.N)
    patterns = instance.signed_patterns.astype(int)
    table = energy_table(energy, instance.N, instance.P, least, gamma)

    def total(w):
        return sum(int(table.values[(s + instance.N + 2) // 2]) for s in (patterns @ w).tolist())

    def wrong(w):
        return int((patterns @ w < least).sum())

    weights, counter, errors = weights.astype(int), 0, []
    for beta in betas:
        if stop and wrong(weights) == 0:
            break
        for _ in range(instance.N):
            counter += 1
            word = random_word(key, counter)
            i = ((word >> 32) * instance.N) >> 32
            before = total(weights)
            weights[i] *= -1
            change = total(weights) - before
            if change > 0 and (word & 0xFFFFFFFF) >= math.floor(2**32 * math.exp(-beta * table.unit * change)):
                weights[i] *= -1
            elif stop and wrong(weights) == 0:
                break
        errors.append(wrong(weights))
    return weights, counter, errors


INSTANCES = [
    random_patterns(N=1, P=3, seed=0),
    random_patterns(N=33, P=1, seed=0),
    random_patterns(N=65, P=40, seed=0),
    hidden_manifold(D=21, P=63, N=63, seed=0),
]


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda i: f"{i.N}-{i.P}")
@pytest.mark.parametrize("energy, gamma", CASES)
@pytest.mark.parametrize("margin, beta, stop", [(0.0, 0.0, False), (0.0, 0.7, False), (0.6, 3.0, True)])
def test_the_kernel_makes_the_moves_of_the_plain_chain(instance, energy, gamma, margin, beta, stop):
    betas = beta + 0.3 * np.arange(5)
    expected = twin_sweeps(instance, margin, energy, gamma, start(instance.N, 7)[0], 7, betas, stop)
    weights, stream = start(instance.N, 7)
    errors = np.zeros(len(betas), np.int64)
    done = energy_sweeper(instance, margin, weights, stream, energy, gamma)(betas, stop, errors)
    np.testing.assert_array_equal(weights, expected[0])
    assert (int(stream[1]), errors[:done].tolist()) == expected[1:]


@pytest.mark.parametrize("energy, gamma", CASES)
def test_kept_sums_are_the_recomputed_ones_after_every_sweep(energy, gamma):
    instance, margin = random_patterns(N=201, P=130, seed=1), 0.3
    least = smallest_allowed(margin, 201)
    table = energy_table(energy, 201, 130, least, gamma)
    weights, stream = start(201, 3)
    sums, errors = instance.sums(weights).astype(np.int32), np.zeros(1, np.int64)
    masks = -np.ascontiguousarray(instance.signed_patterns.T > 0).astype(np.int8)
    for sweep in range(20):
        before = weights.copy()
        beta = np.array([0.2 * sweep]) * table.unit
        energy_sweeps(masks, table.odd, table.even, least, sums, weights, stream, beta, False, errors)
        assert (weights != before).any() or sweep > 2
        np.testing.assert_array_equal(sums, instance.sums(weights))
        assert errors[0] == round(instance.train_error(weights, margin) * 130)


@pytest.mark.parametrize("energy, gamma", CASES)
def test_sums_over_the_patterns_at_the_limit_of_their_integers(energy, gamma):
    """All patterns are equal. At the start each is in error as much as it can be, so their changes add up."""
    N, P, key = 9, 37, 7
    instance = Instance(np.ones((P, N), np.int8), np.ones(P, np.int8), seed=0)
    table = energy_table(energy, N, P, 1, gamma)
    largest = P * int(table.odd.max())
    assert largest < 2**31 and (energy == "linear" or largest > 2**31 - 3 * P)
    weights, stream, betas = np.full(N, -1, np.int8), np.array([key, 0], np.uint64), np.full(10, 0.01)
    expected = twin_sweeps(instance, 0.0, energy, gamma, weights, key, betas, False)
    errors = np.zeros(len(betas), np.int64)
    energy_sweeper(instance, 0.0, weights, stream, energy, gamma)(betas, False, errors)
    np.testing.assert_array_equal(weights, expected[0])
    assert errors.tolist() == expected[2] and len(set(errors.tolist())) > 1


@pytest.mark.parametrize("energy, most", [("linear", 715_827_882), ("cross_entropy", 2_095_105)])
def test_more_patterns_than_the_integers_have_room_for_are_refused(energy, most):
    table = energy_table(energy, 101, most, 1, 1.0)
    assert most * int(table.odd.max()) < 2**31 and table.odd.max() >= (2 if energy == "linear" else 2**10)
    with pytest.raises(DomainError, match=f"allowed is up to {most}$") as refused:
        energy_table(energy, 101, most + 1, 1, 1.0)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("N, P", [(1, 1), (5, 3), (63, 1000), (1001, 1)])
@pytest.mark.parametrize("margin", [0.0, 0.4])
@pytest.mark.parametrize("energy, gamma", [*CASES, ("cross_entropy", 1e-3), ("cross_entropy", 1e6)])
def test_the_table_is_the_energy_and_its_differences(N, P, margin, energy, gamma):
    least = smallest_allowed(margin, N)
    table = energy_table(energy, N, P, least, gamma)
    sums = np.arange(-N, N + 1, 2)
    expected = np.array([pattern_energy(energy, gamma, int(s), least, N) for s in sums])
    # Rounded to a unit, at most 2⁻²⁰ of the largest change by two flips.
    assert energy == "linear" or table.odd.max() >= 2**20
    np.testing.assert_allclose(table.values[1:-1] * table.unit, expected, rtol=1e-12, atol=table.unit)
    for place in range(len(sums)):
        below, here, above = table.values[place : place + 3].tolist()
        assert table.odd[place] == below - above and table.even[place] == below + above - 2 * here


@pytest.mark.parametrize("energy, gamma, beta, margin", [("linear", 1, 0.5, 0), ("cross_entropy", 2, 1.5, 0.9)])
def test_states_are_drawn_from_the_gibbs_distribution(energy, gamma, beta, margin):
    instance = random_patterns(N=7, P=9, seed=2)
    least = smallest_allowed(margin, 7)
    configurations = all_signs(7, int)
    sums = configurations @ instance.signed_patterns.T.astype(int)
    energies = [sum(pattern_energy(energy, gamma, int(s), least, 7) for s in row) for row in sums]
    expected = np.exp(-beta * np.array(energies))
    expected /= expected.sum()
    weights, stream = start(7, 11)
    run = energy_sweeper(instance, margin, weights, stream, energy, gamma)
    states = sampled_states(run, weights, beta, samples=40_000, sweeps_between=20)
    counts = np.bincount(states, minlength=128)
    # Twenty sweeps apart the states are independent; χ² over those that are expected often enough.
    often = len(states) * expected > 5
    assert often.sum() > 40
    theory = np.append(len(states) * expected[often], len(states) * expected[~often].sum() + 1e-9)
    measured = np.append(counts[often], counts[~often].sum())
    chi_squared = ((measured - theory) ** 2 / theory)[theory > 5].sum()
    bins = (theory > 5).sum() - 1
    assert abs(chi_squared - bins) < 4 * math.sqrt(2 * bins)


def test_moves_are_in_detailed_balance():
    instance = random_patterns(N=5, P=7, seed=4)
    weights, stream = start(5, 11)
    run = energy_sweeper(instance, 0.0, weights, stream, "cross_entropy", 1.0)
    assert_detailed_balance(sampled_states(run, weights, 1.5, samples=100_000, sweeps_between=1))


def test_cross_entropy_leads_where_the_number_of_errors_does_not():
    """Same schedule, same random numbers (`shaping`): the errors freeze early, the cross-entropy solves."""
    instance = random_patterns(N=1001, P=400, seed=0)
    errors = anneal(instance, seed=0)
    entropy = anneal(instance, seed=0, energy="cross_entropy")
    assert not errors.solved and errors.best_train_error > 0.05
    assert entropy.solved and entropy.train_errors[-1] == 0 and instance.train_error(entropy.weights) == 0
    np.testing.assert_array_equal(errors.train_errors[0], entropy.train_errors[0])
    strict = anneal(instance, seed=0, energy="cross_entropy", margin=0.05, sweeps=100)
    assert not strict.solved and strict.train_errors[-1] == instance.train_error(strict.weights, 0.05)


@pytest.mark.parametrize("energy", ["errors", "cross_entropy"])
def test_a_run_may_go_on_after_its_first_solution(energy):
    instance = random_patterns(N=301, P=80, seed=3)
    schedule: dict[str, Any] = {"beta_start": 1.0, "beta_step": 0.1, "sweeps": 1000}
    stopped = anneal(instance, seed=1, energy=energy, **schedule)
    whole = anneal(instance, seed=1, energy=energy, stop_at_first=False, **schedule)
    assert stopped.solved and stopped.first_weights is None and stopped.iterations < whole.iterations == 1000
    np.testing.assert_array_equal(whole.first_weights, stopped.weights)
    np.testing.assert_array_equal(whole.train_errors[: stopped.iterations + 1], stopped.train_errors)
    assert len(whole.train_errors) == 1001 and whole.train_errors[-1] == instance.train_error(whole.weights)
    # What goes on is the loss, and it falls where there are no errors; the number of errors only diffuses.
    losses = [
        sum(pattern_energy("cross_entropy", 1.0, round(s), 1, 301) for s in instance.sums(weights).tolist())
        for weights in (whole.weights, stopped.weights)
    ]
    assert whole.solved and (losses[0] < 0.8 * losses[1]) == (energy == "cross_entropy")
    failed = anneal(random_patterns(N=33, P=66, seed=0), seed=0, energy=energy, sweeps=5, stop_at_first=False)
    assert failed.first_weights is None and failed.iterations == 5


@pytest.mark.parametrize(
    "options, message",
    [
        ({"energy": "entropy"}, "nearest is 'cross_entropy'"),
        ({"energy": None}, "energy = None"),
        ({"energy": "cross_entropy", "gamma": 0.0}, "gamma = 0"),
        ({"energy": "cross_entropy", "gamma": math.inf}, "gamma = inf"),
        ({"energy": "cross_entropy", "gamma": "1"}, "gamma = '1'"),
        ({"energy": "linear", "margin": 99.0}, "margin = 99"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(DomainError, match=message) as refused:
        anneal(random_patterns(N=33, P=9, seed=0), seed=0, **options)
    assert "\n" not in str(refused.value)


def test_other_energies_need_the_lattice():
    with pytest.raises(DomainError, match="needs ±1 patterns"):
        anneal(hidden_manifold(D=5, P=9, N=33, seed=0, activation="tanh"), seed=0, energy="linear")
    with pytest.raises(DomainError, match="N = 32 is even"):
        anneal(random_patterns(N=32, P=9, seed=0), seed=0, energy="linear")
