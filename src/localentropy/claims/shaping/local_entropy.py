"""Claims about local entropies around the solutions of several algorithms (figures 4, 6, s2 and s6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import around_solutions
from localentropy.analysis.printed import CLUSTERING
from localentropy.analysis.statistics import paired_differences, spearman_over_sets
from localentropy.claims.conditions import (
    FEWEST,
    Condition,
    Finding,
    above,
    all_of,
    at_least,
    at_most,
    below,
    larger,
    largest,
    mean_of,
    numbers,
    require,
    smallest,
    welch,
)
from localentropy.solvers.names import COMMITTEE_NAMES

NEAREST = 0.01
"""The smallest distance at which the solutions of all algorithms are compared."""
SMALL = (NEAREST, 0.02)
"""Small distances. The second counts where the messages around too few solutions converge at the first."""
CROSSING = 0.2
"""The curves cross beyond about 0.25: not before this distance."""
SLIGHT = 0.25
"""Part of what separates the best and the worst algorithm that counts as slight. The text gives no number. Chosen here,
after the numbers were seen."""
CLEAR = 0.5
"""A rank correlation that is clear (chosen here)."""
SURE = 2.0
"""Standard errors from which on a difference of two algorithms is clear."""
ON_IMAGES = ("elal", "ce_slow", "ce_fast", "lal")
"""The algorithms that run on images, LAL last."""
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

    "Generally" smaller: more than half of the algorithms clearly lose, and none clearly gains. "Slightly" is measured
    against what separates the algorithms without shuffling. The text does not say whether LAL, which is far
    below all others, counts. So where the loss is slight only with it, the claim is open. This rule was chosen after
    both numbers were seen. A sample is one training set, with its pixels as they are or shuffled, so losses are paired.
    """
    at = SMALL[0]
    sets = [_at(_measured(table), at) for table in (fashion_local_entropy, shuffled_local_entropy)]
    others = [name for name in COMMITTEE_NAMES if name not in ("fbp", "elal")]
    before, after = (around.set_index(["algorithm", "sample"])["entropy"] for around in sets)
    lost = (before - after).unstack("algorithm").reindex(columns=["elal", *others])
    more = lost["elal"] - 0.5 * (lost["ce_slow"] + lost["ce_fast"])
    counts = [own.notna().sum() for own in (more, *(lost[name] for name in lost))]
    require(min(counts) >= FEWEST, f"fewer than {FEWEST} training sets that are solved, also shuffled")
    losses = {name: mean_of(lost[name].dropna()) for name in lost}
    more = mean_of(more.dropna())
    before, after = (around.groupby(level="algorithm").mean() for around in (before, after))
    with_lal, separated = (
        float(np.ptp(before[names])) for names in (list(losses), [name for name in losses if name != "lal"])
    )
    scores = [welch(loss) for loss in losses.values()]
    told = ", ".join(
        f"{COMMITTEE_NAMES[name]} {loss.value:.2g} ± {loss.error:.1g} (|V₁| × {after[name] / before[name]:.2g})"
        for name, loss in losses.items()
    )
    ranks = " > ".join(COMMITTEE_NAMES[str(name)] for name in after.sort_values(ascending=False).index)
    loss = f"loss of V₁ at D = {at:g} by shuffling"

    def slight(words: str, value: float, error: float = math.nan) -> Condition:
        """It is less than the part `SLIGHT` of the range of V₁; open where only the range with LAL decides for it."""
        strict, loose = (
            below(f"{words}, in parts of the range of V₁{of}", value / wide, SLIGHT, error / wide, by=by, or_open=True)
            for of, wide in ((" without LAL", separated), ("", with_lal))
            for by in [0.0 if math.isnan(error) else 2.0]
        )
        return strict.open_if(loose.holds is not False)

    clear = float(np.mean([score > SURE for score in scores]))
    return all_of(
        above(f"smallest normal score of the {loss}, over algorithms", smallest(scores), -SURE),
        above(f"part of the algorithms with a clear {loss}", clear, 0.5).open_if(
            np.mean([score > -SURE for score in scores]) > 0.5
        ),
        slight(f"median {loss}", float(np.median([each.value for each in losses.values()]))),
        larger(f"normal score of the {loss}, eLAL minus ceSGD", more, or_open=True),
        slight(f"{loss}, eLAL minus ceSGD", more.value, more.error),
        detail=f"losses: {told}; range without shuffling {separated:.2g}, with LAL {with_lal:.2g}; on the shuffled set "
        f"{ranks}",
    )


def volumes_correlate_with_test_error(fashion_local_entropy: pd.DataFrame, fashion_solutions: pd.DataFrame) -> Finding:
    """Over the runs of all algorithms on images V₁ falls as the test error grows."""
    runs = with_errors(volumes_at(fashion_local_entropy, NEAREST), fashion_solutions)
    solved = fashion_solutions["solved"] == 1
    require(fashion_solutions.loc[solved, "test_error"].notna().all(), "a test error is missing")
    rho, error = spearman_over_sets(runs["test_error"], runs["entropy"], runs["sample"])
    return all_of(
        below(f"Spearman's ρ of test error and V₁ at D = {NEAREST:g}", rho, -CLEAR, error),
        detail=f"{len(runs)} runs on {runs['sample'].nunique()} training sets",
    )


def wider_minima_generalize_better(fashion_local_entropy: pd.DataFrame, fashion_solutions: pd.DataFrame) -> Finding:
    """No two algorithms are ranked one way by V₁ and the other way by the test error, both clearly.

    The widest must err less than the narrowest by two standard errors. A former rule asked that the test errors rise in
    the order of the mean V₁, also where two of these do not differ. This one, of S18, was put in its place after its
    number was seen.
    """
    solved = fashion_solutions[fashion_solutions["solved"] == 1]
    require(solved["test_error"].notna().all(), "a test error is missing")
    pairs = ranked_by_volume(fashion_local_entropy, solved, "test_error", ON_IMAGES)
    volumes = volumes_at(fashion_local_entropy, NEAREST).groupby("algorithm")["entropy"].mean()
    order = volumes.sort_values(ascending=False).index
    errors = [solved.loc[solved["algorithm"] == name, "test_error"] for name in order]
    widest = mean_of(paired_differences(solved, "test_error", order[0], order[-1]))
    told = ", ".join(
        f"{COMMITTEE_NAMES[name]} {own.mean():.4f} ± {own.sem():.4f}" for name, own in zip(order, errors, strict=True)
    )
    return all_of(
        none_opposite("the test error", len(pairs.opposite)),
        larger(
            "normal score of the test error, narrowest minima less widest",
            widest._replace(value=-widest.value),
            or_open=True,
        ),
        detail=f"from the widest minima to the narrowest: {told}; {pairs.told()}",
    )


class Pairs(NamedTuple):
    """Pairs of algorithms, in words: ranked in opposite order by two measures, alike, or not clearly by one of them."""

    opposite: list[str]
    alike: list[str]
    unclear: list[str]

    def told(self) -> str:
        """For a card."""
        return f"opposite: {', '.join(self.opposite) or 'none'}; not clear: {', '.join(self.unclear) or 'none'}"


def ranked_by_volume(around: pd.DataFrame, runs: pd.DataFrame, column: str, names: Sequence[str]) -> Pairs:
    """Whether V₁ at the nearest distance and another measure, which falls with V₁, rank each two algorithms alike.

    A difference is clear from `SURE` standard errors on. Differences are paired over training sets.

    Args:
        around: local entropies.
        runs: the other measure of each algorithm and sample.
        column: its column.
        names: the algorithms.

    Raises:
        Untestable: fewer than `FEWEST` training sets with both algorithms.
    """
    volumes = volumes_at(around, NEAREST)
    pairs = Pairs([], [], [])
    for first, second in combinations(names, 2):
        scores = []
        for table, measure, sign in ((volumes, "entropy", 1.0), (runs, column, -1.0)):
            gap = sign * paired_differences(table, measure, first, second)
            require(len(gap) >= FEWEST, f"{first}, {second}: fewer than {FEWEST} training sets with both")
            scores.append(welch(mean_of(gap)))
        clear = min(map(abs, scores)) > SURE  # a missing score is not
        alike = scores[0] * scores[1] > 0.0
        kind = (pairs.alike if alike else pairs.opposite) if clear else pairs.unclear
        kind.append(f"{COMMITTEE_NAMES[first]} and {COMMITTEE_NAMES[second]}")
    return pairs


def none_opposite(measure: str, pairs: int, where: str = "") -> Condition:
    """No two algorithms are ranked one way by a measure and the other way by V₁, both clearly."""
    what = f"pairs of algorithms that {measure} and V₁ at D = {NEAREST:g} rank oppositely, each by {SURE:g} SE"
    return at_most(what + where, pairs, 0.0)


def slower_growth_widens_minima(tree_local_entropy: pd.DataFrame, fashion_local_entropy: pd.DataFrame) -> Finding:
    """ceSGD-slow has more solutions next to it than ceSGD-fast, on random patterns and on images.

    The order at the other distances is told.
    """
    around = _measured(tree_local_entropy)
    gaps = {at: _gaps(around, "ce_slow", "ce_fast", at) for at in sorted(around["distance"].unique()) if at > NEAREST}
    reversed_at = [at for at, gap in gaps.items() if welch(mean_of(gap)) < -SURE]
    random = _gaps(around, "ce_slow", "ce_fast", NEAREST)
    require(len(random) >= FEWEST, f"random patterns: fewer than {FEWEST} training sets with both")
    images = _gaps(_measured(fashion_local_entropy), "ce_slow", "ce_fast", NEAREST)
    require(len(images) >= FEWEST, f"images: fewer than {FEWEST} training sets with both")
    wider = f"normal score of V₁ at D = {NEAREST:g} of ceSGD-slow less ceSGD-fast"
    return all_of(
        larger(f"{wider}, random patterns", mean_of(random), or_open=True),
        larger(f"{wider}, images", mean_of(images), or_open=True),
        detail=f"random patterns {random.mean():.4f} ± {random.sem():.4f} ({len(random)} sets); images "
        f"{images.mean():.5f} ± {images.sem():.5f} ({len(images)} sets); on random patterns the order is clearly the "
        f"other one at D = {numbers(reversed_at, 'g') or 'no distance'}",
    )


def belief_propagation_converges_around_wide_minima(
    broken_phase_local_entropy: pd.DataFrame, belief_volume: pd.DataFrame
) -> Finding:
    """Around fBP's solutions the messages converge at loads where those without a reference do not.

    Up to which distance is told: the text says, up to where other regions of solutions matter.
    """
    table = broken_phase_local_entropy[broken_phase_local_entropy["solved"] == 1]
    require(table[["alpha", "distance"]].notna().all(axis=None), "a load or a distance is missing")
    broken = table[table["alpha"] > CLUSTERING[3.0]]
    require(len(broken), f"no solutions above α = {CLUSTERING[3.0]:g}")
    runs = broken.groupby(["alpha", "distance"])["converged"].agg(["mean", "size"])
    require(runs["size"].min() >= FEWEST, f"fewer than {FEWEST} solutions at some α")
    nearest = runs["mean"].groupby(level="alpha").first()
    free = belief_volume.groupby("alpha")["converged"].mean()
    free = free[free.index > CLUSTERING[3.0] + 0.1]
    require(len(free), f"no belief propagation without a reference above α = {CLUSTERING[3.0]:g}")
    reach = {
        alpha: max((distance for (_, distance), rate in rates["mean"].items() if rate >= 0.5), default=math.nan)
        for alpha, rates in runs.groupby(level="alpha")
    }
    return all_of(
        at_least(
            "smallest fraction converged at the smallest distance, over α above clustering", smallest(nearest), 0.9
        ),
        below("largest fraction converged without a reference there", largest(free), 0.5),
        detail=f"half of the messages converge up to D = {numbers(reach.values(), 'g')} at α = {numbers(reach, '.3g')}",
    )


def with_errors(measured: pd.DataFrame, solutions: pd.DataFrame) -> pd.DataFrame:
    """Runs on images of which something was measured, with their test errors.

    Raises:
        Untestable: too few training sets that all algorithms solve.
    """
    errors = solutions.loc[solutions["solved"] == 1, ["algorithm", "sample", "test_error"]]
    runs = measured.merge(errors, on=["algorithm", "sample"])
    common = (runs.groupby("sample").size() == len(ON_IMAGES)).sum()
    require(common >= FEWEST, f"fewer than {FEWEST} training sets that all algorithms solve")
    return runs


def volumes_at(table: pd.DataFrame, distance: float) -> pd.DataFrame:
    """The rows at a distance whose messages converged.

    Raises:
        Untestable: a local entropy is missing there.
    """
    return _at(_measured(table), distance)


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
