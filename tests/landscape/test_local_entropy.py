"""Local entropy by belief propagation: enumeration, limits, and the two ways to ask for a point."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localentropy.errors import DomainError
from localentropy.instances.perceptron import random_patterns
from localentropy.landscape.local_entropy import field_for_overlap, local_entropy
from localentropy.solvers.binary.belief_propagation import belief_propagation
from localentropy.solvers.binary.focusing_bp import focusing_bp
from localentropy.theory import binary_entropy
from tests.enumeration import all_signs


@settings(max_examples=50)
@given(
    own=st.lists(st.floats(-30, 30), min_size=1, max_size=40),
    overlap=st.floats(-0.999, 0.999),
)
def test_field_for_overlap(own, overlap):
    gamma = field_for_overlap(np.array(own), overlap)
    # A mean that is nearly a step in γ is met as well as γ can be represented.
    assert np.tanh(np.array(own) + gamma).mean() == pytest.approx(overlap, abs=1e-11)


@pytest.mark.parametrize("overlap", [1.5, 1.0, -1.0, math.nan, "0.5"])
def test_no_field_gives_an_overlap_beyond_one(overlap):
    with pytest.raises(DomainError, match=r"^overlap = "):
        field_for_overlap(np.zeros(3), overlap)


def test_distances_and_fields_are_two_ways_to_the_same_points():
    instance = random_patterns(301, 120, 0)
    solution = focusing_bp(instance, seed=0, stop="first")
    by_distance = local_entropy(instance, solution.weights, distances=[0.2, 0.01, 0.05], tolerance=1e-9)
    by_field = local_entropy(instance, solution.weights, fields=by_distance.field, tolerance=1e-9)
    assert by_distance.converged.all()
    assert by_field.converged.all()
    np.testing.assert_allclose(by_distance.distance, [0.2, 0.01, 0.05], atol=1e-7)
    np.testing.assert_allclose(by_field.distance, by_distance.distance, atol=1e-7)
    np.testing.assert_allclose(by_field.entropy, by_distance.entropy, atol=1e-8)


def test_slope_is_twice_the_field():
    instance = random_patterns(1001, 400, 0)
    solution = focusing_bp(instance, seed=0, stop="first")
    curve = local_entropy(instance, solution.weights, distances=[0.099, 0.1, 0.101], tolerance=1e-10)
    slope = (curve.entropy[2] - curve.entropy[0]) / 0.002
    assert slope == pytest.approx(2 * curve.field[1], abs=3e-3)


def test_limits():
    """Near a solution with a margin everything solves; at the distance of a random solution, its entropy."""
    instance = random_patterns(1001, 300, 0)
    solution = focusing_bp(instance, seed=0)
    d = np.array([0.001, 0.003, 0.01, 0.1, 0.3, 0.5])
    curve = local_entropy(instance, solution.weights, distances=d)
    assert curve.converged.all()
    bound = binary_entropy(d)
    assert np.all(curve.entropy < bound)
    assert curve.entropy[0] == pytest.approx(bound[0], rel=1e-6)
    typical = belief_propagation(instance, seed=0)
    at = 0.5 * (1 - typical.magnetizations @ solution.weights / instance.N)
    top = local_entropy(instance, solution.weights, distances=[at])
    assert top.field[0] == pytest.approx(0, abs=1e-3)
    assert top.entropy[0] == pytest.approx(typical.entropy, abs=1e-5)
    assert np.all(curve.entropy < top.entropy[0])


def test_no_patterns_in_the_way():
    """One pattern that the reference satisfies by far excludes almost nothing."""
    instance = random_patterns(501, 1, 0)
    reference = instance.signed_patterns[0]
    curve = local_entropy(instance, reference, distances=[0.1, 0.3])
    np.testing.assert_allclose(curve.entropy, binary_entropy(np.array([0.1, 0.3])), atol=1e-9)
    # At d = 1/2 the pattern is met by half of the configurations.
    half = local_entropy(instance, reference, fields=[0.0]).entropy[0]
    assert half == pytest.approx(500 / 501 * math.log(2), abs=1e-9)


def test_against_enumeration():
    N = 15
    weights = all_signs(N)
    gaps, distance_gaps = [], []
    for seed in range(12):
        instance = random_patterns(N, 5, seed)
        solutions = weights[instance.train_error(weights) == 0].astype(float)
        margins = instance.stabilities(solutions).min(1)
        reference = solutions[np.argmax(margins)]
        for gamma in (0.2, 0.6, 1.2):
            energy = gamma * solutions @ reference
            log_weight = energy - energy.max()
            log_Z = math.log(np.exp(log_weight).sum()) + energy.max()
            probability = np.exp(energy - log_Z)
            found = local_entropy(instance, reference, fields=[gamma])
            assert found.converged[0]
            gaps.append(found.entropy[0] - (log_Z - probability @ energy) / N)
            distance_gaps.append(found.distance[0] - 0.5 * (1 - probability @ (solutions @ reference) / N))
    assert abs(np.mean(gaps)) < 0.01
    assert np.max(np.abs(gaps)) < 0.05
    assert np.max(np.abs(distance_gaps)) < 0.05


def test_what_has_not_converged_says_so():
    instance = random_patterns(101, 40, 0)
    curve = local_entropy(instance, np.ones(101), distances=[0.1], max_iterations=3)
    assert not curve.converged[0]
    assert np.isnan(curve.entropy[0])


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"distances": [0.1], "fields": [0.1]},
        {"distances": [0.0]},
        {"fields": [math.inf]},
        {"distances": [0.1], "tolerance": 0.0},
        {"distances": [0.1], "update": "fast"},
    ],
)
def test_wrong_arguments_are_refused_in_one_line(wrong):
    instance = random_patterns(21, 5, 0)
    with pytest.raises(DomainError) as error:
        local_entropy(instance, np.ones(21), **wrong)
    assert "\n" not in str(error.value)
    with pytest.raises(DomainError):
        local_entropy(instance, np.zeros(21), distances=[0.1])
