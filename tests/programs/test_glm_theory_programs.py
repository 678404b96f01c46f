"""The programs on the theory of the talk `glm`: Bayes-optimal learning, at a temperature, by least risk."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localentropy.pipeline.config import resolve
from localentropy.programs import (
    bayes_optimal,
    empirical_risk,
    gibbs_learning,
    sweep,
    units_specialization,
)
from localentropy.programs.parts.teachers import transitions
from localentropy.theory import bayes, committee, erm, gibbs, hidden_manifold
from localentropy.theory.committee_units import specialization
from localentropy.theory.quadratic_units import unique_minimum
from tests.programs.programs import CONTEXT, refused, table

BOTH = ["uninformed", "informed"]
MODELS = ["binary_perceptron", "phase_retrieval", "committee_2", "committee_large"]
SECTIONS = ["bayes_perceptron", "bayes_binary", "bayes_phase_retrieval", "bayes_committee_2", "bayes_committee_large"]


def line(model: str, start: str, alphas: tuple[float, float], points: int = 5) -> pd.DataFrame:
    return table(bayes_optimal, model=model, starts=[start], alphas=alphas, marked=[alphas[1]], points=points)


def test_transitions_are_those_of_the_models() -> None:
    found = table(sweep, ask="bayes.transitions", over={"model": MODELS}).set_index("model")
    assert list(found.index) == MODELS
    for model, row in found.iterrows():
        expected = transitions(str(model))
        assert row.to_dict() == vars(expected)
    assert found.loc["committee_large", "algorithmic"] == math.inf


@pytest.mark.parametrize(
    ("model", "start", "alpha", "expected"),
    [
        ("perceptron", "uninformed", 2.0, bayes.learning(2.0)),
        ("binary_perceptron", "uninformed", 1.4, bayes.learning(1.4, "binary")),
        ("binary_perceptron", "informed", 1.4, bayes.learning(1.4, "binary", start="informed")),
        ("phase_retrieval", "uninformed", 1.1, bayes.learning(1.1, channel="absolute")),
        ("phase_retrieval", "informed", 1.1, bayes.learning(1.1, channel="absolute", start="informed")),
        ("committee_2", "uninformed", 3.0, committee.learning(3.0, 2)),
        ("committee_large", "uninformed", 8.0, committee.learning(8.0, math.inf)),
        ("committee_large", "informed", 8.0, committee.learning(8.0, math.inf, "informed")),
    ],
)
def test_lines_have_the_fixed_points_of_the_library(model: str, start: str, alpha: float, expected: Any) -> None:
    found = table(bayes_optimal, model=model, starts=BOTH, alphas=[0.5, 9.0], marked=[alpha], points=4)
    row = found[(found["start"] == start) & (found["alpha"] == alpha)].iloc[0].dropna().to_dict()
    numbers = {name: value for name, value in vars(expected).items() if not math.isnan(value)}
    numbers.pop("units", None)
    if model.startswith("committee"):
        numbers["overlap"] = numbers.pop("mean_overlap")
    if model == "committee_2":
        numbers["linear_overlap"], numbers["linear_error"] = committee.least_squares(alpha)
    assert row == numbers | {"model": model, "start": start}
    assert set(numbers) | {"model", "start"} <= set(found.columns)


@pytest.mark.parametrize(("model", "alphas"), [("binary_perceptron", (1.0, 2.0)), ("phase_retrieval", (0.9, 1.5))])
def test_a_line_jumps_between_two_points_at_one_load(model: str, alphas: tuple[float, float]) -> None:
    load = transitions(model).algorithmic
    found = line(model, "uninformed", alphas)
    below, beyond = found[found["alpha"] < load].iloc[-1], found[found["alpha"] > load].iloc[0]
    assert beyond["alpha"] - below["alpha"] < 1e-8
    assert beyond["overlap"] == 1.0 and below["overlap"] < 0.9
    # The branch ends like a square root, so it is steep there.
    assert line(model, "uninformed", alphas, 41).query("alpha < @load")["overlap"].diff().max() < 0.06


def test_an_informed_start_has_rows_only_where_it_stays_in_the_good_phase() -> None:
    assert set(line("binary_perceptron", "informed", (0.1, 2.0))["overlap"]) == {1.0}
    retrieval = line("phase_retrieval", "informed", (0.3, 1.5))
    assert retrieval["alpha"].iloc[0] == pytest.approx(1.0, abs=1e-8) and set(retrieval["overlap"]) == {1.0}
    large = line("committee_large", "informed", (1.0, 12.0))
    assert large["alpha"].iloc[0] == pytest.approx(transitions("committee_large").spinodal, abs=1e-7)
    assert large["specialization"].iloc[0] == pytest.approx(0.82075, abs=1e-3)
    assert large["specialization"].is_monotonic_increasing
    assert len(line("phase_retrieval", "uninformed", (0.3, 1.5))) > len(retrieval)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_shipped_lines_are_smooth_to_the_eye(section: str) -> None:
    """Between two points of the default scale a straight line is as good as the curve, to the width of a line."""
    parameters = resolve("default").experiments[f"glm/{section}"]
    assert isinstance(parameters, bayes_optimal.Parameters)
    between = parameters.model_copy(update={"points": 2 * parameters.points - 1})
    for task in bayes_optimal.tasks(parameters):
        coarse, fine = (bayes_optimal.compute(each, task, CONTEXT) for each in (parameters, between))
        assert coarse["alpha"].is_monotonic_increasing and len(fine) > 1.5 * len(coarse)
        assert coarse["residual"].max() < 1e-9
        for column in ("overlap", "specialization", "bayes_error"):
            straight = np.interp(fine["alpha"], coarse["alpha"], coarse[column])
            assert not np.max(np.abs(straight - fine[column])) > 0.003, column


def test_the_glass_ends_on_its_line_of_zero_entropy() -> None:
    found = table(gibbs_learning, temperatures=[0.0, 0.5], points=3)
    end = gibbs.glass_ends()
    last = gibbs.freezing_temperature(end)
    assert set(found["glass_end"]) == {end} and set(found["glass_end_temperature"]) == {last}
    lines = found.set_index("temperature")
    corner = lines.index[2]
    assert list(lines.index) == [0.0, 0.25, corner, last, 0.5]
    assert gibbs.spinodal(corner) == pytest.approx(end, abs=1e-11)
    # The line of zero entropy turns back above its largest load, which is the last that is there.
    assert lines["zero_entropy"].isna().tolist() == [False, False, False, False, True]
    assert lines["zero_entropy"].max() == pytest.approx(end, abs=1e-12)
    assert lines["metastable_end"].drop(corner).tolist() == [end, end, gibbs.spinodal(last), gibbs.spinodal(0.5)]
    # At temperature 0 the student is a sample of the posterior.
    optimal = transitions("binary_perceptron")
    assert lines.loc[0.0, "equilibrium"] == pytest.approx(optimal.information_theoretic, abs=1e-9)
    assert lines.loc[0.25, "zero_entropy"] == gibbs.zero_entropy(0.25)
    assert lines.loc[0.25, "equilibrium"] == gibbs.equilibrium(0.25)
    # The errors are minus the derivative of the free entropy by 1/T, on the side where the entropy is positive.
    load, step = lines.loc[0.25, "zero_entropy"], 1e-3
    above = [gibbs.learning(load, 1.0 / (4.0 - i * step)).free_entropy for i in range(1, 4)]
    energy = (-2.5 * above[0] + 4.0 * above[1] - 1.5 * above[2]) / step
    assert lines.loc[0.25, "glass_energy"] == pytest.approx(energy, rel=1e-4) and energy > 0.01
    assert lines.loc[0.0, "glass_energy"] == 0.0 and math.isnan(lines.loc[0.5, "glass_energy"])


INDEPENDENT = {"kind": "independent"}
RANDOM = {"kind": "random_features", "inputs_per_feature": 0.2, "activation": "tanh"}


def test_students_on_independent_inputs_and_on_random_features() -> None:
    students = {
        "weak": {"loss": "hinge", "regularization": 0.02},
        "best": {"loss": "logistic", "regularization": "optimal"},
    }
    grid = {"alphas": [0.5, 2.0], "marked": [0.7, 3.0], "points": 3}
    for features in (INDEPENDENT, RANDOM):
        found = table(empirical_risk, features=features, students=students, **grid)
        lines = found.groupby("student")["alpha"].apply(list).to_dict()
        assert set(lines) == {"weak", "best"} and all(
            at == pytest.approx([0.5, 0.7, 1.0, 2.0, 3.0]) for at in lines.values()
        )
        assert set(zip(found["student"], found["loss"], strict=True)) == {("weak", "hinge"), ("best", "logistic")}
        for row in found[found["alpha"].isin([0.7, 3.0])].itertuples():

            def fit(strength: float, row: Any = row, features: dict[str, Any] = features) -> erm.Fit:
                if features is INDEPENDENT:
                    return erm.fit(row.alpha, row.loss, strength)
                return hidden_manifold.fit(row.alpha, 0.2, row.loss, strength, "tanh")

            expected = fit(row.regularization)
            for column in ("generalization_error", "square_error", "training_loss", "overlap", "norm", "residual"):
                assert getattr(row, column) == getattr(expected, column)
            if row.student == "weak":
                assert row.regularization == 0.02
            else:
                worse = [fit(row.regularization * factor).generalization_error for factor in (0.9, 1.1)]
                assert min(worse) > row.generalization_error
    assert table(empirical_risk, features=INDEPENDENT, students=students, **grid)["inputs_per_feature"].isna().all()
    assert set(found["inputs_per_feature"]) == {0.2}


def test_a_grid_of_regularizations_is_a_map() -> None:
    students = {"square": {"loss": "square", "regularization": [0.01, 1.0]}}
    found = table(empirical_risk, features=RANDOM, students=students, alphas=[0.1, 10.0], marked=[1.5], points=3)
    surface = found.pivot(index="regularization", columns="alpha", values="generalization_error")
    assert surface.index.to_numpy() == pytest.approx([0.01, 0.1, 1.0])
    assert surface.columns.to_numpy() == pytest.approx([0.1, 1.0, 1.5, 10.0])
    assert surface.loc[1.0, 1.5] == hidden_manifold.fit(1.5, 0.2, "square", 1.0, "tanh").generalization_error


def test_simulations_compare_with_bayes_and_students_at_the_same_loads() -> None:
    experiments = resolve("default").experiments
    marked = [experiments[f"glm/{name}"].model_dump()["marked"] for name in ("bayes_perceptron", "risk")]
    assert marked[0] == marked[1]


@pytest.mark.parametrize(
    ("section", "values", "parts"),
    [
        ("transitions", {"over": {"model": ["committee_3"]}}, ["over.model[0] = committee_3", "nearest: committee_2"]),
        ("bayes_binary", {"model": "binary"}, ["model = binary", "nearest: binary_perceptron"]),
        ("bayes_binary", {"starts": ["informd"]}, ["starts[0] = informd", "one of uninformed, informed"]),
        ("bayes_committee_2", {"alphas": [1.0, 200.0]}, ["alphas, marked: 200", "at most 100"]),
        ("bayes_binary", {"marked": [1.0, 0.5]}, ["must increase strictly, but 0.5 follows 1.0"]),
        ("glass", {"temperatures": [0.5, 0.2]}, ["must increase strictly, but 0.2 follows 0.5"]),
        ("glass", {"temperatures": [-0.1, 0.2]}, ["temperatures[0] = -0.1", "≥ 0 and ≤ 100", "nearest: 0"]),
        ("risk", {"alphas": [1e-4, 1.0]}, ["alphas[0] = 0.0001", "≥ 0.001 and ≤ 1000", "nearest: 0.001"]),
        ("risk", {"students": {"square": {"loss": "squared"}}}, ["students.square.loss = squared", "nearest: square"]),
        (
            "risk",
            {"students": {"square": {"regularization": "optimum"}}},
            ["students.square.regularization = optimum", "a number ≥ 1e-14", "nearest: optimal"],
        ),
        ("risk", {"students": {"square": {"regularization": 0}}}, ["regularization = 0", "nearest: 1e-14"]),
        ("risk", {"features": {"inputs_per_feature": 0.1}}, ["inputs_per_feature = 0.1: unknown key; allowed: kind"]),
        ("manifold", {"features": {"activation": "erff"}}, ["features.activation = erff", "nearest: erf"]),
        ("manifold", {"features": {"kind": "random"}}, ["features.kind = random", "independent, random_features"]),
        (
            "manifold_map",
            {"students": {"square": {"regularization": [1, 0.1]}}},
            ["regularization = [1, 0.1]", "a list of 2"],
        ),
        ("transitions", {"over": {"model": ["phase_retrieval"] * 2}}, ["over.model", "must differ from each other"]),
        ("bayes_binary", {"starts": ["informed"] * 2}, ["starts", "must differ from each other"]),
    ],
)
def test_wrong_values_are_one_line(section: str, values: dict[str, Any], parts: list[str]) -> None:
    refused({"glm": {section: values}}, f"glm.{section}", parts)


def test_the_load_of_unique_minima_is_that_of_the_library() -> None:
    found = table(sweep, ask="quadratic_units.unique_minimum", over={})
    assert found.to_dict("records") == [unique_minimum()._asdict()]


def test_the_load_of_specialization_is_that_of_the_library() -> None:
    found = table(units_specialization, units=[2, 3])
    assert found.to_dict("list") == {"units": [2, 3], "alpha": [specialization(2), specialization(3)]}
