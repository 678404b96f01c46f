"""The claim about binary multilayer perceptrons (figure 8)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import CHORD_FROM, CHORD_TO
from localentropy.analysis.thresholds import last_without_errors
from localentropy.claims.conditions import FEWEST, Finding, above, all_of, below, require, scored, smallest
from localentropy.claims.overlaps import overlap

WELL_BELOW = 0.5
"""The text says "well below" 1 and gives no number. Chosen here: half."""


def solutions_at_the_threshold_are_many_and_flat(
    mnist: pd.DataFrame, fashion_mnist: pd.DataFrame, cifar10: pd.DataFrame
) -> Finding:
    """No errors up to a number of patterns and errors beyond; there, small overlaps and convex local energies."""
    tables = {"MNIST": mnist, "Fashion-MNIST": fashion_mnist, "CIFAR-10": cifar10}
    conditions, words = [], []
    for name, table in tables.items():
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
                _below_chord(name, here),
            ),
        ]
        words.append(f"{name}: overlap of random networks {random.value:.3f}")
    return all_of(*conditions, detail="; ".join(words))


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


def _below_chord(name: str, table: pd.DataFrame) -> float:
    """Smallest distance of the energies to their chord, in standard errors over networks.

    Raises:
        Untestable: no energies at the ends of what is judged.
    """
    rows = table[table["quantity"] == "flipped_train_error"]
    energies = rows.pivot_table(index="sample", columns="distance", values="value", dropna=False)
    ends = {CHORD_FROM, CHORD_TO} <= set(energies.columns)
    require(ends, f"{name}: no energies at the distances {CHORD_FROM:g} and {CHORD_TO:g}")
    inside = energies.columns[(energies.columns >= CHORD_FROM) & (energies.columns < CHORD_TO)]
    gaps = pd.DataFrame({d: energies[CHORD_TO] * d / CHORD_TO - energies[d] for d in inside})
    return smallest(gaps.mean(skipna=False) / gaps.sem(skipna=False))
