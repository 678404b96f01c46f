"""What a loss does to a linear student of the teacher's sign: the terms of a pattern in empirical risk minimisation.

A student's output on a training input is the proximal point eta of its output omega on a new one. omega has the
variance Q = N + M^2 and the covariance M with the teacher's pre-activation, of variance 1. V is the susceptibility.
Labels 1 and -1 are mirror images, so only the label 1 is written, twice. Source: docs/glm/theory.md eqs. 25-30.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import expit, ndtr, owens_t

from localentropy.numerics.gaussian_kernels import SQRT_TWO_OVER_PI
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE, unit_legendre

Array = np.ndarray

SPACING = 0.25
"""Distance of neighbouring nodes of the logistic loss, where they crowd: in units of its own output, and of the width
of the label's step."""
CLUSTER = 4.0
"""Half of the length on which they crowd, in the same."""
PANEL_NODES = 32
"""On each part of the hinge loss' range of integration."""
PANELS = (-8.0, -4.0, -1.5, 0.0, 1.5, 4.0, 8.0)
"""Ends of these parts, in units of the width of the label's step."""
TINY = 1e-290
"""Smallest M / sqrt(N) where it divides: that of random labels is 0."""
PROXIMAL_STEPS = 100
"""Largest number of steps of Newton's method for the proximal point."""


class Averages(NamedTuple):
    """Means over a pattern.

    Attributes:
        bend: A, of the slope of the smoothed loss' derivative.
        noise: B, of the square of that derivative.
        pull: C, minus the derivative's response to the teacher's pre-activation.
        loss: of the training loss.
    """

    bend: float
    noise: float
    pull: float
    loss: float


class Loss(ABC):
    """A convex loss of the product of output and label.

    Example:
        >>> from localentropy.theory.losses import LOSSES, Loss
        >>> sorted(LOSSES), all(isinstance(loss, Loss) for loss in LOSSES.values())
        (['hinge', 'huber', 'logistic', 'square'], True)
    """

    @abstractmethod
    def averages(self, V: float, N: float, M: float) -> Averages:
        """Means over a pattern at susceptibility V > 0, own variance N > 0 and covariance with the teacher M >= 0."""


class Square(Loss):
    """(y - x)^2 / 2.

    Example:
        >>> from localentropy.theory.losses import Square
        >>> round(Square().averages(V=1.0, N=0.5, M=0.5).loss, 6)
        0.119014
    """

    def averages(self, V: float, N: float, M: float) -> Averages:
        """Closed form (eq. 28)."""
        noise = self.test_error(N, M) / (1.0 + V) ** 2
        return Averages(1.0 / (1.0 + V), noise, SQRT_TWO_OVER_PI / (1.0 + V), 0.5 * noise)

    @staticmethod
    def test_error(N: float, M: float) -> float:
        """Mean of (y - x)^2 on new inputs, 1 + Q - 2 M sqrt(2 / pi), as a sum of positive terms."""
        return N + (M - SQRT_TWO_OVER_PI) ** 2 + 1.0 - 2.0 / math.pi


class Logistic(Loss):
    """ln(1 + exp(-y x)).

    Example:
        >>> from localentropy.theory.losses import Logistic
        >>> round(Logistic().averages(V=1.0, N=0.5, M=0.5).loss, 6)
        0.434026
    """

    def averages(self, V: float, N: float, M: float) -> Averages:
        """By the trapezoid rule in u (docs/glm/theory.md eq. 29).

        t = (1 - p) eta + p omega = t_0 + CLUSTER (1 - p) sinh u, with p = s / (s + sqrt(Q)) and s = max(M / sqrt(N),
        1). In t the label's step and the onset of the loss are both smooth. Nodes crowd at omega = 0, where the step
        is. The loss sets in close to it.
        """
        root, T = math.hypot(math.sqrt(N), M), M / math.sqrt(N)
        stretch = max(T, 1.0)
        # omega = eta - V expit(-eta). So eta is a proximal point of t / (1 + stretch / root) too, at a smaller V.
        part = stretch / (stretch + root)
        omega = np.array([-RANGE * root, 0.0, RANGE * root])
        low, middle, high = ((1.0 - part) * proximal(omega, V) + part * omega).tolist()
        width = CLUSTER * (1.0 - part)
        first, last = math.asinh((low - middle) / width), math.asinh((high - middle) / width)
        u = np.linspace(first, last, int((last - first) * (CLUSTER + math.log1p(V)) / SPACING) + 2)
        t = middle + width * np.sinh(u)
        eta = proximal(t, part * V)
        slope = expit(-eta)
        bend = slope * expit(eta)
        xi = (eta - V * slope) / root
        measure = 2.0 * INVERSE_SQRT_2PI / root * np.exp(-0.5 * xi * xi) / (1.0 + part * V * bend)
        measure *= width * np.cosh(u) * (u[1] - u[0])
        label, stiff = ndtr(T * xi), 1.0 + V * bend
        edge = _edge(T * xi, root, N)
        return Averages(
            float(measure @ (label * bend)), float(measure @ (label * stiff * slope * slope)),
            float(measure @ (edge * stiff * slope)), float(measure @ (label * stiff * np.logaddexp(0.0, -eta))),
        )  # fmt: skip


class Hinge(Loss):
    """max(0, 1 - y x).

    Example:
        >>> from localentropy.theory.losses import Hinge
        >>> round(Hinge().averages(V=1.0, N=0.5, M=0.5).loss, 6)
        0.146023
    """

    def averages(self, V: float, N: float, M: float) -> Averages:
        """On each side of the kinks of the proximal point (eq. 30)."""
        root, T = math.hypot(math.sqrt(N), M), max(M / math.sqrt(N), TINY)
        low, high = (1.0 - V) / root, 1.0 / root
        # Below `low` the derivative is 1; between, eta = 1.
        ends = np.array([low, *(step / T for step in PANELS), -1.5, 0.0, 1.5, high])
        ends = np.unique(np.clip(ends, max(low, -RANGE), min(high, RANGE)))
        xi, measure = _panels(ends)
        label, slope = ndtr(T * xi), (1.0 - root * xi) / V
        edge = _edge(T * xi, root, N)
        wrong, first_moment = _below(low, T)
        ridge = math.hypot(1.0, T)
        pull_below = 2.0 * INVERSE_SQRT_2PI * float(ndtr(ridge * low)) / ridge * root / math.sqrt(N)
        return Averages(
            float(measure @ label) / V, 2.0 * wrong + float(measure @ (label * slope * slope)),
            pull_below + float(measure @ (edge * slope)), max(2.0 * ((1.0 - V) * wrong - root * first_moment), 0.0),
        )  # fmt: skip


class Huber(Loss):
    """(y - x)^2 / 2 where this is at most 1/2, and |y - x| - 1/2 beyond.

    Example:
        >>> from localentropy.theory.losses import Huber
        >>> round(Huber().averages(V=1.0, N=0.5, M=0.5).loss, 6)
        0.123185
    """

    def averages(self, V: float, N: float, M: float) -> Averages:
        """On each side of the two kinks of the derivative, which are 1 + V from the label."""
        root, T = math.hypot(math.sqrt(N), M), max(M / math.sqrt(N), TINY)
        kinks = (-V / root, (2.0 + V) / root)
        ends = np.array([-RANGE, *kinks, *(step / T for step in PANELS), -6.0, -3.0, -1.5, 0.0, 1.5, 3.0, 6.0, RANGE])
        ends = np.unique(np.clip(ends, -RANGE, RANGE))
        xi, measure = _panels(ends)
        label, missing = ndtr(T * xi), 1.0 - root * xi
        slope = np.clip(missing / (1.0 + V), -1.0, 1.0)
        edge = _edge(T * xi, root, N)
        near = np.abs(missing) < 1.0 + V
        loss = np.where(near, 0.5 * slope * slope, np.abs(missing) - V - 0.5)
        return Averages(
            float(measure @ (label * near)) / (1.0 + V), float(measure @ (label * slope * slope)),
            float(measure @ (edge * slope)), float(measure @ (label * loss)),
        )  # fmt: skip


LOSSES: dict[str, Loss] = {"square": Square(), "logistic": Logistic(), "hinge": Hinge(), "huber": Huber()}


def proximal(omega: Array, V: float) -> Array:
    """The minimum x of (x - omega)^2 / 2 V + ln(1 + exp(-x)), by Newton's method, monotone from 0.

    Args:
        omega: any shape.
        V: positive.

    Returns:
        x, of the shape of `omega`.

    Example:
        >>> import numpy as np
        >>> from localentropy.theory.losses import proximal
        >>> proximal(np.array([0.0]), 1.0).round(6).tolist()
        [0.401058]
    """
    x = np.zeros_like(omega)
    for _ in range(PROXIMAL_STEPS):
        slope = expit(-x)
        step = (x - omega - V * slope) / (1.0 + V * slope * (1.0 - slope))
        x = x - step
        if np.max(np.abs(step) / (1.0 + np.abs(x))) < 1e-12:
            break
    return x


def _panels(ends: Array) -> tuple[Array, Array]:
    """Nodes of a Gaussian variable on the parts between these places, and their weights, for both labels."""
    unit, unit_weight = unit_legendre(PANEL_NODES)
    xi = (ends[:-1, None] + np.diff(ends)[:, None] * unit).ravel()
    return xi, 2.0 * (np.diff(ends)[:, None] * unit_weight).ravel() * INVERSE_SQRT_2PI * np.exp(-0.5 * xi * xi)


def _edge(u: Array, root: float, N: float) -> Array:
    """Derivative of the label's probability Phi(u) by the covariance with the teacher, at sqrt(Q) = `root`."""
    density: Array = INVERSE_SQRT_2PI * np.exp(-0.5 * u**2) * root / math.sqrt(N)
    return density


def _below(x: float, T: float) -> tuple[float, float]:
    """Means of Phi(T xi) and xi Phi(T xi) over xi below x."""
    ridge = math.hypot(1.0, T)
    density = INVERSE_SQRT_2PI * math.exp(-0.5 * min(x * x, 1400.0))
    first = T * INVERSE_SQRT_2PI / ridge * float(ndtr(ridge * x)) - density * float(ndtr(T * x))
    if x > 0.0:
        return float(0.5 * ndtr(x) - owens_t(x, T)), first
    # The same by a reflection of Owen's function: no larger numbers cancel.
    return float(ndtr(T * x) * (ndtr(x) - 0.5) + owens_t(T * x, 1.0 / T)), first
