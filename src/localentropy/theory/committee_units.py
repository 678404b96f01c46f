"""When the units of a committee of any size begin to specialize: the algorithmic threshold of a Bayes-optimal student.

As in `localentropy.theory.committee`, the label is the sign of the sum of the signs of K sums z_a over the inputs, and
the sign of 0 is 0. A student without specialization knows only s = Σ_a z_a / √K, up to a variance 1 − c. z_⊥ is the
part of z that is orthogonal to (1, …, 1), of K − 1 components. The density of a label y beside ω, what is known of s,
and the same with the weight |z_⊥|²/(K − 1) − 1 have Fourier transforms in closed form: z_a has the density φ on one
side of 0, with the transform F(t) = w(t/√2)/2 of Faddeeva's function w. Source: docs/glm/theory.md eqs. 19, 22a.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln, wofz

from localentropy.numerics.search import positive_root
from localentropy.quantities import UNITS_OF_STUDENT

Array = np.ndarray

RANGE, NODES = 6.5, 401
"""Largest |ω| in its standard deviations, and the number of values."""
SPACING, DECAY, HIGHEST = 0.2, 9.0, 200.0
"""Spacing of the frequencies; where a Gaussian has decayed; the highest frequency, where all transforms have."""
EMPTY = 1e-13
"""Densities below this are rounding."""


def specialization(units: int) -> float:
    """The load above which the state without specialization is unstable, and message passing leaves it.

    A call takes about 5 s for many units. Source: `glm`, slide "Computational gap" (of the order K² d samples);
    docs/glm/theory.md eqs. 19, 22a.

    Args:
        units: K, from 2 to 200.

    Returns:
        Samples per input, n/d.

    Raises:
        DomainError: units out of range.

    Example:
        >>> from localentropy.theory.committee_units import specialization
        >>> round(specialization(2), 6), round(specialization(3), 4)
        (2.052382, 19.232)
    """
    units = UNITS_OF_STUDENT.require(units)

    def gain(ratio: float) -> float:
        information, stiffness = _averages(units, ratio / (1.0 + ratio))
        return ratio * stiffness / information - 1.0

    ratio = positive_root(gain, 0.1, 20.0 * units**2)
    return ratio / _averages(units, ratio / (1.0 + ratio))[0]


def _averages(units: int, c: float) -> tuple[float, float]:
    """E Σ_y (∂Z_y)²/Z_y and E Σ_y h_y²/Z_y, where h_y is the second derivative of Z_y across the mean weights."""
    highest = min(DECAY / math.sqrt(c * (1.0 - c)), HIGHEST)
    tau = np.linspace(-highest, highest, 2 * math.ceil(highest / SPACING) + 1)
    omega = math.sqrt(c) * np.linspace(-RANGE, RANGE, NODES)
    labels, across = _transforms(units, c * tau)
    back = np.exp(-1j * np.outer(tau, omega)) * (np.exp(-0.5 * c * (1.0 - c) * tau**2) * (tau[1] - tau[0]))[:, None]
    density, slope, bend = (
        (transform @ back).real / (2.0 * math.pi) for transform in (labels, -1j * tau * labels, across)
    )
    own = np.exp(-0.5 * omega**2 / c) / math.sqrt(2.0 * math.pi * c)
    seen = density > EMPTY
    z = np.where(seen, density, 1.0) / own
    gradient = slope / own + omega / c * z
    weight = np.where(seen, own * (omega[1] - omega[0]), 0.0)
    return float(np.sum(weight * gradient**2 / z)), float(np.sum(weight * (bend / own) ** 2 / z))


def _transforms(units: int, theta: Array) -> tuple[Array, Array]:
    """E 1_y exp(iθs), and the same with the weight |z_⊥|²/(K − 1) − 1, for y = 1, −1, 0; [3, θ] each."""
    t = theta / math.sqrt(units)
    one = 0.5 * wofz(t / math.sqrt(2.0))
    first = (1j / math.sqrt(2.0 * math.pi) - t * one) / one
    second = -1.0 - t * first
    labels, across = np.zeros((2, 3, theta.size), complex)
    for positive in range(units + 1):
        negative = units - positive
        y = 0 if positive > negative else 1 if positive < negative else 2
        ways = gammaln(units + 1) - gammaln(positive + 1) - gammaln(negative + 1)
        product = np.exp(ways + positive * np.log(one) + negative * np.log(one.conj()))
        # Of the product of K factors: its logarithm's derivatives by t. Σ z_a² acts as minus the second one of each.
        squares = -(positive * second + negative * second.conj())
        bent = (positive * first + negative * first.conj()) ** 2
        bent = bent + positive * (second - first**2) + negative * (second - first**2).conj()
        labels[y] += product
        across[y] += product * ((squares + bent / units) / (units - 1) - 1.0)
    return labels, across
