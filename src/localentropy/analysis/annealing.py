"""Means over the instances that were annealed, for each energy and load."""

from __future__ import annotations

import pandas as pd

RUN = ["energy", "gamma", "alpha", "N"]


def averages(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Mean over instances with its standard error.

    Args:
        table: of the program `annealing`.
        quantity: in it.

    Returns:
        Columns energy, gamma (missing but for the cross-entropy), alpha, N, x, y, y_err, n (instances averaged), runs
        (all instances), solved (fraction of them whose final weights are a solution).

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.annealing import averages
        >>> run = {"energy": "errors", "gamma": None, "alpha": 0.3, "N": 201}
        >>> values = [("overlap", 0.2), ("overlap", 0.4), ("solved", 1.0)]
        >>> table = pd.DataFrame([run | {"x": 0.0, "quantity": name, "value": value} for name, value in values])
        >>> averages(table, "overlap")[["y", "n", "solved"]].round(9).to_numpy().tolist()
        [[0.3, 2.0, 1.0]]
    """
    rows = table[table["quantity"] == quantity]
    means = rows.groupby([*RUN, "x"], dropna=False)["value"].agg(y="mean", y_err="sem", n="count").reset_index()
    outcomes = table[table["quantity"] == "solved"].groupby(RUN, dropna=False)["value"].agg(solved="mean", runs="size")
    return means.merge(outcomes.reset_index(), on=RUN)
