"""Histogram of the stabilities of binary weights on ±1 patterns. They are values of a lattice of spacing 2/√N.

Source: overparam, §C, the distribution of the stabilities of MCT0 solutions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from localentropy.analysis.runs import MOST_SOLVED, POINT, averages
from localentropy.arguments import require_columns, require_integer
from localentropy.errors import DomainError
from localentropy.quantities import SIZE, WIDTH_OF_BIN

COMPARED_BINS = 0.5
"""Approximate width of the bins of χ². With so few bins their covariance over the instances can be estimated."""
COMPARED = 6
"""Number of these bins. The fraction above them follows from the others."""


@dataclass(frozen=True)
class StabilityHistogram:
    """Fractions of the patterns in bins [2k·steps/√N, 2(k + 1)·steps/√N), k = 0, 1, …, at one size.

    Attributes:
        fractions: of each run, [samples × bins].
        theory: the same of typical solutions, [bins]; missing where the theory has none.
        width: of a bin.
    """

    fractions: pd.DataFrame
    theory: pd.Series
    width: float

    @property
    def centres(self) -> np.ndarray:
        """Centres of the bins, [bins]."""
        return (self.fractions.columns.to_numpy() + 0.5) * self.width


def stability_histogram(
    runs: pd.DataFrame,
    lattice: pd.DataFrame,
    D: int,
    N: int,
    *,
    steps: int = 1,
    least_bins: int = 0,
    which: str = "",
) -> StabilityHistogram:
    """Histogram of the solved runs of margin zero at one size, and of typical solutions.

    Args:
        runs: of one solver: columns D, N, margin, sample, quantity, x and value, with the quantity `stability_count`.
        lattice: typical solutions, with the quantity `stability_probability`; a size that occurs twice (where grids of
            the simulations overlap) counts once.
        D: latent dimension.
        N: inputs, odd.
        steps: values of the lattice in a bin.
        least_bins: bins returned at least, empty ones on the right.
        which: end of the quantity's name: nothing for the final weights, `_first` for the first solutions.

    Returns:
        Fractions of each run and of the theory.

    Raises:
        DomainError: no table, a column of one is missing, the runs have no such quantity at D and N, or `steps` is
            below 1.

    Example:
        >>> import pandas as pd
        >>> from localentropy.analysis.stability_histogram import stability_histogram
        >>> at = {"D": 3, "N": 9, "margin": 0.0, "x": [1 / 3, 1.0, 5 / 3]}  # the sums 1, 3, 5
        >>> runs = pd.DataFrame(at | {"sample": 0, "quantity": "stability_count", "value": [5, 3, 2]})
        >>> theory = pd.DataFrame(at | {"quantity": "stability_probability", "value": [0.6, 0.3, 0.1]})
        >>> found = stability_histogram(runs, theory, 3, 9)
        >>> found.fractions.to_numpy().tolist(), found.theory.tolist()
        ([[0.5, 0.3, 0.2]], [0.6, 0.3, 0.1])
    """
    steps = require_integer("steps", steps, 1)
    require_columns("runs", runs, ("D", "N", "margin", "sample", "quantity", "x", "value"))
    require_columns("lattice", lattice, ("D", "N", "margin", "quantity", "x", "value"))
    counts, cells = (
        table[(table["quantity"] == quantity) & (table["D"] == D) & (table["N"] == N) & (table["margin"] == 0.0)]
        for table, quantity in ((runs, f"stability_count{which}"), (lattice, "stability_probability"))
    )
    if counts.empty:
        raise DomainError(f"runs: they have no stability_count{which} at D = {D}, N = {N} and margin 0")
    patterns = counts.pivot_table(
        index="sample", columns=_bins(counts["x"], N, steps), values="value", aggfunc="sum", fill_value=0.0
    )
    every = range(max(int(patterns.columns.max()) + 1, least_bins))
    cells = cells.drop_duplicates(["D", "N", "x", "margin"])
    theory = cells["value"].groupby(_bins(cells["x"], N, steps)).agg(lambda values: values.sum(skipna=False))
    fractions = patterns.div(patterns.sum(axis=1), axis=0)
    return StabilityHistogram(
        fractions.reindex(columns=every, fill_value=0.0),
        theory.reindex(every, fill_value=0.0 if len(cells) else np.nan),
        2 * steps / math.sqrt(N),
    )


def histogram_deviations(runs: pd.DataFrame, lattice: pd.DataFrame) -> pd.DataFrame:
    """Fractions in wide bins less their theory, in each run, at the sizes where most instances are solved.

    Args:
        runs: of one solver at margin zero.
        lattice: as in `stability_histogram`.

    Returns:
        Columns D, N, sample, x (centre of the bin), deviation.

    Raises:
        DomainError: no table, or a column of one is missing.
    """
    require_columns("runs", runs, [*POINT, "sample", "quantity", "x", "value"])
    require_columns("lattice", lattice, ("D", "N", "margin", "quantity", "x", "value"))
    counted = runs[["D", "N"]][runs["quantity"] == "stability_count"].drop_duplicates()
    sizes = averages(runs, "mean_stability").merge(counted, on=["D", "N"])
    frames = [pd.DataFrame({"D": [], "N": [], "sample": [], "x": [], "deviation": []})]
    for size in sizes[sizes["solved"] >= MOST_SOLVED].itertuples():
        D, N = int(size.D), int(size.N)
        wide = stability_histogram(runs, lattice, D, N, steps=steps_of(COMPARED_BINS, N), least_bins=COMPARED)
        kept = (wide.fractions - wide.theory).set_axis(wide.centres, axis=1).iloc[:, :COMPARED]
        long = kept.rename_axis(columns="x").stack().rename("deviation").reset_index()
        frames.append(long.assign(D=D, N=N))
    return pd.concat(frames[1:] or frames)


def steps_of(width: float, N: int) -> int:
    """Values of the lattice in a bin of about this width, at least one.

    Args:
        width: of a bin.
        N: number of weights.

    Returns:
        The number of values.

    Raises:
        DomainError: a width that is not above 0, or an N below 1.

    Example:
        >>> from localentropy.analysis.stability_histogram import steps_of
        >>> steps_of(0.5, 101)  # values are 2/√N = 0.199 apart
        3
    """
    width, N = WIDTH_OF_BIN.require(width), SIZE.require(N)
    return max(1, round(width * math.sqrt(N) / 2))


def _bins(stabilities: pd.Series, N: int, steps: int) -> pd.Series:
    """Number of the bin of each stability of the lattice."""
    # The sums are odd integers 1, 3, 5, …. Numbered before the division, none is rounded across an edge.
    return (np.rint((stabilities * math.sqrt(N) - 1) / 2).astype(int) // steps).rename("bin")
