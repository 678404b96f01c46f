"""Generalized approximate message passing (AMP): any prior of the weights, any channel of the labels.

One update, with the means a and the mean variance V of the weights, g(y, ω, V_z) of the channel, and inputs X of n rows
and d columns, whose entries have mean square s (docs/glm/theory.md eqs. 4, 7, where s = 1/d):

    V_z = s d V                variance of a sum z over the weights
    ω = X a − V_z g_old        its mean, without what its own label sent in the last update (Onsager's term)
    Λ = s Σ_μ −∂g/∂ω           precision that a weight gets from the labels
    B = X^T g + Λ a            its field: a weight is seen as B / Λ, in Gaussian noise of variance 1/Λ
    a, V                       means and mean variance under the prior times exp(B w − Λ w²/2)

The code has three parts. A prior is two functions of B and Λ (`PRIORS`). A channel is one compiled function of a label
and its sum, and the log of its probability; the kernels choose between two by a flag (`amp_kernels`). `Inputs` computes
B and Λ, the first four lines: those above are `IndependentInputs`. `MessagePassing` has the state of a run and the
loop.

`generalized_amp` is the Bayes-optimal student of a teacher. The binary perceptron (`localentropy.solvers.amp`) is the
case of binary weights and signs with a margin, also on random features.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from localentropy import seeds
from localentropy.arguments import MOST_STEPS, require_between, require_integer, require_positive
from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import GeneralizedLinear
from localentropy.solvers.amp_kernels import amp_update, log_probability
from localentropy.solvers.binary.messages import raised_damping

FIRST_FIELDS = (1e-100, 100.0)
"""Range of their standard deviation."""
RECOVERED_VARIANCE = 1e-10
"""Smallest mean variance of a weight: below it g has no correct digits, and all weights are known."""


@dataclass(frozen=True)
class Prior:
    """What is known of a weight before the labels.

    Attributes:
        moments: means, [..., d], and mean variance, [..., 1], of weights under the prior times exp(B w − Λ w²/2), from
            fields B, [..., d], and precisions Λ, [..., 1].
        log_normalization: ln of the integral of this product, summed over the weights, [...], from the same.
    """

    moments: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    log_normalization: Callable[[np.ndarray, np.ndarray], np.ndarray]


def _gaussian_moments(field: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return field / (1.0 + precision), 1.0 / (1.0 + precision)


def _gaussian_log_normalization(field: np.ndarray, precision: np.ndarray) -> np.ndarray:
    return 0.5 * np.sum(field**2 / (1.0 + precision) - np.log1p(precision), -1)


def _binary_moments(field: np.ndarray, precision: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The precision says nothing: w² = 1 for both weights."""
    means = np.tanh(field)
    # Means close to 1 are exact to 1e-16. The smallest variance is far larger.
    variances = (1.0 - means) * (1.0 + means)
    return means, variances.sum(-1, np.float64, keepdims=True) / field.shape[-1]


def _binary_log_normalization(field: np.ndarray, precision: np.ndarray) -> np.ndarray:
    return np.sum(np.logaddexp(field, -field) - math.log(2.0) - 0.5 * precision, -1)


PRIORS = {
    "gaussian": Prior(_gaussian_moments, _gaussian_log_normalization),
    "binary": Prior(_binary_moments, _binary_log_normalization),
}
"""Gaussian weights of variance 1; weights +1 or −1 with probability 1/2."""


class Inputs(Protocol):
    """The labelled inputs: what the weights get from them, and the messages inside."""

    def update(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Fields B, [..., d], and precisions Λ ≥ 0, [..., 1], from means, [..., d], and mean variances, [..., 1]."""

    def free_entropy(self, means: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Σ_μ ln P(y | ω, V_z) + V_z g²/2 at the messages of the last update, [...]."""


class IndependentInputs:
    """Inputs of independent entries of mean 0, for one run.

    The entries are kept in single precision, the sums over them are in double precision.
    """

    def __init__(
        self, channel: str, inputs: np.ndarray, labels: np.ndarray, square: float, threshold: float = 0.0
    ) -> None:
        """Without messages.

        Args:
            channel: "sign" or "absolute", see `amp_kernels`.
            inputs: X, [n, d].
            labels: y, [n].
            square: s, mean square of an entry.
            threshold: T, the smallest y z of a solution; for signs only.
        """
        self._inputs = np.ascontiguousarray(inputs, np.float32)
        self._labels = np.ascontiguousarray(labels, np.float64)
        self._absolute, self._threshold, self._square = channel == "absolute", threshold, square
        n, d = self._inputs.shape
        self._g, self._incoming = np.zeros(n), np.empty(d)

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

    def free_entropy(self, means: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """See `Inputs`."""
        spread = self._spread(variance)
        omega = self._inputs @ means - spread * self._g
        labels = log_probability(self._absolute, self._labels, self._threshold, omega, spread)
        return np.array(labels + 0.5 * spread * float(self._g @ self._g))

    def _spread(self, variance: np.ndarray) -> float:
        return self._square * self._inputs.shape[1] * float(variance[0])


class MessagePassing:
    """The state of AMP, of one run, [d], or of many at once, [runs, d].

    Attributes:
        means: a, of the weights, [..., d].
        variance: V, mean variance of a weight, at least `RECOVERED_VARIANCE`, [..., 1].
        damping: share of the old fields and precisions that the next update keeps, [..., 1].
        residual: largest change of a mean in the last update, [...].
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
        """At the start.

        Args:
            inputs: the labelled inputs.
            prior: of the weights.
            field: first fields of the weights, [..., d].
            damping: the first.
            adaptive: raise the damping of a run whose updates alternate.
            external: fields on the weights that come from no label, [..., d].
        """
        self._inputs, self._prior, self._adaptive, self._external = inputs, prior, adaptive, external
        runs = field.shape[:-1]
        self._field, self._precision = field, np.zeros((*runs, 1))
        self.damping = np.full((*runs, 1), damping, field.dtype)
        self.residual = np.full(runs, np.inf)
        self._change = np.zeros_like(field)
        self._settle()

    def _settle(self) -> None:
        self.means, variance = self._prior.moments(self._field + self._external, self._precision)
        self.variance = np.maximum(variance, RECOVERED_VARIANCE)

    @property
    def recovered(self) -> np.ndarray:
        """Whether the variance has vanished, [...]."""
        return self.variance[..., 0] <= RECOVERED_VARIANCE

    def updates(self, max_iterations: int, tolerance: float) -> Iterator[float]:
        """Update everything until no mean changes by more than the tolerance, or all variances vanish.

        Yields:
            The largest change of a mean in the update just made.
        """
        for _ in range(max_iterations):
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
        means, variance = self._prior.moments(field, self._precision)
        weights = self._prior.log_normalization(field, self._precision)
        weights += np.sum(0.5 * self._precision * (means**2 + variance) - field * means, -1)
        return (self._inputs.free_entropy(self.means, self.variance) + weights) / means.shape[-1]


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
            variance vanished. It follows `free_entropy` of `bayes.perceptron` and `bayes.phase_retrieval`.
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

    Raises:
        DomainError: an instance of another kind, an argument out of range.
    """
    if not isinstance(instance, GeneralizedLinear):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is a GeneralizedLinear, as generalized_linear of "
            "localentropy.instances.generalized_linear makes it"
        )
    seed = require_integer("seed", seed)
    max_iterations = require_integer("max_iterations", max_iterations, 1, MOST_STEPS)
    require_positive(tolerance=tolerance, most=1.0)
    tolerance = float(tolerance)
    epsilon = require_between("epsilon", epsilon, *FIRST_FIELDS)
    start = time.thread_time()
    n, d = instance.inputs.shape
    field = epsilon * seeds.generator(seed, "algorithm/generalized_amp", n=n, d=d).standard_normal((d,))
    inputs = IndependentInputs(instance.channel, instance.inputs, instance.labels, 1.0 / d)
    passing = MessagePassing(inputs, PRIORS[instance.prior], field, damping=0.0, adaptive=False)
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
