"""Local entropy by belief propagation: the number of solutions at a distance from a given configuration.

A field γ w̃_i on every weight keeps belief propagation at a distance from the reference w̃. The sum over a pattern is
treated as a sum of independent weights. Random features give correlated patterns, on which the entropy is shifted (see
`localentropy.solvers.amp`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from localentropy.arguments import (
    require_signs,
)
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance
from localentropy.numerics.waiting import counted
from localentropy.quantities import DISTANCE, FIELD, OVERLAP_OF_MEANS, STEPS, TOLERANCE
from localentropy.solvers.binary.messages import Messages, Update
from localentropy.solvers.solution import check_instance


@dataclass(frozen=True, eq=False)
class LocalEntropy:
    """The curve around one reference; all arrays are [points], in the order of the arguments.

    Attributes:
        distance: d = (1 − w·w̃/N)/2, mean over the counted solutions.
        entropy: nats per weight; NaN where the messages did not converge.
        field: γ; half the slope of the entropy in d.
        converged: whether the messages reached the tolerance, with magnetizations that satisfy every pattern.
        residual: largest change of a magnetization in the last update; infinite after a single one, which only puts the
            field on the messages of the point before.
        iterations: updates of all messages.
    """

    distance: np.ndarray
    entropy: np.ndarray
    field: np.ndarray
    converged: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray | Sequence[Sequence[float]]) -> Self:
        """The curve of points that have these six numbers each."""
        distance, entropy, field, converged, residual, iterations = np.array(rows, dtype=float).reshape(-1, 6).T
        return cls(distance, entropy, field, converged == 1, residual, iterations.astype(int))


def local_entropy(
    instance: Instance,
    reference: np.ndarray,
    *,
    distances: Sequence[float] | np.ndarray | None = None,
    fields: Sequence[float] | np.ndarray | None = None,
    margin: float = 0.0,
    damping: float = 0.5,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    update: str = "exact",
) -> LocalEntropy:
    """Bethe entropy of the solutions at given distances from a reference, or in given fields towards it.

    At a given distance the field is found again after every update, so that the mean overlap is always the wanted one.
    This also reaches distances where the entropy is convex, at which no fixed field is stable. Points are solved
    outwards, each starting from the messages of the point before.

    Source: `margins`, supplement II.3 (there with fields on a grid); messages and entropy as in `belief_propagation`.

    Args:
        instance: the problem.
        reference: w̃, ±1, [N]; not necessarily a solution.
        distances: d, each in [1e-15, 1 − 1e-15].
        fields: γ, from −30 to 30: beyond, tanh γ is ±1 in double precision. Give either distances or fields.
        margin: smallest stability κ of the solutions that are counted.
        damping: share of the old fields kept in each update, raised when updates alternate.
        max_iterations: updates for each point.
        tolerance: converged when no magnetization changes by more in one update.
        update: "exact" or "expanded", see `localentropy.solvers.binary.messages.Update`.

    Returns:
        For each point the distance, the field, the entropy in nats per weight (NaN if it did not converge), and
        `converged`.

    Raises:
        DomainError: an argument out of range (the margin: [0, √N] with ±1 patterns), an even N with ±1 patterns, an
            unknown `update`, both or neither of `distances` and `fields`, a reference of another length than N or not
            of ±1.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.landscape.local_entropy import local_entropy
        >>> instance = random_patterns(N=501, P=250, seed=0)
        >>> near = local_entropy(instance, solvers.focusing_bp(instance, seed=0).weights, distances=[0.01, 0.1])
        >>> near.entropy.round(3), near.converged
        (array([0.055, 0.238]), array([ True,  True]))
    """
    check_instance(instance)
    max_iterations, tolerance = STEPS.require(max_iterations), TOLERANCE.require(tolerance)
    reference = require_signs("reference", reference, (instance.N,)).astype(np.float64)
    if (distances is None) == (fields is None):
        raise DomainError("local_entropy needs distances or fields, and not both")
    at_distance = distances is not None
    wanted = (DISTANCE.require_all(distances) if at_distance else FIELD.require_all(fields)).ravel()

    how = Update(update, "parallel", damping)
    messages = Messages(instance, margin, how, np.random.default_rng(0), epsilon=0.0)
    rows = np.empty((len(wanted), 6))
    for point in counted(np.argsort(wanted if at_distance else -wanted).tolist(), "local_entropy"):
        messages.relax()
        overlap = 1.0 - 2.0 * wanted[point]
        gamma, residual, iterations = wanted[point], np.inf, 0
        while residual >= tolerance and iterations < max_iterations:
            if iterations:
                messages.send()
            if at_distance:
                gamma = field_for_overlap(reference * messages.incoming, overlap)
            messages.external = gamma * reference
            change = messages.settle()
            # The first update only puts the new field on the old messages.
            residual = change if iterations else np.inf
            iterations += 1
        converged = residual < tolerance and messages.consistent(instance)
        distance = 0.5 * (1.0 - float(reference @ messages.magnetizations) / instance.N)
        entropy = messages.entropy() if converged else np.nan
        rows[point] = distance, entropy, gamma, converged, residual, iterations
    return LocalEntropy.of(rows)


def field_for_overlap(own: np.ndarray, overlap: float) -> float:
    """The γ at which the mean of tanh(own + γ) is `overlap`, to 1e-13, by Newton steps inside a bracket.

    Args:
        own: fields on the weights, times the reference, [N].
        overlap: in (−1, 1).

    Returns:
        γ.

    Raises:
        DomainError: an overlap that is not in (−1, 1).

    Example:
        >>> import numpy as np
        >>> from localentropy.landscape.local_entropy import field_for_overlap
        >>> gamma = field_for_overlap(np.array([-0.5, 0.0, 0.5]), 0.8)
        >>> round(float(np.tanh(np.array([-0.5, 0.0, 0.5]) + gamma).mean()), 12)
        0.8
    """
    overlap = OVERLAP_OF_MEANS.require(overlap)
    low, high = np.arctanh(overlap) - own.max(), np.arctanh(overlap) - own.min()
    gamma = np.arctanh(overlap) - float(np.median(own))
    for _ in range(200):
        m = np.tanh(own + gamma)
        excess = float(m.mean()) - overlap
        if abs(excess) < 1e-13 or high - low < 1e-14 * (1.0 + abs(gamma)):
            break
        low, high = (low, gamma) if excess > 0 else (gamma, high)
        slope = float(np.mean(1.0 - m * m))
        step = gamma - excess / slope if slope > 0 else low - 1.0
        gamma = step if low < step < high else 0.5 * (low + high)
    return float(gamma)
