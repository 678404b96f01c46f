"""Claims about local entropies measured around solutions (figure 3)."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.local_entropy import around_solutions, largest_margin_curve, over_samples, with_excess
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, largest
from localentropy.errors import DomainError

NEAR, WITHIN = 0.02, 0.002
"""Up to this distance the two entropies differ by less than this."""
AWAY, SLIGHTLY = (0.03, 0.2), 0.02
"""Between these distances the measured entropy is higher, by less than this."""
SURE = 3.0
"""Standard errors that decide."""


def focusing_bp_lies_slightly_above(franz_parisi: pd.DataFrame, local_entropy: pd.DataFrame) -> Finding:
    """Around focusing BP's solutions there are slightly more solutions than around typical ones of the largest margin.

    The mean over the distances away from the solution must be above zero by three standard errors, and each distance
    inside its range. A distance that is outside by less than three standard errors leaves the claim open.
    """
    quantity = (
        f"mean over {AWAY[0]:g} < d < {AWAY[1]:g} of φ_fBP − φ_FP(κ_max), > 0 by {SURE:g} SE; each inside "
        f"(0, {SLIGHTLY:g}), and within {WITHIN:g} of 0 for d ≤ {NEAR:g}"
    )
    try:
        curve = largest_margin_curve(franz_parisi, local_entropy)
    except DomainError as lacking:
        raise Untestable(str(lacking)) from None
    around = with_excess(around_solutions(local_entropy), curve)
    if around["excess"].isna().any():
        raise Untestable("an entropy is missing, or a distance is beyond the curve")
    near, away = (around[around["distance"].between(*ends, inclusive="neither")] for ends in ((0, 1.001 * NEAR), AWAY))
    points, close = over_samples(away, "excess"), over_samples(near, "excess")
    if len(close) == 0 or len(points) < 2 or min(close["n"].min(), points["n"].min()) < FEWEST:
        return Finding.untestable(quantity, f"fewer than {FEWEST} solutions at a distance, or too few distances")
    means = away.groupby("sample")["excess"].mean()
    value, error = float(means.mean()), float(means.sem())
    outside = pd.concat(
        [
            (-points["y"]).clip(lower=0) / points["y_err"],
            (points["y"] - SLIGHTLY).clip(lower=0) / points["y_err"],
            (close["y"].abs() - WITHIN).clip(lower=0) / close["y_err"],
        ]
    )
    worst = largest(outside)
    told = pd.concat([close, points])
    detail = (
        f"{means.size} solutions, N = {local_entropy['N'].iloc[0]}: "
        + ", ".join(f"{y:+.4f} ± {e:.4f} at d = {d:g}" for d, y, e in told[["distance", "y", "y_err"]].to_numpy())
        + f"; most outside its range by {worst:.1f} SE"
    )
    if worst > SURE or value < -SURE * error:
        return Finding(quantity, value, False, detail, error, Bounds(0.0, SLIGHTLY))
    decided = value > SURE * error
    return Finding(quantity, value, True if decided else None, detail, error, Bounds(0.0, SLIGHTLY))
