"""How flat it is around solutions: distances of small train error, and local entropies of runs and of the theory."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline

from localentropy.arguments import require_columns, require_reals, shown
from localentropy.errors import DomainError

ACCURACY = 1e-5
"""Of the theory's entropies of groups of solutions, in nats per weight."""
REACHED = 1e-3
"""Train error that ends the flat surrounding of a solution (chosen here)."""
CHORD_FROM, CHORD_TO = 0.002, 0.1
"""Fractions of flipped weights (chosen here). A profile counts as convex if it lies below its chord from zero to the
second. It is judged from the first on: fewer flips change too few outputs to tell."""


def radius(distance: ArrayLike, energy: ArrayLike) -> float:
    """Distance at which a profile of train errors first reaches `REACHED`, by linear interpolation.

    Args:
        distance: [points], increasing up to there.
        energy: train error at each distance.

    Returns:
        The distance; missing (NaN) if an error is missing, or none is as large.

    Raises:
        DomainError: arrays of other shapes, distances that do not increase.

    Example:
        >>> from localentropy.analysis.flatness import REACHED, radius
        >>> round(radius([0.0, 0.1, 0.2], energy=[0.0, 0.5 * REACHED, 1.5 * REACHED]), 6)
        0.15
    """
    distance = require_reals("distance", distance, ("points",))
    energy = require_reals("energy", energy, distance.shape, missing=True)
    beyond = np.flatnonzero(energy >= REACHED)
    if np.isnan(energy).any() or not beyond.size:
        return np.nan
    if not (np.diff(distance[: beyond[0] + 1]) > 0.0).all():
        raise DomainError(f"distance = {shown(distance.tolist())}: allowed are numbers that increase")
    part = slice(max(beyond[0] - 1, 0), beyond[0] + 1)
    return float(np.interp(REACHED, energy[part], distance[part]))


def around_solutions(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the program `local_entropy` that count: around a solution, from messages that converged.

    Args:
        table: of the program `local_entropy`.

    Returns:
        Rows of the table.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.flatness import around_solutions
        >>> table = pd.DataFrame({"solved": [1, 0, 1], "converged": [1, 1, 0], "entropy": [0.2, 0.3, None]})
        >>> around_solutions(table)["entropy"].tolist()
        [0.2]
    """
    require_columns("table", table, ("solved", "converged"))
    return table[(table["solved"] == 1) & (table["converged"] == 1)]


def largest_margin_curve(franz_parisi: pd.DataFrame, local_entropy: pd.DataFrame) -> pd.DataFrame:
    """The rows around references of largest margin that measured local entropies are compared with.

    Args:
        franz_parisi: table of the program of this name.
        local_entropy: table of the program of this name, at one size.

    Returns:
        Rows of the table of `franz_parisi`.

    Raises:
        DomainError: a column is missing, no measurement, or no such curve of the perceptron at the α and the margin of
            the measurements.
    """
    needed = ("curve", "reference", "alpha", "margin", "entropy", "slope")
    require_columns("franz_parisi", franz_parisi, needed)
    require_columns("local_entropy", local_entropy, ("alpha", "N", "margin"))
    if local_entropy.empty:
        raise DomainError("local_entropy: the table has no rows")
    alpha, N, margin = local_entropy[["alpha", "N", "margin"]].iloc[0]
    ours = franz_parisi.attrs.get("parameters", {}).get("ensemble") == {"model": "perceptron"}
    t = franz_parisi[(franz_parisi["curve"] == "reference") & (franz_parisi["reference"] == "max")]
    # The number of patterns of an instance is an integer.
    curve = t[((t["alpha"] - alpha).abs() * N <= 1) & (t["margin"] == margin)]
    if not ours or len(curve.dropna(subset=["entropy", "slope"])) < 2:
        raise DomainError(
            f"the local entropies at alpha = {alpha:.4g}, margin = {margin:g} need a curve of the perceptron's family "
            "`reference` with margin_ref = max to compare with: take alpha and margin of both sections alike"
        )
    return curve


def with_excess(table: pd.DataFrame, curve: pd.DataFrame) -> pd.DataFrame:
    """Add `excess`, the local entropy less that of a Franz–Parisi curve at the same distance.

    Args:
        table: columns distance, entropy.
        curve: columns distance, entropy, slope, in any order; cubic between its points, in ln d. Beyond its ends excess
            is missing.

    Returns:
        The table with the column excess.

    Raises:
        DomainError: a column is missing; the curve has fewer than two points with an entropy and a slope, or a distance
            twice, or one that is not above 0.

    Example:
        >>> import numpy as np
        >>> import pandas as pd
        >>> from localentropy.analysis.flatness import with_excess
        >>> curve = pd.DataFrame({"distance": [0.01, 0.1], "entropy": np.log([0.01, 0.1]), "slope": [100.0, 10.0]})
        >>> measured = pd.DataFrame({"distance": [0.05], "entropy": [-3.0]})
        >>> with_excess(measured, curve)["excess"].round(6).tolist()  # −3 − ln 0.05
        [-0.004268]
    """
    require_columns("table", table, ("distance", "entropy"))
    require_columns("curve", curve, ("distance", "entropy", "slope"))
    line = curve.dropna(subset=["entropy", "slope"]).sort_values("distance")
    d = require_reals("curve: distance", line["distance"])
    if len(d) < 2 or d[0] <= 0.0 or (np.diff(d) == 0.0).any():
        raise DomainError(f"curve: distance = {shown(d.tolist())}, allowed are two or more different numbers above 0")
    theory = CubicHermiteSpline(np.log(d), line["entropy"], d * line["slope"], extrapolate=False)
    return table.assign(excess=table["entropy"] - theory(np.log(table["distance"])))


def without_frozen_ends(curves: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Franz–Parisi curves, entropy and slope missing where the replica-symmetric solution is about to end.

    Next to d = 0 the entropy of solutions is positive or zero. A curve that ends at a negative one has frozen. It is
    cut where its slope is smallest, before its entropy becomes positive: to the left of that the slope grows as it does
    next to d = 0, at a wrong entropy.

    Args:
        curves: entropy, slope and distance, missing where no solution was found.
        keys: the columns that distinguish the curves.

    Returns:
        The table, with an index of its own.

    Raises:
        DomainError: a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.flatness import without_frozen_ends
        >>> curve = pd.DataFrame({"distance": [0.001, 0.002, 0.003, 0.004], "entropy": [None, -0.03, -0.01, 0.02]})
        >>> without_frozen_ends(curve.assign(slope=[None, 90.0, 9.0, 30.0], alpha=0.5), ["alpha"])["entropy"].tolist()
        [nan, nan, -0.01, 0.02]
    """
    require_columns("curves", curves, ("distance", "entropy", "slope", *keys))
    found = curves.reset_index(drop=True)
    for _, curve in found.groupby(keys, sort=False, dropna=False):
        known = curve.dropna(subset="entropy").sort_values("distance")
        negative = np.cumsum(~(known["entropy"] < 0).to_numpy()) == 0
        turns = known["distance"].to_numpy()[:-1][(np.diff(known["slope"]) > 0) & negative[:-1]]
        if len(turns) and len(known) < len(curve):
            found.loc[curve.index[curve["distance"] < turns[0]], ["entropy", "slope"]] = np.nan
    return found


def around_parity_solutions(table: pd.DataFrame) -> pd.DataFrame:
    """Mean entropy of each size and overlap of the program `parity_solutions`, where every solution has a number.

    Args:
        table: of the program `parity_solutions`.

    Returns:
        Columns N, alpha, overlap, y, y_err (standard error), n.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.flatness import around_parity_solutions
        >>> measured = {"overlap": [0.9, 0.9, 0.8, 0.8], "entropy": [-0.1, -0.3, -0.2, None]}
        >>> table = pd.DataFrame({"N": 99, "alpha": 0.2} | measured)
        >>> around_parity_solutions(table)[["overlap", "y", "n"]].to_numpy().tolist()
        [[0.9, -0.2, 2.0]]
    """
    require_columns("table", table, ("N", "alpha", "overlap", "entropy"))
    measured = table.groupby(["N", "alpha", "overlap"], dropna=False)["entropy"]
    points = measured.agg(y="mean", y_err="sem", n="count").reset_index()
    return points[points["n"] == measured.size().to_numpy()]


def over_samples(table: pd.DataFrame, column: str, by: tuple[str, ...] = ()) -> pd.DataFrame:
    """Mean over samples at each distance, and value of `by`.

    Args:
        table: one row for each sample, distance and value of `by`.
        column: the one that is averaged.
        by: further columns.

    Returns:
        Columns *by, distance, y, y_err (standard error), spread (standard deviation of single samples), n.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.flatness import over_samples
        >>> table = pd.DataFrame({"distance": [0.1, 0.1, 0.2, 0.2], "entropy": [0.1, 0.3, 0.4, 0.6]})
        >>> over_samples(table, "entropy")[["distance", "y", "n"]].round(9).to_numpy().tolist()
        [[0.1, 0.2, 2.0], [0.2, 0.5, 2.0]]
    """
    require_columns("table", table, [*by, "distance", column])
    points = table.groupby([*by, "distance"])[column]
    return points.agg(y="mean", y_err="sem", spread="std", n="count").reset_index()
