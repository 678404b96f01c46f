"""Binary perceptron whose weights minimize the cross-entropy loss: replica theory (`shaping`, figures 2 and 3).

N weights +-1, P = alpha N random patterns, loss sum of f_gamma(x) = ln(1 + exp(-2 gamma x)) / (2 gamma) over the
stabilities x, in units in which the pre-activation is w.x / sqrt(N). Derivation: docs/shaping/theory.md, Cross-entropy.

    >>> from localentropy.replica import cross_entropy
    >>> cross_entropy.minimizers(alpha=0.6, gamma=2.0).error
    >>> cross_entropy.franz_parisi([0.01, 0.1], alpha=0.6, gamma=2.0)

At gamma = inf the loss of a stability is max(0, -x), and weights without errors, where there are any, are all minimal.
Every function raises DomainError for an argument out of range (naming it, its value and what is allowed) and where
there are no solutions, and ConvergenceError, with the point and the residual, for a solve that failed.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from localentropy.arguments import require_between, require_choice
from localentropy.numerics.continuation import Branch, zero_of_observable
from localentropy.numerics.jets import Jet, exp, logistic
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint, solve
from localentropy.replica import franz_parisi as curves
from localentropy.replica import perceptron, sites
from localentropy.replica import typical as typicals
from localentropy.replica.ensemble import Overlap
from localentropy.replica.pair_energy import SoftReference
from localentropy.replica.patterns import cross_entropy, cross_entropy_error

if TYPE_CHECKING:
    import pandas as pd

LOADS = (1e-2, 1e2)
"""Range of patterns per weight."""
SHARPNESSES = (0.1, 1e2)
"""Range of gamma, but for infinity."""
HOT = 0.3
"""beta at which patterns pull weakly. The search for the inverse temperature starts here."""
NEAR_FREEZING = 1e-2
"""Error of ln beta from which Newton's method finds where the entropy vanishes."""


@dataclass(frozen=True)
class Minimizers:
    """Replica-symmetric description of the weights of least loss: those at the temperature of zero entropy.

    Attributes:
        alpha: patterns per weight.
        gamma: sharpness of the loss.
        beta: inverse temperature; inf where it is too large for a number, and where the entropy stays positive.
        log_beta: ln beta.
        q: overlap of two weights at this temperature.
        q_hat: its conjugate.
        error: fraction of patterns with a negative stability.
        energy: loss per pattern.
        entropy: log number of minimizers per weight, nats: 0, or that of all solutions at gamma = inf.
        residual: relative error of the order parameters, estimated by the solver's last correction.
    """

    alpha: float
    gamma: float
    beta: float
    log_beta: float
    q: float
    q_hat: float
    error: float
    energy: float
    entropy: float
    residual: float


@dataclass(frozen=True)
class Thermal(FreeEntropy):
    """phi at an inverse temperature, nats per weight (docs/shaping/theory.md eq. C.3). Its control is ln beta."""

    alpha: float
    gamma: float
    log_beta: float

    names: ClassVar[tuple[str, ...]] = ("ln q_hat", "logit q")  # type: ignore[misc]

    def controls(self) -> Array:
        """ln beta."""
        return np.array([self.log_beta])

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi."""
        q, v = logistic(coordinates[1]), logistic(-coordinates[1])
        energy = cross_entropy(q, v, controls[0], self.gamma)
        return sites.binary(exp(coordinates[0]), q, v) + self.alpha * energy


@dataclass(frozen=True)
class Frozen(FreeEntropy):
    """phi / beta, with ln beta as a coordinate: it is stationary where the entropy vanishes (the same, eq. C.6).

    Attributes:
        thermal: phi at an inverse temperature that is the unit.
    """

    thermal: Thermal

    names: ClassVar[tuple[str, ...]] = (*Thermal.names, "ln beta")  # type: ignore[misc]

    def controls(self) -> Array:
        """None."""
        return np.zeros(0)

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi / beta."""
        return self.thermal.value(coordinates[:2], coordinates[2:]) * exp(self.thermal.log_beta - coordinates[2])


def minimizers(alpha: float, gamma: float) -> Minimizers:
    """Weights of least cross-entropy loss (`shaping`, figure 2; docs/shaping/theory.md eqs. C.3 to C.8).

    Args:
        alpha: patterns per weight, in [0.01, 100].
        gamma: sharpness of the loss, in [0.1, 100], or inf: then alpha is at most alpha_c of the perceptron, the
            minimizers are its typical solutions, error and energy are 0, beta is infinite.
    """
    alpha = require_between("alpha", alpha, *LOADS)
    if _is_infinite(gamma):
        typical = perceptron.typical(alpha)
        return Minimizers(
            alpha, gamma, math.inf, math.inf, typical.q, typical.q_hat, 0.0, 0.0, typical.entropy, typical.residual
        )
    gamma = require_between("gamma", gamma, *SHARPNESSES)
    point = _frozen_point(alpha, gamma)
    q_hat, q, v = _overlap(point)
    log_beta = float(point.coordinates[2])
    beta = math.exp(log_beta) if log_beta < math.log(np.finfo(float).max) else math.inf
    thermal = Thermal(alpha, gamma, log_beta)
    free = solve(thermal, point.coordinates[:2])
    error = cross_entropy_error(q, v, log_beta, gamma)
    energy = -free.slope(0) / (alpha * beta)
    return Minimizers(alpha, gamma, beta, log_beta, q, q_hat, error, energy, _entropy(free), point.residual)


def franz_parisi(
    distances: Iterable[float] | float, alpha: float, gamma: float, *, unsolved: str = "raise"
) -> pd.DataFrame:
    """Franz-Parisi entropy: weights without errors at distance d from a minimizer of the cross-entropy loss.

    Source: `shaping`, figure 3; docs/shaping/theory.md eqs. C.9 to C.14.

    Args:
        distances: Hamming distances per weight, each in [1e-9, 1), in any order.
        alpha: patterns per weight, at least 0.01 and at most alpha_c of the perceptron.
        gamma: sharpness of the loss, in [0.1, 100], or inf: the reference is then a typical solution of margin 0.
        unsolved: "raise", or "nan" for entropy, slope and replicon NaN at distances where the solve failed.

    Returns:
        One row per distance: distance, entropy (nats per weight), slope (its derivative by the distance), replicon
        (below 1 the replica-symmetric solution is stable), residual (relative error of the order parameters). `attrs`:
        alpha, gamma, typical_distance.
    """
    require_choice("unsolved", unsolved, ("raise", "nan"))
    requested = curves.requested_distances(distances)
    alpha = require_between("alpha", alpha, *LOADS)
    student = perceptron.Perceptron(alpha, 0.0)
    if _is_infinite(gamma):
        curve = curves.curve_around(student, 0.0)
    else:
        gamma = require_between("gamma", gamma, *SHARPNESSES)
        typicals.typical_point(student)
        curve = curves.FranzParisiCurve(student, _reference(alpha, gamma))
    return curves.table(curve, requested, unsolved, alpha=alpha, gamma=gamma)


def _is_infinite(gamma: object) -> bool:
    return isinstance(gamma, numbers.Real) and gamma == math.inf


@lru_cache(maxsize=512)
def _frozen_point(alpha: float, gamma: float) -> StationaryPoint:
    """The saddle point of `Frozen`: temperature falls until the entropy is nearly zero, and Newton's method ends it."""
    # Weak patterns: each pulls with the slope -1/2 of its loss.
    log_q_hat = math.log(alpha * (0.5 * HOT) ** 2)
    branch = Branch(
        lambda log_beta: Thermal(alpha, gamma, log_beta), "log_beta", 0, math.log(HOT),
        np.array([log_q_hat, log_q_hat]), step=1.0,
    )  # fmt: skip
    near = zero_of_observable(branch, _entropy, math.inf, NEAR_FREEZING)
    assert near is not None
    return solve(Frozen(Thermal(alpha, gamma, near)), np.append(branch.to(near).coordinates, near))


def _entropy(point: StationaryPoint) -> float:
    """s = phi - d phi / d ln beta of a point of `Thermal`."""
    return point.value - point.slope(0)


def _overlap(point: StationaryPoint) -> Overlap:
    y = point.coordinates
    return Overlap(math.exp(y[0]), 1.0 / (1.0 + math.exp(-y[1])), 1.0 / (1.0 + math.exp(y[1])))


def _reference(alpha: float, gamma: float) -> curves.ReferencePoint:
    """The minimizers as a reference."""
    point = _frozen_point(alpha, gamma)
    x = _overlap(point)
    return curves.ReferencePoint(x, SoftReference(x.q, x.v, float(point.coordinates[2]), gamma))
