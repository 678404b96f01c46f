"""Replica-symmetric free entropy of the binary perceptron on random features, binary teacher."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from localentropy.numerics.activations import ActivationMoments
from localentropy.numerics.continuation import Branch, bracket_root
from localentropy.numerics.quadrature import gaussian_rule
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint
from localentropy.numerics.special import hazard, log_tail, log_two_cosh, tail

NODES = 128


@dataclass(frozen=True)
class Ensemble:
    """Control parameters of the random-features perceptron.

    Attributes:
        alpha: patterns per student weight, P/N.
        alpha_T: patterns per teacher weight, P/D.
        margin: smallest stability kappa of a solution.
        moments: Gaussian moments of the activation.
    """

    alpha: float
    alpha_T: float
    margin: float
    moments: ActivationMoments

    @property
    def alpha_D(self) -> float:
        """Latent dimension per student weight, D/N."""
        return self.alpha / self.alpha_T


@dataclass(frozen=True)
class TypicalFreeEntropy(FreeEntropy):
    """phi(q, p, p_d, r, conjugates) of docs/theory/overparam.md eq. 4 (`overparam`, eqs. 50-52).

    Attributes:
        ensemble: the control parameters.
        nodes: nodes of the Gaussian integrals.
    """

    ensemble: Ensemble
    nodes: int = NODES

    names = ("q", "p", "p_d", "r", "q_hat", "p_hat", "p_d_hat", "r_hat")

    @property
    def scales(self) -> Array:
        """Coefficients of the conjugate pairs."""
        latent = self.ensemble.alpha_D * np.array([0.5, 0.5, 1.0])
        return np.concatenate([[0.5], latent, [0.5], latent])

    def positive(self, parameters: Array) -> Array:
        """q, 1-q, q_hat, the variances of the fields, and the precision of a latent site."""
        q, p, p_d, r, q_hat, p_hat, p_d_hat, _ = parameters
        mu_1, mu_star_squared = self.ensemble.moments.mu_1, self.ensemble.moments.mu_star_squared
        overlap = mu_star_squared * q + mu_1**2 * p
        variance = mu_star_squared * (1.0 - q) + mu_1**2 * (p_d - p)
        stiffness = 1.0 + (p_hat + p_d_hat) * (1.0 - q)
        return np.array([q, 1.0 - q, q_hat, overlap - (mu_1 * r) ** 2, variance, stiffness])

    def value(self, parameters: Tensor) -> Tensor:
        """phi, nats per weight, at parameters of shape (8,)."""
        q, p, p_d, r, q_hat, p_hat, p_d_hat, r_hat = parameters.unbind()
        ensemble, moments = self.ensemble, self.ensemble.moments
        mu_1, mu_star_squared = moments.mu_1, moments.mu_star_squared
        latent = 0.5 * (p_hat * p + p_d_hat * p_d) - r_hat * r + latent_entropy(q, p_hat, p_d_hat, r_hat)
        energetic = typical_energetic_term(
            mu_star_squared * q + mu_1**2 * p,
            mu_star_squared + mu_1**2 * p_d,
            mu_1 * r,
            ensemble.margin,
            self.nodes,
        )
        return (
            0.5 * q_hat * (q - 1.0)
            + student_entropy(q_hat, self.nodes)
            + ensemble.alpha_D * latent
            + ensemble.alpha * energetic
        )

    def parameters(self, coordinates: Tensor) -> Tensor:
        """Logarithms of 1-q, p_d-p and M, and asinh of q_hat and p_hat, which grow as q -> 1, replace
        q, p_d, p_d_hat, q_hat and p_hat."""
        y = coordinates.unbind()
        v, p_hat = torch.exp(y[0]), torch.sinh(y[5])
        p_d_hat = torch.expm1(y[6]) / v - p_hat
        return torch.stack([1.0 - v, y[1], y[1] + torch.exp(y[2]), y[3], torch.sinh(y[4]), p_hat, p_d_hat, y[7]])

    def coordinates(self, parameters: Array) -> Array:
        """Inverse of `parameters`."""
        q, p, p_d, r, q_hat, p_hat, p_d_hat, r_hat = parameters.tolist()
        stiffness = math.log1p((p_hat + p_d_hat) * (1.0 - q))
        return np.array(
            [math.log1p(-q), p, math.log(p_d - p), r, math.asinh(q_hat), math.asinh(p_hat), stiffness, r_hat]
        )


def student_entropy(q_hat: Tensor, nodes: int) -> Tensor:
    """G_SS: log number of states of a student weight in its random field (eq. 5; `overparam`, eqs. 50)."""
    z, weight = gaussian_rule(math.sqrt(q_hat.item()), nodes)
    return weight @ log_two_cosh(torch.sqrt(q_hat) * z)


def latent_entropy(q: Tensor, p_hat: Tensor, p_d_hat: Tensor, r_hat: Tensor) -> Tensor:
    """G_SE: log weight of a projected student weight in its random field (eq. 6; `overparam`, eqs. 50)."""
    curvature = p_hat + p_d_hat
    variance = 1.0 - q
    stiffness = 1.0 + curvature * variance
    quadratic = (p_hat + r_hat * r_hat) * variance - curvature * q
    return 0.5 * (quadratic / stiffness - torch.log(stiffness))


def typical_energetic_term(Q: Tensor, Q_d: Tensor, R: Tensor, margin: float, nodes: int) -> Tensor:
    """G_E: log fraction of students that satisfy a pattern (eq. 7; `overparam`, eqs. 50).

    Args:
        Q: covariance of two students' pre-activations.
        Q_d: variance of a student's pre-activation.
        R: covariance of a student's and the teacher's pre-activations.
        margin: kappa.
        nodes: quadrature nodes.
    """
    V = Q_d - Q
    teacher = R / torch.sqrt(Q - R * R)
    sharpness = max(math.sqrt(Q.item() / V.item()), abs(teacher.item()))
    z, weight = gaussian_rule(sharpness, nodes, margin / math.sqrt(Q.item()))
    return 2.0 * weight @ (tail(-teacher * z) * log_tail((margin - torch.sqrt(Q) * z) / torch.sqrt(V)))


def unloaded_points(ensemble: Ensemble) -> tuple[float, list[tuple[float, Array]]]:
    """Solutions without patterns and with few: the easy limit from which patterns are added.

    A load s scales the number of patterns at fixed N and D: alpha -> s alpha, alpha_T -> s alpha_T. At
    s = 0 students are free (q = p = r = 0, p_d = 1); to first order in s the conjugate parameters are the
    saddle-point equations evaluated there.

    Returns:
        a small load, and the points (0, parameters), (load, parameters to first order).
    """
    moments, sigma = ensemble.moments, math.sqrt(ensemble.moments.variance)
    h = ensemble.margin / sigma
    pull = hazard(torch.tensor(h, dtype=torch.float64)).item()
    load = 1e-4 / (1.0 + pull * pull * (ensemble.alpha + ensemble.alpha_T))
    g_squared = pull**2 / sigma**2
    p_hat = load * ensemble.alpha_T * moments.mu_1**2 * g_squared
    p_d_hat = load * ensemble.alpha_T * moments.mu_1**2 * pull * (pull - h) / sigma**2 - p_hat
    r_hat = load * ensemble.alpha_T * moments.mu_1 * math.sqrt(2.0 / math.pi) * pull / sigma
    q_hat = ensemble.alpha_D * p_hat + load * ensemble.alpha * moments.mu_star_squared * g_squared
    free = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    p_d = 1.0 + p_hat - (p_hat + p_d_hat)
    first = np.array([q_hat, q_hat + p_hat, p_d, r_hat, q_hat, p_hat, p_d_hat, r_hat])
    return load, [(0.0, free), (load, first)]


def add_patterns(ensemble: Ensemble, nodes: int = NODES) -> tuple[Branch, StationaryPoint]:
    """Typical solution of an ensemble, reached by adding patterns to the unconstrained students.

    Stops as soon as the entropy is negative: it only falls with the load, so the ensemble then has no
    solutions, and beyond that point the branch soon ceases to exist.

    Returns:
        the branch in the load, at position 1 when the ensemble was reached, and its last point.

    Raises:
        ConvergenceError: the branch could not be followed.
    """

    def family(load: float) -> TypicalFreeEntropy:
        loaded = Ensemble(load * ensemble.alpha, load * ensemble.alpha_T, ensemble.margin, ensemble.moments)
        return TypicalFreeEntropy(loaded, nodes)

    load, history = unloaded_points(ensemble)
    branch = Branch(family, "load", history, step=20.0 * load)
    point, _, _ = bracket_root(branch, entropy, 1.0)
    return branch, point


def entropy(point: StationaryPoint) -> float:
    """Log number of solutions per weight, nats: the value of the free entropy."""
    return point.value
