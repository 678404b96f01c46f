"""Claims about convolutional networks trained by two optimizers (figures 7 and 14).

A threshold is the width from which on half of the networks are solutions. Near the threshold means the first width from
there on that has `FEWEST` solutions.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pandas as pd

from localentropy.analysis.thresholds import first_solved
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, largest, largest_rise, numbers, smallest
from localentropy.claims.overlaps import overlap
from localentropy.claims.overparam.trained_networks import (
    COMPARED_AT,
    energy,
    errors_at_least_noise,
    of_samples,
    profiles,
)

INPUTS = 3 * 32 * 32
"""Values of an image."""
NEAR = 0.1
"""Distance per unit at which the minima of small and large networks are compared."""
FALL = 0.03
"""Fall of the overlap that must be visible where none is found."""


def both_optimizers_solve(cnn: pd.DataFrame) -> Finding:
    """Half of the networks of SGD and of Adam make at most one error from some width on."""
    quantity = "smallest width k from which on half of the networks of both optimizers solve"
    optimizers = _optimizers(cnn)
    halves, wholes = ([first_solved(_solved(cnn, name), least) for name in optimizers] for least in (0.5, 1.0))
    widths = sorted(cnn["width"].unique())
    words = [
        f"{name}: half from {_place(half)} on, all from {_place(whole)} on"
        for name, half, whole in zip(optimizers, halves, wholes, strict=True)
    ]
    detail = f"{'; '.join(words)}; k = {numbers(widths, '.0f')}"
    found = [half for half in halves if half is not None]
    if len(found) < len(halves):
        return Finding(quantity, np.nan, False, detail)
    if max(found) == widths[0]:
        return Finding.untestable(quantity, f"half solve at the smallest width: {detail}")
    return Finding(quantity, float(max(found)), True, detail)


def parameters_exceed_the_inputs(cnn: pd.DataFrame) -> Finding:
    """At the threshold the networks have more parameters than an image has values.

    The threshold grows with the number of training images.
    """
    quantity = f"smaller number of parameters at the threshold of an optimizer, over the {INPUTS} inputs, > 1"
    parameters = cnn.groupby("width")["parameters"].first() / INPUTS
    ratios, words = [], []
    for optimizer in _optimizers(cnn):
        first = _threshold(cnn, optimizer)
        ratios.append(float(parameters[first]))
        words.append(f"{optimizer} {ratios[-1]:.2f} at k = {first:.0f}")
    if parameters.iloc[0] > 1:
        return Finding.untestable(quantity, f"the smallest network has {parameters.iloc[0]:.2f} already")
    images = cnn.attrs["parameters"]["training_patterns"]
    detail = f"{', '.join(words)}; the widths start at {parameters.iloc[0]:.2f}; {images} training images"
    return Finding(quantity, min(ratios), min(ratios) > 1, detail, bounds=Bounds(lower=1))


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
    return Finding(quantity, rise, rise < 2 and largest(falls) < -2, "; ".join(words), bounds=Bounds(upper=2))


def minima_are_distinct_and_flat(cnn: pd.DataFrame) -> Finding:
    """Solutions near the threshold differ from each other, and the minima of both optimizers are flat."""
    quantity = (
        "larger overlap of solutions near the threshold of an optimizer, + 3 SE < 1; E at the two smallest levels of "
        "noise within 2 SE of that of the solutions, there and at the largest k"
    )
    found, calm, words = [], [], []
    for optimizer in _optimizers(cnn):
        near, wide = _near(cnn, optimizer), int(cnn["width"].max())
        found.append(overlap(_solutions(cnn, optimizer, near), "overlap"))
        scores = [errors_at_least_noise(_excess(_solutions(cnn, optimizer, width))) for width in (near, wide)]
        calm += scores
        words.append(
            f"{optimizer}: {found[-1][0]:.3f} ± {found[-1][1]:.3f} at k = {near}; least noise {numbers(scores, '.1f')} "
            f"SE at k = {near}, {wide}"
        )
    value, error = max(found)
    bound = largest(mean + 3 * spread for mean, spread in found)
    return Finding(quantity, value, bound < 1 and largest(calm) <= 2, "; ".join(words), error, bounds=Bounds(upper=1))


def minima_are_alike(cnn: pd.DataFrame) -> Finding:
    """At a larger distance the minima of the two optimizers are equally sharp, within a factor of two."""
    quantity = f"ratio of the optimizers' train errors at distance {COMPARED_AT}, largest k, < 2"
    width = int(cnn["width"].max())
    optimizers = _optimizers(cnn)
    found = [energy(profiles(_solutions(cnn, optimizer, width))) for optimizer in optimizers]
    energies = [mean for mean, _ in found]
    ratio = largest(energies) / smallest(energies) if smallest(energies) > 0 else np.inf
    words = [f"{name} {mean:.3f} ± {error:.3f}" for name, (mean, error) in zip(optimizers, found, strict=True)]
    return Finding(quantity, ratio, bool(ratio < 2), f"{', '.join(words)}, k = {width}", bounds=Bounds(upper=2))


def closer_than_untrained(cnn: pd.DataFrame) -> Finding:
    """Near the threshold solutions are closer to each other than aligned untrained networks."""
    quantity = "smaller z of the overlap of solutions above that of untrained networks, near the threshold, > 3"
    scores, words = [], []
    for optimizer in _optimizers(cnn):
        near = _near(cnn, optimizer)
        solutions = _solutions(cnn, optimizer, near)
        (trained, error), (untrained, noise) = (overlap(solutions, name) for name in ("overlap", "overlap_untrained"))
        scores.append((trained - untrained) / np.hypot(error, noise))
        words.append(f"{optimizer}, k = {near}: {trained:.3f} ± {error:.3f}, untrained {untrained:.3f} ± {noise:.3f}")
    least = smallest(scores)
    return Finding(quantity, least, least > 3, "; ".join(words), bounds=Bounds(lower=3))


def wide_minima_are_flatter(cnn: pd.DataFrame) -> Finding:
    """The train error after noise is smaller at the largest width than near the threshold."""
    return _falls(cnn, f"E({NEAR})", "to a half", lambda rows: energy(profiles(rows), NEAR), lambda near: near / 2)


def solutions_grow_apart(cnn: pd.DataFrame) -> Finding:
    """The overlap between solutions is smaller at the largest width than near the threshold."""
    return _falls(cnn, "the overlap", f"by {FALL}", lambda rows: overlap(rows, "overlap"), lambda near: FALL)


def _falls(
    cnn: pd.DataFrame,
    name: str,
    visible: str,
    measure: Callable[[pd.DataFrame], tuple[float, float]],
    least: Callable[[float], float],
) -> Finding:
    """A fall by two standard errors of each optimizer; open where a fall by `least` would be less than that."""
    quantity = f"smaller z of the fall of {name} from near the threshold to the largest k, > 2"
    width = int(cnn["width"].max())
    scores, blind, words = [], [], []
    for optimizer in _optimizers(cnn):
        first = _near(cnn, optimizer)
        if first == width:
            return Finding.untestable(quantity, f"{optimizer}: fewer than {FEWEST} solutions below the largest width")
        (near, error), (far, noise) = (measure(_solutions(cnn, optimizer, k)) for k in (first, width))
        spread = float(np.hypot(error, noise))
        scores.append((near - far) / spread)
        blind.append(abs(scores[-1]) <= 2 and least(near) <= 2 * spread)
        words.append(f"{optimizer}: {near:.3f} ± {error:.3f} at k = {first}, {far:.3f} ± {noise:.3f} at {width}")
    detail = "; ".join(words)
    failing = [powerless for score, powerless in zip(scores, blind, strict=True) if not score > 2]
    if failing and all(failing):
        unseen = f"z = {smallest(scores):.1f}, and a fall {visible} would not be seen"
        return Finding.untestable(quantity, f"{unseen}: {detail}")
    return Finding(quantity, smallest(scores), not failing, detail, bounds=Bounds(lower=2))


def layers_leave_their_start_in_order(cnn: pd.DataFrame) -> Finding:
    """The overlaps with the initial weights fall during training: the first convolution least, later ones more.

    The linear layer is reported and has no place in the order: its many inputs keep it near its start under Adam.
    """
    quantity = (
        "smallest fall of the final overlap from a convolution to the next, in standard errors, > −2, first to last "
        "> 2; no overlap rises by 2 SE in time, all fall by 3 SE; largest k"
    )
    # The text speaks of big architectures.
    rows = _layers(cnn)
    rows = rows[rows["width"] == rows["width"].max()]
    steps, whole, rises, moved, words = [], [], [], [], []
    for optimizer, of_optimizer in rows.groupby("optimizer"):
        courses = of_optimizer.groupby(["layer", "epoch"])["value"].agg(["mean", "sem"])
        ends = courses.groupby("layer").last()
        if ends["sem"].isna().any():
            raise Untestable("two networks of each optimizer needed")
        # At epoch 0 there is no error.
        rises += [
            largest_rise(course["mean"].to_numpy()[1:], course["sem"].to_numpy()[1:])
            for _, course in courses.groupby("layer")
        ]
        moved += list((1.0 - ends["mean"]) / ends["sem"])
        convolutions, linear = ends.iloc[:-1].to_numpy(), ends.iloc[-1]
        steps += [_fall(before, after) for before, after in pairwise(convolutions)]
        whole.append(_fall(convolutions[0], convolutions[-1]))
        words.append(
            f"{optimizer}: convolutions {numbers(convolutions[:, 0], '.3f')}, linear layer {linear['mean']:.3f}"
        )
    least, rise = smallest(steps), largest(rises)
    holds = least > -2 and smallest(whole) > 2 and rise < 2 and smallest(moved) > 3
    detail = f"{'; '.join(words)}; largest rise in time {rise:.1f} SE"
    return Finding(quantity, least, holds, detail, bounds=Bounds(lower=-2))


def distance_from_start_remains(cnn: pd.DataFrame) -> Finding:
    """The distance from the initial weights does not vanish as the width grows.

    The distance is that of whole networks whose weights have norm 1, √(2 (1 − overlap)). In lazy training it falls like
    k^(−1/2): a slower fall counts as remaining.
    """
    quantity = (
        "smaller exponent of k in the distance of whole networks from their start, upper half of the widths, − 1 SE > "
        "−1/2; the distance at the largest k > 3 SE"
    )
    whole = cnn[(cnn["quantity"] == "overlap_start") & cnn["layer"].isna()]
    if whole.empty:
        raise Untestable("no overlaps of whole networks with the initial weights")
    layers = _layers(cnn)
    layers = layers[layers["epoch"] == layers["epoch"].max()]
    found, scores, words = [], [], []
    for optimizer, rows in whole.groupby("optimizer"):
        widths, distance, error = _distances(rows)
        scores.append(distance[-1] / error[-1])
        exponent, spread = _exponent(widths, distance, error)
        found.append((exponent, spread))
        exponents = [
            _exponent(*_distances(of_layer))[0]
            for _, of_layer in layers[layers["optimizer"] == optimizer].groupby("layer")
        ]
        words.append(
            f"{optimizer}: {exponent:.2f} ± {spread:.2f}, distance {distance[-1]:.3f} ± {error[-1]:.3f} at k = "
            f"{widths[-1]:.0f}; layers {numbers(exponents, '+.2f')}"
        )
    exponent, spread = min(found)
    above, below = (all(value + sign * one > -0.5 for value, one in found) for sign in (-1, 1))
    detail = "; ".join(words)
    if below and not above:
        return Finding.untestable(quantity, f"the widths are too few to tell: {detail}")
    return Finding(quantity, exponent, above and smallest(scores) > 3, detail, spread, bounds=Bounds(lower=-0.5))


def _distances(overlaps: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Upper half of the widths, mean distance √(2 (1 − q)) from the start and its error.

    Raises:
        Untestable: fewer than three widths in that half, or two networks of each.
    """
    distances = np.sqrt(2 * (1 - overlaps["value"]).clip(lower=0))
    points = distances.groupby(overlaps["width"]).agg(["mean", "sem"])
    points = points.iloc[len(points) // 2 :]
    if len(points) < 3 or points["sem"].isna().any():
        raise Untestable("six widths and two networks of each needed")
    return points.index.to_numpy(float), points["mean"].to_numpy(), points["sem"].to_numpy()


def _exponent(widths: np.ndarray, values: np.ndarray, errors: np.ndarray) -> tuple[float, float]:
    """Exponent of k by least squares of logarithms, and its error, which grows with the scatter around the line."""
    x, y, weights = np.log(widths), np.log(values), (values / errors) ** 2
    x = x - np.average(x, weights=weights)
    slope = np.average(x * y, weights=weights) / np.average(x * x, weights=weights)
    misfit = y - np.average(y, weights=weights) - slope * x
    scatter = max(1.0, (weights * misfit**2).sum() / (len(x) - 2))
    return float(slope), float(np.sqrt(scatter / (weights * x * x).sum()))


def _fall(before: np.ndarray, after: np.ndarray) -> float:
    """Fall from one mean and its error to another, in standard errors."""
    return float((before[0] - after[0]) / np.hypot(before[1], after[1]))


def _optimizers(cnn: pd.DataFrame) -> list[str]:
    names = list(cnn["optimizer"].unique())
    if len(names) != 2:
        raise Untestable(f"two optimizers needed, found {', '.join(names)}")
    return names


def _solved(cnn: pd.DataFrame, optimizer: str) -> pd.Series:
    """Fraction of the networks that are solutions, by width."""
    rows = cnn[(cnn["quantity"] == "solved") & (cnn["optimizer"] == optimizer)]
    return rows.groupby("width")["value"].mean()


def _place(width: float | None) -> str:
    return "nowhere" if width is None else f"{width:.0f}"


def _threshold(cnn: pd.DataFrame, optimizer: str) -> float:
    """The width from which on half of the networks solve.

    Raises:
        Untestable: there is none.
    """
    first = first_solved(_solved(cnn, optimizer), 0.5)
    if first is None:
        raise Untestable(f"{optimizer}: no width from which on half of the networks solve")
    return first


def _solutions(cnn: pd.DataFrame, optimizer: str, width: float) -> pd.DataFrame:
    """Rows of the solutions of one width.

    Raises:
        Untestable: fewer than `FEWEST`.
    """
    here = cnn[(cnn["optimizer"] == optimizer) & (cnn["width"] == width)]
    found = here[(here["quantity"] == "solved") & (here["value"] == 1.0)]["sample"]
    if len(found) < FEWEST:
        raise Untestable(f"{optimizer}: fewer than {FEWEST} solutions at k = {width:.0f}")
    return of_samples(here, found)


def _near(cnn: pd.DataFrame, optimizer: str) -> int:
    """The first width from the threshold on with `FEWEST` solutions.

    Raises:
        Untestable: there is none.
    """
    rows = cnn[(cnn["quantity"] == "solved") & (cnn["optimizer"] == optimizer)]
    counts = rows[rows["width"] >= _threshold(cnn, optimizer)].groupby("width")["value"].sum()
    if not (counts >= FEWEST).any():
        raise Untestable(f"{optimizer}: fewer than {FEWEST} solutions at every width")
    return int(counts[counts >= FEWEST].index[0])


def _excess(networks: pd.DataFrame) -> pd.DataFrame:
    """Profiles of the train error above that of the solution, which may misclassify an image."""
    found = profiles(networks)
    quiet = found[found["sigma"] == 0].set_index("sample")["energy"]
    return found.assign(energy=found["energy"] - found["sample"].map(quiet))


def _layers(cnn: pd.DataFrame) -> pd.DataFrame:
    """Overlaps of the layers with their initial weights.

    Raises:
        Untestable: there are none.
    """
    rows = cnn[(cnn["quantity"] == "overlap_start") & cnn["layer"].notna()]
    if rows.empty:
        raise Untestable("no overlaps with the initial weights")
    return rows
