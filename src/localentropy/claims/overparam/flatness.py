"""What the text says of the minima of all its networks (figures 5 and 7)."""

from __future__ import annotations

import math

import pandas as pd

from localentropy.claims.conditions import Condition, Finding, Mean, all_of, scored, welch
from localentropy.claims.overparam.cnn import energies_at_the_largest_width
from localentropy.claims.overparam.committee import energies_at_the_largest_load
from localentropy.claims.overparam.trained_networks import COMPARED_AT

ALIKE = 0.1
"""Part of their mean by which two train errors may differ and still be called alike (chosen here)."""


def algorithms_find_different_flatness(
    committee_focusing_bp: pd.DataFrame, committee_sgd: pd.DataFrame, cnn: pd.DataFrame
) -> Finding:
    """At the largest size one of two algorithms finds the flatter minima, in each network that has two algorithms.

    It is not said which one. The claim fails where the two are shown to be alike. That some are more barycentric is not
    asked: nobody knows the barycentre of a network. The claim was added after the energies of O45 and O53b were seen.
    """
    found = {
        "committee": energies_at_the_largest_load(committee_focusing_bp, committee_sgd),
        "convolutional": energies_at_the_largest_width(cnn),
    }
    words = (
        f"{network}: {', '.join(f'{name} {mean:.4f}' for name, mean in energies.items())}"
        for network, energies in found.items()
    )
    conditions = (_differ(network, energies) for network, energies in found.items())
    return all_of(*conditions, detail=f"E({COMPARED_AT}) at the largest size, {'; '.join(words)}")


def _differ(network: str, energies: dict[str, Mean]) -> Condition:
    first, second = energies.values()
    reach = abs(first.value - second.value) + 2.0 * math.hypot(first.error, second.error)
    alike = reach < ALIKE * (first.value + second.value) / 2.0
    name = f"z of the difference of E({COMPARED_AT}) between {' and '.join(energies)}, either sign, {network}"
    return scored(name, abs(welch(first, second))).fail_if(alike)
