"""Whether fewer runs are solved in one of two groups, pooled over sizes."""

from __future__ import annotations

import pandas as pd

from localentropy.arguments import require_reals, shown
from localentropy.errors import DomainError


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
        >>> from localentropy.analysis.pooled_score import pooled_score
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
