"""The programs that simulate the talk `glm`'s algorithms: message passing and gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from localentropy import seeds
from localentropy.errors import ConfigError
from localentropy.instances.committee_teacher import committee_teacher
from localentropy.instances.generalized_linear import GeneralizedLinear, generalized_linear
from localentropy.landscape.unique_minimum import unique_minimum
from localentropy.pipeline.config import resolve
from localentropy.programs import committee_amp, generalized_amp, phase_retrieval_descent, phase_retrieval_uniqueness
from localentropy.solvers import committee_amp as committee_solver
from localentropy.solvers.descent import Descent, descend_phase_retrieval
from localentropy.solvers.generalized_amp import generalized_amp as solve
from tests.programs.programs import refused, table

AMP = {"prior": "binary", "channel": "sign", "alphas": [0.5, 2.5], "max_iterations": 200, "tolerance": 1e-6}
AMP |= {"epsilon": 0.01, "d": 100, "samples": 2}
COMMITTEE = {"alphas": [0.5, 8.0], "max_iterations": 80, "tolerance": 1e-4, "epsilon": 0.01, "d": 60, "samples": 2}
PLAIN = {"student": "plain", "d": 15, "alphas": [2.0, 8.0], "samples": 6, "step": 0.05, "iterations": 2000}
WIDE = {"student": "wide", "d": 8, "alphas": [1.0], "samples": 3, "step": 0.02, "iterations": 4000}
DESCENT = {"loss_tolerance": 1e-6, "speed_tolerance": 1e-6, "success_overlap": 0.99}


def problem(n: int, d: int, sample: int, prior: str, channel: str) -> GeneralizedLinear:
    return generalized_linear(n, d, seeds.child(1, "instance", sample=sample), prior=prior, channel=channel)


def test_rows_of_message_passing_are_those_of_the_solver() -> None:
    found = table(generalized_amp, **AMP)
    assert found["n"].tolist() == [50, 50, 250, 250] and found["sample"].tolist() == [0, 1, 0, 1]
    for row in found.itertuples():
        instance = problem(row.n, row.d, row.sample, row.prior, row.channel)
        seed = seeds.child(1, "algorithm/generalized_amp", sample=row.sample)
        run = solve(instance, seed=seed, max_iterations=200)
        assert row.overlap == pytest.approx(run.weights @ instance.teacher / 100, rel=1e-12)
        assert row.self_overlap == pytest.approx(np.mean(run.weights**2), rel=1e-9)
        assert row.cosine == pytest.approx(row.overlap / np.sqrt(row.self_overlap), rel=1e-9)
        assert (row.variance, row.converged, row.iterations) == (run.variance, run.converged, run.iterations)
    few, many = (own for _, own in found.groupby("alpha"))
    assert many["cosine"].min() > few["cosine"].max()


def test_rows_of_message_passing_for_a_committee_are_those_of_the_solver() -> None:
    found = table(committee_amp, **COMMITTEE)
    assert found["n"].tolist() == [30, 30, 480, 480] and found["sample"].tolist() == [0, 1, 0, 1]
    for row in found.itertuples():
        instance = committee_teacher(row.n, 60, seeds.child(1, "instance", sample=row.sample))
        seed = seeds.child(1, "algorithm/committee_amp", sample=row.sample)
        run = committee_solver.committee_amp(instance, seed=seed, max_iterations=80, tolerance=1e-4)
        assert (row.overlap, row.specialization) == pytest.approx(instance.overlaps(run.weights), rel=1e-9)
        error = instance.error(run.weights, run.covariance, samples=100_000, seed=0)
        assert row.error == pytest.approx(error, abs=0.01)
        assert (row.converged, row.iterations) == (run.converged, run.iterations)
    few, many = (own for _, own in found.groupby("alpha"))
    assert many["specialization"].min() > few["specialization"].max() and many["error"].max() < few["error"].min()


def test_rows_of_descent_are_those_of_the_solver() -> None:
    found = table(phase_retrieval_descent, grids=[PLAIN, WIDE], **DESCENT)
    assert found.groupby(["student", "d", "units", "n", "alpha"]).size().to_dict() == {
        ("plain", 15, 1, 30, 2.0): 6, ("plain", 15, 1, 120, 8.0): 6, ("wide", 8, 8, 8, 1.0): 3,
    }  # fmt: skip
    for row in found.groupby(["student", "n"]).tail(1).itertuples():
        grid: Any = PLAIN if row.student == "plain" else WIDE
        rule = Descent(step=grid["step"], iterations=grid["iterations"], loss_tolerance=1e-6)
        (run,) = descend_phase_retrieval(
            [problem(row.n, row.d, row.sample, "gaussian", "absolute")],
            units=row.units,
            seeds=[seeds.child(1, "algorithm/descent", sample=row.sample)],
            descent=rule,
        )
        for name in ("overlap", "loss", "loss_midway", "test_error"):
            assert getattr(row, name) == pytest.approx(getattr(run, name), rel=1e-6, abs=1e-12)
        assert (row.iterations, row.converged, row.success) == (run.iterations, run.converged, run.success)
    one = found[found["student"] == "plain"].groupby("alpha")["success"].mean()
    assert one[8.0] > one[2.0]
    many = found[found["student"] == "wide"]
    assert (many["loss"] < many["loss_midway"]).all() and (many["loss"] < 1e-4).all() and not many["success"].any()


def test_rows_of_uniqueness_are_those_of_the_function() -> None:
    grids = [{"d": 8, "alphas": [1.0, 4.0], "samples": 3}, {"d": 10, "alphas": [2.0], "samples": 2}]
    found = table(phase_retrieval_uniqueness, grids=grids)
    assert found.groupby(["d", "n", "alpha"]).size().to_dict() == {(8, 8, 1.0): 3, (8, 32, 4.0): 3, (10, 20, 2.0): 2}
    for row in found.itertuples():
        expected = unique_minimum(problem(row.n, row.d, row.sample, "gaussian", "absolute"))
        assert (row.unique, row.steps) == (expected.unique, expected.steps)
        assert row.bound == pytest.approx(expected.margin)
    assert found.groupby("n")["unique"].sum()[[8, 32]].tolist() == [0.0, 3.0]
    with pytest.raises(ValidationError, match="are the same runs, n = 8"):
        table(phase_retrieval_uniqueness, grids=[{"d": 8, "alphas": [1.0, 1.01], "samples": 1}])


@pytest.mark.parametrize(
    ("program", "values"), [(generalized_amp, AMP), (committee_amp, COMMITTEE), (phase_retrieval_descent, DESCENT)]
)
def test_more_samples_change_no_run(program: Any, values: dict[str, Any]) -> None:
    grids = [{"grids": [PLAIN | {"samples": samples}]} for samples in (2, 4)]
    few, many = (
        table(program, **(values | (grid if program is phase_retrieval_descent else {"samples": samples})))
        for samples, grid in zip((2, 4), grids, strict=True)
    )
    both = many[many["sample"] < 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(few, both, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("grids", "told"),
    [
        (
            [PLAIN, PLAIN | {"alphas": [8.01]}],
            r"grids\[0\] plain, d = 15, α = 8.0 and grids\[1\] plain, d = 15, α = 8.01",
        ),
        ([PLAIN | {"alphas": [3.0, 2.0]}], "must increase strictly"),
        ([PLAIN | {"student": "deep"}], "'plain' or 'wide'"),
        ([PLAIN | {"d": 1}], "greater than or equal to 2"),
    ],
)
def test_wrong_grids_are_refused(grids: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        phase_retrieval_descent.Parameters.model_validate(DESCENT | {"grids": grids})


def test_the_same_sizes_for_two_students_are_allowed() -> None:
    grids = [PLAIN, PLAIN | {"student": "wide"}]
    assert len(phase_retrieval_descent.Parameters.model_validate(DESCENT | {"grids": grids}).grids) == 2


@pytest.mark.parametrize("section", ["amp_perceptron", "amp_binary", "amp_phase_retrieval", "amp_committee"])
def test_theory_is_at_the_loads_of_message_passing(section: str) -> None:
    experiments = resolve("default").experiments
    line = section.replace("amp", "bayes") + ("_2" if section == "amp_committee" else "")
    theory = experiments[f"glm/{line}"].model_dump()
    assert set(experiments[f"glm/{section}"].model_dump()["alphas"]) <= set(theory["marked"])


def test_two_loads_with_the_same_training_sets_are_refused() -> None:
    same = r"glm.*alphas: 1\.0 and 1\.0001 are the same size, n = 200: drop one"
    for section, sizes in (("amp_perceptron", {"d": 200}), ("risk_runs", {"sizes": [{"d": 200, "samples": 2}]})):
        alphas = {"alphas": [1.0, 1.0001]}
        risk = {"risk": {"marked": alphas["alphas"]}} if section == "risk_runs" else {}
        with pytest.raises(ConfigError, match=same):
            resolve("smoke", overrides={"glm": {section: alphas | sizes, **risk}})


def test_a_wrong_number_in_the_configuration_is_told_in_one_line() -> None:
    refused({"glm": {"amp_binary": {"epsilon": -1.0}}}, "glm.amp_binary", ["epsilon"])
