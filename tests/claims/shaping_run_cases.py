"""Cases of the claims of the paper `shaping` about algorithms and their solutions."""

from __future__ import annotations

import numpy as np

from tests.claims.cases import Case, above, add, below, every, few, near, only, other_than, put, times

SHAPING_RUNS: dict[str, Case] = {}

SHAPING_RUNS["S02"] = Case(
    wrong={
        "converges above": put("belief_volume", "converged", 1.0, alpha=above(1.8)),
        "fails below": put("belief_volume", "converged", 0.0, alpha=near(1.7), sample=above(2)),
        "another entropy": add("belief_volume", "entropy", 0.02, alpha=near(1.0)),
    },
    small={
        "three samples": few("belief_volume"),
        "no load above": only("belief_volume", alpha=below(1.8)),
        "no load just below": only("belief_volume", alpha=lambda column: (column < 1.6) | (column > 1.8)),
        "small machines": put("belief_volume", "N", 99),
    },
    missing={
        "an entropy": put("belief_volume", "entropy", np.nan, alpha=near(1.0), sample=2),
        "the theory": only("typical_volume", alpha=below(1.3)),
    },
)
SHAPING_RUNS["S09"] = Case(
    wrong={
        "LAL solves more": every(
            put("capacities", "solved", 1.0, algorithm="lal"),
            put("capacities", "solved", 0.0, algorithm="fbp", alpha=above(2.0)),
        ),
        "SGD solves more than LAL": put("capacities", "solved", 1.0, algorithm="ce_fast", alpha=below(2.7)),
    },
    small={
        "three samples": few("capacities"),
        "no LAL": only("capacities", algorithm=other_than("lal")),
        "all solved": put("capacities", "solved", 1.0),
        "as many as LAL": put("capacities", "solved", lambda rows: (rows["alpha"] < 2.25) * 1.0, algorithm="ce_fast"),
    },
    missing={"an outcome": put("capacities", "solved", np.nan, algorithm="fbp", alpha=near(2.0), sample=1)},
)
SHAPING_RUNS["S09b"] = Case(
    wrong={"LAL ends early": put("capacities", "solved", 0.0, algorithm="lal", alpha=above(1.7))},
    small={
        "three samples": few("capacities"),
        "no LAL": only("capacities", algorithm=other_than("lal")),
        "all solved": put("capacities", "solved", 1.0),
        "LAL solves nothing": put("capacities", "solved", 0.0, algorithm="lal"),
    },
    missing={"an outcome": put("capacities", "solved", np.nan, algorithm="fbp", alpha=near(2.0), sample=1)},
)
at = {"distance": 0.01}
SHAPING_RUNS["S10"] = Case(
    wrong={
        "eLAL above fBP": times("tree_local_entropy", "entropy", 0.1, algorithm="elal", **at),
        "fast above slow": times("tree_local_entropy", "entropy", 0.5, algorithm="ce_fast", **at),
        "LAL above all": times("tree_local_entropy", "entropy", 0.01, algorithm="lal", **at),
    },
    small={
        "three samples": few("tree_local_entropy"),
        "no fBP": only("tree_local_entropy", algorithm=other_than("fbp")),
        "unsolved": put("tree_local_entropy", "solved", 0.0, algorithm="ce_slow", sample=above(3)),
        "not converged": put("tree_local_entropy", "converged", 0.0, algorithm="lal", distance=below(0.04)),
        "as wide": put(
            "tree_local_entropy", "entropy", lambda rows: -0.0205 + 0.01 * (-1.0) ** rows["sample"],
            algorithm="ce_fast", **at,
        ),
    },
    missing={"an entropy": put("tree_local_entropy", "entropy", np.nan, algorithm="lal", sample=3, **at)},
)  # fmt: skip
SHAPING_RUNS["S10b"] = Case(
    wrong={"an early crossing": times("tree_local_entropy", "entropy", 0.01, algorithm="lal", distance=0.12)},
    small={
        "three samples": few("tree_local_entropy"),
        "no large distances": only("tree_local_entropy", distance=below(0.25)),
    },
    missing={"an entropy": put("tree_local_entropy", "entropy", np.nan, algorithm="lal", sample=3, **at)},
)
SHAPING_RUNS["S11"] = Case(
    wrong={
        "more replicas are worse": times("replica_numbers_local_entropy", "entropy", 3.0, algorithm="elal_100", **at),
        "ten do not match": times("replica_numbers_local_entropy", "entropy", 1.5, algorithm="elal_10", **at),
        "far above fBP": put("replica_numbers_local_entropy", "entropy", 0.1, algorithm="elal_100", **at),
    },
    small={
        "three samples": few("replica_numbers_local_entropy"),
        "no hundred": only("replica_numbers_local_entropy", algorithm=other_than("elal_100")),
        "other distances": only("replica_numbers_local_entropy", distance=above(0.01)),
        "scatter": put(
            "replica_numbers_local_entropy", "entropy", lambda rows: -0.02 + 0.02 * (-1.0) ** rows["sample"],
            algorithm="elal_10", **at,
        ),
        "no change": put(
            "replica_numbers_local_entropy", "entropy", lambda rows: -0.0113 + 0.002 * (-1.0) ** rows["sample"],
            algorithm="elal_100", **at,
        ),
    },
    missing={"an entropy": put("replica_numbers_local_entropy", "entropy", np.nan, algorithm="elal_20", **at)},
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
        "no valid beta": put("tree_spectra", "quantity", "smallest_beta", rule="all"),
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
        "an eigenvalue": put("fashion_spectra", "value", np.nan, algorithm="lal", sample=2, rule="paper", **top),
        "a test error": put("fashion_solutions", "test_error", np.nan, algorithm="elal", sample=2),
    },
)
SHAPING_RUNS["S16"] = Case(
    wrong={
        "larger volumes": times("shuffled_local_entropy", "entropy", 0.1, algorithm="ce_slow", **at),
        "eLAL loses less": times("shuffled_local_entropy", "entropy", 3.0, algorithm="ce_fast", **at),
        "eLAL loses much": times("shuffled_local_entropy", "entropy", 3.0, algorithm="elal", **at),
        "all lose much": add("shuffled_local_entropy", "entropy", -0.2, **at),
    },
    small={
        "three samples": few("shuffled_local_entropy"),
        "no eLAL": only("fashion_local_entropy", algorithm=other_than("elal")),
        "other distances": only("shuffled_local_entropy", distance=above(0.01)),
        "not converged": put("shuffled_local_entropy", "converged", 0.0, algorithm="lal", sample=above(2), **at),
        "scatter": put(
            "shuffled_local_entropy", "entropy", lambda rows: -0.0005 + 5e-4 * (-1.0) ** rows["sample"],
            algorithm="ce_slow", **at,
        ),
    },
    missing={"an entropy": put("fashion_local_entropy", "entropy", np.nan, algorithm="lal", sample=3, **at)},
)  # fmt: skip
