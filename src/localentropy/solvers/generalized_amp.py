"""Generalized approximate message passing for a teacher and a Bayes-optimal student on Gaussian inputs (`glm`).

The student knows the prior of the teacher's weights and the channel that makes its labels. One update, with the means a
and the mean variance V of the weights, g(y, ω, V) of the channel, n = α d inputs X (docs/glm/theory.md eqs. 4, 7):

    ω = X a − V g_old          mean pre-activations without what they have just sent (Onsager's term)
    Λ = Σ_μ −∂g/∂ω / d         precision that a weight gets from the labels
    B = X^T g + Λ a            its field: a weight is seen as B / Λ, in Gaussian noise of variance 1/Λ
    a, V                       means and mean variance under the prior times exp(B w − Λ w²/2)

A prior and a channel are one function each.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import require_integer, require_positive
from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import GeneralizedLinear
from localentropy.solvers.amp_kernels import output_means

RECOVERED_VARIANCE = 1e-10
"""Mean variance of a weight from which the teacher is recovered: there g has no more digits."""


@dataclass(frozen=True, eq=False)
class PosteriorMean:
    """What the student knows in the end.

    Attributes:
        weights: a, posterior means, float64, [d].
        variance: V, mean posterior variance of a weight.
        converged: whether the last update changed the means by less than the tolerance, or the variance vanished. Close
            to the load of recovery the variance can vanish at weights that do not give all labels.
        iterations: updates of all means.
        overlaps: q = |a|²/d after each update, [iterations]. On average over instances q is the overlap with the
            teacher (Nishimori), and follows `bayes.state_evolution`.
        cpu_seconds: processor time.
    """

    weights: np.ndarray
    variance: float
    converged: bool
    iterations: int
    overlaps: np.ndarray
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

    Source: `glm`, slide on AMP; docs/glm/theory.md eqs. 4, 5, 7. The variances are scalar and nothing is damped. The
    number of threads of the linear algebra library may change the last bits.

    Args:
        instance: the problem, with its prior and channel.
        seed: root seed of the first means.
        max_iterations: most updates. Close to a transition hundreds are needed.
        tolerance: converged when the root mean square change of a mean in one update is below.
        epsilon: the first means are Gaussian with this standard deviation. They must not all be zero: for absolute
            values this is a fixed point.

    Raises:
        DomainError: an instance of another kind, an argument out of range.
    """
    if not isinstance(instance, GeneralizedLinear):
        raise DomainError(
            f"instance = {type(instance).__name__} object: allowed is a GeneralizedLinear, as generalized_linear of "
            "localentropy.instances.generalized_linear makes it"
        )
    require_integer("seed", seed)
    require_integer("max_iterations", max_iterations, 1)
    require_positive(tolerance=tolerance, epsilon=epsilon)
    start = time.thread_time()
    X, y, channel, prior = instance.inputs, instance.labels, _CHANNELS[instance.channel], _PRIORS[instance.prior]
    n, d = X.shape
    a = epsilon * seeds.generator(seed, "algorithm/generalized_amp", n=n, d=d).standard_normal((d,))
    V, g, overlaps, converged = 1.0, np.zeros(n), list[float](), False
    while not converged and len(overlaps) < max_iterations:
        g, steepness = channel(y, X @ a - V * g, V)
        # Absolute values can give a small negative sum. No label can tell less than nothing.
        precision = max(steepness / d, 0.0)
        before = a
        a, V = prior(g @ X + precision * a, precision)
        overlaps.append(float(a @ a) / d)
        converged = V < RECOVERED_VARIANCE or math.sqrt(np.mean((a - before) ** 2)) < tolerance
    return PosteriorMean(a, V, converged, len(overlaps), np.array(overlaps), time.thread_time() - start)


def _sign_channel(y: np.ndarray, omega: np.ndarray, V: float) -> tuple[np.ndarray, float]:
    """g = ∂_ω ln P(y | ω, V) for each label, [n], and Σ_μ −∂g/∂ω, for the teacher's sign."""
    g, slope = np.empty_like(omega), np.empty_like(omega)
    output_means(-y * omega / math.sqrt(V), g, slope)
    return y * g / math.sqrt(V), float(slope.sum()) / V


def _absolute_channel(y: np.ndarray, omega: np.ndarray, V: float) -> tuple[np.ndarray, float]:
    """The same for the teacher's absolute value."""
    x = y * omega / V
    small = np.exp(-2.0 * np.abs(x))
    spread = y * y / V * (4.0 * small / (1.0 + small) ** 2)
    return (y * np.tanh(x) - omega) / V, float(np.sum(1.0 - spread)) / V


def _gaussian_prior(field: np.ndarray, precision: float) -> tuple[np.ndarray, float]:
    """Means of the weights, [d], and their mean variance, for Gaussian weights of variance 1."""
    return field / (1.0 + precision), 1.0 / (1.0 + precision)


def _binary_prior(field: np.ndarray, precision: float) -> tuple[np.ndarray, float]:
    """The same for weights ±1, whatever the precision: w² = 1 for both."""
    small = np.exp(-2.0 * np.abs(field))
    return np.tanh(field), float(np.mean(4.0 * small / (1.0 + small) ** 2))


_CHANNELS: dict[str, Callable[[np.ndarray, np.ndarray, float], tuple[np.ndarray, float]]] = {
    "sign": _sign_channel,
    "absolute": _absolute_channel,
}
_PRIORS: dict[str, Callable[[np.ndarray, float], tuple[np.ndarray, float]]] = {
    "gaussian": _gaussian_prior,
    "binary": _binary_prior,
}
