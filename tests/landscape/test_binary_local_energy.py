import itertools
import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.perceptron import hidden_manifold, random_patterns
from localentropy.landscape.binary_local_energy import energy_of_sums, expected_flip_energy, numbers_of_flips
from localentropy.solvers.binary.anneal import mct0
from localentropy.solvers.binary.sbpi import sbpi


def random_weights(N, seed=0):
    return 2 * np.random.default_rng(seed).integers(0, 2, N, dtype=np.int8) - 1


@pytest.mark.parametrize("margin", [0.0, 0.9])
def test_it_is_the_mean_over_all_choices_of_the_flipped_weights(margin):
    N = 11
    instance = random_patterns(N=N, P=9, seed=1)
    weights = random_weights(N, 3)
    exact = []
    for k in range(N + 1):
        flipped = np.array([weights] * math.comb(N, k))
        for row, places in zip(flipped, itertools.combinations(range(N), k), strict=True):
            row[list(places)] *= -1
        exact.append(instance.train_error(flipped, margin).mean())
    expected = expected_flip_energy(instance, weights, distances=np.arange(N + 1) / N, margin=margin)
    np.testing.assert_allclose(expected, exact, atol=1e-13)
    assert len(set(expected)) > 6


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
        ({"weights": np.full(11, 0.5)}, r"weights\[0\] = 0.5: allowed are 1 and -1"),
        ({"distances": [0.1, 1.2]}, "distance = 1.2"),
        ({"distances": []}, "no distance"),
        ({"distances": [math.nan]}, "distance = nan"),
        ({"margin": 5.0}, "margin = 5.0"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    arguments = {"weights": random_weights(11), "distances": [0.1], "margin": 0.0} | change
    weights = arguments.pop("weights")
    with pytest.raises(DomainError, match=message):
        expected_flip_energy(random_patterns(N=11, P=5, seed=0), weights, **arguments)


def test_the_exact_energy_refuses_real_patterns():
    instance = hidden_manifold(D=5, P=5, N=11, seed=0, activation="tanh")
    with pytest.raises(DomainError, match="±1 patterns"):
        expected_flip_energy(instance, random_weights(11), distances=[0.1])


def test_numbers_of_flips_are_the_nearest():
    assert numbers_of_flips([0.0, 0.004, 0.006, 0.5, 1.0], 101).tolist() == [0, 0, 1, 50, 101]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"sums": [1, 2]}, r"sums: 2 is among them, allowed are −N, −N \+ 2, …, N, with N = 5"),
        ({"sums": [-7, 1]}, "sums: -7 is among them"),
        ({"flips": [0, 6]}, "flips: 6 is among them, allowed are integers from 0 to N = 5"),
        ({"flips": [-1]}, "flips: -1 is among them"),
        ({"flips": [0.5]}, "flips: 0.5 is among them"),
        ({"counts": [1.0]}, r"counts of shape \(1,\): allowed is \(2,\)"),
        ({"N": 0}, "N = 0 is out of range"),
        ({"least": 0.5}, "least = 0.5 is not an integer"),
    ],
)
def test_impossible_sums_and_flips_have_no_energy(change, message):
    with pytest.raises(DomainError, match=message):
        energy_of_sums(**{"sums": [1, 3], "counts": [1, 1], "flips": [0, 1], "N": 5, "least": 1} | change)
