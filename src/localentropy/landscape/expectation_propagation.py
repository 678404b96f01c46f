"""Local entropy of committee machines by expectation propagation (EP), on patterns of any correlations.

Message passing takes the inputs as independent. EP keeps the whole covariance of the weights of a unit, which
correlated patterns need.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular

from localentropy.landscape.expectation_kernels import majority_derivatives
from localentropy.numerics.waiting import counted
from localentropy.solvers.committee.focusing_kernels import steepest_mean

_NORM_TOLERANCE = 1e-8  # relative; the entropy is stationary in the multiplier, so this costs it about 1e-16
_MULTIPLIER_STEPS = 100
_DEPTH = 10  # updates that are combined
_COLLINEAR = 1e-6  # relative; gaps nearer to each other than this count as one

_State = tuple[np.ndarray, np.ndarray, np.ndarray]


def expectation_propagation(
    patterns: np.ndarray,
    reference: np.ndarray,
    distances: np.ndarray,
    damping: float,
    max_iterations: int,
    tolerance: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Entropy of the weights without errors at given distances from a reference.

    Every unit has squared norm n and the overlap S = 1 − 2D with its reference. The overlap is exact: weights move in
    the space orthogonal to the reference. The squared norm has the right mean. Points are solved from the smallest
    distance outwards, each starting from the last one that converged. Each update is combined with those before it so
    that alternating ones cancel. Where they diverge the point starts again without factors, with half the share of new
    ones.

    Source: `shaping`, figure 6; docs/shaping/theory.md eqs. E.1 to E.8, which also says how good the approximation is.

    Args:
        patterns: what each unit sees, times the label, ±1, [K, P, n], K odd. It may be a broadcast view.
        reference: w̃, each unit of squared norm n, [K, n].
        distances: D, each in (0, 1), [points].
        damping: share of the old factors kept in an update, in [0, 1).
        max_iterations: most updates for each distance.
        tolerance: EP puts a Gaussian factor in the place of each pattern. A point has converged when the mean of every
            pre-activation with this factor differs from the mean with the pattern itself by at most `tolerance`
            standard deviations, and its variance by at most this part of it. The error of the entropy is of second
            order in the tolerance.

    Returns:
        For each distance, in the order of the argument: the entropy, nats per weight, 0 without patterns, NaN where EP
        did not converge; whether it converged; the residual that the tolerance bounds; the number of updates. A point
        does not converge either where the probabilities of a pattern underflow. That needs most units far on the wrong
        side, which does not happen around a reference without errors.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.committee import random_full_committee
        >>> from localentropy.landscape.expectation_propagation import expectation_propagation
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> machine = random_full_committee(N=21, P=10, K=3, seed=0)
        >>> reference = committee_least_action(machine, seed=0).weights * 21**0.5
        >>> found = expectation_propagation(machine.unit_inputs, reference, np.array([0.01, 0.1]), 0.3, 1000, 1e-6)
        >>> found[0].round(3).tolist(), found[1].tolist()
        ([-0.05, -0.075], [True, True])
    """
    factors = _Factors(patterns, reference)
    entropy, residual = np.full(len(distances), np.nan), np.full(len(distances), np.inf)
    iterations = np.zeros(len(distances), dtype=int)
    for point in counted(np.argsort(distances).tolist(), "expectation_propagation"):
        start, kept, value = factors.state, damping, math.nan
        factors.restart(kept)
        while residual[point] > tolerance and iterations[point] < max_iterations:
            value, residual[point] = factors.update(distances[point])
            iterations[point] += 1
            if math.isinf(residual[point]):
                kept = 0.5 * (1.0 + kept)
                factors.restart(kept, factors.none)
        if residual[point] <= tolerance:
            entropy[point] = value
        else:
            factors.state = start
    return entropy, np.isfinite(entropy), residual, iterations


class _Unit:
    """The patterns as one unit sees them, in the span of their parts orthogonal to its reference.

    Attributes:
        own: pre-activations of the reference, x̃ = X w̃, [P].
        span: L with L Lᵀ = X⊥ X⊥ᵀ, [P, r].
        dimensions: n − 1.
        hollow: dimensions that no pattern sees, n − 1 − r.
    """

    def __init__(self, patterns: np.ndarray, reference: np.ndarray) -> None:
        P, n = patterns.shape
        inputs = patterns / math.sqrt(n)
        self.own = inputs @ reference
        # A reflection that turns the reference into the first axis. The others are orthogonal to it.
        normal = reference / math.sqrt(n)
        normal[0] += math.copysign(1.0, normal[0])
        inputs -= np.outer(inputs @ normal, normal / abs(normal[0]))
        self.dimensions = n - 1
        # With fewer patterns than dimensions the span is smaller than the space.
        thin = qr(inputs[:, 1:].T, mode="r", check_finite=False)[0][:P].T if n - 1 > P else inputs[:, 1:]
        self.span = np.ascontiguousarray(thin)
        self.hollow = self.dimensions - self.span.shape[1]

    def posterior(
        self, precisions: np.ndarray, fields: np.ndarray, multiplier: float, square: float
    ) -> tuple[float, np.ndarray, np.ndarray, float] | None:
        """The Gaussian of the weights and the multiplier of its norm (docs/shaping/theory.md eqs. E.3, E.4).

        Args:
            precisions: τ of the factors exp(−τ y²/2 + ν y) of y = X⊥ u, of any sign, [P].
            fields: ν, [P].
            multiplier: ρ to start from.
            square: mean of u², n (1 − S²).

        Returns:
            ρ; mean and variance of y, [P]; ln of the mean of the factors' product over the free weights. None if there
            is no Gaussian of this norm.
        """
        rank = self.span.shape[1]
        curvature = self._products(precisions, precisions > 0.0) - self._products(-precisions, precisions < 0.0)
        pull = fields @ self.span
        free = self.dimensions / square
        low, high = 0.0 if self.hollow > 0 else -math.inf, math.inf
        for _ in range(_MULTIPLIER_STEPS):
            matrix = curvature.copy()
            matrix.flat[:: rank + 1] += multiplier
            root, failed = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
            if failed:
                low = multiplier
                multiplier = 0.5 * (low + high) if high < math.inf else low + max(abs(low), free)
                continue
            inverse = np.tril(lapack.dpotri(root, lower=1)[0])
            diagonal = np.diag(inverse)
            mean = lapack.dpotrs(root, pull, lower=1)[0]
            norm = mean @ mean + diagonal.sum() + self.hollow / multiplier
            if abs(norm / square - 1.0) < _NORM_TOLERANCE:
                break
            low, high = (multiplier, high) if norm > square else (low, multiplier)
            slope = 2.0 * mean @ lapack.dpotrs(root, mean, lower=1)[0] + 2.0 * np.sum(inverse**2)
            slope += self.hollow / multiplier**2 - diagonal @ diagonal
            # Newton's step for 1/norm, which is nearly linear in ρ.
            multiplier += (norm / square - 1.0) * norm / slope
            if not low < multiplier < high:
                multiplier = 0.5 * (low + high)
        else:
            return None
        logarithm = 2.0 * np.log(np.diag(root)).sum()
        if self.hollow:
            logarithm += self.hollow * math.log(multiplier)
        volume = 0.5 * (mean @ pull - logarithm + self.dimensions * (math.log(free) - 1.0) + multiplier * square)
        spread = solve_triangular(root, self.span.T, lower=True, check_finite=False)
        # A pattern along the reference has a pre-activation without variance. The smallest number stands for zero.
        return multiplier, self.span @ mean, np.maximum(np.sum(spread**2, axis=0), np.finfo(float).tiny), volume

    def _products(self, weights: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Lᵀ diag(weights) L over the patterns `which`, whose weights are positive."""
        rows = self.span[which] * np.sqrt(weights[which])[:, None]
        # A product of a matrix with itself costs half.
        products: np.ndarray = rows.T @ rows
        return products


class _Factors:
    """The Gaussian factors of all patterns and units.

    Attributes:
        state: precisions τ and fields ν of the factors exp(−τ x²/2 + ν x) of the pre-activations x, both [K, P], and
            the multipliers ρ of the norms, [K]. An update makes new arrays.
        none: the state without factors.
    """

    def __init__(self, patterns: np.ndarray, reference: np.ndarray) -> None:
        K, P, self._size = patterns.shape
        self._units = [_Unit(*unit) for unit in zip(patterns, reference, strict=True)]
        self._own = np.stack([unit.own for unit in self._units])
        self._steepest = steepest_mean(K)
        self._updates: deque[tuple[np.ndarray, np.ndarray, np.ndarray]] = deque(maxlen=_DEPTH)
        self.state = self.none = np.zeros((K, P)), np.zeros((K, P)), np.ones(K)

    def restart(self, damping: float, state: _State | None = None) -> None:
        """Forget the last updates.

        Args:
            damping: share of the old factors kept from now on.
            state: to go back to. None stays here.
        """
        self._damping = damping
        self._updates.clear()
        if state is not None:
            self.state = state

    def update(self, distance: float) -> tuple[float, float]:
        """Update all factors once (docs/shaping/theory.md eqs. E.3 to E.8).

        Returns:
            The entropy per weight, NaN where probabilities underflow, and the residual, both of the factors before the
            update. The residual is infinite, and the factors stay, if they leave no Gaussian.
        """
        precisions, fields, multipliers = self.state
        own, square = (1.0 - 2.0 * distance) * self._own, 4.0 * distance * (1.0 - distance) * self._size
        pull = fields - precisions * own
        rows = []
        for unit, tau, nu, rho in zip(self._units, precisions, pull, multipliers, strict=True):
            rows.append(unit.posterior(tau, nu, rho, square))
            if rows[-1] is None:
                return math.nan, math.inf
        multipliers, means, variances, volumes = (np.array(column) for column in zip(*rows, strict=True))

        # Without the pattern's own factor.
        share = 1.0 - precisions * variances
        if not np.all(share > 0.0):
            return math.nan, math.inf
        V = variances / share
        omega = (means - variances * pull) / share
        slopes, curvatures, logarithms = np.empty_like(V), np.empty_like(V), np.empty(V.shape[1])
        bounded = majority_derivatives(own + omega, V, self._steepest, slopes, curvatures, logarithms)
        normalisers = 0.5 * np.log(share) + 0.5 * share * (2.0 * omega * pull + V * pull * pull - precisions * omega**2)
        entropy = (volumes.sum() + logarithms.sum() - normalisers.sum()) / (len(own) * self._size)

        # With the pattern itself in place of its factor.
        left = 1.0 - V * curvatures
        if not (np.all(left > 0.0) and np.isfinite(curvatures).all()):
            return math.nan, math.inf
        gap = np.stack([(omega + V * slopes - means) / np.sqrt(variances), V * left / variances - 1.0])
        new = np.stack([curvatures / left, (slopes + curvatures * (own + omega)) / left])
        self.state = *self._mixed(np.stack([precisions, fields]), new, gap.ravel()), multipliers
        return (math.nan if bounded else float(entropy)), float(np.abs(gap).max())

    def _mixed(self, old: np.ndarray, new: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """The next precisions and fields, [2, K, P]: the combination of the last updates whose gaps cancel best.

        This is Anderson's mixing.
        """
        self._updates.append((old, new, gap))
        differences = np.stack([gap - before for *_, before in self._updates], axis=1)[:, :-1]
        earlier = np.linalg.lstsq(differences, gap, rcond=_COLLINEAR)[0]
        shares = np.append(earlier, 1.0 - earlier.sum())
        olds, news = (sum(share * one[i] for share, one in zip(shares, self._updates, strict=True)) for i in (0, 1))
        mixed: np.ndarray = self._damping * olds + (1.0 - self._damping) * news
        return mixed
