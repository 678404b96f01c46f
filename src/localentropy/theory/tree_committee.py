"""The tree committee of infinitely many binary perceptrons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from localentropy.numerics.activations import Activation
from localentropy.numerics.gaussian_covariance import Covariance, gaussian_covariance
from localentropy.numerics.jets import Jet, variables
from localentropy.numerics.quadrature import unit_legendre
from localentropy.theory.energies import Energy
from localentropy.theory.model import OPEN, Covariances, GroupCovariances, Model, PairCovariances
from localentropy.theory.weights import Overlap

CLOSE_OVERLAPS = 1.2
"""Largest ratio of 1 - q0 and 1 - q1 at which the slope of a covariance is averaged between them."""


@dataclass(frozen=True)
class TreeCommittee(Model):
    """Tree committee of infinitely many binary perceptrons on random patterns (`margins`, supplement III).

    K perceptrons of N / K weights +-1 each see their own part of a pattern. An activation makes an output of each sum.
    The committee adds up the outputs, half of them with a minus sign unless their mean is zero. K goes to infinity
    after N. Margins are in units of the sum's standard deviation. Derivation: docs/margins/theory.md, section 8.

    Attributes:
        alpha: patterns per weight, in [1e-9, 1e9].
        margin: kappa, in [-4, 1000].
        activation: "sign", "relu", "erf", "tanh", "identity" (the perceptron), or a function g of arrays or of one
            number, with jumps and kinks if need be. It has a linear part, E[z g(z)] not 0, so it is not even.
        energy: what patterns ask of stabilities, if this is not the margin; as for `Perceptron`.
        units: Q(q), covariance of the units' outputs, which follows from the activation (`margins`, eqs. 37;
            docs/margins/theory.md eq. 30).

    Example:
        >>> from localentropy.theory import TreeCommittee, alpha_c
        >>> round(alpha_c(TreeCommittee(activation="relu")), 6)
        0.903986
    """

    alpha: float = OPEN
    margin: float = 0.0
    activation: Activation = field(default="sign", compare=False)
    energy: Energy | None = None
    units: Covariance = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(units=gaussian_covariance(self.activation))

    @property
    def response(self) -> float:
        """Derivative of the covariance at q = 0.

        Example:
            >>> from localentropy.theory import TreeCommittee
            >>> round(TreeCommittee(activation="relu").response, 6)
            0.733471
        """
        return float(self.units.covariance(variables([0.0])[0]).gradient[0])

    def flip_correlation(self, S: float) -> float:
        """Correlation of the pre-activations of a student and of its copy at overlap S.

        Example:
            >>> from localentropy.theory import TreeCommittee
            >>> round(TreeCommittee(activation="relu").flip_correlation(0.5), 6)
            0.426422
        """
        return self.units.covariance(variables([S])[0]).value

    def covariances(self, x: Overlap) -> Covariances:
        """C = Q(q), V = 1 - Q(q), no teacher (docs/margins/theory.md eq. 31)."""
        return Covariances(self.units.covariance(x.q), self.units.lost(x.v), 0.0)

    def pair_covariances(self, x: Any, ref: Overlap) -> PairCovariances:
        """No part of the student's pre-activation is its reference's (docs/margins/theory.md eq. 34)."""
        q, t, Q = x.chi + x.s * x.s, x.tau + x.s * ref.q, self.units.covariance
        return PairCovariances(0.0, Q(q), self.units.lost(x.v), Q(x.s), Q(t), 0.0)

    def group_covariances(self, x: Any) -> GroupCovariances:
        """Q of the overlaps (docs/margins/theory.md section 11)."""
        slope = self._mean_slope(x.v, x.w)
        return GroupCovariances(self.units.covariance(x.q), self.units.lost(x.v), x.delta * slope, 0.0)

    def _mean_slope(self, v: Jet, w: Jet) -> Jet:
        """Mean derivative of Q between the overlaps 1 - w and 1 - v."""
        if w.value > CLOSE_OVERLAPS * v.value:
            return (self.units.lost(w) - self.units.lost(v)) / (w - v)
        places, weights = unit_legendre(8)
        slopes = [self._slope(v + place * (w - v)) * weight for place, weight in zip(places, weights, strict=True)]
        return sum(slopes[1:], slopes[0])

    def _slope(self, v: Jet) -> Jet:
        """Q'(1 - v). Its second derivative, which only Newton's method needs, is a difference."""
        here, more, less = (self.units.lost(variables([v.value * (1.0 + part)])[0]) for part in (0.0, 1e-4, -1e-4))
        bend = (more.hessian[0, 0] - less.hessian[0, 0]) / (2e-4 * v.value)
        return v.map(float(here.gradient[0]), float(here.hessian[0, 0]), float(bend))

    def pair_stiffness(self, x: Any, pulled: float, bent: float) -> float:
        """The factor with Q(q) in place of q. The patterns feel its curvature too (docs/margins/theory.md eq. 32)."""
        lost = self.units.lost(variables([x.v.value])[0])
        slope, curvature = lost.gradient[0], -lost.hessian[0, 0]
        return self.alpha * float(slope * slope * bent + curvature * pulled)
