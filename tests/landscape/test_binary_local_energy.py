import itertools
import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, hidden_manifold, random_patterns, smallest_allowed
from localentropy.landscape.binary_local_energy import (
    expected_flip_energy,
    flip_energy,
    flipped,
    numbers_of_flips,
)
from localentropy.solvers.binary.anneal import mct0
from localentropy.solvers.binary.sbpi import sbpi

DISTANCES = (0.005, 0.02, 0.1, 0.3, 0.5, 1.0)


def random_weights(N, seed=0):
    return 2 * np.random.default_rng(seed).integers(0, 2, N, dtype=np.int8) - 1


def twin(instance, weights, orders, flips, margin):
    """Recomputes every energy from the patterns."""
    energy = np.empty((len(flips), len(orders)))
    for row, k in enumerate(flips):
        for column, order in enumerate(orders):
            changed = weights.astype(int).copy()
            changed[order[:k]] *= -1
            sums = (instance.patterns.astype(float) @ changed) * instance.labels
            if instance.binary:
                energy[row, column] = np.mean(sums < smallest_allowed(margin, instance.N))
            else:
                energy[row, column] = np.mean((sums <= 0) | (sums < margin * math.sqrt(instance.N)))
    return energy


@pytest.mark.parametrize("activation", ["sign", "tanh"])
@pytest.mark.parametrize("margin", [0.0, 0.4])
@pytest.mark.parametrize("N, P", [(101, 60), (64, 33), (3, 1)])
def test_running_sums_give_the_recomputed_errors(monkeypatch, activation, margin, N, P):
    instance = hidden_manifold(D=20, P=P, N=N, seed=0, activation=activation)
    weights = random_weights(N)
    seen = []
    generator = np.random.default_rng(5)

    class Recorded:
        def permutation(self, size):
            seen.append(generator.permutation(size))
            return seen[-1]

    monkeypatch.setattr("localentropy.seeds.generator", lambda *_, **__: Recorded())
    unsorted = (0.5, 0.0, 0.02, 1.0, 0.3, 0.3)
    result = flip_energy(instance, weights, distances=unsorted, realisations=7, seed=0, margin=margin)
    assert result.flips.tolist() == [round(d * N) for d in unsorted]
    np.testing.assert_array_equal(result.train_error, twin(instance, weights, seen, result.flips, margin))
    assert (result.train_error[1] == instance.train_error(weights, margin)).all()


@pytest.mark.parametrize("margin", [0.0, 0.9])
def test_both_agree_with_the_enumeration_of_all_flips(margin):
    N = 11
    instance = random_patterns(N=N, P=9, seed=1)
    weights = random_weights(N, 3)
    flips = np.arange(N + 1)
    energies = [
        instance.train_error(flipped(weights, np.array(list(itertools.combinations(range(N), k)), int)), margin).mean()
        for k in flips[1:]
    ]
    exact = np.array([instance.train_error(weights, margin), *energies])
    expected = expected_flip_energy(instance, weights, distances=flips / N, margin=margin)
    np.testing.assert_allclose(expected, exact, atol=1e-13)
    sampled = flip_energy(instance, weights, distances=flips / N, realisations=20_000, seed=2, margin=margin)
    fluctuating = sampled.standard_error > 1e-9
    assert np.array_equal(fluctuating, [False, *[True] * (N - 1), False])
    np.testing.assert_allclose(sampled.mean[~fluctuating], exact[~fluctuating], atol=1e-13)
    z = ((sampled.mean - exact) / np.where(fluctuating, sampled.standard_error, 1))[fluctuating]
    assert np.abs(z).max() < 4


def test_sampling_has_the_exact_mean_at_a_usual_size():
    instance = hidden_manifold(D=67, P=201, N=403, seed=0)
    weights = sbpi(instance, seed=0).weights
    exact = expected_flip_energy(instance, weights, distances=DISTANCES)
    sampled = flip_energy(instance, weights, distances=DISTANCES, realisations=2000, seed=0)
    z = (sampled.mean - exact)[:-1] / sampled.standard_error[:-1]
    assert np.abs(z).max() < 4
    assert exact[-1] == sampled.mean[-1] == 1.0 and sampled.standard_error[-1] == 0


def test_large_systems_follow_the_integral_over_the_stabilities():
    """E(d) = ⟨H((1 − 2d) Δ / √(4 d (1 − d)))⟩, the threshold half-way between the values that a sum can take."""
    instance = random_patterns(N=10_001, P=400, seed=0)
    weights = random_weights(instance.N)
    distances = np.array([0.02, 0.1, 0.3])
    sums = instance.sums(weights)
    width = np.sqrt(4 * distances * (1 - distances) * instance.N)
    # Even numbers of flips change a sum by multiples of 4.
    threshold = np.where(sums % 4 == 1, -1, 1)
    x = ((1 - 2 * distances)[:, None] * sums - threshold) / width[:, None]
    integral = 0.5 * np.array([[math.erfc(one / math.sqrt(2)) for one in row] for row in x]).mean(1)
    expected = expected_flip_energy(instance, weights, distances=distances)
    np.testing.assert_allclose(expected, integral, atol=1e-5)


def test_the_flips_are_the_same_for_all_solutions_grids_and_numbers_of_realisations():
    instance = hidden_manifold(D=67, P=201, N=1005, seed=0)
    weights = random_weights(1005)
    full = flip_energy(instance, weights, distances=DISTANCES, realisations=20, seed=4)
    part = flip_energy(instance, weights, distances=DISTANCES[3:1:-1], realisations=5, seed=4)
    np.testing.assert_array_equal(part.train_error, full.train_error[3:1:-1, :5])
    other = flip_energy(instance, weights, distances=DISTANCES, realisations=20, seed=5)
    assert (other.train_error[:-1] != full.train_error[:-1]).any()
    # Opposite weights on opposite labels have the same sums: the same flips make the same errors.
    mirrored = Instance(patterns=instance.patterns, labels=-instance.labels, seed=0)
    opposite = flip_energy(mirrored, -weights, distances=DISTANCES, realisations=20, seed=4)
    np.testing.assert_array_equal(opposite.train_error, full.train_error)


def test_a_single_realisation_has_no_error_bar():
    instance = random_patterns(N=11, P=5, seed=0)
    assert np.isnan(flip_energy(instance, random_weights(11), distances=[0.5], realisations=1, seed=0).standard_error)


def test_sbpi_solutions_are_flat_and_typical_ones_sharp():
    """Measured elsewhere at 1/α = 15: 0.0731 and 0.0037 at d = 0.02."""
    instances = [hidden_manifold(D=67, P=201, N=3015, seed=seed) for seed in range(8)]
    energies = []
    for solver in (mct0, sbpi):
        solutions = [solver(one, seed=0) for one in instances]
        assert all(one.solved for one in solutions)
        energies.append(
            np.mean(
                [
                    expected_flip_energy(one, found.weights, distances=[0.02])[0]
                    for one, found in zip(instances, solutions, strict=True)
                ]
            )
        )
    assert 0.06 < energies[0] < 0.085 and energies[1] < 0.01


@pytest.mark.parametrize(
    "change, message",
    [
        ({"weights": np.ones(10)}, r"shape \(10,\)"),
        ({"weights": np.full(11, 0.5)}, "weights: 0.5 is among them, allowed are 1 and -1"),
        ({"distances": [0.1, 1.2]}, "distance = 1.2"),
        ({"distances": []}, "no distance"),
        ({"distances": [math.nan]}, "distance = nan"),
        ({"realisations": 0}, "realisations = 0"),
        ({"margin": 5.0}, "margin = 5.0"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    arguments = {"weights": random_weights(11), "distances": [0.1], "realisations": 2, "margin": 0.0} | change
    weights = arguments.pop("weights")
    with pytest.raises(DomainError, match=message):
        flip_energy(random_patterns(N=11, P=5, seed=0), weights, seed=0, **arguments)


def test_the_exact_energy_refuses_real_patterns():
    instance = hidden_manifold(D=5, P=5, N=11, seed=0, activation="tanh")
    with pytest.raises(DomainError, match="±1 patterns"):
        expected_flip_energy(instance, random_weights(11), distances=[0.1])


def test_numbers_of_flips_are_the_nearest():
    assert numbers_of_flips([0.0, 0.004, 0.006, 0.5, 1.0], 101).tolist() == [0, 0, 1, 50, 101]
