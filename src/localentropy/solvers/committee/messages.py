"""Messages of the committee machine with continuous weights, as approximate message passing (AMP).

Between weights and patterns they are those of `committee_focusing_bp`, steps 1–3. What the weights answer is the
caller's: with replicas around a centre, in the whole volume of solutions, or at an overlap with a reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from localentropy.instances.committee import Committee
from localentropy.solvers.committee.focusing_kernels import steepest_mean, update_patterns
from localentropy.solvers.committee.kernels import count_errors


class Messages:
    """The messages of one machine.

    Attributes:
        means: m, [K, inputs_per_unit].
        variances: v, [K].
        slopes: g, [P, K].
        curvatures: Γ, [P, K].

    Args:
        instance: ±1 patterns.
        means: of the weights without patterns, [K, inputs_per_unit]; None: zeros.
        variance: of a weight without patterns.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.committee.messages import Messages
        >>> machine = random_tree_committee(N=99, P=20, K=3, seed=0)
        >>> start = Messages(machine, means=np.ones((3, 33)))
        >>> start.errors() == machine.train_error(np.ones((3, 33))), start.overlap()
        (True, 1.0)
    """

    def __init__(self, instance: Committee, means: np.ndarray | None = None, variance: float = 1.0) -> None:
        P, K, size = instance.P, instance.units, instance.inputs_per_unit
        self._patterns = instance.data.signed_patterns
        self._steepest = steepest_mean(K)
        self._free = variance
        self.means = np.zeros((K, size)) if means is None else means.copy()
        self.variances = np.full(K, variance)
        self.slopes = np.zeros((P, K))
        self.curvatures = np.zeros((P, K))
        self._fields = np.empty((K, size))
        self._precisions = np.empty(K)

    def errors(self) -> float:
        """Train error of the sign machine with the means as weights."""
        return count_errors(self._patterns, self.means) / len(self._patterns)

    def overlap(self) -> float:
        """q, the mean of m²."""
        return float(np.mean(self.means**2))

    def state(self) -> tuple[np.ndarray, ...]:
        """A copy of all messages."""
        return tuple(one.copy() for one in (self.means, self.variances, self.slopes, self.curvatures))

    def restore(self, state: tuple[np.ndarray, ...]) -> None:
        """Go back to a state."""
        for one, saved in zip((self.means, self.variances, self.slopes, self.curvatures), state, strict=True):
            one[:] = saved

    def converge(
        self,
        answer: Callable[..., float],
        options: tuple[Any, ...],
        damping: float,
        max_iterations: int,
        tolerance: float,
    ) -> tuple[float, float, int]:
        """Update until convergence.

        Args:
            answer: kernel called with fields B, the options, damping, means and variances. It updates the last two and
                returns the residual, or infinity if the fields overflowed.
            options: of the answer.
            damping: share of the old messages kept.
            max_iterations: most updates.
            tolerance: largest residual of converged messages.

        Returns:
            The first and the last residual, and the number of updates.
        """
        first, residual, made = math.inf, math.inf, 0
        for made in range(1, max_iterations + 1):
            self._hear_patterns(damping)
            residual = answer(self._fields, *options, damping, self.means, self.variances)
            if made == 1:
                first = residual
            if residual <= tolerance or math.isinf(residual):
                break
        return first, residual, made

    def log_volume(self) -> float:
        """Bethe free entropy of converged messages less that without patterns, nats per weight.

        Source: docs/shaping/theory.md eq. B.6.
        """
        # Damping 1 keeps all messages.
        patterns = self._hear_patterns(damping=1.0)
        return float(0.5 * np.mean(np.log(self.variances / self._free)) + patterns / self.means.size)

    def _hear_patterns(self, damping: float) -> float:
        """Update slopes, curvatures and fields; returns the patterns' part of the free entropy before that."""
        part: float = update_patterns(
            self._patterns,
            self.means,
            self.variances,
            damping,
            self._steepest,
            self.slopes,
            self.curvatures,
            self._fields,
            self._precisions,
        )
        return part
