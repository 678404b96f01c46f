"""Whether fewer runs are solved in one of two groups, pooled over sizes."""

from __future__ import annotations

import pandas as pd


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
    """
    total, both = n + n_fewer, solved + solved_fewer
    variance = (n * n_fewer * both * (total - both) / (total**2 * (total - 1))).sum()
    expected = (n_fewer * both / total).sum()
    return float((expected - solved_fewer.sum()) / variance**0.5) if variance > 0 else float("nan")
