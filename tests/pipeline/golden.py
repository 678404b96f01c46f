"""What may differ between the committed numbers of the smoke figures, `tests/golden/`, and those computed here.

Theory, solvers with integer states and minima of convex risks give the same numbers everywhere, to rounding. Networks
trained by PyTorch, descent in rough landscapes, and messages near the threshold take another way on another processor:
they end up elsewhere within the errors. Those errors are of few samples, so a few points lie further out.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.claims.claim import Claim
from localentropy.commands.diff import compare

TRAINED: dict[str, str | tuple[str, ...]] = {
    "figure1": ("binarynet", "focusing_bp"),
    "figure2": ("binarynet", "focusing_bp"),
    "figure5": "",
    "figure6": "",
    "figure7": "",
    "figure13": "belief_propagation",
    "figure14": "",
    "margins_figure3": "focusing BP",
    "shaping_figure1": "fBP",
    "shaping_figure4": "",
    "shaping_figure5": "",
    "shaping_figure6": "",
    "shaping_s2": "",
    "shaping_s3": "",
    "shaping_s6": ("BP", "fbp", "elal", "ce_fast", "ce_slow", "lal"),
    "glm_binary": "AMP",
    "glm_phase_retrieval": ("AMP", "fraction of successes", "test_error", "loss"),
}
"""Figure → how the names of its trained series begin; nothing stands for all of them."""
SINGLE_RUNS = {"shaping_figure5": ("a", "b"), "shaping_figure6": ("b",), "shaping_s2": ("b",)}
"""Figure → panels of single trained runs, without errors: only the number of points of each series is held."""
EXPERIMENTS = {
    "overparam/solve_binarynet",
    "overparam/solve_focusing_bp",
    "overparam/solve_belief_propagation",
    "overparam/two_level_amp",
    "overparam/committee_focusing_bp",
    "overparam/committee_sgd",
    "overparam/mlp",
    "overparam/cnn",
    "margins/local_entropy",
    "shaping/tree_solutions",
    "shaping/tree_local_entropy",
    "shaping/tree_spectra",
    "shaping/fashion_solutions",
    "shaping/fashion_local_entropy",
    "shaping/fashion_spectra",
    "shaping/fashion_noise",
    "shaping/shuffled_solutions",
    "shaping/shuffled_local_entropy",
    "shaping/shuffled_spectra",
    "shaping/shuffled_noise",
    "shaping/belief_volume",
    "shaping/capacities",
    "shaping/replica_numbers_local_entropy",
    "shaping/units3_local_entropy",
    "glm/amp_binary",
    "glm/amp_phase_retrieval",
    "glm/descent",
}
"""Experiments that train, or pass messages, and those on their solutions."""
SAME = 1e-5
"""Exact numbers without an error may move by this part of themselves: curves end where they are hard to follow."""
SAME_ERRORS = 1e-4
"""Exact numbers with an error may move by this part of it."""
FAR_OUT = 0.1
"""Share of trained points that may move by more than three standard errors, appear or vanish."""
FAR_OUT_OF_ONE = 0.5
"""The same share of one series of three points or more. None may appear or vanish as a whole."""


def difference(target: str, golden: pd.DataFrame, fresh: pd.DataFrame) -> str | None:
    """What is wrong with freshly computed numbers of a figure, in words; None where nothing is."""
    single = [t["panel"].isin(SINGLE_RUNS.get(target, ())) for t in (golden, fresh)]
    counts = [t[at].groupby(["panel", "series"]).size() for t, at in zip((golden, fresh), single, strict=True)]
    if not counts[0].equals(counts[1]):
        return "other numbers of points of single runs"
    golden, fresh = golden[~single[0]], fresh[~single[1]]
    start = TRAINED.get(target)
    trained = [t["series"].str.startswith(start) if start is not None else t["series"].isna() for t in (golden, fresh)]
    exact = compare(target, golden[~trained[0]], fresh[~trained[1]], SAME_ERRORS, SAME)
    if not exact.same:
        return f"{exact.only_a} rows lost, {exact.only_b} new, {exact.beyond} moved; most: {exact.worst}"
    noisy = compare(target, golden[trained[0]], fresh[trained[1]])
    far = noisy.only_a + noisy.only_b + noisy.beyond
    if far > FAR_OUT * (noisy.rows + noisy.only_a):
        return f"{far} trained points of {noisy.rows} moved, were lost or are new; most: {noisy.worst}"
    old, new = (dict(iter(t[at].groupby(["panel", "series"]))) for t, at in zip((golden, fresh), trained, strict=True))
    if old.keys() != new.keys():
        return f"trained series on one side only: {', '.join(map(' '.join, sorted(old.keys() ^ new.keys())))}"
    for name, rows in old.items():
        own = compare(target, rows, new[name])
        if len(rows) >= 3 and own.only_a + own.only_b + own.beyond > FAR_OUT_OF_ONE * len(rows):
            return f"{' '.join(name)}: most of its {len(rows)} points moved; most: {own.worst}"
    return None


def verdict_differences(golden: pd.DataFrame, fresh: pd.DataFrame, claims: Mapping[str, Claim]) -> list[str]:
    """Claims with another verdict, but for those on trained networks; claims on one side only.

    Args:
        golden: columns id, verdict.
        fresh: the same of the scorecard made here.
        claims: every claim, by id.
    """
    old, new = (dict(zip(card["id"], card["verdict"], strict=True)) for card in (golden, fresh))
    lost = [f"{key}: on one side only" for key in sorted(old.keys() ^ new.keys())]
    exact = [key for key in old.keys() & new.keys() if EXPERIMENTS.isdisjoint(claims[key].arguments.values())]
    return lost + [f"{key}: {old[key]} → {new[key]}" for key in sorted(exact) if old[key] != new[key]]
