"""Bayes-optimal learning from a teacher: perceptron, phase retrieval, committee machine (`glm`).

n = alpha d inputs of d Gaussian components of variance 1/d. A teacher with weights of mean square 1 gives the labels. A
student who knows all but the weights computes their posterior mean, of overlap m with the teacher. Free entropies are
the mean log of the posterior's normalisation, in nats per weight. Derivation: docs/glm/theory.md.

    >>> import math
    >>> from localentropy.replica import bayes
    >>> bayes.perceptron(2.0).bayes_error
    >>> bayes.perceptron(1.3, prior="binary", start="informed").free_entropy
    >>> bayes.committee(8.0, units=math.inf, start="informed").specialization
    >>> bayes.transitions("binary_perceptron").algorithmic
    >>> bayes.free_entropy([0.2, 0.6, 0.999], alpha=1.3, prior="binary")

`start` chooses among the fixed points of state evolution: "uninformed" is what approximate message passing finds from
almost no overlap, "informed" is what it finds from the teacher. Where they differ, the one of the larger free entropy
is what the best student has. All fixed points lie on a curve alpha(m) that is known in closed form. So nothing is
iterated but the search for a place on it. Every function raises DomainError for an argument out of range, and
ConvergenceError, with the point and the residual, for a solve that failed.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from localentropy.arguments import (
    require_array,
    require_between,
    require_choice,
    require_fraction,
    require_integer,
    shown,
)
from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.quadrature import gaussian_nodes
from localentropy.numerics.search import maximum, positive_root
from localentropy.replica import channels, committee_channel
from localentropy.replica.ensemble import LOADS

PRIORS = ("gaussian", "binary")
STARTS = ("uninformed", "informed")
MODELS = ("binary_perceptron", "phase_retrieval", "committee_2", "committee_large")
MOST_UPDATES = 100_000
"""Of state evolution."""
LARGEST_TWO_UNITS = 100.0
"""Samples per input up to which the committee of two units is computed."""
RATIOS = (1e-14, 1e24)
"""Range of m / (1 - m) that is searched."""
SMALLEST_SPECIALIZATION = 1e-14
"""Smallest ln(1 + r_-) of two units."""
BRANCH = (0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
"""Values of ln(1 + r_-) at which the branch with specialization is found once, to about 1e-2, to start solves from."""
LARGEST_MANY_UNITS = 1e45
"""Largest q_d / (1 - q_d) that is searched, of infinitely many units."""
LARGEST_RESIDUAL = 1e-9
"""Relative error of alpha on the curve, from which a solve has failed."""
ENTROPY = {"sign": channels.sign_entropy, "absolute": channels.absolute_entropy}
LARGEST_FIELD = 100.0
"""Conjugate m_hat at which 1 - m of a binary weight is below 1e-20."""
WEAK_RECOVERY = 0.5
"""Of phase retrieval: alpha(m) at m = 0 (docs/glm/theory.md eq. 13)."""


@dataclass(frozen=True)
class Perceptron:
    """A fixed point of state evolution for the teacher's sign.

    Attributes:
        alpha: samples per input.
        overlap: m, of the posterior mean with the teacher, and of two samples of the posterior.
        mse: 1 - m, mean squared error of a weight.
        free_entropy: nats per weight.
        bayes_error: probability that the best guess of a new label is wrong.
        gibbs_error: the same for a weight vector drawn from the posterior.
        label_error: mean squared error of the posterior mean of a new label, twice the Gibbs error.
        residual: relative error of alpha.
    """

    alpha: float
    overlap: float
    mse: float
    free_entropy: float
    bayes_error: float
    gibbs_error: float
    label_error: float
    residual: float


@dataclass(frozen=True)
class PhaseRetrieval:
    """A fixed point of state evolution for the teacher's absolute value.

    Attributes:
        alpha: samples per input.
        overlap: m, of the posterior mean with the teacher, once the sign that no label tells is chosen.
        mse: 1 - m, mean squared error of a weight.
        free_entropy: differential, nats per weight; infinite where the teacher is recovered.
        label_error: mean squared error of the posterior mean of a new label.
        residual: relative error of alpha.
    """

    alpha: float
    overlap: float
    mse: float
    free_entropy: float
    label_error: float
    residual: float


@dataclass(frozen=True)
class Committee:
    """A fixed point of state evolution for the committee machine.

    Attributes:
        alpha: samples per input; samples per weight for infinitely many units.
        units: K.
        mean_overlap: overlap of the units' mean weights with the teacher's, in its own scale, q_ab summed over b.
        specialization: overlap of a unit with its own teacher's unit beyond that with another one, q_aa - q_ab.
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


@dataclass(frozen=True)
class Transitions:
    """Loads at which learning changes, in samples per input, or per weight for the large committee.

    The good phase is the recovery of the teacher, or for a committee the specialization of its units.

    Attributes:
        weak: above, an uninformed start reaches a positive overlap.
        spinodal: above, an informed start stays in the good phase.
        information_theoretic: above, the good phase has the largest free entropy.
        algorithmic: above, an uninformed start reaches the good phase.
    """

    weak: float
    spinodal: float
    information_theoretic: float
    algorithmic: float


def perceptron(alpha: float, prior: str = "gaussian", start: str = "uninformed") -> Perceptron:
    """The perceptron: labels are the signs of the teacher's pre-activations.

    Source: `glm`, slides on the spherical and the binary perceptron; docs/glm/theory.md eqs. 4-6, 10-12.

    Args:
        alpha: samples per input, in [1e-9, 1e9].
        prior: of the teacher's weights: "gaussian", or "binary", +1 or -1.
        start: "uninformed" or "informed". For Gaussian weights both give the same.
    """
    alpha = require_between("alpha", alpha, *LOADS)
    informed = require_choice("start", start, STARTS) == "informed"
    if require_choice("prior", prior, PRIORS) == "gaussian":
        r = _place(_gaussian_load, alpha, RATIOS)
        return _perceptron(alpha, r, _gaussian_sites(r), _gaussian_load(r))
    if informed or alpha > _binary_spinodal()[1]:
        return Perceptron(alpha, 1.0, 0.0, -math.log(2.0), 0.0, 0.0, 0.0, 0.0)
    r_hat = _place(_binary_load, alpha, (RATIOS[0], _binary_spinodal()[0]))
    return _perceptron(alpha, _binary_ratio(r_hat), _binary_sites(r_hat), _binary_load(r_hat))


def phase_retrieval(alpha: float, start: str = "uninformed") -> PhaseRetrieval:
    """Phase retrieval: labels are the absolute values of the pre-activations of a teacher with Gaussian weights.

    Source: `glm`, slides on phase retrieval; docs/glm/theory.md eqs. 4, 5, 8, 13, 14.

    Args:
        alpha: samples per input, in [1e-9, 1e9].
        start: "uninformed", from a small overlap, or "informed".
    """
    alpha = require_between("alpha", alpha, *LOADS)
    informed = require_choice("start", start, STARTS) == "informed"
    largest, algorithmic = _retrieval_spinodal()
    if alpha > algorithmic or (informed and alpha > 1.0):
        return PhaseRetrieval(alpha, 1.0, 0.0, math.inf, 0.0, 0.0)
    if alpha <= _retrieval_load(RATIOS[0]):
        return PhaseRetrieval(
            alpha, 0.0, 1.0, alpha * channels.absolute_entropy(0.0), channels.absolute_error(0.0), 0.0
        )
    r = _place(_retrieval_load, alpha, (RATIOS[0], largest))
    return PhaseRetrieval(
        alpha, r / (1.0 + r), 1.0 / (1.0 + r), _gaussian_sites(r) + alpha * channels.absolute_entropy(r),
        channels.absolute_error(r),
        abs(_retrieval_load(r) / alpha - 1.0),
    )  # fmt: skip


def state_evolution(
    alpha: float, updates: int, overlap: float = 0.0, prior: str = "gaussian", channel: str = "sign"
) -> np.ndarray:
    """Overlap after each update of approximate message passing, for many weights.

    Source: `glm`, slides on state evolution and on the computational gap; docs/glm/theory.md eqs. 4, 5, 20, 21. Its
    fixed points are those of `perceptron`, `phase_retrieval` and `committee` with infinitely many units. An overlap
    of 0 stays 0, except for the channel "sign".

    Args:
        alpha: samples per input, or per weight for the committee, in [1e-9, 1e9].
        updates: how many, from 1 to 100 000.
        overlap: m before the first update, 0 <= m < 1. For the committee it is the specialization q_d.
        prior: of the teacher's weights, "gaussian" or "binary".
        channel: what a label tells: the "sign" or "absolute" value of the pre-activation, or the sign of a "committee"
            of infinitely many units with Gaussian weights.

    Returns:
        m, [updates].
    """
    alpha, updates = require_between("alpha", alpha, *LOADS), require_integer("updates", updates, 1, MOST_UPDATES)
    require_fraction(overlap=overlap)
    gaussian = require_choice("prior", prior, PRIORS) == "gaussian"
    information = INFORMATION[require_choice("channel", channel, INFORMATION)]
    if channel == "committee" and not gaussian:
        raise DomainError(f"prior = {prior!r} is not known for channel = 'committee': allowed is 'gaussian'")
    overlap = float(overlap)
    r, ratios = overlap / (1.0 - overlap), []
    for _ in range(updates):
        m_hat = alpha * (1.0 + r) * information(r)
        # Beyond this, recovery is complete in double precision, and the integrals of a larger one overflow.
        r = min(m_hat, RATIOS[1]) if gaussian else _binary_ratio(min(m_hat, LARGEST_FIELD))
        ratios.append(r)
    return np.array([r / (1.0 + r) for r in ratios])


def free_entropy(
    overlap: float | Sequence[float] | np.ndarray, alpha: float, prior: str = "gaussian", channel: str = "sign"
) -> np.ndarray:
    """Free entropy at any overlap, nats per weight: its maxima are the states of `perceptron` and `phase_retrieval`.

    Source: `glm`, slide "bottom line"; docs/glm/theory.md eq. 3: the smallest value over the conjugate m_hat.

    Args:
        overlap: m, or several, 0 <= m < 1.
        alpha: samples per input, in [1e-9, 1e9].
        prior: of the teacher's weights, "gaussian" or "binary".
        channel: what a label tells of the pre-activation, "sign" or "absolute" value.

    Returns:
        f, of the shape of `overlap`.
    """
    overlap = require_array("overlap", overlap, -math.inf, math.inf)
    for m in overlap.flat:
        require_fraction(overlap=m)
    alpha = require_between("alpha", alpha, *LOADS)
    sites = SITES[require_choice("prior", prior, PRIORS)]
    pattern = ENTROPY[require_choice("channel", channel, ENTROPY)]
    ratios = overlap / (1.0 - overlap)
    values = [sites(r) + alpha * pattern(r) for r in ratios.flat]
    return np.array(values).reshape(ratios.shape)


def committee(alpha: float, units: float = 2, start: str = "uninformed") -> Committee:
    """The fully connected committee machine with Gaussian weights: the sign of the sum of its units' signs.

    The sign of 0 is 0, so that two units have three labels. Source: `glm`, slides on hidden units; docs/glm/theory.md
    eqs. 15-22.

    Args:
        alpha: samples per input in [1e-9, 100] for two units. Samples per weight in [1e-9, 1e9] for infinitely many.
        units: K, 2 or math.inf.
        start: "uninformed" or "informed". For two units both give the same: specialization sets in continuously.
    """
    informed = require_choice("start", start, STARTS) == "informed"
    if not isinstance(units, numbers.Real) or isinstance(units, bool) or units not in (2, math.inf):
        raise DomainError(f"units = {shown(units)} is out of range: allowed are 2, math.inf")
    if units == 2:
        return _two_units(require_between("alpha", alpha, LOADS[0], LARGEST_TWO_UNITS))
    alpha = require_between("alpha", alpha, *LOADS)
    smallest, spinodal = _many_units_spinodal()
    ratio, residual = 0.0, 0.0
    if informed and alpha >= spinodal:
        ratio = _place(_many_units_load, alpha, (smallest, LARGEST_MANY_UNITS))
        residual = abs(_many_units_load(ratio) / alpha - 1.0)
    pattern = _many_units_pattern(ratio)
    bayes_error, gibbs_error = _sign_errors(pattern)
    return Committee(
        alpha, math.inf, 1.0, ratio / (1.0 + ratio), _many_units_entropy(ratio, alpha), bayes_error, gibbs_error,
        2.0 * gibbs_error, residual,
    )  # fmt: skip


def transitions(model: str) -> Transitions:
    """The transitions of a model with a discontinuous one or a specialization.

    Source: docs/glm/theory.md eqs. 11-14, 19, 22.

    Args:
        model: "binary_perceptron", "phase_retrieval", "committee_2" or "committee_large".
    """
    model = require_choice("model", model, MODELS)
    if model == "binary_perceptron":
        return Transitions(0.0, 0.0, _binary_equilibrium(), _binary_spinodal()[1])
    if model == "phase_retrieval":
        return Transitions(WEAK_RECOVERY, 1.0, 1.0, _retrieval_spinodal()[1])
    if model == "committee_2":
        specialization = _two_units_threshold()[1]
        return Transitions(0.0, specialization, specialization, specialization)
    return Transitions(0.0, _many_units_spinodal()[1], _many_units_equilibrium(), math.inf)


def _perceptron(alpha: float, r: float, site: float, load: float) -> Perceptron:
    bayes_error, gibbs_error = _sign_errors(r)
    return Perceptron(
        alpha, r / (1.0 + r), 1.0 / (1.0 + r), site + alpha * channels.sign_entropy(r), bayes_error, gibbs_error,
        2.0 * gibbs_error, abs(load / alpha - 1.0),
    )  # fmt: skip


def _sign_errors(r: float) -> tuple[float, float]:
    """Of the best guess and of a sample, arccos(sqrt m) / pi and arccos(m) / pi, without cancellation (eq. 10)."""
    return math.atan2(1.0, math.sqrt(r)) / math.pi, 2.0 * math.asin(math.sqrt(0.5 / (1.0 + r))) / math.pi


def _gaussian_sites(r: float) -> float:
    """Free entropy of a Gaussian weight less m m_hat / 2 (eq. 4), with its conjugate m_hat = r."""
    return 0.5 * (r / (1.0 + r) - math.log1p(r))


def _gaussian_load(r: float) -> float:
    """alpha at which r is a fixed point for Gaussian weights and signs (eq. 5)."""
    return r / ((1.0 + r) * channels.sign_information(r))


def _retrieval_load(r: float) -> float:
    """The same for absolute values."""
    return r / ((1.0 + r) * channels.absolute_information(r))


def _binary_load(m_hat: float) -> float:
    """alpha at which the conjugate m_hat is a fixed point for binary weights and signs (eq. 5)."""
    r = _binary_ratio(m_hat)
    return m_hat / ((1.0 + r) * channels.sign_information(r))


def _binary_means(m_hat: float) -> tuple[float, float, float]:
    """Of a binary weight in its field h: m, 1 - m, and the mean entropy, without cancellation (eq. 4).

    The field sqrt(m_hat) u + m_hat with a Gaussian u is sqrt(m_hat) u with the weight exp(-m_hat / 2) cosh.
    """
    root = math.sqrt(m_hat)
    u, weight = gaussian_nodes(max(root, 1.0))
    x = np.abs(root * u)
    small = np.exp(-2.0 * x)
    weight = weight * np.exp(x - 0.5 * m_hat)
    v = float(2.0 * weight @ (small / (1.0 + small)))  # 1 / cosh
    # sinh^2 / cosh: in a strong field beyond the range of the nodes.
    m = float(0.5 * weight @ ((1.0 - small) ** 2 / (1.0 + small))) if v > 0.5 else 1.0 - v
    entropy = np.log1p(small) + 2.0 * x * small / (1.0 + small)  # ln 2 cosh h - h tanh h
    return m, v, float(0.5 * weight @ ((1.0 + small) * entropy))


def _binary_ratio(m_hat: float) -> float:
    m, v, _ = _binary_means(m_hat)
    return m / v


def _binary_sites(m_hat: float) -> float:
    """Free entropy of a binary weight less m m_hat / 2 (eq. 4). The mean of h tanh h is m_hat."""
    _, v, entropy = _binary_means(m_hat)
    return entropy - math.log(2.0) + 0.5 * m_hat * v


def _binary_sites_at(r: float) -> float:
    """The same at an overlap, by the ratio r = m / (1 - m)."""
    if r <= 2.0 * RATIOS[0]:
        return 0.0  # to rounding
    return _binary_sites(positive_root(lambda m_hat: _binary_ratio(m_hat) - r, RATIOS[0], LARGEST_FIELD))


SITES = {"gaussian": _gaussian_sites, "binary": _binary_sites_at}


@lru_cache(maxsize=1)
def _binary_spinodal() -> tuple[float, float]:
    """m_hat and alpha where the uninformed branch ends."""
    return _extremum(_binary_load, 1e-2, 30.0, 1.0)


@lru_cache(maxsize=1)
def _binary_equilibrium() -> float:
    """alpha at which the free entropy of the uninformed branch is that of the teacher alone, -ln 2."""

    def excess(m_hat: float) -> float:
        alpha = _binary_load(m_hat)
        return _binary_sites(m_hat) + alpha * channels.sign_entropy(_binary_ratio(m_hat)) + math.log(2.0)

    return _binary_load(positive_root(excess, 1e-2, _binary_spinodal()[0]))


@lru_cache(maxsize=1)
def _retrieval_spinodal() -> tuple[float, float]:
    """r and alpha where the uninformed branch ends."""
    return _extremum(_retrieval_load, 1e-1, 1e3, 1.0)


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
    return v * slope * (1.0 + pattern) * channels.sign_information(pattern)


def _many_units_load(ratio: float) -> float:
    """alpha at which q_d / (1 - q_d) > 0 is a fixed point (eq. 21)."""
    return ratio / ((1.0 + ratio) * _many_units_information(ratio))


def _many_units_entropy(ratio: float, alpha: float) -> float:
    """Free entropy, nats per weight (eq. 20)."""
    return _gaussian_sites(ratio) + alpha * channels.sign_entropy(_many_units_pattern(ratio))


@lru_cache(maxsize=1)
def _many_units_spinodal() -> tuple[float, float]:
    """q_d / (1 - q_d) and alpha where the specialized branch begins."""
    return _extremum(_many_units_load, 0.1, 1e3, -1.0)


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
    sites = _gaussian_sites(r_plus) + _gaussian_sites(r_minus)
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
    """Where the curve has a given alpha, on a part of it on which alpha rises. At an end where alpha is not reached."""
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


def _extremum(load: Callable[[float], float], low: float, high: float, sign: float) -> tuple[float, float]:
    """Place and value of the maximum (sign 1) or minimum (sign -1) of alpha on a curve."""
    place, value = maximum(lambda y: sign * load(math.exp(y)), math.log(low), math.log(high))
    return math.exp(place), sign * value


INFORMATION = {
    "sign": channels.sign_information,
    "absolute": channels.absolute_information,
    "committee": _many_units_information,
}
