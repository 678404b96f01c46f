"""Cases of the claims of the paper `shaping` about annealing on the cross-entropy."""

from __future__ import annotations

import numpy as np

from tests.claims.cases import Case, below, every, few, only, other_than, put

SHAPING_ANNEALING: dict[str, Case] = {}

last = {"quantity": "train_error_last", "energy": "errors"}
SHAPING_ANNEALING["S08"] = Case(
    wrong={
        "few errors are left at one load": put("annealing", "value", 0.01, alpha=0.5, **last),
        "the cross-entropy is stuck too": put(
            "annealing", "value", 0.0, quantity="solved_once", energy="cross_entropy", alpha=0.6, sample=below(2)
        ),
    },
    small={
        "three instances": few("annealing"),
        "small instances": put("annealing", "N", 101),
        "small loads": only("annealing", alpha=below(0.5)),
        "one energy": only("annealing", energy="errors"),
        "near the bound": put("annealing", "value", lambda rows: 0.05 + 1e-3 * (-1.0) ** rows["sample"], **last),
    },
    missing={"one error": put("annealing", "value", np.nan, sample=3, alpha=0.4, **last)},
)
entropy = {"quantity": "local_entropy"}
SHAPING_ANNEALING["S17"] = Case(
    wrong={
        "the theory only rises": put("optimal_gamma", "entropy", lambda rows: np.log(10 * rows["gamma"]), alpha=0.6),
        "the theory only falls": put(
            "optimal_gamma", "entropy", lambda rows: 0.05 - 1e-4 * rows["gamma"], alpha=0.6, gamma=below(np.inf)
        ),
        "a narrow good range": put("optimal_gamma", "entropy", 0.02, gamma=other_than(3.0), distance=0.01),
        "annealing only falls": put(
            "optimal_gamma_annealing", "value", lambda rows: 1.0 / rows["gamma"] + 1e-3 * rows["sample"], **entropy
        ),
    },
    small={
        "three instances": few("optimal_gamma_annealing"),
        "two γ": only("optimal_gamma_annealing", gamma=lambda column: (column == 2.0) | (column == 3.0)),
        "noise": put(
            "optimal_gamma_annealing",
            "value",
            lambda rows: 0.05 + 0.01 * (-1.0) ** rows["sample"] * (rows["gamma"] - 2.0) + 1e-3 * (rows["gamma"] == 2.0),
            **entropy,
        ),
        "only around first solutions": only("optimal_gamma_annealing", quantity=other_than("local_entropy")),
    },
    missing={
        "an entropy of the theory": put("optimal_gamma", "entropy", np.nan, gamma=2.0, alpha=0.4),
        "all but four of annealing": every(
            put("optimal_gamma_annealing", "value", np.nan, sample=lambda column: column > 3, **entropy)
        ),
    },
)
