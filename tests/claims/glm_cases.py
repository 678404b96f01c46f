"""Cases of the claims of the talk `glm`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.claims.cases import Case, above, add, below, every, few, near, only, other_than, put, times

GLM: dict[str, Case] = {}

binary, retrieval = {"model": "binary_perceptron"}, {"model": "phase_retrieval"}
GLM["G01"] = Case(
    wrong={
        "a digit less": put("transitions", "information_theoretic", 1.2438, **binary),
        "a digit more": put("transitions", "information_theoretic", 1.249, **binary),
        "the teacher earlier": put("bayes_binary", "free_entropy", -0.71, start="uninformed", alpha=1.0),
        "the teacher later": put("bayes_binary", "free_entropy", -0.69, start="uninformed", alpha=1.3),
        "no jump": put("bayes_binary", "bayes_error", 0.0, start="uninformed"),
    },
    small={
        "other models": only("transitions", model=other_than("binary_perceptron")),
        "small loads": only("bayes_binary", alpha=below(1.1)),
        "large loads": only("bayes_binary", alpha=above(1.25)),
        "one start": only("bayes_binary", start="uninformed"),
    },
    missing={
        "the load": put("transitions", "information_theoretic", np.nan, **binary),
        "a free entropy": put("bayes_binary", "free_entropy", np.nan, start="uninformed", alpha=1.3),
        "an error": put("bayes_binary", "bayes_error", np.nan, start="uninformed", alpha=1.2),
    },
)
GLM["G02"] = Case(
    wrong={
        "later": put("glass", "on_spinodal", 1.643),
        "earlier": put("glass", "on_spinodal", 1.62),
    },
    missing={"one end": put("glass", "on_line", np.nan), "the other end": put("glass", "on_spinodal", np.nan)},
)
hard = {"alpha": lambda column: (column > 1.25) & (column < 1.42)}
GLM["G03"] = Case(
    wrong={
        "a lower overlap": times("amp_binary", "overlap", 0.9, alpha=1.0),
        "a higher overlap": times("amp_binary", "overlap", 1.1, **hard),
        "the teacher in the hard phase": put("amp_binary", "cosine", 1.0, **hard),
        "no teacher": put("amp_binary", "cosine", 0.95, alpha=1.6),
        "another state": add("bayes_binary", "overlap", 0.1, start="uninformed", alpha=1.0),
    },
    small={
        "three samples": few("amp_binary"),
        "small loads": only("amp_binary", alpha=below(1.5)),
        "large loads": only("amp_binary", alpha=above(1.5)),
        "no hard phase": only("amp_binary", alpha=lambda column: (column < 1.2) | (column > 1.5)),
        "one start": only("bayes_binary", start="informed"),
    },
    missing={
        "an overlap": put("amp_binary", "overlap", np.nan, alpha=1.0, sample=3),
        "a cosine": put("amp_binary", "cosine", np.nan, alpha=1.6, sample=3),
        "the theory": put("bayes_binary", "overlap", np.nan, start="uninformed", alpha=1.0),
        "the threshold": put("transitions", "algorithmic", np.nan, **binary),
    },
)
logistic = {"student": "logistic"}
GLM["G04"] = Case(
    wrong={
        "more errors": times("risk", "generalization_error", 1.002, alpha=3.0, **logistic),
        "fewer errors than Bayes'": times("risk", "generalization_error", 0.9997, alpha=10.0, **logistic),
    },
    small={
        "no large loads": only("risk", alpha=below(8.0)),
        "no small loads": only("bayes_perceptron", alpha=above(0.7)),
        "other loads": times("bayes_perceptron", "alpha", 1.01),
    },
    missing={
        "an error": put("risk", "generalization_error", np.nan, alpha=3.0, **logistic),
        "of Bayes": put("bayes_perceptron", "bayes_error", np.nan, alpha=3.0),
    },
)
GLM["G04b"] = Case(
    wrong={
        "more errors": times("risk_runs", "generalization_error", 1.1, alpha=1.0),
        "fewer errors": times("risk_runs", "generalization_error", 0.8, alpha=10.0),
    },
    small={
        "three samples": few("risk_runs"),
        "no logistic runs": put("risk_runs", "student", "square"),
        "no large loads": only("bayes_perceptron", alpha=below(8.0)),
    },
    missing={
        "of Bayes": put("bayes_perceptron", "bayes_error", np.nan, alpha=3.0),
        "of a run": put("risk_runs", "generalization_error", np.nan, alpha=3.0, sample=2),
    },
)
GLM["G05"] = Case(
    wrong={
        "a later threshold": put("transitions", "algorithmic", 1.14, **retrieval),
        "another best student": put("transitions", "information_theoretic", 1.01, **retrieval),
        "recovered early": put("amp_phase_retrieval", "cosine", -1.0, alpha=1.05),
        "not recovered": put("amp_phase_retrieval", "cosine", 0.9, alpha=1.3),
    },
    small={
        "three samples": few("amp_phase_retrieval"),
        "small loads": only("amp_phase_retrieval", alpha=below(1.15)),
        "large loads": only("amp_phase_retrieval", alpha=above(1.15)),
        "other models": only("transitions", model=other_than("phase_retrieval")),
    },
    missing={
        "the load": put("transitions", "algorithmic", np.nan, **retrieval),
        "a cosine": put("amp_phase_retrieval", "cosine", np.nan, alpha=1.3, sample=3),
    },
)
wide, plain = {"student": "wide"}, {"student": "plain"}
GLM["G06"] = Case(
    wrong={
        "a rest": every(
            put("descent", "loss", 0.1, alpha=1.5, sample=2, **wide),
            put("descent", "loss_midway", 0.101, alpha=1.5, sample=2, **wide),
        ),
        "a rise": every(
            put("descent", "loss", 0.1, alpha=3.0, sample=2, **wide),
            put("descent", "loss_midway", 0.05, alpha=3.0, sample=2, **wide),
        ),
    },
    small={
        "few units": put("descent", "units", 3, **wide),
        "large loads": only("descent", alpha=above(1.2)),
        "one sample": only("descent", sample=0),
        "cut off": every(
            put("descent", "loss", 1e-4, alpha=2.2, **wide), put("descent", "loss_midway", 1.5e-4, alpha=2.2, **wide)
        ),
    },
    missing={
        "a loss": put("descent", "loss", np.nan, alpha=1.0, sample=2, **wide),
        "a loss midway": every(
            put("descent", "loss", 1e-4, alpha=2.2, **wide), put("descent", "loss_midway", np.nan, alpha=2.2, **wide)
        ),
    },
)
GLM["G07"] = Case(
    wrong={
        "the teacher below": put("descent", "test_error", 0.01, alpha=1.5, **wide),
        "other zeros above, of all runs and sizes": put("descent", "test_error", 1.0, alpha=2.5, **wide),
    },
    small={
        "three samples": only("descent", sample=below(3)),
        "few units": put("descent", "units", 3, **wide),
        "large loads": only("descent", alpha=above(2.1)),
        "small loads": only("descent", alpha=below(2.1)),
        "no zero of the loss above": put("descent", "loss", 1e-4, alpha=2.2, **wide),
        "no zero of the loss below": put("descent", "loss", 1e-4, alpha=1.8, **wide),
        "slow above": every(
            put("descent", "test_error", 1.0, alpha=2.2, **wide), put("descent", "loss", 1e-4, alpha=2.2, **wide)
        ),
        "other zeros above, of one size": every(
            only("descent", d=above(30)), put("descent", "test_error", 1.0, alpha=2.2, **wide)
        ),
        "other zeros above, more for more inputs": put(
            "descent", "test_error", 1.0, alpha=2.2, d=40, sample=below(5), **wide
        ),
        "other zeros at one load above, more for more inputs at the next": every(
            put("descent", "test_error", 1.0, alpha=2.2, **wide),
            put("descent", "test_error", 1.0, alpha=2.5, d=40, sample=below(5), **wide),
        ),
        "slow above, more for more inputs": every(
            put("descent", "test_error", 1.0, alpha=2.2, d=40, sample=below(5), **wide),
            put("descent", "loss", 1e-4, alpha=2.2, d=40, sample=below(5), **wide),
        ),
    },
    missing={
        "a loss": put("descent", "loss", np.nan, alpha=1.5, sample=2, **wide),
        "a test error": put("descent", "test_error", np.nan, alpha=2.5, sample=2, **wide),
        "an outcome": put("descent", "success", np.nan, alpha=2.5, sample=2, **wide),
    },
)
GLM["G08"] = Case(
    wrong={
        "the same at every size": every(
            only("descent", student="plain"),
            put("descent", "success", lambda rows: (rows["sample"] + 10 < 20 * (rows["alpha"] - 4.5)).astype(float)),
            lambda tables: tables.update(descent=_repeated(tables["descent"], 20)),
        ),
        "away": put(
            "descent", "success",
            lambda rows: (rows["sample"] + 10 < 20 * (rows["alpha"] - 5 + rows["d"] / 150)).astype(float), **plain,
        ),
    },
    small={
        "one size": only("descent", d=below(150)),
        "three samples": only("descent", sample=below(3)),
        "still rising": put(
            "descent", "success",
            lambda rows: (rows["sample"] + 10 < 20 * (rows["alpha"] - 5 + 50 / rows["d"])).astype(float), **plain,
        ),
        "no success": put("descent", "success", 0.0, **plain),
    },
    missing={"a success": put("descent", "success", np.nan, alpha=5.0, sample=2, **plain)},
)  # fmt: skip
many = {"model": "committee_large"}
GLM["G09"] = Case(
    wrong={
        "our number": put("transitions", "information_theoretic", 7.680221, **many),
        "specialization below": put("bayes_committee_2", "specialization", 0.01, alpha=near(1.5)),
        "none above": put("bayes_committee_2", "specialization", 0.0, alpha=near(2.5)),
    },
    small={
        "small loads": only("bayes_committee_2", alpha=below(2.0)),
        "large loads": only("bayes_committee_2", alpha=above(2.1)),
        "one committee": only("transitions", model="committee_large"),
    },
    missing={
        "the load": put("transitions", "information_theoretic", np.nan, **many),
        "a specialization": put("bayes_committee_2", "specialization", np.nan, alpha=near(2.5)),
    },
)
GLM["G10"] = Case(
    wrong={
        "specialized": put("committee_evolution", "overlap", 0.99, alpha=100.0, start=0.01),
        "in the middle": put("committee_evolution", "overlap", 0.005, alpha=30.0, start=1e-3),
        "growth": put("committee_evolution", "growth", 1.5, alpha=100.0, start=1e-3),
    },
    small={
        "small loads": only("committee_evolution", alpha=below(50.0)),
        "large starts": only("committee_evolution", start=above(0.05)),
    },
    missing={
        "a specialization": put("committee_evolution", "overlap", np.nan, alpha=30.0, start=1e-3),
        "the load that suffices": put("transitions", "information_theoretic", np.nan, **many),
    },
)
peak = {"student": "ridgeless", "alpha": 1.0}
GLM["G11"] = Case(
    wrong={
        "a low peak": put("manifold", "generalization_error", 0.38, **peak),
        "another place": put("manifold", "generalization_error", 0.46, student="ridgeless", alpha=1.4),
        "a rise at the best": add("manifold", "generalization_error", 0.1, student="optimal", alpha=1.1),
        "runs without a peak": times("manifold_runs", "generalization_error", 0.3, features="nonlinear", **peak),
        "runs with a peak at the best": times(
            "manifold_runs", "generalization_error", 2.0, student="optimal", alpha=1.0
        ),
    },
    small={
        "three samples": few("manifold_runs"),
        "no loads at the peak": only("manifold_runs", alpha=other_than(1.0)),
        "one student": only("manifold", student="ridgeless"),
        "one student runs": only("manifold_runs", student="ridgeless"),
        "scatter": put(
            "manifold_runs", "generalization_error", lambda rows: 0.3 + 0.2 * (-1.0) ** rows["sample"], **peak
        ),
    },
    missing={
        "an error": put("manifold", "generalization_error", np.nan, student="optimal", alpha=1.4),
        "of a run": put("manifold_runs", "generalization_error", np.nan, sample=2, **peak),
    },
)
GLM["G12"] = Case(
    wrong={
        "features differ": times("equivalence_runs", "generalization_error", 1.1, features="nonlinear", alpha=1.0),
        "the theory differs": times("equivalence", "generalization_error", 1.1, alpha=3.0),
    },
    small={
        "three samples": few("equivalence_runs"),
        "two sizes": only("equivalence_runs", d=above(30)),
        "one kind": only("equivalence_runs", features="gaussian"),
        "another load": only("equivalence", alpha=below(2.5)),
        "scatter": put(
            "equivalence_runs", "generalization_error",
            lambda rows: 0.3 / (1 + rows["alpha"]) * (1 + 0.3 * (-1.0) ** rows["sample"]),
        ),
    },
    missing={
        "an error": put("equivalence_runs", "generalization_error", np.nan, alpha=1.0, d=40, sample=2),
        "of the theory": put("equivalence", "generalization_error", np.nan, alpha=1.0),
    },
)  # fmt: skip


def _repeated(table: pd.DataFrame, times: int) -> pd.DataFrame:
    """Every run several times, as runs of their own."""
    return pd.concat([table.assign(sample=table["sample"] + 1000 * k) for k in range(times)], ignore_index=True)
