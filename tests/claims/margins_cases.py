"""Cases of the claims of the paper on margins."""

from __future__ import annotations

import numpy as np

from tests.claims.cases import Case, above, add, below, elsewhere, only, other_than, put

MARGINS: dict[str, Case] = {}

MARGINS["M01"] = Case(
    wrong={
        "another capacity": add("typical", "alpha", -0.002, line="alpha", alpha=above(0.8)),
        "a margin is left": put("typical", "margin", 0.01, line="alpha", alpha=above(0.8)),
        "entropy is left": put("typical", "entropy", 0.01, line="alpha", alpha=above(0.8)),
    },
    small={
        "no such line": only("typical", line="margin"),
        "another model": elsewhere("typical", ensemble={"model": "tree_committee", "activation": "sign"}),
    },
    missing={"the margin": put("typical", "margin", np.nan, line="alpha", alpha=above(0.8))},
)
MARGINS["M02"] = Case(
    wrong={
        "a rise of the distance": add("typical", "q", -0.3, line="margin", alpha=0.5, margin=above(0.35)),
        "no fall": put("typical", "q", 0.3, line="margin", alpha=0.8),
    },
    small={"no such line": only("typical", line="alpha"), "one point": only("typical", margin=0.0, alpha=0.2)},
    missing={"one value": put("typical", "q", np.nan, line="margin", alpha=0.5, margin=above(0.4))},
)
text = {"curve": "isolated"}
MARGINS["M03"] = Case(
    wrong={
        "solutions at α = 0.2": put("franz_parisi_text", "entropy", 1e-5, alpha=0.2, distance=below(2e-5), **text),
        "a shell only": put("franz_parisi_text", "entropy", 1e-3, alpha=0.7, distance=below(1e-3), **text),
    },
    small={"no such curve": only("franz_parisi_text", curve="threshold")},
    missing={"one α": put("franz_parisi_text", "entropy", np.nan, alpha=0.5, **text)},
)
reference = {"curve": "reference"}
MARGINS["M04"] = Case(
    wrong={
        "none beside κ̃ = 0.02": put("franz_parisi", "entropy", -1e-5, reference="0.02", distance=below(1.1e-5)),
        "fewer beside κ̃ = 0.2": put(
            "franz_parisi", "entropy", lambda rows: 0.98 * rows["entropy"], reference="0.2", distance=below(1.1e-5)
        ),
        "fewer around κ_max": put(
            "franz_parisi", "entropy", lambda rows: 0.98 * rows["entropy"], reference="max", distance=below(1e-3)
        ),
    },
    small={
        "no margin": only("franz_parisi", margin_ref=lambda margins: ~(margins > 0)),
        "no bound": only("franz_parisi", curve=other_than("bound")),
        "no small distance": only("franz_parisi", distance=above(2e-3)),
    },
    missing={
        "κ_max": put("franz_parisi", "entropy", np.nan, reference="max", distance=below(1e-3)),
        "beside κ̃ = 0.2": put("franz_parisi", "entropy", np.nan, reference="0.2", distance=below(1.1e-5)),
    },
)
MARGINS["M06"] = Case(
    wrong={
        "solutions beside κ = 0.2": put("franz_parisi", "entropy", 1e-3, curve="same_margin", distance=below(3e-3)),
        "solutions beside κ = 0.38": put(
            "franz_parisi_text", "entropy", 1e-3, curve="same_margin", margin_ref=0.38, distance=below(3e-3)
        ),
    },
    missing={"one margin": put("franz_parisi_text", "entropy", np.nan, curve="same_margin", margin_ref=0.38)},
)
