"""The rules of agreement between simulation and theory over a whole figure, at infinite size and equal 1/α."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from localentropy.analysis.agreement import agreement_at_infinite_size, agreement_by_size, to_infinite_size
from localentropy.claims.conditions import FEWEST, LEAST, Condition, above, agrees, require

SAME = 0.01
"""Largest part of a value by which simulation and theory may differ and still be called equal: chosen here."""


def drifts(deviations: pd.DataFrame, by: Sequence[str]) -> str:
    """The mean deviations at the sizes that were run, in words.

    Args:
        deviations: simulation less theory, as in `agreement_by_size`.
        by: as there.
    """
    return ", ".join(
        f"{row.drift:+.4f} ± {row.drift_err:.4f} at D = {row.D}"
        for row in agreement_by_size(deviations, by).itertuples()
    )


def equal_at_infinite_size(words: str, deviations: pd.DataFrame, by: Sequence[str]) -> Condition:
    """Simulation and theory are equal on average, extrapolated in 1/D.

    The points are those at which all sizes were run: the others would mix the effects of D and of 1/α.

    Args:
        words: what is compared.
        deviations: parts of the theory's value, of `deviations` in `runs`.
        by: columns that distinguish points of one size and 1/α.

    Raises:
        Untestable: no point at two sizes with enough solved instances, or a missing number.
    """
    table = _at_loads(deviations)
    sizes = table.groupby([*by, "load"])["D"].transform("nunique")
    require(len(table) and sizes.max() > 1, _ONE_SIZE)
    require(table["deviation"].notna().all(), f"{words}: a number is missing")
    each = table[sizes == sizes.max()].groupby(["D", "sample"])["deviation"].mean()
    means = each.groupby(level="D").agg(["mean", "sem", "size"])
    require(means["size"].min() >= FEWEST and means["sem"].min() > 0, f"{words}: too few instances to know an error")
    limit = to_infinite_size(means.index, means["mean"], means["sem"])
    return agrees(f"{words}, extrapolated in 1/D at equal 1/α", limit.value, limit.error, SAME)


def alike_at_infinite_size(words: str, deviations: pd.DataFrame, by: Sequence[str]) -> Condition:
    """No point deviates more than by chance, extrapolated in 1/D at equal 1/α; arguments as above.

    Raises:
        Untestable: no point at two sizes with enough solved instances.
    """
    found = agreement_at_infinite_size(_at_loads(deviations), [*by, "load"])
    require(found.points, _ONE_SIZE)
    return above(f"p-value of {words} at all points, extrapolated in 1/D at equal 1/α", found.p_value, LEAST)


_ONE_SIZE = "no point at two sizes at which enough instances are solved: nothing to extrapolate"


def _at_loads(deviations: pd.DataFrame) -> pd.DataFrame:
    """With a column `load`, the 1/α asked for: N is odd, so N/P differs a little from size to size."""
    return deviations.assign(load=deviations["inv_alpha"].round(1))
