"""The binary perceptron on random patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from localentropy.theory.energies import Energy
from localentropy.theory.model import OPEN, Covariances, GroupCovariances, Model, PairCovariances
from localentropy.theory.weights import Overlap


@dataclass(frozen=True)
class Perceptron(Model):
    """Binary perceptron that stores random patterns (`margins`, supplement I and II; docs/margins/theory.md).

    N weights +-1, P = alpha N random patterns. A solution of margin kappa has all its stabilities >= kappa, in units in
    which the pre-activation is w.x / sqrt(N). Entropies are in nats per weight.

    Attributes:
        alpha: patterns per weight, in [1e-9, 1e9].
        margin: kappa, in [-4, 1000].
        energy: what patterns ask of stabilities, if this is not the margin; `CrossEntropy`, `GibbsLoss`, or a user's
            own (docs/own_model.md).

    Example:
        >>> from localentropy.theory import Perceptron, alpha_c, franz_parisi
        >>> round(alpha_c(Perceptron(margin=0.1)), 6)
        0.733017
        >>> curve = franz_parisi(Perceptron(alpha=0.5), [0.01, 0.1])
    """

    alpha: float = OPEN
    margin: float = 0.0
    energy: Energy | None = None

    response: ClassVar[float] = 1.0

    def covariances(self, x: Overlap) -> Covariances:
        """C = q, V = 1 - q, no teacher (docs/margins/theory.md eq. 3)."""
        return Covariances(x.q, x.v, 0.0)

    def pair_covariances(self, x: Any, ref: Overlap) -> PairCovariances:
        """The student's pre-activation is S times the reference's, plus the difference's (docs/margins eq. 17)."""
        return PairCovariances(x.s, x.chi, x.v, 0.0, x.tau, 0.0)

    def group_covariances(self, x: Any) -> GroupCovariances:
        """The overlaps (docs/margins/theory.md section 11)."""
        return GroupCovariances(x.q, x.v, x.delta, 0.0)
