"""Claims about convolutional networks trained by two optimizers (figures 7 and 14)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from localentropy.analysis.thresholds import first_solved
from localentropy.claims.finding import Finding, Untestable, largest, largest_rise, numbers, smallest
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

INPUTS = 3 * 32 * 32
"""Values of an image."""


def both_optimizers_solve(cnn: pd.DataFrame) -> Finding:
    """SGD and Adam make at most one error from some width on."""
    quantity = "smallest width k from which on all networks of both optimizers solve"
    firsts = {optimizer: first_solved(_solved(cnn, optimizer)) for optimizer in _optimizers(cnn)}
    widths = sorted(cnn["width"].unique())
    words = [f"{name}: {'nowhere' if first is None else f'{first:.0f}'}" for name, first in firsts.items()]
    detail = f"{', '.join(words)}; k = {numbers(widths, '.0f')}"
    found = [first for first in firsts.values() if first is not None]
    if len(found) < len(firsts):
        return Finding(quantity, np.nan, False, detail)
    if max(found) == widths[0]:
        return Finding.untestable(quantity, f"all solve at the smallest width: {detail}")
    return Finding(quantity, float(max(found)), True, detail)


def parameters_exceed_the_inputs(cnn: pd.DataFrame) -> Finding:
    """No network that solves has fewer parameters than an image has values."""
    quantity = f"smallest number of parameters of a network that solves, over the {INPUTS} inputs, > 1"
    parameters = cnn.groupby("width")["parameters"].first() / INPUTS
    ratios, words = [], []
    for optimizer in _optimizers(cnn):
        solved = _solved(cnn, optimizer)
        first = solved[solved > 0].index.min()
        if np.isnan(first):
            return Finding.untestable(quantity, f"{optimizer}: no network solves")
        ratios.append(float(parameters[first]))
        words.append(f"{optimizer} {ratios[-1]:.2f} at k = {first:.0f}")
    if parameters.iloc[0] > 1:
        return Finding.untestable(quantity, f"the smallest network has {parameters.iloc[0]:.2f} already")
    detail = f"{', '.join(words)}; the widths start at {parameters.iloc[0]:.2f}"
    return Finding(quantity, min(ratios), min(ratios) > 1, detail)


def error_falls_with_width(cnn: pd.DataFrame) -> Finding:
    """The test error falls monotonically with the width."""
    quantity = "largest rise of the test error above that of a smaller k, in standard errors, < 2; all together < −2"
    rises, falls, words = [], [], []
    for optimizer in _optimizers(cnn):
        rows = cnn[(cnn["quantity"] == "test_error") & (cnn["optimizer"] == optimizer)]
        points = rows.groupby("width")["value"].agg(["mean", "sem"])
        if len(points) < 2 or points["sem"].isna().any():
            raise Untestable("two widths and two networks of each needed")
        rises.append(largest_rise(points["mean"].to_numpy(), points["sem"].to_numpy()))
        falls.append((points["mean"].iloc[-1] - points["mean"].iloc[0]) / np.hypot(*points["sem"].iloc[[0, -1]]))
        words.append(f"{optimizer}: {numbers(points['mean'], '.3f')} at k = {numbers(points.index, '.0f')}")
    rise = largest(rises)
    return Finding(quantity, rise, rise < 2 and largest(falls) < -2, "; ".join(words))


def wide_minima_are_flatter(cnn: pd.DataFrame) -> Finding:
    """The train error after noise is smaller at the largest width than where all networks first solve."""
    return _falls(cnn, f"E({COMPARED_AT})", lambda networks: energy(profiles(networks)))


def solutions_grow_apart(cnn: pd.DataFrame) -> Finding:
    """The overlap between solutions is smaller at the largest width than where all networks first solve."""
    return _falls(cnn, "the overlap", lambda networks: overlap(networks, "overlap"))


def _falls(cnn: pd.DataFrame, name: str, measure: Callable[[pd.DataFrame], tuple[float, float]]) -> Finding:
    quantity = f"smaller z of the fall of {name} from the first width where all solve to the largest, > 2"
    width = cnn["width"].max()
    scores, words = [], []
    for optimizer in _optimizers(cnn):
        first = first_solved(_solved(cnn, optimizer))
        if first is None or first == width:
            return Finding.untestable(quantity, f"{optimizer}: no width where all networks solve below the largest")
        (near, error), (far, noise) = (measure(_networks(cnn, optimizer, k)) for k in (first, width))
        if np.isnan(error) or np.isnan(noise):
            return Finding.untestable(quantity, f"{optimizer}: two networks of each width needed")
        scores.append(float((near - far) / np.hypot(error, noise)))
        words.append(f"{optimizer}: {near:.3f} ± {error:.3f} at k = {first:.0f}, {far:.3f} ± {noise:.3f} at {width}")
    least = smallest(scores)
    return Finding(quantity, least, least > 2, "; ".join(words))


def minima_are_distinct_and_alike(cnn: pd.DataFrame) -> Finding:
    """Solutions at the threshold differ, but less than untrained networks do; minima are alike, and flat."""
    quantity = (
        f"ratio of the optimizers' train errors at distance {COMPARED_AT}, largest k, < 2; slopes at d = 0, there and "
        f"at the first k where all solve, + 2 SE < {FLAT}; overlap at the first + 3 SE < 1, − 3 SE above untrained"
    )
    optimizers = _optimizers(cnn)
    firsts = [first_solved(_solved(cnn, optimizer)) for optimizer in optimizers]
    distinct, slopes, words = True, [], []
    for optimizer, first in zip(optimizers, firsts, strict=True):
        if first is None:
            return Finding.untestable(quantity, f"{optimizer}: no width from which on all networks solve")
        here = _networks(cnn, optimizer, first)
        (trained, error), (untrained, noise) = (overlap(here, name) for name in ("overlap", "overlap_untrained"))
        distinct &= trained + 3 * error < 1 and trained - untrained > 3 * np.hypot(error, noise)
        slopes.append(initial_slope(profiles(here)))
        words.append(
            f"{optimizer}, k = {first:.0f}: {trained:.3f} ± {error:.3f}, untrained {untrained:.3f} ± {noise:.3f}, "
            f"{slope_in_words(slopes[-1])}"
        )
    width = int(cnn["width"].max())
    found = [profiles(_networks(cnn, optimizer, width)) for optimizer in optimizers]
    energies = [energy(each)[0] for each in found]
    wide = [initial_slope(each) for each in found]
    ratio = max(energies) / min(energies) if min(energies) > 0 else np.inf
    flatness = "; ".join(slope_in_words(slope) for slope in wide)
    words.append(f"train errors {numbers(energies)} there, {flatness}, at k = {width}")
    return Finding(quantity, ratio, bool(ratio < 2 and distinct and all_flat([*slopes, *wide])), "; ".join(words))


def layers_leave_their_start_in_order(cnn: pd.DataFrame) -> Finding:
    """The overlap with the initial weights falls during training: first layer least, later ones progressively more."""
    quantity = (
        "share of layers whose overlap with the start never grows by 10⁻³, ≥ 0.95; all layers move by 3 SE, "
        "in order; largest k"
    )
    # The text speaks of big architectures.
    rows = cnn[(cnn["quantity"] == "overlap_start") & (cnn["width"] == cnn["width"].max())]
    ends = _final(rows).groupby(["optimizer", "layer"])["value"].agg(["mean", "sem"])
    if ends["sem"].isna().any():
        raise Untestable("two networks of each optimizer needed")
    final, moved = ends["mean"].unstack(), bool((1.0 - ends["mean"] > 3 * ends["sem"]).all())
    keys = ["optimizer", "width", "sample", "layer"]
    falls = rows.sort_values("epoch").groupby(keys)["value"].agg(lambda v: bool((np.diff(v) <= 1e-3).all()))
    ordered = {optimizer: bool((np.diff(layers.to_numpy()) < 0).all()) for optimizer, layers in final.iterrows()}
    detail = "; ".join(f"{optimizer}: {numbers(layers, '.3f')} in the end" for optimizer, layers in final.iterrows())
    share = float(falls.mean())
    return Finding(
        quantity, share, bool(share >= 0.95 and moved and all(ordered.values())), f"{detail} (layers from the input on)"
    )


def distance_from_start_remains(cnn: pd.DataFrame) -> Finding:
    """The distance from the initial weights does not vanish as the width grows.

    A fall slower than k^(−1/2) counts as a plateau: over three widths the two cannot be distinguished.
    """
    quantity = "smallest exponent of k in 1 − overlap with the start of a layer, three largest k, > −1/2"
    final = _final(cnn[cnn["quantity"] == "overlap_start"])
    points = final.groupby(["optimizer", "layer", "width"])["value"].agg(["mean", "sem"])
    points = pd.DataFrame({"distance": 1.0 - points["mean"], "error": points["sem"]}).unstack()
    widths = points["distance"].columns[-3:]
    if len(widths) < 3 or points["error"].isna().any(axis=None):
        raise Untestable("three widths and two networks of each needed")
    distances = points["distance"][widths]
    score = smallest((distances / points["error"][widths]).to_numpy()[:, -2:].ravel())
    # In lazy training the weights stop moving as the width grows, with 1 − overlap ∝ 1/k.
    exponents = np.polyfit(np.log(widths), np.log(np.maximum(distances, 1e-12).to_numpy().T), 1)[0]
    detail = (
        f"1 − overlap from {distances[widths[-1]].min():.3f} to {distances[widths[-1]].max():.3f} at k = {widths[-1]}, "
        f"at least {score:.1f} standard errors (> 3) at the two largest k; exponents up to {exponents.max():+.2f}"
    )
    exponent = smallest(exponents)
    return Finding(quantity, exponent, exponent > -0.5 and score > 3, detail)


def _optimizers(cnn: pd.DataFrame) -> list[str]:
    names = list(cnn["optimizer"].unique())
    if len(names) != 2:
        raise Untestable(f"two optimizers needed, found {', '.join(names)}")
    return names


def _solved(cnn: pd.DataFrame, optimizer: str) -> pd.Series:
    """Fraction of the networks that are solutions, by width."""
    rows = cnn[(cnn["quantity"] == "solved") & (cnn["optimizer"] == optimizer)]
    return rows.groupby("width")["value"].mean()


def _networks(cnn: pd.DataFrame, optimizer: str, width: float) -> pd.DataFrame:
    return cnn[(cnn["optimizer"] == optimizer) & (cnn["width"] == width)]


def _final(rows: pd.DataFrame) -> pd.DataFrame:
    """The last recorded epoch of every network.

    Raises:
        Untestable: there is none.
    """
    if rows.empty:
        raise Untestable("no overlaps with the initial weights")
    return rows[rows["epoch"] == rows.groupby(["optimizer", "width", "sample"])["epoch"].transform("max")]
