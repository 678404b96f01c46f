"""The claim about binary multilayer perceptrons (figure 8)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import CHORD_FROM, CHORD_TO
from localentropy.analysis.thresholds import last_without_errors
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, smallest
from localentropy.claims.overlaps import overlap

WELL_BELOW = 0.5
"""The text says "well below" 1 and gives no number. Chosen here: half."""


def solutions_at_the_threshold_are_many_and_flat(
    mnist: pd.DataFrame, fashion_mnist: pd.DataFrame, cifar10: pd.DataFrame
) -> Finding:
    """No errors up to a number of patterns and errors beyond; there, small overlaps and convex local energies."""
    quantity = (
        f"largest overlap at the largest P up to which all networks solve, + 3 SE < {WELL_BELOW}; errors at larger P; "
        f"E(d) below its chord to d = {CHORD_TO:g} by 2 SE, from d = {CHORD_FROM:g} on"
    )
    tables = {"MNIST": mnist, "Fashion-MNIST": fashion_mnist, "CIFAR-10": cifar10}
    found, gaps, holds, words = [], [], True, []
    for name, table in tables.items():
        patterns = _threshold(name, table)
        if patterns is None:
            return Finding(quantity, np.nan, False, f"{name}: errors at the smallest number of patterns")
        here = table[table["patterns"] == patterns]
        (own, error), (random, _) = (overlap(here, kind) for kind in ("overlap", "overlap_untrained"))
        below = _below_chord(name, here)
        found.append((own, error))
        gaps.append(below)
        holds &= own + 3 * error < WELL_BELOW
        words.append(
            f"{name}: P = {patterns:.0f}, overlap {own:.3f} ± {error:.3f} ({random:.3f} of random networks), below "
            f"the chord by {below:.1f} SE"
        )
    top, error = max(found)
    detail, least = "; ".join(words), smallest(gaps)
    if holds and abs(least) <= 2:
        return Finding.untestable(quantity, f"too few networks and flips to see convexity; {detail}")
    return Finding(quantity, top, bool(holds and least > 2), detail, error, Bounds(upper=WELL_BELOW))


def _threshold(name: str, table: pd.DataFrame) -> float | None:
    """Largest number of patterns up to which no network makes an error.

    The text defines this threshold: there the average train error is exactly zero.

    Raises:
        Untestable: too few networks, or no errors anywhere.
    """
    errors = table[table["quantity"] == "train_error"]
    if (networks := errors["sample"].nunique()) < FEWEST:
        raise Untestable(f"{name}: {networks} networks, at least {FEWEST} needed")
    patterns = last_without_errors(table)
    if patterns == errors["patterns"].max():
        raise Untestable(f"{name}: no errors up to the largest number of patterns, {patterns:.0f}")
    return patterns


def _below_chord(name: str, table: pd.DataFrame) -> float:
    """Smallest distance of the energies to their chord, in standard errors over networks.

    Raises:
        Untestable: no energies at the ends of what is judged.
    """
    rows = table[table["quantity"] == "flipped_train_error"]
    energies = rows.pivot_table(index="sample", columns="distance", values="value", dropna=False)
    if not {CHORD_FROM, CHORD_TO} <= set(energies.columns):
        raise Untestable(f"{name}: no energies at the distances {CHORD_FROM:g} and {CHORD_TO:g}")
    inside = energies.columns[(energies.columns >= CHORD_FROM) & (energies.columns < CHORD_TO)]
    gaps = pd.DataFrame({d: energies[CHORD_TO] * d / CHORD_TO - energies[d] for d in inside})
    return smallest(gaps.mean(skipna=False) / gaps.sem(skipna=False))
