"""The experiments behind figure 5 on few patterns: what their tables hold."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from localentropy.programs import solve_committee
from localentropy.programs.parts.parameters import Context
from localentropy.programs.solve_committee import COLUMNS
from localentropy.solvers.committee.sgd import committee_sgd_many

COMMON: dict[str, Any] = {
    "alpha_T": 5.0,
    "activation": "sign",
    "units": 9,
    "noise_levels": (0.0, 0.5),
    "D": 20,
    "inv_alphas": (0.2, 2.0),
    "samples": 2,
    "test_patterns": 500,
    "noise_draws": 3,
}
FOCUSING: dict[str, Any] = COMMON | {
    "solver": "focusing_bp",
    "coupling_start": 0.5,
    "coupling_end": 30.0,
    "steps": 5,
    "replicas": 10.0,
    "damping": 0.5,
    "max_iterations": 50,
    "tolerance": 1e-3,
    "stop": "first",
}
DESCENT: dict[str, Any] = COMMON | {
    "solver": "sgd",
    "learning_rate": 0.02,
    "batch": 30,
    "beta": 1.0,
    "beta_growth": 1e-3,
    "gamma": 5.0,
    "gamma_growth": 0.0,
    "epochs": 600,
    "epochs_after": 0,
    "starts": 3,
    "device": "cpu",
}


def parameters(values):
    return solve_committee.Parameters.of(values)(**values)


def table(values, task=1, seed=1, **changes):
    chosen = parameters(values | changes)
    context = Context(seed=seed, data={}, report=lambda line: None)
    return solve_committee.compute(chosen, solve_committee.tasks(chosen)[task], context)


@pytest.fixture(scope="module")
def tables():
    return {values["solver"]: table(values) for values in BOTH}


BOTH = (FOCUSING, DESCENT)


def test_tasks():
    assert solve_committee.tasks(parameters(DESCENT)) == [{"inv_alpha": 0.2}, {"inv_alpha": 2.0}]


def test_rows(tables):
    for values, starts in zip(BOTH, (1, 3), strict=True):
        found = tables[values["solver"]]
        assert dict(found.dtypes.astype(str)) == COLUMNS
        assert set(found["P"]) == {100} and set(found["N"]) == {198} and set(found["inv_alpha"]) == {1.98}
        counts = found.groupby("quantity").size().to_dict()
        solved = int(found.loc[found["quantity"] == "solved", "value"].sum())
        assert solved == 2 * starts  # far above the threshold
        assert counts["train_error"] == counts["test_error"] == counts["iterations"] == 2 * starts
        assert counts["noise_train_error"] == counts["noise_distance"] == solved * len(values["noise_levels"])
        assert counts.get("overlap", 0) == 2 * math.comb(starts, 2)
        quiet = found[(found["quantity"] == "noise_train_error") & (found["sigma"] == 0)]["value"]
        assert (quiet == 0).all()
        test = found.loc[found["quantity"] == "test_error", "value"]
        assert test.between(0.05, 0.5).all()


def test_below_the_threshold_nothing_is_a_solution():
    for values in BOTH:
        found = table(values, task=0)
        assert (found.loc[found["quantity"] == "solved", "value"] == 0).all()
        assert (found.loc[found["quantity"] == "train_error", "value"] > 0).all()
        assert not found["quantity"].isin(["overlap", "noise_train_error"]).any()


def test_starts_are_different_and_tables_repeat(tables):
    descent = tables["sgd"]
    overlaps = descent.loc[descent["quantity"] == "overlap", "value"]
    assert (overlaps < 0.99).all() and overlaps.nunique() == len(overlaps)
    for values in BOTH:
        pd.testing.assert_frame_equal(table(values), tables[values["solver"]])
    assert not table(DESCENT, seed=2)["value"].equals(descent["value"])


def test_more_samples_and_starts_change_no_old_row(tables):
    more = table(DESCENT, samples=3, starts=4)
    keys = ["quantity", "sample", "start", "other", "sigma"]
    joined = tables["sgd"].merge(more, on=keys, how="left", suffixes=("", "_more"))
    np.testing.assert_array_equal(joined["value"], joined["value_more"])


def test_both_solvers_have_the_same_training_sets(monkeypatch):
    seen: list[np.ndarray] = []

    def solver(instance, **_):
        seen.append(instance.data.signed_patterns)
        raise StopIteration

    def many(instances, **_):
        solver(instances[0])

    monkeypatch.setattr("localentropy.solvers.committee.focusing_bp.committee_focusing_bp", solver)
    monkeypatch.setattr("localentropy.solvers.committee.sgd.committee_sgd_many", many)
    for values in BOTH:
        with pytest.raises(StopIteration):
            table(values)
    np.testing.assert_array_equal(seen[0], seen[1])


@pytest.mark.parametrize(("device", "together"), [("cpu", [3, 3]), ("cuda", [6])])
def test_training_sets_are_made_one_after_the_other_but_for_a_gpu(monkeypatch, device, together):
    """At N = 18,000 twenty of them fill 4 GB."""
    seen: list[int] = []

    def on_a_processor(instances, device, **options):
        seen.append(len(instances))
        return committee_sgd_many(instances, device="cpu", **options)

    monkeypatch.setattr("localentropy.solvers.committee.sgd.committee_sgd_many", on_a_processor)
    found = table(DESCENT, device=device, epochs=2)
    assert seen == together
    assert set(found["sample"]) == {0, 1}


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_the_coupling_of_focusing_does_not_fall(first, last):
    couplings = {"coupling_start": first, "coupling_end": last}
    if first <= last:
        assert parameters(FOCUSING | couplings).coupling_end == last
    else:
        with pytest.raises(ValidationError, match=r"coupling_start = .* must not lie above coupling_end = "):
            parameters(FOCUSING | couplings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"units": 4}, "odd"),
        ({"samples": 1}, "greater than or equal to 2"),
        ({"inv_alphas": (2.0, 1.0)}, "increase"),
        ({"starts": 1}, "greater than or equal to 2"),
        ({"activation": "tanh"}, "sign"),
        ({"lr": 1.0}, "not permitted"),
    ],
)
def test_parameters_are_checked(change, message):
    with pytest.raises(ValidationError, match=message):
        parameters(DESCENT | change)
