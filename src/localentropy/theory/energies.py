"""What a pattern asks of its stability: the energies of a model.

A stability x gets the weight exp(-beta E(x)). A hard constraint has the weights 0 and 1. An energy enters a free
entropy through one term, the mean over patterns of the logarithm of the mean weight over a student's own part.

    >>> from localentropy.theory import CrossEntropy, Perceptron, typical
    >>> round(typical(Perceptron(alpha=0.6, energy=CrossEntropy(gamma=2.0, log_beta=1.0))).q, 6)
    0.212083

A user's own energy is a frozen dataclass that derives from `Steps` (docs/own_model.md).
"""

from __future__ import annotations

import itertools
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from localentropy.arguments import shown
from localentropy.errors import DomainError
from localentropy.numerics.jets import Array, Jet, Number, compose, plain, variables
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, unit_legendre
from localentropy.quantities import GAMMA, LOG_BETA, LOG_BETA_OF_STEPS, TEMPERATURE
from localentropy.theory.pair_energy import Reference, SoftReference, StepReference
from localentropy.theory.patterns import cross_entropy, hard_margin, pull
from localentropy.theory.step_patterns import PANEL_NODES, step_term

if TYPE_CHECKING:
    from localentropy.theory.model import Covariances

FEW_PATTERNS = 0.07
"""Entropy that patterns take, in nats per weight, where a search for a load with solutions starts."""
SMALL = 1e-12
"""A covariance that hardly moves the energetic term: its slope is taken there."""


class Labels(NamedTuple):
    """The teacher's pre-activations that have the label 1. A stability is a pre-activation times the label.

    Attributes:
        edges: where the weight changes.
        weights: the probability of this label between the edges, one more than edges.

    Example:
        >>> from localentropy.theory import SquareWave
        >>> labels = SquareWave(period=4.0).labels
        >>> labels.edges[4:7], labels.weights[4:8]
        ((-2.0, 0.0, 2.0), (1.0, 0.0, 1.0, 0.0))
    """

    edges: tuple[float, ...]
    weights: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean of the teacher's pre-activation where the label is 1.

        Example:
            >>> from localentropy.theory import Labels
            >>> round(Labels((0.0,), (0.0, 1.0)).mean, 6)
            0.797885
        """
        edges, inside = np.array(self.edges), np.diff(ndtr([-math.inf, *self.edges, math.inf]))
        moment = np.diff(self.weights) @ np.exp(-0.5 * edges**2) * INVERSE_SQRT_2PI
        return float(moment / (self.weights @ inside))


SIGN = Labels((0.0,), (0.0, 1.0))


class Energy(ABC):
    """What a pattern asks of its stability. A subclass is a frozen dataclass.

    Attributes:
        control: the number by which the free entropy is differentiated too: the margin, or ln beta.

    Example:
        >>> from localentropy.theory import Energy, GibbsLoss
        >>> isinstance(GibbsLoss(temperature=0.4), Energy)
        True
    """

    symmetric: ClassVar[bool] = False
    """Whether weights w and -w always have the same energy."""
    taught: ClassVar[bool] = True
    """Whether the term holds for the labels of a teacher."""

    @property
    @abstractmethod
    def control(self) -> float:
        """The margin of a hard constraint, ln beta of others.

        Example:
            >>> from localentropy.theory import HardMargin
            >>> HardMargin(0.5).control
            0.5
        """

    @property
    @abstractmethod
    def hard(self) -> bool:
        """Whether patterns are satisfied or not, so that the free entropy is the entropy of the solutions.

        Example:
            >>> from localentropy.theory import CrossEntropy, HardMargin
            >>> HardMargin(0.5).hard, CrossEntropy(gamma=2.0, log_beta=1.0).hard
            (True, False)
        """

    @abstractmethod
    def term(self, at: Covariances, control: Number, labels: Labels = SIGN) -> Jet:
        """G_E: mean over a pattern of ln of the mean weight over a student's own part, nats.

        Args:
            at: the covariances of the pre-activations, as jets.
            control: the value of `control`, as a jet or a number.
            labels: of the teacher.

        Example:
            >>> from localentropy.theory import HardMargin, Perceptron
            >>> from localentropy.numerics.jets import variables
            >>> from localentropy.theory.model import Covariances
            >>> common, free = variables([0.3, 0.7])
            >>> round(HardMargin(0.0).term(Covariances(common, free, 0.0), 0.0).value, 6)
            -0.827177
        """

    @abstractmethod
    def reference(self, at: Covariances) -> Reference | SoftReference | StepReference:
        """Weights of this energy, whose pre-activations have these covariances, as a reference for others.

        Example:
            >>> from localentropy.theory import HardMargin
            >>> from localentropy.theory.model import Covariances
            >>> HardMargin(0.5).reference(Covariances(0.3, 0.7, 0.0))
            Reference(common=0.3, free=0.7, teacher=0.0, margin=0.5)
        """

    @property
    def solved(self) -> Energy | None:
        """What the weights counted around a reference obey: this energy at 0; None stands for the model's margin.

        Example:
            >>> from localentropy.theory import GibbsLoss
            >>> GibbsLoss(temperature=0.4).solved
            GibbsLoss(temperature=0.0)
        """
        return self

    def require(self) -> None:
        """Refuse an energy that is stated wrongly, before anything is computed.

        Raises:
            DomainError: says what is wrong.
        """
        try:
            hash(self)
        except TypeError:
            raise DomainError(
                f"{shown(self)} has no hash: write @dataclass(frozen=True), and tuples in place of lists"
            ) from None

    def slopes(self, variance: float) -> tuple[float, float]:
        """First two derivatives of ln of the mean weight by the pre-activation at 0, for random weights.

        Example:
            >>> from localentropy.theory import HardMargin
            >>> [round(slope, 6) for slope in HardMargin(0.0).slopes(variance=1.0)]
            [0.797885, -0.63662]
        """
        _, (by_common, by_free) = self._weak(variance)
        return math.sqrt(max(2.0 * (by_free - by_common), 0.0)), 2.0 * by_common

    def few_patterns(self, variance: float) -> float:
        """A load at which patterns leave most of the entropy of random weights.

        Example:
            >>> from localentropy.theory import HardMargin
            >>> HardMargin(0.0).few_patterns(variance=1.0)
            0.1
        """
        return FEW_PATTERNS / max(self.cost(variance), SMALL)

    def cost(self, variance: float) -> float:
        """Entropy that one pattern takes from random weights, nats.

        Example:
            >>> from localentropy.theory import HardMargin
            >>> round(HardMargin(0.0).cost(variance=1.0), 6)
            0.693147
        """
        return -self._weak(variance)[0]

    def _weak(self, variance: float) -> tuple[float, Array]:
        """The term of random weights and its derivatives by C and V."""
        from localentropy.theory.model import Covariances

        common, free = variables([SMALL * variance, variance])
        term = self.term(Covariances(common, free, 0.0), self.control)
        return term.value, term.gradient


@dataclass(frozen=True)
class HardMargin(Energy):
    """Stabilities are at least the margin: the energy of a model to which no other is given.

    Attributes:
        margin: kappa.

    Example:
        >>> from localentropy.theory import HardMargin, Perceptron
        >>> Perceptron(alpha=0.5, margin=0.2).asked
        HardMargin(margin=0.2)
    """

    margin: float = 0.0

    hard: ClassVar[bool] = True  # type: ignore[misc]

    @property
    def control(self) -> float:
        """The margin."""
        return self.margin

    def term(self, at: Covariances, control: Number, labels: Labels = SIGN) -> Jet:
        """G_E (docs/margins/theory.md eq. 3)."""
        return hard_margin(*at, control)

    def reference(self, at: Covariances) -> Reference:
        """Typical solutions of the margin."""
        return Reference(*at, self.margin)

    def slopes(self, variance: float) -> tuple[float, float]:
        """The hazard at the margin and its negative slope, in units of the deviation."""
        first = pull(self.margin, variance)
        return first, first * (self.margin / variance - first)

    def few_patterns(self, variance: float) -> float:
        """A pattern costs about ln 2 + margin^2 / 2 nats, the margin in its unit; less if this is negative."""
        unit = self.margin / math.sqrt(variance)
        return 0.1 / (1.0 + unit**2) if unit >= 0.0 else -FEW_PATTERNS / float(log_ndtr(-unit))


@dataclass(frozen=True)
class CrossEntropy(Energy):
    """Cross-entropy loss at an inverse temperature, E(x) = ln(1 + exp(-2 gamma x)) / (2 gamma).

    Source: `shaping`, Methods; docs/shaping/theory.md eq. C.1.

    Attributes:
        gamma: sharpness of the loss, in [0.1, 100].
        log_beta: ln beta, in [-20, 2000]. At low temperatures beta is beyond the range of numbers.

    Example:
        >>> from localentropy.theory import CrossEntropy, Perceptron, typical
        >>> round(typical(Perceptron(0.6, energy=CrossEntropy(gamma=2.0, log_beta=1.0))).mean_energy, 6)
        0.073412
    """

    gamma: float
    log_beta: float

    hard: ClassVar[bool] = False  # type: ignore[misc]
    taught: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", GAMMA.require(self.gamma))
        object.__setattr__(self, "log_beta", LOG_BETA.require(self.log_beta))

    @property
    def control(self) -> float:
        """ln beta.

        Example:
            >>> from localentropy.theory import CrossEntropy
            >>> CrossEntropy(gamma=2.0, log_beta=1.0).control
            1.0
        """
        return self.log_beta

    def term(self, at: Covariances, control: Number, labels: Labels = SIGN) -> Jet:
        """G_E (docs/shaping/theory.md eq. C.3), for labels without a teacher."""
        return cross_entropy(at.common, at.free, control, self.gamma)

    def reference(self, at: Covariances) -> SoftReference:
        """Weights drawn at the temperature."""
        return SoftReference(at.common, at.free, self.log_beta, self.gamma)

    @property
    def solved(self) -> None:
        """Weights without errors: the margin of the model.

        Example:
            >>> from localentropy.theory import CrossEntropy
            >>> CrossEntropy(gamma=2.0, log_beta=1.0).solved is None
            True
        """
        return


class Steps(Energy):
    """An energy that is constant between a few stabilities: the base class of a user's own energy.

    A subclass states `edges` and `energies`, as fields, class variables or properties. Energies are 0 or infinite in a
    hard constraint. Others may come with `log_beta`.

    Attributes:
        edges: stabilities at which the energy changes, in increasing order.
        energies: energies below the first edge, between neighbouring edges, and above the last one, one more than
            edges; 0 or more, or infinite. The least is 0.
        log_beta: logarithm of the inverse temperature beta, a factor on all energies.

    Example:
        >>> import math
        >>> from dataclasses import dataclass
        >>> from localentropy.theory import Perceptron, Steps, alpha_c
        >>> @dataclass(frozen=True)
        ... class AtMost(Steps):
        ...     largest: float
        ...     @property
        ...     def edges(self):
        ...         return 0.0, self.largest
        ...     @property
        ...     def energies(self):
        ...         return math.inf, 0.0, math.inf
        >>> round(alpha_c(Perceptron(energy=AtMost(1.0))), 6)
        0.634277
    """

    edges: tuple[float, ...]
    energies: tuple[float, ...]
    log_beta: float = 0.0

    @property
    def control(self) -> float:
        """ln beta; it has no effect on a hard constraint.

        Example:
            >>> from localentropy.theory import SquareWave
            >>> SquareWave(period=4.0).control
            0.0
        """
        return self.log_beta

    @property
    def hard(self) -> bool:
        """Whether all energies are 0 or infinite.

        Example:
            >>> from localentropy.theory import GibbsLoss, SquareWave
            >>> GibbsLoss(temperature=0.4).hard, SquareWave(period=4.0).hard
            (False, True)
        """
        return set(self._levels()[1].tolist()) <= {0.0, math.inf}

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether x and -x have the same energy.

        Example:
            >>> from localentropy.theory import GibbsLoss, SymmetricPerceptron
            >>> GibbsLoss(temperature=0.4).symmetric, SymmetricPerceptron(alpha=1.0).energy.symmetric
            (False, True)
        """
        edges, energies = self._levels()
        return np.array_equal(energies, energies[::-1]) and np.array_equal(edges, -edges[::-1])

    @property
    def labels(self) -> Labels:
        """The weights of stabilities, as the probabilities that a teacher of this pre-activation gives the label 1.

        Example:
            >>> from localentropy.theory import GibbsLoss
            >>> GibbsLoss(temperature=0.0).labels
            Labels(edges=(0.0,), weights=(0.0, 1.0))
        """
        edges, energies = self._levels()
        beta = math.exp(self.log_beta)
        return Labels(tuple(edges.tolist()), tuple(math.exp(-beta * energy) for energy in energies.tolist()))

    def require(self) -> None:
        """Refuse what is no energy of stabilities.

        Raises:
            DomainError: names the edges, the energies or log_beta, and what is allowed.
        """
        super().require()
        for name in ("edges", "energies"):
            if not hasattr(self, name):
                raise DomainError(f"{type(self).__name__} states no {name}: allowed is a tuple of numbers")
        self._levels()
        LOG_BETA_OF_STEPS.require(self.log_beta)

    def _levels(self) -> tuple[Array, Array]:
        return step_levels(self.edges, self.energies)

    def term(self, at: Covariances, control: Number, labels: Labels = SIGN) -> Jet:
        """G_E, by sums of Gaussian tails and one integral."""
        return compose(*self._found(at, control, labels)[:3], (*at, control))

    def pulls(self, at: Covariances, labels: Labels) -> tuple[float, float]:
        """Mean squares of the first two derivatives of ln of the mean weight by the pre-activation."""
        pulled, bent = self._found(at, self.control, labels)[3]
        return float(pulled), float(bent)

    def _found(self, at: Covariances, control: Number, labels: Labels) -> tuple[float, Array, Array, Array]:
        edges, energies = self._levels()
        scaled = math.exp(plain(control)) * energies
        arrays = edges, scaled, *_label_arrays(labels), *unit_legendre(PANEL_NODES)
        return step_term(*map(plain, at), *arrays)  # type: ignore[no-any-return]

    def reference(self, at: Covariances) -> StepReference:
        """Weights drawn by this energy, and students without energy."""
        edges, energies = self._levels()
        students = np.where(energies == 0.0, 0.0, math.inf)
        return StepReference(at.common, at.free, edges, math.exp(self.log_beta) * energies, students)

    def slopes(self, variance: float) -> tuple[float, float]:
        """First two derivatives of ln of the mean weight, by the jumps of the weight.

        Example:
            >>> from localentropy.theory import GibbsLoss
            >>> [round(slope, 6) for slope in GibbsLoss(temperature=0.4).slopes(variance=1.0)]
            [0.676832, -0.458102]
        """
        edges, energies = self._levels()
        a, deviation = edges / math.sqrt(variance), math.sqrt(variance)
        weight = np.exp(-math.exp(self.log_beta) * energies)
        jump = np.diff(weight) * INVERSE_SQRT_2PI * np.exp(-0.5 * a * a - self._weak(variance)[0])
        first, second = float(jump.sum()) / deviation, float(jump @ a) / variance
        return first, second - first**2


def step_levels(edges: Iterable[float], energies: Iterable[float]) -> tuple[Array, Array]:
    """Edges and energies of a user's `Steps` as arrays.

    Args:
        edges: where the energy changes, increasing; a tuple, or what has numbers in an order.
        energies: one more than edges.

    Returns:
        Both as arrays.

    Raises:
        DomainError: they are no energy of stabilities.

    Example:
        >>> import math
        >>> from localentropy.theory.energies import step_levels
        >>> [levels.tolist() for levels in step_levels((0.0, 1.0), (math.inf, 0.0, math.inf))]
        [[0.0, 1.0], [inf, 0.0, inf]]
    """
    try:
        return _levels(tuple(edges), tuple(energies))
    except TypeError:  # what has no elements, or elements without a hash, such as lists
        return _levels(_numbers("edges", edges), _numbers("energies", energies))


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    """The numbers of a sequence. Energies may be infinite.

    Raises:
        DomainError: no numbers in an order.
    """
    allowed = "in increasing order" if name == "edges" else "from 0 on, or math.inf; the least must be 0"
    text = isinstance(values, (str, bytes, Set, Mapping))
    entries = None if text or not isinstance(values, Iterable) else list(values)
    if entries is None or not all(isinstance(one, numbers.Real) and not isinstance(one, bool) for one in entries):
        raise DomainError(f"{name} = {shown(values)}: allowed is a tuple of numbers {allowed}")
    return tuple(map(float, entries))


@lru_cache(maxsize=256)
def _levels(edges: tuple[float, ...], energies: tuple[float, ...]) -> tuple[Array, Array]:
    edges, energies = _numbers("edges", edges), _numbers("energies", energies)
    if not edges or not all(map(math.isfinite, edges)) or any(b <= a for a, b in itertools.pairwise(edges)):
        raise DomainError(f"edges = {shown(edges)}: allowed are finite numbers in increasing order, at least one")
    if len(energies) != len(edges) + 1:
        raise DomainError(f"energies = {shown(energies)}: allowed is one more than edges: {len(edges) + 1}")
    if not min(energies) == 0.0 or any(math.isnan(energy) for energy in energies):
        raise DomainError(f"energies = {shown(energies)}: allowed are numbers from 0 on and inf; the least must be 0")
    return np.array(edges, dtype=float), np.array(energies, dtype=float)


@lru_cache(maxsize=256)
def _label_arrays(labels: Labels) -> tuple[Array, Array]:
    return np.array(labels.edges), np.array(labels.weights)


@dataclass(frozen=True)
class GibbsLoss(Steps):
    """The number of errors at a temperature: a stability below 0 costs 1 / T (`glm`; docs/glm/theory.md eq. 42).

    Attributes:
        temperature: T, in [0, 100]. At 0 no pattern may be wrong.

    Example:
        >>> from localentropy.theory import GibbsLoss, TeacherStudent, typical
        >>> round(typical(TeacherStudent(alpha=1.0, energy=GibbsLoss(temperature=0.4))).r, 6)
        0.465126
    """

    temperature: float

    edges: ClassVar[tuple[float, ...]] = (0.0,)  # type: ignore[misc]

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", TEMPERATURE.require(self.temperature))

    @property
    def log_beta(self) -> float:  # type: ignore[override]
        """-ln T; 0 at T = 0.

        Example:
            >>> from localentropy.theory import GibbsLoss
            >>> round(GibbsLoss(temperature=0.4).log_beta, 6)
            0.916291
        """
        return -math.log(self.temperature) if self.temperature else 0.0

    @property
    def solved(self) -> GibbsLoss:
        """No errors.

        Example:
            >>> from localentropy.theory import GibbsLoss
            >>> GibbsLoss(temperature=0.4).solved
            GibbsLoss(temperature=0.0)
        """
        return GibbsLoss(0.0)

    @property
    def energies(self) -> tuple[float, ...]:  # type: ignore[override]
        """1 for an error; infinite at T = 0.

        Example:
            >>> from localentropy.theory import GibbsLoss
            >>> GibbsLoss(temperature=0.4).energies, GibbsLoss(temperature=0.0).energies
            ((1.0, 0.0), (inf, 0.0))
        """
        return 1.0 if self.temperature else math.inf, 0.0
