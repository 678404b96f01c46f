"""The point of an axis from which on, or up to which, everything is solved."""

from __future__ import annotations

import pandas as pd


def first_solved(fractions: pd.Series, least: float = 1.0) -> float | None:
    """The smallest abscissa from which on at least a given fraction is solved; None if there is none.

    Args:
        fractions: solved at each abscissa, the index, in any order; a missing value counts as unsolved.
        least: the fraction asked for.
    """
    downwards = fractions.sort_index(ascending=False)
    above = downwards[(downwards >= least).cummin()]
    return float(above.index[-1]) if len(above) else None


def last_solved(fractions: pd.Series, least: float = 1.0) -> float | None:
    """The largest abscissa up to which at least a given fraction is solved, as `first_solved`."""
    first = first_solved(fractions.set_axis(-fractions.index), least)
    return None if first is None else -first
