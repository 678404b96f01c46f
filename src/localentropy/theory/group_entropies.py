"""Groups of y solutions at a mutual overlap q1, without a reference: how many there are.

At y = 2 these are pairs. At y = infinity a group is all that is around its middle, and the entropy is the local entropy
of the best middle. Derivation: docs/margins/theory.md section 11.

    >>> from localentropy.theory import Perceptron, group_entropy
    >>> group_entropy(Perceptron(0.5), [0.7, 0.9], replicas=2).entropy.round(6).tolist()
    [0.271856, 0.205153]
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from localentropy.errors import DomainError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.curvature import Curvature
from localentropy.numerics.saddle_point import TOLERANCE, Array, StationaryPoint
from localentropy.numerics.waiting import counted
from localentropy.quantities import OVERLAP, REPLICAS_OF_GROUP
from localentropy.theory.group_sites import free_groups
from localentropy.theory.large_deviations import EPSILON, AtOverlap, require_replicas
from localentropy.theory.model import Model
from localentropy.theory.question import question
from localentropy.theory.typical_solutions import typical_point

if TYPE_CHECKING:
    import pandas as pd

LOGIT_OVERLAP = 0
"""Position of the logit of q1 among the control parameters."""
BESIDE_ONE = 1e-4
"""Distance of 1 / y from 1 up to which groups are interpolated: at 1 nothing depends on the conjugate of q1."""
NEAR_ONE = 0.99
"""1 / y down to which groups are found from typical solutions. At smaller ones they are followed from here."""
FIRST_EPSILON = 1e-3
"""1 / y down to which groups are followed. At smaller ones they are found from those."""
FIRST_POSITION = -1.0
"""The largest ln (q1 - q)/(1 - q1) at which a curve starts. At large ones nearly all groups may be solutions."""
ALL_SOLVE = 1e-9
"""Entropy of any configurations at y = infinity less that of solutions, in units of alpha, below which all solve."""
AT_TYPICAL = 1e-7
"""Distance of q1 from the overlap of typical solutions up to which groups are typical solutions."""


class GroupEntropy(NamedTuple):
    """Groups of y solutions at one overlap.

    Attributes:
        overlap: q1.
        entropy: log number of groups, divided by y, nats per weight.
        unconstrained: the same for groups of any configurations.
        slope: derivative of the entropy by the overlap.
        external_entropy: Sigma, the log number of groups less y phi, nats per weight; one more member multiplies the
            number of groups by exp(N phi).
        replicas: y.
        q0: overlap of solutions of two groups.
        delta_q: y (q1 - q0), which stays finite as y grows.
        residual: the error of the logarithms of the order parameters.
    """

    overlap: float
    entropy: float
    unconstrained: float
    slope: float
    external_entropy: float
    replicas: float
    q0: float
    delta_q: float
    residual: float


@question()
def group_entropy(model: Model, overlaps: Iterable[float] | float, replicas: float = math.inf) -> pd.DataFrame:
    """Entropy of groups of y solutions, each two of which have the overlap q1.

    The number of groups is exp(N y entropy). That of groups of any configurations is exp(N y unconstrained). The
    difference of the two is the log of the fraction of groups that solve. For y = infinity it is the normalised local
    entropy of `shaping`: of all configurations at the members' distance from the middle of the best group, the fraction
    that solves.

    Weights on a sphere (`Spherical`) have volumes, not numbers. There the entropy is the log of the fraction, the
    columns are others, and y is infinite: see `spherical_groups`.

    Source: `shaping`, figure 1; docs/margins/theory.md eqs. 49, 50.

    Args:
        model: with a load at which it has solutions of its margin.
        overlaps: q1, each at least the overlap q of typical solutions, and in [0.001, 0.9999], in any order.
        replicas: y in [1, 100], or math.inf.

    Returns:
        One row per overlap: overlap, entropy and unconstrained (nats per weight), slope (derivative of the entropy by
        the overlap), external_entropy (Sigma, nats per weight), replicas (y), q0 (overlap of two groups), delta_q
        (y (q1 - q0)), residual (error of the logarithms of the order parameters). `attrs`: the model's parameters,
        replicas.

        One more member multiplies the number of groups by exp(N phi), with phi = entropy - external_entropy / y. Where
        y entropy is negative (at y = infinity: external_entropy), typical training sets have no group. The entropy is
        stationary: its error is of the order of the residual's square. Those of slope, external_entropy, q0 and
        delta_q are of the order of the residual, and of 1e-8 at y = 1.
        At y = infinity and large overlaps, all configurations around the best middle are solutions, to about 1e-9.
        There the residual is the error of the entropy, and external_entropy, q0 and delta_q are NaN.

        A point takes 20 to 100 ms at loads of order 1, and up to seconds at loads below 0.01.

    Raises:
        DomainError: an argument out of range, or there are no solutions.
        ConvergenceError: the state of the groups could not be followed to an overlap.

    Example:
        >>> from localentropy.theory import Perceptron, group_entropy
        >>> found = group_entropy(Perceptron(alpha=0.5), [0.7, 0.9], replicas=2)
        >>> found.entropy.round(6).tolist()  # half of the log number of pairs
        [0.271856, 0.205153]
    """
    import pandas as pd

    requested = OVERLAP.require_all(overlaps).ravel().tolist()
    y = require_replicas(replicas, REPLICAS_OF_GROUP)
    ends = [1.0 / y] if 1.0 - 1.0 / y >= BESIDE_ONE else [1.0 - BESIDE_ONE, 1.0 + BESIDE_ONE]
    curves = [_Curve(model, epsilon) for epsilon in ends]
    upwards = counted(sorted(set(requested)), "group_entropy")
    rows = {overlap: _between([curve.at(overlap) for curve in curves], y) for overlap in upwards}
    found = pd.DataFrame([rows[overlap] for overlap in requested], columns=list(GroupEntropy._fields))
    found.attrs = model.parameters() | {"replicas": y}
    return found


def _between(rows: list[GroupEntropy], y: float) -> GroupEntropy:
    """The groups of y, or what lies between those of two neighbouring y: linear, the entropies to third order."""
    if len(rows) == 1:
        return rows[0]
    away = np.array([1.0 / y - 1.0 / row.replicas for row in rows])
    share = away[::-1] / (away[::-1] - away)
    table = np.array(rows)
    found = GroupEntropy(*(share @ table).tolist())
    entropy = float(share @ (table[:, 1] + 0.5 * away * table[:, 4]))
    free = free_groups(1.0 - rows[0].overlap, 1.0 / y).entropy
    return found._replace(overlap=rows[0].overlap, entropy=entropy, unconstrained=free, replicas=y)


class _Curve:
    """The entropy of groups as a function of the overlap, followed from small overlaps to large ones.

    Args:
        model: the model.
        epsilon: 1 / y.

    Raises:
        DomainError: there are no solutions.
    """

    def __init__(self, model: Model, epsilon: float) -> None:
        self.model = model
        self.epsilon = epsilon
        self.typical = typical_point(model)
        self.order = model.values(self.typical.coordinates)
        self._branch: Branch | None = None
        self._known = Curvature(), Curvature()

    def at(self, overlap: float) -> GroupEntropy:
        """The groups at an overlap, which is not below those asked for before.

        Raises:
            DomainError: below the overlap of typical solutions.
            ConvergenceError: not reached.
        """
        q, excess = self.order.q, overlap - self.order.q
        y = math.inf if self.epsilon == 0.0 else 1.0 / self.epsilon
        free = free_groups(1.0 - overlap, self.epsilon).entropy
        if abs(excess) < AT_TYPICAL:
            return GroupEntropy(overlap, self.typical.value, free, 0.0, 0.0, y, q, 0.0, self.typical.residual)
        if excess < 0.0:
            raise DomainError(
                f"overlap = {overlap:.12g} is out of range: allowed are [{q:.12g}, {OVERLAP.high:g}]; typical "
                f"solutions have the overlap {q:.12g}"
            )
        position = math.log(excess) - math.log1p(-overlap)
        if self._branch is None:
            first = min(position, FIRST_POSITION)
            if self.epsilon == 0.0:
                first = min(first, math.log(q / self.order.v))
            start = self._first(self._problem(first))
            self._branch = Branch(self._problem, "ln (q1 - q)/(1 - q1)", None, first, start, step=0.5)
        while self._branch.position != position:
            if self.epsilon == 0.0 and self._missing() < ALL_SOLVE * min(max(self.model.alpha, 1e-3), 1.0):
                root, nan = math.sqrt(overlap), math.nan
                slope = -0.5 * math.atanh(root) / root
                return GroupEntropy(overlap, free, free, slope, nan, y, nan, nan, abs(self._missing()))
            self._branch.advance(position, TOLERANCE)
        point = self._branch.point
        x = self._problem(position).order_parameters(point.coordinates)
        external = point.slope(EPSILON)
        slope = point.slope(LOGIT_OVERLAP) / (overlap * (1.0 - overlap))
        return GroupEntropy(overlap, point.value, free, slope, external, y, x.q.value, x.delta.value, point.residual)

    def _missing(self) -> float:
        """The entropy of any configurations less that of solutions, where the branch stands."""
        assert self._branch is not None
        problem = self._problem(self._branch.position)
        v = 1.0 / (1.0 + math.exp(problem.logit_overlap))
        return free_groups(v, self.epsilon).entropy - self._branch.point.value

    def _problem(self, position: float) -> AtOverlap:
        """The free entropy at ln (q1 - q)/(1 - q1), q the overlap of typical solutions."""
        excess, v = self.order.v / (1.0 + math.exp(-position)), self.order.v / (1.0 + math.exp(position))
        return AtOverlap(self.model, math.log(self.order.q + excess) - math.log(v), self.epsilon, known=self._known)

    def _first(self, problem: AtOverlap) -> Array:
        """Coordinates near a solution. At y = 1 all but delta_hat are those of typical solutions."""
        v = 1.0 / (1.0 + math.exp(problem.logit_overlap))
        q = float(self.order.q)
        pulled = free_groups(v, 1.0).delta_hat - (q if q < OVERLAP.low else free_groups(1.0 - q, 1.0).delta_hat)
        start = np.log([self.order.q_hat, (self.order.v - v) / q, pulled])
        start = np.append(start, self.model.weights.group_start(self.typical.coordinates))
        if self.epsilon >= NEAR_ONE:
            return start
        branch = Branch(lambda epsilon: replace(problem, epsilon=epsilon), "1/y", EPSILON, NEAR_ONE, start, step=0.05)
        found: StationaryPoint = branch.to(max(self.epsilon, FIRST_EPSILON))
        return found.coordinates
