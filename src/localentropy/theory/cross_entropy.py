"""Binary perceptron whose weights minimize the cross-entropy loss: replica theory (`shaping`, figures 2 and 3).

N weights +-1, P = alpha N random patterns, loss sum of f_gamma(x) = ln(1 + exp(-2 gamma x)) / (2 gamma) over the
stabilities x, in units in which the pre-activation is w.x / sqrt(N). Derivation: docs/shaping/theory.md, Cross-entropy.

    >>> from localentropy.theory import cross_entropy
    >>> round(cross_entropy.minimizers(alpha=0.6, gamma=2.0).error, 9)
    0.000637266
    >>> cross_entropy.franz_parisi([0.01, 0.1], alpha=0.6, gamma=2.0).entropy.round(6).tolist()
    [0.046361, 0.175746]

At gamma = inf the loss of a stability is max(0, -x), and weights without errors, where there are any, are all minimal.
Every function raises DomainError for an argument out of range (naming it, its value and what is allowed) and where
there are no solutions, and ConvergenceError, with the point and the residual, for a solve that failed.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from localentropy.arguments import require_choice
from localentropy.numerics.continuation import Branch, zero_of_observable
from localentropy.numerics.jets import Jet, exp
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint, solve
from localentropy.quantities import ALPHA_OF_MINIMIZERS, DISTANCE_OF_CURVE, GAMMA
from localentropy.theory import franz_parisi_entropy as curves
from localentropy.theory.energies import CrossEntropy
from localentropy.theory.model import MARGIN, Typical
from localentropy.theory.patterns import cross_entropy_error
from localentropy.theory.perceptron import Perceptron
from localentropy.theory.typical_solutions import entropy_at, typical, typical_point

if TYPE_CHECKING:
    import pandas as pd

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
        residual: relative error of the order parameters and of beta, estimated by the solver's last correction. At
            these, error, energy and entropy are integrals, the former two with a relative error of 1e-9.
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
class Frozen(FreeEntropy):
    """phi beta_0 / beta with ln beta as a coordinate, stationary where the entropy vanishes.

    Source: docs/shaping/theory.md eq. C.6.

    Attributes:
        thermal: phi of the model. The inverse temperature beta_0 of its energy is the unit of beta.

    Example:
        >>> from localentropy.theory import CrossEntropy, Perceptron
        >>> from localentropy.theory.cross_entropy import Frozen
        >>> from localentropy.theory.model import Typical
        >>> Frozen(Typical(Perceptron(0.6, energy=CrossEntropy(gamma=2.0, log_beta=0.0)))).names
        ('ln q_hat', 'logit q', 'ln beta')
    """

    thermal: Typical

    names: ClassVar[tuple[str, ...]] = (*Perceptron.weights.names, "ln beta")  # type: ignore[misc]

    def controls(self) -> Array:
        """ln alpha, ln load."""
        return np.delete(self.thermal.controls(), MARGIN)

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi beta_0 / beta, nats per weight."""
        *coordinates, log_beta = coordinates
        log_alpha, log_load = controls
        phi = self.thermal.value(coordinates, [log_alpha, log_beta, log_load])
        return phi * exp(self.thermal.model.asked.control - log_beta)


def minimizers(alpha: float, gamma: float) -> Minimizers:
    """Weights of least cross-entropy loss (`shaping`, figure 2; docs/shaping/theory.md eqs. C.3 to C.8).

    Args:
        alpha: patterns per weight, in [0.01, 100].
        gamma: sharpness of the loss, in [0.1, 100], or inf: then alpha is at most alpha_c of the perceptron, the
            minimizers are its typical solutions, error and energy are 0, beta is infinite.

    Returns:
        Error, energy, overlap and inverse temperature of the minimizers.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: the saddle point was not found.

    Example:
        >>> from localentropy.theory import cross_entropy
        >>> round(cross_entropy.minimizers(alpha=0.6, gamma=2.0).error, 9)
        0.000637266
    """
    alpha = ALPHA_OF_MINIMIZERS.require(alpha)
    if _is_infinite(gamma):
        found = typical(Perceptron(alpha))
        return Minimizers(
            alpha, gamma, math.inf, math.inf, found.q, found.q_hat, 0.0, 0.0, found.entropy, found.residual
        )
    gamma = GAMMA.require(gamma)
    point = _frozen_point(alpha, gamma)
    *coordinates, log_beta = point.coordinates.tolist()
    beta = math.exp(log_beta) if log_beta < math.log(np.finfo(float).max) else math.inf
    model = _drawn(alpha, gamma, log_beta)
    q_hat, q, v = model.values(np.array(coordinates))
    free = solve(Typical(model), np.array(coordinates))
    error = cross_entropy_error(q, v, log_beta, gamma)
    energy = -free.slope(MARGIN) / (alpha * beta)
    return Minimizers(alpha, gamma, beta, log_beta, q, q_hat, error, energy, entropy_at(model, free), point.residual)


def franz_parisi(
    distances: Iterable[float] | float, alpha: float, gamma: float, *, unsolved: str = "raise"
) -> pd.DataFrame:
    """Franz-Parisi entropy: weights without errors at distance d from a minimizer of the cross-entropy loss.

    Source: `shaping`, figure 3; docs/shaping/theory.md eqs. C.9 to C.14.

    Args:
        distances: Hamming distances per weight, each in [1e-9, 1), in any order.
        alpha: patterns per weight, at least 0.01 and at most alpha_c of the perceptron.
        gamma: sharpness of the loss, in [0.1, 100], or inf: the reference is then a typical solution of margin 0.
        unsolved: "raise", or "nan" for entropy, slope and replicon NaN, with the residual reached, at distances where
            the solve failed. Such a distance takes several seconds.

    Returns:
        One row per distance: distance, entropy (nats per weight), slope (its derivative by the distance), replicon
        (below 1 the replica-symmetric solution is stable), residual (relative error of the order parameters). `attrs`:
        alpha, gamma, typical_distance.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: a distance was not solved, with unsolved = "raise".

    Example:
        >>> from localentropy.theory import cross_entropy
        >>> cross_entropy.franz_parisi([0.01, 0.1], alpha=0.6, gamma=2.0).entropy.round(6).tolist()
        [0.046361, 0.175746]
    """
    require_choice("unsolved", unsolved, curves.UNSOLVED)
    requested = DISTANCE_OF_CURVE.require_all(distances).ravel().tolist()
    alpha = ALPHA_OF_MINIMIZERS.require(alpha)
    student = Perceptron(alpha)
    if _is_infinite(gamma):
        curve = curves.curve_around(student, 0.0)
    else:
        gamma = GAMMA.require(gamma)
        typical_point(student)
        curve = curves.FranzParisiCurve(student, _reference(alpha, gamma))
    return curves.table(curve, requested, unsolved, alpha=alpha, gamma=gamma)


def _is_infinite(gamma: object) -> bool:
    return isinstance(gamma, numbers.Real) and gamma == math.inf


@lru_cache(maxsize=512)
def _frozen_point(alpha: float, gamma: float) -> StationaryPoint:
    """The saddle point of `Frozen`: temperature falls until the entropy is nearly zero, and Newton's method ends it."""
    # Weak patterns: each pulls with the slope -1/2 of its loss.
    log_q_hat = math.log(alpha * (0.5 * HOT) ** 2)
    hot = _drawn(alpha, gamma, math.log(HOT))
    branch = Branch(
        lambda log_beta: Typical(_drawn(alpha, gamma, log_beta)), "log_beta", MARGIN, math.log(HOT),
        np.array([log_q_hat, log_q_hat]), step=1.0,
    )  # fmt: skip
    near = zero_of_observable(branch, partial(entropy_at, hot), math.inf, NEAR_FREEZING)
    assert near is not None
    return solve(Frozen(Typical(_drawn(alpha, gamma, near))), np.append(branch.to(near).coordinates, near))


def _reference(alpha: float, gamma: float) -> curves.ReferencePoint:
    """The minimizers as a reference."""
    *coordinates, log_beta = _frozen_point(alpha, gamma).coordinates.tolist()
    return curves.reference_at(_drawn(alpha, gamma, log_beta), np.array(coordinates))


def _drawn(alpha: float, gamma: float, log_beta: float) -> Perceptron:
    """Weights drawn at an inverse temperature."""
    return Perceptron(alpha, energy=CrossEntropy(gamma, log_beta))
