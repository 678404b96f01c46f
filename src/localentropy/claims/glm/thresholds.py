"""Claims about the loads at which Bayes-optimal learning changes, and about the glass at a temperature (theory)."""

from __future__ import annotations

import math

import pandas as pd

from localentropy.analysis.printed_loads import BINARY, COMMITTEE, METASTABLE
from localentropy.claims.finding import Bounds, Finding, Untestable, largest, numbers, printed, smallest

NONE = 1e-9
"""A specialization below this is none."""
AT = 1e-6
"""Loads this close to a transition, relative, are at it."""
SMALL = 0.01
"""A start counts as uninformed up to this specialization."""
FAR = 50.0
"""The text says "any n of the order of Kd". Loads must reach this one."""


def transition(transitions: pd.DataFrame, model: str, kind: str) -> float:
    """One load of the table of the program `bayes_transitions`.

    Raises:
        Untestable: the model is not in the table.
    """
    rows = transitions.loc[transitions["model"] == model, kind]
    if rows.empty:
        raise Untestable(f"no transitions of {model}")
    return float(rows.iloc[0])


def binary_weights_are_found_at_once(transitions: pd.DataFrame, bayes_binary: pd.DataFrame) -> Finding:
    """At the printed load the teacher's free entropy becomes the larger one, and the error falls from above 0 to 0."""
    value, end = (
        transition(transitions, "binary_perceptron", kind) for kind in ("information_theoretic", "algorithmic")
    )
    if set(bayes_binary["start"]) != {"uninformed", "informed"}:
        raise Untestable("both starts needed")
    states = bayes_binary.pivot(index="alpha", columns="start", values=["free_entropy", "bayes_error"])
    excess = states["free_entropy", "uninformed"] - states["free_entropy", "informed"]
    below = excess[(excess.index < value * (1 - AT)) & (excess.index > 0.5 * value)]
    above = excess[(excess.index > value * (1 + AT)) & (excess.index < end)]
    if below.empty or above.empty:
        raise Untestable(f"both states at loads on both sides of {value:.4f} needed")
    error = float(states["bayes_error", "uninformed"][below.index[-1]])
    first_order = smallest(below) > 0 > largest(above) and error > 0
    return Finding.of_theory(
        f"load at which the free entropy of the teacher becomes the larger one, {BINARY} to the digits printed; the "
        "probability of an error is positive just below it",
        value,
        bool(first_order and printed(BINARY).hold(value)),
        f"{value:.6f}; the error falls from {error:.4f} to 0",
        printed(BINARY),
    )


def the_metastable_glass_ends(glass: pd.DataFrame) -> Finding:
    """Metastable states at a temperature exist up to the printed load, by one of two definitions of their end."""
    ends = {
        "zero entropy on the spinodal": float(glass["on_spinodal"].iloc[0]),
        "largest load with zero entropy": float(glass["on_line"].iloc[0]),
    }
    off = largest(abs(end - float(METASTABLE)) for end in ends.values())  # NaN if one is missing
    value = min(ends.values(), key=lambda end: abs(end - float(METASTABLE)))
    told = ", ".join(f"{end:.4f} ({name})" for name, end in ends.items())
    return Finding.of_theory(
        f"end of the metastable glass, the nearer of two definitions, {METASTABLE} to the digits printed",
        value,
        not math.isnan(off) and any(printed(METASTABLE).hold(end) for end in ends.values()),
        f"{told}; the nearer one is {100 * (value / float(METASTABLE) - 1):+.1f} % from the printed {METASTABLE}",
        printed(METASTABLE),
    )


def units_specialize(transitions: pd.DataFrame, bayes_committee_2: pd.DataFrame) -> Finding:
    """Two units specialize above a sharp load, for which none is printed. Many units do so above the printed one."""
    value = transition(transitions, "committee_large", "information_theoretic")
    start = transition(transitions, "committee_2", "information_theoretic")
    curve = bayes_committee_2.sort_values("alpha").set_index("alpha")["specialization"]
    below, above = curve[curve.index < start * (1 - AT)], curve[curve.index > start * (1 + AT)]
    if below.empty or above.empty:
        raise Untestable(f"two units on both sides of α = {start:.4f} needed")
    sharp = largest(below) < NONE < smallest(above)
    detail = (
        f"{value:.6f} for K → ∞, {COMMITTEE} is printed; K = 2: specialization {'sets in' if sharp else 'is not'} at "
        f"α = {start:.6f}, {above.iloc[0]:.2g} at {above.index[0]:.4f} and {above.iloc[-1]:.3f} at "
        f"{above.index[-1]:.3g}"
    )
    quantity = (
        f"information-theoretic n/(Kd) for K → ∞, {COMMITTEE} to the digits printed; for K = 2 no specialization below "
        "a load and some above it"
    )
    holds = bool(sharp and printed(COMMITTEE).hold(value))
    return Finding.of_theory(quantity, value, holds, detail, printed(COMMITTEE))


def many_units_do_not_specialize_from_an_uninformed_start(
    committee_evolution: pd.DataFrame, transitions: pd.DataFrame
) -> Finding:
    """State evolution from a small specialization ends at none, also at loads far above that of the best student."""
    suffices = transition(transitions, "committee_large", "information_theoretic")
    table = committee_evolution.sort_values(["start", "alpha"])
    small = table[table["start"] <= SMALL]
    beyond = small[small["alpha"] > suffices]
    if beyond.empty or small["alpha"].max() < FAR:
        raise Untestable(f"starts of at most {SMALL:g} at loads up to {FAR:g} needed")
    left = largest(small["overlap"])
    last = small[small["alpha"] == small["alpha"].max()]
    growth = ", ".join(
        f"{factor:.2g} from {start:g}" for start, factor in zip(last["start"], last["growth"], strict=True)
    )
    words = []
    for start, rows in table[table["start"] > SMALL].groupby("start"):
        first = rows.loc[rows["overlap"] > start, "alpha"].min()
        if not math.isnan(first):
            before = numbers(rows.loc[rows["alpha"] < first, "alpha"].tail(1), "g")
            words.append(f"the start {start:g} specializes at α̃ = {first:g}{f', not at {before}' if before else ''}")
    detail = "; ".join(
        [
            f"starts {numbers(small['start'].unique(), 'g')} at α̃ = {numbers(small['alpha'].unique(), 'g')}; one "
            f"update at α̃ = {last['alpha'].iloc[0]:g} multiplies q_d by {growth}",
            *words,
        ]
    )
    quantity = (
        f"largest specialization that state evolution ends with, from starts of at most {SMALL:g} at n/(Kd) up to "
        f"{small['alpha'].max():g}, < {NONE:g}; the best student needs only {suffices:.2f}; the order K²d itself is "
        "not tested"
    )
    holds = left < NONE and smallest(1.0 - last["growth"]) > 0
    return Finding.of_theory(quantity, left, holds, detail, Bounds(upper=NONE))
