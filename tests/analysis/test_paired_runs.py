"""Differences of runs on the same training sets, and rank correlations of runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localentropy.analysis.statistics import paired_differences, spearman, spearman_over_sets
from localentropy.errors import DomainError


def test_differences_are_taken_on_common_training_sets_only() -> None:
    rows = [("a", 0, 0.1, 5.0), ("a", 1, 0.1, 7.0), ("a", 1, 0.2, 9.0), ("b", 1, 0.1, 4.0), ("b", 2, 0.1, 1.0)]
    table = pd.DataFrame(rows, columns=["algorithm", "sample", "distance", "entropy"]).sample(frac=1, random_state=1)
    found = paired_differences(table, "entropy", "a", "b", by=["distance"])
    assert found.to_dict() == {(0.1, 1): 3.0}
    at = table[table["distance"] == 0.1]
    assert paired_differences(at, "entropy", "b", "a").to_dict() == {1: -3.0}
    assert paired_differences(at, "entropy", "a", "c").empty


def test_the_luck_of_a_training_set_drops_out_of_differences() -> None:
    luck = np.random.default_rng(0).standard_normal(200)
    rows = [
        pd.DataFrame({"algorithm": name, "sample": np.arange(200), "entropy": luck + shift})
        for name, shift in (("a", 0.5), ("b", 0.2))
    ]
    np.testing.assert_allclose(paired_differences(pd.concat(rows), "entropy", "a", "b"), 0.3, rtol=1e-12)


def test_rank_correlation_of_known_ranks() -> None:
    # With distinct ranks ρ = 1 − 6 Σ d²/(n (n² − 1)).
    x, y = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 3.0, 2.0, 5.0, 4.0]
    rho, _ = spearman(x, np.exp(y))
    assert rho == pytest.approx(1 - 6 * 4 / (5 * 24), abs=1e-12)
    assert spearman(x, np.negative(y))[0] == pytest.approx(-rho, abs=1e-12)
    with pytest.raises(DomainError, match="at least 4 runs, got 3"):
        spearman(x[:3], y[:3])


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_error_of_the_rank_correlation_is_its_spread(correlation: float) -> None:
    stream = np.random.default_rng(2)
    found = []
    for _ in range(400):
        x, noise = stream.standard_normal((2, 60))
        found.append(spearman(x, correlation * x + np.sqrt(1 - correlation**2) * noise))
    rhos, errors = np.transpose(found)
    # The spread of 400 values is known to 4 %, the formula to a few per cent.
    assert np.std(rhos) == pytest.approx(np.mean(errors), rel=0.12)


@pytest.mark.parametrize("luck", [0.0, 2.0])
def test_error_over_training_sets_is_the_spread_also_if_runs_share_their_luck(luck: float) -> None:
    """Four runs on each of twelve sets. Shared luck in both quantities widens the spread, which the formula misses."""
    stream = np.random.default_rng(3)
    sets = np.repeat(np.arange(12), 4)
    found, plain = [], []
    for _ in range(300):
        shared = luck * stream.standard_normal((2, 12))[:, sets]
        x, y = stream.standard_normal((2, 48)) + shared
        found.append(spearman_over_sets(x, y, sets))
        plain.append(spearman(x, y)[1])
    rhos, errors = np.transpose(found)
    assert np.std(rhos) == pytest.approx(np.mean(errors), rel=0.2)
    assert (np.std(rhos) > 1.5 * np.mean(plain)) == (luck > 0.0)


def test_two_training_sets_are_too_few() -> None:
    with pytest.raises(DomainError, match="at least 3 of them, got 2"):
        spearman_over_sets(range(10), range(10), [0] * 5 + [1] * 5)
