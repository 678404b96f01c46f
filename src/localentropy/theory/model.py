"""What a model states, and the free entropy of its typical solutions put together from that.

A model is a value: it cannot be changed, it is checked when it is made, and models with equal parameters are equal.
Questions are functions of it. A user's own model is a subclass of `Model`: a frozen dataclass with an optional `alpha`
and a `margin`, and the covariances of its pre-activations.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from localentropy import quantities
from localentropy.arguments import shown
from localentropy.errors import DomainError
from localentropy.numerics.jets import Jet, Number, exp, plain, variables
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint, sizes
from localentropy.quantities import ALPHA, MARGIN_OF_THRESHOLDS, Quantity
from localentropy.theory.energies import SIGN, Energy, HardMargin, Labels
from localentropy.theory.weights import Weights

LOG_ALPHA, MARGIN, LOG_LOAD = range(3)
DEVIATIONS = 5.0
"""How far below 0 a margin may lie, in standard deviations of a pre-activation. Solves fail at about 6."""
"""Positions of the control parameters of `Typical`. An energy may have another control than a margin there: ln beta."""

OPEN: Any = None
"""The value of `alpha` in a model without a load. Such a model can be asked for thresholds only."""


class Covariances(NamedTuple):
    """Covariances of the pre-activations of solutions on a pattern.

    Attributes:
        common: C, the variance that two solutions share beyond the teacher's part.
        free: V, the variance of one solution's own part.
        teacher: R, the covariance of a solution's and the teacher's pre-activations; 0 where there is no teacher.
    """

    common: Any
    free: Any
    teacher: Any


class PairCovariances(NamedTuple):
    """Covariances of the pre-activations of students beside their reference, on a pattern.

    A student's pre-activation is s times that of its reference, plus a rest.

    Attributes:
        s: the factor.
        rests: X, the covariance of the rests of two students.
        free: V, the variance of one student's own part.
        reference: Y, the covariance of a rest and the reference's pre-activation.
        other: Z, the covariance of a rest and another reference's pre-activation.
        teacher: R, the covariance of a rest and the teacher's pre-activation.
    """

    s: Any
    rests: Any
    free: Any
    reference: Any
    other: Any
    teacher: Any


class GroupCovariances(NamedTuple):
    """Covariances of the pre-activations of students in groups of y.

    Attributes:
        common: C, the variance that students of two groups share beyond the teacher's part.
        free: V, the variance of one student's own part.
        delta: y times the variance that students of one group share beyond C.
        teacher: R, the covariance of a student's and the teacher's pre-activations; 0 where there is no teacher.
    """

    common: Jet
    free: Jet
    delta: Jet
    teacher: Number


class Asked:
    """Base class of everything that questions are asked of. A subclass is a frozen dataclass of control parameters.

    Attributes:
        alpha: patterns per weight. It may be left open in a model that is asked for thresholds only.

    Example:
        >>> from localentropy.theory import Perceptron, Spherical
        >>> from localentropy.theory.model import Asked
        >>> issubclass(Perceptron, Asked), issubclass(Spherical, Asked)
        (True, True)
    """

    alpha: float
    load: ClassVar[str] = "alpha"
    """The field that says how many patterns there are."""
    examples: ClassVar[Sequence[dict[str, Any]]] = ({"alpha": 0.5},)
    """Arguments of small examples. What is answered for this kind at all is answered for one of them."""

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def parameters(self) -> dict[str, Any]:
        """The arguments of this model by name, defaults too, but none that is open; a function is shown by its name."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.init}  # type: ignore[arg-type]
        named = {name: getattr(value, "__name__", repr(value)) for name, value in given.items() if callable(value)}
        return {name: value for name, value in (given | named).items() if value is not OPEN}

    def require_load(self, question: str) -> None:
        """Refuse a model without a number of patterns.

        Raises:
            DomainError: naming the question and the argument that is missing.
        """
        if self.alpha is OPEN:
            name = type(self).__name__
            raise DomainError(f"{question} needs {self.load}, which {name} leaves open: {name}({self.load}=...)")


class Model(Asked, ABC):
    """Binary weights that satisfy random patterns, which see the weights through Gaussian pre-activations only.

    Attributes:
        alpha: patterns per weight, P/N. It may be left open in a model that is asked for thresholds only.
        margin: smallest stability kappa of a solution, of either sign.
        energy: what patterns ask of stabilities, if this is not the margin.
        weights: what the weights are, binary ones without a teacher if nothing is said.

    Example:
        >>> from localentropy.theory import Model, Perceptron
        >>> isinstance(Perceptron(alpha=0.5), Model)
        True
    """

    margin: float
    energy: Energy | None = None
    weights: Weights = Weights()

    labels: ClassVar[Labels] = SIGN
    """The teacher's pre-activations that have the label 1."""
    beyond_alpha_c: ClassVar[str] = "there are no solutions"
    teacher: ClassVar[bool] = False
    """Whether labels come from a teacher."""
    teacher_solves: ClassVar[bool] = False
    """Whether the teacher is among the weights. Then every negative margin has solutions at any load."""

    def __post_init__(self) -> None:
        if self.alpha is not OPEN:
            self._set(alpha=ALPHA.require(self.alpha))
        self._set(margin=quantities.MARGIN.within(low=self.lowest_margin).require(self.margin))
        if self.energy is not None and not isinstance(self.energy, Energy):
            raise DomainError(f"energy = {shown(self.energy)} is no energy: allowed are values such as GibbsLoss(0.1)")
        if self.energy is not None:
            self.energy.require()
        if self.energy is not None and self.margin != 0.0:
            raise DomainError(f"margin = {self.margin:g} beside an energy: the energy {self.energy!r} takes its place")
        if self.energy is not None and self.energy.symmetric and self.teacher:
            raise DomainError(f"energy = {self.energy!r} does not see the teacher: it is the same for both labels")
        if self.energy is not None and self.teacher and not self.energy.taught:
            name = type(self).__name__
            raise DomainError(
                f"energy = {self.energy!r} is not computed for a teacher's labels, which {name} has; "
                "allowed are a margin, GibbsLoss and energies of your own"
            )

    @property
    def tried(self) -> tuple[Quantity, ...]:
        """Ranges of parameters in which the searches for `alpha_le` and `alpha_min` were tried, if these are narrower.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> [(quantity.name, quantity.high) for quantity in Perceptron().tried]
            [('margin', 5.0)]
        """
        return (MARGIN_OF_THRESHOLDS,)

    @property
    def lowest_margin(self) -> float:
        """The smallest margin: -4, or five standard deviations of a pre-activation. Below it, no pattern pulls.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> round(RandomFeatures(alpha_T=3.0, activation="tanh").lowest_margin, 6)
            -3.139644
        """
        return max(quantities.MARGIN.low, -DEVIATIONS * math.sqrt(self.variance))

    @property
    def asked(self) -> Energy:
        """What patterns ask of stabilities: the energy, or the margin.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> Perceptron(alpha=0.5, margin=0.2).asked
            HardMargin(margin=0.2)
        """
        return HardMargin(self.margin) if self.energy is None else self.energy

    def at(self, **controls: Any) -> Self:
        """This model with another alpha, margin or energy. They are not checked again, and nothing else is set anew.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> Perceptron(alpha=0.5).at(margin=0.2)
            Perceptron(alpha=0.5, margin=0.2, energy=None)
        """
        moved = copy(self)
        moved._set(**controls)
        return moved

    @property
    def without_pairs(self) -> str:
        """Why the solutions have no Franz-Parisi entropy here; empty where they have one.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> Perceptron(alpha=0.5).without_pairs
            ''
        """
        return ""

    @abstractmethod
    def covariances(self, x: Any) -> Covariances:
        """C, V and R, from the order parameters.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> from localentropy.theory.weights import Overlap
            >>> Perceptron(alpha=0.5).covariances(Overlap(q_hat=0.4, q=0.25, v=0.75))
            Covariances(common=0.25, free=0.75, teacher=0.0)
        """

    @property
    def variance(self) -> float:
        """Variance of a pre-activation of random weights. Margins have its unit, and are not divided by its root.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> round(RandomFeatures(alpha_T=3.0, activation="tanh").variance, 6)
            0.394294
        """
        return 1.0

    @property
    @abstractmethod
    def response(self) -> float:
        """Derivative, by the overlap q and at q = 0, of the covariance of two solutions' pre-activations.

        Example:
            >>> from localentropy.theory import TreeCommittee
            >>> round(TreeCommittee(activation="relu").response, 6)
            0.733471
        """

    def flip_correlation(self, S: float) -> float:
        """Correlation of the pre-activations of a student and of its copy with random flips, at overlap S.

        Example:
            >>> from localentropy.theory import TreeCommittee
            >>> round(TreeCommittee(activation="relu").flip_correlation(0.5), 6)
            0.426422
        """
        return S

    @abstractmethod
    def pair_covariances(self, x: Any, ref: Any) -> PairCovariances:
        """Covariances of a student beside its reference, from the order parameters of both."""

    def pair_stiffness(self, x: Any, pulled: float, bent: float) -> float:
        """The patterns' factor of the replicon: how strongly they answer to a splitting of the students' overlaps.

        Args:
            x: order parameters of a student and its reference.
            pulled: mean square of the first derivative of ln H by a student's field.
            bent: mean square of the second derivative.

        Here covariances are linear in the overlap. A model in which they are not has a factor of its own.
        """
        return self.alpha * bent * self.response**2

    @abstractmethod
    def group_covariances(self, x: Any) -> GroupCovariances:
        """Covariances of students in groups, from the order parameters `large_deviations.Group`."""

    def students_of_teacher(self, typical: Array) -> Any:
        """Solutions at distances from a teacher who solves: `around_teacher.TaughtStudents`."""
        raise NotImplementedError

    def sharing_nothing(self) -> StationaryPoint:
        """Typical solutions next to a teacher who solves, where these share nothing beyond it."""
        raise NotImplementedError

    def disagreement(self, rest: float, R: float) -> float:
        """Probability that the label of a pre-activation is not the teacher's.

        Args:
            rest: its variance beyond the teacher's part.
            R: its covariance with the teacher's.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> round(Perceptron(alpha=0.5).disagreement(rest=0.5, R=0.5), 6)
            0.304087
        """
        return math.atan2(math.sqrt(rest), R) / math.pi

    def describe(self) -> str:
        """The control parameters without the margin, as error messages name them.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> Perceptron(alpha=0.5).describe()
            'alpha = 0.5'
        """
        return f"alpha = {self.alpha:.12g}"

    def beyond(self, name: str, threshold: float) -> str:
        """Words of an error message for a load above a threshold.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> Perceptron(alpha=0.9).beyond("alpha_c", 0.833079)
            'alpha = 0.9 is above alpha_c = 0.833079'
        """
        return f"{self.describe()} is above {name} = {threshold:.12g}"

    def values(self, y: Array) -> Any:
        """The order parameters at coordinates, as numbers.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> Perceptron(alpha=0.5).values([0.0, 0.0])
            Overlap(q_hat=1.0, q=0.5, v=0.5)
        """
        x = self.weights.order_parameters(variables(y))
        return type(x)(*map(plain, x))

    def covariance_values(self, y: Array) -> Covariances:
        """C, V and R at coordinates, as numbers.

        Example:
            >>> from localentropy.theory import Perceptron
            >>> Perceptron(alpha=0.5).covariance_values([0.0, 0.0])
            Covariances(common=0.5, free=0.5, teacher=0.0)
        """
        found = self.covariances(self.weights.order_parameters(variables(y)))
        return Covariances(*map(plain, found))


@dataclass(frozen=True)
class Typical(FreeEntropy):
    """phi of the typical solutions of a model; a hard constraint makes it their entropy, nats per weight.

    Controls: ln alpha, the control of the energy (the margin, or ln beta), and the logarithm of a load, a factor on the
    energetic term.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.numerics.saddle_point import solve
        >>> from localentropy.theory.model import Typical
        >>> round(solve(Typical(Perceptron(alpha=0.5)), [0.0, 0.0]).value, 6)  # the entropy of typical solutions
        0.31439
    """

    model: Model
    log_load: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates of the weights."""
        return self.model.weights.names

    def controls(self) -> Array:
        """ln alpha, the energy's control, ln load."""
        return np.array([math.log(self.model.alpha), self.model.asked.control, self.log_load])

    def scales(self, coordinates: Array) -> Array:
        """1 for logarithms, the size of others."""
        return sizes(self.names, coordinates)

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi, nats per weight."""
        x = self.model.weights.order_parameters(coordinates)
        energy = self.model.asked.term(self.model.covariances(x), controls[MARGIN], self.model.labels)
        return (
            self.model.weights.entropy(x, exp(controls[LOG_ALPHA]))
            + exp(controls[LOG_ALPHA] + controls[LOG_LOAD]) * energy
        )
