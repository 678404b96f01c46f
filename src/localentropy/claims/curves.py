"""What claims about Franz–Parisi curves have in common."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.flatness import without_frozen_ends
from localentropy.claims.conditions import Finding, all_of, below, largest, require, smallest

NEAR = 0.02
"""Distances below this are next to the reference."""
END = 0.999
"""The sign of slopes is tested up to this fraction of d_typ. The slope vanishes at d_typ."""


def isolation(curves: pd.DataFrame, by: str, symbol: str) -> Finding:
    """The curves' references are isolated: next to them the entropy is negative.

    It is taken at the smallest distance that has a replica-symmetric solution, without the end where this freezes, and
    is missing if that is not near zero. Around an isolated reference the curve ends before d = 0: there are no
    solutions closer to it. Before, the entropy was that of the frozen end, which is lower.

    Args:
        curves: rows of the table of the program `franz_parisi`.
        by: the column that tells the curves apart.
        symbol: what it is called.
    """
    require(curves.loc[curves["entropy"] < 0, "slope"].notna().all(), "a slope is missing")
    solved = without_frozen_ends(curves, [by])
    solved = solved[solved["distance"] < NEAR].sort_values("distance")
    nearest = solved.groupby(by)["entropy"].first().reindex(sorted(curves[by].unique()))
    return all_of(
        below(f"largest φ_FP next to d = 0 over {symbol}", largest(nearest), 0.0),
        detail=", ".join(f"{entropy:.2g} at {symbol} = {at:.4g}" for at, entropy in nearest.items()),
    )


def up_to_maximum(curve: pd.DataFrame) -> pd.DataFrame:
    """The part of a curve below its typical distance."""
    return curve[curve["distance"] < END * curve["distance_typical"]]


def smallest_slope(curve: pd.DataFrame) -> float:
    """The smallest slope below the typical distance."""
    return smallest(up_to_maximum(curve)["slope"])
