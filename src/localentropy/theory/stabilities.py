"""Stabilities of the typical solutions of any model, and their errors after random flips of weights."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.special import log_ndtr, ndtr

from localentropy.arguments import require_array
from localentropy.numerics.quadrature import gaussian_nodes, unit_legendre
from localentropy.numerics.saddle_point import Array
from localentropy.quantities import FLIPS
from localentropy.theory.model import Model
from localentropy.theory.patterns import SPACING
from localentropy.theory.question import question
from localentropy.theory.typical_solutions import typical_point

LEGENDRE_NODES = 96
LINEAR = 1e-9
"""Largest error of the correlation 1/2 after a quarter of the weights is flipped, of what is linear in the weights."""


@question(binary=False)
def stability_density(model: Model, stabilities: Iterable[float] | float) -> np.ndarray:
    """Probability density of the stabilities of typical solutions on their training patterns.

    Source: `overparam`, eqs. 61-64; docs/overparam/theory.md section 6.

    Args:
        model: with a load at which it has solutions of its margin.
        stabilities: finite numbers, any shape.

    Returns:
        density, shape of `stabilities`; zero below the margin.

    Raises:
        DomainError: a stability that is not finite, a model with an energy, or no solutions.

    Example:
        >>> from localentropy.theory import Perceptron, stability_density
        >>> stability_density(Perceptron(alpha=0.5), [-0.1, 0.1]).round(4).tolist()
        [0.0, 0.9851]
    """
    return density(require_array("stability", stabilities), model)


def _not_linear(model: Model) -> str:
    linear = abs(model.flip_correlation(0.5) - 0.5) <= LINEAR
    name = type(model).__name__
    return (
        "" if linear else f"local_energy is not computed for {name}: its pre-activations are not linear in the weights"
    )


@question(refuses=_not_linear)
def local_energy(model: Model, distances: Iterable[float] | float) -> np.ndarray:
    """Training error of typical solutions after a fraction d of their weights is flipped at random.

    An error is a stability below the margin of the solutions, as their loss counts it. A flip of dN weights of a
    perceptron turns a stability Delta into (1-2d) Delta plus a Gaussian of variance 4 d (1-d) E[sigma^2]. The module
    `localentropy.landscape.binary_local_energy` measures this number on given weights. Source: `overparam`, eq. 5 (the
    loss) and appendix E.2 (the experiment); docs/overparam/theory.md eq. 15 (the formula).

    Args:
        model: one whose pre-activations are linear in the weights (a perceptron, random features, a committee of units
            "identity"), with a load at which it has solutions of its margin.
        distances: fractions of flipped weights in [0, 1], any shape.

    Returns:
        fraction of patterns of stability below the margin, shape of `distances`.

    Raises:
        DomainError: a distance outside [0, 1], no solutions, a model with an energy, or pre-activations that are not
            linear in the weights.

    Example:
        >>> from localentropy.theory import Perceptron, local_energy
        >>> local_energy(Perceptron(alpha=0.5), [0.0, 0.1]).round(4).tolist()
        [0.0, 0.2301]
    """
    asked = FLIPS.require_all(distances)
    d = asked.reshape(-1)
    # Flipping dN weights of w is flipping (1-d)N weights of -w: its errors are the patterns which that leaves
    # above -kappa.
    few = np.minimum(d, 1.0 - d)
    deviation = np.maximum(2.0 * np.sqrt(few * (1.0 - few) * model.variance), 1e-150)
    C, V, R = model.covariance_values(typical_point(model).coordinates)
    spread = math.sqrt(C + R * R + V)
    # A stability of kappa + x is (1-2d) x + room from the border of an error.
    room = 2.0 * model.margin * np.where(d > 0.5, 1.0 - few, -few)
    reach = np.maximum((12.0 * deviation - room) / np.maximum(1.0 - 2.0 * few, 1e-300), 0.0)
    # Nodes crowd next to the margin, where the density has a layer of the width that one student's freedom gives it,
    # and where the noise of few flips makes errors.
    width = np.minimum(deviation, V / spread)
    unit, unit_weight = unit_legendre(LEGENDRE_NODES)
    length = np.arcsinh(np.minimum(10.0 * spread, reach) / width)[:, None]
    t = length * unit
    excess = width[:, None] * np.sinh(t)
    at_excess = density(model.margin + excess, model)
    argument = ((1.0 - 2.0 * few[:, None]) * excess + room[:, None]) / deviation[:, None]
    energy = np.sum(width[:, None] * np.cosh(t) * length * unit_weight * at_excess * ndtr(-argument), axis=1)
    result: Array = np.where(d > 0.5, 1.0 - energy, energy).reshape(asked.shape)
    return result


def density(stabilities: Array, model: Model) -> Array:
    """P(Delta) of typical solutions (docs/overparam/theory.md eq. 14; `overparam`, eq. 64).

    Args:
        stabilities: Delta, any shape.
        model: with solutions.

    Returns:
        density, shape of `stabilities`; zero below the margin.

    Example:
        >>> import numpy as np
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.stabilities import density
        >>> density(np.array([-1.0, 0.0, 1.0]), Perceptron(alpha=0.5)).round(6).tolist()
        [0.0, 1.031579, 0.43924]
    """
    C, V, R = model.covariance_values(typical_point(model).coordinates)
    Q = C + R * R
    asked = np.asarray(stabilities, dtype=np.float64).reshape(-1, 1)
    # Nothing lies below the margin, and nothing that a number can show far above the largest pre-activations.
    delta = np.clip(asked, model.margin, model.margin + 100.0 * math.sqrt(Q + V))
    scale = max(math.sqrt(Q / V), R / math.sqrt(C), 1.0)
    centre = np.clip(delta[:, 0] / math.sqrt(Q), -6.0, 6.0)
    z, weight = gaussian_nodes(scale, SPACING, centre)
    field = math.sqrt(Q) * z
    log_student = (
        -0.5 * (delta - field) ** 2 / V - 0.5 * math.log(2.0 * math.pi * V)
        - log_ndtr((field - model.margin) / math.sqrt(V))
    )  # fmt: skip
    values = 2.0 * (weight * ndtr(R / math.sqrt(C) * z) * np.exp(log_student)).sum(axis=1)
    values[(asked != delta)[:, 0]] = 0.0
    result: Array = values.reshape(np.shape(stabilities))
    return result
