"""Learning at a temperature: a binary student of a binary teacher, whose energy counts its training errors (`glm`).

n = alpha d inputs. A student is drawn with the weight exp(-errors / T). Its overlap R with the teacher and the overlap
q of two students follow from the replica-symmetric ansatz. Entropies are in nats per weight, energies in errors per
weight. Where the entropy is negative, the student is frozen in a glass. It freezes on the line of zero entropy.
Derivation: docs/glm/theory.md eqs. 41-46.

    >>> from localentropy.replica import gibbs
    >>> gibbs.learning(alpha=1.0, temperature=0.4).teacher_overlap
    >>> gibbs.spinodal(0.4), gibbs.zero_entropy(0.4), gibbs.equilibrium(0.4)
    >>> gibbs.glass_ends()

At temperature 0 the student is a sample of the Bayes posterior, and q = R. Every function raises DomainError for an
argument out of range, and ConvergenceError, with the point and the residual, for a solve that failed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from localentropy.arguments import require_between
from localentropy.errors import ConvergenceError
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, gaussian_nodes
from localentropy.numerics.search import maximum, positive_root
from localentropy.replica.ensemble import LOADS

TEMPERATURES = (0.0, 100.0)
"""Range of temperatures, in training errors."""
FIELDS = (1e-12, 10.0)
"""Range of the field R_hat that is searched. The spinodals are below 4."""
SCANNED = 60
"""Places on the branch among which an extremum or a sign is looked for, from a field of 0.1."""
LARGEST_RESIDUAL = 1e-9
"""Relative error of alpha or of an equation, from which a solve has failed."""
SPACING = 0.05
"""Distance of neighbouring nodes, in t of `gaussian_nodes`."""
SMALLEST_SHARE = -12.0
"""Smallest ln(q_hat / R_hat) that is searched. It is 0 at temperature 0 and falls like -ln T."""
FURTHEST = 6.0
"""How far from the middle, in standard deviations, the nodes of a weight's field crowd at most."""
GLASS = (0.2, 0.5)
"""Range of temperatures in which the glass ends."""


@dataclass(frozen=True)
class Learning:
    """A student at a temperature: the metastable state up to its spinodal, and the teacher itself beyond.

    Attributes:
        alpha: samples per weight.
        temperature: T, in training errors.
        teacher_overlap: R, overlap of a student with the teacher.
        overlap: q, of two students.
        entropy: nats per weight, negative where the student is frozen.
        energy: training errors per weight.
        free_entropy: entropy less energy over temperature, nats per weight; 0 is that of the teacher.
        generalization_error: probability of a wrong label on a new input.
        residual: relative error of the saddle-point equations.
    """

    alpha: float
    temperature: float
    teacher_overlap: float
    overlap: float
    entropy: float
    energy: float
    free_entropy: float
    generalization_error: float
    residual: float


@dataclass(frozen=True)
class GlassEnds:
    """Two loads at which the metastable glass may be said to end.

    Attributes:
        on_spinodal: where the spinodal meets the line of zero entropy.
        on_spinodal_temperature: the temperature there.
        on_line: the largest load on the line of zero entropy.
        on_line_temperature: the temperature there.
    """

    on_spinodal: float
    on_spinodal_temperature: float
    on_line: float
    on_line_temperature: float


class _State(NamedTuple):
    """A solution of the saddle-point equations at a field R_hat and a temperature. The load follows."""

    alpha: float
    R: float
    q: float
    free_entropy: float
    energy: float
    residual: float

    def entropy(self, temperature: float) -> float:
        return self.free_entropy + (self.energy / temperature if temperature else 0.0)


def learning(alpha: float, temperature: float) -> Learning:
    """The state that a student reaches from no overlap with the teacher.

    Source: `glm`, slide on first-order transitions; docs/glm/theory.md eqs. 41-44.

    Args:
        alpha: samples per weight, in [1e-9, 1e9].
        temperature: T, in [0, 100].
    """
    alpha = require_between("alpha", alpha, *LOADS)
    temperature = _temperature(temperature)
    end, limit = _spinodal(temperature)
    if alpha > limit:
        return Learning(alpha, temperature, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if alpha < limit:
        end = positive_root(lambda field: math.log(_state(field, temperature).alpha / alpha), FIELDS[0], end)
    state = _state(end, temperature)
    residual = max(state.residual, abs(state.alpha / alpha - 1.0))
    if not residual < LARGEST_RESIDUAL:
        raise ConvergenceError("student", {"alpha": alpha, "temperature": temperature}, residual)
    return Learning(
        alpha, temperature, state.R, state.q, state.entropy(temperature), state.energy,
        state.free_entropy, math.acos(state.R) / math.pi, residual,
    )  # fmt: skip


def spinodal(temperature: float) -> float:
    """Samples per weight up to which the metastable state exists in the replica-symmetric ansatz.

    Args:
        temperature: T, in [0, 100].
    """
    return _spinodal(_temperature(temperature))[1]


def zero_entropy(temperature: float) -> float:
    """Samples per weight at which the entropy vanishes; infinite where it stays positive, above about T = 0.61.

    A student freezes there. The line rises with the temperature and meets the spinodal at T = 0.33. From there on it
    belongs to the unstable branch of states. It rises to its largest load at T = 0.365, and falls after it
    (`glass_ends`).

    Args:
        temperature: T, in [0, 100].
    """
    temperature = _temperature(temperature)
    R_hat = _frozen(temperature)
    return math.inf if R_hat is None else _state(R_hat, temperature).alpha


def equilibrium(temperature: float) -> float:
    """Samples per weight above which the teacher has the larger free entropy; 1.2447 at temperature 0.

    Args:
        temperature: T, in [0, 100].
    """
    temperature = _temperature(temperature)
    end, limit = _spinodal(temperature)
    if _state(end, temperature).free_entropy > 0.0:
        return limit
    R_hat = positive_root(lambda field: -_state(field, temperature).free_entropy, FIELDS[0], end)
    return _state(R_hat, temperature).alpha


@lru_cache(maxsize=1)
def glass_ends() -> GlassEnds:
    """Where the metastable glass disappears, by the two definitions that docs/glm/theory.md compares (eq. 46)."""
    from scipy.optimize import brentq

    def entropy_at_end(temperature: float) -> float:
        return _state(_spinodal(temperature)[0], temperature).entropy(temperature)

    meeting = float(brentq(entropy_at_end, *GLASS, xtol=1e-10))
    temperature, alpha = maximum(zero_entropy, *GLASS)
    return GlassEnds(spinodal(meeting), meeting, alpha, temperature)


@lru_cache(maxsize=256)
def _spinodal(temperature: float) -> tuple[float, float]:
    """R_hat and alpha at the end of the metastable branch (eq. 45)."""

    def load(log_field: float) -> float:
        return _state(math.exp(log_field), temperature).alpha

    fields = np.linspace(math.log(0.1), math.log(FIELDS[1]), SCANNED)
    top = int(np.argmax([load(y) for y in fields]))
    if not 0 < top < SCANNED - 1:
        raise ConvergenceError("spinodal", {"temperature": temperature, "field": math.exp(fields[top])}, math.nan)
    place, alpha = maximum(load, float(fields[top - 1]), float(fields[top + 1]))
    return math.exp(place), alpha


@lru_cache(maxsize=256)
def _frozen(temperature: float) -> float | None:
    """R_hat where the entropy first vanishes along the curve of all states; None where it does not."""

    def entropy(field: float) -> float:
        return _state(field, temperature).entropy(temperature)

    fields = np.geomspace(0.1, FIELDS[1], SCANNED)
    for low, high in zip(fields[:-1].tolist(), fields[1:].tolist(), strict=True):
        if entropy(high) < 0.0:
            return positive_root(lambda field: -entropy(field), low, high)
    return None


@lru_cache(maxsize=4096)
def _state(R_hat: float, temperature: float) -> _State:
    """The state at a field: the conjugate of q from the ratio of two equations, then alpha from one (eqs. 43, 44)."""
    from scipy.optimize import brentq

    def mismatch(log_share: float) -> float:
        pull, spread, _, _ = _pattern(*_site(math.exp(log_share) * R_hat, R_hat)[:4], temperature)
        return log_share - math.log(spread / pull)

    # At temperature 0, and to rounding at low ones, students and teacher are alike.
    log_share = 0.0 if mismatch(0.0) <= 0.0 else brentq(mismatch, SMALLEST_SHARE, 0.0, xtol=1e-14, rtol=1e-14)
    q_hat = math.exp(log_share) * R_hat
    R, q, v, c, log_cosh = _site(q_hat, R_hat)
    pull, spread, log_mean, wrong = _pattern(R, q, v, c, temperature)
    alpha = R_hat / pull
    free_entropy = log_cosh - 0.5 * q_hat * v - R_hat * R + alpha * log_mean
    return _State(alpha, R, q, free_entropy, alpha * wrong, abs(log_share - math.log(spread / pull)))


def _site(q_hat: float, R_hat: float) -> tuple[float, float, float, float, float]:
    """R, q, 1 - q, q - R^2 and the mean of ln 2 cosh of a weight in the field sqrt(q_hat) z + R_hat (eq. 43)."""
    root = math.sqrt(q_hat)
    scale = max(root, 1.0)
    centre = -min(R_hat / root, FURTHEST) if root > 1.0 else 0.0
    z, weight = gaussian_nodes(scale, SPACING, centre)
    h = root * z + R_hat
    tanh, small = np.tanh(h), np.exp(-2.0 * np.abs(h))
    R, q = float(weight @ tanh), float(weight @ tanh**2)
    v = float(weight @ (4.0 * small / (1.0 + small) ** 2))
    return R, q, v, float(weight @ (tanh - R) ** 2), float(weight @ (np.abs(h) + np.log1p(small)))


def _pattern(R: float, q: float, v: float, c: float, temperature: float) -> tuple[float, float, float, float]:
    """Of a pattern, per sample: R_hat, q_hat, the mean log of its Boltzmann factor, the mean error (eqs. 42, 44)."""
    step, kink = R / math.sqrt(c), math.sqrt(q / v)
    t, weight = gaussian_nodes(max(step, kink, 1.0), SPACING)
    label, edge = 2.0 * weight * ndtr(-step * t), 2.0 * weight * INVERSE_SQRT_2PI * np.exp(-0.5 * (step * t) ** 2)
    x = kink * t
    if temperature == 0.0:
        log_mean, log_height, log_error = log_ndtr(-x), 0.0, -math.inf
    else:
        log_error, log_height = -1.0 / temperature, math.log(-math.expm1(-1.0 / temperature))
        log_mean = np.logaddexp(log_error, log_height + log_ndtr(-x))
    # The hazard at temperature 0: both sides of 0 without cancellation or overflow.
    error, height, bell = math.exp(log_error), math.exp(log_height), np.minimum(0.5 * x * x, 700.0)
    above = error * np.exp(bell) + 0.5 * height * erfcx(np.maximum(x, 0.0) * math.sqrt(0.5))
    below = (error + height * ndtr(-np.minimum(x, 0.0))) * np.exp(bell)
    slope = height * INVERSE_SQRT_2PI / np.where(x > 0.0, above, below)
    return (
        float(edge @ slope) * math.sqrt(q / (c * v)), float(label @ slope**2) / v, float(label @ log_mean),
        float(label @ np.exp(log_error + log_ndtr(x) - log_mean)),
    )  # fmt: skip


def _temperature(temperature: float) -> float:
    return require_between("temperature", temperature, *TEMPERATURES)
