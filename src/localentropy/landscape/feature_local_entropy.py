"""Local entropy on random features, whose patterns are correlated: message passing on two levels, with a reference.

The belief propagation of `localentropy.landscape.local_entropy` takes the weights as independent. On random features
its entropy is then too low, the more so the farther from the reference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from localentropy.arguments import require_signs
from localentropy.instances.perceptron import Instance
from localentropy.landscape.local_entropy import LocalEntropy, field_for_overlap
from localentropy.numerics.priors import Binary
from localentropy.numerics.waiting import counted
from localentropy.quantities import DAMPING, DISTANCE, STEPS, TOLERANCE
from localentropy.solvers.amp import TwoLevelInputs
from localentropy.solvers.binary.messages import satisfies, threshold_of
from localentropy.solvers.generalized_amp import MessagePassing
from localentropy.solvers.solution import check_instance


def feature_local_entropy(
    instance: Instance,
    reference: np.ndarray,
    *,
    distances: Sequence[float] | np.ndarray,
    margin: float = 0.0,
    damping: float = 0.5,
    max_iterations: int = 1000,
    tolerance: float = 1e-5,
) -> LocalEntropy:
    """Entropy of the solutions at given distances from a reference, on random features.

    The equations are those of `two_level_amp`, with a field γ towards the reference on every weight. γ is found again
    at every update, so that the mean overlap is always the wanted one. Each point starts without messages.

    Source: `overparam`, equations 14 and 97 (the text has the typical reference only); `margins`, supplement II.3.

    Args:
        instance: a hidden manifold.
        reference: w̃, ±1, [N]; not necessarily a solution.
        distances: d, each in [1e-15, 1 − 1e-15].
        margin: smallest stability κ of the solutions that are counted.
        damping: share of the old fields kept at first, see `two_level_amp`.
        max_iterations: updates for each point.
        tolerance: converged when no magnetization changes by more in one update.

    Returns:
        As `local_entropy`.

    Raises:
        DomainError: an argument out of range, an even N with ±1 patterns (features of signs), random patterns, an
            activation without noise (identity), a reference of another length than N or not of ±1.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import hidden_manifold
        >>> from localentropy.landscape.feature_local_entropy import feature_local_entropy
        >>> instance = hidden_manifold(D=101, P=303, N=605, seed=0)
        >>> near = feature_local_entropy(instance, solvers.sbpi(instance, seed=0).weights, distances=[0.01, 0.1])
        >>> near.entropy.round(2), near.converged
        (array([0.05, 0.27]), array([ True,  True]))
    """
    check_instance(instance)
    damping, max_iterations = DAMPING.require(damping), STEPS.require(max_iterations)
    tolerance, wanted = TOLERANCE.require(tolerance), DISTANCE.require_all(distances).ravel()
    reference = require_signs("reference", reference, (instance.N,)).astype(np.float64)
    threshold = threshold_of(instance, margin)
    rows = []
    for target in counted(wanted.tolist(), "feature_local_entropy"):
        passing = _AtDistance(TwoLevelInputs(instance, threshold), reference, 1.0 - 2.0 * target, damping)
        iterations = sum(1 for _ in passing.updates(max_iterations, tolerance))
        residual = float(passing.residual)
        converged = residual < tolerance and bool(satisfies(instance, passing.means, threshold))
        entropy = float(passing.free_entropy()) + math.log(2.0) if converged else math.nan
        distance = 0.5 * (1.0 - float(reference @ passing.means) / instance.N)
        rows.append((distance, entropy, passing.gamma, converged, residual, iterations))
    return LocalEntropy.of(rows)


class _AtDistance(MessagePassing):
    """Message passing with a field γ towards a reference, which keeps the mean overlap with it."""

    def __init__(self, inputs: TwoLevelInputs, reference: np.ndarray, overlap: float, damping: float) -> None:
        self._reference, self._overlap = reference, overlap
        super().__init__(inputs, Binary(), np.zeros(len(reference)), damping)

    def _settle(self) -> None:
        self.gamma = field_for_overlap(self._reference * self._field, self._overlap)
        self._external = self.gamma * self._reference
        super()._settle()
