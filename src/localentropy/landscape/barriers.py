"""Barriers between solutions: the train errors along straight paths, and along paths with one bend.

A straight path from one configuration of ±1 weights to another flips each weight in which they differ, once. It depends
on the order of the flips. A straight path of continuous weights is the segment between them. A path with one bend goes
straight to a free midpoint and straight on from there. The barrier of a path is its largest train error.

A region of solutions is connected at a level if paths below this level lead from each of its solutions to each other
one. It is star-shaped if one of them, a centre, sees all others along straight paths (Annesi et al.,
arXiv:2305.10623, for the spherical perceptron with a negative margin). `region` tells both of given solutions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import require_choice, require_function, require_reals, require_signs
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, smallest_allowed
from localentropy.numerics.waiting import counted
from localentropy.quantities import LEVEL, POINTS, PROPOSALS
from localentropy.solvers.solution import check_instance

ORDERS = ("random", "greedy")
LARGEST_WEIGHT = 1e150
"""Squares of larger weights overflow."""

Errors = Callable[[np.ndarray], np.ndarray]
"""Weights [students, …] → the train error of each, [students]."""


@dataclass(frozen=True, eq=False)
class Path:
    """A path between two solutions.

    Attributes:
        errors: train errors along it, with both ends, [points].
        midpoint: where it bends, of the shape of the weights.
    """

    errors: np.ndarray
    midpoint: np.ndarray

    @property
    def barrier(self) -> float:
        """The largest train error on the path."""
        return float(self.errors.max())


@dataclass(frozen=True, eq=False)
class Region:
    """How solutions hang together.

    Attributes:
        components: index of the connected part that each solution is in, from 0 on, [solutions].
        centres: which solutions see all others, bool, [solutions].
    """

    components: np.ndarray
    centres: np.ndarray

    @property
    def connected(self) -> bool:
        """Whether there is one part."""
        return not self.components.any()

    @property
    def star_shaped(self) -> bool:
        """Whether there is a centre."""
        return bool(self.centres.any())


def mean_flip_path(instance: Instance, first: np.ndarray, second: np.ndarray, *, margin: float = 0.0) -> np.ndarray:
    """Train errors on the straight path between ±1 weights, mean over all orders of the flips; exact.

    Of the n weights that differ, n₊ agree with a pattern and its label in the first configuration. After k flips j of
    these are flipped, and the sum s has become s + 2k − 4j. Over all orders j has a hypergeometric distribution.

    Args:
        instance: ±1 patterns.
        first: ±1, [N].
        second: ±1, [N].
        margin: κ.

    Returns:
        After 0, 1, … n flips, [n + 1].

    Raises:
        DomainError: real patterns, weights other than ±1 or of another length, a margin outside [0, √N].

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.landscape.barriers import mean_flip_path
        >>> instance = random_patterns(N=201, P=80, seed=0)
        >>> first, second = (solvers.sbpi(instance, seed=seed).weights for seed in (0, 1))
        >>> round(float(mean_flip_path(instance, first, second).max()), 4)
        0.0273
    """
    from scipy.stats import hypergeom

    flips = _Flips(instance, first, second, margin)
    n = len(flips.places)
    if n == 0:  # a distribution of nothing is none
        return np.array([(flips.start < flips.least).mean()])
    plus = (flips.terms > 0).sum(1)
    k = np.arange(n + 1)[:, None]
    # An error is s + 2k − 4j < h_min.
    most = (flips.start + 2 * k - flips.least) // 4
    means: np.ndarray = hypergeom.sf(most, n, plus, k).mean(1)
    return means


def flip_path(
    instance: Instance, first: np.ndarray, second: np.ndarray, *, margin: float = 0.0, order: str = "random", seed: int
) -> np.ndarray:
    """Train errors on one straight path between ±1 weights.

    Args:
        instance: ±1 patterns.
        first: ±1, [N].
        second: ±1, [N].
        margin: κ.
        order: "random"; or "greedy", where each flip is the one that leaves the fewest errors. Among those that leave
            equally many it is the one of smallest Σ_μ exp(−2 Δ_μ), which keeps stabilities large.
        seed: root seed of a random order.

    Returns:
        After 0, 1, … n flips, [n + 1].

    Raises:
        DomainError: see `mean_flip_path`; an unknown order, a seed that is no integer.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.landscape.barriers import flip_path
        >>> instance = random_patterns(N=201, P=80, seed=0)
        >>> first, second = (solvers.sbpi(instance, seed=seed).weights for seed in (0, 1))
        >>> float(flip_path(instance, first, second, order="greedy", seed=0).max())
        0.0
    """
    ranks = _ranks(instance, seed)
    return _Flips(instance, first, second, margin).path(order, ranks) / instance.P


def bent_flip_path(
    instance: Instance,
    first: np.ndarray,
    second: np.ndarray,
    *,
    margin: float = 0.0,
    order: str = "random",
    proposals: int = 1000,
    seed: int,
) -> Path:
    """A path with one bend between ±1 weights whose barrier is low.

    The midpoint starts half-way on the straight path. A proposal flips one of its weights. It is accepted if the
    largest number of errors on the path does not grow, and, where it stays, the sum along the path does not grow. So
    the barrier is at most that of `flip_path` with the same order and seed. It is an upper bound of the lowest one. The
    search ends where no error is left; else 1000 proposals in "greedy" order take about 20 s at N = 501, P = 250.

    Args:
        instance: ±1 patterns.
        first: ±1, [N].
        second: ±1, [N].
        margin: κ.
        order: of the flips, see `flip_path`.
        proposals: flips of the midpoint that are tried.
        seed: root seed of the order and of the proposals.

    Returns:
        The path, with the errors after each flip.

    Raises:
        DomainError: see `flip_path`; proposals < 1.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.landscape.barriers import bent_flip_path, flip_path
        >>> instance = random_patterns(N=51, P=20, seed=0)
        >>> first, second = (solvers.sbpi(instance, seed=seed).weights for seed in (0, 1))
        >>> straight = flip_path(instance, first, second, seed=0)
        >>> path = bent_flip_path(instance, first, second, proposals=1000, seed=0)
        >>> round(float(straight.max()), 4), path.barrier
        (0.1, 0.0)
    """
    ranks, proposals = _ranks(instance, seed), PROPOSALS.require(proposals)
    whole = _Flips(instance, first, second, margin)
    errors = whole.path(order, ranks)
    midpoint = whole.first.copy()
    half = whole.order(order, ranks)[: len(whole.places) // 2]
    midpoint[half] *= -1
    stream = seeds.generator(seed, "barriers/midpoint", N=instance.N, P=instance.P)
    for place in counted(stream.integers(0, instance.N, proposals).tolist(), "bent_flip_path"):
        if errors.max() == 0:
            break
        midpoint[place] *= -1
        parts = (_Flips(instance, whole.first, midpoint, margin), _Flips(instance, midpoint, whole.second, margin))
        there, on = (part.path(order, ranks) for part in parts)
        tried = np.concatenate([there, on[1:]])
        if (tried.max(), tried.sum()) <= (errors.max(), errors.sum()):
            errors = tried
        else:
            midpoint[place] *= -1
    return Path(errors / instance.P, midpoint)


def straight_path(errors: Errors, first: np.ndarray, second: np.ndarray, *, points: int = 101) -> np.ndarray:
    """Errors on the segment between continuous weights.

    Args:
        errors: takes weights [students, …] and returns their train errors [students], such as the method `train_error`
            of an instance or of a committee.
        first: finite, of any shape.
        second: of the same shape.
        points: points of the segment, with its ends.

    Returns:
        Train errors, [points].

    Raises:
        DomainError: weights that are not finite or of unequal shapes, fewer than two points; `errors` that is no
            function, or returns another shape.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.landscape.barriers import straight_path
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> machine = random_tree_committee(N=99, P=30, K=3, seed=0)
        >>> first, second = (committee_least_action(machine, seed=seed).weights for seed in (0, 1))
        >>> along = straight_path(machine.train_error, first, second)
        >>> round(float(along.max()), 4)
        0.4
    """
    require_function("errors", errors)
    first, second = _ends(first, second)
    return _along(errors, first, second, POINTS.require(points))


def bent_path(
    errors: Errors, first: np.ndarray, second: np.ndarray, *, points: int = 101, proposals: int = 1000, seed: int
) -> Path:
    """A path with one bend between continuous weights whose barrier is low.

    The midpoint starts in the middle of the segment. A proposal adds Gaussian noise to it, whose size is between 10⁻³
    and 1 times the distance of the ends, uniform in its logarithm. It is accepted if the barrier does not grow, and,
    where it stays, the integral of the errors over the length does not grow.

    Args:
        errors: see `straight_path`.
        first: finite, of any shape.
        second: of the same shape.
        points: points of each half, with its ends.
        proposals: midpoints that are tried.
        seed: root seed of the proposals.

    Returns:
        The path; it has 2 points − 1 points.

    Raises:
        DomainError: see `straight_path`; proposals < 1, a seed that is no integer.

    Example:
        >>> import numpy as np
        >>> from localentropy.landscape.barriers import bent_path
        >>> def wall(weights):  # errors between x = -0.2 and 0.2, but not above y = 0.5
        ...     return ((np.abs(weights[:, 0]) < 0.2) & (weights[:, 1] < 0.5)).astype(float)
        >>> path = bent_path(wall, np.array([-1.0, 0.0]), np.array([1.0, 0.0]), seed=0)
        >>> path.barrier, bool(path.midpoint[1] > 0.5)
        (0.0, True)
    """
    require_function("errors", errors)
    first, second = _ends(first, second)
    points, proposals = POINTS.require(points), PROPOSALS.require(proposals)
    stream = seeds.generator(seed, "barriers/bend", weights=first.size)
    reach = float(np.linalg.norm(second - first)) / math.sqrt(first.size)

    def through(midpoint: np.ndarray) -> tuple[float, float, np.ndarray]:
        """The barrier, the integral of the errors over the length, and the errors."""
        there, on = (_along(errors, *ends, points) for ends in ((first, midpoint), (midpoint, second)))
        lengths = (float(np.linalg.norm(end - midpoint)) for end in (first, second))
        integral = sum(length * half.mean() for length, half in zip(lengths, (there, on), strict=True))
        along = np.concatenate([there, on[1:]])
        return along.max(), integral, along

    midpoint = (first + second) / 2
    found = through(midpoint)
    for _ in counted(range(proposals), "bent_path"):
        if found[0] <= 0:
            break
        size = reach * 10.0 ** stream.uniform(-3, 0)
        proposed = midpoint + size * stream.standard_normal(first.shape)
        tried = through(proposed)
        if tried[:2] <= found[:2]:
            midpoint, found = proposed, tried
    return Path(found[2], midpoint)


def region(barriers: np.ndarray, *, level: float = 0.0) -> Region:
    """Whether solutions are connected, and whether one of them is a centre, from the barriers of straight paths.

    Args:
        barriers: the largest train error between each two solutions, [solutions, solutions], symmetric.
        level: two solutions see each other if their barrier is not above it.

    Returns:
        The connected parts, where a path may go through other solutions, and the centres.

    Raises:
        DomainError: barriers that are no symmetric square of finite numbers, fewer than two solutions, a level outside
            [0, 1].

    Example:
        >>> from localentropy.landscape.barriers import region
        >>> found = region([[0, 0, 0.1], [0, 0, 0], [0.1, 0, 0]])
        >>> found.connected, found.star_shaped, found.centres.tolist()
        (True, True, [False, True, False])
    """
    from scipy.sparse.csgraph import connected_components

    heights = require_reals("barriers", barriers, ("solutions", "solutions"))
    if heights.shape[0] != heights.shape[1]:
        raise DomainError(f"barriers of shape {heights.shape}: allowed is a symmetric square")
    if not np.array_equal(heights, heights.T):
        i, j = np.argwhere(heights != heights.T)[0]
        raise DomainError(
            f"barriers[{i}, {j}] = {heights[i, j]:.12g} but barriers[{j}, {i}] = {heights[j, i]:.12g}: allowed is a "
            "symmetric square"
        )
    if len(heights) < 2:
        raise DomainError("barriers: one solution given, allowed are two or more")
    sees = heights <= LEVEL.require(level)
    np.fill_diagonal(sees, True)
    return Region(connected_components(sees, directed=False)[1], np.all(sees, axis=1))


class _Flips:
    """The weights in which two configurations differ.

    Attributes:
        first: int8 of ±1, [N], as the next one.
        second: the other end.
        places: indices of the weights that differ, [n].
        terms: w_i y ξ_i of these weights in the first configuration, ±1, [P, n].
        start: Σ_i w_i y ξ_i of the first configuration, [P].
        least: the smallest sum that is no error.
    """

    def __init__(self, instance: Instance, first: np.ndarray, second: np.ndarray, margin: float) -> None:
        check_instance(instance)
        if not instance.binary:
            raise DomainError("instance: flip paths need ±1 patterns; take activation = 'sign'")
        self.first = require_signs("first", first, (instance.N,)).astype(np.int8)
        self.second = require_signs("second", second, (instance.N,)).astype(np.int8)
        self.least = smallest_allowed(margin, instance.N)
        self.places = np.flatnonzero(self.first != self.second)
        self.terms = (instance.signed_patterns[:, self.places] * self.first[self.places]).astype(np.int64)
        self.start = instance.sums(self.first).astype(np.int64)
        self._scale = 2.0 / math.sqrt(instance.N)

    def order(self, order: str, ranks: np.ndarray) -> np.ndarray:
        """The weights that differ, in the order of the flips, [n]."""
        if require_choice("order", order, ORDERS) == "random":
            return self.places[np.argsort(ranks[self.places])]
        sums, left, found = self.start.copy(), np.arange(len(self.places)), list[int]()
        for _ in counted(range(len(left)), "flip_path"):
            after = sums[:, None] - 2 * self.terms[:, left]
            wrong = (after < self.least).sum(0)
            narrow = np.exp(-self._scale * after).sum(0)
            best = np.lexsort((narrow, wrong))[0]
            sums = after[:, best]
            found.append(self.places[left[best]])
            left = np.delete(left, best)
        return np.array(found, np.int64)

    def path(self, order: str, ranks: np.ndarray) -> np.ndarray:
        """Numbers of errors after each flip, [n + 1]."""
        columns = np.searchsorted(self.places, self.order(order, ranks))
        sums = self.start[:, None] - 2 * np.cumsum(self.terms[:, columns], axis=1)
        found: np.ndarray = (np.column_stack([self.start, sums]) < self.least).sum(0)
        return found


def _ranks(instance: Instance, seed: int) -> np.ndarray:
    """The place of each weight in a random order of all, [N]."""
    check_instance(instance)
    return seeds.generator(seed, "barriers/order", N=instance.N, P=instance.P).permutation(instance.N)


def _ends(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    first = require_reals("first", first, most=LARGEST_WEIGHT)
    if first.size == 0:
        raise DomainError("first: no weights")
    return first, require_reals("second", second, first.shape, most=LARGEST_WEIGHT)


def _along(errors: Errors, first: np.ndarray, second: np.ndarray, points: int) -> np.ndarray:
    at = np.linspace(0.0, 1.0, points).reshape(-1, *(1,) * first.ndim)
    return require_reals("errors: what it returned", errors((1 - at) * first + at * second), (points,))
