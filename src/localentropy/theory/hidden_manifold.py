"""The hidden manifold: a linear student on random features of what the teacher sees (`glm`).

Inputs c of d independent Gaussian components. A teacher gives the signs of theta.c / sqrt(d). The student sees the p
features u = f(F^T c / sqrt(d)), F Gaussian, and minimises the sum of its losses on n samples and lambda |w|^2 / 2, with
the output w.u / sqrt(p). Derivation: docs/glm/theory.md eqs. 31-36. The main paper's students on the same features have
binary weights: they are in `localentropy.theory.random_features`.

    >>> from localentropy.theory import hidden_manifold
    >>> student = hidden_manifold.fit(samples_per_feature=0.5, inputs_per_feature=0.1, regularization=0.1)
    >>> round(student.generalization_error, 6)
    0.127348

Errors are those of `localentropy.theory.erm`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from localentropy.arguments import shown
from localentropy.errors import DomainError
from localentropy.numerics.activations import Activation, ActivationMoments, activation_moments
from localentropy.quantities import INPUTS_PER_FEATURE, SAMPLES_PER_FEATURE
from localentropy.theory.erm import Fit, OrderParameters, minimum, smallest_error

SMALLEST_SIGNAL = 1e-6
"""Correlation of an activation with its argument, from which on something can be learned."""


@dataclass(frozen=True)
class RandomFeatures:
    """Features of a random projection, as Gaussian ones of the same covariances.

    Attributes:
        alpha: samples per feature, n / p.
        gamma: inputs per feature, d / p.
        moments: of the activation.

    Example:
        >>> from localentropy.numerics.activations import activation_moments
        >>> from localentropy.theory.erm import minimum
        >>> from localentropy.theory.hidden_manifold import RandomFeatures
        >>> features = RandomFeatures(2.0, 0.1, activation_moments("erf"))
        >>> round(minimum(features, "square", 0.1, {"alpha": 2.0}).generalization_error, 6)
        0.092858
    """

    alpha: float
    gamma: float
    moments: ActivationMoments

    def answer(self, bend: float, noise: float, pull: float, regularization: float) -> OrderParameters:
        """V, N and M as in `erm.Features.answer` (docs/glm/theory.md eqs. 33-35)."""
        mu, star, gamma = self.moments.mu_1, self.moments.mu_star_squared, self.gamma
        load = self.alpha / gamma
        ridge, own_noise = regularization + self.alpha * star * bend, self.alpha * star * noise
        latent_noise, signal = load * mu * mu * noise, load * mu * pull
        reached, variance, missed, missed_square, crossed = _spectral_means(load * mu * mu * bend / ridge, gamma)
        resolved = reached * reached + variance
        V = (mu * mu * reached + star * missed) / ridge
        M = mu * signal * reached / ridge
        # q_s less m_s^2, and q_w.
        latent = signal * signal * variance + latent_noise * resolved + own_noise * crossed
        own = own_noise * missed_square + gamma * (signal * signal + latent_noise) * crossed
        return OrderParameters(V, (mu * mu * latent + star * own) / (ridge * ridge), M)


def fit(
    samples_per_feature: float,
    inputs_per_feature: float,
    loss: str = "square",
    regularization: float = 1.0,
    activation: Activation = "erf",
) -> Fit:
    """The minimum of the risk.

    Source: `glm`, slides on the hidden manifold; docs/glm/theory.md eqs. 31-36.

    Args:
        samples_per_feature: n / p, in [1e-3, 1e3].
        inputs_per_feature: d / p, in [1e-4, 1e4].
        loss: "square", "logistic", "hinge" or "huber", as in `localentropy.theory.erm`.
        regularization: lambda, in [1e-14, 1e6].
        activation: f: "erf", "sign", "tanh", "identity", or a function of one number with mean 0 that correlates with
            its argument.

    Returns:
        Order parameters and errors of the minimum.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: the order parameters were not found.

    Example:
        >>> from localentropy.theory import hidden_manifold
        >>> round(hidden_manifold.fit(2.0, 0.1, loss="square", regularization=0.1).square_error, 4)
        0.4182
    """
    moments = activation_moments(activation)
    if not abs(moments.mu_1) > SMALLEST_SIGNAL * math.sqrt(moments.variance):
        raise DomainError(
            f"activation = {shown(activation)} does not correlate with its argument: nothing can be learned"
        )
    features = RandomFeatures(
        SAMPLES_PER_FEATURE.require(samples_per_feature),
        INPUTS_PER_FEATURE.require(inputs_per_feature), moments,
    )  # fmt: skip
    point = {"samples_per_feature": features.alpha, "inputs_per_feature": features.gamma}
    return minimum(features, loss, regularization, point)


def optimal_regularization(
    samples_per_feature: float, inputs_per_feature: float, loss: str = "square", activation: Activation = "erf"
) -> float:
    """Lambda of the smallest probability of a wrong sign, in [2e-8, 1e4]; arguments as for `fit`.

    Args:
        samples_per_feature: n / p.
        inputs_per_feature: d / p.
        loss: as for `fit`.
        activation: as for `fit`.

    Returns:
        lambda.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: a minimum of the risk was not found.

    Example:
        >>> from localentropy.theory import hidden_manifold
        >>> round(hidden_manifold.optimal_regularization(2.0, 0.1), 4)
        0.9159
    """
    variance = activation_moments(activation).variance
    return smallest_error(
        lambda strength: fit(samples_per_feature, inputs_per_feature, loss, strength, activation), variance
    )


def _spectral_means(s: float, gamma: float) -> tuple[float, float, float, float, float]:
    """Means over the spectrum of F^T F / p, of Marchenko and Pastur, each without cancellation (eq. 35).

    Returns:
        The mean and the variance of x / (1 + s x) over the d eigenvalues x of F F^T / p; the means of 1 / (1 + s x)
        and its square over the p eigenvalues of F^T F / p; the mean of x / (1 + s x)^2 over the d ones.
    """
    less, more = 1.0 - gamma, 1.0 + gamma
    root = math.sqrt(1.0 + 2.0 * more * s + (less * s) ** 2)
    few, many = 1.0 + less * s, 1.0 - less * s
    over_d = 2.0 / (root + few) if few > 0.0 else (root - few) / (2.0 * gamma * s)
    over_p = 2.0 / (root + many) if many > 0.0 else (root - many) / (2.0 * s)
    reached = over_d * over_p
    if less > 0.0:
        top = root + less * s
        spread = (
            s * (2.0 * gamma * less + 4.0 * gamma * more + less * less) - more * less * s * (1.0 + 2.0 * more * s) / top
        )
        spread = (2.0 * gamma * (1.0 + root) + spread) / top
    else:
        spread = 2.0 * gamma * (1.0 + root) - (3.0 * gamma + 1.0) * less * s - less**3 * s * s + root * less * less * s
    variance = reached * spread / (root * (root + 1.0) * (1.0 + more * s + root))
    return reached, variance, over_p, over_p / (over_d * root), reached / root
