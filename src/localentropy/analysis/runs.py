"""Means over runs: of solvers at points of one size, of annealing, and of several runs on each training set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from localentropy.analysis.statistics import normal_score
from localentropy.arguments import require_columns, require_list, shown
from localentropy.errors import DomainError

POINT = ["D", "N", "inv_alpha", "margin", "margin_effective"]
RECOVERED = 0.99
"""Absolute cosine with the teacher above which a run counts as having found it: chosen here."""
MOST_SOLVED = 0.9
"""Points at which a smaller fraction of the instances is solved are drawn hollow and enter no z-score."""


def averages(table: pd.DataFrame, quantity: str, solved_only: bool = True, by: tuple[str, ...] = ()) -> pd.DataFrame:
    """Mean over samples with its standard error, for each size, margin and value of the columns `by`.

    Args:
        table: of a solver's program, one row for each number: the columns of `POINT`, sample, quantity, value and those
            of `by`.
        quantity: name of a quantity in the table.
        solved_only: whether runs without a solution are left out.
        by: columns that distinguish the numbers of one run.

    Returns:
        Columns D, N, inv_alpha, margin, margin_effective, *by, y, y_err, n (samples averaged), solved (fraction).

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import POINT, averages
        >>> at = dict.fromkeys(POINT, 1.0)
        >>> rows = [at | {"sample": k, "quantity": "solved", "value": 1.0} for k in range(2)]
        >>> rows += [at | {"sample": k, "quantity": "test_error", "value": 0.1 + 0.1 * k} for k in range(2)]
        >>> averages(pd.DataFrame(rows), "test_error")[["y", "y_err", "n"]].round(3).to_numpy().tolist()
        [[0.15, 0.05, 2.0]]
    """
    require_columns("table", table, [*POINT, "sample", "quantity", "value", *by])
    rows = _runs(table, quantity)
    if solved_only:
        rows = rows[rows["is_solved"] == 1]
    points = rows.groupby([*POINT, *by])
    means = points["value"].agg(y="mean", y_err="sem", n="size").join(points["solved"].first())
    return means.reset_index()


def deviations(
    table: pd.DataFrame, quantity: str, theory: pd.DataFrame, column: str, by: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Simulation less theory in each solved run, at the points where most instances are solved.

    Args:
        table: runs of one solver, as in `averages`.
        quantity: name of a quantity in the table.
        theory: columns D, N, margin, *by and `column`.
        column: of the theory's values.
        by: columns that distinguish the numbers of one run.

    Returns:
        Columns D, N, inv_alpha, margin, *by, sample, deviation, theory.

    Raises:
        DomainError: no table, or a column of one is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import POINT, deviations
        >>> at = dict.fromkeys(POINT, 1.0) | {"sample": 0}
        >>> runs = pd.DataFrame([at | {"quantity": "solved", "value": 1.0}, at | {"quantity": "q", "value": 0.3}])
        >>> theory = pd.DataFrame({"D": [1.0], "N": [1.0], "margin": [1.0], "overlap": [0.28]})
        >>> deviations(runs, "q", theory, "overlap")["deviation"].round(3).tolist()
        [0.02]
    """
    require_columns("table", table, [*POINT, "sample", "quantity", "value", *by])
    keys = ["D", "N", "margin", *by]
    values = _theory(theory, keys, column)
    rows = _runs(table, quantity)
    rows = rows[(rows["is_solved"] == 1) & (rows["solved"] >= MOST_SOLVED)]
    joined = rows.merge(values, on=keys)
    return joined.assign(deviation=joined["value"] - joined["theory"])[
        [*keys, "inv_alpha", "sample", "deviation", "theory"]
    ]


def _runs(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Rows of a quantity with two more columns: whether the run is solved, and the fraction solved at its point."""
    keys = [*POINT, "sample"]
    outcomes = table[table["quantity"] == "solved"].set_index(keys)["value"].rename("is_solved").to_frame()
    outcomes["solved"] = outcomes.groupby(level=POINT)["is_solved"].transform("mean")
    return table[table["quantity"] == quantity].join(outcomes, on=keys)


def largest_solved(points: pd.DataFrame) -> pd.DataFrame:
    """At each 1/α the largest size at which most instances are solved, or the largest of all if there is none.

    Args:
        points: columns D, inv_alpha and solved (the fraction).

    Returns:
        Rows of the table.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import largest_solved
        >>> points = pd.DataFrame({"D": [101, 201, 401], "inv_alpha": 2.0, "solved": [1.0, 0.9, 0.1]})
        >>> largest_solved(points)["D"].tolist()
        [201]
    """
    require_columns("points", points, ("D", "inv_alpha", "solved"))
    # 4.0 stands for 4.005 and 4.010, the nearest odd sizes of different D.
    ranked = points.assign(near=points["inv_alpha"].round(1), most=points["solved"] >= MOST_SOLVED)
    ranked = ranked.sort_values(["near", "most", "D", "inv_alpha"])
    chosen = ranked.groupby("near")["D"].transform("last")
    return ranked[ranked["D"] == chosen].drop(columns=["near", "most"])


def shared_size(tables: Mapping[str, pd.DataFrame]) -> int:
    """The largest D that every solver among the tables was run at.

    Args:
        tables: by their names; those of solvers have "/solve_" in it.

    Returns:
        D.

    Raises:
        DomainError: there is none, or no table of a solver; a table has no column D.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import shared_size
        >>> one, other = pd.DataFrame({"D": [101, 201, 401]}), pd.DataFrame({"D": [101, 201]})
        >>> shared_size({"overparam/solve_sbpi": one, "overparam/solve_mct0": other})
        201
    """
    runs = {name: table for name, table in tables.items() if "/solve_" in name}
    if not runs:
        raise DomainError(f"tables = {shown(list(tables))}: allowed are some with /solve_ in their names")
    for name, table in runs.items():
        require_columns(f"tables[{name!r}]", table, ["D"])
    sizes = {name: set(table["D"]) for name, table in runs.items()}
    common = set.intersection(*sizes.values())
    if not common:
        each = "; ".join(f"{name}: {', '.join(f'{D:g}' for D in sorted(found))}" for name, found in sizes.items())
        raise DomainError(f"no latent dimension D that all of these were run at ({each}): give them one")
    return int(max(common))


def with_theory(points: pd.DataFrame, theory: pd.DataFrame, column: str, by: tuple[str, ...] = ()) -> pd.DataFrame:
    """Points with the theory's value, z and score added.

    Args:
        points: columns D, N, margin, *by, y, y_err, n and solved.
        theory: columns D, N, margin, *by and `column`.
        column: of the theory's values.
        by: columns that distinguish the numbers of one run.

    Returns:
        The points with the columns theory, z and score.

    Raises:
        DomainError: no table, or a column of one is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import with_theory
        >>> at = {"D": [201], "N": [603], "margin": [0.0]}
        >>> points = pd.DataFrame(at | {"y": [0.30], "y_err": [0.01], "n": [100], "solved": [1.0]})
        >>> with_theory(points, pd.DataFrame(at | {"q": [0.28]}), "q")[["z", "score"]].round(2).to_numpy().tolist()
        [[2.0, 1.98]]
    """
    require_columns("points", points, ["D", "N", "margin", *by, "y", "y_err", "n", "solved"])
    keys = ["D", "N", "margin", *by]
    return scored(points.merge(_theory(theory, keys, column), on=keys, how="left"))


def _theory(table: pd.DataFrame, keys: list[str], column: str) -> pd.DataFrame:
    """The values of a column, called theory: one row for each place, as solvers that share a size share its theory."""
    require_columns("theory", table, [*keys, column])
    return table[[*keys, column]].drop_duplicates(keys).rename(columns={column: "theory"})


def scored(points: pd.DataFrame) -> pd.DataFrame:
    """Add z and score, where most instances are solved, to points with y, y_err, theory, n and solved.

    z = (y − theory)/y_err is t-distributed with n − 1 degrees of freedom; score is the normal number as improbable.

    Args:
        points: the table.

    Returns:
        The table with the columns z and score; both are missing where few instances are solved.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import scored
        >>> points = pd.DataFrame({"y": [0.3, 0.3], "y_err": 0.01, "theory": 0.28, "n": [5, 100], "solved": 1.0})
        >>> scored(points)["score"].round(2).tolist()
        [1.57, 1.98]
    """
    require_columns("points", points, ("y", "y_err", "theory", "n", "solved"))
    compared = (points["solved"] >= MOST_SOLVED) & (points["n"] > 1) & (points["y_err"] > 0)
    z = ((points["y"] - points["theory"]) / points["y_err"]).where(compared)
    return points.assign(z=z, score=normal_score(z.to_numpy(), points["n"].to_numpy()))


def solved_fractions(table: pd.DataFrame) -> pd.Series:
    """Fraction of the runs that are solved, by increasing N/P.

    Args:
        table: of a solver's program: columns inv_alpha, quantity and value, with the quantity `solved`.

    Returns:
        Fractions, indexed by N/P.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import solved_fractions
        >>> table = pd.DataFrame({"inv_alpha": [2.0, 2.0, 1.5, 1.5], "quantity": "solved", "value": [1, 1, 1, 0]})
        >>> solved_fractions(table).to_dict()
        {1.5: 0.5, 2.0: 1.0}
    """
    require_columns("table", table, ("inv_alpha", "quantity", "value"))
    return table[table["quantity"] == "solved"].groupby("inv_alpha")["value"].mean().sort_index()


def solved_by_all(fractions: Iterable[pd.Series]) -> pd.Series:
    """The smallest fraction of several solvers, at each N/P that all of them ran at.

    Args:
        fractions: of each solver, indexed by N/P.

    Returns:
        Fractions, indexed by N/P.

    Raises:
        DomainError: no fractions, or what is no series among them.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import solved_by_all
        >>> solved_by_all([pd.Series({1.5: 0.5, 2.0: 1.0}), pd.Series({2.0: 0.9, 2.5: 1.0})]).to_dict()
        {2.0: 0.9}
    """
    each = require_list("fractions", list(fractions), pd.Series)  # what fails while they are made is told as it is
    if not each:
        raise DomainError("fractions: none given, allowed are one or more series")
    return pd.concat(each, axis=1, join="inner").min(axis=1)


def on_each_set(rows: pd.DataFrame, by: Sequence[str] = ("inv_alpha",)) -> pd.Series:
    """Mean over the runs on one training set.

    Args:
        rows: columns value, sample (the number of the set) and those of `by`.
        by: further columns that are told apart.

    Returns:
        Means, indexed by `by` and sample.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import on_each_set
        >>> rows = pd.DataFrame({"inv_alpha": 2.0, "sample": [0, 0, 1], "value": [0.2, 0.4, 0.5]})
        >>> on_each_set(rows).round(9).tolist()
        [0.3, 0.5]
    """
    require_columns("rows", rows, ["value", "sample", *by])
    return rows.groupby([*by, "sample"])["value"].mean()


def over_sets(each: pd.Series) -> pd.DataFrame:
    """Mean and standard error over training sets.

    Args:
        each: a value for each training set, indexed as `on_each_set` does.

    Returns:
        Columns y, y_err and samples (the number of sets with a value), indexed by all of its index but `sample`.

    Raises:
        DomainError: no series, or one whose index has no level sample beside others.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import on_each_set, over_sets
        >>> rows = pd.DataFrame({"inv_alpha": 2.0, "sample": [0, 0, 1], "value": [0.2, 0.4, 0.5]})
        >>> over_sets(on_each_set(rows))[["y", "samples"]].round(9).to_numpy().tolist()
        [[0.4, 2.0]]
    """
    if not isinstance(each, pd.Series):
        raise DomainError(f"each: {type(each).__name__} given, allowed is a Series of pandas")
    if "sample" not in each.index.names or len(each.index.names) < 2:
        names = ", ".join(map(str, each.index.names))
        raise DomainError(f"each: an index of {names} given, allowed is one with the level sample and others")
    by = [name for name in each.index.names if name != "sample"]
    return each.groupby(level=by).agg(y="mean", y_err="sem", samples="count")


RUN = ["energy", "gamma", "alpha", "N"]


def annealed_averages(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    """Mean over instances with its standard error.

    Args:
        table: of the program `annealing`: columns energy, gamma, alpha, N, x, quantity and value.
        quantity: name of a quantity in the table.

    Returns:
        Columns energy, gamma (missing but for the cross-entropy), alpha, N, x, y, y_err, n (instances averaged), runs
        (all instances), solved (fraction of them whose final weights are a solution).

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.runs import annealed_averages
        >>> run = {"energy": "errors", "gamma": None, "alpha": 0.3, "N": 201}
        >>> values = [("overlap", 0.2), ("overlap", 0.4), ("solved", 1.0)]
        >>> table = pd.DataFrame([run | {"x": 0.0, "quantity": name, "value": value} for name, value in values])
        >>> annealed_averages(table, "overlap")[["y", "n", "solved"]].round(9).to_numpy().tolist()
        [[0.3, 2.0, 1.0]]
    """
    require_columns("table", table, [*RUN, "x", "quantity", "value"])
    rows = table[table["quantity"] == quantity]
    means = rows.groupby([*RUN, "x"], dropna=False)["value"].agg(y="mean", y_err="sem", n="count").reset_index()
    outcomes = table[table["quantity"] == "solved"].groupby(RUN, dropna=False)["value"].agg(solved="mean", runs="size")
    return means.merge(outcomes.reset_index(), on=RUN)
