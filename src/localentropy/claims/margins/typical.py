"""Claims about typical solutions (figures 2 and 5)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.claims.finding import Finding, Untestable, largest


def distance_falls_with_margin(typical: pd.DataFrame) -> Finding:
    """The distance between typical solutions decreases with κ, up to κ_max, at every α."""
    lines = typical[typical["line"] == "margin"].sort_values("margin")
    if lines.empty:
        raise Untestable("no line in the margin")
    distances = {alpha: 0.5 * (1.0 - line["q"].to_numpy()) for alpha, line in lines.groupby("alpha")}
    step = largest(largest(np.diff(line)) for line in distances.values())
    detail = ", ".join(f"α = {alpha:g}: from {d[0]:.4f} to {d[-1]:.4f}" for alpha, d in distances.items())
    return Finding.of_theory("largest step of the distance along κ, over all α, < 0", step, step < 0, detail)
