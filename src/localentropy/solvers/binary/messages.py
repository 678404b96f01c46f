"""The state of belief propagation on a binary perceptron, shared by the solvers and the local entropy.

Memory: 12 bytes for each edge (pattern, weight); 720 MB at P = 3000, N = 20000.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from localentropy.arguments import require_choice, require_flag
from localentropy.instances.perceptron import Instance, require_odd, smallest_allowed
from localentropy.numerics.waiting import counted
from localentropy.quantities import DAMPING, EPSILON, FIELD
from localentropy.solvers.binary import message_kernels

UPDATES = ("exact", "expanded")
ORDERS = ("parallel", "sequential")
LARGEST_DAMPING = 0.98


@dataclass(frozen=True)
class Update:
    """How the messages are updated.

    Attributes:
        update: "exact" is the Gaussian update of every edge, with the two tails of its own cavity sums. "expanded" is
            this update to order 1/V in the variance V of the sums; it needs one hazard function for each pattern.
        order: "parallel": all patterns see the same weights. "sequential": patterns come in a new random order, and
            each sees the fields that the patterns before it have just sent.
        damping: share of the old field kept in each update, in [0, 1).
        adaptive: raise the damping when an update undoes most of the update before. The share that is new is then
            halved, down to 0.02. Focusing undoes one such rise at each new coupling. Updates alternate mainly on
            correlated patterns and for strongly coupled replicas. The fixed points do not depend on the damping.

    Example:
        >>> from localentropy.solvers.binary.messages import Update
        >>> Update(order="sequential")
        Update(update='exact', order='sequential', damping=0.5, adaptive=True)
    """

    update: str = "exact"
    order: str = "parallel"
    damping: float = 0.5
    adaptive: bool = True

    def __post_init__(self) -> None:
        require_choice("update", self.update, UPDATES)
        require_choice("order", self.order, ORDERS)
        object.__setattr__(self, "damping", DAMPING.require(self.damping))
        require_flag("adaptive", self.adaptive)


class Messages:
    """Fields of all edges, and their sum on each weight.

    Attributes:
        patterns: labels times patterns, float32, [P, N].
        threshold: smallest Σ_i w_i ξ_i, the margin times √N. For ±1 patterns it is the middle between the smallest
            allowed sum and the sum below it, where the Gaussian approximation is best.
        external: fields from outside on each weight, [N].
        fields: a_μi, [P, N].
        incoming: Σ_μ a_μi, [N].
        total: h_i, the sum of all fields, [N].
        magnetizations: m_i = tanh h_i, [N].
        weights: sign h_i, int8, [N].
        damping: share of the old fields that is kept now.

    Args:
        instance: the problem.
        margin: smallest stability κ of a solution.
        how: how the messages are updated.
        generator: of the first magnetizations and the order of sequential updates.
        epsilon: the first magnetizations are uniform in [−epsilon, epsilon]. There are no fields then.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], epsilon outside [0, 1).

    Example:
        >>> import numpy as np
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.messages import Messages, Update
        >>> messages = Messages(random_patterns(N=201, P=40, seed=0), 0.0, Update(), np.random.default_rng(0), 0.1)
        >>> changes = [messages.sweep() for _ in range(30)]
        >>> changes[-1] < 1e-4 < changes[0]
        True
    """

    def __init__(
        self, instance: Instance, margin: float, how: Update, generator: np.random.Generator, epsilon: float
    ) -> None:
        epsilon = abs(EPSILON.require(epsilon))  # -0.0 would be an interval of a negative length
        # One type for all instances, because a kernel in the disk cache must have one signature.
        self.patterns = instance.signed_patterns.astype(np.float32)
        self.threshold = threshold_of(instance, margin)
        self.external = np.zeros(instance.N)
        self.fields = np.zeros((instance.P, instance.N))
        self.magnetizations = generator.uniform(-epsilon, epsilon, instance.N)
        self.total = np.arctanh(self.magnetizations)
        self.weights = np.where(self.total >= 0, np.int8(1), np.int8(-1))
        self.damping = how.damping
        self._how = how
        self._reach = float(np.abs(self.patterns).max())
        self.incoming = np.zeros(instance.N)
        self._changes = np.zeros(instance.N)
        self._last_squares = 0.0
        self._generator = generator
        self._order = np.arange(instance.P)

    def sweep(self, coupling: float = 0.0, replicas: float = 1.0) -> float:
        """Update all messages once, then the weights. Returns the largest change of a magnetization.

        Args:
            coupling: γ between each replica and the centre; may be infinite.
            replicas: y, not necessarily an integer.
        """
        self.send()
        return self.settle(coupling, replicas)

    def send(self) -> None:
        """Update the fields of all edges with the present weights."""
        sequential = self._how.order == "sequential"
        message_kernels.update_messages(
            self.patterns,
            self._generator.permutation(len(self.patterns)) if sequential else self._order,
            self.threshold,
            self._reach,
            self._how.update == "expanded",
            self.damping,
            FIELD.high,
            sequential,
            self.fields,
            self.total,
            self.incoming,
        )

    def settle(self, coupling: float = 0.0, replicas: float = 1.0) -> float:
        """Sum up the fields on each weight, see `sweep`."""
        largest, squares, product = message_kernels.update_weights(
            self.incoming,
            self.external,
            float(coupling),
            float(replicas),
            FIELD.high,
            self.total,
            self.magnetizations,
            self._changes,
            self.weights,
        )
        if self._how.adaptive:
            self.damping = float(raised_damping(self.damping, product, self._last_squares))
        self._last_squares = squares
        return float(largest)

    def focus(
        self, protocol: Sequence[tuple[float, float]], name: str, max_iterations: int, tolerance: float, stop: str
    ) -> tuple[list[int], list[tuple[float, ...]], float]:
        """Sweeps at each coupling of a focusing protocol.

        Args:
            protocol: the coupling γ and the replicas y of each step.
            name: of the solver, for the line of progress.
            max_iterations: most sweeps of a step.
            tolerance: a step ends when no magnetization changes by more in a sweep.
            stop: "first", as soon as the signs make no error; else after all steps.

        Returns:
            The number of errors at the start and after each sweep, the rows of the `FocusingRecord`, and the largest
            change in the last sweep.
        """
        errors, residual = [self.errors()], math.inf
        rows: list[tuple[float, ...]] = []
        for coupling, y in counted(protocol, name):
            if stop == "first" and errors[-1] == 0:
                break
            self.relax()
            before = len(errors)
            for _ in range(max_iterations):
                residual = self.sweep(coupling, y)
                errors.append(self.errors())
                if residual < tolerance or (stop == "first" and errors[-1] == 0):
                    break
            made, train_error = len(errors) - before, errors[-1] / len(self.patterns)
            rows.append((coupling, y, made, train_error, residual, self.damping, self.overlap))
        return errors, rows, residual

    def relax(self) -> None:
        """Undo one rise of the damping, for a new coupling."""
        self.damping = max(self._how.damping, 2.0 * self.damping - 1.0)

    @property
    def overlap(self) -> float:
        """q = Σ_i m_i²/N."""
        return float(self.magnetizations @ self.magnetizations) / len(self.magnetizations)

    @property
    def saturated(self) -> bool:
        """Whether a field is at its bound. Then the messages diverged, and the Bethe entropy means nothing."""
        # Absolute values would be a second array of the size of the messages.
        at_bound = max(max(fields.max(), -fields.min()) for fields in (self.total, self.fields)) >= FIELD.high
        return bool(at_bound)

    def consistent(self, instance: Instance) -> bool:
        """Whether no field is at its bound and the magnetizations satisfy every pattern of the problem."""
        return not self.saturated and bool(satisfies(instance, self.magnetizations, self.threshold))

    def errors(self) -> int:
        """Number of training patterns that the signs of the fields do not store at the margin."""
        return int(message_kernels.count_errors(self.patterns, self.threshold, self.weights))

    def free_entropy(self) -> float:
        """Bethe free entropy per weight, nats: ln Σ_w exp(Σ_i external_i w_i) over solutions w, divided by N."""
        total = message_kernels.bethe_free_entropy(self.patterns, self.threshold, self.fields, self.total)
        return float(total) / len(self.total)

    def entropy(self) -> float:
        """Bethe entropy per weight, nats: the free entropy without the mean of the external energy."""
        return self.free_entropy() - float(self.external @ self.magnetizations) / len(self.total)


def bethe(patterns: float, fields: np.ndarray, total: np.ndarray) -> float:
    """Bethe free entropy per weight, nats: the terms of patterns and weights, less those of the edges.

    Args:
        patterns: sum of the terms of the patterns.
        fields: of the edges, [P, N].
        total: all fields on each weight, [N].

    Returns:
        One number.

    Example:
        >>> import numpy as np
        >>> from localentropy.solvers.binary.messages import bethe
        >>> round(bethe(0.0, np.zeros((2, 3)), np.zeros(3)), 6)  # ln 2: all weights count
        0.693147
    """
    weights = np.logaddexp(total, -total)
    edges = weights - np.logaddexp(total - fields, fields - total)
    return float(patterns + weights.sum() - edges.sum()) / len(total)


def raised_damping(damping: float | np.ndarray, product: float | np.ndarray, squares: float | np.ndarray) -> Any:
    """The damping after two updates that changed the means by δ and δ': (1 + damping)/2 if they alternate.

    It is at most 0.98. Along one direction δ' = λδ, and halving 1 − damping halves 1 − λ. The damping is raised for λ <
    −0.7.

    Args:
        damping: share of the old fields kept, of each run, or of one.
        product: δ·δ', of the same.
        squares: δ·δ, of the same.

    Returns:
        The damping of the next update, of the shape of the arguments.

    Example:
        >>> from localentropy.solvers.binary.messages import raised_damping
        >>> float(raised_damping(0.5, product=-0.9, squares=1.0)), raised_damping(0.5, product=0.9, squares=1.0)
        (0.75, 0.5)
    """
    alternate = product < -0.7 * squares
    if not np.any(alternate):
        return damping
    return np.where(alternate, np.minimum(0.5 * (1 + damping), LARGEST_DAMPING), damping)


def satisfies(instance: Instance, magnetizations: np.ndarray, threshold: float) -> np.ndarray:
    """Whether magnetizations satisfy every pattern, as the means of solutions do: bool, [...].

    Where patterns contradict each other, updates can come to rest at magnetizations that do not.

    Args:
        instance: the problem.
        magnetizations: [..., N].
        threshold: smallest Σ_i m_i y ξ_i, see `threshold_of`.

    Returns:
        Whether all patterns are satisfied, one value for each row of magnetizations.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.perceptron import Instance
        >>> from localentropy.solvers.binary.messages import satisfies
        >>> data = Instance(patterns=[[1, 1, -1], [1, -1, -1]], labels=[1, 1], seed=0)
        >>> satisfies(data, np.array([[0.5, 0.1, -0.2], [-0.5, 0.1, 0.2]]), 0.0).tolist()
        [True, False]
    """
    return np.all(instance.sums(magnetizations) > threshold, axis=-1)


def threshold_of(instance: Instance, margin: float) -> float:
    """Smallest Σ_i w_i y ξ_i of a solution, for the Gaussian approximation of the sums (see `Messages`).

    Args:
        instance: the problem.
        margin: κ.

    Returns:
        For ±1 patterns the middle between the smallest allowed sum and the sum below it; else κ√N.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N].

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.messages import threshold_of
        >>> threshold_of(random_patterns(N=101, P=30, seed=0), margin=0.5)  # allowed sums are 7, 9, …
        6.0
    """
    if instance.binary:
        require_odd(instance.N)
    allowed = smallest_allowed(margin, instance.N)
    return allowed - 1.0 if instance.binary else float(margin) * math.sqrt(instance.N)
