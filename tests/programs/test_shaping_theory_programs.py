"""The programs on the theory of the paper `shaping`: groups and typical solutions of trees, cross-entropy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from localentropy import seeds
from localentropy.instances.committee import random_tree_committee
from localentropy.landscape.committee_local_entropy import committee_solution_fraction
from localentropy.landscape.parity import parity_solution
from localentropy.programs import cross_entropy_franz_parisi, sweep, typical_volume, wide_minima
from localentropy.programs.shaping import parity_solutions
from localentropy.theory import (
    Perceptron,
    Spherical,
    alpha_c,
    capacity_one_step,
    cross_entropy,
    franz_parisi,
    group_entropy,
    typical,
)
from tests.programs.programs import refused, table


@pytest.mark.parametrize(("machine", "units"), [("committee", 1), ("committee", "inf"), ("parity", 3)])
def test_groups_at_every_overlap_and_load(machine: str, units: Any) -> None:
    found = table(wide_minima, machine=machine, units=units, alphas=[0.5, 1.2], overlaps=[0.3, 0.7])
    assert set(found["machine"]) == {machine} and set(found["units"]) == {float(units)}
    curves = found.pivot(index="overlap", columns="alpha", values="entropy")
    assert list(curves.index) == [0.3, 0.7] and list(curves) == [0.5, 1.2]
    for alpha, curve in curves.items():
        assert isinstance(alpha, float)
        whole = group_entropy(Spherical(alpha, float(units), machine), [0.3, 0.7])
        assert curve.tolist() == whole["entropy"].tolist()


def test_rows_around_parity_solutions_are_those_of_the_library() -> None:
    grid = {"inputs": 33, "overlaps": [0.5, 0.96], "samples": 2}
    found = table(parity_solutions, alpha=0.3, draws=500, grids=[grid])
    assert found[["N", "sample", "overlap"]].values.tolist() == [[99, s, q] for s in (0, 1) for q in (0.5, 0.96)]
    assert found["alpha"].to_numpy() == pytest.approx(30 / 99)
    for row in found.itertuples():
        root = seeds.child(1, "instance", sample=row.sample)
        instance = random_tree_committee(N=99, P=30, K=3, seed=root)
        drawn = committee_solution_fraction(
            instance, parity_solution(instance, root), distance=(1 - math.sqrt(row.overlap)) / 2, draws=500, seed=root,
            machine="parity",
        )  # fmt: skip
        assert row.fraction == drawn.fraction
        assert row.entropy == pytest.approx(drawn.entropy if drawn.fraction else math.nan, nan_ok=True)
    near, far = (found.loc[found["overlap"] == overlap, "fraction"] for overlap in (0.96, 0.5))
    assert near.min() > 0.3 and far.max() == 0.0


def test_typical_volume_ends_where_solutions_cluster_and_where_they_shrink_to_a_point() -> None:
    found = table(typical_volume, units=[1, 3, "inf"], alphas=[0.25, 0.75], points=3)
    lines = found[found["quantity"] == "volume"]
    assert lines.groupby("units")["alpha"].apply(list).tolist() == [[0.25, 0.5, 0.75]] * 3
    assert lines["entropy"].iloc[1] == typical(Spherical(0.5, 1)).entropy
    ends = found[found["quantity"] != "volume"].set_index(["quantity", "units"])
    # One unit has no clustering, and infinitely many have no symmetric capacity.
    capacities = {(name, units) for name in ("capacity", "capacity_one_step") for units in (1.0, 3.0)}
    assert set(ends.index) == {("clustering", 3.0), ("clustering", math.inf)} | capacities
    assert ends.loc[("capacity_one_step", 3.0), "alpha"] == capacity_one_step(Spherical(units=3)).alpha
    clustering = ends.loc["clustering"]
    assert clustering["replicon"].to_numpy() == pytest.approx(1.0, abs=1e-6)
    assert clustering.loc[3.0, "entropy"] == typical(Spherical(clustering.loc[3.0, "alpha"], 3)).entropy
    assert ends.loc[("capacity", 1.0), "alpha"] == 2.0


def test_minimizers_along_lines_in_the_load() -> None:
    ask = {"": "cross_entropy.minimizers", "alpha_c": "alpha_c"}
    over = {"gamma": (1.0, 3.0), "alpha": {"from": 0.5, "to": 1.0, "spacing": "linear"}}
    found = table(sweep, ask=ask, ensemble={"model": "perceptron"}, over=over, points=3)
    assert found.groupby("gamma")["alpha"].apply(list).tolist() == [[0.5, 0.75, 1.0]] * 2
    assert found["error"].iloc[1] == cross_entropy.minimizers(0.75, 1.0).error
    assert set(found["alpha_c"]) == {alpha_c(Perceptron())}


def test_curves_around_minimizers_are_below_the_bound_and_end_where_there_is_no_solution() -> None:
    curves = [{"alpha": 0.4, "gammas": ["inf"]}, {"alpha": 0.6, "gammas": [1.0]}]
    found = table(cross_entropy_franz_parisi, curves=curves, distances=[2e-3, 0.2], points=5)
    d = np.geomspace(2e-3, 0.2, 5)
    for _, curve in found.groupby("alpha"):
        assert curve["distance"].to_numpy() == pytest.approx(d)
        assert curve["bound"].to_numpy() == pytest.approx(-d * np.log(d) - (1 - d) * np.log(1 - d))
        assert not (curve["entropy"] >= curve["bound"]).any()
    missing = found[found["entropy"].isna()]
    assert missing[["alpha", "distance"]].to_numpy().tolist() == [[0.6, 2e-3]]
    around_typical = franz_parisi(Perceptron(0.4), d[1:], 0.0)
    assert found["entropy"].iloc[1:5].to_numpy() == pytest.approx(around_typical["entropy"].to_numpy(), abs=1e-9)


@pytest.mark.parametrize(
    ("section", "values", "parts"),
    [
        ("wide_minima_parity", {"units": "inf"}, ["units = inf: the parity machine has 3"]),
        ("wide_minima", {"units": 5}, ["units = 5", "allowed: one of 1, 3, inf"]),
        ("wide_minima", {"overlaps": [0.9, 0.5]}, ["must increase strictly, but 0.5 follows 0.9"]),
        ("wide_minima", {"overlaps": [1.0]}, ["overlaps[0] = 1", "≤ 0.9999"]),
        ("cross_entropy_minimizers", {"over": {"gamma": [0.01]}}, ["over.gamma[0] = 0.01", "≥ 0.1"]),
        ("cross_entropy_franz_parisi", {"distances": [0.1, 0.01]}, ["must increase strictly"]),
    ],
)
def test_wrong_values_are_one_line(section: str, values: dict[str, Any], parts: list[str]) -> None:
    refused({"shaping": {section: values}}, f"shaping.{section}", parts)
