"""Noise on inputs: its marginals and rates, its limits, and that all weights meet the same noise."""

import numpy as np
import pytest
from scipy import stats

from localentropy.errors import DomainError
from localentropy.instances.committee import FullCommittee, TreeCommittee, random_tree_committee
from localentropy.instances.perceptron import Instance
from localentropy.landscape.input_noise import input_noise_error, resampled

RANDOM = np.random.default_rng(0)
MARGINALS = np.array([0.0, 0.1, 0.5, 0.8, 1.0, 0.3])
PATTERNS = np.where(RANDOM.random((4000, 6)) < MARGINALS, 1, -1).astype(np.int8)


def test_pixels_keep_their_marginals_and_forget_their_values():
    plus = (PATTERNS > 0).mean(0)
    (noisy,) = resampled(PATTERNS, np.array([1.0]), np.random.default_rng(1))
    assert noisy.dtype == np.int8 and set(np.unique(noisy)) == {-1, 1}
    for pixel, frequency in enumerate(plus):
        counts = int((noisy[:, pixel] > 0).sum())
        assert stats.binomtest(counts, 4000, frequency).pvalue > 1e-4
        if 0 < frequency < 1:
            together = stats.contingency.crosstab(noisy[:, pixel], PATTERNS[:, pixel])[1]
            assert stats.chi2_contingency(together).pvalue > 1e-4
        else:
            np.testing.assert_array_equal(noisy[:, pixel], PATTERNS[:, pixel])


@pytest.mark.parametrize("probability", [0.05, 0.3, 0.9])
def test_as_many_pixels_change_as_the_probability_says(probability):
    """A new value differs from the old one with probability 2 f (1 − f)."""
    plus = (PATTERNS > 0).mean(0)
    (noisy,) = resampled(PATTERNS, np.array([probability]), np.random.default_rng(2))
    for pixel, frequency in enumerate(plus):
        changed = int((noisy[:, pixel] != PATTERNS[:, pixel]).sum())
        rate = probability * 2 * frequency * (1 - frequency)
        assert stats.binomtest(changed, 4000, rate).pvalue > 1e-4


def test_what_changes_at_a_small_probability_changes_at_a_larger_one():
    low, high = resampled(PATTERNS, np.array([0.2, 0.6]), np.random.default_rng(3))
    moved = low != PATTERNS
    assert moved.any()
    np.testing.assert_array_equal(high[moved], low[moved])


def test_no_noise_leaves_the_train_error():
    instance = random_tree_committee(N=45, P=60, K=9, seed=0)
    weights = np.random.default_rng(0).standard_normal((9, 5))
    errors = input_noise_error(instance, weights, probabilities=[0.0, 0.5], draws=3, seed=0)
    assert errors.shape == (2, 3)
    np.testing.assert_array_equal(errors[0], instance.train_error(weights))
    assert len(set(errors[1])) > 1
    # Norms of units do not matter, and the same seed gives the same noise.
    again = input_noise_error(instance, 5 * weights, probabilities=[0.5], draws=3, seed=0)
    np.testing.assert_array_equal(again[0], errors[1])
    assert (input_noise_error(instance, weights, probabilities=[0.5], draws=3, seed=1)[0] != errors[1]).any()


@pytest.mark.parametrize("machine", [TreeCommittee, FullCommittee])
def test_error_of_one_unit_follows_from_the_pixels(machine):
    """A unit that looks at one pixel, which is the label: wrong where the pixel was drawn again and changed."""
    labels = PATTERNS[:, 3]
    instance = machine(Instance(PATTERNS, labels, 0), 1)
    weights = np.array([[0, 0, 0, 2.0, 0, 0]])
    errors = input_noise_error(instance, weights, probabilities=[0.4], draws=20, seed=0)[0]
    frequency = (labels > 0).mean()
    rate = 0.4 * 2 * frequency * (1 - frequency)
    assert stats.binomtest(round(errors.sum() * 4000), 20 * 4000, rate).pvalue > 1e-4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probabilities": [0.1, 1.5]}, "probability = 1.5 is out of range: allowed are [0, 1]"),
        ({"probabilities": []}, "no probability given"),
        ({"draws": 0}, "draws = 0 is out of range"),
        ({"seed": 0.5}, "seed = 0.5 is not an integer"),
        ({"weights": np.ones((3, 5))}, "weights of shape (3, 5): allowed is (3, 4)"),
    ],
)
def test_wrong_arguments(change, message):
    instance = random_tree_committee(N=12, P=5, K=3, seed=0)
    arguments = {"weights": np.ones((3, 4)), "probabilities": [0.1], "draws": 1, "seed": 0} | change
    with pytest.raises(DomainError) as error:
        input_noise_error(instance, arguments.pop("weights"), **arguments)
    assert message in str(error.value)
