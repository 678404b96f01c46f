"""The rule of agreement between simulation and theory over a whole figure: p ≥ 10⁻³ at the largest size."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.claims.finding import Untestable, smallest

LEAST = 1e-3
"""Smallest p-value of χ² over all points of the largest size at which simulation and theory agree."""


def least_p_value(observables: Mapping[str, pd.DataFrame]) -> tuple[float, str]:
    """The smallest p-value at the largest size over observables, and all of them in words.

    Args:
        observables: name → sizes of `agreement_by_size`, those that the captions tell.

    Raises:
        Untestable: at no size are enough instances solved.
    """
    values, words = [], []
    for name, sizes in observables.items():
        if sizes.empty:
            raise Untestable(f"at no size are enough instances solved to compare the {name}")
        largest = sizes.iloc[-1]
        values.append(float(largest["p_value"]))
        words.append(f"p = {values[-1]:.2g} for the {name} at D = {largest['D']:.0f}")
    return smallest(values), ", ".join(words)
