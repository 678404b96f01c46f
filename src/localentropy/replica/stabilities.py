"""Stabilities of the typical solutions of any ensemble, and what flipping weights at random does to them."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr, ndtr

from localentropy.numerics.quadrature import gaussian_nodes, unit_legendre
from localentropy.numerics.saddle_point import Array
from localentropy.replica.ensemble import Ensemble
from localentropy.replica.patterns import SPACING
from localentropy.replica.typical import typical_point

LEGENDRE_NODES = 96


def density(stabilities: Array, ensemble: Ensemble) -> Array:
    """P(Delta) of typical solutions (docs/overparam/theory.md eq. 14; `overparam`, eq. 64).

    Args:
        stabilities: Delta, any shape.
        ensemble: with solutions.

    Returns:
        density, shape of `stabilities`; zero below the margin.
    """
    C, V, R = ensemble.covariance_values(typical_point(ensemble).coordinates)
    Q = C + R * R
    asked = np.asarray(stabilities, dtype=np.float64).reshape(-1, 1)
    # Nothing lies below the margin, and nothing that a number can show far above the largest pre-activations.
    delta = np.clip(asked, ensemble.margin, ensemble.margin + 100.0 * math.sqrt(Q + V))
    scale = max(math.sqrt(Q / V), R / math.sqrt(C), 1.0)
    centre = np.clip(delta[:, 0] / math.sqrt(Q), -6.0, 6.0)
    z, weight = gaussian_nodes(scale, SPACING, centre)
    field = math.sqrt(Q) * z
    log_student = (
        -0.5 * (delta - field) ** 2 / V - 0.5 * math.log(2.0 * math.pi * V)
        - log_ndtr((field - ensemble.margin) / math.sqrt(V))
    )  # fmt: skip
    values = 2.0 * (weight * ndtr(R / math.sqrt(C) * z) * np.exp(log_student)).sum(axis=1)
    values[(asked != delta)[:, 0]] = 0.0
    result: Array = values.reshape(np.shape(stabilities))
    return result


def energy_after_flips(distances: Array, ensemble: Ensemble) -> Array:
    """Fraction of patterns of stability below the margin after a fraction of the weights is flipped at random.

    A flip of dN weights of a perceptron turns a stability Delta into (1-2d) Delta plus a Gaussian of variance
    4 d (1-d) E[sigma^2] (docs/overparam/theory.md eq. 15). An error is what the loss counts (`overparam`, eq. 5).

    Args:
        distances: d in [0, 1], any shape.
        ensemble: a perceptron's, with solutions.

    Returns:
        E(d), shape of `distances`.
    """
    d = np.asarray(distances, dtype=np.float64).reshape(-1)
    # Flipping dN weights of w is flipping (1-d)N weights of -w: its errors are the patterns which that leaves
    # above -kappa.
    few = np.minimum(d, 1.0 - d)
    deviation = np.maximum(2.0 * np.sqrt(few * (1.0 - few) * ensemble.variance), 1e-150)
    C, V, R = ensemble.covariance_values(typical_point(ensemble).coordinates)
    spread = math.sqrt(C + R * R + V)
    # A stability of kappa + x is (1-2d) x + room from the border of an error.
    room = 2.0 * ensemble.margin * np.where(d > 0.5, 1.0 - few, -few)
    reach = np.maximum((12.0 * deviation - room) / np.maximum(1.0 - 2.0 * few, 1e-300), 0.0)
    # Nodes crowd next to the margin, where the density has a layer of the width that one student's freedom gives it,
    # and where the noise of few flips makes errors.
    width = np.minimum(deviation, V / spread)
    unit, unit_weight = unit_legendre(LEGENDRE_NODES)
    length = np.arcsinh(np.minimum(10.0 * spread, reach) / width)[:, None]
    t = length * unit
    excess = width[:, None] * np.sinh(t)
    at_excess = density(ensemble.margin + excess, ensemble)
    argument = ((1.0 - 2.0 * few[:, None]) * excess + room[:, None]) / deviation[:, None]
    energy = np.sum(width[:, None] * np.cosh(t) * length * unit_weight * at_excess * ndtr(-argument), axis=1)
    result: Array = np.where(d > 0.5, 1.0 - energy, energy).reshape(np.shape(distances))
    return result
