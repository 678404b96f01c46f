"""Cases of the claims of the paper on margins."""

from __future__ import annotations

import numpy as np

from tests.claims.cases import Case, above, add, only, put

MARGINS: dict[str, Case] = {}

MARGINS["M02"] = Case(
    wrong={
        "a rise of the distance": add("typical", "q", -0.3, line="margin", alpha=0.5, margin=above(0.35)),
        "no fall": put("typical", "q", 0.3, line="margin", alpha=0.8),
    },
    small={"no such line": only("typical", line="alpha"), "one point": only("typical", margin=0.0, alpha=0.2)},
    missing={"one value": put("typical", "q", np.nan, line="margin", alpha=0.5, margin=above(0.4))},
)
