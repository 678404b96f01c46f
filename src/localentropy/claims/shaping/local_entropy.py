"""Claims about local entropies around the solutions of several algorithms (figures 4, 6, s2 and s6)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from localentropy.analysis.local_entropy import around_solutions
from localentropy.analysis.paired_differences import paired_differences
from localentropy.claims.conditions import FEWEST, Finding, above, all_of, below, larger, mean_of, require, scored
from localentropy.solvers.names import COMMITTEE_NAMES

SMALL = (0.01, 0.02)
"""Small distances. The second counts where the messages around too few solutions converge at the first."""
CROSSING = 0.2
"""The curves cross beyond about 0.25: not before this distance."""
SLIGHT = 0.25
"""Part of what separates the best and the worst algorithm that counts as slight. The text gives no number. Chosen here,
after the numbers were seen."""
FEW_REPLICAS, USUAL_REPLICAS, MANY_REPLICAS = 10, 20, 100
"""Replicas of eLAL: enough to match ceSGD-slow; those of the other figures; those that come closer to fBP."""


def order_at_small_distance(tree_local_entropy: pd.DataFrame) -> Finding:
    """At small distances fBP > eLAL > ceSGD-slow > ceSGD-fast > LAL on each training set."""
    around = _measured(tree_local_entropy)
    conditions, words = [], []
    for first, second in pairwise(COMMITTEE_NAMES):
        gaps = {distance: _gaps(around, first, second, distance) for distance in SMALL}
        enough = [distance for distance, gap in gaps.items() if len(gap) >= FEWEST]
        names = f"{COMMITTEE_NAMES[first]} − {COMMITTEE_NAMES[second]}"
        require(enough, f"{names}: fewer than {FEWEST} training sets with both")
        gap = gaps[enough[0]]
        name = f"normal score of {names}, paired, at D = {SMALL[0]:g} or {SMALL[1]:g}"
        conditions.append(larger(name, mean_of(gap), or_open=True))
        words.append(f"{names} = {mean_of(gap):.4f} at D = {enough[0]:g} ({len(gap)})")
    return all_of(*conditions, detail="; ".join(words))


def curves_cross_late(tree_local_entropy: pd.DataFrame) -> Finding:
    """LAL's local entropy rises above fBP's only far from the solutions."""
    crossing, farthest = _crossing(_measured(tree_local_entropy))
    require(not np.isnan(crossing), f"no crossing up to D = {farthest:g}")
    return all_of(
        above("distance at which LAL's local entropy rises above fBP's", crossing, CROSSING),
        detail=f"mean over training sets, measured up to D = {farthest:g}",
    )


def more_replicas_widen_minima(
    replica_numbers_local_entropy: pd.DataFrame, tree_local_entropy: pd.DataFrame
) -> Finding:
    """Ten replicas of eLAL are sufficient to match ceSGD-slow; a hundred get closer to fBP than the twenty used."""
    at = SMALL[0]
    around = pd.concat([_measured(replica_numbers_local_entropy), _measured(tree_local_entropy)])
    few, usual, many = (f"elal_{replicas}" for replicas in (FEW_REPLICAS, USUAL_REPLICAS, MANY_REPLICAS))
    gaps = {
        f"y = {MANY_REPLICAS} − y = {USUAL_REPLICAS}": _gaps(around, many, usual, at),
        f"y = {FEW_REPLICAS} − ceSGD-slow": _gaps(around, few, "ce_slow", at),
        f"fBP − (y = {USUAL_REPLICAS})": _gaps(around, "fbp", usual, at),
        f"fBP − (y = {MANY_REPLICAS})": _gaps(around, "fbp", many, at),
        "fBP − ceSGD-slow": _gaps(around, "fbp", "ce_slow", at),
    }
    require(min(map(len, gaps.values())) >= FEWEST, f"fewer than {FEWEST} training sets with both of a pair")
    wider, match, usual_gap, many_gap, width = gaps.values()
    detail = "; ".join(f"{name} = {mean_of(gap):.4f} ({len(gap)} sets)" for name, gap in gaps.items())
    # A match says something only if a difference of half the way to fBP would have been seen.
    blind = match.mean() > -2 * match.sem() and 4 * match.sem() > abs(width.mean())
    require(not blind, f"too few training sets to see a difference from ceSGD-slow; {detail}")
    name = f"normal score of V₁ at D = {at:g} of y = {MANY_REPLICAS} minus y = {USUAL_REPLICAS}"
    more = larger(name, mean_of(wider), or_open=True)
    return all_of(
        more,
        below(
            f"distance in V₁ of y = {MANY_REPLICAS} to fBP, minus that of y = {USUAL_REPLICAS}",
            abs(many_gap.mean()) - abs(usual_gap.mean()),
            0.0,
        ).open_if(more.holds is None),
        above(f"V₁ of y = {FEW_REPLICAS} minus ceSGD-slow, in SE", match.mean() / match.sem(), -2.0),
        detail=detail,
    )


def shuffled_pixels_shrink_volumes(
    fashion_local_entropy: pd.DataFrame, shuffled_local_entropy: pd.DataFrame
) -> Finding:
    """Volumes around solutions of the shuffled set are slightly smaller; eLAL loses slightly more than ceSGD.

    The text calls both losses slight. They are measured against what separates the algorithms without shuffling. A
    sample is a run here and not a training set, so nothing is paired.
    """
    at = SMALL[0]
    sets = [_at(_measured(table), at) for table in (fashion_local_entropy, shuffled_local_entropy)]
    losses, errors = {}, {}
    others = [name for name in COMMITTEE_NAMES if name not in ("fbp", "elal")]
    for name in ("elal", *others):
        values = [around.loc[around["algorithm"] == name, "entropy"] for around in sets]
        require(min(map(len, values)) >= FEWEST, f"{COMMITTEE_NAMES[name]}: fewer than {FEWEST} solutions of a set")
        losses[name] = float(values[0].mean() - values[1].mean())
        errors[name] = float(np.hypot(values[0].sem(), values[1].sem()))
    more = losses["elal"] - 0.5 * (losses["ce_slow"] + losses["ce_fast"])
    error = float(np.hypot(errors["elal"], 0.5 * np.hypot(errors["ce_slow"], errors["ce_fast"])))
    before, after = (around.groupby("algorithm")["entropy"].mean() for around in sets)
    separated = float(before[list(losses)].max() - before[list(losses)].min())
    told = ", ".join(f"{COMMITTEE_NAMES[name]} {losses[name]:.2g} ± {errors[name]:.1g}" for name in losses)
    ranks = " > ".join(COMMITTEE_NAMES[str(name)] for name in after.sort_values(ascending=False).index)
    loss = f"loss of V₁ at D = {at:g} by shuffling"
    return all_of(
        # That of eLAL follows from these and the next one.
        *(scored(f"{loss}, {COMMITTEE_NAMES[name]}, in SE", losses[name] / errors[name]) for name in others),
        scored(f"{loss}, eLAL minus ceSGD, in SE", more / error),
        below(
            f"{loss}, eLAL minus ceSGD, in parts of the range of V₁",
            more / separated,
            SLIGHT,
            error / separated,
            by=2.0,
            or_open=True,
        ),
        below(f"median {loss}, in parts of the range of V₁", np.median(list(losses.values())) / separated, SLIGHT),
        detail=f"losses: {told}; range without shuffling {separated:.2g}; on the shuffled set {ranks}",
    )


def _measured(table: pd.DataFrame) -> pd.DataFrame:
    """Local entropies that count.

    Raises:
        Untestable: one of them is missing.
    """
    around = around_solutions(table)
    require(around["entropy"].notna().all(), "a local entropy is missing although its messages converged")
    return around


def _at(around: pd.DataFrame, distance: float) -> pd.DataFrame:
    return around[np.isclose(around["distance"], distance)]


def _gaps(around: pd.DataFrame, first: str, second: str, distance: float) -> pd.Series:
    return paired_differences(_at(around, distance), "entropy", first, second)


def _crossing(around: pd.DataFrame) -> tuple[float, float]:
    """Where LAL's local entropy rises above fBP's, linear between distances (NaN: nowhere), and the last distance.

    Raises:
        Untestable: too few training sets with both at all distances.
    """
    gaps = paired_differences(around, "entropy", "fbp", "lal", by=["distance"]).groupby("distance")
    points = gaps.mean()[gaps.size() >= FEWEST]
    require(len(points), f"fewer than {FEWEST} training sets with both")
    signs = np.flatnonzero((points.to_numpy()[:-1] > 0) & (points.to_numpy()[1:] <= 0))
    if not signs.size:
        return np.nan, float(points.index[-1])
    (d0, v0), (d1, v1) = points.iloc[signs[0] : signs[0] + 2].items()
    return float(d0 + (d1 - d0) * v0 / (v0 - v1)), float(points.index[-1])
