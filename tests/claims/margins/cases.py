"""What no general change of the tables of the paper on margins finds: verdicts on tables that are changed by hand."""

from __future__ import annotations

import numpy as np

from localentropy.claims.conditions import Verdict
from localentropy.claims.margins.binary_mlp import CHORD_TO
from tests.claims.cases import HandMade, near, only, put

FAILS, OPEN = Verdict.NOT_REPRODUCED, Verdict.OPEN

CASES: HandMade = {
    "M02": {
        "two margins at each α": (
            OPEN,
            only("typical", margin=lambda margins: (margins == 0.0) | margins.isin([0.418, 0.03, 1.33])),
        ),
    },
    "M03b": {
        "a maximum before the typical distance": (
            Verdict.NOT_REPRODUCED,
            put("franz_parisi", "slope", -0.01, margin_ref=0.0, curve="reference", distance=near(0.0799)),
        ),
    },
    "M12": {
        f"{words}, {name}": (verdict, put(name, "value", values, quantity=quantity, **rows))
        for name in ("mnist", "fashion_mnist", "cifar10")
        for words, verdict, quantity, rows, values in (
            ("a kink", FAILS, "flipped_train_error", {"distance": 0.01}, lambda rows: 6.0 * rows["value"]),
            ("a straight line", OPEN, "flipped_train_error", {}, lambda rows: rows["value"] / rows["distance"]),
            ("one and the same solution", FAILS, "overlap", {}, lambda rows: 0.9 + 0.01 * rows["sample"]),
            ("errors everywhere", FAILS, "train_error", {}, 0.1),
        )
    },
    "M12b": {
        f"{words}, {name}": (
            FAILS,
            put(name, "value", lambda rows, f=factor: f * rows["value"], quantity="flipped_control_error", **rows),
        )
        for name in ("mnist", "fashion_mnist", "cifar10")
        for words, factor, rows in (
            ("a control as flat as the networks", 1 / 3, {}),
            ("a control that bends up", 4.0, {"distance": CHORD_TO}),
        )
    },
    "M16": {
        "a shell after growth": (
            Verdict.NOT_REPRODUCED,
            put("franz_parisi_margin", "entropy", -0.01, margin_ref=near(0.3), distance=near(0.0184)),
        ),
    },
    "M18": {
        "an overlap is missing": (Verdict.OPEN, put("mnist", "value", np.nan, quantity="overlap", other=1)),
    },
}
