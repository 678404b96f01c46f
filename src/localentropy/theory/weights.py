"""What the weights of a model are: their order parameters, and what of a free entropy sees no patterns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from localentropy.numerics.jets import Jet, Number, exp, logistic
from localentropy.numerics.saddle_point import Array
from localentropy.theory import sites

if TYPE_CHECKING:
    from localentropy.theory.model import Model


class Overlap(NamedTuple):
    """The order parameters of binary weights: q_hat, q, and v = 1 - q without cancellation.

    Example:
        >>> from localentropy.theory.weights import Overlap
        >>> Overlap(q_hat=1.0, q=0.5, v=0.5).q
        0.5
    """

    q_hat: Any
    q: Any
    v: Any


class Weights:
    """Binary weights, each in a random field. Subclasses add order parameters of a teacher, or are not binary.

    Attributes:
        binary: whether they are binary. Then a negative entropy means that there are no solutions. Of other weights
            it is the log of a volume, and only questions about typical solutions are answered.
        names: the coordinates of typical solutions.
        pair_names: coordinates that are added beside a reference.
        group_names: coordinates that are added in groups.

    Example:
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.weights import Weights
        >>> x = Weights().order_parameters(variables([0.0, 0.0]))
        >>> x.q.value, x.v.value
        (0.5, 0.5)
    """

    binary: bool = True
    names: tuple[str, ...] = ("ln q_hat", "logit q")
    pair_names: tuple[str, ...] = ()
    group_names: tuple[str, ...] = ()

    def order_parameters(self, y: Sequence[Jet]) -> Any:
        """The order parameters at coordinates."""
        return Overlap(exp(y[0]), logistic(y[1]), logistic(-y[1]))

    def entropy(self, x: Any, alpha: Number) -> Jet:
        """Everything in the free entropy that does not see the patterns, nats per weight."""
        return sites.binary(x.q_hat, x.q, x.v)

    def reported(self, x: Any) -> dict[str, float]:
        """The order parameters that a typical solution shows, by name, from their values."""
        return {"q": x.q, "q_hat": x.q_hat}

    def start(self, model: Model, load: float) -> Array:
        """Coordinates of the solution at a small load (a factor on alpha at fixed geometry), to first order."""
        q_hat = load * model.alpha * model.response * model.asked.slopes(model.variance)[0] ** 2
        return np.array([math.log(q_hat), math.log(q_hat)])

    def small_load(self, model: Model) -> float:
        """A load at which `start` holds to about 1e-3."""
        return 1e-3 / (1.0 + model.alpha * model.response * model.asked.slopes(model.variance)[0] ** 2)

    def pair_order_parameters(self, y: Sequence[Jet], x: Any, ref: Any) -> Any:
        """What is added to `franz_parisi_entropy.Pair` x, at coordinates `pair_names`."""
        return None

    def pair_fields(self, x: Any, ref: Any) -> tuple[Number, float, float]:
        """r_hat of students, q_hat and r_hat of references. r_hat is 0 where no teacher is among the weights."""
        return 0.0, ref.q_hat, 0.0

    def pair_entropy(self, x: Any, ref: Any, alpha: float) -> Number:
        """What is added to the entropy of the sites of a student beside a reference."""
        return 0.0

    def group_order_parameters(self, y: Sequence[Jet], x: Any) -> Any:
        """What is added to `large_deviations.Group` x, at coordinates `group_names`."""
        return None

    def group_field(self, x: Any) -> Number:
        """r_hat of the students of groups; 0 where no teacher is among the weights."""
        return 0.0

    def group_entropy(self, x: Any, alpha: Number) -> Number:
        """What is added to the entropy of the sites of groups, nats per weight, divided by y."""
        return 0.0

    def group_start(self, y: Array) -> Array:
        """Coordinates `group_names` of groups that hardly differ, at the coordinates of typical solutions."""
        return y[2:]
