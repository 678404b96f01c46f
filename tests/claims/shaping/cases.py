"""What no general change of the tables of the paper `shaping` finds: verdicts on tables that are changed by hand."""

from __future__ import annotations

import numpy as np

from localentropy.claims.conditions import Verdict
from tests.claims.cases import HandMade, above, put

CASES: HandMade = {
    "S05": {
        "one and the same load": (
            Verdict.NOT_REPRODUCED,
            put(
                "cross_entropy_minimizers", "error",
                lambda rows: np.where(rows["alpha"] > 0.65, 0.004, 1e-4), gamma=above(0.9),
            ),
        ),
    },
    "S11": {
        "scatter": (
            Verdict.NOT_TESTABLE,
            put(
                "replica_numbers_local_entropy", "entropy", lambda rows: -0.02 + 0.02 * (-1.0) ** rows["sample"],
                algorithm="elal_10", distance=0.01,
            ),
        ),
    },
    "S15": {
        "hardly a correlation": (
            Verdict.NOT_TESTABLE,
            put("fashion_solutions", "test_error", lambda rows: rows["test_error"] + 10.0 * (rows["sample"] % 5)),
        ),
    },
}  # fmt: skip
