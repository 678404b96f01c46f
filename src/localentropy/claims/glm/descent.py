"""Claims about gradient descent on phase retrieval, of one unit and of as many as inputs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.extrapolation import to_infinite_size
from localentropy.analysis.thresholds import last_half_point, success_fractions
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, jointly, numbers

ZERO = 1e-6
"""A training loss below this is zero."""
FALLS, RESTS = 1.0, 0.1
"""A loss goes to zero if it falls as this power of the steps or a higher one, and rests at a lower power than RESTS."""
TRIED, NEAR = (1.0, 1.5), 0.05
"""The wide runs must have these loads, up to this part of them: the teacher is not found there."""
APART = 0.1
"""With a larger test error the student's matrix is not the teacher's. A random one has about 2. Chosen here."""
UNIQUE, MARGIN = 2.0, 0.05
"""Printed: the minimum is unique above this load. Loads closer to it than this part are not judged."""
PLAIN, ABOUT = 7.0, 0.5
"""Printed: what one unit needs, "~7". A load within ABOUT of it agrees: half of the last digit."""
SURE = 2.0
"""Standard errors by which half-points and shares move with the size."""
STILL = 0.25
"""A half-point that moves by less between the smallest and the largest size, errors included, has settled."""


def wide_students_reach_zero_loss(descent: pd.DataFrame) -> Finding:
    """Every run of as many units as inputs ends at zero training loss, or on a power law towards it, at every load.

    The power is that of the steps, from half of the run to its end. A run between the two powers was cut off too early
    to tell.
    """
    quantity = (
        f"share of the wide runs at all loads whose training loss ends below {ZERO:g} or falls as the power {FALLS:g} "
        f"of the steps or faster: all; not reproduced if one rests (power < {RESTS:g})"
    )
    runs = _wide(descent)
    counts = {alpha: int(np.isclose(runs["alpha"], alpha, rtol=NEAR).sum()) for alpha in TRIED}
    if min(counts.values()) < FEWEST:
        return Finding.untestable(quantity, f"fewer than {FEWEST} runs near α = {numbers(TRIED, 'g')}")
    power = np.log2(runs["loss_midway"] / runs["loss"])
    arrives = (runs["loss"] < ZERO) | (power >= FALLS)
    rests = ~arrives & ~(power >= RESTS)  # also a missing number
    by_load = pd.DataFrame({"alpha": runs["alpha"].round(2), "loss": runs["loss"], "power": power}).groupby("alpha")
    detail = (
        f"median loss {numbers(by_load['loss'].median(), '.1g')}, median power "
        f"{numbers(by_load['power'].median(), '.1f')} at α = {numbers(by_load.groups, 'g')}; {rests.sum()} of "
        f"{len(runs)} runs rest, {(~arrives & ~rests).sum()} were cut off too early"
    )
    share = float(arrives.mean())
    holds = False if rests.any() else True if arrives.all() else None
    return Finding(quantity, share, holds, detail, bounds=Bounds(lower=1.0))


def the_minimum_is_unique_above_two(descent: pd.DataFrame) -> Finding:
    """With as many units as inputs, most runs end at other zeros of the loss below α = 2, some at the teacher above.

    The theorem is about many inputs. Below α = 2 the minimum is not unique, with a probability that goes to 1. Above 2
    it is unique with a positive probability. On both sides a run shows another zero if its loss is zero and its test
    error is large. Just above 2 a slow run can look like that too, and small systems have their transition elsewhere.
    So above 2 the claim fails only if at some load all runs of every size show other zeros.
    """
    quantity = (
        f"load above which most wide runs of the largest d succeed; below {UNIQUE:g} most end at other zeros (loss < "
        f"{ZERO:g}, test error > {APART:g}), above it some end at the teacher (loss < {ZERO:g}, smaller test error); "
        f"not testable if the load drifts upwards: if above {UNIQUE:g} more runs of the largest d than of the "
        f"smallest, by {SURE:g} SE, are away from the teacher or at other zeros; {MARGIN:.0%} around "
        f"{UNIQUE:g} are left out"
    )
    runs = _wide(descent)
    if runs[["loss", "test_error", "success"]].isna().any(axis=None):
        raise Untestable("a run without a loss, a test error or an outcome")
    zero, apart = runs["loss"] < ZERO, runs["test_error"] > APART
    outcomes = {"other": zero & apart, "teacher": zero & ~apart, "away": apart, "success": runs["success"]}
    cells = pd.concat(
        {
            name: success_fractions(runs, ["d", "alpha"], is_so).set_index(["d", "alpha"])
            for name, is_so in outcomes.items()
        },
        axis=1,
    )
    cells = cells[cells["success", "runs"] >= FEWEST]
    if cells.empty:
        return Finding.untestable(quantity, f"no load has {FEWEST} runs")
    sizes = cells.index.unique("d")
    last = cells.loc[sizes.max()]
    below, above = last[last.index <= UNIQUE * (1 - MARGIN)], last[last.index >= UNIQUE * (1 + MARGIN)]
    if below.empty or above.empty:
        return Finding.untestable(quantity, f"d = {sizes.max()}: loads on both sides of {UNIQUE:g} needed")
    below_holds = jointly(*(_most(row["other", "y"], row["teacher", "y"]) for _, row in below.iterrows()))
    drifts: list[float] = []
    verdicts: list[bool | None] = []
    for alpha in above.index:
        own = cells.xs(alpha, level="alpha").sort_index()
        if any(_grows(own[name]) for name in ("other", "away")):
            drifts.append(alpha)
        elif own["teacher", "y"].iloc[-1] > 0:
            verdicts.append(True)
        else:
            verdicts.append(False if len(own) > 1 and (own["other", "y"] == 1.0).all() else None)
    points = {d: last_half_point(cells.loc[d]["success"].reset_index()) for d in sizes}
    words = [
        f"d = {d}: half succeed {_at(*points[d])}, other zeros {numbers(own['other', 'y'], '.2f')}, "
        f"teacher {numbers(own['teacher', 'y'], '.2f')}, test error > {APART:g} {numbers(own['away', 'y'], '.2f')} at "
        f"α = {numbers(own.index, '.3g')}"
        for d, own in ((d, cells.loc[d]) for d in sizes)
    ]
    if drifts:
        verdicts = [None]
        words.insert(0, f"drifts upwards at α = {numbers(drifts, '.3g')}")
    value, error = points[sizes.max()]
    return Finding(quantity, value, jointly(below_holds, *verdicts), "; ".join(words), error)


def one_unit_needs_seven(descent: pd.DataFrame) -> Finding:
    """The load at which half of the runs of one unit find the teacher is about 7 for many inputs.

    Where it is lower and still rises with the size, the sizes cannot decide.
    """
    quantity = (
        f"load where half of the runs of one unit succeed at the largest d, {PLAIN:g} ± {ABOUT:g}; not reproduced if "
        f"it is outside, and with d either moves away from {PLAIN:g} by {SURE:g} SE or moves by less than {STILL:g}"
    )
    runs = descent[descent["student"] == "plain"]
    if runs["success"].isna().any():
        raise Untestable("a run without an outcome")
    cells = success_fractions(runs, ["d", "alpha"], runs["success"])
    cells = cells[cells["runs"] >= FEWEST]
    points = {d: last_half_point(own) for d, own in cells.groupby("d")}
    points = {d: point for d, point in points.items() if np.isfinite(point).all()}
    if len(points) < 3:
        return Finding.untestable(quantity, f"fewer than three sizes with {FEWEST} runs on both sides of one half")
    sizes, (values, errors) = sorted(points), np.array([points[d] for d in sorted(points)]).T
    limit = to_infinite_size(sizes, values, errors)
    moved, error = values[-1] - values[0], float(np.hypot(errors[-1], errors[0]))
    towards = moved if values[-1] < PLAIN else -moved
    nearly = cells[(cells["d"] == sizes[-1]) & (cells["y"] >= 0.9)]["alpha"].min()
    detail = (
        f"half at α = {numbers(values, '.2f')} ± {numbers(errors, '.1g')} for d = {numbers(sizes, 'g')}; a line in 1/d "
        f"ends at {limit.value:.2f} ± {limit.error:.2f}; nine of ten succeed first at α = {nearly:g} at d = {sizes[-1]}"
    )
    holds: bool | None = abs(values[-1] - PLAIN) < ABOUT
    if not holds and towards > -SURE * error and abs(moved) + SURE * error > STILL:
        holds = None
    return Finding(quantity, float(values[-1]), holds, detail, float(errors[-1]), Bounds(PLAIN - ABOUT, PLAIN + ABOUT))


def _wide(descent: pd.DataFrame) -> pd.DataFrame:
    """The runs of at least as many units as inputs."""
    return descent[(descent["student"] == "wide") & (descent["units"] >= descent["d"])]


def _most(expected: float, other: float) -> bool | None:
    """Whether most runs end as expected; None if neither this nor the other are most."""
    return True if expected > 0.5 else False if other > 0.5 else None


def _grows(shares: pd.DataFrame) -> bool:
    """Whether a share is larger at the last of these sizes than at the first, beyond its error."""
    first, last = shares.iloc[0], shares.iloc[-1]
    return bool(last["y"] - first["y"] > SURE * np.hypot(first["y_err"], last["y_err"]))


def _at(place: float, error: float) -> str:
    """A half-point for a sentence."""
    return f"at {place:.2f} ± {error:.1g}" if np.isfinite(place) else "at no load" if place > 0 else "at every load"
