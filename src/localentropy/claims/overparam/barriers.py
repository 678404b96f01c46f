"""Claims about paths without train errors between solutions of one instance (solution_barriers; figure 13)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from localentropy.claims.conditions import (
    FEWEST,
    Condition,
    Finding,
    above,
    all_of,
    at_least,
    mean_of,
    numbers,
    require,
    scored,
    smallest,
    trend,
    welch,
)
from localentropy.claims.overparam.solvers import thresholds_of
from localentropy.landscape.barriers import region

EFFICIENT = ("focusing_bp", "sbpi")
"""The solvers whose solutions lie in dense regions."""
CONNECTED = 0.9
"""Part of all instances in which a property of a region is asked for (chosen here, before the numbers)."""
MOST = 0.5
"""Part of the instances of each size that is asked for at least."""


def connected_beyond_the_threshold(solution_barriers: pd.DataFrame, thresholds: pd.DataFrame) -> Finding:
    """Beyond 1/α_LE, paths without errors join all solutions of fBP and SBPI of one instance, by way of others of them.

    So it is in nine of ten instances, and in most of each size. Where it fails, other paths may exist: a path that is
    found proves a connection, and one that is not found proves nothing.
    """
    threshold = _threshold(solution_barriers, thresholds)
    beyond = solution_barriers[solution_barriers["inv_alpha"] > threshold]
    rows = [
        at | {"holds": float(region(_square(pairs, "barrier_bent")[1]).connected)}
        for at, pairs in _instances(beyond, EFFICIENT, "barrier_bent")
    ]
    return _in_most_instances("solutions that are connected", rows)


def star_shaped_around_focusing_bp(solution_barriers: pd.DataFrame) -> Finding:
    """Straight greedy paths without errors lead from a solution of fBP to all other solutions of fBP and SBPI."""
    rows = []
    for at, pairs in _instances(solution_barriers, EFFICIENT, "barrier_greedy"):
        names, barriers = _square(pairs, "barrier_greedy")
        of_it = [name == "focusing_bp" for name in names]
        if any(of_it):
            rows.append(at | {"holds": float(region(barriers).centres[of_it].any())})
    return _in_most_instances("a solution of fBP that sees all others", rows)


def joined_solutions_move_apart(solution_barriers: pd.DataFrame) -> Finding:
    """Solutions of SBPI that a path without errors joins have a smaller overlap at larger 1/α, at the largest size."""
    joined = _solved(solution_barriers, ("sbpi",), "distance", "barrier_bent").query("barrier_bent == 0")
    require(len(joined), "no solutions of SBPI that are joined")
    joined = joined[joined["D"] == joined["D"].max()]
    each = (1.0 - 2.0 * joined["distance"]).groupby([joined["inv_alpha"], joined["sample"]]).mean()
    means = each.groupby("inv_alpha").agg(["mean", "sem", "size"])
    require(means["size"].min() >= FEWEST, f"fewer than {FEWEST} instances with joined solutions of SBPI")
    conditions = trend("overlap of two joined solutions", means["mean"], means["sem"], along="1/α")
    told = f"overlaps {numbers(means['mean'], '.3f')} at 1/α = {numbers(means.index, '.3g')}, D = {joined['D'].max()}"
    return all_of(*conditions, detail=told)


def annealing_has_higher_barriers(solution_barriers: pd.DataFrame) -> Finding:
    """The mean barrier between two solutions of annealing is higher than between two of SBPI, on the same instances."""
    keys = ["D", "inv_alpha", "sample"]
    high, low = (
        _solved(solution_barriers, (name,), "barrier_mean").groupby(keys)["barrier_mean"].mean()
        for name in ("anneal", "sbpi")
    )
    both = pd.concat({"high": high, "low": low}, axis=1, join="inner")
    require(len(both), "no instances with two solutions of both")
    scores, words = [], []
    for (D, inv_alpha), rows in both.groupby(["D", "inv_alpha"]):
        require(len(rows) >= FEWEST, f"fewer than {FEWEST} instances with both at D = {D}, 1/α = {inv_alpha:.3g}")
        scores.append(welch(mean_of(rows["high"] - rows["low"])))
        means = rows.mean()
        words.append(f"SA {means['high']:.3f}, SBPI {means['low']:.3f} at D = {D}, 1/α = {inv_alpha:.3g}")
    what = "smallest normal score of the paired difference of the barriers, SA less SBPI"
    return all_of(scored(what, smallest(scores)), detail="; ".join(words))


def _threshold(barriers: pd.DataFrame, thresholds: pd.DataFrame) -> float:
    """1/α_LE of the instances."""
    found = float(thresholds_of(thresholds, barriers)["inv_alpha_le"])
    require(found > 0.0, "the threshold is missing")
    return found


def _solved(table: pd.DataFrame, solvers: tuple[str, ...], *columns: str) -> pd.DataFrame:
    """The pairs of solutions of these solvers. None may lack a number of these columns."""
    pairs = table[table["first"].isin(solvers) & table["second"].isin(solvers) & (table["solved"] == 1.0)]
    require(pairs[[*columns]].notna().all(axis=None), f"a pair of solutions without {' or '.join(columns)}")
    return pairs


def _instances(
    table: pd.DataFrame, solvers: tuple[str, ...], column: str
) -> Iterator[tuple[dict[str, float], pd.DataFrame]]:
    """The sizes of each instance, and its pairs of solutions."""
    keys = ["D", "inv_alpha", "sample"]
    for values, pairs in _solved(table, solvers, column).groupby(keys):
        yield dict(zip(keys, values, strict=True)), pairs


def _square(pairs: pd.DataFrame, column: str) -> tuple[list[str], np.ndarray]:
    """The solvers of all solutions of one instance, and the barriers between them, [solutions, solutions]."""
    ends = [list(zip(pairs[end], pairs[f"{end}_run"], strict=True)) for end in ("first", "second")]
    places = {run: number for number, run in enumerate(sorted({*ends[0], *ends[1]}))}
    barriers = np.zeros((len(places), len(places)))
    for one, other, height in zip(*ends, pairs[column], strict=True):
        barriers[places[one], places[other]] = barriers[places[other], places[one]] = height
    return [solver for solver, _ in places], barriers


def _in_most_instances(words: str, rows: list[dict[str, float]]) -> Finding:
    """It holds in `CONNECTED` of all instances, and in `MOST` of those of each size that has `FEWEST`."""
    require(rows, "no instances with two solutions")
    sizes = pd.DataFrame(rows).groupby(["D", "inv_alpha"])["holds"].agg(["mean", "sum", "size"])
    sizes = sizes[sizes["size"] >= FEWEST]
    require(len(sizes), f"no size with {FEWEST} instances with two solutions")
    told = (
        f"{row['sum']:g} of {row['size']:g} at D = {D}, 1/α = {inv_alpha:.3g}"
        for (D, inv_alpha), row in sizes.iterrows()
    )
    conditions: list[Condition] = [
        at_least(f"part of all instances with {words}", sizes["sum"].sum() / sizes["size"].sum(), CONNECTED),
        above(f"smallest part of the instances of one size with {words}", smallest(sizes["mean"]), MOST),
    ]
    return all_of(*conditions, detail="; ".join(told))
