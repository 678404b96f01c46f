"""The claim about the loads that algorithms reach (figure s1)."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.thresholds import large_deviations_threshold, last_half_point, success_fractions
from localentropy.claims.conditions import FEWEST, Finding, all_of, below, numbers, require
from localentropy.solvers.names import NAMES

SURE = 2.0
"""Standard errors by which a load is below the threshold."""


def the_threshold_bounds_algorithms(
    storage_focusing_bp: pd.DataFrame, storage_sbpi: pd.DataFrame, large_deviations: pd.DataFrame
) -> Finding:
    """At the largest size each algorithm fails in half of its runs at a load below α_U."""
    upper = large_deviations_threshold(large_deviations, {"model": "perceptron"})
    require(upper is not None, "α_U of the perceptron needed")
    assert upper is not None
    conditions, words = [], []
    for solver, runs in {"focusing_bp": storage_focusing_bp, "sbpi": storage_sbpi}.items():
        require(runs["solved"].notna().all(), "a run without an outcome")
        shares = success_fractions(runs, ["N", "alpha"], 1.0 - runs["solved"])
        shares = shares[shares["runs"] >= FEWEST]
        name, own = NAMES[solver], shares[shares["N"] == shares["N"].max()]
        sides = own["alpha"].min() < upper["alpha"] < own["alpha"].max()
        require(sides, f"{name}: loads with {FEWEST} runs on both sides of α_U needed")
        half, error = last_half_point(own)
        words_of = f"α up to which half of the runs of {name} solve, over α_U, largest N"
        unit = upper["alpha"]
        conditions.append(below(words_of, half / unit, 1.0, error / unit, by=SURE, or_open=True))
        points = {N: last_half_point(at) for N, at in shares.groupby("N")}
        words.append(
            f"{name}: half at {numbers((at for at, _ in points.values()), '.3f')} for N = {numbers(points, 'g')}"
        )
        again = [
            f"{share.alpha:.3f} for N = {N}"
            for N, at in shares.groupby("N")
            for share in at[(at["alpha"] > points[N][0]) & (at["y"] <= 0.5)].itertuples()
        ]
        words += [f"and again at {', '.join(again)}"] if again else []
    return all_of(*conditions, detail=f"α_U = {upper['alpha']:.4f}; {'; '.join(words)}")
