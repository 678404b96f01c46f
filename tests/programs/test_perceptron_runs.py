"""The grids of the perceptron's runs: one task for each run, and no instance counted twice."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pandas as pd
import pytest

from localentropy.errors import ConfigError, DomainError
from localentropy.pipeline.config import resolve
from localentropy.programs import solve, stabilities, typical
from localentropy.programs.parts.ensembles import RandomFeatures
from localentropy.programs.parts.perceptron_sizes import Grid, grid_tasks
from tests.programs.programs import CONTEXT, refused

RUNS: dict[str, Any] = {
    "alpha_T": 3.0,
    "activation": "sign",
    "distances": (0.0, 0.1),
    "stabilities": True,
    "test_patterns": 50,
}


def _runs(solver: str, **values: Any) -> Any:
    values = RUNS | values | {"solver": solver}
    return solve.Parameters.of(values)(**values)


SIZES: dict[str, Any] = {"D": 9, "inv_alphas": [5], "samples": 1}


def test_a_task_is_one_run():
    grid = Grid(D=9, inv_alphas=(3.0, 5.0), margins=(0.0, 0.25), samples=2)
    assert grid_tasks([grid])[:3] == [
        {"D": 9, "inv_alpha": 3.0, "margin": 0.0, "sample": 0},
        {"D": 9, "inv_alpha": 3.0, "margin": 0.0, "sample": 1},
        {"D": 9, "inv_alpha": 3.0, "margin": 0.25, "sample": 0},
    ]
    assert len(grid_tasks([grid])) == 8
    parameters = _runs("mct0", grids=(grid,), sweeps=20, sweeps_after=0)
    table = solve.compute(parameters, solve.tasks(parameters)[1], CONTEXT)
    assert set(table["sample"]) == {1} and set(table["N"]) == {81} and set(table["margin"]) == {0.0}
    assert "converged" not in set(table["quantity"])


def test_runs_that_go_on_have_the_numbers_of_the_first_solution_too():
    grid = Grid(D=9, inv_alphas=(20.0,), margins=(0.0,), samples=1)
    first, later = (
        solve.compute(parameters, solve.tasks(parameters)[0], CONTEXT).set_index("quantity")
        for parameters in (_runs("mct0", grids=(grid,), sweeps=20, sweeps_after=after) for after in (0, 30))
    )
    twice = sorted({name.removesuffix("_first") for name in later.index if name.endswith("_first")})
    assert set(twice) >= {"local_energy", "test_error"} and not any(name.endswith("_first") for name in first.index)
    for name in twice:
        now, then = (later.loc[[each], "value"].to_numpy() for each in (name, f"{name}_first"))
        assert then.tolist() == first.loc[[name], "value"].tolist() != now.tolist()
    assert later.loc["iterations", "value"] == first.loc["iterations", "value"]


def test_only_solutions_have_a_test_error():
    grid = Grid(D=9, inv_alphas=(0.5, 20.0), margins=(0.0,), samples=1)
    parameters = _runs("mct0", grids=(grid,), sweeps=20, sweeps_after=0)
    for task, solved in zip(solve.tasks(parameters), (0.0, 1.0), strict=True):
        values = solve.compute(parameters, task, CONTEXT).set_index("quantity")["value"]
        assert values["solved"] == solved and ("test_error" in values) == bool(solved)


@pytest.mark.parametrize(("iterations", "converged"), [(1, 0.0), (500, 1.0)])
def test_message_passing_says_whether_it_converged(iterations, converged):
    grid = Grid(D=9, inv_alphas=(3.0,), margins=(0.0,), samples=1)
    options = {"damping": 0.3, "max_iterations": iterations, "tolerance": 1e-3, "epsilon": 0.1}
    parameters = _runs("belief_propagation", grids=(grid,), **options)
    (task,) = solve.tasks(parameters)
    table = solve.compute(parameters, task, CONTEXT)
    assert table.loc[table["quantity"] == "converged", "value"].tolist() == [converged]


@pytest.mark.parametrize(
    ("name", "values", "parts"),
    [
        (
            "solve_mct0",
            {"grids": [{"D": 9, "inv_alphas": [3, 3.01], "margins": [0], "samples": 2}]},
            ["grids[0] D = 9, inv_alpha = 3.0, margin = 0.0 and grids[0] D = 9, inv_alpha = 3.01", "N = 81"],
        ),
        (
            "two_level_amp",
            {
                "grids": [
                    {"D": 9, "inv_alphas": [3], "margins": [0, 0.5], "samples": 2},
                    {"D": 9, "inv_alphas": [2, 3], "margins": [0.5], "samples": 2},
                ]
            },
            ["grids[0] D = 9, inv_alpha = 3.0, margin = 0.5 and grids[1]"],
        ),
        ("equivalent_features", {"sbpi": [{"D": 9, "inv_alphas": [3, 3.01], "samples": 2}]}, ["3.01", "N = 81"]),
        (
            "solution_overlaps",
            {"grids": [{"solver": "sbpi", "D": 9, "inv_alphas": [3, 3.01], "samples": 2, "runs": 2}]},
            ["solver = sbpi", "N = 81"],
        ),
        ("committee_sgd", {"inv_alphas": [0.3, 0.301]}, ["0.3 and 0.301 are the same size, N = 90"]),
        ("committee_focusing_bp", {"inv_alphas": [0.3, 0.301]}, ["0.3 and 0.301 are the same size, N = 90"]),
    ],
)
def test_an_instance_that_would_be_counted_twice_is_refused_in_one_line(name, values, parts):
    refused({name: values}, f"{name}: ", parts)


def test_the_same_sizes_at_other_margins_and_for_other_solvers_are_allowed():
    twice = [{"D": 9, "inv_alphas": [3], "margins": [margin], "samples": 2} for margin in (0, 0.5)]
    resolve("smoke", overrides={"solve_mct0": {"grids": twice}})
    grids = [{"solver": s, "D": 9, "inv_alphas": [3], "samples": 2, "runs": 2} for s in ("sbpi", "mct0")]
    resolve("smoke", overrides={"solution_overlaps": {"grids": grids}})


@pytest.mark.parametrize("program", [typical, stabilities])
def test_the_theory_of_overlapping_grids_has_every_point_once(program):
    grids = (
        Grid(D=33, inv_alphas=(5.0, 10.0), margins=(0.0,), samples=1),
        Grid(D=33, inv_alphas=(5.001, 20.0), margins=(0.0, 0.5), samples=3),
    )
    ensemble = RandomFeatures(model="random_features", activation="sign")
    parameters = (
        typical.Sizes(alpha_T=3.0, at="sizes", ensemble=ensemble, grids=grids)
        if program is typical
        else stabilities.Lattice(alpha_T=3.0, at="lattice", ensemble=ensemble, grids=grids, distances=(0.0, 0.01))
    )
    tasks = program.tasks(parameters)
    assert [(task["inv_alpha"], task["margin"]) for task in tasks] == [
        (5.0, 0.0),
        (10.0, 0.0),
        (5.001, 0.5),
        (20.0, 0.0),
        (20.0, 0.5),
    ]
    table = pd.concat([program.compute(parameters, task, CONTEXT) for task in tasks])
    keys = [name for name in ("D", "N", "margin", "quantity", "x") if name in table]
    assert not table.duplicated(keys).any()
    assert not pd.DataFrame(tasks).duplicated().any()


def test_features_of_equal_moments_have_no_margins():
    with pytest.raises(ConfigError, match="margins"):
        resolve("smoke", overrides={"equivalent_features": {"sbpi": [SIZES | {"margins": [0.5]}]}})
    resolve("smoke", overrides={"equivalent_features": {"sbpi": [SIZES]}})


def test_a_line_that_ends_before_its_threshold_is_refused():
    experiments: dict[str, Any] = resolve("smoke", overrides={"typical": {"largest_inv_alpha": 0.8}}).experiments
    parameters = experiments["overparam/typical"]
    with pytest.raises(DomainError, match=r"largest_inv_alpha = 0\.8 .* 0\.0: solutions exist from 1/α = 0\.877"):
        typical.compute(parameters, typical.tasks(parameters)[0], CONTEXT)


def test_only_binarynet_imports_pytorch():
    values = RUNS | {
        "solver": "sbpi",
        "theta": 1,
        "reinforcement": 0.3,
        "passes": 9,
        "grids": [SIZES | {"margins": [0]}],
    }
    program = f"""
import sys
from localentropy.programs import solve
from localentropy.programs.parts.parameters import Context
parameters = solve.Parameters.of({values!r})(**{values!r})
solve.compute(parameters, solve.tasks(parameters)[0], Context(1, dict(), print))
assert "torch" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
