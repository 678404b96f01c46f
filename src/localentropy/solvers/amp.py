"""Approximate message passing on the binary perceptron: weights ±1, and patterns to be stored with a margin.

The functions are cases of `localentropy.solvers.generalized_amp`, with its binary prior, its channel "sign" with a
threshold, and its loop. They differ in the variance V of the sum over a pattern:

- `amp` takes the weights as independent, V = ξ² Σ_i (1 − m_i²), with ξ² the mean square of all entries. This is right
  on independent patterns. The belief propagation of the papers does the same on random features, where overlap and
  entropy are then shifted.
- `two_level_amp` splits the random features into their latent patterns and a rest without correlations. Each part has
  its own variance. The fixed points obey the replica theory (docs/overparam/theory.md section 1).

Every solution satisfies every pattern, y Σ_i w_i ξ_i ≥ T, and so do the means of solutions. The fixed points of the
equations do so too. Where patterns contradict each other, such as a pattern and its opposite, there is no fixed point.
But the means can come to rest while the messages g of these patterns go on growing. So a run counts as converged only
if its means satisfy every pattern.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from localentropy import seeds
from localentropy.arguments import (
    LARGEST_PATTERN,
    require_reals,
    shown,
)
from localentropy.errors import DomainError
from localentropy.instances.perceptron import HiddenManifold, Instance
from localentropy.numerics.activations import activation_moments
from localentropy.numerics.channels import Sign
from localentropy.numerics.priors import Binary
from localentropy.quantities import DAMPING, EPSILON, STEPS, TOLERANCE
from localentropy.solvers.amp_kernels import channel_means, log_probability
from localentropy.solvers.binary.belief_propagation import BeliefSolution
from localentropy.solvers.binary.message_kernels import count_errors
from localentropy.solvers.binary.messages import satisfies, threshold_of
from localentropy.solvers.generalized_amp import IndependentInputs, Inputs, MessagePassing
from localentropy.solvers.solution import check_instance


def amp(
    instance: Instance,
    *,
    margin: float = 0.0,
    seed: int,
    damping: float = 0.3,
    max_iterations: int = 500,
    tolerance: float = 1e-5,
    epsilon: float = 0.1,
) -> BeliefSolution:
    """Marginals and entropy of the solutions by approximate message passing, for independent patterns.

    Source: the limit of belief propagation (docs/margins/theory.md eqs. 41, 42) at large N. Iterations are updates of
    all means.

    Args:
        instance: the problem.
        margin: smallest stability κ of a solution.
        seed: root seed of the initial magnetizations.
        damping: share of the old fields of the weights kept in each update, in [0, 1), at first. It is raised when
            updates alternate.
        max_iterations: most updates.
        tolerance: converged when no magnetization changes by more in one update.
        epsilon: magnetizations start uniform in [−epsilon, epsilon].

    Returns:
        As `belief_propagation`. The entropy is that of Thouless, Anderson and Palmer.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], another argument out of range.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.amp import amp
        >>> found = amp(random_patterns(N=1001, P=300, seed=0), seed=0)
        >>> found.converged, round(found.entropy, 2)  # the theory's entropy at this load is 0.475
        (True, 0.47)
    """
    return _solve(_independent, instance, margin, seed, damping, max_iterations, tolerance, epsilon)


def two_level_amp(
    instance: Instance,
    *,
    margin: float = 0.0,
    seed: int,
    damping: float = 0.3,
    max_iterations: int = 500,
    tolerance: float = 1e-5,
    epsilon: float = 0.1,
) -> BeliefSolution:
    """Marginals and entropy of the solutions on random features, with the right variance of correlated patterns.

    A pattern is μ₁ F x/√D + μ⋆ Z (`overparam`, eq. 97), with the latent pattern x and the features F of the instance.
    The weights act through Z and through their projections s_k = Σ_i F_ik w_i/√N. The projections have messages of
    their own, means ŝ and a variance V_s, so that V = μ₁² V_s + μ⋆² V_w. State evolution: docs/overparam/theory.md
    section 1. This is a tool for analysis, because a student knows neither x nor F. The number of threads of the linear
    algebra library may change the last bits.

    Arguments and result are those of `amp`; the instance must be a hidden manifold.

    Args:
        instance: the problem, a hidden manifold.
        margin: smallest stability κ of a solution.
        seed: root seed of the initial magnetizations.
        damping: share of the old fields of the weights kept in each update, in [0, 1), at first. It is raised when
            updates alternate.
        max_iterations: most updates.
        tolerance: converged when no magnetization changes by more in one update.
        epsilon: magnetizations start uniform in [−epsilon, epsilon].

    Returns:
        As `belief_propagation`. The entropy is that of Thouless, Anderson and Palmer.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], another argument out of range, random patterns,
            or an activation without noise (identity).

    Example:
        >>> from localentropy.instances import hidden_manifold
        >>> from localentropy.solvers.amp import two_level_amp
        >>> found = two_level_amp(hidden_manifold(D=301, P=301, N=901, seed=0), seed=0)
        >>> found.converged, round(found.entropy, 2)
        (True, 0.48)
    """
    return _solve(TwoLevelInputs, instance, margin, seed, damping, max_iterations, tolerance, epsilon)


def _solve(
    make: Callable[[Instance, float], Inputs],
    instance: Instance,
    margin: float,
    seed: int,
    damping: float,
    max_iterations: int,
    tolerance: float,
    epsilon: float,
) -> BeliefSolution:
    check_instance(instance)
    damping, max_iterations, tolerance = _checked(damping, max_iterations, tolerance)
    epsilon = abs(EPSILON.require(epsilon))
    start = time.thread_time()
    threshold = threshold_of(instance, margin)
    m = seeds.generator(seed, "algorithm/amp", N=instance.N, P=instance.P).uniform(-epsilon, epsilon, instance.N)
    inputs, patterns = make(instance, threshold), instance.signed_patterns.astype(np.float32)
    passing = MessagePassing(inputs, Binary(), np.arctanh(m), damping)

    def weights() -> np.ndarray:
        return 2 * (passing.means >= 0).astype(np.int8) - 1

    errors, residuals = [count_errors(patterns, threshold, weights())], list[float]()
    for residual in passing.updates(max_iterations, tolerance):
        errors.append(count_errors(patterns, threshold, weights()))
        residuals.append(residual)
    # Without variance the entropy means nothing, as where the messages of belief propagation have run away.
    at_rest = residuals[-1] < tolerance and not passing.recovered
    converged = at_rest and bool(satisfies(instance, passing.means, threshold))
    return BeliefSolution(
        weights=weights(),
        solved=instance.train_error(weights(), margin) == 0.0,
        iterations=len(residuals),
        train_errors=np.array(errors) / instance.P,
        cpu_seconds=time.thread_time() - start,
        converged=converged,
        entropy=float(passing.free_entropy()) + math.log(2.0) if converged else math.nan,
        magnetizations=passing.means,
        residuals=np.array(residuals),
        overlap=float(np.mean(passing.means**2)),
    )


def _independent(instance: Instance, threshold: float) -> IndependentInputs:
    square = float(np.mean(np.square(instance.compact_patterns, dtype=np.float64)))
    return IndependentInputs(Sign(), instance.compact_patterns, instance.labels, square, threshold)


class TwoLevelInputs:
    """Patterns μ₁ F x/√D + μ⋆ Z, and the messages of the projections s (`two_level_amp`). All sums are divided by √N.

    Args:
        instance: the problem, a hidden manifold.
        threshold: smallest Σ_i w_i y ξ_i of a solution.

    Raises:
        DomainError: random patterns, or an activation without noise (identity).

    Example:
        >>> import numpy as np
        >>> from localentropy.instances import hidden_manifold
        >>> from localentropy.solvers.amp import TwoLevelInputs
        >>> instance = hidden_manifold(D=51, P=40, N=151, seed=0)
        >>> fields, precision = TwoLevelInputs(instance, 0.0).update(np.zeros(151), np.ones(1))
        >>> instance.train_error(np.sign(fields)) < 0.2  # the first fields solve most patterns
        True
    """

    def __init__(self, instance: Instance, threshold: float) -> None:
        if not isinstance(instance, HiddenManifold):
            raise DomainError("two_level_amp needs random features: random patterns have no latent ones; take amp")
        moments = activation_moments(instance.activation)
        self._mu_1, self._mu_star = moments.mu_1, math.sqrt(moments.mu_star_squared)
        if self._mu_star < 1e-6:
            raise DomainError(f"two_level_amp needs a non-linear activation, got {shown(instance.activation)}")
        N, P, D = instance.N, instance.P, instance.latent.shape[1]
        self._features = instance.features / math.sqrt(N)
        self._latent = instance.labels[:, None] * instance.latent / math.sqrt(D)
        correlated = self._mu_1 * self._latent @ self._features.T
        self._rest = (instance.signed_patterns / math.sqrt(N) - correlated) / self._mu_star
        self._labels, self._kappa = np.ones(P), threshold / math.sqrt(N)
        self._g, self._slope = np.zeros(P), np.empty(P)
        self._g_s, self._B, self._A = np.zeros(D), np.zeros(D), 0.0

    def _sums(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Means θ of the projections as the weights see them, and ŝ with what the patterns tell; ω and V."""
        V_w = float(variance[0])
        theta = means @ self._features - V_w * self._g_s
        s = (theta + V_w * self._B) / (1.0 + self._A * V_w)
        V = self._mu_1**2 * V_w / (1.0 + self._A * V_w) + self._mu_star**2 * V_w
        omega = self._mu_1 * self._latent @ s + self._mu_star * self._rest @ means - V * self._g
        return theta, s, omega, V

    def update(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Inputs`."""
        theta, s, omega, V = self._sums(means, variance)
        channel_means(False, self._labels, self._kappa, omega, V, self._g, self._slope)
        steepness, V_w = float(np.mean(self._slope)), float(variance[0])
        N, P, D = len(means), len(omega), len(s)
        self._A = P / D * self._mu_1**2 * steepness
        self._B = self._mu_1 * (self._g @ self._latent) + self._A * s
        self._g_s = (self._B - self._A * theta) / (1.0 + self._A * V_w)
        reaction = D / N * self._A / (1.0 + self._A * V_w) + P / N * self._mu_star**2 * steepness
        field = self._features @ self._g_s + self._mu_star * (self._g @ self._rest) + reaction * means
        return field, np.array([reaction])

    def free_entropy(self, means: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """See `Inputs`."""
        theta, s, omega, V = self._sums(means, variance)
        A, B, V_w = self._A, self._B, float(variance[0])
        V_s = V_w / (1.0 + A * V_w)
        log_Z = (B * B * V_w + 2.0 * B * theta - A * theta * theta) / (2.0 * (1.0 + A * V_w))
        projections = np.sum(log_Z - B * s + 0.5 * A * (s * s + V_s) + 0.5 * V_w * self._g_s**2)
        projections -= 0.5 * len(s) * math.log1p(A * V_w)
        labels = log_probability(False, self._labels, self._kappa, omega, V)
        return np.array(labels + 0.5 * V * float(self._g @ self._g) + projections)


class _ManyRuns:
    """Independent patterns for many runs at once, by products of matrices in single precision."""

    def __init__(self, instance: Instance, threshold: float, runs: int) -> None:
        self._patterns, self._threshold = instance.signed_patterns.astype(np.float32), threshold
        self._square = float(np.mean(np.square(self._patterns, dtype=np.float64)))
        self._labels = np.ones(instance.P)
        self._g, self._slope = np.zeros((2, runs, instance.P))

    def _sums(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        V = self._square * means.shape[1] * variance
        return means @ self._patterns.T - V * self._g, V[:, 0]

    def update(self, means: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        for omega, V, g, slope in zip(*self._sums(means, variance), self._g, self._slope, strict=True):
            channel_means(False, self._labels, self._threshold, omega, V, g, slope)
        reaction = self._square * self._slope.sum(1, keepdims=True)
        return self._g.astype(np.float32) @ self._patterns + reaction.astype(np.float32) * means, reaction

    def free_entropy(self, means: np.ndarray, variance: np.ndarray) -> np.ndarray:
        omega, V = self._sums(means, variance)
        labels = [log_probability(False, self._labels, self._threshold, *sums) for sums in zip(omega, V, strict=True)]
        return np.array(labels) + 0.5 * V * np.einsum("rm,rm->r", self._g, self._g)


def _checked(damping: float, max_iterations: int, tolerance: float) -> tuple[float, int, float]:
    return DAMPING.require(damping), STEPS.require(max_iterations), TOLERANCE.require(tolerance)


def amp_in_fields(
    instance: Instance,
    external: np.ndarray,
    *,
    margin: float = 0.0,
    damping: float = 0.3,
    max_iterations: int = 500,
    tolerance: float = 1e-4,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """AMP in single precision for many external fields at once: whole curves of local entropies.

    All means are multiplied with the patterns in one product of matrices. All runs go on until the last has converged.
    The number of threads of the linear algebra library may change the last bits.

    Args:
        instance: the problem.
        external: fields on the weights, such as γ w̃ for several γ and references w̃, [runs, N].
        margin: smallest stability κ of a solution.
        damping: share of the old fields kept at first, see `amp`.
        max_iterations: most updates.
        tolerance: a run has converged when no magnetization changes by more in one update.

    Returns:
        Magnetizations, float32 [runs, N]; entropy, nats per weight, without the energy in the field, NaN where the run
        has not converged, [runs]; largest change of a magnetization in the last update, [runs].

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], another argument out of range, fields of another
            length than N or not finite.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.amp import amp_in_fields
        >>> fields = np.outer([0.0, 1.0], np.ones(501))  # none, and one towards the weights +1
        >>> means, entropy, residual = amp_in_fields(random_patterns(N=501, P=100, seed=0), fields)
        >>> entropy.round(2).tolist()  # fewer solutions are close to a configuration than there are in all
        [0.56, 0.31]
    """
    check_instance(instance)
    damping, max_iterations, tolerance = _checked(damping, max_iterations, tolerance)
    external = require_reals("external", external, ("runs", instance.N), most=LARGEST_PATTERN).astype(np.float32)
    threshold = threshold_of(instance, margin)
    inputs = _ManyRuns(instance, threshold, len(external))
    passing = MessagePassing(inputs, Binary(), np.zeros_like(external), damping, external=external)
    for _ in passing.updates(max_iterations, tolerance):
        pass
    converged = (passing.residual < tolerance) & satisfies(instance, passing.means, threshold)
    entropy = np.where(converged, passing.free_entropy() + math.log(2.0), np.nan)
    return passing.means, entropy, passing.residual
