"""Annealing of several energies with one schedule: the program's rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from localentropy import seeds
from localentropy.instances.perceptron import random_patterns
from localentropy.landscape.local_entropy import local_entropy
from localentropy.programs import annealing
from localentropy.solvers.binary.anneal import anneal
from tests.programs.programs import CONTEXT

VALUES: dict[str, Any] = {
    "alphas": (0.3, 0.6),
    "energies": [{"energy": "errors"}, {"energy": "cross_entropy", "gammas": (0.5, 2.0)}],
    "beta_start": 1.0,
    "beta_end": 101.0,
    "traced": 4,
    "distances": (0.02, 0.1),
    "sweeps": 400,
    "N": 201,
    "samples": 2,
}


def values_of(table, quantity, **where):
    for column, value in where.items():
        table = table[table[column] == value]
    return table.loc[table["quantity"] == quantity, "value"].to_numpy()


def test_all_energies_have_one_schedule_and_the_rows_are_those_of_their_runs():
    parameters = annealing.Parameters(**VALUES)
    assert annealing.tasks(parameters)[2] == {"alpha": 0.6, "sample": 0}
    table = annealing.compute(parameters, {"alpha": 0.3, "sample": 1}, CONTEXT)
    instance = random_patterns(201, 60, seed=seeds.child(1, "instance", sample=1))
    seed = seeds.child(1, "algorithm/anneal", P=60, N=201, sample=1)
    schedule: dict[str, Any] = {"beta_start": 1.0, "beta_step": 0.25, "sweeps": 400, "stop_at_first": False}
    assert set(table["alpha"]) == {60 / 201} and set(table["sample"]) == {1}
    for gamma in (math.nan, 0.5, 2.0):
        energy = {"energy": "errors"} if math.isnan(gamma) else {"energy": "cross_entropy", "gamma": gamma}
        run = anneal(instance, seed=seed, **schedule, **energy)
        rows = table[table["gamma"].isna() if math.isnan(gamma) else table["gamma"] == gamma]
        assert set(rows["energy"]) == {energy["energy"]}
        assert values_of(rows, "solved") == run.solved
        assert values_of(rows, "solved_once") == (run.best_train_error == 0)
        assert values_of(rows, "train_error_last") == instance.train_error(run.weights)
        assert values_of(rows, "train_error_best") == run.best_train_error
        # β = 1, 4.66, 21.7 and 101 are those of the first sweep, of sweeps 15 and 83, and of the last.
        np.testing.assert_array_equal(values_of(rows, "train_error"), run.train_errors[[1, 15, 83, 400]])
        references = {"local_entropy": run.weights, "local_entropy_first": run.first_weights}
        for quantity, reference in references.items():
            assert reference is not None
            expected = local_entropy(instance, reference, distances=(0.02, 0.1)).entropy
            np.testing.assert_array_equal(values_of(rows, quantity), expected)
    assert list(table[table["quantity"] == "local_entropy"]["x"]) == [0.02, 0.1] * 3
    # At the end of the schedule the cross-entropy has found a wider region than at the first solution.
    assert (values_of(table, "local_entropy", gamma=2.0) > values_of(table, "local_entropy_first", gamma=2.0)).all()


def test_a_run_that_fails_says_so():
    table = annealing.compute(annealing.Parameters(**VALUES | {"sweeps": 2}), {"alpha": 0.6, "sample": 0}, CONTEXT)
    assert (values_of(table, "solved") == 0).all() and (values_of(table, "solved_once") == 0).all()
    assert (values_of(table, "train_error_best") > 0).all() and not values_of(table, "local_entropy_first").size
    assert values_of(table, "local_entropy").size == 6


def test_no_local_entropies_without_distances():
    parameters = annealing.Parameters(**VALUES | {"distances": (), "traced": 0})
    table = annealing.compute(parameters, {"alpha": 0.3, "sample": 0}, CONTEXT)
    assert set(table["quantity"]) == {"solved", "solved_once", "train_error_last", "train_error_best"}
    assert list(table.columns) == list(annealing.COLUMNS)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"N": 200}, "odd"),
        ({"distances": (0.1, 0.05)}, "increase"),
        ({"beta_end": 1.0}, "beta_start = 1.0 must lie below beta_end = 1.0"),
        ({"alphas": (0.4, 0.4001)}, "alphas: 0.4 and 0.4001 are the same size, P = 80: drop one"),
        ({"alphas": (0.001,)}, "alphas: 0.001 leaves no patterns at N = 201"),
        ({"energies": [{"energy": "cross_entropy"}]}, "cross_entropy needs them"),
        ({"energies": [{"energy": "errors", "gammas": (1.0,)}]}, "no other energy takes them"),
        ({"energies": [{"energy": "entropy"}]}, "'errors', 'linear' or 'cross_entropy'"),
    ],
)
def test_wrong_values_are_refused(wrong, told):
    with pytest.raises(ValidationError, match=told):
        annealing.Parameters(**VALUES | wrong)
