"""Local entropy of committee machines: how large a fraction of all weights at a distance from given ones are solutions.

The distance is D = (1 − S)/2, where every unit has the overlap S with its reference. Entropies are normalised: the log
of the fraction, at most 0, in nats per weight. Source: `shaping`, eqs. 3 and 4, figures 4 and 6; docs/shaping/theory.md
eqs. B.1 to B.6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    require_choice,
)
from localentropy.errors import DomainError
from localentropy.instances.committee import Committee, TreeCommittee, normalised_units, unit_norm
from localentropy.instances.perceptron import HiddenManifold, Instance
from localentropy.landscape.expectation_propagation import expectation_propagation
from localentropy.landscape.parity import parity_solves
from localentropy.numerics.waiting import counted
from localentropy.quantities import DAMPING, DISTANCE, MACHINES, PATTERNS, STEPS, TOLERANCE
from localentropy.solvers.committee.focusing_kernels import update_weights_at_distance
from localentropy.solvers.committee.messages import Messages

METHODS = ("message_passing", "expectation_propagation")
ATTEMPTS = 3

_BATCH = 2**20  # weights drawn at once
_FIRST_PATTERNS = 32


@dataclass(frozen=True, eq=False)
class CommitteeLocalEntropy:
    """The curve around one reference; all arrays are [points], in the order of the arguments.

    Attributes:
        distance: D = (1 − S)/2.
        entropy: log of the fraction of all weights at this distance that are solutions, nats per weight; NaN where the
            messages did not converge.
        converged: whether the residual reached the tolerance, and an entropy was found.
        residual: largest change of a mean in the last update, in units of √(1 − S²), or relative change of a variance,
            both without damping. Of expectation propagation: of the pre-activations' means, in units of their standard
            deviations, and variances.
        iterations: updates of all messages.
    """

    distance: np.ndarray
    entropy: np.ndarray
    converged: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray


@dataclass(frozen=True)
class SolutionFraction:
    """Random weights at a distance from a reference, and how many of them are solutions.

    Attributes:
        distance: D = (1 − S)/2.
        draws: number of random weights.
        fraction: part of them without errors.
        entropy: ln(fraction) per weight, nats; −inf where no draw is a solution.
        error: standard error of the entropy; NaN where no draw is a solution, or all are.
    """

    distance: float
    draws: int
    fraction: float
    entropy: float
    error: float


def committee_local_entropy(
    instance: Committee,
    weights: np.ndarray,
    *,
    distances: Sequence[float] | np.ndarray,
    method: str | None = None,
    damping: float = 0.3,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
) -> CommitteeLocalEntropy:
    """Local entropy at given distances from given weights.

    Message passing is right for independent inputs and independent pre-activations of the units. This is so on a tree
    of random patterns. Every distance is solved by itself, from empty messages. Expectation propagation is for inputs
    of any correlations. Distances are solved outwards, each from the one before (`expectation_propagation`). It takes
    the units as independent on each pattern, and is too low on images, by 1 to 17 % near solutions. One of its updates
    takes about 0.3 s for 9 units of 784 inputs and 500 patterns.

    Args:
        instance: ±1 patterns.
        weights: the reference, [K, inputs_per_unit]. Units may have any norm but 0. It need not be a solution.
        distances: D, each in [1e-15, 1 − 1e-15]. At 1/2 weights are orthogonal to the reference.
        method: "message_passing" or "expectation_propagation". None chooses the first on a tree of patterns without
            features, which are taken as independent, and the second elsewhere.
        damping: share of the old messages kept in an update, in [0, 1). Where messages do not converge, the point is
            solved again, at most twice, each time with half the share of new ones.
        max_iterations: most updates of one attempt; of a point, in expectation propagation.
        tolerance: largest residual of a converged point. For expectation propagation 1e-4 does: the error of its
            entropy is about the square.

    Returns:
        For each distance the entropy: the logarithm of the fraction of weights that are solutions, per weight.

    Raises:
        DomainError: not a committee with ±1 patterns, units with one input, weights of another shape, not finite or
            with a unit of zeros, an argument out of range.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> weights = committee_least_action(machine, seed=0).weights
        >>> from localentropy.landscape.committee_local_entropy import committee_local_entropy
        >>> committee_local_entropy(machine, weights, distances=[0.01, 0.1]).entropy.round(4)
        array([-0.1862, -0.3292])
    """
    reference = _reference(instance, weights)
    wanted = DISTANCE.require_all(distances).ravel()
    if method is None:
        independent = isinstance(instance, TreeCommittee) and not isinstance(instance.data, HiddenManifold)
        method = "message_passing" if independent else "expectation_propagation"
    require_choice("method", method, METHODS)
    damping, tolerance = DAMPING.require(damping), TOLERANCE.require(tolerance)
    max_iterations = STEPS.require(max_iterations)
    if method == "expectation_propagation":
        columns = expectation_propagation(instance.unit_inputs, reference, wanted, damping, max_iterations, tolerance)
        return CommitteeLocalEntropy(wanted, *columns)
    each = counted(wanted.tolist(), "committee_local_entropy")
    points = [_message_passing(instance, reference, D, damping, max_iterations, tolerance) for D in each]
    entropy, residual, iterations = (np.array(column) for column in zip(*points, strict=True))
    converged = residual <= tolerance
    return CommitteeLocalEntropy(wanted, np.where(converged, entropy, np.nan), converged, residual, iterations)


def committee_solution_fraction(
    instance: Committee, weights: np.ndarray, *, distance: float, draws: int, seed: int, machine: str = "committee"
) -> SolutionFraction:
    """The fraction of solutions among random weights at a distance, by direct Monte Carlo.

    It is exact within its error, on any data, where the fraction is not too small: draws × fraction ≳ 100. Draws that
    are no solutions are cheap: most fail on the few patterns that are tried first, which the reference solves with
    least room. A draw that is a solution takes the matrix products with all patterns.

    Args:
        instance: ±1 patterns.
        weights: the reference, [K, inputs_per_unit]. Units may have any norm but 0.
        distance: D, in [1e-15, 1 − 1e-15].
        draws: number of random weights.
        seed: root seed.
        machine: "committee", whose output is the majority of the units, or "parity", whose output is their product.

    Returns:
        The fraction and its standard error.

    Raises:
        DomainError: another machine, or see `committee_local_entropy`.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> weights = committee_least_action(machine, seed=0).weights
        >>> from localentropy.landscape.committee_local_entropy import committee_solution_fraction
        >>> committee_solution_fraction(machine, weights, distance=0.001, draws=1000, seed=0).fraction > 0
        True
    """
    reference = _reference(instance, weights)
    D = DISTANCE.require(distance)
    draws = PATTERNS.called("draws").require(draws)
    require_choice("machine", machine, MACHINES)
    K, size = reference.shape
    stream = seeds.generator(seed, "solution_fraction", N=K * size, P=instance.P, distance=D)
    parts = list(_by_difficulty(instance, reference, machine))
    solved = parity_solves if machine == "parity" else _solves
    most, solutions = max(1, _BATCH // reference.size), 0
    for start in counted(range(0, draws, most), "committee_solution_fraction"):
        drawn = at_distance(reference, D, stream.standard_normal((min(most, draws - start), K, size)))
        for part in parts:
            drawn = drawn[solved(part, drawn)]
            if not len(drawn):
                break
        solutions += len(drawn)
    fraction = solutions / draws
    if solutions in (0, draws):
        return SolutionFraction(D, draws, fraction, 0.0 if solutions else -math.inf, math.nan)
    error = math.sqrt((1.0 - fraction) / solutions)
    return SolutionFraction(D, draws, fraction, math.log(fraction) / reference.size, error / reference.size)


def at_distance(reference: np.ndarray, distance: float, noise: np.ndarray) -> np.ndarray:
    """Weights in uniformly random directions at a distance from a reference, unit by unit.

    Args:
        reference: w̃, [K, inputs], any norm.
        distance: D.
        noise: independent standard normal numbers, [draws, K, inputs]; changed.

    Returns:
        Units of norm 1, [draws, K, inputs].

    Example:
        >>> import numpy as np
        >>> from localentropy.landscape.committee_local_entropy import at_distance
        >>> noise = np.random.default_rng(0).standard_normal((1, 3, 33))
        >>> near = at_distance(np.eye(3, 33), 0.1, noise)
        >>> (near * np.eye(3, 33)).sum(-1).round(12).tolist()  # overlaps 1 − 2D
        [[0.8, 0.8, 0.8]]
    """
    reference = unit_norm(reference)
    noise -= np.einsum("dki,ki->dk", noise, reference)[..., None] * reference
    noise *= 2.0 * math.sqrt(distance * (1.0 - distance)) / np.linalg.norm(noise, axis=2, keepdims=True)
    noise += (1.0 - 2.0 * distance) * reference
    return noise


def _reference(instance: Committee, weights: np.ndarray) -> np.ndarray:
    """The user's weights, each unit of squared norm n, [K, n]."""
    reference = normalised_units(instance, weights)
    if instance.inputs_per_unit < 2:
        raise DomainError("inputs_per_unit = 1: such a unit has no weights at a distance; allowed are at least 2")
    return reference * math.sqrt(instance.inputs_per_unit)


def _message_passing(
    instance: Committee, reference: np.ndarray, distance: float, damping: float, max_iterations: int, tolerance: float
) -> tuple[float, float, int]:
    """Entropy, residual and updates at one distance."""
    iterations = 0
    for _ in range(ATTEMPTS):
        messages = Messages(instance, (1.0 - 2.0 * distance) * reference, 4.0 * distance * (1.0 - distance))
        _, residual, made = messages.converge(
            update_weights_at_distance, (reference, distance), damping, max_iterations, tolerance
        )
        iterations += made
        if residual <= tolerance:
            break
        damping = 0.5 * (1.0 + damping)
    return messages.log_volume(), residual, iterations


def _solves(instance: Committee, weights: np.ndarray) -> np.ndarray:
    """Which weights [draws, K, inputs] have no training error."""
    found: np.ndarray = instance.train_error(weights) == 0.0
    return found


def _by_difficulty(instance: Committee, reference: np.ndarray, machine: str) -> Iterator[Committee]:
    """The machine on parts of its patterns, first those on which the reference's output changes soonest."""
    fields = instance.preactivations(reference)
    room = np.abs(fields).min(axis=1) if machine == "parity" else np.sort(fields, axis=1)[:, instance.units // 2]
    order, start, size = np.argsort(room, kind="stable"), 0, _FIRST_PATTERNS
    while start < instance.P:
        rows = order[start : start + size]
        data = Instance(instance.data.compact_patterns[rows], instance.data.labels[rows], instance.data.seed)
        yield type(instance)(data, instance.units)
        start, size = start + size, 2 * size
