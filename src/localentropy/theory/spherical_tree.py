"""Typical solutions of machines with weights on a sphere, and the local entropy of groups (`shaping`, figure 1).

Derivation: docs/shaping/theory.md, the sections on spherical trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.waiting import counted
from localentropy.quantities import OVERLAP, REPLICAS_OF_GROUP
from localentropy.theory import tree_patterns
from localentropy.theory.franz_parisi_entropy import replicon
from localentropy.theory.group_entropies import group_entropy
from localentropy.theory.large_deviations import require_replicas
from localentropy.theory.question import question
from localentropy.theory.spherical import Spherical
from localentropy.theory.typical_solutions import TypicalSolution, typical

if TYPE_CHECKING:
    import pandas as pd

LARGEST_LOGIT = math.log(0.9999 / (1.0 - 0.9999))
"""Of typical solutions' overlap. Larger ones are refused: their load is close to the replica-symmetric capacity."""
SOFTEST, STIFFEST = 60.0, -30.0
"""Range of ln(1 + d_0 / (1 - q_1)). Beyond the upper end the local entropy is 0 to 1e-20."""
LARGEST_ERROR = 1e-6
"""Error of the entropy of groups, or of typical solutions' saddle-point equation, from which a solve has failed."""


@dataclass(frozen=True)
class _Machine:
    """A machine at one overlap q of solutions.

    Attributes:
        units: 1, 3 or infinity.
        parity: whether the output is the product of the units.
        q: overlap.
    """

    units: float
    parity: bool
    q: float

    @property
    def ratio(self) -> float:
        """Variance of what solutions share of a unit's pre-activation, in units of what they do not share."""
        return self.q / (1.0 - self.q)

    @property
    def slope(self) -> float:
        """c: 1, or for infinitely many units (1 - q) Q'(q) / (1 - Q(q)), Q the overlap of their outputs (eq. S.16)."""
        if math.isfinite(self.units):
            return 1.0
        return (1.0 - self.q) / (math.sqrt((1.0 - self.q) * (1.0 + self.q)) * math.acos(self.q))

    @property
    def curvature(self) -> float:
        """(1 - q)^2 Q''(q) / (1 - Q(q)); 0 for few units, whose patterns see q itself (eq. S.17)."""
        return 0.0 if math.isfinite(self.units) else self.slope * self.ratio * (1.0 - self.q) / (1.0 + self.q)


def spherical_groups(model: Spherical, overlaps: Iterable[float] | float, replicas: float = math.inf) -> pd.DataFrame:
    """Largest local entropy of a group of infinitely many solutions at a mutual overlap q_1: `group_entropy`.

    Take all configurations at the members' distance from the middle of the best group. The local entropy is the log of
    the fraction of them that are solutions. The text of `shaping` prints only its second term, which is the column
    `pattern_term`.

    For the parity machine the paper gives -alpha ln 2 at every overlap, which is the column `annealed`. This is the
    value on the branch q_0 = 0, which is not the extremum for q_1 > 0. The column `entropy` has the full minimisation.
    It rises from -alpha ln 2 at q_1 = 0 to 0 at q_1 = 1.

    Source: `shaping`, figure 1; docs/shaping/theory.md eqs. S.8, S.10, S.16, S.18.

    Args:
        model: with a load below `capacity_rs`.
        overlaps: q_1, each in [0.001, 0.9999], in any order.
        replicas: math.inf.

    Returns:
        One row per overlap: overlap, entropy (nats per weight), d_0 = y (q_1 - q_0), with q_0 the overlap of solutions
        of two groups (negative below the overlap of typical solutions, infinite above about 1e26), pattern_term,
        annealed, residual (relative error of the saddle-point equation).
        The entropy is stationary there, so its error is of the order of the residual's square. Relative errors of
        1 - q_1 + d_0 and of pattern_term are of the order of the residual itself. `attrs`: the model's parameters.

    Raises:
        DomainError: an overlap out of range, other replicas, a load without typical solutions, or a margin other than
            0.
        ConvergenceError: the saddle point was not found.

    Example:
        >>> from localentropy.theory import Spherical, group_entropy
        >>> group_entropy(Spherical(alpha=1.0, units=3), [0.7, 0.9]).entropy.round(6).tolist()
        [-0.229881, -0.026827]
    """
    import pandas as pd

    model.require_no_margin("group_entropy")
    y = require_replicas(replicas, REPLICAS_OF_GROUP)
    if y != math.inf:
        raise DomainError(f"replicas = {y:.12g} is out of range: groups of spherical weights are computed for math.inf")
    alpha = _load(model.alpha, rs_capacity(model.units, model.parity), "where no typical solutions exist")
    asked = OVERLAP.require_all(overlaps).ravel()
    rows = [_group(_Machine(model.units, model.parity, q), alpha) for q in counted(asked.tolist(), "group_entropy")]
    table = pd.DataFrame(rows, columns=["overlap", "entropy", "d_0", "pattern_term", "residual"])
    table.insert(4, "annealed", -alpha * math.log(2.0))
    table.attrs.update(model.parameters())
    return table


def typical_spherical(model: Spherical) -> TypicalSolution:
    """Typical solutions of a committee with spherical weights: the answer of `typical`.

    The entropy is the log of the fraction of the sphere that solves all patterns. Solutions fall into clusters where
    the replicon is above 1. The load must be below that at which q is 0.9999. Source: `shaping`, Methods (belief
    propagation); docs/shaping/theory.md eqs. S.12-S.14, S.17.

    Args:
        model: one or three units of a committee, or infinitely many.

    Returns:
        Entropy, overlap, replicon and residual.

    Raises:
        DomainError: a parity machine, a margin other than 0, or a load out of range.
        ConvergenceError: the saddle point was not found.

    Example:
        >>> from localentropy.theory import Spherical
        >>> from localentropy.theory.spherical_tree import typical_spherical
        >>> round(typical_spherical(Spherical(alpha=1.0, units=3)).replicon, 4)
        0.4165
    """
    model.require_no_margin("typical")
    if model.parity:
        raise DomainError("machine = 'parity' is out of range: typical solutions are computed for the committee")
    units = model.units
    alpha = _load(
        model.alpha, _typical_load(units, LARGEST_LOGIT), "where two typical solutions have the overlap 0.9999"
    )
    position = _root(lambda y: math.log(_typical_load(units, y) / alpha), -30.0, LARGEST_LOGIT)
    machine = _at(units, position)
    value, _, _ = _averages(machine, 0.0)
    q = machine.q
    residual = abs(math.expm1(_excess(machine, 0.0, alpha)))
    if not residual < LARGEST_ERROR:
        raise ConvergenceError("typical solutions", {"alpha": alpha, "q": q}, residual)
    entropy = 0.5 * (math.log1p(-q) + machine.ratio) + alpha * value
    return TypicalSolution(model, entropy, {"q": q, "replicon": _replicon(machine, alpha)}, residual)


typical.register(Spherical, typical_spherical)
group_entropy.register(Spherical, spherical_groups)
replicon.register(Spherical, lambda model: typical_spherical(model).replicon)


@question(load=False, of=Spherical)
def alpha_clustering(model: Spherical) -> float:
    """Patterns per weight above which typical solutions fall into clusters: the replicon is 1.

    It is 1.7299 (K = 3) and 2.9878 (K infinite). The text of `shaping` quotes 1.76 and 2.95 from other works. For K = 1
    typical solutions are in one cluster up to the capacity. Source: docs/shaping/theory.md eqs. S.14, S.17.

    Args:
        model: a committee of 3 or math.inf units; its load is not used.

    Returns:
        The load alpha = P/N.

    Raises:
        DomainError: one unit, or a parity machine.

    Example:
        >>> from localentropy.theory import Spherical, alpha_clustering
        >>> round(alpha_clustering(Spherical(units=3)), 4)
        1.7299
    """
    units = model.units
    if units == 1 or model.parity:
        what = "machine = 'parity'" if model.parity else "units = 1"
        raise DomainError(f"{what} has no clustering transition here; allowed are committees of 3 or math.inf units")
    position = _root(lambda y: math.log(_replicon(_at(units, y), _typical_load(units, y))), -30.0, LARGEST_LOGIT)
    return _typical_load(units, position)


def _group(machine: _Machine, alpha: float) -> tuple[float, float, float, float, float]:
    """Overlap, entropy, d_0, pattern term and residual (docs/shaping/theory.md eqs. S.8, S.10)."""
    softness = _root(lambda s: _excess(machine, s, alpha), STIFFEST, SOFTEST)
    if softness == SOFTEST:
        return machine.q, 0.0, math.inf, 0.0, 0.0
    residual = abs(math.expm1(_excess(machine, softness, alpha)))
    away = 0.5 * machine.ratio * math.exp(-softness)
    if not away * residual**2 < LARGEST_ERROR:  # the entropy is stationary: its error is of second order
        raise ConvergenceError("saddle point", {"overlap": machine.q, "alpha": alpha, "softness": softness}, residual)
    pattern_term = alpha * _averages(machine, softness)[0]
    entropy = away + pattern_term
    d_0 = (1.0 - machine.q) * math.expm1(softness)
    return machine.q, entropy, d_0, pattern_term, residual


@lru_cache(maxsize=8192)
def _averages(machine: _Machine, softness: float) -> tree_patterns.Averages:
    """Means over a pattern at d_0 = (1 - q) (e^softness - 1) (docs/shaping/theory.md eqs. S.8, S.16).

    Remembered: they depend on no load.

    Raises:
        ConvergenceError: the group's place was not found for some pattern.
    """
    delta = machine.slope * math.expm1(softness)
    if math.isinf(machine.units):
        averages = tree_patterns.one_unit(math.asin(machine.q) / math.acos(machine.q), delta)
    elif machine.units == 1:
        averages = tree_patterns.one_unit(machine.ratio, delta)
    else:
        averages = tree_patterns.three_units(machine.parity, machine.ratio, delta)
    if not math.isfinite(averages[0]):
        raise ConvergenceError(
            "maximum of a pattern", {"overlap": machine.q, "units": machine.units, "delta": delta}, math.nan
        )
    return averages


def _excess(machine: _Machine, softness: float, alpha: float) -> float:
    """Log of the ratio of the two sides of the saddle-point equation (eqs. S.10, S.16). It grows with softness."""
    force = _averages(machine, softness)[1]
    return math.log(alpha * machine.slope / machine.ratio) + 2.0 * softness + math.log(force)


def _replicon(machine: _Machine, alpha: float) -> float:
    """Replicon of typical solutions at the machine's overlap (docs/shaping/theory.md eqs. S.14, S.17)."""
    _, force, stiffness = _averages(machine, 0.0)
    return alpha * (machine.slope**2 * stiffness + machine.curvature * force)


def _typical_load(units: float, logit: float) -> float:
    """Patterns per weight at which typical solutions have an overlap: eq. S.13, solved for alpha."""
    machine = _at(units, logit)
    return machine.ratio / (machine.slope * _averages(machine, 0.0)[1])


def _at(units: float, logit: float) -> _Machine:
    return _Machine(units, False, 1.0 / (1.0 + math.exp(-logit)))


def _root(function: Callable[[float], float], lowest: float, highest: float) -> float:
    """Zero of an increasing function, or the end before it. Steps from 0 grow until they bracket the zero."""
    from scipy.optimize import brentq

    value, step = function(0.0), 1.0
    here, end = 0.0, highest if value < 0.0 else lowest
    while value != 0.0:
        there = min(step, end) if value < 0.0 else max(-step, end)
        if value * function(there) <= 0.0:
            return float(brentq(function, here, there, xtol=1e-12))
        if there == end:
            return end
        here, step = there, 2.0 * step
    return here


def rs_capacity(units: float, parity: bool) -> float:
    """Inverse mean squared distance of a Gaussian vector from where the machine is right (eq. S.11).

    Args:
        units: 1, 3 or infinity.
        parity: whether the machine is the parity machine.

    Returns:
        alpha.

    Example:
        >>> from localentropy.theory.spherical_tree import rs_capacity
        >>> round(rs_capacity(1, False), 6), round(rs_capacity(3, False), 4)
        (2.0, 4.0252)
    """
    if parity:
        return 2.0 / (1.0 - (6.0 - 2.0 * math.sqrt(3.0)) / math.pi)
    if units == 3:
        return 8.0 / (5.0 - (6.0 + 2.0 * math.sqrt(3.0)) / math.pi)
    return 2.0 if units == 1 else math.inf


def _load(alpha: float, limit: float, why: str) -> float:
    if alpha >= limit:
        raise DomainError(f"alpha = {alpha:.12g} is not below {limit:.12g}, {why}")
    return alpha
