"""The state of belief propagation on a committee machine with binary weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from localentropy import seeds
from localentropy.arguments import require_choice
from localentropy.errors import DomainError
from localentropy.instances.committee import Committee, FullCommittee, check_committee
from localentropy.instances.perceptron import Instance
from localentropy.quantities import EPSILON, FIELD
from localentropy.solvers.binary.committee_kernels import update_messages
from localentropy.solvers.binary.messages import Messages, Update, bethe
from localentropy.solvers.committee.kernels import count_errors

SUMS = ("gaussian", "exact")


class CommitteeMessages(Messages):
    """Fields of all edges (pattern, unit, weight), and their sum on each weight.

    Arrays over weights have K n entries, unit after unit. The update of the weights is that of `Messages`, the update
    of the patterns that of a committee. At the start there are no fields.

    Args:
        instance: the problem.
        sums: "gaussian" or "exact".
        damping: share of the old fields kept in each update.
        seed: root seed of the first magnetizations.
        algorithm: name of their stream, `algorithm/<this>`.
        epsilon: the first magnetizations are uniform in [−epsilon, epsilon].

    Raises:
        DomainError: not a committee with ±1 patterns, an even number of inputs of a unit, an argument out of range.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.binary.committee_messages import CommitteeMessages
        >>> machine = random_tree_committee(N=99, P=20, K=3, seed=0)
        >>> messages = CommitteeMessages(machine, "gaussian", damping=0.3, seed=0, algorithm="own", epsilon=0.1)
        >>> changes = [messages.sweep() for _ in range(40)]
        >>> changes[-1] < 1e-4 < changes[0]
        True
    """

    def __init__(
        self, instance: Committee, sums: str, damping: float, seed: int, algorithm: str, epsilon: float
    ) -> None:
        check_committee(instance)
        K, n, data = instance.units, instance.inputs_per_unit, instance.data
        if n % 2 == 0:
            raise DomainError(
                f"inputs_per_unit = {n} is even: a sum of {n} terms ±1 can be 0, no vote; allowed are odd"
            )
        self._exact = require_choice("sums", sums, SUMS) == "exact"
        self._machine, self._shape = instance, (K, n)
        generator = seeds.generator(seed, f"algorithm/{algorithm}", K=K, N=K * n, P=instance.P)
        if isinstance(instance, FullCommittee):
            if K > 1 and EPSILON.require(epsilon) == 0:
                raise DomainError("epsilon = 0: it must tell the units of a fully connected machine apart")
            data = Instance(np.tile(data.compact_patterns, (1, K)), data.labels, seed=data.seed)
        super().__init__(data, 0.0, Update(damping=damping, adaptive=False), generator, epsilon)

    def send(self) -> None:
        """Update the fields of all edges with the present weights."""
        self._update(self.damping)

    def errors(self) -> int:
        """Number of training patterns for which the machine with the signs of the fields has no majority."""
        weights = self.weights.reshape(self._shape).astype(np.float64)
        return int(count_errors(self._machine.data.signed_patterns, weights))

    def go_on(self, start: Any, kind: type[Any]) -> int:
        """Take the messages of a run of this instance. Returns its iterations; 0 if there is none.

        Raises:
            DomainError: the start is no run of this kind, or one of other sizes.
        """
        if start is None:
            return 0
        shape = (self._machine.P, *self._shape)
        if not isinstance(start, kind) or start.messages.shape != shape:
            raise DomainError(
                f"start = {type(start).__name__} object: allowed is a {kind.__name__} with messages {list(shape)}"
            )
        self.fields[:] = start.messages.reshape(self.fields.shape)
        self.total[:] = start.total.ravel()
        self.magnetizations[:] = start.magnetizations.ravel()
        self.weights[:] = start.weights.ravel()
        return int(start.iterations)

    def result(self) -> dict[str, Any]:
        """What all results have: weights, magnetizations, messages and the fields on the weights."""
        one = {"weights": self.weights, "magnetizations": self.magnetizations, "total": self.total}
        found = {name: array.reshape(self._shape).copy() for name, array in one.items()}
        return {**found, "messages": self.fields.reshape(-1, *self._shape)}

    def free_entropy(self) -> float:
        """Bethe free entropy per weight, nats, as in `Messages`."""
        return bethe(self._update(damping=1.0), self.fields, self.total)

    def _update(self, damping: float) -> float:
        volume: float = update_messages(
            self.patterns, self._machine.units, self._exact, damping, FIELD.high, self.fields, self.total, self.incoming
        )
        return volume
