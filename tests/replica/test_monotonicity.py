"""Smallest margins and largest loads of a monotonic or positive Franz-Parisi entropy, for models without teacher."""

from functools import partial

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.replica import monotonicity, perceptron, teacher_student, tree_committee
from localentropy.replica.pair_energy import NODES

PERCEPTRON = [
    # alpha, kappa_min, kappa_u, kappa_max
    (0.5, 0.029117, 0.036430, 0.418062),
    (0.6, 0.042871, 0.054557, 0.262728),
    (0.7, 0.065581, 0.087235, 0.136762),
]
COMMITTEE = (tree_committee.alpha_le, tree_committee.kappa_max, tree_committee.franz_parisi)
LOCAL_ENTROPY = [
    # threshold, kappa_max, franz_parisi, alpha_LE, kappa_max there, distance of the horizontal tangent
    (perceptron.alpha_le, perceptron.kappa_max, perceptron.franz_parisi, 0.729033, 0.104326, 0.00500),
    *(
        (*(partial(function, activation=activation) for function in COMMITTEE), *numbers)
        for activation, numbers in {
            "relu": (0.772489, 0.129306, 0.00545),
            "sign": (0.557788, 0.479140, 0.00173),
        }.items()
    ),
]
NAMES = ["perceptron", "relu", "sign"]


def step(x):
    """An activation with a jump beside 0."""
    return (x > 0.5) * 1.0


FINE = np.geomspace(1e-5, 0.2, 120)


@pytest.mark.parametrize(("alpha", "smallest", "monotonic", "largest"), PERCEPTRON)
def test_quoted_margins_of_the_perceptron(alpha, smallest, monotonic, largest):
    assert perceptron.kappa_min(alpha) == pytest.approx(smallest, abs=1e-6)
    assert perceptron.kappa_u(alpha) == pytest.approx(monotonic, abs=1e-6)
    assert perceptron.kappa_max(alpha) == pytest.approx(largest, abs=1e-6)


@pytest.mark.parametrize(("threshold", "largest", "curve", "alpha", "margin", "distance"), LOCAL_ENTROPY, ids=NAMES)
def test_quoted_local_entropy_thresholds(threshold, largest, curve, alpha, margin, distance):
    found = threshold()
    assert found == pytest.approx(alpha, abs=2e-6)
    # The margin falls by about two where the load grows by one.
    assert largest(found) == pytest.approx(margin, abs=1e-5)
    grid = distance * np.geomspace(0.8, 1.25, 31)
    slopes = curve(grid, found).slope
    assert grid[slopes.idxmin()] == pytest.approx(distance, rel=0.02)
    assert slopes.min() == pytest.approx(0.0, abs=1e-6)
    assert slopes[0] > 1e-5
    assert slopes.iloc[-1] > 1e-5


@pytest.mark.parametrize(("threshold", "largest", "curve", "alpha", "margin", "distance"), LOCAL_ENTROPY, ids=NAMES)
def test_monotonic_below_the_threshold_and_not_above(threshold, largest, curve, alpha, margin, distance):
    found = threshold()
    for factor, monotonic in ((0.998, True), (1.002, False)):
        assert (curve(FINE, factor * found).slope > 0).all() == monotonic


@pytest.mark.parametrize("alpha", [0.5, 0.7])
def test_definition_of_the_smallest_monotonic_margin(alpha):
    margin = perceptron.kappa_u(alpha)
    for factor, monotonic in ((0.998, False), (1.002, True)):
        table = perceptron.franz_parisi(FINE, alpha, factor * margin)
        assert (table.slope > 0).all() == monotonic


@pytest.mark.parametrize("alpha", [0.5, 0.7])
def test_definition_of_the_smallest_positive_margin(alpha):
    margin = perceptron.kappa_min(alpha)
    for factor, positive in ((0.998, False), (1.002, True)):
        table = perceptron.franz_parisi(FINE, alpha, factor * margin)
        assert (table.entropy > 0).all() == positive


@pytest.mark.parametrize(
    ("function", "alpha", "distance"), [(perceptron.kappa_min, 0.5, 0.00107), (perceptron.kappa_u, 0.5, 0.00052)]
)
def test_distance_of_the_dip(function, alpha, distance):
    grid = distance * np.geomspace(0.5, 2.0, 61)
    table = perceptron.franz_parisi(grid, alpha, function(alpha))
    dip = table.entropy if function is perceptron.kappa_min else table.slope
    assert grid[dip.idxmin()] == pytest.approx(distance, rel=0.03)


@pytest.mark.parametrize("activation", ["sign", "relu"])
def test_definitions_for_the_committee(activation):
    smallest, monotonic = (f(0.5, activation) for f in (tree_committee.kappa_min, tree_committee.kappa_u))
    assert 0 < smallest < monotonic < tree_committee.kappa_max(0.5, activation)
    curve = partial(tree_committee.franz_parisi, FINE, 0.5, activation=activation)
    assert (curve(margin_ref=1.002 * smallest).entropy > 0).all()
    assert (curve(margin_ref=0.998 * smallest).entropy < 0).any()
    assert (curve(margin_ref=1.002 * monotonic).slope > 0).all()
    assert (curve(margin_ref=0.998 * monotonic).slope < 0).any()


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_definitions_for_the_planted_perceptron(alpha):
    smallest, monotonic = teacher_student.kappa_min(alpha), teacher_student.kappa_u(alpha)
    assert 0 < smallest < monotonic < teacher_student.kappa_max(alpha)
    curve = partial(teacher_student.franz_parisi, np.geomspace(1e-6, 0.2, 120), alpha)
    assert (curve(margin_ref=1.002 * smallest).entropy > 0).all()
    assert (curve(margin_ref=0.998 * smallest).entropy < 0).any()
    assert (curve(margin_ref=1.002 * monotonic).slope > 0).all()
    assert (curve(margin_ref=0.998 * monotonic).slope < 0).any()


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (perceptron, {}),
        (teacher_student, {}),
        (tree_committee, {"activation": "relu"}),
        (tree_committee, {}),
        (tree_committee, {"activation": "tanh"}),
        (tree_committee, {"activation": step}),
    ],
    ids=["perceptron", "planted", "relu", "sign", "tanh", "step"],
)
def test_all_thresholds_of_a_model(model, options):
    """alpha_LE and alpha_min from their definitions: curves around the largest margin on both sides, and in order."""
    found = model.thresholds(**options)
    assert (found.alpha_c, found.alpha_le, found.alpha_min) == (
        model.alpha_c(**options), model.alpha_le(**options), model.alpha_min(**options),
    )  # fmt: skip
    assert found.kappa_max == model.kappa_max(found.alpha_le, **options)
    assert found.alpha_le < found.alpha_min < found.alpha_c
    grid = np.geomspace(0.05, 20, 120) * found.distance
    at_threshold = model.franz_parisi(grid, found.alpha_le, **options)
    assert grid[at_threshold.slope.idxmin()] == pytest.approx(found.distance, rel=0.05)
    assert at_threshold.slope.min() == pytest.approx(0.0, abs=1e-3)
    for factor in (0.999, 1.001):
        around = model.franz_parisi(grid, factor * found.alpha_le, **options)
        assert (around.slope > 0).all() == (factor < 1)
        around = model.franz_parisi(grid, factor * found.alpha_min, **options)
        assert (around.entropy > 0).all() == (factor < 1)


@pytest.mark.parametrize("alpha", [5e-3, 0.02])
def test_smallest_margins_at_few_patterns(alpha):
    """The law of small distances holds there (docs/overparam/theory.md eq. 28)."""
    ensemble = perceptron._ensemble(alpha)
    for function, criterion in (
        (perceptron.kappa_u, monotonicity.MONOTONIC),
        (perceptron.kappa_min, monotonicity.POSITIVE),
    ):
        assert function(alpha) == pytest.approx(monotonicity.small_distance_guess(ensemble, criterion)[0], rel=0.02)


@pytest.mark.parametrize(("function", "name"), [(perceptron.kappa_u, "monotonic"), (perceptron.kappa_min, "positive")])
def test_so_few_patterns_that_the_margins_are_not_computed_are_refused(function, name):
    with pytest.raises(DomainError, match=rf"^too few patterns at alpha = 0\.0001: whether phi_FP is {name} is"):
        function(1e-4)


def test_the_smallest_margins_join_the_largest_one_at_their_thresholds():
    threshold = perceptron.alpha_le()
    assert perceptron.kappa_u(threshold - 1e-6) == pytest.approx(perceptron.kappa_max(threshold - 1e-6), abs=1e-4)
    with pytest.raises(DomainError, match="no margin makes phi_FP monotonic"):
        perceptron.kappa_u(threshold + 1e-4)
    assert perceptron.kappa_min(0.747735) == pytest.approx(perceptron.kappa_max(0.747735), abs=1e-4)
    with pytest.raises(DomainError, match="no margin makes phi_FP positive"):
        perceptron.kappa_min(0.7479)


@pytest.mark.slow
def test_thresholds_are_stable_under_node_doubling():
    fine = (2 * NODES[0], 2 * NODES[1], NODES[2])
    ensemble = perceptron._ensemble(0.6, 0.0)
    assert monotonicity.smallest_positive_margin(ensemble, fine) == pytest.approx(perceptron.kappa_min(0.6), abs=1e-7)
    assert monotonicity.smallest_monotonic_margin(ensemble, fine) == pytest.approx(perceptron.kappa_u(0.6), abs=1e-7)
