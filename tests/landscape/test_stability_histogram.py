import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.perceptron import effective_margin, hidden_manifold, random_patterns
from localentropy.landscape.binary_overlaps import overlaps
from localentropy.landscape.pairs import pair_mean
from localentropy.landscape.stability_histogram import StabilityHistogram, chi_squared_per_bin, stability_histogram
from localentropy.solvers.sbpi import sbpi


def solved(N, P, samples, margin=0.0):
    instances = [hidden_manifold(D=67, P=P, N=N, seed=seed) for seed in range(samples)]
    return instances, [sbpi(one, seed=0, margin=margin).weights for one in instances]


@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_each_value_of_the_lattice_has_its_bin(margin):
    instances, weights = solved(1005, 201, 3, margin)
    histogram = stability_histogram(instances, weights, margin=margin)
    assert histogram.edges[0] == effective_margin(margin, 1005)
    np.testing.assert_allclose(np.diff(histogram.edges), 2 / math.sqrt(1005))
    for counts, instance, solution in zip(histogram.counts, instances, weights, strict=True):
        stabilities = instance.stabilities(solution)
        assert stabilities.min() >= margin
        for centre, count in zip(histogram.stability, counts, strict=True):
            assert count == (np.abs(stabilities - centre) < 1e-9).sum()
        assert counts.sum() == 201
    assert histogram.counts[:, -1].any()


def test_means_and_errors_are_over_samples():
    histogram = stability_histogram(*solved(403, 201, 4), width=3)
    fractions = histogram.counts / 201
    np.testing.assert_allclose(histogram.probability, fractions.mean(0))
    np.testing.assert_allclose(histogram.probability_error, fractions.std(0, ddof=1) / 2)
    np.testing.assert_allclose((histogram.density * np.diff(histogram.edges)).sum(), 1)
    np.testing.assert_allclose(histogram.density_error, histogram.probability_error * math.sqrt(403) / 6)
    assert np.isnan(stability_histogram(*solved(403, 201, 1)).density_error).all()


def test_wide_bins_are_sums_of_narrow_ones():
    instances, weights = solved(403, 201, 2)
    narrow = stability_histogram(instances, weights)
    wide = stability_histogram(instances, weights, width=4)
    padded = np.pad(narrow.counts, ((0, 0), (0, 4 * wide.counts.shape[1] - narrow.counts.shape[1])))
    np.testing.assert_array_equal(wide.counts, padded.reshape(2, -1, 4).sum(2))
    np.testing.assert_allclose(wide.edges[:-1], narrow.edges[:-1:4])


@pytest.mark.parametrize("N", [101, 102])
@pytest.mark.parametrize("width", [1, 3])
def test_errors_have_bins_left_of_zero(N, width):
    instances = [random_patterns(N=N, P=200, seed=0)]
    weights = [np.ones(N, np.int8)]
    histogram = stability_histogram(instances, weights, width=width)
    sums = instances[0].sums(weights[0])
    # For N odd, 0 is an edge; for N even it is a value of the lattice, and an error.
    border = np.flatnonzero(np.abs(histogram.edges - (N % 2 == 0) / math.sqrt(N)) < 1e-9)
    assert border.size == 1
    assert histogram.counts[0, : border[0]].sum() == (sums <= 0).sum()
    assert histogram.counts.sum() == 200


def test_chi_squared_of_the_right_theory_is_one():
    random = np.random.default_rng(0)
    probabilities = np.diff([0.0, 0.2, 0.5, 0.7, 0.8, 0.9, 0.95, 0.97, 0.99, 0.9999, 1.0])
    values = []
    for _ in range(300):
        histogram = StabilityHistogram(np.arange(11.0), random.multinomial(300, probabilities, 8))
        value, bins = chi_squared_per_bin(histogram, probabilities)
        assert bins == 8  # the first and the one with 0.24 expected patterns are left out
        values.append(value)
    assert abs(np.mean(values) - 1) < 4 * np.std(values) / math.sqrt(len(values))
    wrong = np.roll(probabilities, 1)
    assert chi_squared_per_bin(histogram, wrong)[0] > 10


def test_chi_squared_refuses_too_little():
    histogram = StabilityHistogram(np.arange(4.0), np.ones((3, 3), np.int64))
    with pytest.raises(DomainError, match="4 samples"):
        chi_squared_per_bin(histogram, np.ones(3) / 3)
    histogram = StabilityHistogram(np.arange(4.0), np.ones((5, 3), np.int64))
    with pytest.raises(DomainError, match="3 bins"):
        chi_squared_per_bin(histogram, np.ones(2) / 2)
    with pytest.raises(DomainError, match="no bin"):
        chi_squared_per_bin(histogram, np.ones(3) / 3)


def test_wrong_histograms_are_refused():
    instances, weights = solved(403, 201, 2)
    real = hidden_manifold(D=5, P=9, N=403, seed=0, activation="tanh")
    for one, other, width in [
        ([], [], 1),
        (instances, weights[:1], 1),
        (instances, weights, 0),
        ([*instances, real], [*weights, weights[0]], 1),
        (instances, [weights[0], 0.5 * weights[1]], 1),
        ([instances[0], random_patterns(N=5, P=5, seed=0)], [weights[0], np.ones(5)], 1),
        (instances, [weights[0], weights[1][:-1]], 1),
    ]:
        with pytest.raises(DomainError):
            stability_histogram(one, other, width=width)


def test_overlaps_of_all_pairs():
    weights = 2 * np.random.default_rng(0).integers(0, 2, (4, 21), dtype=np.int8) - 1
    first, second, values = overlaps(weights)
    assert list(zip(first, second, strict=True)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for one, other, value in zip(first, second, values, strict=True):
        assert value == sum(int(a) * int(b) for a, b in zip(weights[one], weights[other], strict=True)) / 21
    assert pair_mean(first, second, values)[0] == pytest.approx(np.mean(values))
    assert overlaps(np.stack([weights[0], -weights[0]]))[2] == [-1]


@pytest.mark.parametrize("weights", [np.ones((1, 5)), np.ones(5), np.zeros((3, 5)), np.ones((3, 0))])
def test_wrong_weights_have_no_overlaps(weights):
    with pytest.raises(DomainError, match="±1"):
        overlaps(weights)
