"""Learning at a temperature: a binary student of a binary teacher, whose energy counts its training errors (`glm`).

n = alpha d samples. A student is drawn with the weight exp(-errors / T). Its overlap R with the teacher and the overlap
q of two students follow from the replica-symmetric ansatz. Entropies are in nats per weight, energies in errors per
weight. Where the entropy is negative, the student is frozen in a glass. It freezes on the line of zero entropy, up to T
= 0.365. Derivation: docs/glm/theory.md eqs. 41-46.

    >>> from localentropy.theory import gibbs
    >>> round(gibbs.learning(alpha=1.0, temperature=0.4).teacher_overlap, 6)
    0.465126
    >>> [round(line(0.4), 4) for line in (gibbs.spinodal, gibbs.zero_entropy, gibbs.equilibrium)]
    [1.7412, 1.6373, 1.4415]
    >>> round(gibbs.freezing_temperature(1.6), 6), round(gibbs.glass_ends(), 6)
    (0.304284, 1.666921)

At temperature 0 and at loads below `equilibrium(0)`, the student is a sample of the Bayes posterior, and q = R. Every
function raises DomainError for an argument out of range, and ConvergenceError, with the point and the residual, for a
solve that failed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from localentropy.errors import ConvergenceError
from localentropy.numerics.jets import variables
from localentropy.numerics.quadrature import gaussian_nodes
from localentropy.numerics.search import LARGEST_RESIDUAL, maximum, positive_root
from localentropy.quantities import ALPHA, TEMPERATURE
from localentropy.theory.energies import GibbsLoss
from localentropy.theory.model import Covariances

FIELDS = (1e-12, 10.0)
"""Range of the field R_hat that is searched. The spinodals are below 4."""
SCANNED = 60
"""Places on the branch among which an extremum or a sign is looked for, from a field of 0.1."""
SPACING = 0.05
"""Distance of neighbouring nodes of a weight's field, in t of `gaussian_nodes`."""
SMALLEST_SHARE = -12.0
"""Smallest ln(q_hat / R_hat) that is searched. It is 0 at temperature 0 and falls like -ln T."""
FURTHEST = 6.0
"""How far from the middle, in standard deviations, the nodes of a weight's field crowd at most."""
GLASS = (1.0, 4.0)
"""Fields on the teacher, R_hat, of states of zero entropy: the line from temperature 0 to the end of the glass."""
HOTTEST = 0.6
"""A temperature at which the entropy is positive at all fields of that range."""


@dataclass(frozen=True)
class Learning:
    """A student at a temperature: the metastable state up to its end, and the teacher itself beyond.

    Attributes:
        alpha: samples per weight.
        temperature: T, in training errors.
        teacher_overlap: R, overlap of a student with the teacher.
        overlap: q, the overlap of two students.
        entropy: nats per weight, 0 where the student is frozen.
        energy: training errors per weight.
        free_entropy: entropy less energy over temperature, nats per weight. It is 0 for the teacher, and -inf for a
            student with errors at temperature 0.
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

    It is the replica-symmetric state up to its spinodal, if its entropy is not negative. Otherwise it is the glass
    below the temperature of zero entropy, and the teacher itself above this temperature or beyond the end of the glass.
    Source: `glm`, slide on first-order transitions; docs/glm/theory.md eqs. 41-46.

    Args:
        alpha: samples per weight, in [1e-9, 1e9].
        temperature: T, in [0, 100].

    Returns:
        The state: overlap with the teacher, energy, entropy.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: a state was not found.

    Example:
        >>> from localentropy.theory import gibbs
        >>> round(gibbs.learning(alpha=1.0, temperature=0.4).teacher_overlap, 6)
        0.465126
    """
    alpha = ALPHA.require(alpha)
    temperature = TEMPERATURE.require(temperature)
    end, limit = _spinodal(temperature)
    if alpha <= limit:
        if alpha < limit:
            end = positive_root(lambda field: math.log(_state(field, temperature).alpha / alpha), FIELDS[0], end)
        state = _state(end, temperature)
        if state.entropy(temperature) >= 0.0:
            return _learning(alpha, temperature, state, state.entropy(temperature))
    if alpha > glass_ends() or temperature > (freezing := freezing_temperature(alpha)):
        return Learning(alpha, temperature, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return _learning(alpha, temperature, _state(_frozen_field(alpha), freezing), 0.0)


def _learning(alpha: float, temperature: float, state: _State, entropy: float) -> Learning:
    """A state as a student at a load and a temperature; raises ConvergenceError if it is not there."""
    residual = max(state.residual, abs(state.alpha / alpha - 1.0))
    if not residual < LARGEST_RESIDUAL:
        raise ConvergenceError("student", {"alpha": alpha, "temperature": temperature}, residual)
    cost = state.energy / temperature if temperature else math.inf if state.energy else 0.0
    return Learning(
        alpha, temperature, state.R, state.q, entropy, state.energy,
        entropy - cost, math.acos(state.R) / math.pi, residual,
    )  # fmt: skip


def spinodal(temperature: float) -> float:
    """Samples per weight up to which the metastable state exists in the replica-symmetric ansatz.

    Below T = 0.3303 the entropy is negative at this load, so the ansatz has no students there. The glass is then
    metastable beyond this load, up to `glass_ends`. At T = 0 it is the load at which message passing finds the teacher.

    Args:
        temperature: T, in [0, 100].

    Returns:
        alpha.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: a state was not found.

    Example:
        >>> from localentropy.theory import gibbs
        >>> round(gibbs.spinodal(0.4), 4)
        1.7412
    """
    return _spinodal(TEMPERATURE.require(temperature))[1]


def zero_entropy(temperature: float) -> float:
    """Samples per weight at which the entropy vanishes; infinite where it stays positive, above about T = 0.61.

    Up to the end of the glass (`glass_ends`), at T = 0.365, the line rises with the temperature. A student freezes on
    it, and `freezing_temperature` is the inverse function. Beyond, the line falls. It then belongs to the barrier
    between the glass and the teacher, and no student freezes on it.

    Args:
        temperature: T, in [0, 100].

    Returns:
        alpha.

    Raises:
        DomainError: an argument out of range.

    Example:
        >>> from localentropy.theory import gibbs
        >>> round(gibbs.zero_entropy(0.4), 4)
        1.6373
    """
    temperature = TEMPERATURE.require(temperature)
    R_hat = _frozen(temperature)
    return math.inf if R_hat is None else _state(R_hat, temperature).alpha


def freezing_temperature(alpha: float) -> float:
    """T_g, the temperature below which the metastable state is a glass. It is 0 at loads up to `equilibrium(0)`.

    Args:
        alpha: samples per weight, in [1e-9, glass_ends()].

    Returns:
        T_g.

    Raises:
        DomainError: an argument out of range.

    Example:
        >>> from localentropy.theory import gibbs
        >>> round(gibbs.freezing_temperature(1.6), 6)
        0.304284
    """
    alpha = ALPHA.within(high=glass_ends()).require(alpha)
    return 0.0 if alpha <= zero_entropy(0.0) else _freezing(_frozen_field(alpha))


def glass_ends() -> float:
    """Samples per weight up to which the metastable glass exists: the largest load at which the entropy vanishes.

    There the lowest energy at a fixed overlap with the teacher ceases to have a minimum (docs/glm/theory.md eq. 46).

    Returns:
        alpha.

    Example:
        >>> from localentropy.theory import gibbs
        >>> round(gibbs.glass_ends(), 6)
        1.666921
    """
    return _glass_end()[1]


def equilibrium(temperature: float) -> float:
    """Samples per weight above which the teacher has the larger free entropy; 1.2447 at temperature 0.

    Args:
        temperature: T, in [0, 100].

    Returns:
        alpha.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: a state was not found.

    Example:
        >>> from localentropy.theory import gibbs
        >>> round(gibbs.equilibrium(0.0), 4)
        1.2447
    """
    temperature = TEMPERATURE.require(temperature)
    end, limit = _spinodal(temperature)
    if _state(end, temperature).free_entropy > 0.0:
        return limit
    R_hat = positive_root(lambda field: -_state(field, temperature).free_entropy, FIELDS[0], end)
    return _state(R_hat, temperature).alpha


@lru_cache(maxsize=1)
def _glass_end() -> tuple[float, float]:
    """R_hat and alpha at the end of the line of frozen states."""
    return maximum(lambda field: _state(float(field), _freezing(float(field))).alpha, *GLASS)


@lru_cache(maxsize=256)
def _frozen_field(alpha: float) -> float:
    """R_hat of the glass at a load between those of temperature 0 and of its end."""
    start = _frozen(0.0)
    end, limit = _glass_end()
    assert start is not None
    if alpha >= limit:
        return end
    return positive_root(lambda field: _state(field, _freezing(field)).alpha - alpha, start, end)


@lru_cache(maxsize=1024)
def _freezing(R_hat: float) -> float:
    """The temperature at which the entropy of the state at a field vanishes; 0 if it is positive at temperature 0."""
    from scipy.optimize import brentq

    def entropy(temperature: float) -> float:
        return _state(R_hat, temperature).entropy(temperature)

    return 0.0 if entropy(0.0) >= 0.0 else float(brentq(entropy, 0.0, HOTTEST, xtol=1e-15, rtol=1e-14))


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
        pull, spread, _, _ = _pattern(*_site(math.exp(log_share) * R_hat, R_hat)[:3], temperature)
        return log_share - math.log(spread / pull)

    # At temperature 0, and to rounding at low ones, students and teacher are alike.
    log_share = 0.0 if mismatch(0.0) <= 0.0 else brentq(mismatch, SMALLEST_SHARE, 0.0, xtol=1e-14, rtol=1e-14)
    q_hat = math.exp(log_share) * R_hat
    R, v, c, q, log_cosh = _site(q_hat, R_hat)
    pull, spread, log_mean, wrong = _pattern(R, v, c, temperature)
    alpha = R_hat / pull
    free_entropy = log_cosh - 0.5 * q_hat * v - R_hat * R + alpha * log_mean
    return _State(alpha, R, q, free_entropy, alpha * wrong, abs(log_share - math.log(spread / pull)))


def _site(q_hat: float, R_hat: float) -> tuple[float, float, float, float, float]:
    """R, 1 - q, q - R^2, q and the mean of ln 2 cosh of a weight in the field sqrt(q_hat) z + R_hat (eq. 43)."""
    root = math.sqrt(q_hat)
    scale = max(root, 1.0)
    centre = -min(R_hat / root, FURTHEST) if root > 1.0 else 0.0
    z, weight = gaussian_nodes(scale, SPACING, centre)
    h = root * z + R_hat
    tanh, small = np.tanh(h), np.exp(-2.0 * np.abs(h))
    R, q = float(weight @ tanh), float(weight @ tanh**2)
    v = float(weight @ (4.0 * small / (1.0 + small) ** 2))
    return R, v, float(weight @ (tanh - R) ** 2), q, float(weight @ (np.abs(h) + np.log1p(small)))


def _pattern(R: float, v: float, c: float, temperature: float) -> tuple[float, float, float, float]:
    """Terms of a pattern, per sample: R_hat, q_hat, mean log of its Boltzmann factor, mean error (eqs. 42, 44)."""
    loss = GibbsLoss(temperature)
    C, V, r, log_beta = variables([c, v, R, loss.control])
    term = loss.term(Covariances(C, V, r), log_beta)
    by_C, by_V, by_R, by_log_beta = term.gradient.tolist()
    return by_R - 2.0 * R * by_C, 2.0 * (by_V - by_C), term.value, -temperature * by_log_beta
