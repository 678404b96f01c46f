"""The program on simulated linear students: its tables against those of the theory that it reads."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from localentropy.programs import empirical_risk, risk_minimizers
from tests.programs.programs import CONTEXT, table

MANIFOLD = {"kind": "random_features", "inputs_per_feature": 0.25, "activation": "erf"}
COLUMNS = ["features", "student", "loss", "regularization", "alpha", "n", "p", "d", "sample", "generalization_error"]
COLUMNS += ["square_error", "training_loss", "converged"]


def theory(features: Any, **strengths: Any) -> dict[str, pd.DataFrame]:
    students = {loss: {"loss": loss, "regularization": strength} for loss, strength in strengths.items()}
    values: dict[str, Any] = {"alphas": [0.5, 4.0], "marked": [0.8, 2.0], "points": 2}
    return {"glm/theory": table(empirical_risk, features=features, students=students, **values)}


def simulated(tables: dict[str, pd.DataFrame], **values: Any) -> pd.DataFrame:
    students = tuple(tables["glm/theory"]["student"].unique())
    common: dict[str, Any] = {"theory": "glm/theory", "students": students, "test_samples": 0}
    return table(risk_minimizers, replace(CONTEXT, tables=tables), **common | values)


def agree(tables: dict[str, pd.DataFrame], found: pd.DataFrame) -> None:
    """Means within 3.5 standard errors and 3/d, as the other simulations."""
    expected = tables["glm/theory"].set_index(["student", "alpha"])
    for (student, alpha), runs in found.groupby(["student", "alpha"]):
        assert runs["converged"].all()
        for quantity in ("generalization_error", "square_error", "training_loss"):
            number = expected.loc[(student, alpha), quantity]
            error = runs[quantity].std() / math.sqrt(len(runs))
            assert abs(runs[quantity].mean() - number) < 3.5 * error + 3 / runs["d"].iloc[0] * number


def test_independent_inputs_follow_the_theory() -> None:
    tables = theory({"kind": "independent"}, logistic=0.02, square="optimal", hinge=0.3)
    found = simulated(tables, features=["independent"], alphas=[0.8, 2.0], sizes=[{"d": 300, "samples": 12}])
    assert list(found) == COLUMNS and len(found) == 3 * 2 * 12
    assert set(found["p"]) == set(found["d"]) == {300} and set(found["n"]) == {240, 600}
    strengths = found.groupby("student")["regularization"].unique()
    assert strengths["logistic"].tolist() == [0.02]
    assert strengths["square"] == pytest.approx(math.pi / 2 - 1, rel=1e-5)
    agree(tables, found)


def test_gaussian_features_follow_the_theory() -> None:
    tables = theory(MANIFOLD, square=0.1, logistic=0.05)
    found = simulated(tables, features=["gaussian"], alphas=[0.8, 2.0], sizes=[{"d": 100, "samples": 12}])
    assert set(found["p"]) == {400} and set(found["alpha"]) == {0.8, 2.0}
    agree(tables, found)


def test_the_peak_without_regularization() -> None:
    tables = theory(MANIFOLD, square=1e-6)
    found = simulated(tables, features=["gaussian"], alphas=[0.8], sizes=[{"d": 40, "samples": 8}])
    assert found["training_loss"].max() < 1e-4 < found["square_error"].min()


def test_nonlinear_features_and_their_surrogate_are_near_each_other() -> None:
    tables = theory(MANIFOLD, square=0.1)
    values: dict[str, Any] = {"alphas": [2.0], "sizes": [{"d": 60, "samples": 6}], "test_samples": 5000}
    found = simulated(tables, features=["nonlinear", "gaussian"], **values)
    errors = found.pivot(index="sample", columns="features", values="generalization_error")
    assert 0.85 < errors["nonlinear"].mean() / errors["gaussian"].mean() < 1.05
    # They have the same teacher and inputs.
    difference = errors["nonlinear"] - errors["gaussian"]
    assert 0 < difference.std() < errors["nonlinear"].std()
    again = simulated(tables, features=["nonlinear"], **values)
    pd.testing.assert_frame_equal(again, found[found["features"] == "nonlinear"].reset_index(drop=True))


def test_more_samples_and_sizes_change_no_old_row() -> None:
    tables = theory({"kind": "independent"}, square=0.5)
    few = simulated(tables, features=["independent"], alphas=[0.8], sizes=[{"d": 30, "samples": 2}])
    sizes = [{"d": 20, "samples": 3}, {"d": 30, "samples": 4}]
    many = simulated(tables, features=["independent"], alphas=[0.8, 2.0], sizes=sizes)
    joined = few.merge(many, on=["d", "alpha", "sample"], how="left", suffixes=("", "_more"))
    np.testing.assert_array_equal(joined["square_error"], joined["square_error_more"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": ("nonlinear",)}, "test_samples = 0: allowed is at least 1 with nonlinear features"),
        ({"test_samples": 10}, "test_samples = 10"),
        ({"sizes": ({"d": 20, "samples": 2}, {"d": 20, "samples": 3})}, "increase"),
        ({"sizes": ({"d": 20, "samples": 1},)}, "greater than or equal to 2"),
        ({"features": ("linear",)}, "independent"),
        ({"students": ("square", "square")}, "must differ from each other"),
        ({"features": ("independent", "independent")}, "must differ from each other"),
    ],
)
def test_parameters_are_checked(change: dict[str, Any], message: str) -> None:
    values: dict[str, Any] = {"features": ("independent",), "alphas": (0.8,), "sizes": ({"d": 20, "samples": 2},)}
    common: dict[str, Any] = {"theory": "glm/theory", "students": ("square",), "test_samples": 0}
    with pytest.raises(ValidationError, match=message):
        risk_minimizers.Parameters(**common | values | change)
