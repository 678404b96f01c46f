"""Franz–Parisi curves whose replica-symmetric solution ends at a negative entropy: where they are cut, in words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd


def without_frozen_ends(curves: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Franz–Parisi curves, entropy and slope missing where the replica-symmetric solution is about to end.

    Next to d = 0 the entropy of solutions is positive or zero. A curve that ends at a negative one has frozen. It is
    cut where its slope is smallest: to the left of that the slope grows as it does next to d = 0, at a wrong entropy.

    Args:
        curves: entropy, slope and distance, missing where no solution was found.
        keys: the columns that distinguish the curves.
    """
    found = curves.reset_index(drop=True)
    for _, curve in found.groupby(keys, sort=False, dropna=False):
        known = curve.dropna(subset="entropy").sort_values("distance")
        rises = known["distance"].to_numpy()[np.flatnonzero(np.diff(known["slope"]) > 0)]
        if len(rises) and len(known) < len(curve) and known["entropy"].iloc[0] < 0:
            found.loc[curve.index[curve["distance"] < rises[0]], ["entropy", "slope"]] = np.nan
    return found


def frozen_ends(curves: pd.DataFrame, keys: list[str], name: Callable[..., str]) -> dict[str, str]:
    """The setting that says where Franz–Parisi curves end because the replica-symmetric solution does; a curve is named by its keys."""
    largest = curves[curves["entropy"].isna()].groupby(keys)["distance"].max()
    ends = ", ".join(
        f"{d:.2g} ({name(*key)})" for key, d in zip(largest.index.to_frame().to_numpy(), largest, strict=True)
    )
    why = "next to the reference the replica-symmetric solution freezes, at small negative entropies"
    return {"ends of curves": f"cut at d = {ends}; {why}"} if ends else {}
