"""Generalized approximate message passing (AMP): any prior of the weights, any channel of the labels.

One update, with the means a and the mean variance V of the weights, g(y, ω, V_z) of the channel, and inputs X of n rows
and d columns, whose entries have mean square s (docs/glm/theory.md eqs. 4, 7, where s = 1/d):

    V_z = s d V                variance of a sum z over the weights
    ω = X a − V_z g_old        its mean, without what its own label sent in the last update (Onsager's term)
    Λ = s Σ_μ −∂g/∂ω           precision that a weight gets from the labels
    B = X^T g + Λ a            its field: a weight is seen as B / Λ, in Gaussian noise of variance 1/Λ
    a, V                       means and mean variance under the prior times exp(B w − Λ w²/2)

A prior and a channel are values of `localentropy.numerics.priors` and `localentropy.numerics.channels`. `Inputs`
computes B and Λ, the first four lines: those above are `IndependentInputs` for signs and absolute values, compiled, and
`ChannelInputs` for any channel. `MessagePassing` has the state of a run and the loop.

`generalized_amp` is the Bayes-optimal student of a teacher. The binary perceptron (`localentropy.solvers.amp`) is the
case of binary weights and signs with a margin, also on random features.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from localentropy import seeds
from localentropy.instances.generalized_linear import GeneralizedLinear, check_problem
from localentropy.numerics.channels import Absolute, Channel, Sign
from localentropy.numerics.priors import Prior
from localentropy.numerics.waiting import counted
from localentropy.quantities import FIRST_FIELD, STEPS, TOLERANCE
from localentropy.solvers.amp_kernels import amp_update, log_probability
from localentropy.solvers.binary.messages import raised_damping

RECOVERED_VARIANCE = 1e-10
"""Smallest mean variance of a weight: below it g has no correct digits, and all weights are known."""


class Inputs(Protocol):
    """The labelled inputs: what the weights get from them, and the messages inside."""

    def update(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Fields B, [..., d], and precisions Λ ≥ 0, [..., 1], from means, [..., d], and mean variances, [..., 1]."""

    def free_entropy(self, means: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Σ_μ ln P(y | ω, V_z) + V_z g²/2 at the messages of the last update, [...]."""


class ChannelInputs:
    """Inputs of independent entries of mean 0 and mean square s, with the labels of any channel, for one run.

    Args:
        channel: what a label tells of the sum.
        inputs: X, [n, d].
        labels: y, [n].
        square: s, mean square of an entry.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> from localentropy.numerics.channels import Relu
        >>> from localentropy.solvers.generalized_amp import ChannelInputs
        >>> problem = generalized_linear(n=60, d=20, seed=0, channel=Relu())
        >>> inputs = ChannelInputs(Relu(), problem.inputs, problem.labels, square=1 / 20)
        >>> field, precision = inputs.update(np.zeros(20), np.ones(1))
        >>> problem.cosine(field) > 0.5  # the first fields point to the teacher
        True
    """

    def __init__(self, channel: Channel, inputs: np.ndarray, labels: np.ndarray, square: float) -> None:
        self._channel, self._inputs, self._labels, self._square = channel, inputs, labels, square
        self._g = np.zeros(len(inputs))

    def update(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Inputs`."""
        self._g, slope = self._channel.response(self._labels, *self._sums(means, variance))
        # A channel that is not log-concave can give a small negative sum. A precision is not negative.
        precision = np.array([max(self._square * float(np.sum(slope)), 0.0)])
        return self._g @ self._inputs + precision * means, precision

    def free_entropy(self, means: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """See `Inputs`."""
        omega, spread = self._sums(means, variance)
        return np.array(self._log_probability(omega, spread) + 0.5 * spread * float(self._g @ self._g))

    def _log_probability(self, omega: np.ndarray, spread: float) -> float:
        """Of all labels."""
        return float(np.sum(self._channel.log_probability(self._labels, omega, spread)))

    def _sums(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, float]:
        """ω, [n], and V_z."""
        spread = self._spread(variance)
        return self._inputs @ means - spread * self._g, spread

    def _spread(self, variance: np.ndarray) -> float:
        return self._square * self._inputs.shape[1] * float(variance[0])


class IndependentInputs(ChannelInputs):
    """Inputs as in `ChannelInputs`, with signs or absolute values as labels: compiled.

    The entries are kept in single precision, the sums over them are in double precision.

    Args:
        channel: `Sign()` or `Absolute()`.
        inputs: X, [n, d].
        labels: y, [n].
        square: s, mean square of an entry.
        threshold: T, the smallest y z of a solution; for signs only.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> from localentropy.numerics.channels import Sign
        >>> from localentropy.solvers.generalized_amp import IndependentInputs
        >>> problem = generalized_linear(n=60, d=20, seed=0)
        >>> inputs = IndependentInputs(Sign(), problem.inputs, problem.labels, square=1 / 20)
        >>> field, precision = inputs.update(np.zeros(20), np.ones(1))
        >>> problem.cosine(field) > 0.5  # the first fields point to the teacher
        True
    """

    def __init__(
        self, channel: Sign | Absolute, inputs: np.ndarray, labels: np.ndarray, square: float, threshold: float = 0.0
    ) -> None:
        super().__init__(
            channel, np.ascontiguousarray(inputs, np.float32), np.ascontiguousarray(labels, np.float64), square
        )
        self._absolute, self._threshold = channel == Absolute(), threshold
        self._incoming = np.empty(self._inputs.shape[1])

    def update(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Inputs`."""
        steepness = amp_update(
            self._absolute,
            self._inputs,
            self._labels,
            self._threshold,
            self._spread(variance),
            means,
            self._g,
            self._incoming,
        )
        # Absolute values can give a small negative sum. A precision is not negative.
        precision = np.array([max(self._square * steepness, 0.0)])
        return self._incoming + precision * means, precision

    def _log_probability(self, omega: np.ndarray, spread: float) -> float:
        return float(log_probability(self._absolute, self._labels, self._threshold, omega, spread))


class MessagePassing:
    """The state of AMP, of one run, [d], or of many at once, [runs, d].

    Attributes:
        means: a, of the weights, [..., d].
        variance: V, mean variance of a weight, at least `RECOVERED_VARIANCE`, [..., 1].
        damping: share of the old fields and precisions that the next update keeps, [..., 1].
        residual: largest change of a mean in the last update, [...].

    Args:
        inputs: the labelled inputs.
        prior: of the weights.
        field: first fields of the weights, [..., d].
        damping: the first.
        adaptive: raise the damping of a run whose updates alternate.
        external: fields on the weights that come from no label, [..., d].

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> from localentropy.numerics.priors import Gaussian
        >>> from localentropy.solvers.generalized_amp import IndependentInputs, MessagePassing
        >>> problem = generalized_linear(n=600, d=200, seed=0)
        >>> inputs = IndependentInputs(problem.channel, problem.inputs, problem.labels, square=1 / 200)
        >>> passing = MessagePassing(inputs, Gaussian(), np.zeros(200), damping=0.3)
        >>> changes = list(passing.updates(100, 1e-6))
        >>> round(problem.cosine(passing.means), 2)
        0.93
    """

    def __init__(
        self,
        inputs: Inputs,
        prior: Prior,
        field: np.ndarray,
        damping: float,
        adaptive: bool = True,
        external: np.ndarray | float = 0.0,
    ) -> None:
        self._inputs, self._prior, self._adaptive, self._external = inputs, prior, adaptive, external
        runs = field.shape[:-1]
        self._field, self._precision = field, np.zeros((*runs, 1))
        self.damping = np.full((*runs, 1), damping, field.dtype)
        self.residual = np.full(runs, np.inf)
        self._change = np.zeros_like(field)
        self._settle()

    def _settle(self) -> None:
        self.means, variance = _moments(self._prior, self._field + self._external, self._precision)
        self.variance = np.maximum(variance, RECOVERED_VARIANCE)

    @property
    def recovered(self) -> np.ndarray:
        """Whether the variance has vanished, [...]."""
        return self.variance[..., 0] <= RECOVERED_VARIANCE

    def updates(self, max_iterations: int, tolerance: float) -> Iterator[float]:
        """Update everything until no mean changes by more than the tolerance, or all variances vanish.

        Args:
            max_iterations: most updates.
            tolerance: largest change of a mean in the last one.

        Yields:
            The largest change of a mean in the update just made.
        """
        for _ in counted(range(max_iterations), "message passing"):
            field, precision = self._inputs.update(self.means, self.variance)
            self._field = self.damping * self._field + (1 - self.damping) * field
            self._precision = self.damping * self._precision + (1 - self.damping) * precision
            means, before = self.means, self._change
            self._settle()
            self._change = self.means - means
            self.residual = np.abs(self._change).max(-1)
            if self._adaptive:
                product, squares = np.vecdot(self._change, before), np.vecdot(before, before)
                self.damping = raised_damping(self.damping, product[..., None], squares[..., None])
            largest = float(self.residual.max())
            yield largest
            if largest < tolerance or self.recovered.all():
                break

    def free_entropy(self) -> np.ndarray:
        """Bethe's ln Σ_w of the prior times the probability of all labels, nats per weight, [...].

        For many weights it is that of Thouless, Anderson and Palmer. The energy in the external fields is left out.
        """
        # In double precision, since the terms nearly cancel where weights are almost known.
        field = (self._field + self._external).astype(np.float64)
        means, variance = _moments(self._prior, field, self._precision)
        weights = np.sum(self._prior.log_normalization(field, self._precision), -1)
        weights += np.sum(0.5 * self._precision * (means**2 + variance) - field * means, -1)
        return (self._inputs.free_entropy(self.means, self.variance) + weights) / means.shape[-1]


def _moments(prior: Prior, field: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means, [..., d], and mean variance, [..., 1], of the weights."""
    means, variances = prior.moments(field, precision)
    return means, variances.sum(-1, np.float64, keepdims=True) / variances.shape[-1]


@dataclass(frozen=True, eq=False)
class PosteriorMean:
    """What the student knows in the end.

    Attributes:
        weights: a, posterior means, float64, [d].
        variance: V, mean posterior variance of a weight, at least 1e-10.
        converged: whether the last update changed no mean by more than the tolerance, or the variance vanished. Close
            to the load of recovery the variance can vanish at wrong weights, which do not give all labels.
        iterations: updates of all means.
        overlaps: q = |a|²/d after each update, [iterations]. On average over instances q is the overlap with the
            teacher (Nishimori), and follows `bayes.state_evolution`.
        free_entropy: ln of the posterior's normalization, nats per weight; NaN where the run has not converged or the
            variance vanished. It follows `free_entropy` of `bayes.learning`.
        cpu_seconds: processor time.
    """

    weights: np.ndarray
    variance: float
    converged: bool
    iterations: int
    overlaps: np.ndarray
    free_entropy: float
    cpu_seconds: float


def generalized_amp(
    instance: GeneralizedLinear,
    *,
    seed: int,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    epsilon: float = 0.01,
) -> PosteriorMean:
    """Posterior mean of the teacher's weights by approximate message passing.

    Source: `glm`, slide on AMP; docs/glm/theory.md eqs. 4, 5, 7. The variances are scalar: one for all weights. Nothing
    is damped. With damping the means can stay near zero for absolute values (docs/solvers/generalized_amp.md).

    Args:
        instance: the problem, with its prior and channel.
        seed: root seed of the first fields.
        max_iterations: most updates. Close to a transition hundreds are needed.
        tolerance: converged when no mean changes by more in one update.
        epsilon: the first fields are Gaussian with this standard deviation, in [1e-100, 100]. They must not all be
            zero: for absolute values this is a fixed point.

    Returns:
        The means of the weights, and whether they converged.

    Raises:
        DomainError: an instance of another kind, an argument out of range.

    Example:
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> from localentropy.solvers.generalized_amp import generalized_amp
        >>> problem = generalized_linear(n=1000, d=200, seed=0)
        >>> round(problem.cosine(generalized_amp(problem, seed=0).weights), 2)
        0.96
    """
    check_problem(instance)
    epsilon, max_iterations = FIRST_FIELD.require(epsilon), STEPS.require(max_iterations)
    tolerance = TOLERANCE.require(tolerance)
    start = time.thread_time()
    n, d = instance.inputs.shape
    field = epsilon * seeds.generator(seed, "algorithm/generalized_amp", n=n, d=d).standard_normal((d,))
    problem, channel = (instance.inputs, instance.labels, 1.0 / d), instance.channel
    inputs: Inputs = ChannelInputs(channel, *problem)
    if isinstance(channel, Sign | Absolute):
        inputs = IndependentInputs(channel, *problem)
    passing = MessagePassing(inputs, instance.prior, field, damping=0.0, adaptive=False)
    overlaps = [float(np.mean(passing.means**2)) for _ in passing.updates(max_iterations, tolerance)]
    settled, recovered = bool(passing.residual < tolerance), bool(passing.recovered)
    return PosteriorMean(
        weights=passing.means,
        variance=float(passing.variance[0]),
        converged=settled or recovered,
        iterations=len(overlaps),
        overlaps=np.array(overlaps),
        free_entropy=float(passing.free_entropy()) if settled and not recovered else math.nan,
        cpu_seconds=time.thread_time() - start,
    )
