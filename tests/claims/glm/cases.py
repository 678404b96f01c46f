"""What no general change of the tables of the talk `glm` finds: verdicts on tables that are changed by hand."""

from __future__ import annotations

from localentropy.claims.conditions import Verdict
from tests.claims.cases import HandMade, above, add, below, every, put, times
from tests.claims.glm.tables import REAL

wide, plain = {"student": "wide"}, {"student": "plain"}
peak = {"student": "ridgeless", "alpha": 1.0}
images = [{"dataset": data, "features": kind} for data, kind in REAL]

CASES: HandMade = {
    "G18": {
        f"{words}, {student} student on {features} features": (
            verdict,
            put(
                "manifold_runs", column,
                lambda rows, column=column, values=values: rows[column] * values(rows),
                student=student, features=features, **rows,
            ),
        )
        for student in ("optimal", "ridgeless")
        for features in ("gaussian", "nonlinear")
        for column in ("training_loss", "generalization_error")
        for words, verdict, rows, values in (
            (f"another {column}", Verdict.NOT_REPRODUCED, {"alpha": 4.0}, lambda rows: 30.0),
            (
                f"{column} that differs too much",
                Verdict.OPEN,
                {},
                lambda rows: 1 + 0.3 * (-1.0) ** rows["sample"],
            ),
        )
    },
    "G14": {
        f"{words}, {' '.join(which.values())}": (
            Verdict.NOT_REPRODUCED,
            every(
                times("real_runs", "square_error", off, regularization=0.3, **which),
                times("real_runs", "square_error", near, regularization=1e-5, n=200, **which),
            ),
        )
        for which in images
        for words, off, near in (
            ("off at the largest ridge", 1.1, 1.0),
            ("nearer at the smallest ridge", 1.04, 2 / 3 if which["features"] == "pixels" else 5 / 6),
        )
    },
    "G06": {
        "a rest": (
            Verdict.NOT_REPRODUCED,
            every(
                put("descent", "loss", 0.1, alpha=1.5, sample=2, **wide),
                put("descent", "loss_midway", 0.101, alpha=1.5, sample=2, **wide),
            ),
        ),
        "cut off": (
            Verdict.OPEN,
            every(
                put("descent", "loss", 1e-4, alpha=2.2, **wide),
                put("descent", "loss_midway", 1.5e-4, alpha=2.2, **wide),
            ),
        ),
    },
    "G07": {
        "a fall to none": (Verdict.NOT_REPRODUCED, put("uniqueness", "unique", 0.0, alpha=2.2, d=100)),
        "a fall": (Verdict.OPEN, put("uniqueness", "unique", 0.0, alpha=2.2, d=100, sample=above(4))),
        "none, but at no size": (Verdict.OPEN, put("uniqueness", "unique", 0.0, alpha=2.2)),
        "half below": (Verdict.OPEN, put("uniqueness", "unique", 1.0, alpha=1.8, d=100, sample=below(10))),
    },
    "G08": {
        "away with the size": (
            Verdict.NOT_REPRODUCED,
            put(
                "descent", "success",
                lambda rows: (rows["sample"] + 10 < 20 * (rows["alpha"] - 5 + rows["d"] / 150)).astype(float), **plain,
            ),
        ),
        "still rising": (
            Verdict.OPEN,
            put(
                "descent", "success",
                lambda rows: (rows["sample"] + 10 < 20 * (rows["alpha"] - 5 + 50 / rows["d"])).astype(float), **plain,
            ),
        ),
    },
    "G11": {
        "scatter": (
            Verdict.OPEN,
            put("manifold_runs", "generalization_error", lambda rows: 0.3 + 0.2 * (-1.0) ** rows["sample"], **peak),
        ),
    },
    "G15": {
        "many units need more": (
            Verdict.NOT_REPRODUCED,
            put("descent", "success", lambda rows: (rows["alpha"] > 10).astype(float), **wide),
        ),
    },
    "G16": {
        "no loss above the load": (
            Verdict.NOT_REPRODUCED,
            put(
                "bayes_committee_2", "linear_error", lambda rows: 1.05 * rows["bayes_error"], alpha=above(3.9)
            ),
        ),
    },
    "G17": {
        "a small shift": (Verdict.NOT_REPRODUCED, add("amp_perceptron", "overlap", 0.024)),
    },
    "G19": {
        "scatter at a load": (
            Verdict.OPEN,
            put(
                "amp_committee", "specialization", lambda rows: 0.78 + 0.9 * (-1.0) ** rows["sample"], alpha=above(3.8)
            ),
        ),
        "scatter of errors": (
            Verdict.OPEN,
            put("amp_committee", "error", lambda rows: rows["error"] * (1.0 + 0.9 * (-1.0) ** rows["sample"])),
        ),
    },
}  # fmt: skip
