"""Cases of the claims of the paper `shaping` about algorithms and their solutions."""

from __future__ import annotations

import numpy as np

from tests.claims.cases import Case, above, add, below, few, only, other_than, put, times

SHAPING_RUNS: dict[str, Case] = {}

at = {"distance": 0.01}
SHAPING_RUNS["S10"] = Case(
    wrong={
        "eLAL above fBP": times("tree_local_entropy", "entropy", 0.1, algorithm="elal", **at),
        "fast above slow": times("tree_local_entropy", "entropy", 0.5, algorithm="ce_fast", **at),
        "LAL above all": times("tree_local_entropy", "entropy", 0.01, algorithm="lal", **at),
        "an early crossing": times("tree_local_entropy", "entropy", 0.01, algorithm="lal", distance=0.12),
    },
    small={
        "three samples": few("tree_local_entropy"),
        "no fBP": only("tree_local_entropy", algorithm=other_than("fbp")),
        "unsolved": put("tree_local_entropy", "solved", 0.0, algorithm="ce_slow", sample=above(3)),
        "not converged": put("tree_local_entropy", "converged", 0.0, algorithm="lal", distance=below(0.04)),
        "no large distances": only("tree_local_entropy", distance=below(0.25)),
        "as wide": put(
            "tree_local_entropy", "entropy", lambda rows: -0.0205 + 0.01 * (-1.0) ** rows["sample"],
            algorithm="ce_fast", **at,
        ),
    },
    missing={"an entropy": put("tree_local_entropy", "entropy", np.nan, algorithm="lal", sample=3, **at)},
)  # fmt: skip
SHAPING_RUNS["S12"] = Case(
    wrong={
        "LAL is slower": add("tree_solutions", "iterations", 40, algorithm="lal"),
        "ceSGD-slow is slower": add("tree_solutions", "iterations", 300, algorithm="ce_slow"),
        "eLAL is faster": add("tree_solutions", "iterations", -800, algorithm="elal"),
    },
    small={
        "three samples": few("tree_solutions"),
        "smaller machines": put("tree_solutions", "units", 3),
        "another load": put("tree_solutions", "P", 900),
        "unsolved": put("tree_solutions", "solved", 0.0, algorithm="ce_fast", sample=above(3)),
    },
    missing={"an end": put("tree_solutions", "iterations", np.nan, algorithm="elal", sample=0)},
)
SHAPING_RUNS["S13"] = Case(
    wrong={
        "LAL is slower": add("fashion_solutions", "iterations", 60, algorithm="lal"),
        "ceSGD-slow is slower": add("fashion_solutions", "iterations", 200, algorithm="ce_slow"),
    },
    small={
        "three samples": few("fashion_solutions"),
        "smaller machines": put("fashion_solutions", "units", 3),
        "unsolved": put("fashion_solutions", "solved", 0.0, algorithm="elal", sample=above(3)),
    },
    missing={"an end": put("fashion_solutions", "iterations", np.nan, algorithm="ce_fast", sample=0)},
)
top = {"quantity": "largest_eigenvalue"}
SHAPING_RUNS["S14"] = Case(
    wrong={
        "LAL is narrower": times("tree_spectra", "value", 0.5, algorithm="lal", rule="all", **top),
        "fBP is wider": times("tree_spectra", "value", 1.2, algorithm="fbp", rule="without_lal", **top),
    },
    small={
        "three samples": few("tree_spectra"),
        "one rule": only("tree_spectra", rule="all"),
        "no eLAL": only("tree_spectra", algorithm=other_than("elal")),
        "as wide": put(
            "tree_spectra", "value", lambda rows: 55.0 + (-1.0) ** rows["sample"], algorithm="elal", rule="all", **top
        ),
    },
    missing={"one value": put("tree_spectra", "value", np.nan, algorithm="ce_fast", rule="all", sample=2, **top)},
)
SHAPING_RUNS["S15"] = Case(
    wrong={
        "no correlation": put("fashion_solutions", "test_error", lambda rows: 0.1 + 0.01 * (rows["sample"] % 5)),
        "the other way": put("fashion_solutions", "test_error", lambda rows: 0.5 - rows["test_error"]),
    },
    small={
        "three samples": few("fashion_solutions"),
        "no eLAL": only("fashion_spectra", algorithm=other_than("elal")),
        "unsolved": put("fashion_solutions", "solved", 0.0, algorithm="lal", sample=above(3)),
        "another rule": put("fashion_spectra", "rule", "without_lal"),
    },
    missing={
        "an eigenvalue": put("fashion_spectra", "value", np.nan, algorithm="lal", sample=2, **top),
        "a test error": put("fashion_solutions", "test_error", np.nan, algorithm="elal", sample=2),
    },
)
