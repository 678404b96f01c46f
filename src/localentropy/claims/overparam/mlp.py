"""Claims about multi-layer perceptrons from two initializations (figure 6)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.claims.finding import Finding, Untestable, largest, numbers
from localentropy.errors import DomainError
from localentropy.landscape.pairs import pair_mean

STARTS = ("random_orthogonal", "adversarial")


def thresholds_and_plateaus_differ(mlp: pd.DataFrame) -> Finding:
    """The initializations have different thresholds and different plateaus of the test error."""
    solved = _solved(mlp)
    # Pooled over widths: k of n networks from either start; the hypergeometric variance at each width.
    n = solved.map(len)
    k = solved.map(np.sum)
    total, both = n.sum(axis=1), k.sum(axis=1)
    expected = n["adversarial"] * both / total
    variance = n["adversarial"] * n["random_orthogonal"] * both * (total - both) / (total**2 * (total - 1))
    fewer = float((expected - k["adversarial"]).sum() / np.sqrt(variance.sum())) if variance.sum() > 0 else np.nan
    errors = mlp[mlp["quantity"] == "test_error"].groupby(["initialization", "width"])["value"].agg(["mean", "sem"])
    if n.to_numpy().min() < 2 or len(n) < 2:
        raise Untestable("two widths and two networks of each needed")
    widest = int(mlp["width"].max())
    plain, adverse = errors.loc[(STARTS[0], widest)], errors.loc[(STARTS[1], widest)]
    worse = float((adverse["mean"] - plain["mean"]) / np.hypot(adverse["sem"], plain["sem"]))
    firsts = ", ".join(f"{start} {_parameters(mlp, _first_solved(solved[start]))}" for start in STARTS)
    previous = errors.loc[STARTS[1]]["mean"].iloc[-2]
    detail = (
        f"test error at width {widest}: {adverse['mean']:.4f} against {plain['mean']:.4f} (z = {worse:.1f}; at the "
        f"width before: {previous:.4f}); parameters from which on all networks solve: {firsts}"
    )
    quantity = "z of fewer networks solved from adversarial starts, > 2, and worse at the largest width by 2σ"
    if not np.isfinite(fewer):
        return Finding.untestable(quantity, f"no width where some networks solve and some do not; {detail}")
    return Finding(quantity, fewer, bool(fewer > 2 and worse > 2), detail)


def overlap_below_one(mlp: pd.DataFrame) -> Finding:
    """Where all networks first solve, their overlap is below 1 and above that of aligned untrained networks."""
    solved = _solved(mlp)
    quantity = "largest overlap + 3 SE at the first width where all solve, < 1, and overlap − 3 SE above untrained"
    tops, above, words = [], [], []
    for start in STARTS:
        width = _first_solved(solved[start])
        if width is None:
            return Finding.untestable(quantity, f"{start}: no width where all networks solve")
        trained, error = _overlap(mlp, "overlap", start, width)
        untrained, noise = _overlap(mlp, "overlap_untrained", start, width)
        tops.append(trained + 3 * error)
        above.append(trained - untrained > 3 * np.hypot(error, noise))
        words.append(
            f"{start}, width {width}: {trained:.3f} ± {error:.3f} against {untrained:.3f} ± {noise:.3f} untrained"
        )
    top = largest(tops)
    return Finding(quantity, top, bool(top < 1 and all(above)), "; ".join(words))


def solutions_grow_apart(mlp: pd.DataFrame) -> Finding:
    """The overlap falls with the width, flattens, and stays above that of aligned untrained networks."""
    quantity = "z of the last step of the overlap, |z| < 2 after a fall, above untrained"
    solved = _solved(mlp)
    scores, holds, words = [], True, []
    for start in STARTS:
        first = _first_solved(solved[start])
        widths = [width for width in solved.index if first is not None and width >= first]
        if len(widths) < 3:
            return Finding.untestable(quantity, f"{start}: fewer than three widths where all networks solve")
        values, errors = np.array([_overlap(mlp, "overlap", start, width) for width in widths]).T
        untrained, noise = _overlap(mlp, "overlap_untrained", start, widths[-1])
        scores.append(float((values[-1] - values[-2]) / np.hypot(errors[-1], errors[-2])))
        fell = (values[0] - values[-1]) > 2 * np.hypot(errors[0], errors[-1])
        holds &= bool(fell and abs(scores[-1]) < 2 and values[-1] - untrained > 2 * np.hypot(errors[-1], noise))
        words.append(f"{start}: {numbers(values, '.3f')} at widths {numbers(widths, '.0f')}, untrained {untrained:.3f}")
    return Finding(quantity, max(scores, key=abs), holds, "; ".join(words))


def wide_minima_are_flatter(mlp: pd.DataFrame) -> Finding:
    """Solutions withstand noise even near the threshold, and more so when they are wider."""
    quantity = (
        "slope of E(d) at d = 0, first width where all solve, in standard errors, < 2, and E < 0.01 at the smallest "
        "noise; lower E at the largest width"
    )
    solved = _solved(mlp)
    scores, holds, words = [], True, []
    for start in STARTS:
        first = _first_solved(solved[start])
        if first is None or first == mlp["width"].max():
            return Finding.untestable(quantity, f"{start}: no width where all networks solve below the largest")
        slope, error = initial_slope(_profiles(mlp, start, first))
        near, wide = (_profiles(mlp, start, width).groupby("sigma").mean() for width in (first, mlp["width"].max()))
        d = float(min(near["distance"].max(), 0.2))
        sharp, flat = (float(np.interp(d, p["distance"], p["energy"])) for p in (near, wide))
        scores.append(slope / error)
        holds &= scores[-1] < 2 and float(near["energy"].iloc[1]) < 0.01 and flat < sharp
        words.append(
            f"{start}: slope {slope:.3f} ± {error:.3f}; E({d:.1f}) = {sharp:.3f}, {flat:.3f} at the largest width"
        )
    return Finding(quantity, largest(scores), holds, "; ".join(words))


def initial_slope(profiles: pd.DataFrame, points: int = 4) -> tuple[float, float]:
    """Slope at zero distance and its error over samples: E = a d + b d² through each sample's first points.

    Raises:
        Untestable: fewer than two samples, or fewer than two points with noise.
    """
    if profiles["sample"].nunique() < 2 or profiles["sigma"].nunique() < 3:
        raise Untestable("perturbed solutions of two networks at two levels of noise needed")
    slopes = []
    for _, profile in profiles.groupby("sample"):
        near = profile.sort_values("distance").iloc[1 : points + 1]
        basis = np.stack([near["distance"], near["distance"] ** 2], axis=1)
        slopes.append(float(np.linalg.lstsq(basis, near["energy"].to_numpy(), rcond=None)[0][0]))
    return float(np.mean(slopes)), float(np.std(slopes, ddof=1) / np.sqrt(len(slopes)))


def first_solved_parameters(mlp: pd.DataFrame) -> dict[str, int]:
    """Start → number of parameters of the first width from which on all networks solve."""
    solved = _solved(mlp)
    firsts = {start: _parameters(mlp, _first_solved(solved[start])) for start in STARTS}
    return {start: number for start, number in firsts.items() if number is not None}


def _solved(mlp: pd.DataFrame) -> pd.DataFrame:
    """Width × initialization: which networks make no train error.

    Raises:
        Untestable: an initialization has no networks.
    """
    rows = mlp[mlp["quantity"] == "train_error"]
    absent = set(STARTS) - set(rows["initialization"])
    if absent:
        raise Untestable(f"no networks from {', '.join(sorted(absent))} starts")
    return rows.groupby(["width", "initialization"])["value"].agg(lambda v: v.to_numpy() == 0.0).unstack()


def _first_solved(solved: pd.Series) -> int | None:
    """The smallest width from which on every network solves."""
    first = None
    for width, networks in solved.sort_index(ascending=False).items():
        if not np.all(networks):
            break
        first = int(width)  # type: ignore[call-overload]
    return first


def _parameters(mlp: pd.DataFrame, width: int | None) -> int | None:
    return None if width is None else int(mlp.loc[mlp["width"] == width, "parameters"].iloc[0])


def _overlap(mlp: pd.DataFrame, quantity: str, start: str, width: int) -> tuple[float, float]:
    rows = mlp[(mlp["quantity"] == quantity) & (mlp["initialization"] == start) & (mlp["width"] == width)]
    rows = rows[rows["layer"].isna()]
    try:
        return pair_mean(rows["sample"], rows["other"], rows["value"])
    except DomainError as error:
        raise Untestable(str(error)) from None


def _profiles(mlp: pd.DataFrame, start: str, width: int) -> pd.DataFrame:
    """Local energies of every sample: columns sample, sigma, distance, energy."""
    rows = mlp[(mlp["initialization"] == start) & (mlp["width"] == width)]
    columns = {"noise_distance": "distance", "noise_train_error": "energy"}
    rows = rows[rows["quantity"].isin(columns)]
    table = rows.pivot(index=["sample", "sigma"], columns="quantity", values="value").rename(columns=columns)
    return table.reset_index()
