"""Claims about the Franz–Parisi entropy around typical solutions (figures 3, 4, 6 and 7)."""

from __future__ import annotations

import pandas as pd

from localentropy.analysis.local_entropy import LARGE_DEVIATIONS
from localentropy.claims.curves import isolation, smallest_slope, up_to_maximum
from localentropy.claims.finding import Bounds, Finding, Untestable, largest, numbers, smallest

INDISTINGUISHABLE = 0.01
"""Part of the entropy of all configurations that may be missing next to a reference."""
SMALL = 1e-3
"""Distances up to this are small."""
UNSTABLE = "unstable"
"""Curves where the replicon exceeds 1, on which the search for two overlaps is tried."""
SLIGHTLY, MUCH = 0.05, 0.1
"""A threshold is slightly below another by less than this; it is much lower by more than this part of the other."""


def zero_margin_is_isolated(franz_parisi_text: pd.DataFrame) -> Finding:
    """No other solutions next to typical ones of κ̃ = 0, at any α."""
    t = franz_parisi_text
    return isolation(t[(t["curve"] == "isolated") & (t["margin_ref"] == 0) & (t["margin"] == 0)], "alpha", "α")


def margins_are_surrounded(franz_parisi: pd.DataFrame) -> Finding:
    """Next to every reference of positive margin almost all configurations are solutions."""
    bound = franz_parisi[franz_parisi["curve"] == "bound"].set_index("distance")["entropy"]
    rows = _positive_margins(franz_parisi)
    entropies = rows.pivot(index="distance", columns="margin_ref", values="entropy").sort_index()
    if entropies.empty or bound.empty or entropies.index[0] > SMALL:
        raise Untestable("curves around references of positive margin and all configurations at d ≤ 10⁻³ needed")
    deficits = 1.0 - entropies.div(bound.reindex(entropies.index), axis=0)
    nearest = deficits.iloc[0]
    widest = largest(deficits.loc[:SMALL, deficits.columns.max()])
    value = largest([largest(nearest), widest])
    detail = (
        f"at d = {deficits.index[0]:g}: {numbers(nearest, '.2g')} for κ̃ = {numbers(nearest.index)}; at most "
        f"{widest:.2g} for κ̃ = {deficits.columns.max():.4f} up to d = {SMALL:g}"
    )
    quantity = "largest 1 − φ_FP/H₂(d) next to d = 0, and up to 10⁻³ for the largest margin, < 0.01"
    return Finding.of_theory(quantity, value, value < INDISTINGUISHABLE, detail, Bounds(upper=INDISTINGUISHABLE))


def phases_are_in_order(franz_parisi: pd.DataFrame, dense_regions: pd.DataFrame) -> Finding:
    """κ_min < κ_u < κ_max, and the curves of references between them are as the text says."""
    p = franz_parisi.attrs["parameters"]
    models = dense_regions.attrs["parameters"]["ensembles"]
    ours = dense_regions["ensemble"].map(models) == p["ensemble"]
    here = dense_regions[ours & (dense_regions["alpha"] == p["alpha"])]
    at = here.drop_duplicates("line").set_index("line")["margin"]
    if set(at.index) != {"kappa_min", "kappa_u", "kappa_max"}:
        raise Untestable(f"κ_min, κ_u and κ_max at α = {p['alpha']:g} needed")
    found: dict[str, list[bool]] = {"shell": [], "dip": [], "dense": []}
    for margin, curve in _positive_margins(franz_parisi).groupby("margin_ref"):
        entropies = curve.sort_values("distance")["entropy"]
        positive, rising = smallest(entropies) > 0, smallest_slope(curve) > 0
        if margin < at["kappa_min"]:
            found["shell"].append(entropies.iloc[0] > 0 and bool((entropies < 0).any()))
        elif margin < at["kappa_u"]:
            found["dip"].append(positive and bool((up_to_maximum(curve)["slope"] < 0).any()))
        else:
            found["dense"].append(positive and rising)
    ordered = 0 < at["kappa_min"] < at["kappa_u"] < at["kappa_max"]
    if ordered and not all(found.values()):
        raise Untestable("a reference in each of (0, κ_min), (κ_min, κ_u) and (κ_u, κ_max] needed")
    wrong = [name for name, right in found.items() if not all(right)]
    detail = (
        f"at α = {p['alpha']:g}, κ_min, κ_u, κ_max: {numbers(at[['kappa_min', 'kappa_u', 'kappa_max']], '.5f')}; "
        + (f"against the claim: {', '.join(wrong)}" if wrong else f"{sum(map(len, found.values()))} curves as claimed")
    )
    lowest = float(at["kappa_min"])
    quantity = "κ_min, < κ_u < κ_max; negative in a shell, with a dip, growing on either side"
    return Finding.of_theory(quantity, lowest, bool(ordered and not wrong), detail, Bounds(0.0, at["kappa_u"]))


def same_margin_is_isolated(franz_parisi: pd.DataFrame, franz_parisi_text: pd.DataFrame) -> Finding:
    """Typical solutions of one margin are isolated from each other."""
    curves = pd.concat([franz_parisi, franz_parisi_text])
    curves = curves[(curves["curve"] == "same_margin") & (curves["margin"] == curves["margin_ref"])]
    return isolation(curves, "margin_ref", "κ = κ̃")


def threshold_is_near_large_deviations(franz_parisi_text: pd.DataFrame, dense_regions: pd.DataFrame) -> Finding:
    """α'_LE, the largest α with a monotonic curve, is slightly smaller than the threshold of large deviations."""
    threshold = _local_entropy_thresholds(dense_regions).get("perceptron")
    if threshold is None or franz_parisi_text.attrs["parameters"]["ensemble"] != {"model": "perceptron"}:
        raise Untestable("curves of the perceptron and its threshold needed")
    turns, slopes = _monotonic_below(franz_parisi_text[franz_parisi_text["curve"] == "threshold"], threshold)
    below = LARGE_DEVIATIONS - threshold
    detail = f"{below:.3f} below {LARGE_DEVIATIONS}; {slopes}"
    quantity = f"α'_LE, less than {SLIGHTLY} below {LARGE_DEVIATIONS}; monotonic below it and not above"
    bounds = Bounds(LARGE_DEVIATIONS - SLIGHTLY, LARGE_DEVIATIONS)
    return Finding.of_theory(quantity, threshold, turns and 0 < below < SLIGHTLY, detail, bounds)


def sign_units_have_a_much_lower_threshold(dense_regions: pd.DataFrame) -> Finding:
    """α'_LE of the tree committee of sign units is much lower than that of ReLU units."""
    thresholds = _local_entropy_thresholds(dense_regions)
    if not {"sign", "relu"} <= set(thresholds):
        raise Untestable("the thresholds of sign and of ReLU units needed")
    ratio = thresholds["sign"] / thresholds["relu"]
    detail = ", ".join(f"{name}: {value:.7f}" for name, value in thresholds.items())
    bound = 1.0 - MUCH
    quantity = f"α'_LE of sign units over that of ReLU units, < {bound:g}"
    return Finding.of_theory(quantity, ratio, ratio < bound, detail, Bounds(upper=bound))


def _local_entropy_thresholds(dense_regions: pd.DataFrame) -> dict[str, float]:
    """Model → α'_LE, the end of its line of κ_u. A tree committee is called as its units."""
    ends = dense_regions[dense_regions["end"] & (dense_regions["line"] == "kappa_u")].set_index("ensemble")["alpha"]
    models = dense_regions.attrs["parameters"]["ensembles"]
    return {models[name].get("activation", models[name]["model"]): float(value) for name, value in ends.items()}


def one_step_gives_one_overlap(franz_parisi: pd.DataFrame, one_step: pd.DataFrame) -> Finding:
    """q₁ = q₀ in the search, λ < 1 on the plotted curves where φ_FP ≥ 0, and q₁ > q₀ is found where λ > 1.

    Where φ_FP < 0 the text itself calls the ansatz incorrect.
    """
    searched = one_step[one_step["curve"] != UNSTABLE]
    control = one_step[(one_step["curve"] == UNSTABLE) & (one_step["replicon"] > 1)]
    plotted = franz_parisi[(franz_parisi["curve"] != "bound") & franz_parisi["entropy"].notna()]
    if searched.empty or plotted.empty or not (control["q1"] > control["q0"]).any():
        raise Untestable("plotted curves needed, a search along them, and one that finds q₁ > q₀ where λ > 1")
    replicon = largest([*searched["replicon"], *plotted.loc[plotted["entropy"] >= 0, "replicon"]])
    apart = largest(searched["q1"] - searched["q0"])
    blocks = ", ".join(sorted(control.loc[control["q1"] > control["q0"], "blocks"].unique()))
    beyond = plotted[(plotted["entropy"] < 0) & (plotted["replicon"] > 1)]
    farthest = beyond.groupby(["margin_ref", "margin"])["distance"].max().reset_index().to_numpy()
    ends = [f"κ̃ = {ref:g}, κ = {own:g} up to d = {d:.2g}" for ref, own, d in farthest]
    detail = (
        f"largest q₁ − q₀: {apart:g} on {len(searched[['alpha', 'reference']].drop_duplicates())} curves; at "
        f"α = {numbers(control['alpha'].unique())}, where λ is up to {control['replicon'].max():.3f}, the search finds "
        f"q₁ > q₀ in blocks of m = {blocks}; not searched, λ > 1 with φ_FP < 0: {'; '.join(ends) or 'nowhere'}"
    )
    quantity = "largest λ on the plotted curves where φ_FP ≥ 0, < 1; q₁ = q₀ where it was searched"
    return Finding.of_theory(quantity, replicon, replicon < 1 and apart == 0, detail, Bounds(upper=1.0))


def planted_threshold_is_slightly_below(dense_regions: pd.DataFrame) -> Finding:
    """Only one of the two thresholds that the text compares is computed here."""
    threshold = _local_entropy_thresholds(dense_regions).get("teacher_student")
    if threshold is None:
        raise Untestable("the threshold of the planted perceptron needed")
    quantity = "α'_LE of the planted perceptron, below the threshold of large deviations"
    return Finding.untestable(quantity, f"needs a large-deviation calculation; α'_LE = {threshold:.5f}")


def planted_model_has_such_a_threshold(planted: pd.DataFrame, dense_regions: pd.DataFrame) -> Finding:
    """In the planted perceptron too the curve of the largest margin is monotonic up to an α'_LE below α_c."""
    threshold = _local_entropy_thresholds(dense_regions).get("teacher_student")
    ends = dense_regions[dense_regions["end"] & (dense_regions["line"] == "kappa_max")]
    capacity = ends.loc[ends["ensemble"] == "planted", "alpha"]
    if threshold is None or capacity.empty or planted.attrs["parameters"]["ensemble"] != {"model": "teacher_student"}:
        raise Untestable("curves of the planted perceptron and its thresholds needed")
    turns, slopes = _monotonic_below(planted[planted["curve"] == "max_margin"], threshold)
    alpha_c = float(capacity.iloc[0])
    detail = f"α_c = {alpha_c:.7f}; {slopes}"
    quantity = "α'_LE of the planted perceptron, < α_c; monotonic below it and not above"
    return Finding.of_theory(quantity, threshold, turns and 0 < threshold < alpha_c, detail, Bounds(0.0, alpha_c))


def _positive_margins(franz_parisi: pd.DataFrame) -> pd.DataFrame:
    """Curves of solutions of margin 0 around references of positive margin, at the α of the section."""
    t, alpha = franz_parisi, franz_parisi.attrs["parameters"]["alpha"]
    return t[(t["curve"] == "reference") & (t["margin_ref"] > 0) & (t["margin"] == 0) & (t["alpha"] == alpha)]


def _monotonic_below(curves: pd.DataFrame, threshold: float) -> tuple[bool, str]:
    """Whether curves around references of largest margin grow up to their maximum below a threshold in α and not above.

    Returns:
        whether they do, and the slopes.
    """
    curves = curves[(curves["reference"] == "max") & (curves["margin"] == 0)]
    slopes = pd.Series({at: smallest_slope(curve) for at, curve in curves.groupby("alpha")}).sort_index()
    if not (slopes.index < threshold).any() or not (slopes.index > threshold).any():
        raise Untestable("curves on both sides of α'_LE needed")
    turns = bool((slopes[slopes.index < threshold] > 0).all() and (slopes[slopes.index > threshold] < 0).all())
    return turns, "smallest slopes " + ", ".join(f"{slope:.4f} at α = {at:.4f}" for at, slope in slopes.items())
