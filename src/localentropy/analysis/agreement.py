"""How well all simulation points of one observable agree with the theory, and how that changes with the size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import linalg, stats

from localentropy.arguments import require_list, require_reals
from localentropy.errors import DomainError


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


def normal_score(z: ArrayLike, samples: ArrayLike) -> np.ndarray:
    """The standard normal number with the same probability below it as z has, t-distributed.

    Args:
        z: (mean − theory)/(standard error of the mean over the samples), any shape.
        samples: number of them, of a shape that broadcasts with z; z has samples − 1 degrees of freedom.

    Returns:
        The numbers, in the broadcast shape; missing where there are fewer than 2 samples, or z is.

    Raises:
        DomainError: no arrays of numbers, shapes that do not broadcast, a number of samples below 0.

    Example:
        >>> from localentropy.analysis.agreement import normal_score
        >>> normal_score([2.0, 2.0], [4, 1000]).round(2).tolist()  # of few samples, 2 standard errors say less
        [1.48, 2.0]
    """
    scores = require_reals("z", z, missing=True)
    counts = require_reals("samples", samples, missing=True)
    if (counts < 0.0).any():
        raise DomainError(f"samples: {counts.min():g} is among them, allowed are numbers of samples")
    try:
        scores, counts = np.broadcast_arrays(scores, counts)
    except ValueError:
        raise DomainError(f"samples of shape {counts.shape}: allowed is one that fits z, {scores.shape}") from None
    # On the negative side, where probabilities do not round to 1.
    return -np.sign(scores) * stats.norm.ppf(stats.t.cdf(-np.abs(scores), counts - 1.0))


def agreement(groups: Sequence[np.ndarray]) -> Agreement:
    """χ² over all points of several groups that share no samples.

    Points of one group are measured on the same samples and so are correlated: their common deviation is measured by
    Hotelling's T² = S m̄ᵀ C⁻¹ m̄, with m̄ the mean and C the covariance over S samples, which for one point is the square
    of t. (S − k) T²/(k (S − 1)) has the F distribution with k and S − k degrees of freedom; χ² of a group is the value
    that is as improbable with k degrees of freedom. So one point counts with the square of its normal score.

    At most half as many points as samples are used of a group, evenly spaced: more would leave too few degrees of
    freedom. Three kinds of points are left out: those that are combinations of others, those of groups of fewer than
    three samples, and those without any scatter. The last ones are left out even where they differ from the theory,
    because without scatter the test cannot weigh the difference.

    Args:
        groups: simulation less theory, [samples, points] each.

    Returns:
        χ² of all points, and the mean deviation.

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

    Example:
        >>> import numpy as np
        >>> import pandas as pd
        >>> from localentropy.analysis.agreement import agreement_by_size
        >>> runs = pd.DataFrame({"D": [101] * 10 + [201] * 10, "N": 603, "sample": [*range(10)] * 2, "x": 0.5})
        >>> runs["deviation"] = np.random.default_rng(0).normal(0.0, 1.0, 20)
        >>> agreement_by_size(runs, by=["x"])[["D", "points"]].to_numpy().tolist()
        [[101, 1], [201, 1]]
    """
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

    Example:
        >>> import numpy as np
        >>> import pandas as pd
        >>> from localentropy.analysis.agreement import agreement_at_infinite_size
        >>> runs = pd.DataFrame({"D": [101] * 10 + [201] * 10, "N": 603, "sample": [*range(10)] * 2, "x": 0.5})
        >>> runs["deviation"] = 5.0 / runs["D"] + np.random.default_rng(0).normal(0.0, 1e-3, 20)
        >>> agreement_at_infinite_size(runs, by=["x"]).p_value > 0.05  # a deviation 5/D vanishes at infinite size
        True
    """
    table = deviations.pivot_table(index=[*by, "D"], columns="sample", values="deviation")
    lines = []
    for _, point in table.groupby(level=list(by)):
        D = point.index.get_level_values("D").to_numpy()
        if len(D) > 1:
            lines.append(np.linalg.pinv(np.column_stack([np.ones(len(D)), 1.0 / D]))[0] @ point.to_numpy())
    samples = np.array(lines).T
    return agreement([samples[~np.isnan(samples).any(1)]] if lines else [])
