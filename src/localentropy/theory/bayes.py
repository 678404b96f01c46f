"""Bayes-optimal learning from a teacher with any prior of its weights and any channel of its labels (`glm`).

n = alpha d samples of d Gaussian inputs of variance 1/d. A teacher with weights of mean square 1 gives the labels. A
student who knows all but the weights computes their posterior mean, of overlap m with the teacher. Free entropies are
the mean log of the posterior's normalisation, in nats per weight. Derivation: docs/glm/theory.md section 1.

    >>> from localentropy.numerics.channels import Door, Linear
    >>> from localentropy.numerics.priors import GaussBernoulli
    >>> from localentropy.theory import bayes
    >>> round(bayes.learning(2.0).bayes_error, 6)  # Gaussian weights, signs
    0.174534
    >>> round(bayes.learning(1.3, prior="binary", start="informed").free_entropy, 6)
    -0.693147
    >>> round(bayes.transitions("binary", "sign").algorithmic, 6)
    1.492632
    >>> round(bayes.transitions("gaussian", Door(0.67)).weak, 6)
    1.370411
    >>> round(bayes.learning(0.6, GaussBernoulli(0.1), Linear(noise=0.01)).mse, 6)
    0.003152
    >>> bayes.free_entropy([0.2, 0.6, 0.999], alpha=1.3, prior="binary").round(6).tolist()
    [-0.823932, -0.722499, -0.716015]

`start` chooses among the fixed points of state evolution: "uninformed" is what approximate message passing finds from
almost no overlap, "informed" is what it finds from the teacher. Where they differ, the one of the larger free entropy
is what the best student has. All fixed points lie on a curve alpha(m) that is known from averages over one field and
one pattern. So nothing is iterated but the search for a place on it. Every function raises DomainError for an argument
out of range, and ConvergenceError, with the point and the residual, for a solve that failed.

The prior is "gaussian", "binary" or a value of `localentropy.numerics.priors`. The channel is "sign", "absolute",
"relu" or a value of `localentropy.numerics.channels`. The committee machine is `localentropy.theory.committee`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from localentropy.arguments import require_choice
from localentropy.errors import ConvergenceError
from localentropy.numerics.channels import Channel, Errors, as_channel
from localentropy.numerics.priors import RATIOS, Prior, as_prior
from localentropy.numerics.search import LARGEST_RESIDUAL, extremum, positive_root
from localentropy.quantities import ALPHA, OVERLAP_OF_TEACHER, UPDATES

STARTS = ("uninformed", "informed")
GRID = (1e-4, 1e6)
"""Conjugates m_hat between which the curve may turn."""
FINE, COARSE = 0.1, 1.0
"""Steps in ln m_hat of the places at which the curve is computed once, between these ends and beyond."""
TURN = 1e-9
"""Smallest relative height of a maximum of the curve above its neighbours on the grid."""


@dataclass(frozen=True)
class State:
    """A fixed point of state evolution.

    Attributes:
        alpha: samples per input.
        overlap: m, of the posterior mean with the teacher, and of two samples of the posterior. For an even channel it
            is the overlap once the sign that no label tells is chosen.
        mse: 1 - m, mean squared error of a weight.
        free_entropy: nats per weight; differential, and infinite where the teacher is recovered, if labels are of a
            continuum.
        bayes_error: probability that the best guess of a new label is wrong; NaN for labels of a continuum.
        gibbs_error: the same for a weight vector drawn from the posterior.
        label_error: mean squared error of the posterior mean of a new label.
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
class Transitions:
    """Loads at which learning changes, in samples per input, or per weight for the large committee.

    The good phase is the recovery of the teacher. Where no finite load recovers it, it is the state beyond a jump of
    the overlap, or for a committee the specialization of its units.

    Attributes:
        weak: above, an uninformed start reaches a positive overlap.
        spinodal: above, an informed start stays in the good phase; infinite where there is none, as are the next two.
        information_theoretic: above, the good phase has the largest free entropy.
        algorithmic: above, an uninformed start reaches the good phase.
    """

    weak: float
    spinodal: float
    information_theoretic: float
    algorithmic: float


def learning(
    alpha: float, prior: str | Prior = "gaussian", channel: str | Channel = "sign", start: str = "uninformed"
) -> State:
    """What the best student has learned, or what message passing finds.

    Source: `glm`, slides on the spherical and the binary perceptron and on phase retrieval; docs/glm/theory.md eqs.
    3-14.

    Args:
        alpha: samples per input, in [1e-9, 1e9].
        prior: of the teacher's weights.
        channel: what a label tells of the pre-activation.
        start: "uninformed" or "informed".

    Returns:
        The state: overlaps, free entropy and errors.

    Raises:
        DomainError: an argument out of range. For a mixture of weights the range of loads may end before 1e9.
        ConvergenceError: the fixed point was not found.

    Example:
        >>> from localentropy.theory import bayes
        >>> round(bayes.learning(2.0).bayes_error, 6)
        0.174534
    """
    alpha = ALPHA.require(alpha)
    informed = require_choice("start", start, STARTS) == "informed"
    return _curve(as_prior(prior), as_channel(channel)).state(alpha, informed)


def state_evolution(
    alpha: float,
    updates: int,
    overlap: float = 0.0,
    prior: str | Prior = "gaussian",
    channel: str | Channel = "sign",
) -> np.ndarray:
    """Overlap after each update of approximate message passing, for many weights.

    Source: `glm`, slides on state evolution and on the computational gap; docs/glm/theory.md eqs. 4, 5. Its fixed
    points are those of `learning`. An overlap of 0 stays 0 for an even channel.

    Args:
        alpha: samples per input, in [1e-9, 1e9].
        updates: how many, from 1 to 100 000.
        overlap: m before the first update, 0 <= m < 1.
        prior: of the teacher's weights.
        channel: what a label tells of the pre-activation.

    Returns:
        m, [updates].

    Raises:
        DomainError: an argument out of range.

    Example:
        >>> from localentropy.theory import bayes
        >>> bayes.state_evolution(2.0, updates=3).round(6).tolist()
        [0.560099, 0.673681, 0.708465]
    """
    alpha, updates = ALPHA.require(alpha), UPDATES.require(updates)
    overlap = OVERLAP_OF_TEACHER.require(overlap)
    weights, labels = as_prior(prior), as_channel(channel)
    r, ratios = overlap / (1.0 - overlap), []
    for _ in range(updates):
        # Beyond the strongest, recovery is complete in double precision.
        m_hat = min(alpha * (1.0 + r) * labels.information(r), weights.strongest)
        r = min(weights.site(m_hat).ratio, RATIOS[1]) if m_hat > 0.0 else 0.0
        ratios.append(r)
    return np.array([r / (1.0 + r) for r in ratios])


def free_entropy(
    overlap: float | Sequence[float] | np.ndarray,
    alpha: float,
    prior: str | Prior = "gaussian",
    channel: str | Channel = "sign",
) -> np.ndarray:
    """Free entropy at any overlap, nats per weight: its maxima are the states of `learning`.

    Source: `glm`, slide "bottom line"; docs/glm/theory.md eq. 3: the smallest value over the conjugate m_hat.

    Args:
        overlap: m, or several, 0 <= m < 1.
        alpha: samples per input, in [1e-9, 1e9].
        prior: of the teacher's weights.
        channel: what a label tells of the pre-activation.

    Returns:
        f, of the shape of `overlap`.

    Raises:
        DomainError: an argument out of range.

    Example:
        >>> from localentropy.theory import bayes
        >>> bayes.free_entropy([0.2, 0.6], alpha=1.3, prior="binary").round(6).tolist()
        [-0.823932, -0.722499]
    """
    overlap = OVERLAP_OF_TEACHER.require_all(overlap)
    alpha = ALPHA.require(alpha)
    weights, labels = as_prior(prior), as_channel(channel)
    values = []
    for r in (overlap / (1.0 - overlap)).flat:
        m_hat = weights.conjugate(r)
        values.append((weights.site(m_hat).entropy if m_hat > 0.0 else 0.0) + alpha * labels.entropy(r))
    return np.array(values).reshape(overlap.shape)


def transitions(prior: str | Prior, channel: str | Channel) -> Transitions:
    """The loads at which learning changes.

    Source: docs/glm/theory.md eqs. 11-14.

    Args:
        prior: of the teacher's weights.
        channel: what a label tells of the pre-activation.

    Returns:
        The loads.

    Raises:
        DomainError: an unknown prior or channel.
        ConvergenceError: a transition was not found.

    Example:
        >>> from localentropy.theory import bayes
        >>> round(bayes.transitions("binary", "sign").algorithmic, 6)
        1.492632
    """
    return _curve(as_prior(prior), as_channel(channel)).transitions


class _Curve:
    """The fixed points of a prior and a channel: alpha as a function of m_hat (docs/glm/theory.md eq. 5)."""

    def __init__(self, prior: Prior, channel: Channel) -> None:
        self._prior, self._channel = prior, channel
        self._known = Errors(0.0, 0.0, 0.0) if not channel.noisy else channel.errors(RATIOS[1])

    def load(self, m_hat: float) -> float:
        """alpha at which m_hat is a fixed point."""
        r = self._prior.site(m_hat).ratio
        return m_hat / ((1.0 + r) * self._channel.information(r))

    @cached_property
    def end(self) -> float:
        """alpha at m = 1, above which the teacher itself is a stable fixed point."""
        if self._channel.noisy:
            return math.inf
        if self._prior.dimension == 0.0:
            return 0.0
        return self._prior.dimension / self._channel.limit if self._channel.limit > 0.0 else math.inf

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray, list[int], list[int]]:
        """m_hat and alpha at a few hundred places, the maxima and minima among them, and where these are."""
        low, high = RATIOS[0], self._prior.strongest
        ends = [low, *(end for end in GRID if low < end < high), high]
        steps = [FINE if GRID[0] <= end < GRID[1] else COARSE for end in ends]
        parts = [
            np.geomspace(a, b, 2 + int(math.log(b / a) / step))
            for (a, b), step in zip(pairwise(ends), steps, strict=False)
        ]
        grid = np.unique(np.concatenate(parts))
        alpha = np.array([self.load(m_hat) for m_hat in grid.tolist()])
        maxima, minima = (self._turns(grid, alpha, sign) for sign in (1.0, -1.0))
        turns = np.array([*maxima, *minima])
        m_hat = np.append(grid, turns)
        order = np.argsort(m_hat)
        alpha = np.append(alpha, [self.load(place) for place in turns.tolist()])[order]
        m_hat = m_hat[order]
        return m_hat, alpha, np.searchsorted(m_hat, maxima).tolist(), np.searchsorted(m_hat, minima).tolist()

    def _turns(self, m_hat: np.ndarray, alpha: np.ndarray, sign: float) -> list[float]:
        """Places of the maxima (sign 1) or minima (sign -1) of alpha."""
        values = sign * alpha
        around = np.maximum(values[:-2], values[2:])
        tops = 1 + np.flatnonzero(values[1:-1] > around + TURN * np.abs(around))
        return [extremum(self.load, m_hat[i - 1], m_hat[i + 1], sign)[0] for i in tops.tolist()]

    def state(self, alpha: float, informed: bool) -> State:
        """Where state evolution stops: upwards at the first place with a larger alpha, or downwards at a smaller."""
        from scipy.optimize import brentq

        m_hat, loads, _, _ = self.places
        if alpha <= self._channel.weak and not informed:
            return self._state(alpha, 0.0)
        if informed:
            if alpha > self.end:
                return self._recovered(alpha)
            below = np.flatnonzero(loads <= alpha)
            at = int(below[-1]) + 1 if len(below) else 0
        else:
            above = np.flatnonzero(loads >= alpha)
            at = int(above[0]) if len(above) else len(loads)
            if at == len(loads) and alpha > self.end:
                return self._recovered(alpha)
        if at == 0 and self._channel.even:
            return self._state(alpha, 0.0)
        if at == len(loads) and self._prior.dimension == 0.0:
            return self._recovered(alpha)
        if alpha > loads.max() * (1.0 + LARGEST_RESIDUAL):
            ALPHA.within(high=float(loads.max())).require(alpha)  # beyond it 1 - m is lost to rounding
        low, high = np.log([m_hat[max(at - 1, 0)], m_hat[min(at, len(loads) - 1)]]).tolist()

        def excess(y: float) -> float:
            return math.log(self.load(math.exp(y)) / alpha)

        # The stored loads may differ from these in the last digit.
        if not excess(low) < 0.0 < excess(high):
            return self._state(alpha, math.exp(low if excess(low) >= 0.0 else high))
        return self._state(alpha, math.exp(brentq(excess, low, high, xtol=1e-13, rtol=1e-15)))

    def _state(self, alpha: float, m_hat: float) -> State:
        if m_hat == 0.0:
            return State(alpha, 0.0, 1.0, alpha * self._channel.entropy(0.0), *self._channel.errors(0.0), 0.0)
        site = self._prior.site(m_hat)
        r = site.ratio
        residual = abs(m_hat / ((1.0 + r) * self._channel.information(r)) / alpha - 1.0)
        if not residual < LARGEST_RESIDUAL:
            raise ConvergenceError("fixed point", {"alpha": alpha, "m_hat": m_hat}, residual)
        return State(
            alpha, r / (1.0 + r), 1.0 / (1.0 + r), site.entropy + alpha * self._channel.entropy(r),
            *self._channel.errors(r), residual,
        )  # fmt: skip

    def _recovered(self, alpha: float) -> State:
        """The teacher itself."""
        if self._channel.limit > 0.0:
            free_entropy = math.inf
        else:
            free_entropy = self._prior.site(self._prior.strongest).entropy
            free_entropy += alpha * self._channel.entropy(RATIOS[1]) if self._channel.noisy else 0.0
        return State(alpha, 1.0, 0.0, free_entropy, *self._known, 0.0)

    @cached_property
    def transitions(self) -> Transitions:
        """From the turns of the curve and its end."""
        _, loads, maxima, minima = self.places
        if math.isfinite(self.end):
            algorithmic = max(self.end, self._channel.weak, *(float(loads[i]) for i in maxima))
            equilibrium = self.end
            if self._prior.dimension == 0.0 and self._channel.limit == 0.0:
                equilibrium = self._equilibrium(self.end, algorithmic)
            return Transitions(self._channel.weak, self.end, equilibrium, algorithmic)
        jumps = [(float(loads[i]), float(loads[j])) for i in maxima for j in minima if j > i]
        if not jumps:
            return Transitions(self._channel.weak, math.inf, math.inf, math.inf)
        algorithmic = max(top for top, _ in jumps)
        spinodal = min(bottom for top, bottom in jumps if top == algorithmic)
        return Transitions(self._channel.weak, spinodal, self._equilibrium(spinodal, algorithmic), algorithmic)

    def _equilibrium(self, low: float, high: float) -> float:
        """alpha at which both starts have the same free entropy."""

        def excess(alpha: float) -> float:
            return self.state(alpha, True).free_entropy - self.state(alpha, False).free_entropy

        return positive_root(excess, max(low * (1.0 + 1e-9), ALPHA.low), high * (1.0 - 1e-9))


@lru_cache(maxsize=64)
def _curve(prior: Prior, channel: Channel) -> _Curve:
    return _Curve(prior, channel)
