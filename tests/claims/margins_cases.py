"""Cases of the claims of the paper on margins."""

from __future__ import annotations

import numpy as np

from tests.claims.cases import Case, above, add, below, elsewhere, every, few, only, other_than, put

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
    small={
        "no such curve": only("franz_parisi_text", curve="threshold"),
        "around other references": put("franz_parisi_text", "margin_ref", 0.1, **text),
    },
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
        "of solutions with a margin": put("franz_parisi", "margin", 0.01, **reference),
    },
    missing={
        "κ_max": put("franz_parisi", "entropy", np.nan, reference="max", distance=below(1e-3)),
        "κ_max at one distance": put(
            "franz_parisi", "entropy", np.nan, reference="max", distance=lambda d: (d > 5e-4) & (d < 1.1e-3)
        ),
        "beside κ̃ = 0.2": put("franz_parisi", "entropy", np.nan, reference="0.2", distance=below(1.1e-5)),
    },
)
marked = {"ensemble": "perceptron", "alpha": 0.5}
MARGINS["M05"] = Case(
    wrong={
        "κ_u below κ_min": put("dense_regions", "margin", 0.025, line="kappa_u", **marked),
        "κ_u above κ_max": put("dense_regions", "margin", 0.5, line="kappa_u", **marked),
        "no shell": put("franz_parisi", "entropy", lambda rows: rows["entropy"].abs(), reference="0.02"),
        "nothing inside the shell": put("franz_parisi", "entropy", -1e-3, reference="0.02", distance=below(1e-4)),
        "no dip": put("franz_parisi", "slope", 0.1, reference="0.033"),
        "a dip beyond the maximum only": put("franz_parisi", "slope", 0.1, reference="0.033", distance=below(0.3)),
        "a shell at 0.033 too": add("franz_parisi", "entropy", -0.1, reference="0.033"),
        "an end instead of a shell": put(
            "franz_parisi", "entropy", lambda rows: rows["entropy"].where(rows["entropy"] > 0), reference="0.02"
        ),
        "a dip at κ_max": put("franz_parisi", "slope", -0.1, reference="max", distance=below(0.01)),
    },
    small={
        "no thresholds there": only("dense_regions", end=True),
        "another model": elsewhere("franz_parisi", ensemble={"model": "tree_committee", "activation": "tanh"}),
        "no shell": only("franz_parisi", reference=other_than("0.02")),
        "no dip": only("franz_parisi", reference=other_than("0.033")),
        "no dense region": only("franz_parisi", margin_ref=below(0.1)),
        "another α": put("franz_parisi", "alpha", 0.4, **reference),
    },
    missing={
        "κ_min": put("dense_regions", "margin", np.nan, line="kappa_min", **marked),
        "entropy": put("franz_parisi", "entropy", np.nan, reference="max", distance=below(0.01)),
        "slope": put("franz_parisi", "slope", np.nan, reference="0.2", distance=below(0.01)),
    },
)
MARGINS["M06"] = Case(
    wrong={
        "solutions beside κ = 0.2": put("franz_parisi", "entropy", 1e-3, curve="same_margin", distance=below(3e-3)),
        "solutions beside κ = 0.38": put(
            "franz_parisi_text", "entropy", 1e-3, curve="same_margin", margin_ref=0.38, distance=below(3e-3)
        ),
    },
    small={
        "of other margins": every(
            put("franz_parisi", "margin", 0.0, curve="same_margin"),
            put("franz_parisi_text", "margin", 0.0, curve="same_margin"),
        )
    },
    missing={"one margin": put("franz_parisi_text", "entropy", np.nan, curve="same_margin", margin_ref=0.38)},
)
end = {"line": "kappa_u", "end": True}
curves = {"curve": "threshold"}
MARGINS["M07"] = Case(
    wrong={
        "above the other threshold": every(
            put("dense_regions", "alpha", 0.78, ensemble="perceptron", **end),
            put("franz_parisi_text", "alpha", 0.79, alpha=above(0.73), **curves),
        ),
        "far below": every(
            put("dense_regions", "alpha", 0.69, ensemble="perceptron", **end),
            put("franz_parisi_text", "alpha", 0.68, alpha=below(0.73), **curves),
        ),
        "monotonic above too": put("franz_parisi_text", "slope", 0.1, alpha=above(0.73), **curves),
        "not monotonic below": put("franz_parisi_text", "slope", -0.1, alpha=below(0.73), **curves),
        "not monotonic beyond the maximum only": put(
            "franz_parisi_text", "slope", lambda rows: rows["slope"].abs(), alpha=above(0.73), **curves
        ),
    },
    small={
        "no curve above": only("franz_parisi_text", alpha=below(0.73)),
        "no curve below": only("franz_parisi_text", alpha=above(0.73)),
        "another model": elsewhere("franz_parisi_text", ensemble={"model": "tree_committee", "activation": "relu"}),
        "around other references": put("franz_parisi_text", "reference", "0.9 max", **curves),
        "no perceptron": only("dense_regions", ensemble=other_than("perceptron")),
    },
    missing={
        "the threshold": put("dense_regions", "alpha", np.nan, ensemble="perceptron", **end),
        "a slope": put("franz_parisi_text", "slope", np.nan, distance=below(1e-4), alpha=below(0.73), **curves),
    },
)
MARGINS["M10"] = Case(
    wrong={
        "a little lower": put("dense_regions", "alpha", 0.72, ensemble="sign", **end),
        "the other way": put("dense_regions", "alpha", 0.5, ensemble="relu", **end),
    },
    small={"no ReLU": only("dense_regions", ensemble=other_than("relu"))},
    missing={"one threshold": put("dense_regions", "alpha", np.nan, ensemble="relu", **end)},
)


def _fewer_in_turn(rows):
    """Far fewer at one distance of each solution: each distance scatters, the mean over them does not."""
    turn = rows["distance"].rank(method="dense") % 5
    return rows["entropy"] - 0.06 * (turn == rows["sample"] % 5)


MARGINS["M09"] = Case(
    wrong={
        "fewer solutions": add("local_entropy", "entropy", -0.02, distance=above(0.03)),
        "far more solutions": add("local_entropy", "entropy", 0.03, distance=above(0.1)),
        "more next to them": add("local_entropy", "entropy", 0.004, distance=below(0.021)),
        "fewer on average": put("local_entropy", "entropy", _fewer_in_turn, distance=lambda d: d.between(0.04, 0.2)),
        "fewer at one distance": add("local_entropy", "entropy", -0.02, distance=0.092),
    },
    small={
        "three solutions": few("local_entropy"),
        "four solved": put("local_entropy", "solved", 0.0, sample=above(3)),
        "four converged": put("local_entropy", "converged", 0.0, sample=above(3), distance=0.063),
        "scattered entropies": put(
            "local_entropy", "entropy", lambda rows: rows["entropy"] + 0.005 * (rows["sample"] - 4.5)
        ),
        "another α": put("local_entropy", "alpha", 0.4),
        "solutions of another margin": put("local_entropy", "margin", 0.1),
        "another model": elsewhere("franz_parisi", ensemble={"model": "tree_committee", "activation": "sign"}),
        "no distance next to them": only("local_entropy", distance=above(0.025)),
        "no curve of the largest margin": only("franz_parisi", reference=other_than("max")),
    },
    missing={
        "one entropy": put("local_entropy", "entropy", np.nan, sample=3, distance=0.092),
        "the curve": put("franz_parisi", "entropy", np.nan, reference="max"),
    },
)
flips = {"quantity": "flipped_train_error"}
MARGINS["M12"] = Case(
    wrong={
        "errors at the fewest patterns": put("mnist", "value", 0.002, quantity="train_error", patterns=500, sample=3),
        "one solution": put("fashion_mnist", "value", 0.97, quantity="overlap", patterns=300),
        "overlaps of a half": put("cifar10", "value", 0.5, quantity="overlap", patterns=200),
        "sharp minima": put("cifar10", "value", lambda rows: 0.6 * rows["distance"] ** 0.5, **flips),
        "concave profiles": put("mnist", "value", lambda rows: 2.0 * rows["distance"] - rows["distance"] ** 2, **flips),
    },
    small={
        "few networks": few("cifar10"),
        "noise": put("mnist", "value", lambda rows: 2.0 * rows["distance"] + 0.01 * (-1) ** rows["sample"], **flips),
        "no errors": put("mnist", "value", 0.0, quantity="train_error"),
        "no flips": only("fashion_mnist", quantity=other_than("flipped_train_error")),
        "short profiles": only("mnist", distance=lambda column: column.isna() | (column < 0.1)),
    },
    missing={
        "a train error": put("mnist", "value", np.nan, quantity="train_error", patterns=500, sample=0),
        "an overlap": put("mnist", "value", np.nan, quantity="overlap", patterns=1000, sample=0, other=1),
        "an energy": put("cifar10", "value", np.nan, distance=0.05, patterns=200, sample=0, **flips),
    },
)
unstable, stable = {"curve": "unstable"}, {"curve": "max_margin"}
MARGINS["M08"] = Case(
    wrong={
        "unstable somewhere": put("one_step", "replicon", 1.01, distance=above(0.1), alpha=0.75),
        "unstable on a plotted curve": put("franz_parisi", "replicon", 1.01, reference="max"),
        "two overlaps somewhere": add("one_step", "q0", -1e-6, distance=above(0.1), blocks="0.6", alpha=0.5),
    },
    small={
        "no curve where it must be found": only("one_step", **stable),
        "nothing found there": put("one_step", "q0", lambda rows: rows["q1"], **unstable),
        "found where it is stable only": put("one_step", "replicon", 0.9, **unstable),
        "no search along a plotted curve": only("one_step", **unstable),
        "no plotted curve": only("franz_parisi", curve="bound"),
    },
    missing={
        "one replicon": put("one_step", "replicon", np.nan, distance=above(0.1), alpha=0.75),
        "one overlap": put("one_step", "q1", np.nan, distance=above(0.1), alpha=0.75),
    },
)
MARGINS["M11b"] = Case(
    wrong={
        "at the capacity": put("dense_regions", "alpha", 1.03, ensemble="planted", line="kappa_max", end=True),
        "monotonic above too": put("planted", "slope", 0.1, alpha=1.06),
        "not monotonic below": put("planted", "slope", -0.1, alpha=1.03),
    },
    small={
        "no curve above": only("planted", alpha=below(1.05)),
        "no curve below": only("planted", alpha=above(1.04)),
        "another model": elsewhere("planted", ensemble={"model": "perceptron"}),
        "no planted perceptron": only("dense_regions", ensemble=other_than("planted")),
    },
    missing={
        "the threshold": put("dense_regions", "alpha", np.nan, ensemble="planted", **end),
        "a slope": put("planted", "slope", np.nan, distance=below(1e-4), alpha=1.03),
    },
)
