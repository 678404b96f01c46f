"""The largest local entropy, that around the best references (large deviations): its curves and its threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

BEST_REFERENCES: dict[str, Any] = {"color": "black", "linestyle": "-."}
"""Look of these curves."""


def largest_local_entropy(table: pd.DataFrame, ensemble: Mapping[str, Any], load: str) -> pd.DataFrame:
    """A curve, up to the distance beyond which the best references are around typical solutions and it is flat.

    Args:
        table: of the program `large_deviations`.
        ensemble: the model, as in the configuration.
        load: alpha, as in the configuration.

    Returns:
        The rows, which are none if the table has no such curve.
    """
    models = table.attrs["parameters"]["ensembles"]
    names = [name for name, other in models.items() if other == ensemble]
    rows = table[(table["line"] == "curve") & table["ensemble"].isin(names) & (table["load"] == load)]
    # At small distances, where all configurations solve, the external entropy is not known.
    return rows[~(rows["external_entropy"] >= 0.0)].sort_values("distance")
