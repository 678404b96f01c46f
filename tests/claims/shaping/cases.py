"""What no general change of the tables of the paper `shaping` finds: verdicts on tables that are changed by hand."""

from __future__ import annotations

import numpy as np

from localentropy.claims.conditions import Verdict
from localentropy.claims.shaping.local_entropy import ON_IMAGES
from tests.claims.cases import HandMade, above, every, near, put


def _scatter(rows):
    """A number from 0 to 6 for each run."""
    return (2 * rows["sample"] + rows["algorithm"].map(ON_IMAGES.index)) % 7


def _solved_up_to(end, table, **where):
    """Runs are solved up to an α."""
    return put(table, "solved", lambda rows: (rows["alpha"] < end - 0.02 * rows["sample"]).astype(float), **where)


CASES: HandMade = {
    "S05": {
        "one and the same load": (
            Verdict.NOT_REPRODUCED,
            put(
                "cross_entropy_minimizers", "error",
                lambda rows: np.where(rows["alpha"] > 0.75, 0.004, 1e-4), gamma=above(0.9),
            ),
        ),
    },
    "S07": {
        "γ = 2 without a gap": (
            Verdict.OPEN,
            put(
                "cross_entropy_franz_parisi", "entropy", lambda rows: (0.7 - rows["distance"]) * rows["bound"],
                alpha=0.6, gamma=2.0,
            ),
        ),
    },
    "S08": {
        "the cross-entropy leads to no solution": (
            Verdict.NOT_REPRODUCED, put("annealing", "value", 0.0, energy="cross_entropy", quantity="solved_once"),
        ),
        **{
            f"so does the number of errors, α = {alpha}": (
                Verdict.NOT_REPRODUCED,
                put("annealing", "value", 0.0, energy="errors", alpha=near(alpha), quantity="train_error_last"),
            )
            for alpha in (0.3, 0.4, 0.5, 0.6)
        },
    },
    "S09": {
        f"{name} no better than {other}": (
            Verdict.OPEN,
            every(
                _solved_up_to(1.9, "capacities", algorithm=name),
                _solved_up_to(end_fast, "capacities", algorithm="ce_fast"),
                _solved_up_to(end_slow, "slow_capacities", algorithm="ce_slow"),
            ),
        )
        for name in ("lal", "lal_free")
        for other, end_fast, end_slow in (("ce_fast", 1.9, 1.5), ("ce_slow", 1.5, 1.9))
    },
    "S11": {
        "scatter": (
            Verdict.OPEN,
            put(
                "replica_numbers_local_entropy", "entropy", lambda rows: -0.02 + 0.02 * (-1.0) ** rows["sample"],
                algorithm="elal_10", distance=0.01,
            ),
        ),
    },
    **{
        key: {
            f"runs of {name} that differ too much": (
                Verdict.OPEN,
                put(
                    table, "iterations", lambda rows: rows["iterations"] * (1 + 0.9 * (-1.0) ** rows["sample"]),
                    algorithm=name,
                ),
            )
            for name in ("lal", "elal", "ce_fast", "ce_slow")
        }
        for key, table in (("S12", "tree_solutions"), ("S13", "fashion_solutions"))
    },
    "S14": {
        f"a wider spectrum than LAL's, {name}, {rule}": (
            Verdict.NOT_REPRODUCED,
            put(
                "tree_spectra", "value", lambda rows: 100.0 * rows["value"],
                quantity="largest_eigenvalue", rule=rule, algorithm=name,
            ),
        )
        for name in ("fbp", "elal", "ce_slow", "ce_fast")
        for rule in ("all", "without_lal")
    },
    **{
        key: {
            "no local entropy differs": (Verdict.NOT_REPRODUCED, put("tree_local_entropy", "entropy", 0.0)),
            "an algorithm of small λ_max and V₁": (
                Verdict.NOT_REPRODUCED,
                put("tree_spectra", "value", 0.0, algorithm="ce_fast", quantity="largest_eigenvalue"),
            ),
        }
        for key in ("S18", "S18b")
    },
    "S15": {
        "hardly a correlation": (
            Verdict.OPEN,
            put(
                "fashion_solutions", "test_error",
                lambda rows: 0.1 + 0.01 * _scatter(rows) + rows["test_error"] / 6,
            ),
        ),
    },
    "S16": {
        "half of the losses not clear": (
            Verdict.OPEN,
            put(
                "shuffled_local_entropy", "entropy",
                lambda rows: rows["entropy"] * (1.0 + 0.6 * (-1.0) ** rows["sample"]),
                algorithm=lambda names: names.isin(["lal", "ce_slow"]), distance=0.01,
            ),
        ),
    },
    "S20": {
        "equal errors": (
            Verdict.OPEN,
            put("fashion_solutions", "test_error", lambda rows: 0.1 + 0.01 * (rows["iterations"] % 3)),
        ),
    },
    "S22": {
        f"LAL as robust as ceSGD-fast, {name}": (
            Verdict.OPEN,
            put(
                name, "train_error",
                lambda rows, level=level: level * rows["probability"] * (1.0 + 0.1 * (-1.0) ** rows["sample"]),
                algorithm="lal",
            ),
        )
        for name, level in (("fashion_noise", 0.3), ("shuffled_noise", 0.39))
    },
    "S26": {
        f"a wide spectrum of {name}, {rule}": (
            Verdict.NOT_REPRODUCED,
            put(
                "tree_spectra", "value", lambda rows: 10.0 * rows["value"],
                quantity="eigenvalue", rule=rule, algorithm=name,
            ),
        )
        for rule in ("all", "without_lal")
        for name in ("fbp", "elal")
    },
    **{
        key: {"no entropy in between": (Verdict.OPEN, put("optimal_gamma", "entropy", np.nan, gamma=2.0))}
        for key in ("S17", "S23")
    },
    "S24": {
        "not falling": (
            Verdict.NOT_REPRODUCED,
            put("units3_local_entropy", "entropy", -0.1, distance=0.01),
        ),
    },
}  # fmt: skip
