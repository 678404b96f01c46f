"""What may differ between the committed numbers of the smoke figures, `tests/golden/`, and those computed here.

Theory, solvers with integer states and minima of convex risks give the same numbers everywhere, to rounding. Networks
trained by PyTorch, descent in rough landscapes, and messages near the threshold take another way on another processor:
they end up elsewhere within the errors. Those errors are of few samples, so a few points lie further out. Which
numbers of a paper are of this kind is said in `tests/golden/<paper>/trained.yaml`; a paper without this file has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from localentropy.claims.claim import Claim
from localentropy.commands.diff import compare
from localentropy.pipeline.config import split_target

GOLDEN = Path(__file__).parents[1] / "golden"
SAME = 1e-5
"""Exact numbers without an error may move by this part of themselves: curves end where they are hard to follow."""
SAME_ERRORS = 1e-4
"""Exact numbers with an error may move by this part of it."""
FAR_OUT = 0.1
"""Share of trained points that may move by more than three standard errors, appear or vanish."""
FAR_OUT_OF_ONE = 0.5
"""The same share of one series of three points or more. None may appear or vanish as a whole."""


@cache
def trained(paper: str) -> dict[str, Any]:
    """What is trained in a paper: `figures`, `single_runs` and `experiments`."""
    file = GOLDEN / paper / "trained.yaml"
    said = yaml.safe_load(file.read_text()) if file.exists() else {}
    return {"figures": {}, "single_runs": {}, "experiments": []} | said


def difference(target: str, golden: pd.DataFrame, fresh: pd.DataFrame) -> str | None:
    """What is wrong with freshly computed numbers of a figure, in words; None where nothing is."""
    paper, figure = split_target(target)
    single = [t["panel"].isin(trained(paper)["single_runs"].get(figure, ())) for t in (golden, fresh)]
    counts = [t[at].groupby(["panel", "series"]).size() for t, at in zip((golden, fresh), single, strict=True)]
    if not counts[0].equals(counts[1]):
        return "other numbers of points of single runs"
    golden, fresh = golden[~single[0]], fresh[~single[1]]
    starts = tuple(trained(paper)["figures"].get(figure, ()))
    moves = [t["series"].str.startswith(starts) if starts else t["series"].isna() for t in (golden, fresh)]
    exact = compare(target, golden[~moves[0]], fresh[~moves[1]], SAME_ERRORS, SAME)
    if not exact.same:
        return f"{exact.only_a} rows lost, {exact.only_b} new, {exact.beyond} moved; most: {exact.worst}"
    noisy = compare(target, golden[moves[0]], fresh[moves[1]])
    far = noisy.only_a + noisy.only_b + noisy.beyond
    if far > FAR_OUT * (noisy.rows + noisy.only_a):
        return f"{far} trained points of {noisy.rows} moved, were lost or are new; most: {noisy.worst}"
    old, new = (dict(iter(t[at].groupby(["panel", "series"]))) for t, at in zip((golden, fresh), moves, strict=True))
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
    exact = [key for key in old.keys() & new.keys() if not any(map(_is_trained, claims[key].arguments.values()))]
    return lost + [f"{key}: {old[key]} → {new[key]}" for key in sorted(exact) if old[key] != new[key]]


def _is_trained(experiment: str) -> bool:
    paper, _, name = experiment.partition("/")
    return name in trained(paper)["experiments"]
