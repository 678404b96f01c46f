"""Claims about approximate message passing, of binary weights and of phase retrieval."""

from __future__ import annotations

import pandas as pd
from scipy.interpolate import PchipInterpolator

from localentropy.analysis.printed import PHASE_RETRIEVAL, PHASE_RETRIEVAL_AMP
from localentropy.analysis.runs import RECOVERED
from localentropy.claims.conditions import (
    FEWEST,
    Condition,
    Finding,
    Mean,
    Untestable,
    above,
    agree,
    all_of,
    below,
    largest,
    numbers,
    printed,
    require,
    smallest,
    undecided,
)
from localentropy.claims.glm.thresholds import transition

MARGIN = 0.05
"""Runs closer to a threshold than this part of it are not judged: their scatter is large."""
WITHIN = 0.02
"""An overlap agrees with theory within this part of the largest possible one, 1. Chosen here."""
SURE = 3.0
"""Standard errors by which units have specialized."""


def messages_follow_state_evolution(
    amp_binary: pd.DataFrame, bayes_binary: pd.DataFrame, transitions: pd.DataFrame
) -> Finding:
    """Below the algorithmic threshold mean overlaps follow state evolution; above it most runs find the teacher."""
    needed, threshold = (
        transition(transitions, "binary_perceptron", kind) for kind in ("information_theoretic", "algorithmic")
    )
    before, after = _sides(amp_binary, threshold)
    require(before.index.max() > needed, f"runs between {needed:.3f} and {threshold * (1 - MARGIN):.3f} needed")
    apart, told = _apart(before, bayes_binary)
    return all_of(
        *agree("overlap − state evolution, below the threshold", apart, WITHIN),
        *_found_above_only(before, after),
        detail=f"overlap (theory) at α = {told}; {_shares(before, after, threshold)}",
    )


def continuous_weights_follow_state_evolution(
    amp_perceptron: pd.DataFrame,
    bayes_perceptron: pd.DataFrame,
    amp_phase_retrieval: pd.DataFrame,
    bayes_phase_retrieval: pd.DataFrame,
    transitions: pd.DataFrame,
) -> Finding:
    """Mean overlaps follow state evolution for Gaussian weights: signs at all loads, absolute values below recovery."""
    ends = {kind: transition(transitions, "phase_retrieval", kind) for kind in ("weak", "algorithmic")}
    signs, values = _loads(amp_perceptron), _loads(amp_phase_retrieval)
    values = values[(values.index > ends["weak"] * (1 + MARGIN)) & (values.index < ends["algorithmic"] * (1 - MARGIN))]
    require(len(signs) > 1 and len(values) > 1, f"two loads with {FEWEST} runs of each channel needed")
    conditions: list[Condition] = []
    words = []
    for name, loads, line in (("signs", signs, bayes_perceptron), ("absolute values", values, bayes_phase_retrieval)):
        apart, told = _apart(loads, line)
        conditions += agree(f"overlap − state evolution, {name}", apart, WITHIN)
        words.append(f"{name}, overlap (theory) at α = {told}")
    return all_of(*conditions, detail="; ".join(words))


def messages_specialize_as_the_best_student(
    amp_committee: pd.DataFrame, bayes_committee_2: pd.DataFrame, transitions: pd.DataFrame
) -> Finding:
    """The mean units, the specialization and the error of message passing are those of the best student of two units.

    Above the load of specialization the units must have specialized. Below it the specialization is none.
    """
    load = transition(transitions, "committee_2", "algorithmic")
    runs = amp_committee[amp_committee["d"] == amp_committee["d"].max()]
    columns = {"overlap": "overlap", "specialization": "specialization", "error": "bayes_error"}
    require(runs[list(columns)].notna().all(axis=None), "a run without an overlap or an error")
    points = runs.groupby("alpha")[list(columns)].agg(["mean", "sem", "size"])
    points = points[(runs.groupby("alpha").size() >= FEWEST) & ((points.index / load - 1).map(abs) > MARGIN)]
    after = points[points.index > load]["specialization"]
    needed = f"two loads with {FEWEST} runs on each side of {load:.3f}, {MARGIN:.0%} away, needed"
    require(len(after) > 1 and len(points) - len(after) > 1, needed)
    line = bayes_committee_2.sort_values("alpha")
    require(line[list(columns.values())].notna().all(axis=None), "a number of theory is missing")
    conditions: list[Condition] = []
    words = []
    for column, name in columns.items():
        theory = PchipInterpolator(line["alpha"], line[name], extrapolate=False)(points.index)
        mean, error = points[column]["mean"], points[column]["sem"]
        judged, where = points.index > 0.0, ""
        if column == "specialization":
            judged, where = points.index > load, " above the load"
            none = largest(mean[points.index < load] - SURE * error[points.index < load])
            conditions.append(below(f"largest {column} − {SURE:g} SE below the load", none, WITHIN))
        apart = list(map(Mean, mean[judged] - theory[judged], error[judged], points[column]["size"][judged]))
        conditions += agree(f"{column} − theory{where}", apart, WITHIN)
        told = zip(points.index, mean, error, theory, strict=True)
        words.append(f"{column} (theory) " + ", ".join(f"{a:.3g}: {y:.3f} ± {e:.3f} ({m:.3f})" for a, y, e, m in told))
    least = after.loc[(after["mean"] / after["sem"]).idxmin()]
    name = f"least sure specialization above α = {load:.3f}"
    conditions.append(above(name, least["mean"], 0.0, least["sem"], by=SURE, or_open=True))
    return all_of(*conditions, detail="; ".join(words))


def _apart(loads: pd.DataFrame, bayes: pd.DataFrame) -> tuple[list[Mean], str]:
    """How far mean overlaps are from state evolution at each load, and the overlaps in words."""
    line = bayes[bayes["start"] == "uninformed"].drop_duplicates("alpha").sort_values("alpha")
    known = len(line) > 1 and line["overlap"].notna().all()
    require(known, "no line of the uninformed start, or an overlap on it is missing")
    theory = PchipInterpolator(line["alpha"], line["overlap"], extrapolate=False)(loads.index)
    return list(map(Mean, loads["overlap"] - theory, loads["error"], loads["runs"])), ", ".join(
        f"{alpha:.3g}: {row.overlap:.3f} ± {row.error:.3f} ({m:.3f})"
        for (alpha, row), m in zip(loads.iterrows(), theory, strict=True)
    )


def phase_retrieval_has_two_thresholds(transitions: pd.DataFrame, amp_phase_retrieval: pd.DataFrame) -> Finding:
    """The thresholds are the printed ones, and message passing finds the teacher above the second only."""
    needed, threshold = (
        transition(transitions, "phase_retrieval", kind) for kind in ("information_theoretic", "algorithmic")
    )
    theory = (
        printed("load above which the best student finds the teacher (theory)", needed, PHASE_RETRIEVAL),
        printed("load above which message passing finds the teacher (theory)", threshold, PHASE_RETRIEVAL_AMP),
        above("that load minus the load of the best student", threshold - needed, 0.0),
    )
    try:
        before, after = _sides(amp_phase_retrieval, threshold)
    except Untestable as reason:
        return all_of(*theory, undecided("share of the runs that find the teacher", str(reason)))
    return all_of(*theory, *_found_above_only(before, after), detail=_shares(before, after, threshold))


def _sides(runs: pd.DataFrame, threshold: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Loads of the largest size below and above a threshold, as `_loads`.

    Raises:
        Untestable: too few runs, none on one side, or a run without an outcome.
    """
    loads = _loads(runs)
    sides = loads[loads.index < threshold * (1 - MARGIN)], loads[loads.index > threshold * (1 + MARGIN)]
    needed = f"{FEWEST} runs at a load on each side of {threshold:.3f}, {MARGIN:.0%} away, needed"
    require(all(map(len, sides)), needed)
    return sides


def _loads(runs: pd.DataFrame) -> pd.DataFrame:
    """Loads of the largest size with enough runs: mean overlap, its error, share of recovered teachers.

    Raises:
        Untestable: a run without an outcome.
    """
    runs = runs[runs["d"] == runs["d"].max()]
    require(runs[["overlap", "cosine", "converged"]].notna().all(axis=None), "a run without an overlap")
    loads = (
        runs.assign(found=runs["cosine"].abs() > RECOVERED)
        .groupby("alpha")
        .agg(
            overlap=("overlap", "mean"),
            error=("overlap", "sem"),
            found=("found", "mean"),
            runs=("found", "size"),
            converged=("converged", "sum"),
        )
    )
    return loads[loads["runs"] >= FEWEST]


def _found_above_only(before: pd.DataFrame, after: pd.DataFrame) -> tuple[Condition, Condition]:
    found = f"share of the runs that find the teacher (cosine > {RECOVERED:g})"
    return (
        below(f"largest {found} below the threshold, by {MARGIN:.0%}", largest(before["found"]), 0.5),
        above(f"smallest {found} above it, by {MARGIN:.0%}", smallest(after["found"]), 0.5),
    )


def _shares(before: pd.DataFrame, after: pd.DataFrame, threshold: float) -> str:
    both = pd.concat([before, after])
    return (
        f"recovered {numbers(both['found'], '.2f')} at α = {numbers(both.index)}, threshold {threshold:.6f}; "
        f"{both['converged'].sum():.0f} of {both['runs'].sum():.0f} runs converged"
    )
