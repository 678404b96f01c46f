"""Groups of y solutions without a reference: the free entropy as it is written, limits, numbers of pairs."""

import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.theory import (
    Perceptron,
    RandomFeatures,
    Spherical,
    TreeCommittee,
    alpha_u,
    group_entropy,
    typical,
)
from localentropy.theory.franz_parisi_entropy import binary_entropy
from localentropy.theory.group_entropies import _Curve
from localentropy.theory.group_sites import free_groups
from localentropy.theory.large_deviations import AtOverlap
from localentropy.theory.local_entropies import local_entropy
from tests.enumeration import limits, solving, transformed
from tests.finite_differences import five_point_slope, five_points, slope_at
from tests.theory.test_large_deviations import MODELS, assert_derivatives, limit, twin, written

OVERLAP = 0.85


def solved(name, y, overlap=OVERLAP):
    """A problem and its solution."""
    curve = _Curve(MODELS[name], 1.0 / y)
    curve.at(overlap)
    assert curve._branch is not None
    return curve._problem(curve._branch.position), curve._branch.point


@pytest.mark.parametrize("y", [2.0, 10.0])
@pytest.mark.parametrize("name", MODELS)
def test_free_entropy_as_it_is_written(name, y):
    """Psi is its twin without a field, less ln 2 for the reference; stationary in all but q1, whose slope is given."""
    problem, point = solved(name, y)
    order = written(problem, point.coordinates)
    assert y * point.value == pytest.approx(twin(problem.model, order, y, 0.0) - math.log(2), abs=2e-10 * y)
    slope = group_entropy(problem.model, OVERLAP, y)["slope"][0]
    for index in [0, 1, 2, 3, *range(5, len(order))]:
        step = 1e-3 * min(abs(order[index]), 1.0, 5.0 * (order[3] - order[2]), 1.0 - order[3])
        found = slope_at(lambda at: twin(problem.model, at, y, 0.0), order, step, index)
        assert found == pytest.approx(y * slope if index == 3 else 0.0, abs=1e-6 * y**2), index


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("name", MODELS)
def test_derivatives(name, epsilon):
    """Beside the solution."""
    problem, point = solved(name, 5.0)
    problem = AtOverlap(problem.model, problem.logit_overlap, epsilon, central=True)
    assert_derivatives(problem, point.coordinates + 0.1, atol=5e-8)


@pytest.mark.parametrize("name", MODELS)
def test_groups_of_one_are_typical_solutions(name):
    solution = typical(MODELS[name])
    found = group_entropy(MODELS[name], [0.75, 0.9, 0.999], 1)
    np.testing.assert_allclose(found["entropy"], solution.entropy, atol=1e-11)
    np.testing.assert_allclose(found["q0"], solution.q, atol=1e-7)
    np.testing.assert_allclose(found["unconstrained"], math.log(2), atol=1e-12)
    beside = group_entropy(MODELS[name], [0.75, 0.9, 0.999], 1.0001)
    np.testing.assert_allclose(found["entropy"] - beside["entropy"], 1e-4 * found["external_entropy"], rtol=1e-3)


@pytest.mark.parametrize("y", [1, 2, 30, math.inf])
@pytest.mark.parametrize("name", MODELS)
def test_groups_at_the_overlap_of_typical_solutions(name, y):
    """There the entropy is that of typical solutions, and falls from there with the square of the distance."""
    solution = typical(MODELS[name])
    found = group_entropy(MODELS[name], [solution.q, solution.q + 1e-5, solution.q + 1e-3], y)
    np.testing.assert_allclose(found["entropy"][:2], solution.entropy, atol=2e-9)
    if y > 1:
        assert -1e-4 < found["entropy"][2] - solution.entropy < 0
    with pytest.raises(DomainError, match="; typical solutions have the overlap"):
        group_entropy(MODELS[name], solution.q - 1e-3, y)


@pytest.mark.parametrize("name", MODELS)
def test_infinitely_many_replicas_are_the_limit(name):
    """Corrections of the entropy less Sigma / y are in 1/y^2 and 1/y^3, those of Sigma in 1/y and 1/y^2."""
    model = MODELS[name]
    q = typical(model).q
    overlap, replicas = q + 0.3 * (1.0 - q), np.array([200.0, 400.0, 800.0])
    best = group_entropy(model, overlap).iloc[0]
    found = [_Curve(model, 1.0 / y).at(overlap) for y in replicas]
    entropies = [row.entropy - row.external_entropy / row.replicas for row in found]
    assert limit(replicas, (2, 3), entropies) == pytest.approx(best["entropy"], abs=1e-8)
    external = limit(replicas, (1, 2), [row.external_entropy for row in found])
    assert external == pytest.approx(best["external_entropy"], abs=1e-5)
    # Without a correction, it would not be.
    assert abs(entropies[0] - best["entropy"]) > 1e-7 and abs(found[0].external_entropy - external) > 5e-5


@pytest.mark.parametrize("model", [MODELS["perceptron"], MODELS["relu"]])
def test_the_state_without_a_field_at_the_threshold(model):
    """At alpha_u, groups around the references of the horizontal tangent are stationary in q1 without a reference."""
    threshold = alpha_u(model)
    model = model.at(alpha=threshold.alpha)
    overlap = local_entropy(model, threshold.distance)["q1"][0]
    found = group_entropy(model, overlap).iloc[0]
    assert found["entropy"] == pytest.approx(threshold.entropy, abs=1e-9)
    assert found["external_entropy"] == pytest.approx(threshold.external_entropy, abs=1e-5)
    assert abs(found["slope"]) < 1e-6
    beside = group_entropy(model, overlap + 0.3 * (1 - overlap))["slope"][0]
    assert abs(beside) > 1e-3


@pytest.mark.parametrize("overlap", [0.001, 0.3, 0.9, 0.9999])
def test_groups_of_any_configurations(overlap):
    """Pairs, and configurations around a middle, are counted by hand."""
    pairs = 0.5 * (math.log(2) + binary_entropy(0.5 * (1 - overlap)))
    assert free_groups(1 - overlap, 0.5).entropy == pytest.approx(float(pairs), abs=1e-12)
    around = binary_entropy(0.5 * (1 - math.sqrt(overlap)))
    assert free_groups(1 - overlap, 0.0).entropy == pytest.approx(float(around), abs=1e-12)
    # Triples: one weight of each differs from the two others' in as many places.
    part = 0.25 * (1 - overlap)
    triples = math.log(2) - 3 * part * math.log(part) - (1 - 3 * part) * math.log1p(-3 * part)
    assert free_groups(1 - overlap, 1 / 3).entropy == pytest.approx(triples / 3, abs=1e-12)


def test_without_patterns_nearly_all_groups_solve():
    """To first order in alpha: pairs solve with probability 1/4 + asin(q1) / (2 pi)."""
    found = group_entropy(Perceptron(1e-6), [0.3, 0.9], 2)
    cost = 2 * (found["entropy"] - found["unconstrained"])
    np.testing.assert_allclose(cost, 1e-6 * np.log(0.25 + np.arcsin([0.3, 0.9]) / (2 * math.pi)), rtol=1e-5)


def test_pairs_are_at_most_as_many_as_on_average():
    """The log of the mean number of pairs is above the mean log, by an amount that grows with the square of alpha."""
    overlaps, gaps = np.array([0.4, 0.6, 0.8, 0.95]), []
    for alpha in (0.01, 0.02, 0.5):
        found = group_entropy(Perceptron(alpha), overlaps, 2)
        annealed = 2 * found["unconstrained"] + alpha * np.log(0.25 + np.arcsin(overlaps) / (2 * math.pi))
        gaps.append(annealed - 2 * found["entropy"])
    assert (np.array(gaps) > 0).all()
    np.testing.assert_allclose(gaps[1], 4 * gaps[0], rtol=0.05)


def test_all_configurations_around_the_best_middle_solve_at_large_overlaps():
    found = group_entropy(Perceptron(0.5), [0.8, 0.95, 0.999, 0.9999])
    assert found["external_entropy"].isna().tolist() == [False, False, True, True]
    np.testing.assert_allclose(found["entropy"][2:], binary_entropy(0.5 * (1 - np.sqrt([0.999, 0.9999]))), atol=1e-12)
    assert (found["entropy"] <= found["unconstrained"]).all() and found["residual"].max() < 1e-9
    step = 1e-6
    around = group_entropy(Perceptron(0.5), five_points(0.999, step))["entropy"]
    assert found["slope"][2] == pytest.approx(five_point_slope(around.to_numpy(), step), rel=1e-6)


@pytest.mark.parametrize("y", [2, math.inf])
def test_limits_of_models(y):
    expected = group_entropy(Perceptron(0.6, 0.1), [0.7, 0.9], y)
    identity = group_entropy(TreeCommittee(0.6, 0.1, "identity"), [0.7, 0.9], y)
    np.testing.assert_allclose(identity, expected, atol=1e-7)
    errors = [
        (group_entropy(RandomFeatures(alpha_T, 1 / 0.6, 0.1, "sign"), [0.7, 0.9], y) - expected)["entropy"]
        for alpha_T in (1e-4, 1e-5)
    ]
    np.testing.assert_allclose(errors[0], 10 * errors[1], rtol=2e-3)


def test_features_that_see_no_teacher_are_random_patterns():
    """Without a linear part, such as (x^3 - 3 x) / sqrt(6), only weights count. There is no reference to need one."""
    features = RandomFeatures(3.0, 2.0, 0.0, lambda x: (x**3 - 3 * x) / math.sqrt(6))
    found, expected = (group_entropy(model, [0.7, 0.9], 2) for model in (features, Perceptron(0.5)))
    np.testing.assert_allclose(found["entropy"], expected["entropy"], atol=1e-9)


def counted(N, alpha, differ, stream):
    """ln of the number of solutions, and of pairs of them that differ in some weights, of one training set; over N.

    The number of pairs is divided by that of all such pairs.
    """
    solutions = solving(N, round(alpha * N), stream)
    shifted = np.rint(transformed(transformed(solutions) ** 2) / len(solutions))
    pairs = sum(shifted[shift] for shift in range(2**N) if shift.bit_count() == differ)
    if pairs == 0:
        return None
    return np.array([math.log(solutions.sum()), math.log(pairs / 2**N / math.comb(N, differ))]) / N


def test_enumeration_of_pairs():
    """All pairs of solutions at q1 = 0.6 in small systems: theory lies between limits in 1/N and in 1/N^2."""
    alpha, samples, stream = 0.4, {10: 2000, 15: 300}, np.random.default_rng(611)
    means, errors = [], []
    for N, number in samples.items():
        drawn = (counted(N, alpha, N // 5, stream) for _ in range(number))
        values = np.array([numbers for numbers in drawn if numbers is not None])
        assert len(values) > 0.99 * number, "samples with pairs are not typical"
        control = values[:, 0] - typical(Perceptron(alpha)).entropy
        # A sample's luck is common to both of its numbers.
        rest = values[:, 1] - control * np.polyfit(control, values[:, 1], 1)[0]
        means.append(rest.mean())
        errors.append(rest.std() / math.sqrt(len(rest)))
    row = group_entropy(Perceptron(alpha), 0.6, 2).iloc[0]
    right = 2 * (row["entropy"] - row["unconstrained"])
    low, high, error = limits(samples, means, errors)
    assert max(low - right, right - high) < 3 * error


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: group_entropy(Perceptron(0.5), 1.0), r"overlap = 1 is out of range: allowed are \[0.001, 0.9999\]"),
        (
            lambda: group_entropy(Perceptron(0.5), 0.1),
            r"overlap = 0.1 is out of range: .*; typical solutions have the overlap 0.32238",
        ),
        (lambda: group_entropy(Perceptron(0.5), 0.9, 0.5), r"replicas = 0.5 is out of range: allowed are \[1, 100\]"),
        (lambda: group_entropy(Perceptron(0.5), 0.9, math.nan), r"replicas = nan is out of range"),
        (lambda: group_entropy(Perceptron(0.9), 0.9, 2), r"is above alpha_c"),
        (lambda: group_entropy(Perceptron(), 0.9, 2), r"group_entropy needs alpha"),
        (lambda: group_entropy(Spherical(1.0, 3), 0.9, 2), r"replicas = 2 is out of range: .* for math.inf"),
        (lambda: group_entropy("Perceptron", 0.9), r"is no model; allowed are .*Perceptron, .*Spherical"),
    ],
)
def test_refusals(ask, message):
    with pytest.raises(DomainError, match=message):
        ask()
