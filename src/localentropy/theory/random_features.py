"""The binary perceptron on random features of the inputs of a teacher in a latent space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from localentropy.numerics.activations import Activation, ActivationMoments, activation_moments
from localentropy.numerics.jets import exp
from localentropy.quantities import ALPHA_T, ALPHA_T_OF_THRESHOLDS, INV_ALPHA, MARGIN_OF_FEATURES, Quantity
from localentropy.theory.energies import Energy
from localentropy.theory.latent_space import LatentOverlap, SeenProjections, UnseenProjections
from localentropy.theory.model import OPEN, Covariances, GroupCovariances, Model, PairCovariances
from localentropy.theory.weights import Weights


@dataclass(frozen=True)
class RandomFeatures(Model):
    """Binary perceptron on random features of the inputs of a binary teacher (`overparam`, eqs. 50-54, 82-96).

    D latent inputs, N features, P = alpha N = alpha_T D patterns labelled by a teacher in the latent space. A solution
    of margin kappa has all its stabilities >= kappa, in units in which the pre-activation is w.x / sqrt(N). Entropies
    are in nats per weight. The latent term is minus the relative entropy of two Gaussians, the projections of the
    weights with and without patterns, so that the conjugates of p, p_d and r are eliminated in closed form. Typical
    solutions agree to eight digits with a solver in 50 digits for alpha_T from 1e-3 to 1e3, inv_alpha up to 1e3 and
    margins from 0 to kappa_max. Franz-Parisi curves may fail for alpha_T far above 100, such as at 1000, and far below
    1e-4.

    Attributes:
        alpha_T: patterns per latent dimension, P / D, in [1e-9, 1e9].
        inv_alpha: over-parameterization N / P, in [1e-9, 1e9].
        margin: kappa, in [-4, 1000], and not below minus five standard deviations of a pre-activation.
        activation: "sign", "tanh", "erf", "identity", or a function of zero mean under N(0, 1). It may have jumps and
            kinks.
        energy: what patterns ask of stabilities, if this is not the margin; `GibbsLoss`, or a user's own.
        alpha: 1 / inv_alpha.
        moments: the moments of the activation.

    Example:
        >>> from localentropy.theory import RandomFeatures, franz_parisi, typical
        >>> round(typical(RandomFeatures(alpha_T=3.0, inv_alpha=2.0)).error_typical, 6)
        0.302173
        >>> curve = franz_parisi(RandomFeatures(alpha_T=3.0, inv_alpha=1.2), [0.01, 0.1])
    """

    alpha_T: float
    inv_alpha: float = OPEN
    margin: float = 0.0
    activation: Activation = field(default="sign", compare=False)
    energy: Energy | None = None
    alpha: float = field(init=False, repr=False)
    moments: ActivationMoments = field(init=False, repr=False)
    weights: Weights = field(init=False, repr=False, compare=False)

    load: ClassVar[str] = "inv_alpha"
    examples: ClassVar[Sequence[dict[str, Any]]] = ({"alpha_T": 3.0, "inv_alpha": 2.0},)
    teacher: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._set(alpha=OPEN, alpha_T=ALPHA_T.require(self.alpha_T))
        if self.inv_alpha is not OPEN:
            inverse = INV_ALPHA.require(self.inv_alpha)
            self._set(inv_alpha=inverse, alpha=1.0 / inverse)
        self._set(moments=activation_moments(self.activation))
        super().__post_init__()
        self._set(weights=SeenProjections(self.alpha_T) if self.moments.linear_part else UnseenProjections())

    def at(self, **controls: float) -> Self:
        """This model with another alpha or margin; `inv_alpha` follows from alpha.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> RandomFeatures(alpha_T=3.0).at(alpha=0.5).inv_alpha
            2.0
        """
        if "alpha" in controls:
            controls["inv_alpha"] = 1.0 / controls["alpha"]
        return super().at(**controls)

    @property
    def tried(self) -> tuple[Quantity, ...]:
        """See `Model`. Margins are tried in units of the standard deviation of a pre-activation.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> [(quantity.name, quantity.low, quantity.high) for quantity in RandomFeatures(alpha_T=3.0).tried]
            [('margin', -3.5, 2.0), ('alpha_T', 0.0001, 100.0)]
        """
        low, high = (end * math.sqrt(self.variance) for end in (MARGIN_OF_FEATURES.low, MARGIN_OF_FEATURES.high))
        return MARGIN_OF_FEATURES.within(low, high), ALPHA_T_OF_THRESHOLDS

    @property
    def without_pairs(self) -> str:
        """Why these solutions have no Franz-Parisi entropy, such as by their activation; empty where they have one.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> RandomFeatures(alpha_T=3.0, activation=lambda x: x**3 - 3 * x).without_pairs
            'activation without linear part (E[z sigma(z)] = 0): its patterns do not see the teacher'
        """
        why = "activation without linear part (E[z sigma(z)] = 0): its patterns do not see the teacher"
        return super().without_pairs if self.moments.linear_part else why

    @property
    def variance(self) -> float:
        """Variance of a feature, E[sigma(z)^2], and of a pre-activation of random weights.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> RandomFeatures(alpha_T=3.0, activation="sign").variance
            1.0
        """
        return self.moments.variance

    @property
    def response(self) -> float:
        """mu_star^2 = E[sigma(z)^2] - E[z sigma(z)]^2: what two pre-activations share for each unit of q.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> round(RandomFeatures(alpha_T=3.0, activation="sign").response, 6)
            0.36338
        """
        return self.moments.mu_star_squared

    def describe(self) -> str:
        """alpha_T and 1/alpha.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> RandomFeatures(alpha_T=3.0, inv_alpha=2.0).describe()
            'alpha_T = 3, inv_alpha = 2'
        """
        return f"alpha_T = {self.alpha_T:.12g}, inv_alpha = {1.0 / self.alpha:.12g}"

    def beyond(self, name: str, threshold: float) -> str:
        """What an error message says where 1/alpha is too small.

        Example:
            >>> from localentropy.theory import RandomFeatures
            >>> RandomFeatures(alpha_T=3.0, inv_alpha=0.8).beyond("alpha_c", 1.0)
            'inv_alpha = 0.8 is below 1/alpha_c = 1 at alpha_T = 3'
        """
        bound = f"is below 1/{name} = {1.0 / threshold:.12g} at alpha_T = {self.alpha_T:.12g}"
        return f"inv_alpha = {1.0 / self.alpha:.12g} {bound}"

    def covariances(self, x: LatentOverlap) -> Covariances:
        """C, V and R (docs/overparam/theory.md eq. 3)."""
        seen = self.moments.covariance
        return Covariances(seen(x.q, x.c), seen(x.v, x.delta), self.moments.mu_1 * x.r)

    def pair_covariances(self, x: Any, ref: LatentOverlap) -> PairCovariances:
        """The student's pre-activation is S times its reference's plus that of the difference."""
        seen, u = self.moments.covariance, x.latent
        common, own, other = seen(x.chi, u.c), seen(x.v, x.v * exp(u.log_narrowing)), seen(x.tau, u.tau)
        return PairCovariances(x.s, common, own, seen(0.0, u.sigma), other, self.moments.mu_1 * u.rho)

    def pair_stiffness(self, x: Any, pulled: float, bent: float) -> float:
        """The factor without the projections' overlap, which is eliminated (docs/overparam/theory.md eq. 35)."""
        v, log_narrowing = x.v.value, x.latent.log_narrowing.value
        squared = math.exp(2.0 * log_narrowing)
        own = self.alpha_T * bent * (self.moments.mu_1**2 * v) ** 2 * squared
        latent = self.alpha / self.alpha_T * (math.expm1(log_narrowing) / v) ** 2
        return latent + self.alpha * bent * self.moments.covariance(1.0, squared) ** 2 / (1.0 - own)

    def group_covariances(self, x: Any) -> GroupCovariances:
        """The overlaps of weights and of projections (docs/margins/theory.md section 11)."""
        seen, u = self.moments.covariance, x.latent
        return GroupCovariances(seen(x.q, u.c), seen(x.v, u.v), seen(x.delta, u.delta), self.moments.mu_1 * u.r)
