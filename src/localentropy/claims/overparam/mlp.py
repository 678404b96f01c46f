"""Claims about multi-layer perceptrons from two initializations (figure 6)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from pandas.api.typing import SeriesGroupBy

from localentropy.analysis.pooled_score import pooled_score
from localentropy.analysis.thresholds import first_solved
from localentropy.claims.finding import Finding, Untestable, largest, numbers, smallest
from localentropy.claims.overparam.trained_networks import (
    COMPARED_AT,
    FLAT,
    all_flat,
    energy,
    initial_slope,
    overlap,
    profiles,
    slope_in_words,
)

STARTS = ("random_orthogonal", "adversarial")


def thresholds_and_plateaus_differ(mlp: pd.DataFrame) -> Finding:
    """The initializations have different thresholds and different plateaus of the test error."""
    # k of n networks solved from either start, by width.
    n, k = (_outcomes(mlp).agg(how).unstack(fill_value=0) for how in ("size", "sum"))
    fewer = pooled_score(n[STARTS[0]], k[STARTS[0]], n[STARTS[1]], k[STARTS[1]])
    errors = mlp[mlp["quantity"] == "test_error"].groupby(["initialization", "width"])["value"].agg(["mean", "sem"])
    if n.to_numpy().min() < 2 or len(n) < 2:
        raise Untestable("two widths and two networks of each needed")
    widest = int(mlp["width"].max())
    plain, adverse = errors.loc[(STARTS[0], widest)], errors.loc[(STARTS[1], widest)]
    worse = float((adverse["mean"] - plain["mean"]) / np.hypot(adverse["sem"], plain["sem"]))
    firsts = {start: first_solved(k[start] / n[start]) for start in STARTS}
    parameters = mlp.groupby("width")["parameters"].first()
    found = ", ".join(f"{start} {parameters.get(width, 'nowhere')}" for start, width in firsts.items())
    last = [_last_step(errors.loc[start]) for start in STARTS]
    detail = (
        f"test error at width {widest}: {adverse['mean']:.4f} against {plain['mean']:.4f} (z = {worse:.1f}), last "
        f"steps {numbers(last, '+.1f')} SE (orthogonal, adversarial); all networks solve from parameters: {found}"
    )
    quantity = (
        "z of fewer networks solved from adversarial starts, > 2, and worse at the largest width by 2σ; both level "
        "there: last step < 2 SE"
    )
    if not np.isfinite(fewer):
        return Finding.untestable(quantity, f"no width where some networks solve and some do not; {detail}")
    if fewer > 2 and worse > 2 and largest(np.abs(last)) > 2:
        return Finding.untestable(quantity, f"no plateau at the largest width yet; {detail}")
    return Finding(quantity, fewer, bool(fewer > 2 and worse > 2), detail)


def error_improves(mlp: pd.DataFrame) -> Finding:
    """The test error at the largest width is smaller than where all networks first solve."""
    quantity = "smaller z of the fall of the test error from the first width where all solve to the largest, > 2"
    errors = mlp[mlp["quantity"] == "test_error"].groupby(["initialization", "width"])["value"].agg(["mean", "sem"])
    solved, largest_width = _solved(mlp), mlp["width"].max()
    scores, words = [], []
    for start in STARTS:
        first = first_solved(solved[start])
        if first is None or first == largest_width:
            return Finding.untestable(quantity, f"{start}: no width where all networks solve below the largest")
        near, far = errors.loc[(start, first)], errors.loc[(start, largest_width)]
        if np.isnan(near["sem"]) or np.isnan(far["sem"]):
            return Finding.untestable(quantity, f"{start}: two networks of each width needed")
        scores.append(float((near["mean"] - far["mean"]) / np.hypot(near["sem"], far["sem"])))
        words.append(f"{start}: {near['mean']:.4f} at width {first:.0f}, {far['mean']:.4f} at {largest_width}")
    least = smallest(scores)
    return Finding(quantity, least, least > 2, "; ".join(words))


def overlap_below_one(mlp: pd.DataFrame) -> Finding:
    """Where all networks first solve, their overlap is below 1, and above that of aligned untrained networks.

    Independent networks have an overlap below 1 too. The excess over untrained networks comes from the training.
    """
    solved = _solved(mlp)
    quantity = "largest overlap at the first width where all solve, + 3 SE < 1; − 3 SE above untrained"
    found, holds, words = [], True, []
    for start in STARTS:
        width = first_solved(solved[start])
        if width is None:
            return Finding.untestable(quantity, f"{start}: no width where all networks solve")
        here = _networks(mlp, start, width)
        (trained, error), (untrained, noise) = (overlap(here, name) for name in ("overlap", "overlap_untrained"))
        found.append((trained, error))
        holds &= trained + 3 * error < 1 and trained - untrained > 3 * np.hypot(error, noise)
        words.append(
            f"{start}, width {width:.0f}: {trained:.3f} ± {error:.3f} against {untrained:.3f} ± {noise:.3f} untrained"
        )
    top, error = max(found)
    return Finding(quantity, top, bool(holds), "; ".join(words), error)


def solutions_grow_apart(mlp: pd.DataFrame) -> Finding:
    """The overlap falls with the width, flattens, and stays above that of aligned untrained networks."""
    quantity = "z of the last step of the overlap, |z| < 2 after a fall, above untrained"
    solved = _solved(mlp)
    scores, holds, words = [], True, []
    for start in STARTS:
        first = first_solved(solved[start])
        widths = [width for width in solved.index if first is not None and width >= first]
        if len(widths) < 3:
            return Finding.untestable(quantity, f"{start}: fewer than three widths where all networks solve")
        values, errors = np.array([overlap(_networks(mlp, start, width), "overlap") for width in widths]).T
        untrained, noise = overlap(_networks(mlp, start, widths[-1]), "overlap_untrained")
        scores.append(float((values[-1] - values[-2]) / np.hypot(errors[-1], errors[-2])))
        fell = (values[0] - values[-1]) > 2 * np.hypot(errors[0], errors[-1])
        holds &= bool(fell and abs(scores[-1]) < 2 and values[-1] - untrained > 2 * np.hypot(errors[-1], noise))
        words.append(f"{start}: {numbers(values, '.3f')} at widths {numbers(widths, '.0f')}, untrained {untrained:.3f}")
    return Finding(quantity, max(scores, key=abs), holds, "; ".join(words))


def wide_minima_are_flatter(mlp: pd.DataFrame) -> Finding:
    """Solutions withstand noise even near the threshold, and more so when they are wider."""
    quantity = (
        f"largest slope of E(d) at d = 0, first width where all solve, + 2 SE < {FLAT}; lower E({COMPARED_AT}) at the "
        "largest width"
    )
    solved = _solved(mlp)
    slopes, flatter, words = [], True, []
    for start in STARTS:
        first = first_solved(solved[start])
        if first is None or first == mlp["width"].max():
            return Finding.untestable(quantity, f"{start}: no width where all networks solve below the largest")
        near, wide = (profiles(_networks(mlp, start, width)) for width in (first, mlp["width"].max()))
        slopes.append(initial_slope(near))
        (sharp, _), (flat, _) = energy(near), energy(wide)
        flatter &= flat < sharp
        words.append(
            f"{start}: {slope_in_words(slopes[-1])}; E({COMPARED_AT}) = {sharp:.3f}, {flat:.3f} at the largest width"
        )
    slope, error = max(slopes, key=lambda pair: pair[0])
    return Finding(quantity, slope, flatter and all_flat(slopes), "; ".join(words), error)


def _last_step(points: pd.DataFrame) -> float:
    """Step from the second largest width to the largest, in standard errors."""
    before, last = points.iloc[-2], points.iloc[-1]
    return float((last["mean"] - before["mean"]) / np.hypot(last["sem"], before["sem"]))


def _solved(mlp: pd.DataFrame) -> pd.DataFrame:
    """Width × initialization: fraction of the networks without a train error.

    Raises:
        Untestable: an initialization has no networks.
    """
    return _outcomes(mlp).mean().unstack()


def _outcomes(mlp: pd.DataFrame) -> SeriesGroupBy:
    """Whether each network makes no train error, by width and initialization."""
    rows = mlp[mlp["quantity"] == "train_error"]
    absent = set(STARTS) - set(rows["initialization"])
    if absent:
        raise Untestable(f"no networks from {', '.join(sorted(absent))} starts")
    return rows.assign(solved=rows["value"] == 0.0).groupby(["width", "initialization"])["solved"]


def _networks(mlp: pd.DataFrame, start: str, width: float) -> pd.DataFrame:
    return mlp[(mlp["initialization"] == start) & (mlp["width"] == width)]
