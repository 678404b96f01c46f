"""Claims about typical solutions (figures 2 and 5)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.claims.finding import Bounds, Finding, Untestable, largest, printed

CAPACITY = "0.833"
"""Critical capacity of the binary perceptron in the literature that the paper cites (Krauth and Mézard, 1989)."""


def capacity(typical: pd.DataFrame) -> Finding:
    """Solutions exist up to α_c = 0.833 patterns per weight."""
    if typical.attrs["parameters"]["ensemble"]["model"] != "perceptron":
        raise Untestable("the capacity is that of the perceptron")
    line = typical[typical["line"] == "alpha"]
    if line.empty:
        raise Untestable("no line in α")
    last = line.loc[line["alpha"].idxmax()]
    detail = f"there the largest margin is {last['margin']:.1e} and the entropy {last['entropy']:.1e}"
    vanish = bool(abs(last["margin"]) < 1e-6 and abs(last["entropy"]) < 1e-6)
    value = float(last["alpha"])
    holds = vanish and printed(CAPACITY).hold(value)
    quantity = f"α_c, where the entropy vanishes, {CAPACITY} to the digits printed"
    return Finding.of_theory(quantity, value, holds, detail, printed(CAPACITY))


def distance_falls_with_margin(typical: pd.DataFrame) -> Finding:
    """The distance between typical solutions decreases with κ, up to κ_max, at every α."""
    lines = typical[typical["line"] == "margin"].sort_values("margin")
    if lines.empty:
        raise Untestable("no line in the margin")
    distances = {alpha: 0.5 * (1.0 - line["q"].to_numpy()) for alpha, line in lines.groupby("alpha")}
    step = largest(largest(np.diff(line)) for line in distances.values())
    detail = ", ".join(f"α = {alpha:g}: from {d[0]:.4f} to {d[-1]:.4f}" for alpha, d in distances.items())
    return Finding.of_theory(
        "largest step of the distance along κ, over all α, < 0", step, step < 0, detail, Bounds(upper=0.0)
    )
