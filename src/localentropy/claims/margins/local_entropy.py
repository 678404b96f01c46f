"""Claims about local entropies measured around solutions (figure 3)."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.flatness import around_solutions, largest_margin_curve, over_samples, with_excess
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    Untestable,
    above,
    all_of,
    at_least,
    at_most,
    falls,
    largest,
    numbers,
    require,
    smallest,
)
from localentropy.errors import DomainError

NEAR, WITHIN = 0.02, 0.002
"""Up to this distance the two entropies differ by less than this."""
AWAY, SLIGHTLY = (0.03, 0.2), 0.02
"""From the first of these distances to below the second the measured entropy is higher, by less than this.

Beyond the typical distance fewer solutions lie around any wide reference: told, not judged.
"""
PEAKED = 0.95
"""Mean square of the magnetizations from which a distribution counts as very strongly peaked. Chosen here."""
SURE, BELOW = 3.0, 2.0
"""Standard errors that decide, and those that are told."""


def focusing_bp_lies_slightly_above(franz_parisi: pd.DataFrame, local_entropy: pd.DataFrame) -> Finding:
    """Around focusing BP's solutions there are slightly more solutions than around typical ones of the largest margin.

    The mean over the distances away from the solution must be above zero by three standard errors, and each distance
    inside its range. A distance that is outside by less than three standard errors leaves the claim open.
    """
    try:
        curve = largest_margin_curve(franz_parisi, local_entropy)
    except DomainError as lacking:
        raise Untestable(str(lacking)) from None
    around = with_excess(around_solutions(local_entropy), curve)
    require(around["excess"].notna().all(), "an entropy is missing, or a distance is beyond the curve")
    near, away = (around[around["distance"].between(*ends, inclusive="left")] for ends in ((0, 1.001 * NEAR), AWAY))
    points, close = over_samples(away, "excess"), over_samples(near, "excess")
    enough = len(close) and len(points) > 1 and min(close["n"].min(), points["n"].min()) >= FEWEST
    require(enough, f"fewer than {FEWEST} solutions at a distance, or too few distances")
    means = away.groupby("sample")["excess"].mean()
    outside = pd.concat(
        [
            (-points["y"]).clip(lower=0) / points["y_err"],
            (points["y"] - SLIGHTLY).clip(lower=0) / points["y_err"],
            (close["y"].abs() - WITHIN).clip(lower=0) / close["y_err"],
        ]
    )
    told = over_samples(around, "excess")
    under = told.loc[told["y"] < -BELOW * told["y_err"], "distance"]
    return all_of(
        above(
            f"φ_fBP − φ_FP(κ_max), mean over {AWAY[0]:g} ≤ d < {AWAY[1]:g}",
            means.mean(),
            0.0,
            means.sem(),
            by=SURE,
            or_open=True,
        ),
        at_most(
            f"most SE by which a distance is outside of 0 to {SLIGHTLY:g} there, or of ±{WITHIN:g} for d ≤ {NEAR:g}",
            largest(outside),
            SURE,
        ),
        detail=f"{means.size} solutions, N = {local_entropy['N'].iloc[0]}: "
        + ", ".join(f"{y:+.4f} ± {e:.4f} at d = {d:g}" for d, y, e in told[["distance", "y", "y_err"]].to_numpy())
        + (f"; below the curve, by more than {BELOW:g} SE, at d = {numbers(under, 'g')}" if len(under) else ""),
    )


def focusing_ends_peaked(local_entropy: pd.DataFrame) -> Finding:
    """Every run of focusing BP ends on a solution, and its distribution is strongly peaked there."""
    runs = local_entropy.drop_duplicates("sample")
    solutions = runs[runs["solved"] == 1]
    known = len(solutions) >= FEWEST and solutions["peak"].notna().all() and runs["solved"].notna().all()
    require(known, f"{FEWEST} solutions of a solver with messages needed")
    return all_of(
        above("smallest mean square of the last magnetizations over solutions", smallest(solutions["peak"]), PEAKED),
        at_least("share of the runs that end on a solution", runs["solved"].mean(), 1.0),
        detail=f"{len(solutions)} solutions of {len(runs)} runs, mean {solutions['peak'].mean():.3f}",
    )


def the_overlap_grows_with_the_field(local_entropy: pd.DataFrame) -> Finding:
    """Around every solution of focusing BP the field falls from each distance to the next.

    The text varies the field, and here the distance is given. The rule was written before the fields were looked at.
    """
    runs = local_entropy[local_entropy["solved"] == 1].sort_values(["sample", "distance"])
    require((runs["converged"] == 1).all(), "an entropy did not converge")
    fields = {sample: run["field"].to_numpy() for sample, run in runs.groupby("sample")}
    require(len(fields) >= FEWEST, f"{FEWEST} solutions needed")
    ends = runs.groupby("distance")["field"].mean().iloc[[0, -1]]
    return all_of(
        falls("field towards the solution", *fields.values(), along="d"),
        detail=f"{len(fields)} solutions; mean field {numbers(ends, '.3f')} at d = {numbers(ends.index, 'g')}",
    )
