"""The programs on solutions of committee machines, on few patterns: what their tables hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from localentropy.data.registry import DATA_DIR
from localentropy.instances.committee import random_tree_committee
from localentropy.landscape.committee_local_entropy import committee_local_entropy as local_entropy
from localentropy.landscape.hessian import hessian_eigenvalues, smallest_valid_beta
from localentropy.programs import (
    committee_input_noise,
    committee_local_entropy,
    committee_solutions,
    committee_spectra,
    committee_volume,
)
from localentropy.programs.parts.committee_problems import problem_and_weights
from localentropy.programs.parts.parameters import Context
from localentropy.seeds import child
from localentropy.solvers.committee.belief_propagation import committee_belief_propagation
from tests.programs.programs import table

FBP = {
    "solver": "focusing_bp",
    "coupling_start": 0.5,
    "coupling_end": 30.0,
    "steps": 10,
    "replicas": 10,
    "damping": 0.5,
    "max_iterations": 100,
    "tolerance": 1e-3,
    "stop": "end",
}
RULE = {"learning_rate": 5e-3, "batch": 30, "epochs": 500}
LAL = RULE | {"solver": "least_action", "renormalise": True}
ELAL = RULE | {
    "solver": "entropic_least_action",
    "replicas": 3,
    "coupling": 0.5,
    "coupling_growth": 0.01,
    "tolerance": 1e-7,
}
CE = {
    "solver": "sgd",
    "learning_rate": 0.01,
    "batch": 30,
    "beta": 1.0,
    "beta_growth": 1e-3,
    "gamma": 3.0,
    "gamma_growth": 0.0,
    "epochs": 1000,
    "stop": "errors",
    "loss_tolerance": 1e-7,
}
TREE: dict[str, Any] = {
    "data": "random",
    "machine": "tree",
    "units": 3,
    "alphas": [0.4, 0.7],
    "N": 99,
    "samples": 2,
    "algorithms": {"fbp": FBP, "elal": ELAL, "ce": CE, "lal": LAL},
}
IMAGES: dict[str, Any] = {
    "data": "dress_coat",
    "units": 3,
    "samples": 1,
    "algorithms": {"lal": LAL | {"learning_rate": 1e-4}, "tired": LAL | {"learning_rate": 1e-4, "epochs": 1}},
}
DATA = {name: DATA_DIR / "embedded" / f"{name}.npz" for name in ("dress_coat",)}
NAME = "shaping/solutions"


def context(**tables: pd.DataFrame) -> Context:
    return Context(seed=1, data=DATA, report=lambda line: None, tables={f"shaping/{k}": v for k, v in tables.items()})


@pytest.fixture(scope="module")
def solutions() -> pd.DataFrame:
    return table(committee_solutions, context(), **TREE)


def test_solutions_are_what_the_weights_of_the_table_are(solutions: pd.DataFrame) -> None:
    assert len(solutions) == 4 * 2 * 2 and set(solutions["P"]) == {40, 69} and set(solutions["N"]) == {99}
    assert solutions["solved"].mean() > 0.8 and solutions["test_error"].isna().all()
    for run in solutions.itertuples():
        assert run.weights.dtype == np.float32 and run.weights.shape == (99,)
        instance = random_tree_committee(99, run.P, 3, seed=child(1, "instance", sample=run.sample))
        weights = run.weights.reshape(3, 33)
        np.testing.assert_allclose(np.linalg.norm(weights, axis=1), 1.0, rtol=1e-6)
        assert run.train_error == instance.train_error(weights)
        assert run.solved == (run.train_error == 0) and run.iterations > 0
        rebuilt, again = problem_and_weights(context(solutions=solutions), NAME, run)
        assert np.array_equal(rebuilt.data.signed_patterns, instance.data.signed_patterns)
        assert np.array_equal(again, weights)


def test_other_algorithms_and_sizes_change_no_run(solutions: pd.DataFrame) -> None:
    alone = table(committee_solutions, context(), **TREE | {"algorithms": {"lal": LAL}, "alphas": [0.7], "samples": 1})
    run = solutions[(solutions["algorithm"] == "lal") & (solutions["P"] == 69) & (solutions["sample"] == 0)]
    assert np.array_equal(alone["weights"][0], run["weights"].iloc[0])


def test_a_table_depends_on_the_solvers_of_its_configuration_only() -> None:
    parameters = committee_solutions.Parameters.of(TREE).model_validate(TREE | {"algorithms": {"a": LAL, "b": LAL}})
    assert parameters.modules() == ["localentropy.solvers.committee.least_action:committee_least_action"]
    everything = committee_solutions.Parameters.of(TREE).model_validate(TREE)
    assert len(everything.modules()) == 4 and everything.modules()[-1].endswith("sgd:committee_sgd")


def test_focusing_runs_on_fully_connected_machines_too() -> None:
    rows = table(
        committee_solutions, context(), **TREE | {"machine": "full", "algorithms": {"fbp": FBP}, "alphas": [0.4]}
    )
    assert rows["solved"].all() and not np.array_equal(*rows["weights"])


def test_images_have_a_test_error_and_shuffled_ones_none() -> None:
    rows = table(committee_solutions, context(), **IMAGES)
    assert (rows["P"] == 500).all() and (rows["N"] == 3 * 784).all()
    for run in rows.itertuples():
        instance, weights = problem_and_weights(context(solutions=rows), NAME, run)
        assert run.test_error == instance.test_error(weights) and 0.0 < run.test_error < 0.5
        assert run.train_error == instance.train_error(weights)
    assert list(rows["solved"]) == [1.0, 0.0]
    shuffled = table(committee_solutions, context(), **IMAGES | {"data": "dress_coat_shuffled"})
    assert shuffled["test_error"].isna().all()


def test_local_entropies_are_those_around_the_solutions(solutions: pd.DataFrame) -> None:
    values = {"solutions": NAME, "algorithms": ["fbp", "lal"], "distances": [0.01, 0.05], "samples": 2}
    spoiled = solutions.assign(solved=solutions["solved"].where(solutions["algorithm"] != "lal", 0.0))
    spoiled.attrs = solutions.attrs
    at = context(solutions=spoiled)
    rows = table(committee_local_entropy, at, **values)
    assert len(rows) == 2 * 2 * 2 * 2
    of_lal = rows[rows["algorithm"] == "lal"]
    assert of_lal["entropy"].isna().all() and (of_lal["converged"] == 0).all() and (of_lal["solved"] == 0).all()
    for run in solutions[solutions["algorithm"] == "fbp"].itertuples():
        curve = local_entropy(*problem_and_weights(at, NAME, run), distances=[0.01, 0.05])
        own = rows[(rows["algorithm"] == "fbp") & (rows["sample"] == run.sample) & (rows["P"] == run.P)]
        np.testing.assert_array_equal(own["entropy"], curve.entropy)
        assert (own["alpha"] == run.P / 99).all() and (own["converged"] == 1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"N": 100}, "N = 100 is not divisible by units = 3; nearest: 99"),
        ({"alphas": [0.4, 0.4001]}, "alphas: 0.4 and 0.4001 are the same size, P = 40: drop one"),
        ({"alphas": [0.001]}, "alphas: 0.001 leaves no patterns at N = 99"),
        ({"algorithms": {"a": LAL | {"replicas": 3}}}, "Extra inputs are not permitted"),
        ({"algorithms": {}}, "at least 1 item"),
    ],
)
def test_wrong_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    values = TREE | change
    with pytest.raises(ValidationError, match=message):
        committee_solutions.Parameters.of(values).model_validate(values)


SPECTRA: dict[str, Any] = {
    "solutions": NAME,
    "rules": {"all": ["fbp", "lal"], "wide": ["fbp"], "given": 7},
    "smallest_beta": 0.5,
    "largest_beta": 500.0,
    "betas": 60,
    "whole": True,
    "samples": 2,
}


def test_no_spectra_where_the_grid_has_no_beta_that_is_valid_at_all_solutions(solutions: pd.DataFrame) -> None:
    """LAL's solutions need a larger β than fBP's. A grid that ends between has one for most solutions, not for all."""
    at = context(solutions=solutions)
    grid = np.geomspace(0.5, 500.0, 60)
    least = {
        algorithm: [smallest_valid_beta(*problem_and_weights(at, NAME, run), grid) for run in runs.itertuples()]
        for algorithm, runs in solutions[solutions["solved"] == 1].groupby("algorithm")
    }
    end = 0.85 * max(least["lal"])  # neighbours on the grid are a factor of 1.12 apart
    assert max(least["fbp"]) < end and min(least["lal"]) < end
    rows = table(committee_spectra, at, **SPECTRA | {"largest_beta": end, "whole": False})
    whole = rows[rows["rule"] == "all"]
    assert set(whole["quantity"]) == {"smallest_beta"} and whole["beta"].isna().all()
    assert 0 < whole["value"].isna().sum() < len(whole)
    for rule in ("wide", "given"):
        own = rows[rows["rule"] == rule]
        assert "largest_eigenvalue" in set(own["quantity"]) and own["beta"].notna().all()


def test_spectra_are_taken_at_the_smallest_valid_beta_of_all_solutions_of_a_rule(solutions: pd.DataFrame) -> None:
    values = SPECTRA
    at = context(solutions=solutions)
    rows = table(committee_spectra, at, **values)
    grid = np.geomspace(0.5, 500.0, 60)
    least = {
        (run.algorithm, run.P, run.sample): smallest_valid_beta(*problem_and_weights(at, NAME, run), grid)
        for run in solutions[solutions["solved"] == 1].itertuples()
    }
    for rule, algorithms in (("all", ("fbp", "lal")), ("wide", ("fbp",))):
        own = rows[rows["rule"] == rule]
        assert set(own["beta"]) == {max(beta for (name, *_), beta in least.items() if name in algorithms)}
        assert set(own["algorithm"]) == set(solutions["algorithm"])
        betas = own[own["quantity"] == "smallest_beta"]
        assert set(betas["algorithm"]) == set(algorithms)
        assert set(betas["value"]) == {beta for (name, *_), beta in least.items() if name in algorithms}
    assert rows.loc[rows["rule"] == "all", "beta"].iloc[0] > rows.loc[rows["rule"] == "wide", "beta"].iloc[0]
    (run,) = solutions.query("algorithm == 'fbp' and P == 69 and sample == 1").itertuples()
    own = rows[(rows["rule"] == "wide") & (rows["algorithm"] == "fbp") & (rows["sample"] == 1)]
    own = own[np.isclose(own["alpha"], 69 / 99)]
    eigenvalues = hessian_eigenvalues(*problem_and_weights(at, NAME, run), own["beta"].iloc[0])
    np.testing.assert_array_equal(own.loc[own["quantity"] == "eigenvalue", "value"], eigenvalues)
    assert list(own.loc[own["quantity"] == "eigenvalue", "rank"]) == list(range(99))
    assert own.loc[own["quantity"] == "largest_eigenvalue", "value"].item() == eigenvalues[-1]

    given = rows[rows["rule"] == "given"]
    assert set(given["beta"]) == {7.0} and set(given["algorithm"]) == set(solutions["algorithm"])
    assert set(given["quantity"]) == {"largest_eigenvalue", "eigenvalue"}

    largest = table(committee_spectra, at, **values | {"whole": False})
    both = [t[t["quantity"] == "largest_eigenvalue"]["value"].to_numpy(float) for t in (rows, largest)]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-8)
    assert "eigenvalue" not in set(largest["quantity"])


def test_noise_is_the_same_for_all_solutions_and_none_is_no_error(solutions: pd.DataFrame) -> None:
    values = {
        "solutions": NAME,
        "algorithms": ["fbp", "lal"],
        "probabilities": [0.0, 0.2, 1.0],
        "draws": 3,
        "samples": 2,
    }
    twice = pd.concat([solutions, solutions[solutions["algorithm"] == "fbp"].assign(algorithm="lal")])
    twice = twice[(twice["algorithm"] != "lal") | (twice.index.isin(solutions.index[solutions["algorithm"] == "fbp"]))]
    twice.attrs = solutions.attrs
    rows = table(committee_input_noise, context(solutions=twice), **values)
    means = rows.groupby(["algorithm", "probability"])["train_error"].mean().unstack()
    assert (means[0.0] == 0.0).all() and (means[0.2] > 0.0).all() and (means[1.0] > means[0.2]).all()
    # The same weights under another name meet the same noise.
    same = [rows[rows["algorithm"] == name]["train_error"].to_numpy() for name in ("fbp", "lal")]
    np.testing.assert_array_equal(same[0], same[1])
    assert len(rows) == 2 * 4 * 3 * 3


def test_volumes_are_those_of_belief_propagation() -> None:
    options: dict[str, Any] = {"damping": 0.5, "max_iterations": 300, "tolerance": 1e-5}
    rows = table(committee_volume, **options, units=3, alphas=[0.3, 0.6], N=99, samples=2)
    assert (rows["converged"] == 1).all() and (rows["entropy"] < 0).all() and len(rows) == 4
    row = rows.iloc[3]
    instance = random_tree_committee(99, 59, 3, seed=child(1, "instance", sample=1))
    beliefs = committee_belief_propagation(instance, **options)
    assert (row["entropy"], row["overlap"]) == (beliefs.entropy, beliefs.overlap) and row["alpha"] == 59 / 99
