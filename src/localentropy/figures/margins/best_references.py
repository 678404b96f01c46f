"""The largest local entropy, by large deviations: the bound on that of any reference, and that of references that exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

BEST_REFERENCES: dict[str, Any] = {"color": "black", "linestyle": "-."}
"""Look of the bound."""
EXISTING: dict[str, Any] = {"color": "black", "linestyle": "--"}
"""Look of the largest local entropy of references that exist."""
NONE = 1e-9
"""External entropy, in nats per weight, that is zero but for rounding."""


def largest_local_entropy(
    table: pd.DataFrame, ensemble: Mapping[str, Any], load: str, *, line: str = "curve"
) -> pd.DataFrame:
    """A curve, up to the distance beyond which the best references are around typical solutions and it is flat.

    Args:
        table: of the program `large_deviations`.
        ensemble: the model, as in the configuration.
        load: alpha, as in the configuration.
        line: `curve`, the bound, or `curve_typical`, that of references that exist.

    Returns:
        The rows, which are none if the table has no such curve.
    """
    # At small distances, where all configurations solve, the external entropy is not known.
    rows = _curve(table, ensemble, load, line)
    return rows[~(rows["external_entropy"] > NONE)]


def all_solutions(table: pd.DataFrame, ensemble: Mapping[str, Any], load: str) -> pd.DataFrame:
    """The rest of the bound, where it is the entropy of all solutions; the arguments are those of `largest_local_entropy`."""
    rows = _curve(table, ensemble, load, "curve")
    return rows[rows["external_entropy"] > NONE]


def _curve(table: pd.DataFrame, ensemble: Mapping[str, Any], load: str, line: str) -> pd.DataFrame:
    models = table.attrs["parameters"]["ensembles"]
    names = [name for name, other in models.items() if other == ensemble]
    rows = table[(table["line"] == line) & table["ensemble"].isin(names) & (table["load"] == load)]
    return rows.sort_values("distance")
