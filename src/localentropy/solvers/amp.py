"""Approximate message passing: belief propagation in the limit of many weights, N + P messages instead of N P.

There are two approximations of the variance V of the sum over a pattern. They differ where patterns are correlated:

- `amp` takes the weights as independent, V = Σ_i ξ_i² (1 − m_i²). This is right on independent patterns. The belief
  propagation of the papers does the same on random features, where overlap and entropy are then shifted.
- `two_level_amp` splits the random features into their latent patterns and a rest without correlations. Each part has
  its own variance. The fixed points obey the replica theory (docs/overparam/theory.md §1).
"""

from __future__ import annotations

import math
import time

import numpy as np

from localentropy import seeds
from localentropy.arguments import require_fraction, require_integer, require_positive
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance
from localentropy.numerics.activations import activation_moments
from localentropy.solvers.amp_kernels import amp_update, output_means, sum_log_tails
from localentropy.solvers.binary.belief_propagation import BeliefSolution
from localentropy.solvers.binary.message_kernels import count_errors
from localentropy.solvers.binary.messages import LARGEST_DAMPING, raised_damping, threshold_of
from localentropy.solvers.solution import check_instance, check_run

_SMALLEST_VARIANCE = 1e-12


class _Progress:
    """The magnetizations of a run, their convergence, and the damping.

    Attributes:
        damping: share of the old fields to keep in the next update. It is raised when updates alternate.
        converged: whether the last update changed every magnetization by less than the tolerance.
    """

    def __init__(self, instance: Instance, margin: float, m: np.ndarray, damping: float, tolerance: float) -> None:
        self.damping, self.converged = damping, False
        self._instance, self._margin, self._tolerance = instance, margin, tolerance
        self._patterns, self._threshold = instance.signed_patterns.astype(np.float32), threshold_of(instance, margin)
        self._m, self._change = m, np.zeros_like(m)
        self._errors, self._residuals = [self._count()], list[float]()

    @property
    def iterations(self) -> int:
        return len(self._residuals)

    @property
    def _weights(self) -> np.ndarray:
        return np.where(self._m >= 0, np.int8(1), np.int8(-1))

    def _count(self) -> int:
        return int(count_errors(self._patterns, self._threshold, self._weights))

    def add(self, m: np.ndarray) -> np.ndarray:
        """Record new magnetizations, and return them."""
        change = m - self._m
        self.damping = raised_damping(self.damping, float(change @ self._change), float(self._change @ self._change))
        self._m, self._change = m, change
        self._errors.append(self._count())
        self._residuals.append(float(np.max(np.abs(change))))
        self.converged = self._residuals[-1] < self._tolerance
        return m

    def solution(self, entropy: float, cpu_seconds: float) -> BeliefSolution:
        return BeliefSolution(
            weights=self._weights,
            solved=self._instance.train_error(self._weights, self._margin) == 0.0,
            iterations=self.iterations,
            train_errors=np.array(self._errors) / self._instance.P,
            cpu_seconds=cpu_seconds,
            converged=self.converged,
            entropy=entropy,
            magnetizations=self._m,
            residuals=np.array(self._residuals),
            overlap=float(np.mean(self._m**2)),
        )


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

    Source: the limit of belief propagation (`margins`, SM II.3) at large N. Iterations are updates of all means.

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
        DomainError: an argument out of range.
    """
    check_run(instance, seed)
    _check(damping, max_iterations, tolerance)
    require_fraction(epsilon=epsilon)
    start = time.thread_time()
    patterns, threshold = instance.signed_patterns.astype(np.float32), threshold_of(instance, margin)
    size = float(np.mean(np.square(patterns, dtype=np.float64)))
    generator = seeds.generator(seed, "algorithm/amp", N=instance.N, P=instance.P)
    m = generator.uniform(-epsilon, epsilon, instance.N)
    field, incoming, g = np.arctanh(m), np.empty(instance.N), np.zeros(instance.P)
    progress = _Progress(instance, margin, m, damping, tolerance)
    while not progress.converged and progress.iterations < max_iterations:
        variance = max(size * float(np.sum(1.0 - m * m)), _SMALLEST_VARIANCE)
        reaction = amp_update(patterns, threshold, variance, m, g, incoming)
        new = incoming + size * reaction * m
        field = progress.damping * field + (1.0 - progress.damping) * new
        m = progress.add(np.tanh(field))
    entropy = math.nan
    if progress.converged:
        x = (threshold - patterns @ m + variance * g) / math.sqrt(variance)
        total = sum_log_tails(x) + 0.5 * variance * float(g @ g) + _weight_entropy(field, m)
        entropy = total / instance.N
    return progress.solution(entropy, time.thread_time() - start)


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
    their own, means ŝ and a variance V_s, so that V = μ₁² V_s + μ⋆² V_w. State evolution: docs/overparam/theory.md §1.
    This is a tool for analysis, because a student knows neither x nor F. The number of threads of the linear algebra
    library may change the last bits.

    Arguments and result are those of `amp`; the instance must be a hidden manifold.

    Raises:
        DomainError: an argument out of range, random patterns, or an activation without noise (identity).
    """
    check_run(instance, seed)
    _check(damping, max_iterations, tolerance)
    require_fraction(epsilon=epsilon)
    if instance.features is None or instance.latent is None or instance.activation is None:
        raise DomainError("two_level_amp needs random features: random patterns have no latent ones; take amp")
    moments = activation_moments(instance.activation)
    mu_1, mu_star = moments.mu_1, math.sqrt(moments.mu_star_squared)
    if mu_star < 1e-6:
        raise DomainError(f"two_level_amp needs a non-linear activation, got {instance.activation!r}")
    start = time.thread_time()
    N, P, D = instance.N, instance.P, instance.latent.shape[1]
    labels = instance.labels.astype(np.float64)
    features = instance.features / math.sqrt(N)
    latent = labels[:, None] * instance.latent / math.sqrt(D)
    rest = (instance.signed_patterns / math.sqrt(N) - mu_1 * latent @ features.T) / mu_star
    kappa = threshold_of(instance, margin) / math.sqrt(N)
    generator = seeds.generator(seed, "algorithm/amp", N=N, P=P)
    m = generator.uniform(-epsilon, epsilon, N)
    field, g, slope = np.arctanh(m), np.zeros(P), np.empty(P)
    g_s, B, A = np.zeros(D), np.zeros(D), 0.0
    progress = _Progress(instance, margin, m, damping, tolerance)
    while not progress.converged and progress.iterations < max_iterations:
        V_w = max(1.0 - float(np.mean(m * m)), _SMALLEST_VARIANCE)
        V_s = V_w / (1.0 + A * V_w)
        V = mu_1**2 * V_s + mu_star**2 * V_w
        theta = m @ features - V_w * g_s
        s = (theta + V_w * B) / (1.0 + A * V_w)
        x = (kappa - (mu_1 * latent @ s + mu_star * rest @ m - V * g)) / math.sqrt(V)
        output_means(x, g, slope)
        g /= math.sqrt(V)
        steepness = float(np.mean(slope)) / V
        A = P / D * mu_1**2 * steepness
        B = mu_1 * (g @ latent) + A * s
        g_s = (B - A * theta) / (1.0 + A * V_w)
        reaction = D / N * A / (1.0 + A * V_w) + P / N * mu_star**2 * steepness
        new = features @ g_s + mu_star * (g @ rest) + reaction * m
        field = progress.damping * field + (1.0 - progress.damping) * new
        m = progress.add(np.tanh(field))
    entropy = math.nan
    if progress.converged:
        V_s = V_w / (1.0 + A * V_w)
        s = (theta + V_w * B) / (1.0 + A * V_w)
        log_Z = (B * B * V_w + 2.0 * B * theta - A * theta * theta) / (2.0 * (1.0 + A * V_w))
        projections = np.sum(log_Z - B * s + 0.5 * A * (s * s + V_s) + 0.5 * V_w * g_s**2)
        projections -= 0.5 * D * math.log1p(A * V_w)
        patterns = sum_log_tails(x) + 0.5 * V * float(g @ g)
        entropy = (patterns + float(projections) + _weight_entropy(field, m)) / N
    return progress.solution(entropy, time.thread_time() - start)


def _weight_entropy(field: np.ndarray, m: np.ndarray) -> float:
    """Σ_i ln 2cosh h_i − h_i m_i, nats."""
    return float(np.sum(np.logaddexp(field, -field) - field * m))


def _check(damping: float, max_iterations: int, tolerance: float) -> None:
    require_fraction(damping=damping)
    require_integer("max_iterations", max_iterations, 1)
    require_positive(tolerance=tolerance)


def amp_in_fields(
    instance: Instance,
    external: np.ndarray,
    *,
    margin: float = 0.0,
    damping: float = 0.3,
    max_iterations: int = 500,
    tolerance: float = 1e-4,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `amp`, in single precision and for many external fields at once: whole curves of local entropies.

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
        DomainError: an argument out of range, fields of another length than N.
    """
    check_instance(instance)
    _check(damping, max_iterations, tolerance)
    external = np.asarray(external, np.float32)
    if external.ndim != 2 or external.shape[1] != instance.N:
        raise DomainError(f"fields of shape {external.shape}: allowed is (runs, {instance.N})")
    patterns, threshold = instance.signed_patterns.astype(np.float32), threshold_of(instance, margin)
    size = float(np.mean(np.square(patterns, dtype=np.float64)))
    own, m = np.zeros_like(external), np.tanh(external)
    runs = len(external)
    g, slope = np.zeros((runs, instance.P)), np.empty(runs * instance.P)
    share = np.full((runs, 1), damping, np.float32)
    change, residual = np.zeros_like(m), np.full(runs, np.inf)
    variance, x = np.empty((runs, 1)), np.empty_like(g)
    for _ in range(max_iterations):
        squares = np.einsum("ri,ri->r", m, m, dtype=np.float64)[:, None]
        variance = np.maximum(size * (instance.N - squares), _SMALLEST_VARIANCE)
        x = (threshold - m @ patterns.T + variance * g) / np.sqrt(variance)
        g = np.empty_like(x)
        output_means(x.reshape(-1), g.reshape(-1), slope)
        g /= np.sqrt(variance)
        reaction = size * slope.reshape(x.shape).sum(1, keepdims=True) / variance
        new = g.astype(np.float32) @ patterns + reaction.astype(np.float32) * m
        own = share * own + (1 - share) * new
        updated = np.tanh(own + external)
        before, change, m = change, updated - m, updated
        residual = np.abs(change).max(1)
        if residual.max() < tolerance:
            break
        undone = np.einsum("ri,ri->r", change, before) < -0.7 * np.einsum("ri,ri->r", before, before)
        share[undone] = np.minimum(0.5 * (1 + share[undone]), np.float32(LARGEST_DAMPING))
    total = own.astype(np.float64) + external
    weights = np.sum(np.logaddexp(total, -total) - total * m, 1)
    patterns_term = np.array([sum_log_tails(row) for row in x]) + 0.5 * variance[:, 0] * np.einsum("rm,rm->r", g, g)
    entropy = np.where(residual < tolerance, (weights + patterns_term) / instance.N, np.nan)
    return m, entropy, residual
