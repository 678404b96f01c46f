"""Thresholds along an axis, from fractions of runs that succeed and from tables of the theory; lines of the latter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from localentropy.arguments import require_columns, require_reals, shown
from localentropy.errors import DomainError
from localentropy.quantities import ERROR, SHARE


def first_solved(fractions: pd.Series, least: float = 1.0) -> float | None:
    """The smallest abscissa from which on at least a given fraction is solved; None if there is none.

    Args:
        fractions: solved at each abscissa, the index, in any order; a missing value counts as unsolved.
        least: the fraction asked for.

    Returns:
        The abscissa, or None.

    Raises:
        DomainError: no series, a fraction outside [0, 1], an abscissa that is not finite or occurs twice.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.thresholds import first_solved
        >>> first_solved(pd.Series({1.0: 0.0, 1.2: 1.0, 1.4: 0.8, 1.6: 1.0, 1.8: 1.0}))  # N/P
        1.6
    """
    least = _checked(fractions, least)
    downwards = fractions.sort_index(ascending=False)
    above = downwards[(downwards >= least).cummin()]
    return float(above.index[-1]) if len(above) else None


def last_solved(fractions: pd.Series, least: float = 1.0) -> float | None:
    """The largest abscissa up to which at least a given fraction is solved; None if there is none.

    Args:
        fractions: solved at each abscissa, the index, in any order; a missing value counts as unsolved.
        least: the fraction asked for.

    Returns:
        The abscissa, or None.

    Raises:
        DomainError: see `first_solved`.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.thresholds import last_solved
        >>> last_solved(pd.Series({0.3: 1.0, 0.4: 1.0, 0.5: 0.8, 0.6: 1.0}))  # loads
        0.4
    """
    least = _checked(fractions, least)
    first = first_solved(fractions.set_axis(-fractions.index), least)
    return None if first is None else -first


def last_without_errors(table: pd.DataFrame) -> float | None:
    """The largest number of patterns up to which no network has train errors; None if there is none.

    Args:
        table: of a program that trains networks on several numbers of patterns: columns patterns, sample, quantity and
            value. A network without a number counts as one with errors.

    Returns:
        The number of patterns, or None.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.thresholds import last_without_errors
        >>> rows = {"patterns": [100, 100, 200, 200], "sample": [0, 1, 0, 1], "value": [0.0, 0.0, 0.0, 0.01]}
        >>> last_without_errors(pd.DataFrame(rows).assign(quantity="train_error"))
        100.0
    """
    require_columns("table", table, ("patterns", "sample", "quantity", "value"))
    errors = table[table["quantity"] == "train_error"].pivot_table(
        index="patterns", columns="sample", values="value", dropna=False
    )
    return last_solved((errors == 0).all(axis=1).astype(float))


def storage_thresholds(regions: pd.DataFrame) -> dict[str, float]:
    """alpha_c and alpha_le of random patterns, the limit α_T → 0 of random features: where lines of the perceptron end.

    Args:
        regions: the table of the program `dense_regions`. Without a perceptron in it nothing is returned.

    Returns:
        The loads, by name.

    Raises:
        DomainError: no table, a column is missing, or the attributes of the table have no ensembles.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.thresholds import storage_thresholds
        >>> line = {"end": [False, True], "ensemble": "stored", "line": "kappa_max", "alpha": [0.5, 0.8331]}
        >>> regions = pd.DataFrame(line)
        >>> regions.attrs["parameters"] = {"ensembles": {"stored": {"model": "perceptron"}}}
        >>> storage_thresholds(regions)
        {'alpha_c': 0.8331}
    """
    require_columns("regions", regions, ("end", "ensemble", "line", "alpha"))
    perceptrons = [
        name for name, ensemble in _ensembles("regions", regions).items() if ensemble["model"] == "perceptron"
    ]
    ends = regions[regions["end"] & regions["ensemble"].isin(perceptrons)].set_index("line")["alpha"]
    return {
        name: float(ends[line]) for name, line in (("alpha_c", "kappa_max"), ("alpha_le", "kappa_u")) if line in ends
    }


def large_deviations_threshold(
    table: pd.DataFrame, ensemble: Mapping[str, Any], line: str = "alpha_u"
) -> pd.Series | None:
    """The row of alpha_U of a model, with the distance and the entropy of the tangent there; None if there is none.

    Args:
        table: of the program `large_deviations`.
        ensemble: the model, as in the configuration.
        line: `alpha_u` at y = infinity, `alpha_u_typical` at zero external entropy.

    Returns:
        The row, or None.

    Raises:
        DomainError: no table, a column is missing, or the attributes of the table have no ensembles.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.thresholds import large_deviations_threshold
        >>> table = pd.DataFrame({"line": ["alpha_u"], "ensemble": ["stored"], "alpha": [0.77]})
        >>> table.attrs["parameters"] = {"ensembles": {"stored": {"model": "perceptron"}}}
        >>> float(large_deviations_threshold(table, {"model": "perceptron"})["alpha"])
        0.77
    """
    require_columns("table", table, ("line", "ensemble"))
    names = [name for name, other in _ensembles("table", table).items() if other == ensemble]
    rows = table[(table["line"] == line) & table["ensemble"].isin(names)]
    return None if rows.empty else rows.iloc[0]


def success_fractions(runs: pd.DataFrame, keys: Sequence[str], success: pd.Series) -> pd.DataFrame:
    """Fraction of runs that succeed, for each combination of the keys.

    The error is that of a binomial distribution after one success and one failure are added (the rule of Laplace):
    where all runs are alike it does not vanish.

    Args:
        runs: one row each.
        keys: columns of `runs`.
        success: whether each run succeeds, or 1 and 0; indexed as `runs`.

    Returns:
        The keys, in increasing order, and the columns y, y_err and runs (their number).

    Raises:
        DomainError: no table, a key that is no column of it, a run that lacks a key, a success that is not 1 or 0, or
            an index of the successes that is not that of the runs.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.thresholds import success_fractions
        >>> runs = pd.DataFrame({"alpha": [0.5] * 8, "overlap": [1.0] * 6 + [0.3] * 2})
        >>> success_fractions(runs, ["alpha"], runs["overlap"] > 0.99).round(3).to_numpy().tolist()
        [[0.5, 0.75, 8.0, 0.145]]
    """
    require_columns("runs", runs, keys)
    for key in keys:
        if runs[key].isna().any():
            raise DomainError(f"runs: the column {key} lacks a value, allowed are runs with all keys")
    if not isinstance(success, pd.Series) or not success.index.equals(runs.index):
        raise DomainError(f"success: {type(success).__name__} given, allowed is a Series of pandas, indexed as runs")
    wrong = success[~success.isin([0, 1])]
    if len(wrong):
        raise DomainError(f"success: {shown(wrong.tolist()[0])} is among them, allowed are 1 and 0")
    counted = runs.assign(success=success.astype(float)).groupby(list(keys))["success"]
    points = counted.agg(y="mean", runs="size").reset_index()
    share = (points["y"] * points["runs"] + 1.0) / (points["runs"] + 2.0)
    return points.assign(y_err=np.sqrt(share * (1.0 - share) / (points["runs"] + 2.0)))


def last_half_point(points: pd.DataFrame) -> tuple[float, float]:
    """The load above which more than half of the runs succeed, by linear interpolation, and its standard error.

    It is the last crossing. The error is that of the two fractions around it.

    Args:
        points: columns alpha, y and y_err, in any order.

    Returns:
        The load and its error. −∞ if half succeed at every load, ∞ if fewer do at the last one; then the error is NaN.

    Raises:
        DomainError: a column is missing, a load is not finite or occurs twice, a fraction is outside [0, 1], an error
            is negative.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.thresholds import last_half_point
        >>> points = pd.DataFrame({"alpha": [1.0, 1.2, 1.4], "y": [0.1, 0.4, 0.8], "y_err": [0.05, 0.08, 0.06]})
        >>> load, error = last_half_point(points)
        >>> round(load, 6), round(error, 3)
        (1.25, 0.031)
    """
    require_columns("points", points, ("alpha", "y", "y_err"))
    _require_places("alpha", points["alpha"])
    _require_shares("y", points["y"])
    ERROR.require_all(points["y_err"])
    x, y, spread = points.sort_values("alpha")[["alpha", "y", "y_err"]].to_numpy().T
    under = np.flatnonzero(y < 0.5)
    if not under.size:
        return -np.inf, np.nan
    at = int(under[-1])
    if at == len(x) - 1:
        return np.inf, np.nan
    step, rise = x[at + 1] - x[at], y[at + 1] - y[at]
    part = (0.5 - y[at]) / rise
    error = step / rise * np.hypot((1.0 - part) * spread[at], part * spread[at + 1])
    return float(x[at] + part * step), float(error)


def _ensembles(name: str, table: pd.DataFrame) -> Mapping[str, Mapping[str, Any]]:
    """The models of the program that made a table."""
    parameters = table.attrs.get("parameters", {})
    if "ensembles" not in parameters:
        raise DomainError(f"{name}: its attrs have no parameters with ensembles, allowed is a table of its program")
    models: Mapping[str, Mapping[str, Any]] = parameters["ensembles"]
    return models


def _checked(fractions: object, least: float) -> float:
    """The given fraction. Refuse values that are not fractions at different abscissae."""
    if not isinstance(fractions, pd.Series):
        raise DomainError(f"fractions: {type(fractions).__name__} given, allowed is a Series of pandas")
    if len(fractions):
        _require_shares("fractions", fractions, missing=True)
        _require_places("fractions: abscissa", fractions.index)
    return SHARE.require(least)


def _require_places(name: str, values: Any) -> None:
    """Refuse abscissae that are not finite, or not all different."""
    places = require_reals(name, values, ("points",))
    if len(np.unique(places)) < len(places):
        raise DomainError(f"{name}: {shown(places.tolist())}, allowed are different numbers")


def _require_shares(name: str, values: Any, missing: bool = False) -> None:
    """Refuse fractions outside [0, 1]."""
    shares = require_reals(name, values, ("points",), missing=missing)
    SHARE.called(name).require_all(np.nan_to_num(shares))


def typical_line(typical: pd.DataFrame, reference: str, line: str = "inv_alpha") -> pd.DataFrame:
    """The rows of one line, by increasing abscissa.

    Args:
        typical: table of the program `typical`: columns line, reference and the abscissa.
        reference: the margin, as the configuration has it.
        line: name of the line, which is also that of the column of its abscissa.

    Returns:
        Rows of the table.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.thresholds import typical_line
        >>> points = {"reference": ["max", "zero", "max"], "inv_alpha": [3.0, 2.0, 1.0]}
        >>> table = pd.DataFrame({"line": "inv_alpha"} | points)
        >>> typical_line(table, "max")["inv_alpha"].tolist()
        [1.0, 3.0]
    """
    require_columns("typical", typical, ("line", "reference", line))
    return typical[(typical["line"] == line) & (typical["reference"] == reference)].sort_values(line)
