"""Overlap and local energy of solutions of the tree committee machine."""

import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.committee import random_tree_committee
from localentropy.landscape.committee import committee_local_energy, committee_overlap
from localentropy.solvers.committee.sgd import start

INSTANCE = random_tree_committee(N=9 * 400, P=60, K=9, seed=0)
WEIGHTS = np.stack([start(INSTANCE, seed)[0] for seed in range(3)])
SIGMAS = (0.0, 0.1, 0.5, 1.0)


def energy(weights=WEIGHTS, draws=8, seeds=(0, 1, 2)):
    generators = [np.random.default_rng(seed) for seed in seeds]
    return committee_local_energy(INSTANCE, weights, sigmas=SIGMAS, draws=draws, generators=generators)


def test_overlap_is_the_mean_cosine_of_the_units():
    first, second = np.random.default_rng(0).standard_normal((2, 3, 7))
    cosines = [a @ b / math.sqrt(a @ a * (b @ b)) for a, b in zip(first, second, strict=True)]
    assert committee_overlap(first, second) == pytest.approx(np.mean(cosines), rel=1e-12)
    assert committee_overlap(first, 3 * first) == pytest.approx(1.0)
    assert committee_overlap(first, first * [[1], [1], [-2]]) == pytest.approx(1 / 3)
    assert committee_overlap(WEIGHTS, WEIGHTS[0]).shape == (3,)


@pytest.mark.parametrize("size", [2.0**-600, 2.0**-530, 2.0**700])
def test_no_size_is_too_small_or_too_large_for_an_overlap(size):
    first, second = np.random.default_rng(0).standard_normal((2, 3, 7))
    expected = committee_overlap(first, second)
    assert committee_overlap(size * first, second) == committee_overlap(size * first, size * second) == expected


def test_units_without_a_direction_or_of_another_norm_are_refused():
    zeros = WEIGHTS * (np.arange(9) > 0)[:, None]
    with pytest.raises(DomainError, match="a unit is all zeros"):
        committee_overlap(zeros, WEIGHTS)
    with pytest.raises(DomainError, match=r"a unit has the norm 0\.9, allowed is 1"):
        energy(0.9 * WEIGHTS)
    with pytest.raises(DomainError, match=r"1e\+200 is among them, allowed are units with the norm 1"):
        energy(np.full_like(WEIGHTS, 1e200))


def test_no_noise_gives_the_train_error():
    found = energy()
    np.testing.assert_array_equal(found.train_error[0], np.tile(INSTANCE.train_error(WEIGHTS)[:, None], 8))
    assert (found.distance[0] < 1e-15).all()


def test_distance_per_unit_follows_its_law():
    found = energy()
    for level, sigma in enumerate(SIGMAS):
        squares = (found.distance_per_unit[level] ** 2).mean()
        assert squares == pytest.approx(2 * (1 - 1 / math.sqrt(1 + sigma**2)), rel=0.03, abs=1e-12)


def test_energies_are_those_of_perturbed_machines():
    found = energy(WEIGHTS[1:2], draws=1, seeds=(5,))
    noise = np.random.default_rng(5).standard_normal(WEIGHTS[0].size).reshape(9, 400)
    for level, sigma in enumerate(SIGMAS):
        moved = WEIGHTS[1] * (1 + sigma * noise)
        moved /= np.linalg.norm(moved, axis=1, keepdims=True)
        assert found.train_error[level, 0, 0] == INSTANCE.train_error(moved)
        assert found.distance[level, 0, 0] == pytest.approx(np.linalg.norm(moved - WEIGHTS[1]), abs=1e-12)
        assert found.distance_per_unit[level, 0, 0] == pytest.approx(found.distance[level, 0, 0] / 3)
