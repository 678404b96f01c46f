"""Stabilities of typical solutions, and what flipping weights at random does to them."""

from __future__ import annotations

import math

import numpy as np
import torch

from localentropy.numerics.quadrature import centred_gaussian_rule, unit_legendre
from localentropy.numerics.saddle_point import Array
from localentropy.numerics.special import LOG_SQRT_2PI, log_tail, tail
from localentropy.replica.random_features_typical import NODES, Ensemble

LEGENDRE_NODES = 96


def density_of_stabilities(stabilities: Array, ensemble: Ensemble, parameters: Array, nodes: int = NODES) -> Array:
    """P(Delta) of typical solutions (docs/theory/overparam.md eq. 14; `overparam`, eq. 64).

    Args:
        stabilities: Delta, any shape.
        ensemble: control parameters.
        parameters: of its typical solution, shape (8,).
        nodes: quadrature nodes.

    Returns:
        density, shape of `stabilities`; zero below the margin.
    """
    q, p, p_d, r = parameters[:4].tolist()
    mu_1, noise = ensemble.moments.mu_1, ensemble.moments.mu_star_squared
    Q, R = noise * q + mu_1**2 * p, mu_1 * r
    V = noise * (1.0 - q) + mu_1**2 * (p_d - p)
    delta = torch.tensor(stabilities, dtype=torch.float64).reshape(-1)
    z, weight = centred_gaussian_rule(delta / math.sqrt(Q), math.sqrt(Q / V), nodes)
    field = math.sqrt(Q) * z
    log_student = (
        -0.5 * (delta[:, None] - field) ** 2 / V
        - LOG_SQRT_2PI
        - 0.5 * math.log(V)
        - log_tail((ensemble.margin - field) / math.sqrt(V))
    )
    values = 2.0 * (weight * tail(-R / math.sqrt(Q - R * R) * z) * torch.exp(log_student)).sum(dim=1)
    values[delta < ensemble.margin] = 0.0
    return values.numpy().reshape(np.shape(stabilities))


def energy_after_flips(distances: Array, ensemble: Ensemble, parameters: Array, nodes: int = NODES) -> Array:
    """Fraction of patterns of stability below the margin after a fraction of the weights is flipped at random.

    A flip of dN weights turns a stability Delta into (1-2d) Delta plus a Gaussian of variance
    4 d (1-d) E[sigma^2] (docs/theory/overparam.md eq. 15). An error is what the loss counts (`overparam`, eq. 5).

    Args:
        distances: d in [0, 1], any shape.
        ensemble: control parameters.
        parameters: of its typical solution, shape (8,).
        nodes: quadrature nodes of the density.

    Returns:
        E(d), shape of `distances`.
    """
    d = np.asarray(distances, dtype=np.float64).reshape(-1)
    # Flipping dN weights of w is flipping (1-d)N weights of -w: its errors are the patterns which that leaves
    # above -kappa.
    few = np.minimum(d, 1.0 - d)
    deviation = np.maximum(2.0 * np.sqrt(few * (1.0 - few) * ensemble.moments.variance), 1e-150)
    q, p, p_d, _ = parameters[:4].tolist()
    noise, square = ensemble.moments.mu_star_squared, ensemble.moments.mu_1**2
    spread = math.sqrt(noise + square * max(p, p_d))
    # A stability of kappa + x is (1-2d) x + room from the border of an error.
    room = 2.0 * ensemble.margin * np.where(d > 0.5, 1.0 - few, -few)
    reach = np.maximum((12.0 * deviation - room) / np.maximum(1.0 - 2.0 * few, 1e-300), 0.0)
    # Crowd the nodes next to the margin, where the density has a layer of the width that one student's freedom
    # gives it, and where the noise of few flips makes errors.
    width = np.minimum(deviation, (noise * (1.0 - q) + square * (p_d - p)) / spread)
    unit, unit_weight = (part.numpy() for part in unit_legendre(LEGENDRE_NODES))
    length = np.arcsinh(np.minimum(10.0 * spread, reach) / width)[:, None]
    t = length * unit
    excess = width[:, None] * np.sinh(t)
    density = density_of_stabilities(ensemble.margin + excess, ensemble, parameters, nodes)
    argument = ((1.0 - 2.0 * few[:, None]) * excess + room[:, None]) / deviation[:, None]
    wrong = tail(torch.from_numpy(argument)).numpy()
    energy = np.sum(width[:, None] * np.cosh(t) * length * unit_weight * density * wrong, axis=1)
    return np.where(d > 0.5, 1.0 - energy, energy).reshape(np.shape(distances))
