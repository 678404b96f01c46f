"""Claims about gradient descent on phase retrieval, of one unit and of as many as inputs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.extrapolation import to_infinite_size
from localentropy.claims.finding import FEWEST, Finding, Untestable, jointly, numbers

ZERO = 1e-6
"""A training loss below this is zero."""
FALLS, RESTS = 1.0, 0.1
"""A loss goes to zero if it falls as this power of the steps or a higher one, and rests at a lower power than RESTS."""
TRIED, NEAR = (1.0, 1.5), 0.05
"""Loads, within this part of them, that must be among those of the wide runs: the teacher is not found there."""
APART = 0.1
"""A matrix with a larger test error is another than the teacher's. That of a random one is about 2."""
UNIQUE, MARGIN = 2.0, 0.05
"""Printed: the minimum is unique above this load. This part of it on both sides is not judged."""
PLAIN, ABOUT = 7.0, 0.5
"""Printed: what one unit needs, "~7". It is met within ABOUT, half of its last digit."""
SURE = 2.0
"""Standard errors by which half-points move with the size."""
STILL = 0.25
"""A half-point that moves by less between the smallest and the largest size, errors included, has settled."""


def wide_students_reach_zero_loss(descent: pd.DataFrame) -> Finding:
    """Every run of as many units as inputs ends at zero training loss, or on a power law towards it, at every load.

    The power is that of the steps, from half of the run to its end. A run between the two powers was cut off too early
    to tell.
    """
    quantity = (
        f"share of the wide runs, at every load, with a training loss < {ZERO:g} or falling as the power {FALLS:g} of "
        f"the steps or faster, all; not reproduced if one rests (power < {RESTS:g})"
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
    return Finding(quantity, share, False if rests.any() else True if arrives.all() else None, detail)


def the_minimum_is_unique_above_two(descent: pd.DataFrame) -> Finding:
    """With as many units as inputs, most zeros of the loss are not the teacher below α = 2, and are the teacher above.

    This holds for many inputs. A run tells of minima only if its training loss is zero. Above α = 2 a slow run has a
    small loss long before it is near the teacher. So there the claim fails only if most runs of the largest size end
    below the loss's tolerance elsewhere, and if their share does not fall with the size.
    """
    quantity = (
        f"load from which on most wide runs of the largest size end at the teacher (test error < {APART:g}, loss < "
        f"{ZERO:g}), {UNIQUE:g}: below it most end at other zeros of the loss, above it at the teacher; {MARGIN:.0%} "
        "around it are left out; not reproduced if above it most end elsewhere with a loss below its tolerance, and no "
        "fewer at the largest size than at the smallest"
    )
    runs = _wide(descent)
    if runs[["loss", "test_error", "converged"]].isna().any(axis=None):
        raise Untestable("a run without a loss or a test error")
    zero, apart = runs["loss"] < ZERO, runs["test_error"] > APART
    cells = (
        runs.assign(other=zero & apart, settled=(runs["converged"] == 1) & apart, teacher=zero & ~apart, found=~apart)
        .groupby(["d", "alpha"])[["other", "settled", "teacher", "found"]]
        .agg("mean")
        .assign(runs=runs.groupby(["d", "alpha"]).size())
    )
    cells = cells[cells["runs"] >= FEWEST]
    if cells.empty:
        return Finding.untestable(quantity, f"nowhere {FEWEST} runs")
    sizes = cells.index.unique("d")
    last = cells.loc[sizes.max()]
    below, above = last[last.index <= UNIQUE * (1 - MARGIN)], last[last.index >= UNIQUE * (1 + MARGIN)]
    if below.empty or above.empty:
        return Finding.untestable(quantity, f"d = {sizes.max()}: loads on both sides of {UNIQUE:g} needed")
    verdicts = [_most(row.other, row.teacher) for row in below.itertuples()]
    for alpha, row in above.iterrows():
        verdict = _most(row["teacher"], row["settled"])
        shares = cells["settled"].xs(alpha, level="alpha") if verdict is False else None
        falls = shares is not None and shares.loc[shares.index.min()] > shares.loc[shares.index.max()]
        verdicts.append(None if falls else verdict)
    words = [
        f"d = {d}: other zeros {numbers(own['other'], '.2f')}, teacher {numbers(own['teacher'], '.2f')}, test error < "
        f"{APART:g} {numbers(own['found'], '.2f')} at α = {numbers(own.index, '.3g')}"
        for d, own in ((d, cells.loc[d]) for d in sizes)
    ]
    value = last_half_point(last.index.to_numpy(), last["found"].to_numpy(), last["runs"].to_numpy())[0]
    detail = f"half of the runs of d = {sizes.max()} are near the teacher at α = {value:.2f}; {'; '.join(words)}"
    return Finding(quantity, value, jointly(*verdicts), detail)


def one_unit_needs_seven(descent: pd.DataFrame) -> Finding:
    """The load at which half of the runs of one unit find the teacher is about 7 for many inputs.

    Where it is lower and still rises with the size, the sizes cannot decide.
    """
    quantity = (
        f"load where half of the runs of one unit succeed at the largest d, {PLAIN:g} ± {ABOUT:g}; not reproduced if "
        f"it is off and moves away with d by {SURE:g} SE, or stays within {STILL:g}"
    )
    runs = descent[descent["student"] == "plain"]
    if runs["success"].isna().any():
        raise Untestable("a run without an outcome")
    cells = runs.groupby(["d", "alpha"])["success"].agg(["mean", "size"]).reset_index()
    cells = cells[cells["size"] >= FEWEST]
    points = {
        d: last_half_point(own["alpha"].to_numpy(), own["mean"].to_numpy(), own["size"].to_numpy())
        for d, own in cells.groupby("d")
    }
    points = {d: point for d, point in points.items() if np.isfinite(point).all()}
    if len(points) < 3:
        return Finding.untestable(quantity, f"fewer than three sizes with {FEWEST} runs on both sides of a half")
    sizes, (values, errors) = sorted(points), np.array([points[d] for d in sorted(points)]).T
    limit = to_infinite_size(sizes, values, errors)
    moved, error = values[-1] - values[0], float(np.hypot(errors[-1], errors[0]))
    towards = moved if values[-1] < PLAIN else -moved
    nearly = cells[(cells["d"] == sizes[-1]) & (cells["mean"] >= 0.9)]["alpha"].min()
    detail = (
        f"half at α = {numbers(values, '.2f')} ± {numbers(errors, '.1g')} for d = {numbers(sizes, 'g')}; a line in 1/d "
        f"ends at {limit.value:.2f} ± {limit.error:.2f}; nine of ten succeed first at α = {nearly:g} at d = {sizes[-1]}"
    )
    holds: bool | None = abs(values[-1] - PLAIN) < ABOUT
    if not holds and towards > -SURE * error and abs(moved) + SURE * error > STILL:
        holds = None
    return Finding(quantity, float(values[-1]), holds, detail, float(errors[-1]))


def last_half_point(alphas: np.ndarray, fractions: np.ndarray, runs: np.ndarray) -> tuple[float, float]:
    """The load above which more than half of the runs succeed, by linear interpolation, and its standard error.

    It is the last crossing. The error is that of the two fractions around it, each binomial with one success and one
    failure more. −∞ if half succeed at every load and ∞ if fewer do at the last one; their errors are missing.
    """
    order = np.argsort(alphas)
    x, y, n = alphas[order], fractions[order], runs[order]
    under = np.flatnonzero(y < 0.5)
    if not under.size:
        return -np.inf, np.nan
    at = int(under[-1])
    if at == len(x) - 1:
        return np.inf, np.nan
    step, rise = x[at + 1] - x[at], y[at + 1] - y[at]
    part = (0.5 - y[at]) / rise
    share = (n * y + 1.0) / (n + 2.0)
    spread = np.sqrt(share * (1.0 - share) / (n + 2.0))
    error = step / rise * np.hypot((1.0 - part) * spread[at], part * spread[at + 1])
    return float(x[at] + part * step), float(error)


def _wide(descent: pd.DataFrame) -> pd.DataFrame:
    """The runs of at least as many units as inputs."""
    return descent[(descent["student"] == "wide") & (descent["units"] >= descent["d"])]


def _most(expected: float, other: float) -> bool | None:
    """Whether most runs end as expected; None if neither this nor the other are most."""
    return True if expected > 0.5 else False if other > 0.5 else None
