"""The programs on the theory, for models of random patterns: lines, curves and thresholds."""

from __future__ import annotations

from typing import Any

import pytest

from localentropy.programs import dense_regions, franz_parisi, large_deviations, one_step
from localentropy.theory import Perceptron, TreeCommittee, alpha_le, alpha_u, kappa_max
from tests.programs.programs import refused, table

PERCEPTRON = {"model": "perceptron"}
SIGN = {"model": "tree_committee", "activation": "sign"}


def test_curves_at_multiples_of_the_threshold_and_of_the_largest_margin() -> None:
    values = {
        "ensemble": SIGN, "alpha": 0.5, "margin": 0.0, "bound": False, "spacing": "log", "points": 6,
        "smallest_distance": 1e-3, "largest_distance": "typical",
        "curves": {
            "at": {"margins_ref": ["max"], "alphas": ["LE", "0.9 LE"]},
            "part": {"margins_ref": ["0.5 max"], "margin": "same"},
        },
    }  # fmt: skip
    found = table(franz_parisi, **values)
    threshold = alpha_le(TreeCommittee(activation="sign"))
    curves = dict(list(found[found["curve"] == "at"].groupby("alpha")))
    assert list(curves) == [0.9 * threshold, threshold]
    for alpha, curve in curves.items():
        assert set(curve["margin_ref"]) == {kappa_max(TreeCommittee(alpha, activation="sign"))}
        # The last distance is the typical one, where the curve is highest.
        assert curve["distance"].iloc[-1] == pytest.approx(curve["distance_typical"].iloc[0], rel=1e-12)
        assert curve["entropy"].iloc[-1] == pytest.approx(curve["entropy_typical"].iloc[0], abs=1e-9)
    part = found[found["curve"] == "part"]
    assert set(part["alpha"]) == {0.5} and set(part["reference"]) == {"0.5 max"}
    half = 0.5 * kappa_max(TreeCommittee(0.5, activation="sign"))
    assert set(part["margin"]) == set(part["margin_ref"]) == {half}


def test_search_for_one_step_says_at_which_blocks() -> None:
    values = {
        "ensemble": PERCEPTRON, "margin": 0.0, "blocks": [0.2, "stationary"], "points": 3,
        "smallest_distance": 0.002, "largest_distance": 0.2,
        "curves": {"one": {"alphas": [0.8], "margins_ref": ["max"]}, "two": {"alphas": [0.5], "margins_ref": [0.2]}},
    }  # fmt: skip
    found = table(one_step, **values)
    assert found.groupby(["curve", "alpha", "reference", "blocks"]).size().tolist() == [3] * 4
    assert set(found.loc[found["curve"] == "one", "margin_ref"]) == {kappa_max(Perceptron(0.8))}
    split = found[found["q1"] > found["q0"]]
    assert split[["curve", "blocks", "distance"]].to_numpy().tolist() == [["one", "0.2", 0.002]]
    with pytest.raises(ValueError, match=r"smallest_distance = 0\.3 must lie below largest_distance = 0\.2"):
        table(one_step, **(values | {"smallest_distance": 0.3}))


def test_lines_of_dense_regions_end_on_the_largest_margin() -> None:
    values = {
        "ensembles": {"perceptron": PERCEPTRON, "sign": SIGN}, "lines": ["perceptron"], "smallest_alpha": 0.6,
        "alphas_marked": [0.7, 0.74], "points": 2,
    }  # fmt: skip
    found = table(dense_regions, **values)
    assert set(found.loc[found["ensemble"] == "sign", "end"]) == {True}
    lines = {
        line: rows.set_index("alpha")["margin"]
        for line, rows in found[found["ensemble"] == "perceptron"].groupby("line")
    }
    ends = found[found["end"]].set_index(["ensemble", "line"])
    # The numbers are those of an independent solver.
    assert ends["alpha"].tolist() == pytest.approx(
        [0.833079, 0.729033, 0.747736, 0.946952, 0.557788, 0.573080], abs=2e-6
    )
    assert ends.loc[("perceptron", "kappa_u"), "distance"] == pytest.approx(0.005, rel=0.01)
    assert lines["kappa_min"][0.7] == pytest.approx(0.065581, abs=2e-6)
    assert lines["kappa_u"][0.7] == pytest.approx(0.087235, abs=2e-6)
    # A marked load beyond the end of a line is not on it.
    assert 0.74 in lines["kappa_min"].index and 0.74 not in lines["kappa_u"].index
    for line, rows in lines.items():
        assert rows.index[0] == 0.6 and rows.index.is_monotonic_increasing, line
        end = rows.index[-1]
        assert rows.iloc[-1] == pytest.approx(kappa_max(Perceptron(end)) if line != "kappa_max" else 0.0, abs=1e-9)


LARGE_DEVIATIONS: dict[str, Any] = {
    "ensembles": {"perceptron": PERCEPTRON, "planted": {"model": "teacher_student"}},
    "zero_external_entropy": ["perceptron"], "curves": {"perceptron": [0.76, 0.75, "U"]},
    "smallest_distance": 0.015, "smallest_distance_typical": 0.01, "largest_distance": 0.03, "points": 21,
}  # fmt: skip


def test_the_largest_local_entropy_grows_with_distance_up_to_its_threshold_only() -> None:
    found = table(large_deviations, **LARGE_DEVIATIONS)
    typical_sets = found[found["line"] == "alpha_u_typical"]
    assert typical_sets[["ensemble", "external_entropy"]].to_numpy().tolist() == [["perceptron", 0.0]]
    # The curve of a solver of its own could be followed up to 0.765, and not up to 0.77.
    assert 0.765 < typical_sets["alpha"].iloc[0] < 0.77
    thresholds = found[found["line"] == "alpha_u"].set_index("ensemble")
    assert list(thresholds.index) == ["perceptron", "planted"]
    tangent = alpha_u(Perceptron())
    assert thresholds.loc[
        "perceptron", ["alpha", "distance", "entropy", "external_entropy", "replicas", "residual"]
    ].to_list() == [*tangent]
    # The numbers are those of an independent solver.
    assert thresholds["alpha"].tolist() == pytest.approx([0.7553, 1.087], abs=1e-3)
    curves = dict(list(found[found["line"] == "curve"].groupby("load")))
    assert {load: set(curve["alpha"]) for load, curve in curves.items()} == {
        "0.75": {0.75}, "0.76": {0.76}, "U": {tangent.alpha}
    }  # fmt: skip
    # References that exist have less than the bound, and their external entropy is zero.
    existing = found[found["line"] == "curve_typical"]
    below = found[found["line"] == "curve"].merge(existing, on=["load", "distance"], suffixes=("", "_existing"))
    assert len(below) == len(existing) == 2 * 21 and set(existing["ensemble"]) == {"perceptron"}
    assert (below["entropy_existing"] < below["entropy"]).all() and (below["external_entropy"] < -1e-3).all()
    assert existing["external_entropy"].to_numpy() == pytest.approx(0.0, abs=1e-9)
    assert curves["0.75"]["slope"].min() > 0.05 and curves["0.76"]["slope"].min() < -0.05
    lowest = curves["U"].loc[curves["U"]["slope"].idxmin()]
    assert 0.0 <= lowest["slope"] < 1e-3 and lowest["distance"] == pytest.approx(tangent.distance, rel=0.03)
    assert lowest["entropy"] == pytest.approx(tangent.entropy, abs=1e-6)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"zero_external_entropy": ["sign"]}, "zero_external_entropy: sign is not one of the ensembles: perceptron"),
        ({"curves": {"sign": [0.5]}}, "curves: sign is not one of the ensembles: perceptron, planted"),
        ({"curves": {"perceptron": [0.5, 0.5]}}, "curves: perceptron: one load or more, which differ"),
        ({"curves": {"perceptron": []}}, "curves: perceptron: one load or more, which differ"),
        ({"smallest_distance": 0.03}, "smallest_distance = 0.03 must lie below largest_distance = 0.03"),
        ({"smallest_distance": 1e-5}, "greater than or equal to 0.0001"),
    ],
)
def test_curves_of_large_deviations_that_cannot_be_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        large_deviations.Parameters.of({}).model_validate(LARGE_DEVIATIONS | values)


@pytest.mark.parametrize(
    ("section", "values", "parts"),
    [
        (
            "franz_parisi",
            {"ensemble": {"model": "percepton"}},
            ["ensemble.model = percepton: allowed: one of random_features, perceptron, tree", "nearest: perceptron"],
        ),
        ("franz_parisi", {"inv_alpha": 1.2}, ["inv_alpha = 1.2: unknown key; did you mean 'alpha'?"]),
        (
            "franz_parisi",
            {"curves": {"reference": {"alphas": ["LE2"]}}},
            ["curves.reference.alphas[0] = LE2: allowed: a number ≥ 1e-09 and ≤ 1e+09 or text such as LE, 0.995 LE"],
        ),
        ("dense_regions", {"lines": []}, ["dense_regions.lines = []: allowed: a non-empty list, each entry text"]),
        (
            "dense_regions",
            {"lines": ["relu", "relu"]},
            ["dense_regions.lines = ['relu', 'relu']: must differ from each other"],
        ),
        ("dense_regions", {"lines": ["relo"]}, ["dense_regions: lines: relo is not one of the ensembles: perceptron"]),
        (
            "dense_regions",
            {"ensembles": {"relu": {"activation": "rleu"}}},
            ["dense_regions.ensembles.relu.activation = rleu: allowed: one of", "nearest: relu"],
        ),
        (
            "dense_regions",
            {"ensembles": {"mine": {"activation": "relu"}}},
            ["dense_regions.ensembles.mine.model: missing; allowed: one of perceptron, tree_committee"],
        ),
        (
            "dense_regions",
            {"ensembles": {"mine": {"model": "random_features"}}},
            ["dense_regions.ensembles.mine.model = random_features: allowed: one of perceptron, tree_committee"],
        ),
    ],
)
def test_refusals_are_one_line(section: str, values: dict[str, Any], parts: list[str]) -> None:
    refused({"margins": {section: values}}, "margins.", parts)
