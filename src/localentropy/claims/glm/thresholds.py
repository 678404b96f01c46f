"""Claims about the loads at which Bayes-optimal learning changes, and about the glass at a temperature (theory)."""

from __future__ import annotations

import math

import pandas as pd

from localentropy.analysis.printed import BINARY, COMMITTEE, METASTABLE
from localentropy.claims.conditions import (
    Finding,
    above,
    all_of,
    at_most,
    below,
    digits,
    largest,
    numbers,
    printed,
    require,
    smallest,
)

NONE = 1e-9
"""A specialization below this is none."""
AT = 1e-6
"""Loads this close to a transition, relative, are at it."""
SMALL = 0.01
"""A start counts as uninformed up to this specialization."""
FAR = 50.0
"""The text says "any n of the order of Kd". Loads must reach this one."""


def transition(transitions: pd.DataFrame, model: str, kind: str) -> float:
    """One load of the table of transitions.

    Raises:
        Untestable: the model is not in the table.
    """
    rows = transitions.loc[transitions["model"] == model, kind]
    require(len(rows), f"no transitions of {model}")
    return float(rows.iloc[0])


def binary_weights_are_found_at_once(transitions: pd.DataFrame, bayes_binary: pd.DataFrame) -> Finding:
    """At the printed load the teacher's free entropy becomes the larger one, and the error falls from above 0 to 0."""
    value, end = (
        transition(transitions, "binary_perceptron", kind) for kind in ("information_theoretic", "algorithmic")
    )
    require(set(bayes_binary["start"]) == {"uninformed", "informed"}, "both starts needed")
    states = bayes_binary.pivot(index="alpha", columns="start", values=["free_entropy", "bayes_error"])
    excess = states["free_entropy", "uninformed"] - states["free_entropy", "informed"]
    before = excess[(excess.index < value * (1 - AT)) & (excess.index > 0.5 * value)]
    after = excess[(excess.index > value * (1 + AT)) & (excess.index < end)]
    require(len(before) and len(after), f"both states at loads on both sides of {value:.4f} needed")
    return all_of(
        printed("load at which the free entropy of the teacher becomes the larger one", value, BINARY),
        above("smallest lead of the other state's free entropy at smaller loads", smallest(before), 0.0),
        below("largest lead of it at larger loads", largest(after), 0.0),
        above("probability of an error just below", states["bayes_error", "uninformed"][before.index[-1]], 0.0),
    )


def the_metastable_glass_ends(glass: pd.DataFrame) -> Finding:
    """Metastable states of positive training error exist beside the teacher up to a load.

    The printed load is judged apart. At temperature 0 the glass begins without errors. So the loads of the line of zero
    entropy are those beyond its first one.
    """
    line = glass.dropna(subset="zero_entropy").sort_values("temperature")
    require(len(line) and line["temperature"].iloc[0] == 0, "the line of zero entropy from temperature 0 on needed")
    start, value = (float(line[column].iloc[0]) for column in ("zero_entropy", "glass_end"))
    line = line[line["zero_entropy"] > start * (1 + AT)]
    require(len(line) > 1, "two loads of the glass needed")
    ends = line.loc[[line["zero_entropy"].idxmin(), line["zero_entropy"].idxmax()]]
    return all_of(
        digits("load at which the metastable glass ends", value, METASTABLE),
        above("smallest training error of its states at T = 0", smallest(line["glass_energy"]), 0.0),
        above(
            "smallest load of its states beyond that from which the teacher has the larger free entropy",
            smallest(line["zero_entropy"] - line["equilibrium"]),
            0.0,
        ),
        at_most("largest load of its states, over its end", largest(line["zero_entropy"]) / value, 1 + AT),
        detail=f"training errors per weight at T = 0: {numbers(ends['glass_energy'], '.2g')} at α = "
        f"{numbers(ends['zero_entropy'], '.4f')}",
    )


def units_specialize(transitions: pd.DataFrame, bayes_committee_2: pd.DataFrame) -> Finding:
    """Two units specialize above a sharp load, for which none is printed. Many units do so above the printed one."""
    value = transition(transitions, "committee_large", "information_theoretic")
    start = transition(transitions, "committee_2", "information_theoretic")
    curve = bayes_committee_2.sort_values("alpha").set_index("alpha")["specialization"]
    before, after = curve[curve.index < start * (1 - AT)], curve[curve.index > start * (1 + AT)]
    require(len(before) and len(after), f"two units on both sides of α = {start:.4f} needed")
    return all_of(
        digits("information-theoretic n/(Kd) for K → ∞", value, COMMITTEE),
        below("largest specialization of two units below a load", largest(before), NONE),
        above("smallest specialization of two units above it", smallest(after), NONE),
        detail=f"the load of two units is α = {start:.6f}; specialization {numbers(after.iloc[[0, -1]], '.3g')} at "
        f"{numbers(after.index[[0, -1]])}",
    )


def many_units_do_not_specialize_from_an_uninformed_start(
    committee_evolution: pd.DataFrame, transitions: pd.DataFrame
) -> Finding:
    """State evolution from a small specialization ends at none, also at loads far above that of the best student."""
    suffices = transition(transitions, "committee_large", "information_theoretic")
    table = committee_evolution.sort_values(["start", "alpha"])
    small = table[table["start"] <= SMALL]
    reach = small["alpha"].max() >= FAR and (small["alpha"] > suffices).any()
    require(reach, f"starts of at most {SMALL:g} at loads up to {FAR:g} needed")
    last = small[small["alpha"] == small["alpha"].max()]
    words = []
    for start, rows in table[table["start"] > SMALL].groupby("start"):
        first = rows.loc[rows["overlap"] > start, "alpha"].min()
        if not math.isnan(first):
            before = numbers(rows.loc[rows["alpha"] < first, "alpha"].tail(1), "g")
            words.append(f"; the start {start:g} specializes at {first:g}{f', not at {before}' if before else ''}")
    return all_of(
        below(f"largest final specialization from starts of at most {SMALL:g}", largest(small["overlap"]), NONE),
        below("largest factor of one update on a start at the largest load", largest(last["growth"]), 1.0),
        detail=f"starts {numbers(small['start'].unique(), 'g')} at n/(Kd) = {numbers(small['alpha'].unique(), 'g')}; "
        f"the best student needs only {suffices:.2f}{''.join(words)}; the order K²d itself is not tested",
    )
