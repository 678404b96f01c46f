"""Overlaps of trained networks, for the claims of several papers."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.pairs import pair_mean
from localentropy.claims.conditions import Untestable
from localentropy.errors import DomainError


def overlap(table: pd.DataFrame, quantity: str) -> tuple[float, float]:
    """Mean overlap of whole networks over pairs, and its error.

    Raises:
        Untestable: fewer than three networks.
    """
    rows = table[(table["quantity"] == quantity) & table["layer"].isna()]
    try:
        return pair_mean(rows["sample"], rows["other"], rows["value"])
    except DomainError as error:
        raise Untestable(str(error)) from None
