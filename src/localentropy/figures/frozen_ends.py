"""Franz–Parisi curves whose replica-symmetric solution ends at a negative entropy: where they begin, in words."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd


def frozen_ends(curves: pd.DataFrame, keys: list[str], name: Callable[..., str]) -> dict[str, str]:
    """The setting that says where Franz–Parisi curves begin because the replica-symmetric solution ends before.

    Args:
        curves: as `without_frozen_ends` returns them.
        keys: the columns that distinguish the curves.
        name: of the values of these columns, what a curve is called.
    """
    ends = ", ".join(
        f"{curve.dropna(subset='entropy')['distance'].min():.2g} ({name(*key)})"
        for key, curve in curves.groupby(keys)
        if curve["entropy"].isna().any()
    )
    why = (
        "nearer to the reference the replica-symmetric solution freezes: its entropy, already negative, falls ever "
        "faster and then the solution ends"
    )
    return {"ends of curves": f"begin at d = {ends}; {why}"} if ends else {}
