"""Barriers against all orders, all paths and all midpoints of small systems, and against walls whose way is known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from localentropy import seeds
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, hidden_manifold, random_patterns
from localentropy.landscape.barriers import (
    bent_flip_path,
    bent_path,
    flip_path,
    mean_flip_path,
    region,
    straight_path,
)
from localentropy.solvers import anneal
from tests.enumeration import all_signs


def errors_of_all(instance: Instance, margin: float = 0.0) -> np.ndarray:
    """Numbers of errors of every configuration, in the order of `all_signs`."""
    return np.rint(instance.train_error(all_signs(instance.N), margin) * instance.P).astype(int)


def place(weights: np.ndarray) -> int:
    """The index of a configuration among `all_signs`."""
    return int(((weights > 0) << np.arange(len(weights))[::-1]).sum())


def best_straight(errors: np.ndarray, first: int, second: int) -> int:
    """The lowest barrier of all orders of the flips: each subset of them is reached by its best last flip."""
    bits = [1 << one for one in range(20) if (first ^ second) >> one & 1]
    best: dict[int, int] = {first: int(errors[first])}
    for count in range(1, len(bits) + 1):
        for chosen in itertools.combinations(bits, count):
            here = first ^ sum(chosen)
            best[here] = max(int(errors[here]), min(best[here ^ bit] for bit in chosen))
    return best[second]


def best_of_any(errors: np.ndarray, first: int, second: int) -> int:
    """The lowest barrier of all paths of single flips: the level at which both ends are connected."""
    flips = [1 << bit for bit in range(len(errors).bit_length() - 1)]
    for level in range(int(errors.max()) + 1):
        reached, new = {first}, [first]
        while new and errors[first] <= level:
            new = [one for one in {here ^ flip for here in new for flip in flips} - reached if errors[one] <= level]
            reached.update(new)
        if second in reached and errors[second] <= level:
            return level
    raise AssertionError


@pytest.mark.parametrize("margin", [0.0, 0.9])
def test_the_mean_path_is_the_mean_over_all_orders(margin: float) -> None:
    instance = random_patterns(N=11, P=9, seed=1)
    first, second = np.random.default_rng(0).choice([-1, 1], (2, 11))
    places = np.flatnonzero(first != second)
    exact = []
    for k in range(len(places) + 1):
        flipped = np.array([first] * math.comb(len(places), k))
        for row, chosen in zip(flipped, itertools.combinations(places, k), strict=True):
            row[list(chosen)] *= -1
        exact.append(instance.train_error(flipped, margin).mean())
    found = mean_flip_path(instance, first, second, margin=margin)
    np.testing.assert_allclose(found, exact, atol=1e-13)
    assert len(places) > 4 and len(set(found)) > 4


def test_random_paths_scatter_around_the_mean_path() -> None:
    instance = random_patterns(N=101, P=60, seed=0)
    first, second = np.random.default_rng(0).choice([-1, 1], (2, 101))
    mean = mean_flip_path(instance, first, second)
    paths = np.array([flip_path(instance, first, second, seed=seed) for seed in range(300)])
    assert paths.shape == (300, len(mean)) and (paths[:, [0, -1]] == mean[[0, -1]]).all()
    for at in (len(mean) // 4, len(mean) // 2):
        assert abs(paths[:, at].mean() - mean[at]) < 3 * paths[:, at].std(ddof=1) / math.sqrt(300)


def test_the_greedy_path_is_the_one_of_its_readable_twin() -> None:
    instance = random_patterns(N=31, P=20, seed=3)
    weights, end = np.random.default_rng(1).choice([-1, 1], (2, 31))
    found = flip_path(instance, weights, end, margin=0.3, order="greedy", seed=0)
    expected = [instance.train_error(weights, 0.3)]
    while (weights != end).any():
        choices = []
        for one in np.flatnonzero(weights != end):
            flipped = weights.copy()
            flipped[one] *= -1
            narrow = np.exp(-2 * instance.stabilities(flipped)).sum()
            choices.append((instance.train_error(flipped, 0.3), narrow, one))
        error, _, one = min(choices)
        weights[one] *= -1
        expected.append(error)
    np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_no_path_is_below_the_best_of_its_kind(seed: int) -> None:
    """At N = 9 all orders, all midpoints and all paths are known."""
    instance = random_patterns(N=9, P=7, seed=seed)
    errors = errors_of_all(instance)
    all_weights = all_signs(9)
    first, second = (int(one) for one in np.random.default_rng(seed).choice(np.argsort(errors)[:30], 2, replace=False))
    ends = all_weights[first], all_weights[second]
    assert place(ends[0]) == first
    straight, anyhow = best_straight(errors, first, second), best_of_any(errors, first, second)
    bent = min(max(best_straight(errors, first, m), best_straight(errors, m, second)) for m in range(512))
    assert anyhow <= bent <= straight
    for order in ("random", "greedy"):
        direct = round(flip_path(instance, *ends, order=order, seed=0).max() * 7)
        path = bent_flip_path(instance, *ends, order=order, proposals=300, seed=0)
        assert straight <= direct
        assert bent <= round(path.barrier * 7) <= direct
        assert path.errors[0] * 7 == pytest.approx(errors[first])
        assert path.errors[-1] * 7 == pytest.approx(errors[second])
        at = int((path.midpoint != ends[0]).sum())
        assert path.errors[at] == pytest.approx(instance.train_error(path.midpoint))


@pytest.mark.parametrize("seed", range(3))
def test_the_bent_path_is_the_one_of_its_readable_twin(seed: int) -> None:
    instance = random_patterns(N=31, P=20, seed=seed)
    ends = np.random.default_rng(seed).choice([-1, 1], (2, 31))
    order = np.argsort(seeds.generator(seed, "barriers/order", N=31, P=20).permutation(31))

    def walk(first: np.ndarray, second: np.ndarray) -> tuple[list[float], list[np.ndarray]]:
        here, passed = first.copy(), [first]
        for one in [one for one in order if first[one] != second[one]]:
            here = here.copy()
            here[one] *= -1
            passed.append(here)
        return [instance.train_error(each) for each in passed], passed

    errors, passed = walk(*ends)
    midpoint = passed[(len(passed) - 1) // 2]
    for one in seeds.generator(seed, "barriers/midpoint", N=31, P=20).integers(0, 31, 200):
        flipped = midpoint.copy()
        flipped[one] *= -1
        tried = walk(ends[0], flipped)[0] + walk(flipped, ends[1])[0][1:]
        high, low = max(tried), max(errors)
        if high < low or (high == low and round(sum(tried) * 20) <= round(sum(errors) * 20)):
            errors, midpoint = tried, flipped
    path = bent_flip_path(instance, *ends, proposals=200, seed=seed)
    assert path.barrier > 0
    np.testing.assert_allclose(path.errors, errors, atol=1e-15)
    np.testing.assert_array_equal(path.midpoint, midpoint)


def test_the_bend_between_continuous_weights_is_the_one_of_its_readable_twin() -> None:
    first, second = np.array([-1.0, 0.0]), np.array([1.0, 0.0])

    def hill(weights: np.ndarray) -> np.ndarray:
        """Errors in steps, so that barriers are often equal."""
        x, y = weights.T
        return np.round(4 * np.exp(-2 * x**2 - y**2)) / 4 + 0.25 * (x > 1.5)

    def seen(midpoint: np.ndarray) -> tuple[float, float]:
        highest, integral = 0.0, 0.0
        for end in (first, second):
            half = hill(np.linspace(midpoint, end, 11))
            highest = max(highest, half.max())
            integral += math.dist(midpoint, end) * half.mean()
        return highest, integral

    stream = seeds.generator(3, "barriers/bend", weights=2)
    midpoint = np.zeros(2)
    highest, integral = seen(midpoint)
    for _ in range(30):
        size = math.dist(first, second) / math.sqrt(2) * 10 ** stream.uniform(-3, 0)
        proposed = midpoint + size * stream.standard_normal(2)
        high, whole = seen(proposed)
        if high < highest or (high == highest and whole <= integral):
            midpoint, highest, integral = proposed, high, whole
    path = bent_path(hill, first, second, points=11, proposals=30, seed=3)
    assert path.barrier == highest > 0
    np.testing.assert_allclose(path.midpoint, midpoint, rtol=1e-12)


def test_a_bend_finds_lower_barriers() -> None:
    instance = random_patterns(N=101, P=50, seed=1)
    first, second = (anneal(instance, seed=seed).weights for seed in (0, 1))
    direct = flip_path(instance, first, second, seed=0).max()
    path = bent_flip_path(instance, first, second, proposals=400, seed=0)
    assert path.barrier < direct


def test_the_path_between_equal_weights_is_a_point() -> None:
    instance = random_patterns(N=11, P=9, seed=1)
    weights = np.ones(11)
    error = [instance.train_error(weights)]
    assert mean_flip_path(instance, weights, weights) == flip_path(instance, weights, weights, seed=0) == error


def test_the_solutions_of_a_perceptron_with_continuous_weights_are_convex() -> None:
    instance = random_patterns(N=21, P=12, seed=0)
    random = np.random.default_rng(0)
    pseudo = np.linalg.pinv(instance.signed_patterns.astype(float))
    first, second = (pseudo @ random.uniform(0.1, 3.0, 12) for _ in range(2))
    assert straight_path(instance.train_error, first, second).max() == 0
    assert straight_path(instance.train_error, first, -second)[-1] == 1


def test_a_segment_is_evaluated_at_equal_steps() -> None:
    first, second = np.random.default_rng(0).normal(size=(2, 3, 4))

    def share(weights: np.ndarray) -> np.ndarray:
        return (weights > 0).mean((1, 2))

    found = straight_path(share, first, second, points=9)
    expected = [share((first + (second - first) * k / 8)[None])[0] for k in range(9)]
    np.testing.assert_array_equal(found, expected)


def test_a_bend_goes_around_a_ball_as_far_as_it_must() -> None:
    """Around a ball of radius ½ at the origin, from (−1, 0) to (1, 0): the tangents meet at y = tan 30° = 0.577."""

    def ball(weights: np.ndarray) -> np.ndarray:
        return (np.linalg.norm(weights, axis=1) < 0.5).astype(float)

    first, second = np.array([-1.0, 0.0]), np.array([1.0, 0.0])
    assert straight_path(ball, first, second).max() == 1
    path = bent_path(ball, first, second, points=201, seed=1)
    assert path.barrier == 0 and len(path.errors) == 401
    x, y = path.midpoint
    for end in (-1.0, 1.0):  # distance of the origin from the line through both points
        assert abs(end * y) / math.hypot(x - end, y) > 0.499


def test_a_region_has_the_parts_and_centres_of_its_twin() -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        upper = np.triu(random.uniform(0, 1, (6, 6)), 1)
        barriers = upper + upper.T
        found = region(barriers, level=0.25)
        sees = barriers <= 0.25
        reach = np.linalg.matrix_power(sees.astype(int) + np.eye(6, dtype=int), 6) > 0
        assert (reach == (found.components[:, None] == found.components)).all()
        assert found.connected == bool(reach.all())
        alone = [all(sees[one, other] for other in range(6) if other != one) for one in range(6)]
        assert found.centres.tolist() == alone and found.star_shaped == any(alone)


def test_solutions_that_a_region_connects_are_connected_by_single_flips() -> None:
    """Straight paths are some of all paths, so the parts that they connect lie in the true ones."""
    instance = random_patterns(N=9, P=4, seed=2)
    errors = errors_of_all(instance)
    solutions = [int(one) for one in np.flatnonzero(errors == 0)]
    barriers = np.array([[best_straight(errors, a, b) / 4 for b in solutions] for a in solutions])
    parts = region(barriers).components
    joined = np.array([[best_of_any(errors, a, b) == 0 for b in solutions] for a in solutions])
    # From solution to solution by flips: here also the true parts, since neighbours see each other.
    assert (joined == (parts[:, None] == parts)).all()
    assert not joined.all()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"first": np.ones(10)}, "first of shape"),
        ({"second": np.full(11, 0.5)}, "second"),
        ({"margin": 9.0}, "margin = 9"),
        ({"order": "best"}, "order = 'best'"),
        ({"proposals": 0}, "proposals = 0"),
        ({"instance": hidden_manifold(D=5, P=5, N=11, seed=0, activation="tanh")}, "flip paths need ±1 patterns"),
    ],
)
def test_wrong_arguments_are_refused(change: dict[str, object], said: str) -> None:
    given = {"instance": random_patterns(N=11, P=5, seed=0), "first": np.ones(11), "second": -np.ones(11), "seed": 0}
    with pytest.raises(DomainError, match=said):
        bent_flip_path(**{**given, **change})  # type: ignore[arg-type]


@pytest.mark.parametrize(("first", "second"), [([1.0, 2e150], [1.0, 1.0]), ([1.0, 1.0], [-2e150, 1.0])])
def test_weights_whose_squares_overflow_are_refused(first: list[float], second: list[float]) -> None:
    with pytest.raises(DomainError, match=r"-?2e\+150 is among them, allowed are finite real numbers, at most 1e\+150"):
        bent_path(lambda weights: np.zeros(len(weights)), np.array(first), np.array(second), seed=0)


def test_barriers_that_differ_by_direction_are_named() -> None:
    message = r"^barriers\[0, 1\] = 0\.1 but barriers\[1, 0\] = 0\.2: allowed is a symmetric square$"
    with pytest.raises(DomainError, match=message):
        region(np.array([[0.0, 0.1], [0.2, 0.0]]))


def test_barriers_that_are_no_symmetric_square_are_refused() -> None:
    for wrong in ([[0.0, 1.0], [0.5, 0.0]], [[0.0, 1.0, 1.0]]):
        with pytest.raises(DomainError, match="symmetric square"):
            region(np.array(wrong))
