"""Statistics of runs: means over pairs, paired differences, pooled counts, rank correlations, normal scores."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from localentropy.arguments import require_columns, require_reals, shown
from localentropy.errors import DomainError


def normal_score(z: ArrayLike, samples: ArrayLike) -> np.ndarray:
    """The standard normal number with the same probability below it as z has, t-distributed.

    Args:
        z: (mean − theory)/(standard error of the mean over the samples), any shape.
        samples: number of them, of a shape that broadcasts with z; z has samples − 1 degrees of freedom.

    Returns:
        The numbers, in the broadcast shape; missing where there are fewer than 2 samples, or z is.

    Raises:
        DomainError: no arrays of numbers, shapes that do not broadcast, a number of samples below 0.

    Example:
        >>> from localentropy.analysis.statistics import normal_score
        >>> normal_score([2.0, 2.0], [4, 1000]).round(2).tolist()  # of few samples, 2 standard errors say less
        [1.48, 2.0]
    """
    scores = require_reals("z", z, missing=True)
    counts = require_reals("samples", samples, missing=True)
    if (counts < 0.0).any():
        raise DomainError(f"samples: {counts.min():g} is among them, allowed are numbers of samples")
    try:
        scores, counts = np.broadcast_arrays(scores, counts)
    except ValueError:
        raise DomainError(f"samples of shape {counts.shape}: allowed is one that fits z, {scores.shape}") from None
    # On the negative side, where probabilities do not round to 1.
    return -np.sign(scores) * stats.norm.ppf(stats.t.cdf(-np.abs(scores), counts - 1.0))


LARGEST_VALUE = 1e100
"""Squares of values do not overflow."""


def pair_mean(first: ArrayLike, second: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """Mean over pairs and its standard error by the jackknife over samples.

    The error is √((S − 1)/S Σ_s (m_s − m̄)²), with m_s the mean over pairs without sample s, S the number of samples and
    m̄ the mean of the m_s.

    Args:
        first: the number of one sample of each pair, [pairs].
        second: that of the other sample.
        values: a quantity of each pair, up to 1e100. Where one is missing (NaN), so are mean and error.

    Returns:
        The mean and its error.

    Raises:
        DomainError: arrays of other shapes, a number out of range, fewer than three samples, or a sample that is in
            every pair.

    Example:
        >>> from localentropy.analysis.statistics import pair_mean
        >>> mean, error = pair_mean([0, 0, 1], [1, 2, 2], [0.4, 0.5, 0.6])
        >>> round(mean, 6), round(error, 6)
        (0.5, 0.11547)
    """
    one = require_reals("first", first, ("pairs",))
    two = require_reals("second", second, one.shape)
    value = require_reals("values", values, one.shape, most=LARGEST_VALUE, missing=True)
    samples = np.union1d(one, two)
    without = [(one != sample) & (two != sample) for sample in samples]
    if len(samples) < 3 or not all(kept.any() for kept in without):
        raise DomainError(f"the error of a mean over pairs needs at least 3 samples, got {len(samples)}")
    means = np.array([value[kept].mean() for kept in without])
    error = np.sqrt((len(samples) - 1) * means.var())
    return float(value.mean()), float(error)


def paired_differences(table: pd.DataFrame, column: str, first: str, second: str, by: Sequence[str] = ()) -> pd.Series:
    """The value of one algorithm less that of another, on each training set that both have a row of.

    The luck of a training set is the same for both, so these differences scatter less than the values.

    Args:
        table: columns algorithm, sample (the training set), `column` and those of `by`; one row for each.
        column: of the values.
        first: an algorithm.
        second: the one that is subtracted.
        by: columns that tell the values of one run apart, such as distance.

    Returns:
        Differences; the index has the levels *by, sample. Without a common training set there are none.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.statistics import paired_differences
        >>> runs = pd.DataFrame({"algorithm": [*"aabb"], "sample": [0, 1, 0, 1], "error": [0.3, 0.5, 0.2, 0.4]})
        >>> paired_differences(runs, "error", "a", "b").round(9).tolist()
        [0.1, 0.1]
    """
    require_columns("table", table, ["algorithm", *by, "sample", column])
    values = [table[table["algorithm"] == name].set_index([*by, "sample"])[column] for name in (first, second)]
    both = pd.concat(values, axis=1, join="inner", keys=["first", "second"])
    return both["first"] - both["second"]


def pooled_score(n: pd.Series, solved: pd.Series, n_fewer: pd.Series, solved_fewer: pd.Series) -> float:
    """z of fewer solved runs in the second group, by the test of Cochran, Mantel and Haenszel.

    At each size the number solved in the second group is compared with its hypergeometric mean and variance.

    Args:
        n: runs of the first group, by size.
        solved: how many of them are solved.
        n_fewer: runs of the second group.
        solved_fewer: how many of them are solved.

    Returns:
        z; missing (NaN) where every size has all its runs solved, or none.

    Raises:
        DomainError: series of different sizes, numbers that are no counts, more runs solved than there are.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.statistics import pooled_score
        >>> runs = pd.Series({101: 20, 201: 20})
        >>> round(pooled_score(runs, pd.Series({101: 18, 201: 15}), runs, pd.Series({101: 12, 201: 6})), 2)
        3.54
    """
    _check("n", n, "solved", solved)
    _check("n_fewer", n_fewer, "solved_fewer", solved_fewer)
    if not n.index.equals(n_fewer.index):
        raise DomainError("n_fewer: allowed are the sizes of n, in the same order")
    total, both = n + n_fewer, solved + solved_fewer
    variance = (n * n_fewer * both * (total - both) / (total**2 * (total - 1))).sum()
    expected = (n_fewer * both / total).sum()
    return float((expected - solved_fewer.sum()) / variance**0.5) if variance > 0 else float("nan")


def _check(runs_name: str, runs: object, solved_name: str, solved: object) -> None:
    """Refuse numbers that cannot be the runs of each size and the solved runs among them."""
    for name, values in ((runs_name, runs), (solved_name, solved)):
        if not isinstance(values, pd.Series):
            raise DomainError(f"{name}: {type(values).__name__} given, allowed is a Series of pandas")
        counts = require_reals(name, values, ("sizes",))
        if (counts < 0).any() or (counts % 1 != 0).any():
            raise DomainError(f"{name} = {shown(counts.tolist())}: allowed are numbers of runs")
    assert isinstance(runs, pd.Series) and isinstance(solved, pd.Series)
    if not runs.index.equals(solved.index) or (solved > runs).any():
        raise DomainError(f"{solved_name}: allowed are at most {runs_name} runs of each size, at the same sizes")


def spearman(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Spearman's rank correlation ρ and its standard error (1 − ρ²) √((1 + ρ²/2)/(n − 3)), n the number of runs.

    The error is that of Bonett and Wright (Psychometrika 65, 23, 2000) for Fisher's transformation of ρ. Ties get their
    mean rank.

    Args:
        x: one quantity of each run, [runs]. Where one is missing (NaN), or all are the same, ρ and its error are NaN.
        y: the other.

    Returns:
        ρ and its standard error.

    Raises:
        DomainError: arrays of other shapes, a number out of range, fewer than four runs.

    Example:
        >>> from localentropy.analysis.statistics import spearman
        >>> rho, error = spearman([1, 2, 3, 4, 5], [1, 4, 9, 25, 16])
        >>> round(rho, 6), round(error, 2)
        (0.9, 0.16)
    """
    x = require_reals("x", x, ("runs",), missing=True)
    y = require_reals("y", y, x.shape, missing=True)
    number = len(x)
    if number < 4:
        raise DomainError(f"the error of a rank correlation needs at least 4 runs, got {number}")
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return math.nan, math.nan
    rho = float(stats.spearmanr(x, y).statistic)
    return rho, float((1.0 - rho**2) * np.sqrt((1.0 + rho**2 / 2.0) / (number - 3)))


def spearman_over_sets(x: ArrayLike, y: ArrayLike, sets: ArrayLike) -> tuple[float, float]:
    """Spearman's rank correlation ρ over all runs, and its standard error by the jackknife over training sets.

    Runs of several algorithms on one training set share its luck, so they are left out together. The error is
    √((S − 1)/S Σ_s (ρ_s − ρ̄)²), with ρ_s without set s, S the number of sets and ρ̄ the mean of the ρ_s.

    Args:
        x: one quantity of each run, [runs]; `spearman` says when ρ is missing (NaN). Then its error is, too.
        y: the other.
        sets: the number of each run's training set.

    Returns:
        ρ and its standard error.

    Raises:
        DomainError: arrays of other shapes, a number out of range, fewer than four runs without a set, fewer than three
            sets.

    Example:
        >>> from localentropy.analysis.statistics import spearman_over_sets
        >>> rho, error = spearman_over_sets([1, 2, 3, 4, 5, 6], [1, 4, 9, 25, 16, 36], sets=[0, 0, 1, 1, 2, 2])
        >>> round(rho, 6), round(error, 2)
        (0.942857, 0.13)
    """
    x = require_reals("x", x, ("runs",), missing=True)
    y, own = require_reals("y", y, x.shape, missing=True), require_reals("sets", sets, x.shape)
    numbers = np.unique(own)
    if len(numbers) < 3:
        raise DomainError(f"the error over training sets needs at least 3 of them, got {len(numbers)}")
    without = np.array([spearman(x[own != number], y[own != number])[0] for number in numbers])
    return spearman(x, y)[0], float(np.sqrt((len(numbers) - 1) * without.var()))
