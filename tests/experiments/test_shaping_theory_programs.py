"""The programs on the theory of the paper `shaping`: groups and typical solutions of trees, cross-entropy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from localentropy.errors import ConfigError
from localentropy.experiments import (
    cross_entropy_franz_parisi,
    cross_entropy_minimizers,
    typical_volume,
    wide_minima,
)
from localentropy.pipeline.config import resolve
from localentropy.replica import cross_entropy, perceptron, spherical_tree
from tests.experiments.programs import table


@pytest.mark.parametrize(("machine", "units"), [("committee", 1), ("committee", "inf"), ("parity", 3)])
def test_groups_at_every_overlap_and_load(machine: str, units: Any) -> None:
    found = table(wide_minima, machine=machine, units=units, alphas=[0.5, 1.2], overlaps=[0.3, 0.7])
    assert set(found["machine"]) == {machine} and set(found["units"]) == {float(units)}
    curves = found.pivot(index="overlap", columns="alpha", values="entropy")
    assert list(curves.index) == [0.3, 0.7] and list(curves) == [0.5, 1.2]
    for alpha, curve in curves.items():
        assert isinstance(alpha, float)
        whole = spherical_tree.local_entropy([0.3, 0.7], alpha, float(units), machine)
        assert curve.tolist() == whole["entropy"].tolist()


def test_typical_volume_ends_where_solutions_cluster_and_where_they_shrink_to_a_point() -> None:
    found = table(typical_volume, units=[1, 3, "inf"], alphas=[0.25, 0.75], points=3)
    lines = found[found["quantity"] == "volume"]
    assert lines.groupby("units")["alpha"].apply(list).tolist() == [[0.25, 0.5, 0.75]] * 3
    assert lines["entropy"].iloc[1] == spherical_tree.typical(0.5, 1).entropy
    ends = found[found["quantity"] != "volume"].set_index(["quantity", "units"])
    # One unit has no clustering, and infinitely many have no symmetric capacity.
    assert set(ends.index) == {("capacity", 1.0), ("clustering", 3.0), ("capacity", 3.0), ("clustering", math.inf)}
    clustering = ends.loc["clustering"]
    assert clustering["replicon"].to_numpy() == pytest.approx(1.0, abs=1e-6)
    assert clustering.loc[3.0, "entropy"] == spherical_tree.typical(clustering.loc[3.0, "alpha"], 3).entropy
    assert ends.loc[("capacity", 1.0), "alpha"] == 2.0


def test_minimizers_along_lines_in_the_load() -> None:
    found = table(cross_entropy_minimizers, gammas=[1.0, 3.0], alphas=[0.5, 1.0], points=3)
    assert found.groupby("gamma")["alpha"].apply(list).tolist() == [[0.5, 0.75, 1.0]] * 2
    assert found["error"].iloc[1] == cross_entropy.minimizers(0.75, 1.0).error
    assert set(found["alpha_c"]) == {perceptron.alpha_c()}


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
    around_typical = perceptron.franz_parisi(d[1:], 0.4, 0.0)
    assert found["entropy"].iloc[1:5].to_numpy() == pytest.approx(around_typical["entropy"].to_numpy(), abs=1e-9)


@pytest.mark.parametrize(
    ("section", "values", "parts"),
    [
        ("wide_minima_parity", {"units": "inf"}, ["units = inf: the parity machine has 3"]),
        ("wide_minima", {"units": 5}, ["units = 5", "allowed: one of 1, 3, inf"]),
        ("wide_minima", {"overlaps": [0.9, 0.5]}, ["must increase strictly, but 0.5 follows 0.9"]),
        ("wide_minima", {"overlaps": [1.0]}, ["overlaps[0] = 1", "≤ 0.9999"]),
        ("cross_entropy_minimizers", {"gammas": [0.01]}, ["gammas[0] = 0.01", "≥ 0.1"]),
        ("cross_entropy_franz_parisi", {"distances": [0.1, 0.01]}, ["must increase strictly"]),
    ],
)
def test_wrong_values_are_one_line(section: str, values: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve("smoke", overrides={"shaping": {section: values}})
    assert "\n" not in str(caught.value)
    for part in [f"shaping.{section}", *parts]:
        assert part in str(caught.value), str(caught.value)
