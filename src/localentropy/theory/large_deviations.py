"""Free entropy of groups of y students around one reference, any binary configuration: large deviations.

Psi(y, d) is the mean over patterns of 1/N ln of the sum over references of (number of solutions at distance d)^y. The
derivative of Psi by y is the local entropy phi of the references that dominate this sum. Psi - y phi is the external
entropy, the log of the number of these references. Groups of students are blocks of y replicas, as in one step of
replica symmetry breaking: the overlap is q1 in a group and q0 between groups. Derivation: docs/margins/theory.md
section 11.

The free entropy is written as F = Psi / y, a function of epsilon = 1 / y. Both epsilon = 0 and epsilon = 1 are allowed.
The external entropy is the derivative of F by epsilon.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from localentropy.numerics.curvature import Curvature
from localentropy.numerics.jets import Jet, Number, exp, logistic, variables
from localentropy.numerics.saddle_point import Array, FreeEntropy
from localentropy.quantities import Quantity
from localentropy.theory import group_patterns, group_sites
from localentropy.theory.model import Model

LOG_Q_HAT, LOGIT_Q, RATIO, LOG_DELTA_HAT, FIELD = range(5)
"""Positions of the coordinates in `NAMES`."""
LOGIT_DISTANCE, LOG_ALPHA, EPSILON = range(3)
"""Positions of the control parameters."""
FARTHEST = 100.0
"""Logarithms of order parameters beyond which no groups are looked for."""
NAMES = ("ln q_hat", "logit q", "ln delta/v", "ln delta_hat", "field")
"""Names of the coordinates that all models have."""


class Group(NamedTuple):
    """Order parameters of groups.

    Attributes:
        epsilon: 1 / y.
        q_hat: conjugate of q.
        q: q0, overlap of students of two groups.
        w: 1 - q0.
        v: 1 - q1, with the overlap q1 of students of a group.
        delta: y (q1 - q0).
        delta_hat: y times the difference of their conjugates.
        field: conjugate of the overlap with the reference; None where there is no reference.
        latent: what the model adds.
    """

    epsilon: Jet
    q_hat: Jet
    q: Jet
    w: Jet
    v: Jet
    delta: Jet
    delta_hat: Jet
    field: Jet | None
    latent: Any


def group_of(model: Model, y: Sequence[Jet], epsilon: Jet) -> Group:
    """The order parameters of a model, at its coordinates NAMES and its weights' `group_names`.

    Args:
        model: the model.
        y: coordinates: NAMES, and the `group_names` of its weights.
        epsilon: 1 / y.

    Returns:
        The order parameters.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.large_deviations import group_of
        >>> *y, epsilon = variables([0.1, 0.0, 0.2, 0.3, 0.1, 0.5])
        >>> round(group_of(Perceptron(alpha=0.5), y, epsilon).q.value, 6)
        0.5
    """
    q, w, ratio = logistic(y[1]), logistic(-y[1]), exp(y[2])
    v = w / (1.0 + epsilon * ratio)
    x = Group(epsilon, exp(y[0]), q, w, v, ratio * v, exp(y[3]), y[FIELD], None)
    return x._replace(latent=model.weights.group_order_parameters(y[len(NAMES) :], x))


Curvatures = tuple[Curvature, Curvature]
"""Second derivatives of the terms of sites and of patterns, which hardly change from one point to the next."""


def without_distance(
    model: Model, x: Group, alpha: Number, finer: int = 1, central: bool = False, known: Curvatures | None = None
) -> Jet:
    """F less 2 d times the field (docs/margins/theory.md eq. 45), nats per weight.

    Args:
        model: the model at the margin of the solutions counted.
        x: the order parameters.
        alpha: patterns per weight.
        finer: how many times more nodes all integrals have.
        central: whether second derivatives are central differences, where they are differences.
        known: second derivatives at the points before, which are corrected.

    Returns:
        The free entropy.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.large_deviations import group_of, without_distance
        >>> *y, epsilon = variables([0.1, 0.0, 0.2, 0.3, 0.1, 0.5])
        >>> model = Perceptron(alpha=0.5)
        >>> round(without_distance(model, group_of(model, y, epsilon), 0.5).value, 6)
        0.543889
    """
    of_sites, of_patterns = known or (None, None)
    r_hat = model.weights.group_field(x)
    entropy = group_sites.grouped(x.q_hat, x.delta_hat, x.field, r_hat, x.epsilon, finer, central, of_sites)
    entropy = entropy - 0.5 * x.q_hat * (x.v + x.delta) + 0.5 * (1.0 - x.epsilon) * (x.delta_hat * x.v)
    entropy = entropy + model.weights.group_entropy(x, alpha)
    at = model.group_covariances(x)
    return entropy + alpha * group_patterns.grouped(*at, x.epsilon, model.margin, finer, central, of_patterns)


@dataclass(frozen=True, kw_only=True)
class OfGroups(FreeEntropy):
    """F of groups, whose integrals have exact first derivatives only.

    Attributes:
        finer: how many times more nodes integrals have.
        central: whether second derivatives that are differences are central ones.
        known: second derivatives at points before, shared along a curve; they are corrected.
    """

    finer: int = 1
    central: bool = False
    known: Curvatures | None = field(default=None, compare=False)

    def refresh(self) -> bool:
        """Take differences again."""
        for curvature in self.known or ():
            curvature.forget()
        return self.known is not None

    def exact(self) -> OfGroups:
        """With second derivatives to 1e-9."""
        return self if self.known is None else replace(self, central=True, known=None)

    @abstractmethod
    def group(self, y: Sequence[Jet], controls: Sequence[Jet]) -> Group:
        """The order parameters."""

    def order_parameters(self, coordinates: Array) -> Group:
        """The order parameters, as jets of coordinates and controls."""
        n = len(coordinates)
        jets = variables(np.concatenate([coordinates, self.controls()]))
        return self.group(jets[:n], jets[n:])


@dataclass(frozen=True)
class LargeDeviations(OfGroups):
    """F = Psi / y of a model at a distance, nats per weight.

    Controls: logit of twice the distance, ln alpha, and epsilon where it is given.

    Attributes:
        model: the model at the margin of the solutions counted.
        logit_distance: the logit of 2 d.
        epsilon: 1 / y; None for the one at which the external entropy vanishes, whose logarithm is the last coordinate.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.large_deviations import LargeDeviations
        >>> from localentropy.theory.local_entropies import logit
        >>> LargeDeviations(Perceptron(alpha=0.5), logit(0.1)).names
        ('ln q_hat', 'logit q', 'ln delta/v', 'ln delta_hat', 'field')
    """

    model: Model
    logit_distance: float
    epsilon: float | None = 0.0

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates."""
        own = (*NAMES, *self.model.weights.group_names)
        return own if self.epsilon is not None else (*own, "ln 1/y")

    def controls(self) -> Array:
        """logit 2 d, ln alpha, and epsilon where it is given."""
        controls = [self.logit_distance, math.log(self.model.alpha)]
        return np.array(controls if self.epsilon is None else [*controls, self.epsilon])

    def scales(self, coordinates: Array) -> Array:
        """1, but for strong fields."""
        scales = np.ones(len(coordinates))
        scales[FIELD] = max(1.0, abs(float(coordinates[FIELD])))
        return scales

    def group(self, y: Sequence[Jet], controls: Sequence[Jet]) -> Group:
        """The order parameters."""
        if self.epsilon is None:
            return group_of(self.model, y[:-1], exp(y[-1]))
        return group_of(self.model, y, controls[EPSILON])

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """F."""
        x = self.group(coordinates, controls)
        entropy = without_distance(self.model, x, exp(controls[LOG_ALPHA]), self.finer, self.central, self.known)
        return entropy + logistic(controls[LOGIT_DISTANCE]) * coordinates[FIELD]


@dataclass(frozen=True)
class AtField(FreeEntropy):
    """F of the best references (y = infinity) less 2 d times a given field. Its derivative by the field is -2 d.

    Controls: the field, ln alpha.

    Attributes:
        model: the model at the margin of the solutions counted.
        field: the field on the reference; 0 where the local entropy has a horizontal tangent.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.large_deviations import AtField
        >>> AtField(Perceptron(alpha=0.5), field=0.1).controls().round(6).tolist()
        [0.1, -0.693147]
    """

    model: Model
    field: float

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates, without the field."""
        return (*NAMES[:FIELD], *self.model.weights.group_names)

    def controls(self) -> Array:
        """The field, ln alpha."""
        return np.array([self.field, math.log(self.model.alpha)])

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """F less 2 d times the field."""
        y = [*coordinates[:FIELD], controls[0], *coordinates[FIELD:]]
        return without_distance(self.model, group_of(self.model, y, 0.0 * controls[0]), exp(controls[1]))


@dataclass(frozen=True)
class AtOverlap(OfGroups):
    """F of groups of y solutions at a mutual overlap, without a reference (docs/margins/theory.md eq. 49).

    F is the log number of groups, divided by y, nats per weight. Controls: logit of q1, ln alpha, epsilon.

    Attributes:
        model: the model at the margin of the solutions counted.
        logit_overlap: the logit of q1.
        epsilon: 1 / y.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.large_deviations import AtOverlap
        >>> AtOverlap(Perceptron(alpha=0.5), logit_overlap=0.0, epsilon=0.5).controls().round(6).tolist()
        [0.0, -0.693147, 0.5]
    """

    model: Model
    logit_overlap: float
    epsilon: float

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates."""
        return ("ln q_hat", "ln delta/q", "ln delta_hat", *self.model.weights.group_names)

    def controls(self) -> Array:
        """logit q1, ln alpha, epsilon."""
        return np.array([self.logit_overlap, math.log(self.model.alpha), self.epsilon])

    def group(self, y: Sequence[Jet], controls: Sequence[Jet]) -> Group:
        """The order parameters: q0 = q1 - epsilon delta."""
        position, _, epsilon = controls
        if y[2].value > group_sites.FREE_FIELDS[1] or max(abs(part.value) for part in y[:3]) > FARTHEST:
            raise ValueError("outside of the domain")
        v, ratio = logistic(-position), exp(y[1])
        q = logistic(position) / (1.0 + epsilon * ratio)
        delta = ratio * q
        x = Group(epsilon, exp(y[0]), q, v + epsilon * delta, v, delta, exp(y[2]), None, None)
        return x._replace(latent=self.model.weights.group_order_parameters(y[3:], x))

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """F."""
        x = self.group(coordinates, controls)
        return without_distance(self.model, x, exp(controls[LOG_ALPHA]), self.finer, self.central, self.known)


def require_replicas(replicas: float, finite: Quantity) -> float:
    """The number of solutions of a group.

    Args:
        replicas: y.
        finite: the range of finite y.

    Returns:
        y, as a float.

    Raises:
        DomainError: out of this range and not infinite.

    Example:
        >>> from localentropy.quantities import REPLICAS_OF_GROUP
        >>> from localentropy.theory.large_deviations import require_replicas
        >>> require_replicas(2, REPLICAS_OF_GROUP)
        2.0
    """
    if isinstance(replicas, (int, float, np.number, np.ndarray)) and np.ndim(replicas) == 0 and replicas == math.inf:
        return math.inf
    return finite.require(replicas)
