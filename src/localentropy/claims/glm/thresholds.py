"""Claims about the loads at which Bayes-optimal learning changes, and about the glass at a temperature (theory)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from localentropy.analysis.printed import BINARY, COMMITTEE, METASTABLE
from localentropy.claims.conditions import (
    Finding,
    above,
    all_of,
    at_least,
    at_most,
    below,
    between,
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
MANY_UNITS, OFF = 33, 0.1
"""The largest number of units must be as large. A power is 2 if it is so up to the second. Both chosen here."""
AS_GOOD, WORSE = 0.01, 0.1
"""A student is as good as another if its error is larger by less than the first part, and worse from the second on."""
SMALL = 0.01
"""A start counts as uninformed up to this specialization."""
FAR = 50.0
"""Chosen here: loads n/(Kd) must reach this one."""
ROUNDING = 1e-9
"""An error that is smaller than Bayes' by less than this part is not smaller."""


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
        f"the best student needs only {suffices:.2f}{''.join(words)}",
    )


def the_threshold_of_many_units_is_of_the_order_of_their_square(units_specialization: pd.DataFrame) -> Finding:
    """At the largest numbers of units the load grows as their square. The powers at smaller ones are told."""
    loads = units_specialization[units_specialization["units"] % 2 == 1].set_index("units")["alpha"].sort_index()
    require(len(loads) > 2 and loads.index[-1] >= MANY_UNITS, f"three odd numbers of units up to {MANY_UNITS} needed")
    powers = np.diff(np.log(loads)) / np.diff(np.log(loads.index))
    return all_of(
        between("power of K with which n/d grows, largest K", powers[-1], 2.0 - OFF, 2.0 + OFF),
        detail=f"n/(K²d) = {numbers(loads / loads.index**2, '.3f')} for K = {numbers(loads.index, 'g')}; "
        f"powers from one K to the next {numbers(powers, '.3f')}",
    )


def linear_regression_is_best_without_specialization(
    bayes_committee_2: pd.DataFrame, transitions: pd.DataFrame
) -> Finding:
    """Below the load of specialization the best student knows a single sum, and linear regression is as good.

    "The best thing to do" is taken as an error above Bayes' by less than the part `AS_GOOD`, which was chosen when the
    excess was known. Above the load linear regression must lose.
    """
    load = transition(transitions, "committee_2", "information_theoretic")
    table = bayes_committee_2.sort_values("alpha").set_index("alpha")
    require(table[["linear_error", "bayes_error", "specialization"]].notna().all(axis=None), "an error is missing")
    before, after = table[table.index < load * (1 - AT)], table[table.index > load * (1 + AT)]
    require(len(before) and len(after), f"two units on both sides of α = {load:.4f} needed")
    excess = table["linear_error"] / table["bayes_error"] - 1.0
    last = excess.iloc[-1]
    return all_of(
        below("largest specialization of the best student below the load", largest(before["specialization"]), NONE),
        below("largest excess of linear regression over Bayes' error below it", largest(excess[before.index]), AS_GOOD),
        at_least("smallest excess below it", smallest(excess[before.index]), -ROUNDING),
        above("excess at the largest load", last, WORSE),
        detail=f"α = {load:.4f}; excess {excess[before.index].iloc[-1]:.2%} there, {last:.0%} at {excess.index[-1]:g}",
    )
