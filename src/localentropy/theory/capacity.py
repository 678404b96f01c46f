"""Capacity of weights on a sphere: a perceptron, and tree machines of three units (`shaping`).

In the replica-symmetric ansatz the capacity is one over the mean squared distance of a Gaussian vector from where the
machine is right. This is exact for the perceptron at margins of at least 0. Elsewhere solutions fall into clusters at
a smaller load, and one step of replica symmetry breaking gives a smaller capacity. Derivation: docs/shaping/theory.md
eqs. S.11, S.13, S.14, S.19 and S.20.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.compiled import kernel, subroutine
from localentropy.numerics.gaussian_kernels import SQRT_HALF, SQRT_TWO_OVER_PI
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, gaussian_nodes, unit_legendre
from localentropy.numerics.search import maximum
from localentropy.quantities import MARGIN_OF_CLUSTERS, MARGIN_OF_ONE_STEP
from localentropy.theory.question import question
from localentropy.theory.spherical import Spherical
from localentropy.theory.spherical_tree import rs_capacity
from localentropy.theory.typical_solutions import alpha_c

Array = np.ndarray

SPACING = 0.05
"""Spacing, in t of `gaussian_nodes`, of the nodes of the part of a perceptron's pre-activation that clusters share."""
SHARED, OWN, REACH = 0.4, 48, 8.0
"""For three units: spacing of the nodes of what clusters share, number of nodes inside a cluster, their range."""
NEGLIGIBLE, SMALLEST = 1e-18, 1e-300
"""A node of smaller weight is skipped; a smaller probability counts as this, which makes the capacity too large."""
LOGITS, SOFTNESSES = {1: (-7.0, 9.0), 3: (-3.0, 2.5)}, (-3.0, 8.0)
"""Ranges of the table from which the search for the minimum starts: units → logit q_0, and ln w (1 - q_0)."""
COARSE, SEARCH = 0.5, 0.75
"""Fineness of the nodes for the table and for the search. An error of the place counts only by its square."""
PLACE, VALUE = 1e-5, 1e-11
"""Tolerances of the place of the minimum, and of the logarithm of the capacity there."""


@dataclass(frozen=True)
class OneStepCapacity:
    """The capacity with one step of replica symmetry breaking.

    Attributes:
        units: K.
        machine: "committee" or "parity".
        margin: kappa.
        alpha: patterns per weight.
        q_0: overlap of two clusters of solutions; 1 where replica symmetry is exact.
        w: m / (1 - q_1), the factor of squared distances in eq. S.19; 0 where replica symmetry is exact.
        residual: relative change of alpha with finer nodes.

    Example:
        >>> from localentropy.theory import Spherical, capacity_one_step
        >>> found = capacity_one_step(Spherical(units=1, margin=-1.0))
        >>> round(found.alpha, 4), round(found.q_0, 4)
        (12.3196, 0.6649)
    """

    units: float
    machine: str
    margin: float
    alpha: float
    q_0: float
    w: float
    residual: float


@question(load=False, of=Spherical)
def capacity_rs(model: Spherical) -> float:
    """Patterns per weight at which typical solutions shrink to a point, in the replica-symmetric ansatz (eq. S.11).

    It is 1 / int Dz (z + kappa)_+^2 for a perceptron, which is 2 at margin 0; 4.0252 for the committee of three units;
    10.3735 for the parity machine; and infinite for infinitely many units. It is exact for the perceptron at margins of
    at least 0.

    Args:
        model: its load is not used.

    Returns:
        The load alpha = P/N; infinite for infinitely many units.

    Raises:
        DomainError: not a `Spherical` model.

    Example:
        >>> from localentropy.theory import Spherical, capacity_rs
        >>> round(capacity_rs(Spherical(units=3)), 4)
        4.0252
    """
    if model.units != 1:
        return rs_capacity(model.units, model.parity)
    return 1.0 / _squared_distance(model.margin)


@question(load=False, of=Spherical)
def capacity_one_step(model: Spherical) -> OneStepCapacity:
    """Capacity with one step of replica symmetry breaking (eq. S.19).

    It is 2 (K = 1), 3.1458 (committee, K = 3) and 4.9975 (parity, K = 3) at margin 0. Clusters of the parity machine
    have no overlap, q_0 = 0, because its output does not change if two units change their signs. Three units take four
    seconds.

    Args:
        model: of 1 or 3 units; a perceptron's margin is at least 0 or at most -0.01. Its load is not used.

    Returns:
        The capacity `alpha`, and the order parameters there.

    Raises:
        DomainError: infinitely many units, or a margin that is not computed.
        ConvergenceError: the minimum was not found.

    Example:
        >>> from localentropy.theory import Spherical, capacity_one_step
        >>> round(capacity_one_step(Spherical(units=1, margin=-1.0)).alpha, 5)
        12.31963
    """
    units, machine, margin, parity = model.units, model.machine, model.margin, model.parity
    if math.isinf(units):
        raise DomainError("units = inf is out of range: capacity_one_step is computed for 1 and 3")
    if units == 1 and margin >= 0.0:
        return OneStepCapacity(units, machine, margin, capacity_rs(model), 1.0, 0.0, 0.0)
    if units == 1:
        margin = MARGIN_OF_ONE_STEP.require(margin)

    def capacity(q_0: float, softness: float, fineness: float) -> float:
        if units == 1:
            cost = _one_unit_cost(q_0, softness, margin, fineness)
        else:
            cost = _three_units_cost(parity, q_0, softness, fineness)
        return _volume(q_0, softness) / cost

    if parity:
        log_softness, _ = maximum(lambda y: -math.log(capacity(0.0, math.exp(y), 1.0)), *SOFTNESSES)
        q_0, softness = 0.0, math.exp(log_softness)
    else:
        q_0, softness = _minimum(capacity, LOGITS[int(units)])
    alpha = capacity(q_0, softness, 1.0)
    residual = abs(capacity(q_0, softness, 1.5) / alpha - 1.0)
    return OneStepCapacity(units, machine, margin, alpha, q_0, softness / (1.0 - q_0), residual)


@question(load=False, of=Spherical)
def de_almeida_thouless(model: Spherical) -> float:
    """Patterns per weight at which typical solutions of a perceptron of negative margin cease to be in one cluster.

    At this load the replicon is 1. At margins of at least 0 the replicon is below 1 up to the capacity. At margins
    below the range, other clusters appear first, so that this load has no meaning: at margin -3 it would be 3087, above
    the one-step capacity of 2526 (docs/shaping/theory.md eqs. S.13, S.14).

    Args:
        model: of one unit, with a margin in [-2.5, -0.01]; its load is not used.

    Returns:
        The load alpha = P/N.

    Raises:
        DomainError: more units, or another margin.

    Example:
        >>> from localentropy.theory import Spherical, de_almeida_thouless
        >>> round(de_almeida_thouless(Spherical(units=1, margin=-1.0)), 5)
        7.87356
    """
    from scipy.optimize import brentq

    if model.units != 1:
        raise DomainError(f"units = {model.units:g} is out of range: de_almeida_thouless is computed for 1")
    margin = MARGIN_OF_CLUSTERS.require(model.margin)
    logit = brentq(lambda y: math.log(_typical(y, margin)[1]), -12.0, 16.0, xtol=1e-13)
    return _typical(logit, margin)[0]


def exact_capacity(model: Spherical) -> float:
    """The answer of `alpha_c` for spherical weights, where the replica-symmetric one is exact.

    Args:
        model: spherical weights of one unit; its alpha is not used.

    Returns:
        alpha_c.

    Raises:
        DomainError: more than one unit, or a negative margin.

    Example:
        >>> from localentropy.theory import Spherical
        >>> from localentropy.theory.capacity import exact_capacity
        >>> round(exact_capacity(Spherical(units=1)), 6)
        2.0
    """
    if model.units != 1 or model.margin < 0.0:
        raise DomainError(
            "alpha_c of spherical weights is exact for one unit and margins of at least 0; ask capacity_one_step or "
            "capacity_rs"
        )
    return capacity_rs(model)


alpha_c.register(Spherical, exact_capacity)


def _squared_distance(margin: float) -> float:
    """int Dz (z + kappa)_+^2, as an integral of positive terms where the closed form cancels."""
    from scipy.integrate import quad

    if margin >= 0.0:
        return (1.0 + margin**2) * float(ndtr(margin)) + margin * INVERSE_SQRT_2PI * math.exp(-0.5 * margin**2)
    moment, _ = quad(lambda t: t * t * math.exp(margin * t - 0.5 * t * t), 0.0, 12.0, epsabs=0.0, epsrel=1e-13)
    return float(moment) * INVERSE_SQRT_2PI * math.exp(-0.5 * margin**2)


def _volume(q_0: float, softness: float) -> float:
    """The numerator of eq. S.19, the volume of clusters, at w (1 - q_0)."""
    return 0.5 * (math.log1p(softness) + softness / (1.0 + softness) * q_0 / (1.0 - q_0))


def _minimum(capacity: Callable[[float, float, float], float], logits: tuple[float, float]) -> tuple[float, float]:
    """q_0 and w (1 - q_0) at the lowest capacity: the best of a coarse table, then a simplex in their logarithms.

    The last argument of the capacity is the fineness of its nodes.
    """
    from scipy.optimize import minimize

    def at(place: Array, fineness: float) -> float:
        return math.log(capacity(1.0 / (1.0 + math.exp(-place[0])), math.exp(place[1]), fineness))

    table = [np.array([x, y]) for x in np.linspace(*logits, 9) for y in np.linspace(*SOFTNESSES, 8)]
    start = min(table, key=lambda place: at(place, COARSE))
    simplex = [start, start + np.array([0.5, 0.0]), start + np.array([0.0, 0.5])]
    options = {"xatol": PLACE, "fatol": VALUE, "initial_simplex": simplex}
    found = minimize(at, start, args=(SEARCH,), method="Nelder-Mead", options=options)
    logit, log_softness = found.x.tolist()
    if not found.success:
        raise ConvergenceError("capacity", {"logit q_0": logit, "ln w (1 - q_0)": log_softness}, math.nan)
    return 1.0 / (1.0 + math.exp(-logit)), math.exp(log_softness)


def _one_unit_cost(q_0: float, softness: float, margin: float, fineness: float) -> float:
    """-E_v ln E_u exp(-w dist^2 / 2) of a perceptron, dist = (kappa - sqrt(q_0) v - sqrt(1 - q_0) u)_+."""
    own, stretch = math.sqrt(1.0 - q_0), math.sqrt(1.0 + softness)
    scale = max(math.sqrt(q_0) / own, 1.0)
    v, weight = gaussian_nodes(scale, SPACING / fineness, max(margin / math.sqrt(q_0), -6.0))
    h = (margin - math.sqrt(q_0) * v) / own
    soft = -0.5 * softness * (h / stretch) ** 2 - math.log(stretch) + log_ndtr(h / stretch)
    return -float(weight @ np.logaddexp(log_ndtr(-h), soft))


def _typical(logit: float, margin: float) -> tuple[float, float]:
    """Load and replicon of a perceptron's typical solutions of an overlap (eqs. S.13, S.14)."""
    q, v = 1.0 / (1.0 + math.exp(-logit)), 1.0 / (1.0 + math.exp(logit))
    z, weight = gaussian_nodes(max(math.sqrt(q / v), 1.0), SPACING, max(margin / math.sqrt(q), -6.0))
    h = (margin - math.sqrt(q) * z) / math.sqrt(v)
    pull = SQRT_TWO_OVER_PI / erfcx(h * SQRT_HALF)
    alpha = q / v / float(weight @ pull**2)
    return alpha, alpha * float(weight @ (pull * (pull - h)) ** 2)


def _three_units_cost(parity: bool, q_0: float, softness: float, fineness: float) -> float:
    """-E_v ln E_u exp(-w dist^2 / 2) of three units (eq. S.20)."""
    unit, unit_weight = unit_legendre(round(OWN * fineness))
    spacing = SHARED / fineness
    v = spacing * np.arange(-math.floor(REACH / spacing), math.floor(REACH / spacing) + 1)
    return float(_three_units(parity, q_0, softness, v, spacing, unit, unit_weight))


@kernel
def _three_units(parity, q_0, softness, v, spacing, unit, unit_weight):  # type: ignore[no-untyped-def]
    """The mean over ordered v, in units of sqrt(1 - q_0) for what is inside a cluster."""
    total, mean = 0.0, np.empty(3)
    weight = spacing * INVERSE_SQRT_2PI * np.exp(-0.5 * v * v)
    scaled = math.sqrt(q_0 / (1.0 - q_0)) * v
    for i in range(len(v)):
        for j in range(i, len(v)):
            for k in range(j, len(v)):
                share = weight[i] * weight[j] * weight[k]
                if share < NEGLIGIBLE:
                    continue
                copies = 6.0 if i < j < k else 1.0 if i == k else 3.0
                mean[0], mean[1], mean[2] = scaled[i], scaled[j], scaled[k]
                if parity:
                    right = _product_right(mean, softness, unit, unit_weight)
                else:
                    right = _majority_right(mean, softness, unit, unit_weight)
                total -= copies * share * math.log(max(right, SMALLEST))
    return total


@subroutine
def _majority_right(mean: Array, softness: float, unit: Array, unit_weight: Array) -> float:
    """Mean of exp(-softness dist^2 / 2) of unit Gaussians around a mean: all but the lowest one become positive.

    Either all are positive, or the lowest is at x < 0 and the others above, each at the price of its own negative part.
    """
    stretch = math.sqrt(1.0 + softness)
    positive, price, top = np.empty(3), np.empty(3), np.empty(3)
    for place in range(3):
        positive[place] = _below(mean[place])
        price[place] = math.exp(-0.5 * softness * (mean[place] / stretch) ** 2) / stretch
        top[place] = _below(-mean[place] / stretch)
    # `mean` is in order. The lowest unit is hardly above unit 0.
    low, high = min(mean[0], 0.0) - REACH, min(mean[0] + REACH, 0.0)
    total = 0.0
    for node, share in zip(unit, unit_weight):  # noqa: B905
        x = low + (high - low) * node
        above_0, above_1, above_2 = (
            positive[0] + price[0] * (top[0] - _below(x * stretch - mean[0] / stretch)),
            positive[1] + price[1] * (top[1] - _below(x * stretch - mean[1] / stretch)),
            positive[2] + price[2] * (top[2] - _below(x * stretch - mean[2] / stretch)),
        )
        total += share * (
            math.exp(-0.5 * (x - mean[0]) ** 2) * above_1 * above_2
            + math.exp(-0.5 * (x - mean[1]) ** 2) * above_0 * above_2
            + math.exp(-0.5 * (x - mean[2]) ** 2) * above_0 * above_1
        )
    return positive[0] * positive[1] * positive[2] + (high - low) * INVERSE_SQRT_2PI * total


@subroutine
def _product_right(mean: Array, softness: float, unit: Array, unit_weight: Array) -> float:
    """Mean as in `_majority_right`, for the product: if negative, the unit of the smallest size y changes its sign."""
    total, plus, minus, up, down = 0.0, np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    high = min(abs(mean[0]), abs(mean[1]), abs(mean[2])) + REACH
    for node, share in zip(unit, unit_weight):  # noqa: B905
        y = high * node
        for place in range(3):
            plus[place], minus[place] = _below(mean[place] - y), _below(-mean[place] - y)
            up[place], down[place] = math.exp(-0.5 * (y - mean[place]) ** 2), math.exp(-0.5 * (y + mean[place]) ** 2)
        wrong = 0.0
        for place in range(3):
            a, b = (place + 1) % 3, (place + 2) % 3
            wrong += down[place] * (plus[a] * plus[b] + minus[a] * minus[b])
            wrong += up[place] * (plus[a] * minus[b] + minus[a] * plus[b])
        total += share * math.exp(-0.5 * softness * y * y) * wrong
    for place in range(3):
        plus[place], minus[place] = _below(mean[place]), _below(-mean[place])
    right = plus[0] * (plus[1] * plus[2] + minus[1] * minus[2]) + minus[0] * (plus[1] * minus[2] + minus[1] * plus[2])
    return right + high * INVERSE_SQRT_2PI * total


@subroutine
def _below(x: float) -> float:
    """Phi(x)."""
    return 0.5 * math.erfc(-x * SQRT_HALF)
