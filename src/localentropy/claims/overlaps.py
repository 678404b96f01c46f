"""Overlaps of trained networks, for the claims of several papers."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.statistics import pair_mean
from localentropy.claims.conditions import Mean, Untestable
from localentropy.errors import DomainError


def overlap(table: pd.DataFrame, quantity: str) -> Mean:
    """Mean overlap of whole networks over pairs. Its samples are the networks.

    Raises:
        Untestable: fewer than three networks.
    """
    rows = table[(table["quantity"] == quantity) & table["layer"].isna()]
    try:
        value, error = pair_mean(rows["sample"], rows["other"], rows["value"])
    except DomainError as lacking:
        raise Untestable(str(lacking)) from None
    return Mean(value, error, len(set(rows["sample"]) | set(rows["other"])))
