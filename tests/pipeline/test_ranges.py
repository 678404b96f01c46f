"""Values that the library will refuse are refused in the configuration, before the first task."""

from __future__ import annotations

from typing import Any

import pytest

from localentropy import quantities
from localentropy.errors import ConfigError
from localentropy.pipeline.config import resolve


def message(paper: str, changes: dict[str, Any]) -> str:
    """Why the smoke scale with these changes is refused."""
    with pytest.raises(ConfigError) as caught:
        resolve("smoke", overrides={paper: changes})
    said = str(caught.value)
    assert len(said.splitlines()) == 1, said
    return said


OUTSIDE: list[tuple[str, str, dict[str, Any], float]] = [
    ("overparam", "franz_parisi", {"smallest_distance": 1e-300}, quantities.DISTANCE_OF_CURVE.low),
    ("margins", "one_step", {"smallest_distance": 9e-10}, quantities.DISTANCE_OF_CURVE.low),
    ("shaping", "cross_entropy_franz_parisi", {"distances": [1e-12, 0.1]}, quantities.DISTANCE_OF_CURVE.low),
    ("margins", "one_step", {"blocks": [1e-4]}, quantities.REPLICAS_OF_BLOCK.low),
    ("overparam", "franz_parisi", {"alpha_T": 1e-300}, quantities.ALPHA.low),
    ("overparam", "franz_parisi", {"inv_alpha": 1e10}, quantities.ALPHA.high),
    ("overparam", "franz_parisi", {"margin": 1001}, quantities.MARGIN.high),
    ("overparam", "typical", {"margins_alpha_T": [0.0, 1e4]}, quantities.MARGIN.high),
    ("overparam", "thresholds", {"over": {"alpha_T": {"also": [1e-5]}}}, quantities.ALPHA_T_OF_THRESHOLDS.low),
    ("overparam", "thresholds", {"over": {"alpha_T": {"to": 200.0}}}, quantities.ALPHA_T_OF_THRESHOLDS.high),
    ("shaping", "cross_entropy_minimizers", {"over": {"alpha": {"from": 1e-3}}}, quantities.ALPHA_OF_MINIMIZERS.low),
    ("shaping", "cross_entropy_minimizers", {"over": {"gamma": [101.0]}}, quantities.GAMMA.high),
    ("shaping", "wide_minima", {"overlaps": [0.5, 0.99999]}, quantities.OVERLAP.high),
    ("glm", "risk", {"alphas": [1e-4, 1.0]}, quantities.SAMPLES.low),
    ("glm", "manifold", {"students": {"ridgeless": {"regularization": 1e-15}}}, quantities.REGULARIZATION.low),
    ("glm", "manifold", {"features": {"inputs_per_feature": 1e5}}, quantities.INPUTS_PER_FEATURE.high),
    ("glm", "bayes_committee_2", {"alphas": [1.0, 101.0]}, quantities.ALPHA_OF_TWO_UNITS.high),
    ("glm", "committee_evolution", {"updates": 200_000}, quantities.UPDATES.high),
    ("glm", "glass", {"temperatures": [0.0, 101.0]}, quantities.TEMPERATURE.high),
]


@pytest.mark.parametrize(("paper", "section", "change", "end"), OUTSIDE)
def test_what_the_theory_does_not_take_is_refused_with_the_end_of_its_range(
    paper: str, section: str, change: dict[str, Any], end: float
) -> None:
    said = message(paper, {section: change})
    assert f"{section}" in said and f"{end:g}" in said, said


AT_THE_THRESHOLD = {"alpha_T": 1e3, "curves": {"le": {"margins_ref": ["max"], "inv_alphas": ["LE"]}}}
SMALL = [{"D": 3, "inv_alphas": [0.5], "samples": 1, "margins": [0.0, 3.0]}]


@pytest.mark.parametrize(
    ("paper", "section", "change", "said"),
    [
        ("overparam", "franz_parisi", AT_THE_THRESHOLD, "alpha_T = 1000: curves at LE are computed from 0.0001 to 100"),
        ("overparam", "solve_sbpi", {"grids": SMALL}, "margin = 3: allowed is 0 to √N = 2.23607 at N = 5"),
        ("overparam", "typical_lattice", {"grids": SMALL}, "margin = 3: allowed is 0 to √N = 2.23607 at N = 5"),
        ("overparam", "typical_lattice", {"alpha_T": 1e9}, f"at most {quantities.SIZE.high}"),
        ("overparam", "typical_points", {"alpha_T": 1e9}, f"at most {quantities.SIZE.high}"),
        ("overparam", "committee_sgd", {"D": 9}, "inv_alphas: 0.25 leaves a unit one weight, which has norm 1"),
        (
            "shaping",
            "tree_solutions",
            {"N": 9},
            "N = 9 leaves a unit one weight, which has norm 1 and cannot move by elal",
        ),
        ("margins", "local_entropy", {"margin": 10, "N": 51}, "margin = 10: allowed is 0 to √N = 7.14143 at N = 51"),
        ("margins", "local_entropy", {"distances": [1e-300]}, f"≥ {quantities.DISTANCE.low}"),
        ("margins", "local_entropy", {"distances": [1e-3, 1.0]}, "nearest: 0.999999999999999"),  # not 1
    ],
)
def test_what_depends_on_other_values_is_refused_too(
    paper: str, section: str, change: dict[str, Any], said: str
) -> None:
    assert said in message(paper, {section: change})
