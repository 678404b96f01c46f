"""The pooled score of two groups: a table by hand, its sign, its distribution where the groups are alike."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from localentropy.analysis.statistics import pooled_score
from localentropy.errors import DomainError


def score(n: list[int], solved: list[int], n_fewer: list[int], solved_fewer: list[int]) -> float:
    return pooled_score(*(pd.Series(column) for column in (n, solved, n_fewer, solved_fewer)))


def test_two_sizes_by_hand() -> None:
    # Size 1: 10 runs, 4 of them of the second group; 6 are solved, 1 of them of the second group.
    # Mean 4·6/10 = 2.4, variance 6·4·6·4/(10²·9) = 0.64.
    # Size 2: 9 runs, 6 of the second group; 6 are solved, 3 of them of the second group.
    # Mean 6·6/9 = 4, variance 3·6·6·3/(9²·8) = 0.5.
    # z = (2.4 + 4 − 1 − 3)/√(0.64 + 0.5)
    assert score([6, 3], [5, 3], [4, 6], [1, 3]) == pytest.approx(2.4 / math.sqrt(1.14), rel=1e-12)
    # The first size alone: z = (2.4 − 1)/0.8.
    assert score([6], [5], [4], [1]) == pytest.approx(1.4 / 0.8, rel=1e-12)


def test_it_is_positive_where_the_second_group_solves_fewer() -> None:
    many, few = ([6, 3], [5, 3]), ([4, 6], [1, 3])
    assert score(*many, *few) > 2
    # The other way round it is the same number with the other sign.
    assert score(*few, *many) == pytest.approx(-score(*many, *few), rel=1e-12)
    assert score([5], [2], [10], [4]) == pytest.approx(0.0, abs=1e-12)


def test_sizes_with_all_runs_solved_or_none_say_nothing() -> None:
    assert math.isnan(score([5, 7], [5, 0], [4, 3], [4, 0]))
    alone = score([6], [5], [4], [1])
    assert score([6, 5, 7], [5, 5, 0], [4, 4, 3], [1, 4, 0]) == pytest.approx(alone, rel=1e-12)
    # So does a size with a single run.
    assert score([6, 1, 0], [5, 1, 0], [4, 0, 1], [1, 0, 0]) == pytest.approx(alone, rel=1e-12)


def test_where_the_groups_are_alike_it_has_mean_0_and_variance_1() -> None:
    tables, rng = 2000, np.random.default_rng(0)
    n, n_fewer, p = [12, 30, 7], [20, 9, 15], [0.3, 0.6, 0.8]  # the probability differs between sizes
    z = np.array([score(n, list(rng.binomial(n, p)), n_fewer, list(rng.binomial(n_fewer, p))) for _ in range(tables)])
    assert abs(z.mean()) < 4 / math.sqrt(tables)
    assert abs(z.var() - 1) < 4 * math.sqrt(2 / tables)
    assert (np.abs(z) > 1.96).mean() == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([6], [7], [4], [1]), "solved: allowed are at most n runs of each size"),
        (([6], [5], [4], [5]), "solved_fewer: allowed are at most n_fewer runs"),
        (([6], [-1], [4], [1]), r"solved = \[-1.0\]: allowed are numbers of runs"),
        (([6.5], [5], [4], [1]), r"n = \[6.5\]: allowed are numbers of runs"),
        (([6, 3], [5, 3], [4], [1]), "n_fewer: allowed are the sizes of n, in the same order"),
    ],
)
def test_what_are_no_counts_have_no_score(columns, message) -> None:
    with pytest.raises(DomainError, match=message):
        score(*columns)
