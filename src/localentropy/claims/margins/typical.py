"""Claims about typical solutions (figures 2 and 5)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.claims.conditions import Finding, above, all_of, falls, numbers, printed, require, smallest

CAPACITY = "0.833"
"""Critical capacity of the binary perceptron in the literature that the paper cites (Krauth and Mézard, 1989)."""


def capacity(largest_margin: pd.DataFrame, typical: pd.DataFrame) -> Finding:
    """Solutions exist up to α_c = 0.833 patterns per weight, and at smaller loads there are exponentially many.

    α_c is defined as the load where their entropy vanishes.
    """
    of_it = all(table.attrs["parameters"]["ensemble"]["model"] == "perceptron" for table in (largest_margin, typical))
    require(of_it, "the capacity is that of the perceptron")
    last = largest_margin["alpha"].max()
    without = typical[(typical["margin"] == 0) & (typical["alpha"] < last)]
    require(without["alpha"].nunique() > 1, "solutions without margin at two smaller loads needed")
    return all_of(
        printed("α_c", last, CAPACITY),
        above("smallest entropy without margin at smaller loads", smallest(without["entropy"]), 0.0),
        falls("entropy without margin", without.sort_values("alpha")["entropy"], along="α"),
    )


def distance_falls_with_margin(typical: pd.DataFrame) -> Finding:
    """The distance between typical solutions decreases with κ, up to κ_max, at every α.

    The text says "rapidly" without a number: how rapidly is told at κ = 0, and not judged.
    """
    lines = typical.sort_values("margin")
    distances = {alpha: 0.5 * (1.0 - line["q"].to_numpy()) for alpha, line in lines.groupby("alpha")}
    words = []
    for (alpha, d), (_, line) in zip(distances.items(), lines.groupby("alpha"), strict=True):
        require(len(d) > 2, "three margins at every α needed")
        slope = np.gradient(np.log(d), line["margin"].to_numpy(), edge_order=2)[0]
        words.append(f"α = {alpha:g}: from {d[0]:.4f} to {d[-1]:.4f}, −d ln d_typ/dκ = {-slope:.2f} at κ = 0")
    detail = f'{"; ".join(words)}; the text has no number for "rapidly", which is not judged'
    return all_of(falls("distance", *distances.values(), along="κ"), detail=detail)


def larger_margins_are_rarer(typical: pd.DataFrame, largest_margin: pd.DataFrame) -> Finding:
    """The entropy of solutions decreases with their margin at every α, and the largest margin with α."""
    lines = [line.sort_values("margin")["entropy"] for _, line in typical.groupby("alpha")]
    along = largest_margin.sort_values("alpha")
    return all_of(
        falls("entropy", *lines, along="κ"),
        falls("largest margin", along["margin"], along="α"),
        detail=f"{len(lines)} loads; largest margins {numbers(along['margin'].iloc[[0, -1]], '.3f')} at "
        f"α = {numbers(along['alpha'].iloc[[0, -1]])}",
    )
