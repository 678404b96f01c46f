"""The claim about binary multilayer perceptrons (figure 8)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import CHORD_FROM, CHORD_TO
from localentropy.analysis.thresholds import last_without_errors
from localentropy.claims.conditions import (
    FEWEST,
    Finding,
    above,
    all_of,
    below,
    mean_of,
    numbers,
    require,
    scored,
    smallest,
    welch,
)
from localentropy.claims.overlaps import overlap

SETS = ("MNIST", "Fashion-MNIST", "CIFAR-10")
SURE = 3.0
"""Normal score from which on one of several steps of a slope is clearly downward."""
WELL_BELOW = 0.5
"""The text says "well below" 1 and gives no number. Chosen here: half."""
TOLD = 0.01
"""Fraction of flipped weights whose energy is told where the curve is not convex."""


def solutions_at_the_threshold_are_many_and_flat(
    mnist: pd.DataFrame, fashion_mnist: pd.DataFrame, cifar10: pd.DataFrame
) -> Finding:
    """No errors up to a number of patterns and errors beyond; there, small overlaps and convex local energies.

    A convex curve lies below its chord, and no slope is clearly below the one before it. The second was added when the
    curves were known. The text's insets are at the threshold. At smaller numbers of patterns, which all networks solve
    too, the same two are told, and not judged.
    """
    conditions, words, others = [], [], []
    for name, table in zip(SETS, (mnist, fashion_mnist, cifar10), strict=True):
        patterns = _threshold(name, table)
        threshold = above(f"largest P up to which all networks solve, {name}", patterns, 0.0)
        if not threshold.holds:
            return all_of(threshold, detail="errors at the smallest number of patterns")
        here = table[table["patterns"] == patterns]
        own, random = (overlap(here, kind) for kind in ("overlap", "overlap_untrained"))
        conditions += [
            threshold,
            below(f"overlap of solutions there, {name}", own.value, WELL_BELOW, own.error, by=3),
            scored(
                f"SE by which E(d) lies below its chord to d = {CHORD_TO:g} there, from d = {CHORD_FROM:g} on, {name}",
                smallest(_below_chord(name, here)),
            ),
            above(f"smallest normal score of a step of E(d)'s slope there, {name}", _bend(name, here), -SURE),
        ]
        others += _not_convex(name, table, patterns)
        words.append(f"{name}: overlap of random networks {random.value:.3f}")
    words.append("judged at the threshold, as the text's insets")
    words.append(f"with fewer images the curve up to d = {CHORD_TO:g} is {', '.join(others) or 'convex too'}")
    return all_of(*conditions, detail="; ".join(words))


def _not_convex(name: str, table: pd.DataFrame, threshold: float) -> list[str]:
    """The numbers of patterns below the threshold at which the energies do not pass the test of a convex curve."""
    words = []
    for patterns, here in table[table["patterns"] < threshold].groupby("patterns"):
        chord, bend = smallest(_below_chord(name, here)), _bend(name, here)
        convex = scored("below its chord", chord).holds if bend > -SURE else False
        if not convex:
            energies = here[(here["quantity"] == "flipped_train_error") & (here["distance"] == TOLD)]["value"]
            what = "not decided" if convex is None else "not convex"
            words.append(
                f"{what} at {patterns:.0f} images of {name}, where E({TOLD:g}) = {energies.mean():.3f}, and the curve "
                f"is at least {chord:.1f} SE below its chord"
            )
    return words


def _threshold(name: str, table: pd.DataFrame) -> float:
    """Largest number of patterns up to which no network makes an error; missing (NaN) if there is none.

    The text defines this threshold: there the average train error is exactly zero.

    Raises:
        Untestable: too few networks, or no errors anywhere.
    """
    errors = table[table["quantity"] == "train_error"]
    networks = errors["sample"].nunique()
    require(networks >= FEWEST, f"{name}: {networks} networks, at least {FEWEST} needed")
    patterns, most = last_without_errors(table), errors["patterns"].max()
    require(patterns != most, f"{name}: no errors up to the largest number of patterns, {most:.0f}")
    return np.nan if patterns is None else patterns


def _below_chord(name: str, table: pd.DataFrame, quantity: str = "flipped_train_error") -> pd.Series:
    """Distances of the energies to their chord, in standard errors over networks."""
    energies = _energies(name, table, quantity)
    gaps = pd.DataFrame({d: energies[CHORD_TO] * d / CHORD_TO - energies[d] for d in energies if d < CHORD_TO})
    return gaps.mean(skipna=False) / gaps.sem(skipna=False)


def _bend(name: str, table: pd.DataFrame) -> float:
    """The smallest step of the slopes between d = 0 and the distances that are judged, as a normal score."""
    energies = _energies(name, table, "flipped_train_error")
    places = np.array([0.0, *energies.columns])
    slopes = np.diff(energies.to_numpy(), axis=1, prepend=0.0) / np.diff(places)
    steps = np.diff(slopes, axis=1)
    return smallest(welch(mean_of(step)) for step in steps.T)


def _energies(name: str, table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Energies of each network (rows) at the distances that are judged.

    Raises:
        Untestable: no energies at the ends of what is judged.
    """
    rows = table[table["quantity"] == quantity]
    energies = rows.pivot_table(index="sample", columns="distance", values="value", dropna=False)
    ends = {CHORD_FROM, CHORD_TO} <= set(energies.columns)
    require(ends, f"{name}: no energies at the distances {CHORD_FROM:g} and {CHORD_TO:g}")
    return energies.loc[:, (energies.columns >= CHORD_FROM) & (energies.columns <= CHORD_TO)]


def solutions_are_far_apart_at_every_size(
    mnist: pd.DataFrame, fashion_mnist: pd.DataFrame, cifar10: pd.DataFrame
) -> Finding:
    """Two networks are far apart at every number of patterns, also where they make errors."""
    conditions, words = [], []
    for name, table in zip(SETS, (mnist, fashion_mnist, cifar10), strict=True):
        threshold = _threshold(name, table)
        require(not np.isnan(threshold), f"{name}: no number of patterns that all networks solve")
        found = {patterns: overlap(own, "overlap") for patterns, own in table.groupby("patterns")}
        most = max(found.values())
        conditions.append(below(f"largest overlap over P, {name}", most.value, WELL_BELOW, most.error, by=3))
        ends = min(found), max(found)
        words.append(f"{name}: {numbers((found[P].value for P in ends), '.3f')} for P = {numbers(ends, 'g')}")
    return all_of(*conditions, detail="; ".join(words))


def the_test_of_flatness_tells_flat_from_sharp(
    mnist: pd.DataFrame, fashion_mnist: pd.DataFrame, cifar10: pd.DataFrame
) -> Finding:
    """The control, random networks on the classes that they give themselves, has larger and concave energies."""
    conditions, words = [], []
    for name, table in zip(SETS, (mnist, fashion_mnist, cifar10), strict=True):
        here = table[table["patterns"] == _threshold(name, table)]
        own, control = (_energies(name, here, q) for q in ("flipped_train_error", "flipped_control_error"))
        rise = control - own
        conditions += [
            scored(
                f"SE by which the control's E(d) is larger, smallest over d, {name}",
                smallest(rise.mean(skipna=False) / rise.sem(skipna=False)),
            ),
            scored(
                f"SE by which the control's E(d) lies above its chord, smallest over d, {name}",
                smallest(-_below_chord(name, here, "flipped_control_error")),
            ),
        ]
        at = CHORD_FROM
        words.append(f"{name}: E({at:g}) = {own[at].mean():.2g}, control {control[at].mean():.2g}")
    return all_of(*conditions, detail="; ".join(words))
