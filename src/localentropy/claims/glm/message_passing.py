"""Claims about approximate message passing, of binary weights and of phase retrieval."""

from __future__ import annotations

import pandas as pd
from scipy.interpolate import PchipInterpolator

from localentropy.analysis.printed_loads import PHASE_RETRIEVAL, PHASE_RETRIEVAL_AMP
from localentropy.analysis.solver_runs import RECOVERED
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, jointly, largest, numbers, printed
from localentropy.claims.glm.thresholds import transition

MARGIN = 0.05
"""Runs closer to a threshold than this part of it are not judged: their scatter is large."""
WITHIN, ERRORS = 0.02, 3.0
"""A mean overlap agrees with state evolution within this part and this many standard errors. Both chosen here."""


def messages_follow_state_evolution(
    amp_binary: pd.DataFrame, bayes_binary: pd.DataFrame, transitions: pd.DataFrame
) -> Finding:
    """Below the algorithmic threshold mean overlaps follow state evolution; above it most runs find the teacher."""
    needed, threshold = (
        transition(transitions, "binary_perceptron", kind) for kind in ("information_theoretic", "algorithmic")
    )
    below, above = _sides(amp_binary, threshold)
    if not below.index.max() > needed:
        raise Untestable(f"runs between {needed:.3f} and {threshold * (1 - MARGIN):.3f} needed")
    line = bayes_binary[bayes_binary["start"] == "uninformed"].drop_duplicates("alpha").sort_values("alpha")
    if len(line) < 2 or line["overlap"].isna().any():
        raise Untestable("no line of the uninformed start, or an overlap on it is missing")
    theory = PchipInterpolator(line["alpha"], line["overlap"], extrapolate=False)(below.index)
    off = below["overlap"] - theory
    worst = largest(off.abs() / (ERRORS * below["error"] + WITHIN * theory))
    told = ", ".join(
        f"{alpha:.3g}: {row.overlap:.3f} ± {row.error:.3f} ({m:.3f})"
        for (alpha, row), m in zip(below.iterrows(), theory, strict=True)
    )
    detail = f"overlap (theory) at α = {told}; {_shares(below, above, threshold)}"
    quantity = (
        f"largest |overlap − state evolution| / ({ERRORS:g} SE + {WITHIN:.0%}) below the algorithmic threshold, < 1; "
        f"fewer than half of the runs find the teacher (cosine > {RECOVERED:g}) below it, more above; {MARGIN:.0%} "
        "around it are left out"
    )
    holds = bool(worst < 1 and _found_above_only(below, above))
    return Finding(quantity, worst, holds, detail, bounds=Bounds(upper=1.0))


def phase_retrieval_has_two_thresholds(transitions: pd.DataFrame, amp_phase_retrieval: pd.DataFrame) -> Finding:
    """The thresholds are the printed ones, and message passing finds the teacher above the second only."""
    needed, threshold = (
        transition(transitions, "phase_retrieval", kind) for kind in ("information_theoretic", "algorithmic")
    )
    numbers_hold = needed == float(PHASE_RETRIEVAL) and printed(PHASE_RETRIEVAL_AMP).hold(threshold)
    quantity = (
        f"load (theory) above which message passing finds the teacher, {PHASE_RETRIEVAL_AMP} to the digits printed, "
        f"and {PHASE_RETRIEVAL} for the best student (derived by hand); fewer than half of the runs find it below "
        f"{PHASE_RETRIEVAL_AMP}, more above; {MARGIN:.0%} around it are left out"
    )
    detail = f"{needed:g} (exact, derived by hand) and {threshold:.6f}"
    try:
        below, above = _sides(amp_phase_retrieval, threshold)
    except Untestable as reason:
        runs_hold: bool | None = None
        detail += f"; runs: {reason}"
    else:
        runs_hold = _found_above_only(below, above)
        detail += f"; {_shares(below, above, threshold)}"
    return Finding(quantity, threshold, jointly(numbers_hold, runs_hold), detail, 0.0, printed(PHASE_RETRIEVAL_AMP))


def _sides(runs: pd.DataFrame, threshold: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Loads of the largest size below and above a threshold: mean overlap, its error, share of recovered teachers.

    Raises:
        Untestable: too few runs, none on one side, or a run without an outcome.
    """
    runs = runs[runs["d"] == runs["d"].max()]
    if runs[["overlap", "cosine", "converged"]].isna().any(axis=None):
        raise Untestable("a run without an overlap")
    groups = runs.assign(found=runs["cosine"].abs() > RECOVERED).groupby("alpha")
    loads = pd.DataFrame(
        {
            "overlap": groups["overlap"].mean(),
            "error": groups["overlap"].sem(),
            "found": groups["found"].mean(),
            "runs": groups.size(),
            "converged": groups["converged"].sum(),
        }
    )
    loads = loads[loads["runs"] >= FEWEST]
    below, above = loads[loads.index < threshold * (1 - MARGIN)], loads[loads.index > threshold * (1 + MARGIN)]
    if below.empty or above.empty:
        raise Untestable(f"{FEWEST} runs at a load on each side of {threshold:.3f}, {MARGIN:.0%} away, needed")
    return below, above


def _found_above_only(below: pd.DataFrame, above: pd.DataFrame) -> bool:
    return bool((below["found"] < 0.5).all() and (above["found"] > 0.5).all())


def _shares(below: pd.DataFrame, above: pd.DataFrame, threshold: float) -> str:
    both = pd.concat([below, above])
    return (
        f"recovered {numbers(both['found'], '.2f')} at α = {numbers(both.index, '.4g')}, threshold {threshold:.6f}; "
        f"{both['converged'].sum():.0f} of {both['runs'].sum():.0f} runs converged"
    )
