"""Local entropies around the solutions of a solver: the program's rows, and the solvers it takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from localentropy import seeds
from localentropy.instances.perceptron import random_patterns
from localentropy.landscape.local_entropy import local_entropy as curve_around
from localentropy.programs import local_entropy
from localentropy.programs.margins import storage
from localentropy.solvers.binary.focusing_bp import focusing_bp
from localentropy.solvers.binary.sbpi import sbpi
from tests.programs.programs import CONTEXT
from tests.programs.programs import table as table_of

VALUES: dict[str, Any] = {
    "alpha": 0.3,
    "margin_ref": 0.0,
    "margin": 0.0,
    "distances": (0.02, 0.1),
    "N": 201,
    "samples": 2,
}
SBPI: dict[str, Any] = {"solver": "sbpi", "theta": 1, "reinforcement": 0.3, "passes": 1000}
FOCUSING: dict[str, Any] = {
    "solver": "focusing_bp",
    "steps": 10,
    "replicas": 20.0,
    "damping": 0.5,
    "max_iterations": 60,
    "tolerance": 1e-3,
    "epsilon": 0.1,
}


def made(**values: Any) -> Any:
    values = VALUES | values
    return local_entropy.Parameters.of(values)(**values)


def test_the_rows_are_those_of_the_solver_and_of_the_curve_around_its_solution():
    parameters = made(**SBPI)
    assert local_entropy.tasks(parameters) == [{"sample": 0}, {"sample": 1}]
    table = local_entropy.compute(parameters, {"sample": 1}, CONTEXT)
    instance = random_patterns(201, 60, seed=seeds.child(1, "instance", sample=1))
    place = {"P": 60, "N": 201, "margin": 0.0, "sample": 1}
    options: dict[str, Any] = {"theta": 1, "reinforcement": 0.3, "passes": 1000}
    solution = sbpi(instance, margin=0.0, seed=seeds.child(1, "algorithm/sbpi", **place), **options)
    curve = curve_around(instance, solution.weights, distances=[0.02, 0.1])
    np.testing.assert_array_equal(table["entropy"], curve.entropy)
    np.testing.assert_array_equal(table["field"], curve.field)
    assert table["distance"].tolist() == [0.02, 0.1]
    assert set(table["smallest_stability"]) == {instance.stabilities(solution.weights).min()}
    assert set(table["sample"]) == {1} and set(table["alpha"]) == {60 / 201}
    assert table["peak"].isna().all()  # this solver has no magnetizations
    assert (table["solved"] == 1).all() and (table["converged"] == 1).all() and (table["residual"] < 1e-6).all()


def test_two_solvers_meet_the_same_instance_and_a_margin_is_asked_of_them():
    focused = local_entropy.compute(made(**FOCUSING, margin_ref=0.3), {"sample": 0}, CONTEXT)
    others = local_entropy.compute(made(**SBPI), {"sample": 0}, CONTEXT)
    assert (focused["solved"] == 1).all() and (focused["smallest_stability"] > 0.3).all()
    # The wider solution of the same patterns has more solutions around it.
    assert others["smallest_stability"].iloc[0] < 0.3
    assert (focused["entropy"] > others["entropy"]).all()


def test_a_run_that_fails_says_so():
    table = local_entropy.compute(made(**SBPI | {"passes": 1}, alpha=1.5), {"sample": 0}, CONTEXT)
    assert (table["solved"] == 0).all() and (table["smallest_stability"] < 0).all()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"N": 200}, "odd"),
        ({"distances": (0.1, 0.05)}, "increase"),
        ({"sweeps": 3}, "sweeps"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": 0.001}, "alpha = 0.001 leaves no patterns at N = 201"),
    ],
)
def test_wrong_values_are_refused(wrong, told):
    with pytest.raises(ValidationError, match=told):
        made(**SBPI | wrong)


def test_the_peak_is_the_overlap_of_the_last_step():
    table = local_entropy.compute(made(**FOCUSING), {"sample": 0}, CONTEXT)
    instance = random_patterns(201, 60, seed=seeds.child(1, "instance", sample=0))
    options = {name: value for name, value in FOCUSING.items() if name != "solver"}
    place = {"P": 60, "N": 201, "margin": 0.0, "sample": 0}
    run = focusing_bp(instance, margin=0.0, seed=seeds.child(1, "algorithm/focusing_bp", **place), **options)
    assert table["peak"].to_numpy() == pytest.approx(run.steps.overlap[-1], rel=1e-12)


def test_stored_patterns_are_those_of_the_solver():
    values = {"margin": 0.0, "grids": [{"N": 201, "alphas": [0.3, 0.95], "samples": 2}], **SBPI}
    found = table_of(storage, **values)
    assert found["P"].tolist() == [60, 60, 191, 191] and found["solved"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert (found["alpha"] == found["P"] / 201).all()
    instance = random_patterns(201, 191, seed=seeds.child(1, "instance", sample=1))
    seed = seeds.child(1, "algorithm/sbpi", P=191, N=201, margin=0.0, sample=1)
    run = sbpi(instance, margin=0.0, seed=seed, theta=1, reinforcement=0.3, passes=1000)
    assert found["train_error"].iloc[-1] == instance.train_error(run.weights, 0.0) > 0
    with pytest.raises(ValidationError, match="P = 60"):
        table_of(storage, **(values | {"grids": [{"N": 201, "alphas": [0.3, 0.3001], "samples": 1}]}))
