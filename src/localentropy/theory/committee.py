"""Bayes-optimal learning of a committee machine: the sign of the sum of its units' signs (`glm`).

The fully connected committee has Gaussian weights of mean square 1. The sign of 0 is 0, so that two units have three
labels. Everything else is as in `localentropy.theory.bayes`. Derivation: docs/glm/theory.md section 2.

    >>> import math
    >>> from localentropy.theory import committee
    >>> round(committee.learning(8.0, units=math.inf, start="informed").specialization, 6)
    0.954036
    >>> round(committee.transitions(units=2).algorithmic, 6)
    2.052382
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from localentropy.arguments import require_choice, shown
from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.channels import Sign
from localentropy.numerics.priors import RATIOS, Gaussian
from localentropy.numerics.search import LARGEST_RESIDUAL, extremum, positive_root
from localentropy.quantities import ALPHA, ALPHA_OF_TWO_UNITS, OVERLAP_OF_TEACHER, UPDATES
from localentropy.theory import committee_channel
from localentropy.theory.bayes import STARTS, Transitions

SMALLEST_SPECIALIZATION = 1e-14
"""Smallest ln(1 + r_-) of two units."""
BRANCH = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
"""Values of ln(1 + r_-) at which the branch with specialization is found once, to about 1e-2, to start solves from."""
LARGEST_MANY_UNITS = 1e45
"""Largest q_d / (1 - q_d) that is searched, of infinitely many units."""


@dataclass(frozen=True)
class Committee:
    """A fixed point of state evolution for the committee machine.

    Attributes:
        alpha: samples per input; samples per weight for infinitely many units.
        units: K.
        mean_overlap: sum over b of q_ab, the overlap of a student's unit a with the teacher's unit b. It is 1 where the
            mean of the teacher's units is known.
        specialization: q_aa - q_ab, by how much more a unit overlaps with its own unit of the teacher than with
            another one.
        free_entropy: nats per input; nats per weight for infinitely many units.
        bayes_error: probability that the best guess of a new label is wrong.
        gibbs_error: the same for weights drawn from the posterior.
        label_error: mean squared error of the posterior mean of a new label, -1, 0 or 1.
        residual: relative error of alpha.
    """

    alpha: float
    units: float
    mean_overlap: float
    specialization: float
    free_entropy: float
    bayes_error: float
    gibbs_error: float
    label_error: float
    residual: float


class LeastSquares(NamedTuple):
    """Linear regression on the labels of two units.

    Attributes:
        overlap: squared cosine of its weights with the mean weights, as `mean_overlap` of the Bayes-optimal student.
        error: probability that the best guess of a new label from its output is wrong.
    """

    overlap: float
    error: float


def learning(alpha: float, units: float = 2, start: str = "uninformed") -> Committee:
    """A fixed point of state evolution.

    Source: `glm`, slides on hidden units; docs/glm/theory.md eqs. 15-22.

    Args:
        alpha: samples per input in [1e-9, 100] for two units. Samples per weight in [1e-9, 1e9] for infinitely many.
        units: K, 2 or math.inf.
        start: "uninformed" or "informed". For two units both give the same: specialization sets in continuously.

    Returns:
        The state: overlaps of the units with those of the teacher, and errors.

    Raises:
        DomainError: an argument out of range.
        ConvergenceError: the fixed point was not found.

    Example:
        >>> import math
        >>> from localentropy.theory import committee
        >>> round(committee.learning(8.0, units=math.inf, start="informed").specialization, 6)
        0.954036
    """
    informed = require_choice("start", start, STARTS) == "informed"
    if _two(units):
        return _two_units(ALPHA_OF_TWO_UNITS.require(alpha))
    alpha = ALPHA.require(alpha)
    smallest, spinodal = _many_units_spinodal()
    ratio, residual = 0.0, 0.0
    if informed and alpha >= spinodal:
        ratio = _place(_many_units_load, alpha, (smallest, LARGEST_MANY_UNITS))
        residual = abs(_many_units_load(ratio) / alpha - 1.0)
    pattern = _many_units_pattern(ratio)
    return Committee(
        alpha, math.inf, 1.0, ratio / (1.0 + ratio), _many_units_entropy(ratio, alpha), *Sign().errors(pattern),
        residual,
    )  # fmt: skip


def transitions(units: float = 2) -> Transitions:
    """The loads at which units begin to specialize.

    Source: docs/glm/theory.md eqs. 19, 22.

    Args:
        units: K, 2 or math.inf.

    Returns:
        The loads, in the units of alpha of `learning`.

    Raises:
        DomainError: another number of units.

    Example:
        >>> from localentropy.theory import committee
        >>> round(committee.transitions(units=2).algorithmic, 6)
        2.052382
    """
    if _two(units):
        specialization = _two_units_threshold()[1]
        return Transitions(0.0, specialization, specialization, specialization)
    return Transitions(0.0, _many_units_spinodal()[1], _many_units_equilibrium(), math.inf)


def least_squares(alpha: float) -> LeastSquares:
    """Linear regression on the labels of two units, with the best regularization, λ = π/2 − 1.

    For the sums over Gaussian inputs the label is z_+ / √π and noise of variance 1/2 − 1/π, where z_+ is the sum over
    the mean weights. Source: `glm`, slide "Specialisation transition"; docs/glm/theory.md eq. 19a.

    Args:
        alpha: samples per input, in [1e-9, 100].

    Returns:
        Its overlap and its error.

    Raises:
        DomainError: alpha out of range.

    Example:
        >>> from localentropy.theory import committee
        >>> best, linear = committee.learning(2.0), committee.least_squares(2.0)
        >>> round(best.bayes_error, 4), round(linear.error, 4)
        (0.3562, 0.3587)
    """
    alpha = ALPHA_OF_TWO_UNITS.require(alpha)
    signal = alpha / math.pi
    total = 0.5 + signal
    # The smaller root of m²/π − (1/2 + α/π) m + α/π = 0.
    overlap = 2.0 * signal / (total + math.sqrt(total**2 - 4.0 * signal / math.pi))
    return LeastSquares(overlap, committee_channel.bayes_error(overlap / (1.0 - overlap), 0.0))


def state_evolution(alpha: float, updates: int, specialization: float = 0.0) -> np.ndarray:
    """Specialization of infinitely many units after each update of approximate message passing.

    Source: docs/glm/theory.md eqs. 20, 21. No specialization stays none.

    Args:
        alpha: samples per weight, in [1e-9, 1e9].
        updates: how many, from 1 to 100 000.
        specialization: q_d before the first update, 0 <= q_d < 1.

    Returns:
        q_d, [updates].

    Raises:
        DomainError: an argument out of range.

    Example:
        >>> from localentropy.theory import committee
        >>> committee.state_evolution(8.0, updates=3, specialization=0.5).round(6).tolist()
        [0.48028, 0.454894, 0.421863]
    """
    alpha, updates = ALPHA.require(alpha), UPDATES.require(updates)
    specialization = OVERLAP_OF_TEACHER.called("specialization").require(specialization)
    ratio, ratios = specialization / (1.0 - specialization), []
    for _ in range(updates):
        ratio = min(alpha * (1.0 + ratio) * _many_units_information(ratio), RATIOS[1])
        ratios.append(ratio)
    return np.array([ratio / (1.0 + ratio) for ratio in ratios])


def _two(units: object) -> bool:
    """Whether there are two units, and not infinitely many."""
    if not isinstance(units, numbers.Real) or isinstance(units, bool) or units not in (2, math.inf):
        raise DomainError(f"units = {shown(units)} is out of range: allowed are 2, math.inf")
    return units == 2


def _many_units_pattern(ratio: float) -> float:
    """Q / (1 - Q) of the pre-activations, at q_d / (1 - q_d) (eq. 20)."""
    v = 1.0 / (1.0 + ratio)
    beyond = 2.0 / math.pi * (2.0 * math.asin(math.sqrt(0.5 * v)) - v)
    return (1.0 - beyond) / beyond


def _many_units_information(ratio: float) -> float:
    """(1 - q_d) times the derivative by q_d of twice the entropy of a label, at q_d / (1 - q_d)."""
    q, v = ratio / (1.0 + ratio), 1.0 / (1.0 + ratio)
    root = math.sqrt(v * (1.0 + q))
    slope = 2.0 / math.pi * q * q / (root * (1.0 + root))
    pattern = _many_units_pattern(ratio)
    return v * slope * (1.0 + pattern) * Sign().information(pattern)


def _many_units_load(ratio: float) -> float:
    """alpha at which q_d / (1 - q_d) > 0 is a fixed point (eq. 21)."""
    return ratio / ((1.0 + ratio) * _many_units_information(ratio))


def _many_units_entropy(ratio: float, alpha: float) -> float:
    """Free entropy, nats per weight (eq. 20)."""
    return Gaussian().site(ratio).entropy + alpha * Sign().entropy(_many_units_pattern(ratio))


@lru_cache(maxsize=1)
def _many_units_spinodal() -> tuple[float, float]:
    """q_d / (1 - q_d) and alpha where the specialized branch begins."""
    return extremum(_many_units_load, 0.1, 1e3, -1.0)


@lru_cache(maxsize=1)
def _many_units_equilibrium() -> float:
    """alpha at which the free entropies with and without specialization are the same."""

    def excess(ratio: float) -> float:
        alpha = _many_units_load(ratio)
        return _many_units_entropy(ratio, alpha) - _many_units_entropy(0.0, alpha)

    return _many_units_load(positive_root(excess, _many_units_spinodal()[0], 1e4))


@lru_cache(maxsize=1)
def _two_units_threshold() -> tuple[float, float]:
    """r_+ and alpha where q_- = 0 becomes unstable (eq. 19)."""

    def gain(r_plus: float) -> float:
        labels = committee_channel.labels(r_plus, 0.0)
        return r_plus * labels.stiffness() / labels.information()[0] - 1.0

    r_plus = positive_root(gain, 0.1, 100.0)
    return r_plus, _two_units_load(r_plus)


def _two_units_load(r_plus: float) -> float:
    """alpha at which r_+ is a fixed point without specialization."""
    return r_plus / committee_channel.labels(r_plus, 0.0).information()[0]


def _two_units(alpha: float) -> Committee:
    threshold, specialization = _two_units_threshold()
    if alpha <= specialization:
        r_plus, r_minus = _place(_two_units_load, alpha, (RATIOS[0], threshold)), 0.0
        residual = abs(_two_units_load(r_plus) / alpha - 1.0)
    else:
        r_plus, r_minus, residual = _specialized(alpha)
    labels = committee_channel.labels(r_plus, r_minus)
    sites = Gaussian().site(r_plus).entropy + Gaussian().site(r_minus).entropy
    return Committee(
        alpha, 2, r_plus / (1.0 + r_plus), r_minus / (1.0 + r_minus), sites + alpha * labels.entropy(),
        committee_channel.bayes_error(r_plus, r_minus), labels.gibbs_error(), labels.label_error(), residual,
    )  # fmt: skip


def _mismatch(x: np.ndarray, log_alpha: float) -> np.ndarray:
    """Logs of the ratios of the two sides of eq. 17 at x = ln r_+, ln(1 + r_-). The second is regular at r_- = 0."""
    r_plus, r_minus = math.exp(x[0]), math.expm1(max(x[1], SMALLEST_SPECIALIZATION))
    plus, minus = committee_channel.labels(r_plus, r_minus).information()
    return np.array([x[0] - math.log(plus), math.log(r_minus / minus)]) - log_alpha


@lru_cache(maxsize=1)
def _specialized_branch() -> np.ndarray:
    """ln alpha, ln r_+, ln(1 + r_-) at some places on the branch with specialization, one in each row."""
    from scipy.optimize import brentq

    threshold, specialization = _two_units_threshold()
    rows = [(math.log(specialization), math.log(threshold), 0.0)]
    for x_minus in BRANCH:

        def apart(x_plus: float, x_minus: float = x_minus) -> float:
            plus, minus = _mismatch(np.array([x_plus, x_minus]), 0.0)
            return float(plus - minus)

        x_plus = brentq(apart, rows[-1][1] - 0.5, rows[-1][1] + 2.0, xtol=1e-2)
        rows.append((float(_mismatch(np.array([x_plus, x_minus]), 0.0)[0]), x_plus, x_minus))
    return np.array(rows)


def _specialized(alpha: float) -> tuple[float, float, float]:
    """r_+, r_- and the residual of the fixed point with specialization."""
    from scipy.optimize import root

    branch, log_alpha = _specialized_branch(), math.log(alpha)
    start = [float(np.interp(log_alpha, branch[:, 0], column)) for column in branch[:, 1:].T]
    found = root(_mismatch, start, args=(log_alpha,), tol=1e-12)
    residual = float(np.max(np.abs(found.fun)))
    if not residual < LARGEST_RESIDUAL:
        raise ConvergenceError(
            "fixed point", {"alpha": alpha, "ln r_+": found.x[0], "ln(1 + r_-)": found.x[1]}, residual
        )
    return math.exp(found.x[0]), math.expm1(max(found.x[1], SMALLEST_SPECIALIZATION)), residual


def _place(load: Callable[[float], float], alpha: float, bounds: tuple[float, float]) -> float:
    """Place where the curve has a given alpha, on a part on which alpha rises; its end if alpha is not reached."""
    low, high = bounds
    if load(low) >= alpha:
        place = low
    elif load(high) <= alpha:
        place = high
    else:
        place = positive_root(lambda position: math.log(load(position) / alpha), low, high)
    residual = abs(load(place) / alpha - 1.0)
    if not residual < LARGEST_RESIDUAL:
        raise ConvergenceError("fixed point", {"alpha": alpha, "position": place}, residual)
    return place
