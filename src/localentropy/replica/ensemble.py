"""What a model states, and the free entropy of its typical solutions put together from that."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from localentropy.numerics.jets import Jet, Number, exp, logistic, variables
from localentropy.numerics.saddle_point import Array, FreeEntropy
from localentropy.replica import sites
from localentropy.replica.patterns import hard_margin, pull

LOG_ALPHA, MARGIN, LOG_LOAD = range(3)
"""Positions of the control parameters of `Typical`."""
LOADS = (1e-9, 1e9)
"""Range of patterns per weight, and of any ratio of sizes."""
LARGEST_MARGIN = 1e3
"""The largest margin accepted. kappa_max is larger only below about 1e-6 patterns per weight."""


class Overlap(NamedTuple):
    """The order parameters of binary weights: q_hat, q, and v = 1 - q without cancellation."""

    q_hat: Any
    q: Any
    v: Any


@dataclass(frozen=True)
class Ensemble(ABC):
    """Binary weights that satisfy random patterns, which see the weights through Gaussian pre-activations only.

    Attributes:
        alpha: patterns per weight, P/N.
        margin: smallest stability kappa of a solution.
    """

    alpha: float
    margin: float

    names: ClassVar[tuple[str, ...]] = ("ln q_hat", "logit q")
    pair_names: ClassVar[tuple[str, ...]] = ()
    beyond_alpha_c: ClassVar[str] = "there are no solutions"

    @abstractmethod
    def covariances(self, x: Any) -> tuple[Jet, Jet, Number]:
        """C, V and R of `patterns.hard_margin`, from the order parameters."""

    @property
    def variance(self) -> float:
        """Variance of a pre-activation of random weights, whose root is the unit of the margin."""
        return 1.0

    @property
    @abstractmethod
    def response(self) -> float:
        """Derivative at q = 0 of the covariance of two solutions' pre-activations by their overlap q."""

    def order_parameters(self, y: Sequence[Jet]) -> Any:
        """The order parameters at coordinates."""
        return Overlap(exp(y[0]), logistic(y[1]), logistic(-y[1]))

    def site_entropy(self, x: Any, alpha: Number) -> Jet:
        """Everything in the free entropy that does not see the patterns, nats per weight."""
        return sites.binary(x.q_hat, x.q, x.v)

    def flip_correlation(self, S: float) -> float:
        """Correlation of the pre-activations of a student and of its copy with random flips, at overlap S."""
        return S

    @abstractmethod
    def pair_covariances(self, x: Any, ref: Any) -> tuple[Number, Jet, Jet, Number, Jet, Number]:
        """s, X, V, Y, Z, R of `pair_energy`, from the order parameters of a student and its reference."""

    def pair_order_parameters(self, y: Sequence[Jet], spread: Jet) -> Any:
        """What the model adds to `franz_parisi.Pair`, at its coordinates `pair_names`; `spread` is 1 - S^2."""
        return None

    def pair_site_fields(self, x: Any, ref: Any) -> tuple[Number, float, float]:
        """r_hat of students, q_hat and r_hat of references: r_hat is 0 where there is no teacher among the weights."""
        return 0.0, ref.q_hat, 0.0

    def pair_latent_entropy(self, x: Any, ref: Any) -> Jet | None:
        """What the model adds to the entropy of the sites of a student beside a reference."""
        return None

    def pair_stiffness(self, x: Any, pulled: float, bent: float) -> float:
        """The patterns' factor of the replicon: how strongly they answer to a splitting of the students' overlaps.

        Args:
            x: order parameters of a student and its reference.
            pulled: mean square of the first derivative of ln H by a student's field.
            bent: that of the second derivative.
        """
        return self.alpha * bent

    def weakly_loaded(self, load: float) -> Array:
        """Coordinates of the solution at a small load (a factor on alpha at fixed geometry), to first order."""
        q_hat = load * self.alpha * self.response * pull(self.margin, self.variance) ** 2
        return np.array([math.log(q_hat), math.log(q_hat)])

    @property
    def small_load(self) -> float:
        """A load at which `weakly_loaded` holds to about 1e-3."""
        return 1e-3 / (1.0 + self.alpha * self.response * pull(self.margin, self.variance) ** 2)

    def describe(self) -> str:
        """The control parameters but the margin, as error messages name them."""
        return f"alpha = {self.alpha:.12g}"

    def beyond(self, name: str, threshold: float) -> str:
        """What an error message says where patterns are more than a threshold of alpha."""
        return f"{self.describe()} is above {name} = {threshold:.12g}"

    def scales(self, y: Array) -> Array:
        """Sizes of the coordinates that errors are relative to."""
        return np.ones(len(y))

    def values(self, y: Array) -> Any:
        """The order parameters at coordinates, as numbers."""
        x = self.order_parameters(variables(y))
        return type(x)(*(part.value if isinstance(part, Jet) else part for part in x))

    def covariance_values(self, y: Array) -> tuple[float, float, float]:
        """C, V and R at coordinates, as numbers."""
        C, V, R = self.covariances(self.order_parameters(variables(y)))
        return C.value, V.value, R.value if isinstance(R, Jet) else R

    def at(self, **controls: float) -> Self:
        """The same model at another alpha or margin."""
        return replace(self, **controls)


@dataclass(frozen=True)
class Typical(FreeEntropy):
    """phi of the typical solutions of an ensemble; a hard constraint makes it their entropy, nats per weight.

    Controls: ln alpha, the margin, and the logarithm of a load, a factor on the energetic term.
    """

    ensemble: Ensemble
    log_load: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the ensemble's coordinates."""
        return self.ensemble.names

    def controls(self) -> Array:
        """ln alpha, margin, ln load."""
        return np.array([math.log(self.ensemble.alpha), self.ensemble.margin, self.log_load])

    def scales(self, coordinates: Array) -> Array:
        """The ensemble's."""
        return self.ensemble.scales(coordinates)

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi, nats per weight."""
        x = self.ensemble.order_parameters(coordinates)
        energy = hard_margin(*self.ensemble.covariances(x), controls[MARGIN])
        return (
            self.ensemble.site_entropy(x, exp(controls[LOG_ALPHA]))
            + exp(controls[LOG_ALPHA] + controls[LOG_LOAD]) * energy
        )
