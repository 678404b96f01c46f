"""How well simulations agree with the theory, all points together, and how they extrapolate to infinite size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import linalg, stats

from localentropy.arguments import require_columns, require_list, require_reals, require_shape, shown
from localentropy.errors import DomainError
from localentropy.quantities import FITTED_ERROR, FITTED_MEAN, FITTED_SIZE


@dataclass(frozen=True)
class Agreement:
    """Deviations from a theory, all points together.

    Attributes:
        chi_squared: sum of the squares of the normal scores of all points.
        points: their number, the degrees of freedom of χ².
        p_value: probability of a larger χ² if the theory is right.
        drift: mean deviation, simulation less theory.
        drift_error: its standard error.
    """

    chi_squared: float
    points: int
    p_value: float
    drift: float
    drift_error: float


def agreement(groups: Sequence[np.ndarray]) -> Agreement:
    """χ² over all points of several groups that share no samples.

    Points of one group are measured on the same samples, so they are correlated. Their common deviation is measured by
    Hotelling's T² = S m̄ᵀ C⁻¹ m̄, with m̄ the mean and C the covariance over S samples. For one point it is the square of
    t. With k points, (S − k) T²/(k (S − 1)) has the F distribution with k and S − k degrees of freedom. χ² of a group
    is the value that is as improbable with k degrees of freedom. So one point counts with the square of its normal
    score.

    At most half as many points as samples are used of a group, evenly spaced: more would leave too few degrees of
    freedom. Three kinds of points are left out: those that are combinations of others, those of groups of fewer than
    three samples, and those without any scatter. The last ones are left out even where they differ from the theory,
    because without scatter the test cannot weigh the difference.

    Args:
        groups: simulation less theory, [samples, points] each.

    Returns:
        χ² of all points, and the mean deviation. Without a point that is used, as of no groups, there are 0 points and
        all other numbers are missing (NaN).

    Raises:
        DomainError: no list of arrays, one without two dimensions, or with numbers that are missing.

    Example:
        >>> import numpy as np
        >>> from localentropy.analysis.agreement import agreement
        >>> right = np.random.default_rng(0).normal(0.0, 1.0, (20, 3))  # samples, points
        >>> agreement([right]).p_value > 0.05, agreement([right + 2.0]).p_value > 0.05
        (True, False)
    """
    chi_squared, points = 0.0, 0
    drifts, variances = [], []
    for number, group in enumerate(require_list("groups", groups, np.ndarray)):
        if group.ndim == 2 and 0 in group.shape:
            continue
        require_reals(f"groups[{number}]", group, ("samples", "points"))
        if len(group) < 3:
            continue
        varying = group[:, np.ptp(group, axis=0) > 0]
        samples, width = varying.shape
        used = min(width, samples // 2)
        if not used:
            continue
        kept = varying[:, np.unique(np.linspace(0, width - 1, used).round().astype(int))]
        mean = kept.mean(0)
        inverse, used = linalg.pinvh(np.atleast_2d(np.cov(kept, rowvar=False)), return_rank=True)
        hotelling = samples * mean @ inverse @ mean
        ratio = (samples - used) / (used * (samples - 1)) * hotelling
        chi_squared += float(stats.chi2.isf(stats.f.sf(ratio, used, samples - used), used))
        points += used
        of_samples = varying.mean(1)
        drifts.append(of_samples.mean())
        variances.append(of_samples.var(ddof=1) / samples)
    if not points:
        return Agreement(np.nan, 0, np.nan, np.nan, np.nan)
    return Agreement(
        chi_squared,
        points,
        float(stats.chi2.sf(chi_squared, points)),
        float(np.mean(drifts)),
        float(np.sqrt(np.sum(variances)) / len(drifts)),
    )


def agreement_by_size(deviations: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Agreement at each latent dimension.

    Args:
        deviations: columns D, N, sample, deviation, and those of `by`, which distinguish the points of one size. Runs
            of equal D, N and sample are on the same instance. A sample that lacks one of a size's points is left out.
        by: columns that distinguish the points of one size.

    Returns:
        Columns D, p_value, chi_squared, points, drift, drift_err; D increases, sizes are left out of which
        no point is used.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import numpy as np
        >>> import pandas as pd
        >>> from localentropy.analysis.agreement import agreement_by_size
        >>> runs = pd.DataFrame({"D": [101] * 10 + [201] * 10, "N": 603, "sample": [*range(10)] * 2, "x": 0.5})
        >>> runs["deviation"] = np.random.default_rng(0).normal(0.0, 1.0, 20)
        >>> agreement_by_size(runs, by=["x"])[["D", "points"]].to_numpy().tolist()
        [[101, 1], [201, 1]]
    """
    require_columns("deviations", deviations, ["D", "N", "sample", "deviation", *by])
    rows = []
    for D, here in deviations.groupby("D"):
        groups = [
            size.pivot_table(index="sample", columns=list(by), values="deviation").dropna().to_numpy()
            for _, size in here.groupby("N")
        ]
        found = agreement(groups)
        rows.append((D, found.p_value, found.chi_squared, found.points, found.drift, found.drift_error))
    table = pd.DataFrame(rows, columns=["D", "p_value", "chi_squared", "points", "drift", "drift_err"])
    return table[table["points"] > 0]


def agreement_at_infinite_size(deviations: pd.DataFrame, by: Sequence[str]) -> Agreement:
    """Agreement of the deviations extrapolated to infinite D on straight lines in 1/D, one for each point.

    A line is fitted to each sample number: instances of different D are independent, so the extrapolated numbers are
    independent samples, and their mean is the extrapolated mean.

    Args:
        deviations: columns as in `agreement_by_size`. Sizes N of one D are averaged. Points with one D only are left
            out, and samples that lack a point.
        by: columns that distinguish the points of one size.

    Returns:
        χ² of the extrapolated points, and their mean deviation.

    Raises:
        DomainError: no table, or a column is missing.

    Example:
        >>> import numpy as np
        >>> import pandas as pd
        >>> from localentropy.analysis.agreement import agreement_at_infinite_size
        >>> runs = pd.DataFrame({"D": [101] * 10 + [201] * 10, "N": 603, "sample": [*range(10)] * 2, "x": 0.5})
        >>> runs["deviation"] = 5.0 / runs["D"] + np.random.default_rng(0).normal(0.0, 1e-3, 20)
        >>> agreement_at_infinite_size(runs, by=["x"]).p_value > 0.05  # a deviation 5/D vanishes at infinite size
        True
    """
    require_columns("deviations", deviations, ["D", "sample", "deviation", *by])
    table = deviations.pivot_table(index=[*by, "D"], columns="sample", values="deviation")
    lines = []
    for _, point in table.groupby(level=list(by)):
        D = point.index.get_level_values("D").to_numpy()
        if len(D) > 1:
            lines.append(np.linalg.pinv(np.column_stack([np.ones(len(D)), 1.0 / D]))[0] @ point.to_numpy())
    samples = np.array(lines).T
    return agreement([samples[~np.isnan(samples).any(1)]] if lines else [])


@dataclass(frozen=True)
class Extrapolation:
    """A straight line a + b / size.

    Attributes:
        value: a, at infinite size.
        error: standard error of a.
        slope: b.
        chi_squared: of the points around the line.
        freedom: points less two.
    """

    value: float
    error: float
    slope: float
    chi_squared: float
    freedom: int


def to_infinite_size(sizes: ArrayLike, means: ArrayLike, errors: ArrayLike) -> Extrapolation:
    """Least squares of means on a + b/size, weighted by their errors.

    Args:
        sizes: [points], in [1e-60, 1e60], two different ones at least.
        means: of independent runs, [points], up to 1e60.
        errors: standard errors of the means, [points], in [1e-60, 1e60].

    Returns:
        The line, its value at infinite size first.

    Raises:
        DomainError: arrays of other shapes, a number out of range, fewer than two different sizes, errors so unlike
            that in double precision one point outweighs all others.

    Example:
        >>> from localentropy.analysis.agreement import to_infinite_size
        >>> line = to_infinite_size([100, 200, 400], means=[0.86, 0.845, 0.8375], errors=[0.01, 0.01, 0.01])
        >>> round(line.value, 6), round(line.slope, 6)
        (0.83, 3.0)
    """
    size = FITTED_SIZE.require_all(sizes)
    mean = FITTED_MEAN.require_all(means)
    error = FITTED_ERROR.require_all(errors)
    require_shape("sizes", size.shape, ("points",))
    require_shape("means", mean.shape, size.shape)
    require_shape("errors", error.shape, size.shape)
    if len(np.unique(size)) < 2:
        raise DomainError(f"sizes = {shown(size.tolist())}: two different ones are needed at least")
    # In units of the largest inverse size both columns are of order 1.
    unit = float(size.min())
    design = np.column_stack([np.ones_like(size), unit / size]) / error[:, None]
    (value, slope), _, rank, _ = np.linalg.lstsq(design, mean / error, rcond=None)
    if rank < 2:
        raise DomainError(f"errors = {shown(error.tolist())}: one point outweighs all others")
    rest = mean / error - design @ [value, slope]
    # The square root of the covariance, from the triangular factor of the design.
    root = np.linalg.inv(np.linalg.qr(design, mode="r"))
    return Extrapolation(
        float(value), float(np.linalg.norm(root[0])), float(slope * unit), float(rest @ rest), len(size) - 2
    )
